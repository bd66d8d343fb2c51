//! Congestion window validation (RFC 7661, "new CWV", which obsoletes RFC 2861): a window that the application does not use is kept for
//! five minutes and does not grow, and a loss is answered by the part in use.
//!
//! pipeACK is the largest amount acknowledged within a round trip, over the round trips of the sampling period (section 4.2). The window is
//! validated while pipeACK is at least half of it, or undefined: at the beginning and after loss recovery. A validated window grows as
//! usual (section 4.3). Else
//!
//! * it grows only while it limits the sender (section 4.4);
//! * a loss leaves max(pipeACK, FlightSize) / 2 for recovery, and (max(pipeACK, FlightSize) - R) / 2 after it, where R was lost and
//!   retransmitted, but at least one segment (section 4.4.1);
//! * after five minutes ssthresh is at least 3/4 of it, and half of it is left, but the initial window at least (section 4.4.3).
//!
//! It replaces the restart after idleness (RFC 5681 section 4.1).
//!
//! Deviations and readings: the round trips of pipeACK are counted by sequence numbers, from an acknowledgment to the one of all data in
//! flight then. The phase is determined when a round trip ends, and when data is sent with nothing in flight: a bulk transfer in slow
//! start, whose window doubles while a round trip is measured, stays validated. The five minutes count from the last time the window was
//! validated, and the adjustment repeats after five more, both as in the authors' module for Linux. The adjustment is made with the next
//! acknowledgment or data, not by a timer, and never raises a window below the initial one. R counts a segment each time it was lost.
//! Recovery from a timeout is that of RFC 5681, with half of max(pipeACK, FlightSize) as threshold. Cuts graded by the number of marks
//! (DCTCP, Prague) stay as they are. Bursts in the non-validated phase (section 4.4.2, a SHOULD) are left to `pacing` and `max_burst`.

use crate::state::FIRST;
use fairlane_units::{Dur, Time};
/// Measurement periods in a sampling period, each with the largest of its samples (section 4.5.1).
const BINS: usize = 4;
/// The non-validated period (section 4.4.3).
const NVP: Dur = Dur::from_secs(300);

/// Measurements of the part of the window that the application uses.
#[derive(Clone, Debug)]
pub(crate) struct Cwv {
    /// Beginning and largest sample of each measurement period.
    bins: [(Time, u64); BINS],
    newest: usize,
    /// True if there was a sample since the beginning or the last loss recovery.
    defined: bool,
    /// Current sample: SND.UNA when it began, and its end; an end at or below the beginning means that data is yet to be sent.
    from: u64,
    end: u64,
    validated: bool,
    /// Time of the last validation or adjustment.
    valid_at: Time,
    /// True if there was congestion since the last sample.
    disturbed: bool,
    /// Recovery from a loss in the non-validated phase: max(pipeACK, LossFlightSize), and the bytes retransmitted before.
    recovery: Option<(u64, u64)>,
}

impl Default for Cwv {
    fn default() -> Self {
        Self {
            bins: [(Time::ZERO, 0); BINS],
            newest: 0,
            defined: false,
            from: FIRST,
            end: FIRST,
            validated: true,
            valid_at: Time::ZERO,
            disturbed: false,
            recovery: None,
        }
    }
}

impl Cwv {
    /// Takes a sample for new data acknowledged, and determines the phase when a round trip ends.
    pub(crate) fn on_ack(&mut self, now: Time, una: u64, nxt: u64, cwnd: u64, period: Dur) {
        if self.disturbed {
            self.forget(now, una, nxt);
        } else if self.sample(now, una, nxt, period) {
            self.judge(now, cwnd, period);
        }
    }

    /// Notes congestion; returns max(pipeACK, `flight`) if it is the `first` sign of it in the non-validated phase (section 4.4.1).
    pub(crate) fn on_congestion(&mut self, now: Time, period: Dur, first: bool, flight: u64) -> Option<u64> {
        self.disturbed = true;
        self.recovery = None;
        (first && !self.validated).then(|| self.pipe_ack(now, period).unwrap_or(0).max(flight))
    }

    /// Begins a recovery with the flight `used`, and `retransmitted` bytes so far.
    pub(crate) fn begin_recovery(&mut self, used: u64, retransmitted: u64) {
        self.recovery = Some((used, retransmitted));
    }

    /// Ends a recovery and makes pipeACK undefined; returns the values of [`Self::begin_recovery`], if it began in the non-validated
    /// phase.
    pub(crate) fn end_recovery(&mut self, now: Time, una: u64, nxt: u64) -> Option<(u64, u64)> {
        let recovery = self.recovery.take();
        self.forget(now, una, nxt);
        recovery
    }

    /// pipeACK; `None`: undefined. Samples older than the sampling period do not count.
    fn pipe_ack(&self, now: Time, period: Dur) -> Option<u64> {
        let recent = self.bins.iter().filter(|b| now.since(b.0) < period);
        self.defined.then(|| recent.map(|b| b.1).max().unwrap_or(0))
    }

    /// Takes a sample if a round trip ends with `una`; returns true if it does. `nxt` comes next.
    fn sample(&mut self, now: Time, una: u64, nxt: u64, period: Dur) -> bool {
        if self.end <= self.from {
            self.end = nxt;
        }
        if una < self.end {
            return false;
        }
        let sample = una - self.from;
        (self.from, self.end) = (una, nxt);
        let newest = self.bins[self.newest];
        if self.defined && now.since(newest.0).as_ps() < period.as_ps() / BINS as u64 {
            self.bins[self.newest].1 = newest.1.max(sample);
        } else {
            self.newest = (self.newest + 1) % BINS;
            self.bins[self.newest] = (now, sample);
        }
        self.defined = true;
        true
    }

    /// Determines the phase (section 4.3).
    pub(crate) fn judge(&mut self, now: Time, cwnd: u64, period: Dur) {
        self.validated = self.pipe_ack(now, period).is_none_or(|p| 2 * p >= cwnd);
        if self.validated {
            self.valid_at = now;
        }
    }

    /// Makes pipeACK undefined after loss recovery (section 4.4.1).
    fn forget(&mut self, now: Time, una: u64, nxt: u64) {
        *self = Self { from: una, end: nxt, valid_at: now, ..Self::default() };
    }

    /// Returns the number of non-validated periods that are over.
    pub(crate) fn expired(&mut self, now: Time) -> u64 {
        let periods = if self.validated { 0 } else { now.since(self.valid_at).as_ps() / NVP.as_ps() };
        self.valid_at += NVP * periods;
        periods
    }

    /// Excludes `bytes` retransmitted without being lost from R.
    pub(crate) fn exclude_retransmitted(&mut self, bytes: u64) {
        if let Some((_, before)) = &mut self.recovery {
            *before += bytes;
        }
    }

    /// True if the window may grow although it does not limit the sender.
    pub(crate) fn validated(&self) -> bool {
        self.validated
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secs(n: u64) -> Time {
        Time::ZERO + Dur::from_secs(n)
    }

    /// RFC 7661 section 4.3: validated while pipeACK is at least half of the window, or undefined.
    #[test]
    fn half_of_the_window_in_use_validates_it() {
        let period = Dur::from_secs(3);
        let mut c = Cwv::default();
        c.judge(secs(1), 10_000, period);
        assert!(c.validated());
        c.on_ack(secs(1), FIRST, FIRST + 5000, 10_000, period);
        c.on_ack(secs(2), FIRST + 5000, FIRST + 9000, 10_000, period);
        assert!(c.validated());
        c.on_ack(secs(3), FIRST + 9000, FIRST + 9000, 10_001, period);
        assert!(!c.validated());
        assert_eq!(c.on_congestion(secs(3), period, true, 1000), Some(5000));
        assert_eq!(c.on_congestion(secs(9), period, true, 1000), Some(1000), "samples expire");
        assert_eq!(c.on_congestion(secs(3), period, false, 1000), None);
    }

    /// RFC 7661 section 4.4.3: five minutes in the non-validated phase.
    #[test]
    fn the_non_validated_period_is_five_minutes() {
        let mut c = Cwv { validated: false, ..Cwv::default() };
        assert_eq!([299, 300, 301, 899, 900].map(|s| c.expired(secs(s))), [0, 1, 0, 1, 1]);
    }
}
