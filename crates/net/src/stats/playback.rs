//! Play-out of a stream at its receiver.

use fairlane_units::{Dur, Time};

/// Play-out since the last reset: it runs, or it stalls because nothing is left in the buffer. Each instant from its begin to its end is one or the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Playback {
    /// Time from the first write of the connection to the begin of play-out.
    pub startup: Dur,
    /// Stalls that began.
    pub stalls: u64,
    /// Time in stalls.
    pub stalled: Dur,
    /// Time of play-out.
    pub played: Dur,
    /// Time up to which all is counted.
    at: Time,
    /// Time for which the buffer lasts.
    until: Time,
    ended: bool,
}

impl Playback {
    /// Play-out that begins at `now`, for a stream that was first written at `asked`.
    pub(crate) fn new(asked: Time, now: Time) -> Self {
        Self { startup: now.since(asked), stalls: 0, stalled: Dur::ZERO, played: Dur::ZERO, at: now, until: now, ended: false }
    }

    /// Counts the time up to `now`.
    fn settle(&mut self, now: Time) {
        if !self.ended && now > self.at {
            let dry = self.until.max(self.at).min(now);
            self.played += dry - self.at;
            self.stalled += now - dry;
            self.stalls += u64::from(self.until >= self.at && self.until < now);
            self.at = now;
        }
    }

    /// Notes that the buffer lasts until `until`; a stall ends now.
    pub(crate) fn plays(&mut self, now: Time, until: Time) {
        self.settle(now);
        if self.ended {
            (self.at, self.ended) = (now, false);
        }
        self.until = until;
    }

    /// Ends play-out, whatever the buffer holds.
    pub(crate) fn end(&mut self, now: Time) {
        self.settle(now);
        self.ended = true;
    }

    /// Resets the counters at the end of the warm-up. A stall that lasts belongs to the time before.
    pub(crate) fn begin_again(&mut self, now: Time) {
        self.settle(now);
        (self.stalls, self.stalled, self.played) = (0, Dur::ZERO, Dur::ZERO);
    }

    /// The counters as of `now`.
    #[must_use]
    pub fn up_to(&self, now: Time) -> Self {
        let mut whole = self.clone();
        whole.settle(now);
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s(n: u64) -> Time {
        Time::ZERO + Dur::from_secs(n)
    }
    fn counted(p: &Playback) -> (u64, u64, u64) {
        (p.stalls, p.stalled.as_ps() / Dur::from_secs(1).as_ps(), p.played.as_ps() / Dur::from_secs(1).as_ps())
    }

    /// A buffer of 3 s from 2 s on is empty at 5 s; play-out resumes at 9 s and ends at 11 s.
    #[test]
    fn stalls_and_play_out_fill_the_time() {
        let mut p = Playback::new(s(1), s(2));
        p.plays(s(2), s(5));
        assert_eq!((p.startup, counted(&p.up_to(s(4)))), (Dur::from_secs(1), (0, 0, 2)));
        assert_eq!(counted(&p.up_to(s(5))), (0, 0, 3), "the buffer lasts exactly until now");
        assert_eq!(counted(&p.up_to(s(8))), (1, 3, 3), "the stall has not ended");
        p.plays(s(9), s(20));
        p.end(s(11));
        assert_eq!(counted(&p.up_to(s(60))), (1, 4, 5));
        // A new connection: the time between is not part of it.
        p.plays(s(30), s(31));
        assert_eq!(counted(&p.up_to(s(33))), (2, 6, 6));
    }

    #[test]
    fn a_stall_over_the_reset_is_not_counted_again() {
        let mut p = Playback::new(s(0), s(1));
        p.plays(s(1), s(3));
        p.begin_again(s(5));
        assert_eq!(counted(&p.up_to(s(7))), (0, 2, 0));
        p.plays(s(8), s(10));
        assert_eq!(counted(&p.up_to(s(12))), (1, 5, 2));
    }
}
