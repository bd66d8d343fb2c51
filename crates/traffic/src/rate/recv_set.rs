//! X_recv_set, the recent receive rates by which a sender is limited (RFC 5348 section 4.3).

use fairlane_units::{Dur, Time};

/// Most rates kept: two round trips bring two reports, and one more for each loss event; if there are more, the oldest is dropped.
const MOST: usize = 8;

/// The set. A rate is in bytes a second.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RecvSet {
    /// Oldest first.
    rates: [(Time, f64); MOST],
    len: usize,
}

impl RecvSet {
    /// The initial set holds infinity (section 4.2): nothing has limited the sender yet.
    pub(super) fn new() -> Self {
        let mut rates = [(Time::ZERO, 0.0); MOST];
        rates[0].1 = f64::INFINITY;
        Self { rates, len: 1 }
    }

    pub(super) fn max(&self) -> f64 {
        self.rates[..self.len].iter().fold(0.0, |a, r| f64::max(a, r.1))
    }

    /// Update X_recv_set(): adds a rate, drops those older than two round trips.
    pub(super) fn update(&mut self, rate: f64, now: Time, rtt: Dur) {
        let old = self.rates[..self.len].iter().take_while(|r| now.since(r.0) > rtt * 2).count();
        let old = old.max((self.len + 1).saturating_sub(MOST));
        self.rates.copy_within(old..self.len, 0);
        self.len -= old;
        self.rates[self.len] = (now, rate);
        self.len += 1;
    }

    /// Maximize X_recv_set(): adds a rate, forgets the initial infinity, keeps the largest alone as if it were new.
    pub(super) fn maximize(&mut self, rate: f64, now: Time) {
        let best = self.rates[..self.len].iter().map(|r| r.1).filter(|r| r.is_finite()).fold(rate, f64::max);
        self.replace(best, now);
    }

    /// Halves every rate.
    pub(super) fn halve(&mut self) {
        self.rates[..self.len].iter_mut().for_each(|r| r.1 *= 0.5);
    }

    /// Makes a rate the only one.
    pub(super) fn replace(&mut self, rate: f64, now: Time) {
        self.rates[0] = (now, rate);
        self.len = 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const R: Dur = Dur::from_ms(100);

    fn at(ms: u64) -> Time {
        Time::ZERO + Dur::from_ms(ms)
    }

    #[test]
    fn section_4_3_rates_leave_after_two_round_trips() {
        let mut s = RecvSet::new();
        assert_eq!(s.max(), f64::INFINITY);
        s.update(500.0, at(150), R);
        assert_eq!(s.max(), f64::INFINITY);
        s.update(300.0, at(250), R);
        assert_eq!(s.max(), 500.0);
        s.update(100.0, at(351), R);
        assert_eq!(s.max(), 300.0);
        (0..20).for_each(|i| s.update(f64::from(i), at(352), R));
        assert_eq!((s.max(), s.len), (19.0, MOST));
    }

    #[test]
    fn section_4_3_maximize_and_halve() {
        let mut s = RecvSet::new();
        s.maximize(400.0, at(10));
        assert_eq!((s.max(), s.len), (400.0, 1));
        s.update(100.0, at(20), R);
        s.halve();
        assert_eq!(s.max(), 200.0);
        s.maximize(60.0, at(30));
        // The largest is as new as the time of the call.
        s.update(1.0, at(229), R);
        assert_eq!(s.max(), 200.0);
    }
}
