//! Pacing: segments are spread in time instead of sent in bursts.
//!
//! The rate is the algorithm's own, or a multiple of `cwnd / SRTT` (Aggarwal, Savage and Anderson 2000; the ratios of Linux 6.x
//! `tcp_update_pacing_rate`). Before the first round-trip time is known no segment is delayed, nor are the first `pacing_free` segments. A
//! burst of `pacing_segments`, or of `pacing_burst` at the rate, leaves at once. The next one leaves when the rate has made up for it, less
//! the lateness of the burst (`pacing_catch_up`; Linux 6.x `tcp_update_skb_after_send`).
//!
//! Deviation from Linux: without `tso`, a burst that the window cuts short continues when the window opens, instead of after a gap of its
//! own. With it, retransmissions are paced one by one, not in their original bursts.

use crate::cc::CongestionControl;
use crate::endpoint::Tcp;
use crate::quantum::BITS_PS;
use crate::state::State;
use fairlane_net::{Cx, TimerId};
use fairlane_units::{Dur, Rate, Time};

impl<C: CongestionControl> Tcp<C> {
    /// Time that `bytes` of payload take at the rate in force, in picoseconds; `None`: the rate is unknown.
    #[inline]
    pub(crate) fn pacing_time(&self, bytes: u64) -> Option<f64> {
        if let Some(rate) = self.cc.pacing_rate() {
            return Some(bytes as i64 as f64 * BITS_PS / (rate.as_bps() as f64).max(1.0));
        }
        let srtt = self.rtt.srtt(&self.cfg);
        if srtt == Dur::ZERO {
            return None;
        }
        let window = self.cc.cwnd();
        // Linux: the doubling of slow start has to leave within a round trip; below half the threshold at the faster rate.
        let slow = window < self.cc.ssthresh() / 2;
        let factor = if slow { self.cfg.pacing_slow_start } else { self.cfg.pacing_avoidance };
        let window = window.max(self.tx.board.outstanding()).max(1);
        Some(bytes as i64 as f64 * srtt.as_ps() as i64 as f64 / (window as i64 as f64 * factor))
    }

    /// Pacing rate; `None` if segments are not paced, or before the first round-trip time.
    pub fn pacing_rate(&self) -> Option<Rate> {
        let ps = self.pacing_time(u64::from(self.cfg.smss)).filter(|_| self.features.paced)?;
        Some(Rate::from_bps((f64::from(self.cfg.smss) * BITS_PS / ps.max(1.0)) as u64))
    }

    /// Sets window and pacing rate from outside, and sends what they allow.
    #[cold]
    pub(crate) fn set_window_now(&mut self, window: u64, rate: Rate, cx: &mut Cx<'_>) {
        if !self.cc.set_window(window, rate) {
            return;
        }
        if self.features.paced
            && let Some(ps) = self.pacing_time(u64::from(self.cfg.smss))
        {
            // The departure that was planned at the earlier rate may be far away.
            let gap = Dur::from_ps(ps as u64);
            self.ext.get_or_create().pacer.bring_forward(cx.now, gap);
            cx.timers.cancel(TimerId::Pace);
        }
        if self.state == State::Established {
            self.transmit(self.cfg.max_burst, cx);
        }
    }

    /// Returns true if a segment may leave now; sets the pacing timer if not.
    #[inline]
    pub(crate) fn pace_allows(&mut self, cx: &mut Cx<'_>) -> bool {
        let pacer = &mut self.ext.get_or_create().pacer;
        let allows = pacer.allows(cx.now);
        if !allows {
            cx.timers.set(TimerId::Pace, pacer.next());
        }
        allows
    }

    /// Paces the segments after `bytes` of payload that leave now.
    #[inline]
    pub(crate) fn pace_sent(&mut self, bytes: u64, now: Time) {
        let Some(ps) = self.pacing_time(bytes) else { return };
        let pacer = &mut self.ext.get_or_create().pacer;
        if now >= pacer.next() {
            let rate = Rate::from_bps((bytes as i64 as f64 * BITS_PS / ps.max(1.0)) as u64);
            pacer.begin_burst(now, if self.cfg.tso { 0 } else { self.cfg.congestion().quantum.at(rate) });
        }
        pacer.on_sent(bytes);
        // A burst counts as a whole: the one with the last free segment in it is paced.
        if self.tx.count.data_segments + u64::from(self.cfg.pacing_segments) < u64::from(self.cfg.pacing_free) {
            return;
        }
        pacer.add_gap(ps, self.cfg.pacing_catch_up);
    }
}
