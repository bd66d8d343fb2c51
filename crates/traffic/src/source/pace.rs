//! The clock of an even rate.

use fairlane_units::{Dur, PS_PER_SEC, Rate};

/// Intervals between packets of one size at one rate: after any number of them the clock is right to a picosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pace {
    /// Whole picoseconds of an interval, and the rest in units of 1 / `rate` picoseconds.
    interval: u64,
    remainder: u64,
    rate: u64,
    /// Rests summed so far, below `rate`.
    carry: u64,
}

impl Pace {
    pub(crate) fn of(rate: Rate, size: u64) -> Self {
        let rate = u128::from(rate.as_bps().max(1));
        let bits = u128::from(size) * 8 * u128::from(PS_PER_SEC);
        Self {
            interval: u64::try_from(bits / rate).unwrap_or(u64::MAX).max(1),
            // Below the rate, which has 64 bits.
            remainder: (bits % rate) as u64,
            rate: rate as u64,
            carry: 0,
        }
    }

    /// The interval to the next packet.
    pub(crate) fn step(&mut self) -> Dur {
        let sum = u128::from(self.carry) + u128::from(self.remainder);
        let over = sum >= u128::from(self.rate);
        self.carry = (sum - if over { u128::from(self.rate) } else { 0 }) as u64;
        Dur::from_ps(self.interval.saturating_add(u64::from(over)))
    }

    /// The sum of the next `n` intervals.
    pub(crate) fn ahead(&self, n: u64) -> Dur {
        let rests = (u128::from(self.carry) + u128::from(self.remainder) * u128::from(n)) / u128::from(self.rate);
        let sum = u128::from(self.interval) * u128::from(n) + rests;
        Dur::from_ps(u64::try_from(sum).unwrap_or(u64::MAX))
    }

    /// How many intervals fit into a time, to the nearest whole number.
    pub(crate) fn nearest(&self, time: Dur) -> u64 {
        let half = self.interval / 2;
        time.as_ps().saturating_add(half) / self.interval
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ahead_is_the_sum_of_the_steps() {
        let mut pace = Pace::of(Rate::from_mbps(3), 1000);
        for n in 1..50 {
            let want = pace.ahead(n);
            let mut copy = pace;
            assert_eq!((0..n).fold(Dur::ZERO, |sum, _| sum + copy.step()), want);
            assert_eq!(pace.nearest(want), n);
            pace.step();
        }
        assert_eq!(Pace::of(Rate::from_bps(1), u64::MAX).ahead(u64::MAX), Dur::MAX);
    }
}
