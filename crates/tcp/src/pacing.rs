//! Pacing: segments are spread in time instead of sent in bursts.
//!
//! The rate is the algorithm's own, or a multiple of `cwnd / SRTT` (Aggarwal, Savage and Anderson 2000; the ratios of Linux). Before the first
//! round-trip time is known nothing is held back. A burst of `pacing_segments`, or of `pacing_burst` at the rate if that is more, goes
//! out at once; the next waits until the rate has made up for it.

use crate::cc::CongestionControl;
use crate::endpoint::Tcp;
use fairlane_net::{Cx, TimerId};
use fairlane_units::{Dur, Rate, Time};

/// When the next segments may go.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pacer {
    /// When all that was sent would have left at the rate.
    next: Time,
    /// Bytes that may still go in the present burst.
    left: u64,
}

impl<C: CongestionControl> Tcp<C> {
    /// The rate in force; `None`: none is known.
    pub(crate) fn pacing_rate(&self) -> Option<Rate> {
        if let Some(rate) = self.cc.pacing_rate() {
            return Some(rate);
        }
        let srtt = self.rtt.srtt(&self.cfg);
        if !self.cfg.pacing || srtt == Dur::ZERO {
            return None;
        }
        let window = self.cc.cwnd();
        // Linux: what slow start doubles in a round trip has to get out in it; below half the threshold at the faster rate.
        let slow = window < self.cc.ssthresh() / 2;
        let factor = if slow { self.cfg.pacing_slow_start } else { self.cfg.pacing_avoidance };
        let bits = window.max(self.in_flight()) as f64 * 8.0 * factor / srtt.as_secs_f64();
        Some(Rate::from_bps((bits as u64).max(1)))
    }

    /// Whether a segment may go now. If not, the timer tells when.
    pub(crate) fn pace_allows(&mut self, cx: &mut Cx<'_>) -> bool {
        let pacer = &mut self.pacer;
        if cx.now >= pacer.next {
            pacer.left = 0;
            return true;
        }
        if pacer.left != 0 {
            return true;
        }
        cx.timers.set(TimerId::Pace, pacer.next);
        false
    }

    /// `bytes` of payload went out.
    pub(crate) fn pace_sent(&mut self, bytes: u64, now: Time) {
        let Some(rate) = self.pacing_rate() else { return };
        if now >= self.pacer.next {
            // A new burst.
            let burst = (u128::from(rate.as_bps()) * u128::from(self.cfg.pacing_burst.as_ps()) / 8_000_000_000_000) as u64;
            self.pacer = Pacer { next: now, left: burst.max(self.cfg.pacing_bytes) };
        }
        self.pacer.left = self.pacer.left.saturating_sub(bytes);
        self.pacer.next += rate.tx_time(bytes);
    }
}
