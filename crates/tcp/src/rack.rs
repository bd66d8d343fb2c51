//! State of RACK-TLP (RFC 8985).

use fairlane_units::{Dur, Time};
use std::collections::VecDeque;
/// Recoveries without D-SACK after which the reordering window is reset (RFC 8985 section 6.2 step 4).
pub(crate) const PERSISTENCE: u32 = 16;
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
    pub(crate) mult: u32,
    pub(crate) persist: u32,
    pub(crate) dsack_round: u64,
    /// D-SACKs counted so far.
    pub(crate) dsacks: u32,
    /// Retransmissions in the order they left: index, time.
    pub(crate) again: VecDeque<(u32, Time)>,
    pub(crate) awaited: ProbeTimer,
    /// SND.NXT when the loss probe was sent (TLP.end_seq); 0: none.
    pub(crate) probe_end: u64,
    /// True if the probe was a retransmission (TLP.is_retrans).
    pub(crate) probe_again: bool,
    /// Probes sent.
    pub(crate) probes: u32,
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
            again: VecDeque::new(),
            awaited: ProbeTimer::Nothing,
            probe_end: 0,
            probe_again: false,
            probes: 0,
            lowered: Time::ZERO,
        }
    }
}

/// RACK_sent_after of RFC 8985 section 6.1: segments sent at the same time are ordered by sequence.
pub(crate) fn sent_after(one: (Time, u64), other: (Time, u64)) -> bool {
    one > other
}

impl Rack {
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
