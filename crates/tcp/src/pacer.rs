//! Departure times of paced segments.

use fairlane_units::{Dur, Time};

/// Departure time of the next segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pacer {
    /// Time at which everything sent so far would have left at the pacing rate.
    next: Time,
    /// Payload bytes left in this burst.
    left: u64,
    /// Lateness of this burst that is still to be made up for.
    late: Dur,
}

impl Pacer {
    pub(crate) const IDLE: Self = Self { next: Time::ZERO, left: 0, late: Dur::ZERO };

    /// Departure time of the next burst.
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// Time until the next burst.
    pub(crate) fn ahead(&self, now: Time) -> Dur {
        if self.next > now { self.next.since(now) } else { Dur::ZERO }
    }

    /// Lets the next burst leave after `gap` at the latest, because the rate has changed.
    pub(crate) fn bring_forward(&mut self, now: Time, gap: Dur) {
        self.next = self.next.min(now + gap);
    }

    /// True if a segment may leave now: a burst is due, or the present one is not complete.
    #[inline]
    pub(crate) fn allows(&mut self, now: Time) -> bool {
        if now >= self.next {
            self.left = 0;
            return true;
        }
        self.left != 0
    }

    /// Begins a burst of `bytes` that was due at [`Self::next`].
    pub(crate) fn begin_burst(&mut self, now: Time, bytes: u64) {
        *self = Self { next: now, left: bytes, late: now.since(self.next) };
    }

    /// Takes `bytes` that left out of the burst.
    pub(crate) fn on_sent(&mut self, bytes: u64) {
        self.left = self.left.saturating_sub(bytes);
    }

    /// Adds the gap after a segment that takes `ps` picoseconds, less the lateness, at most the share `catch_up` of the gap.
    pub(crate) fn add_gap(&mut self, ps: f64, catch_up: f64) {
        let gap = Dur::from_ps((ps + 0.5) as i64 as u64);
        let earlier = self.late.min(Dur::from_ps((ps * catch_up) as i64 as u64));
        self.late = self.late.saturating_sub(earlier);
        self.next += gap.saturating_sub(earlier);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(n: u64) -> Time {
        Time::ZERO + Dur::from_us(n)
    }

    #[test]
    fn a_burst_leaves_at_once_and_the_next_after_its_gap() {
        let mut p = Pacer::IDLE;
        assert!(p.allows(us(0)));
        p.begin_burst(us(0), 2000);
        for in_burst in [true, false] {
            p.on_sent(1000);
            p.add_gap(1e9, 0.0);
            assert_eq!(p.allows(us(1)), in_burst);
        }
        assert!(!p.allows(us(1999)));
        assert_eq!((p.next(), p.ahead(us(1500))), (us(2000), Dur::from_us(500)));
        assert!(p.allows(us(2000)));
    }

    #[test]
    fn a_faster_rate_brings_the_next_burst_forward() {
        let mut p = Pacer::IDLE;
        p.begin_burst(us(0), 0);
        p.add_gap(1e12, 0.0);
        p.bring_forward(us(100), Dur::from_us(300));
        assert_eq!(p.next(), us(400));
        p.bring_forward(us(200), Dur::from_us(300));
        assert_eq!(p.next(), us(400));
    }

    /// Linux `tcp_update_skb_after_send`: a late burst shortens the gap by its lateness, at most half of the gap.
    #[test]
    fn a_late_burst_catches_up() {
        let mut p = Pacer::IDLE;
        p.begin_burst(us(0), 0);
        p.add_gap(1e9, 0.5);
        p.begin_burst(us(1700), 0);
        p.add_gap(1e9, 0.5);
        assert_eq!(p.next(), us(2200));
        p.add_gap(1e9, 0.5);
        assert_eq!(p.next(), us(3000));
    }
}
