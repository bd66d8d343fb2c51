//! State of RACK-TLP (RFC 8985).

use fairlane_units::{Dur, Time};
use std::collections::VecDeque;
/// Recoveries without D-SACK after which the reordering window is reset (RFC 8985 section 6.2 step 4).
const PERSISTENCE: u32 = 16;
/// Divisor of the smallest round-trip time for the reordering window (RFC 8985 section 6.2 step 4).
const REO_WND_SHARE: u64 = 4;
/// Largest reordering distance reported (Linux `tcp_max_reordering`).
const MAX_REORDERING: u64 = 300;

/// Purpose of the timer of RACK-TLP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ProbeTimer {
    /// The timer is off.
    #[default]
    Nothing,
    /// End of the reordering window.
    Reordering,
    /// Loss probe (PTO).
    Probe,
}

/// State of RACK and of the tail loss probe.
#[derive(Clone, Debug)]
pub(crate) struct Rack {
    /// Latest sent segment that has arrived (RACK.xmit_ts, RACK.end_seq).
    pub(crate) xmit_ts: Time,
    pub(crate) end_seq: u64,
    /// Round-trip time of the latest delivery (RACK.rtt).
    pub(crate) rtt: Dur,
    /// Smallest round-trip time (RACK.min_RTT).
    pub(crate) min_rtt: Dur,
    /// Highest sequence number that arrived (RACK.fack).
    pub(crate) fack: u64,
    /// True if a segment arrived after one sent later (RACK.reordering_seen).
    pub(crate) reordering_seen: bool,
    /// Number of reordering events, the largest distance in segments (0: none), and segments delivered; for reports.
    pub(crate) reorderings: u32,
    pub(crate) distance: u32,
    pub(crate) delivered: u64,
    /// Bytes that the current acknowledgment reports as duplicate (D-SACK).
    pub(crate) dsacked: u64,
    /// RACK.reo_wnd_mult, RACK.reo_wnd_persist, and the end of the round of the last D-SACK (RACK.dsack_round; 0: none).
    mult: u32,
    persist: u32,
    dsack_round: u64,
    /// D-SACKs counted so far.
    pub(crate) dsacks: u32,
    /// Retransmissions in the order they left, index and time: those sent before the latest segment that arrived, and those after.
    pub(crate) passed: VecDeque<(u32, Time)>,
    pub(crate) again: VecDeque<(u32, Time)>,
    pub(crate) awaited: ProbeTimer,
    /// SND.NXT when the loss probe was sent (TLP.end_seq); 0: none.
    pub(crate) probe_end: u64,
    /// True if the probe was a retransmission (TLP.is_retrans).
    pub(crate) probe_again: bool,
    /// Last reduction for a lost retransmission.
    pub(crate) lowered: Time,
}

impl Default for Rack {
    fn default() -> Self {
        Self {
            xmit_ts: Time::ZERO,
            end_seq: 0,
            rtt: Dur::ZERO,
            min_rtt: Dur::MAX,
            fack: 0,
            reordering_seen: false,
            reorderings: 0,
            distance: 0,
            delivered: 0,
            dsacked: 0,
            mult: 1,
            persist: PERSISTENCE,
            dsack_round: 0,
            dsacks: 0,
            passed: VecDeque::new(),
            again: VecDeque::new(),
            awaited: ProbeTimer::Nothing,
            probe_end: 0,
            probe_again: false,
            lowered: Time::ZERO,
        }
    }
}

/// RACK_sent_after of RFC 8985 section 6.1: segments sent at the same time are ordered by sequence.
pub(crate) fn sent_after(one: (Time, u64), other: (Time, u64)) -> bool {
    one > other
}

impl Rack {
    /// Widens the reordering window once per round trip with a D-SACK (RFC 8985 section 6.2 step 4).
    pub(crate) fn on_round(&mut self, una: u64, nxt: u64, dsack: bool) {
        if self.dsack_round != 0 && una >= self.dsack_round {
            self.dsack_round = 0;
        }
        if self.dsack_round == 0 && dsack {
            self.dsack_round = nxt;
            self.mult = self.mult.saturating_add(1);
            self.persist = PERSISTENCE;
        }
    }

    /// Counts a recovery without D-SACK, after enough of which the reordering window is reset.
    pub(crate) fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.mult = 1;
        }
    }

    /// Reordering window; zero before the first round-trip time.
    pub(crate) fn reo_wnd(&self, srtt: Dur) -> Dur {
        if self.min_rtt == Dur::MAX {
            return Dur::ZERO;
        }
        Dur::from_ps(self.min_rtt.as_ps().saturating_mul(u64::from(self.mult)) / REO_WND_SHARE).min(srtt)
    }

    /// Counts a reordering event, over `by` bytes at most.
    pub(crate) fn reordered(&mut self, by: u64, smss: u32) {
        self.reordering_seen = true;
        self.reorderings = self.reorderings.saturating_add(1);
        let distance = by.div_ceil(u64::from(smss));
        self.distance = self.distance.max(distance.min(MAX_REORDERING) as u32);
    }

    /// Remaining wait for a segment sent at `at`; zero: it is lost.
    pub(crate) fn remaining(&self, at: Time, reo_wnd: Dur, now: Time) -> Dur {
        (at + self.rtt + reo_wnd).since(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8985 section 6.2 step 4: a quarter of the smallest round-trip time, a quarter more for each round trip with a D-SACK, at most SRTT; reset after 16
    /// recoveries without one.
    #[test]
    fn the_reordering_window_follows_dsacks() {
        let mut r = Rack { min_rtt: Dur::from_ms(40), ..Rack::default() };
        let srtt = Dur::from_ms(25);
        assert_eq!(Rack::default().reo_wnd(srtt), Dur::ZERO);
        assert_eq!(r.reo_wnd(srtt), Dur::from_ms(10));
        r.on_round(1000, 5000, true);
        r.on_round(2000, 6000, true);
        assert_eq!(r.reo_wnd(srtt), Dur::from_ms(20), "once per round trip");
        r.on_round(5000, 9000, true);
        assert_eq!(r.reo_wnd(srtt), srtt);
        for _ in 0..15 {
            r.on_recovered();
        }
        assert_eq!(r.reo_wnd(srtt), srtt);
        r.on_recovered();
        assert_eq!(r.reo_wnd(srtt), Dur::from_ms(10));
    }

    #[test]
    fn a_segment_is_lost_after_the_round_trip_and_the_reordering_window() {
        let r = Rack { rtt: Dur::from_ms(50), ..Rack::default() };
        let at = |ms| Time::ZERO + Dur::from_ms(ms);
        assert_eq!(r.remaining(at(100), Dur::from_ms(10), at(130)), Dur::from_ms(30));
        assert_eq!(r.remaining(at(100), Dur::from_ms(10), at(160)), Dur::ZERO);
    }
}
