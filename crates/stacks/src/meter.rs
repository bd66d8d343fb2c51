//! Calls of a congestion control, as readings that no other interface has: bytes in flight and acknowledged, reductions, samples of the round-trip time.

use fairlane_net::Limit;
use fairlane_units::{Dur, Time};
use std::sync::{Mutex, PoisonError};

/// Readings of one end of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reading {
    pub(crate) in_flight: u64,
    pub(crate) acked: u64,
    pub(crate) cuts: u64,
    pub(crate) ecn_cuts: u64,
    /// Packets lost and their bytes, where the congestion control counts each.
    pub(crate) lost_packets: u64,
    pub(crate) lost_bytes: u64,
    pub(crate) ssthresh: Option<u64>,
    /// Bit/s.
    pub(crate) pacing: Option<u64>,
    /// True if the application had nothing to send at the last acknowledgment.
    pub(crate) app_limited: bool,
    /// Start of the recovery that lasts until a packet sent later is acknowledged.
    pub(crate) recovery: Option<Time>,
    /// Newest sample of the round-trip time that is unread.
    pub(crate) rtt: Option<Dur>,
}

/// A place for readings that a congestion control writes and its stack reads.
#[derive(Debug, Default)]
pub(crate) struct Meter(Mutex<Reading>);

impl Meter {
    pub(crate) fn with<T>(&self, f: impl FnOnce(&mut Reading) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn sent(&self, bytes: u64) {
        self.with(|r| r.in_flight += bytes);
    }

    pub(crate) fn acked(&self, now: Time, sent: Time, bytes: u64) {
        self.with(|r| {
            r.acked += bytes;
            if r.recovery.is_some_and(|since| sent > since) {
                r.recovery = None;
            }
            // Of the packets of one acknowledgment the newest has the least delay.
            let rtt = now.since(sent);
            r.rtt = Some(r.rtt.map_or(rtt, |old| old.min(rtt)));
        });
    }

    pub(crate) fn acks_end(&self, in_flight: u64, app_limited: bool, ssthresh: Option<u64>, pacing: Option<u64>) {
        self.with(|r| (r.in_flight, r.app_limited, r.ssthresh, r.pacing) = (in_flight, app_limited, ssthresh, pacing));
    }

    #[cfg(feature = "noq")]
    pub(crate) fn lost(&self, bytes: u64) {
        self.with(|r| (r.lost_packets, r.lost_bytes) = (r.lost_packets + 1, r.lost_bytes + bytes));
    }

    /// Notes a congestion event about a packet sent at `sent`. An event of a recovery that lasts is no reduction.
    pub(crate) fn congested(&self, now: Time, sent: Time, lost: u64, ssthresh: Option<u64>) {
        self.with(|r| {
            r.in_flight = r.in_flight.saturating_sub(lost);
            r.ssthresh = ssthresh;
            if r.recovery.is_some_and(|since| sent <= since) {
                return;
            }
            r.recovery = Some(now);
            r.cuts += 1;
            r.ecn_cuts += u64::from(lost == 0);
        });
    }
}

impl Reading {
    /// Limit of a connection that is established. `waits`: the application has data that the stack does not take.
    pub(crate) fn limit(&self, cwnd: u64, mtu: u64, waits: bool) -> Limit {
        if self.in_flight + mtu > cwnd {
            return match self.ssthresh {
                _ if self.recovery.is_some() => Limit::Recovery,
                Some(threshold) if cwnd >= threshold => Limit::Avoidance,
                _ => Limit::SlowStart,
            };
        }
        match (self.app_limited, waits) {
            (true, true) => Limit::Receiver,
            (true, false) => Limit::Application,
            (false, _) => Limit::Pacing,
        }
    }
}
