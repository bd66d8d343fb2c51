//! Burst sizes and rates.

use fairlane_units::{Dur, PS_PER_SEC, Rate};

/// Size of a burst.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Quantum {
    pub(crate) least: u64,
    pub(crate) time: Dur,
    pub(crate) smss: u64,
}

impl Quantum {
    /// Size in bytes at a rate: whole segments of its time, at least the minimum.
    pub(crate) fn at(self, rate: Rate) -> u64 {
        if self.time == Dur::ZERO {
            return self.least;
        }
        self.least.max(rate.bytes_in(self.time) / self.smss * self.smss)
    }
}

/// Bits per byte times picoseconds per second: divided by a rate in bit/s, the time of a byte.
pub(crate) const BITS_PS: f64 = 8.0 * PS_PER_SEC as f64;

/// Rate of `bytes` over a time, rounded down to whole bits per second.
pub(crate) fn rate_of(bytes: u64, interval: Dur) -> Rate {
    let bits = u128::from(bytes) * 8 * 1_000_000_000_000;
    Rate::from_bps((bits / u128::from(interval.as_ps().max(1))).min(u128::from(u64::MAX)) as u64)
}
