//! Round-trip time statistics per round trip, for algorithms that use delay.

use super::AckSample;
use fairlane_units::Dur;

/// Least number of measurements per round trip: fewer may all be of delayed acknowledgments (Linux, ns-3).
pub const ENOUGH: u32 = 3;

/// Measurements of the current round trip, and minimum and maximum of all.
#[derive(Clone, Debug, PartialEq)]
pub struct RttStats {
    /// Minimum of all measurements: the path without a queue; [`Dur::MAX`] before the first.
    pub base: Dur,
    /// Maximum of all measurements.
    pub most: Dur,
    /// Minimum of this round trip; [`Dur::MAX`] before the first.
    pub least: Dur,
    /// Number of measurements in this round trip.
    pub count: u32,
    sum: u64,
    round: u64,
}

impl Default for RttStats {
    fn default() -> Self {
        Self { base: Dur::MAX, most: Dur::ZERO, least: Dur::MAX, count: 0, sum: 0, round: 0 }
    }
}

impl RttStats {
    /// Takes a measurement.
    pub fn take(&mut self, rtt: Dur) {
        self.base = self.base.min(rtt);
        self.most = self.most.max(rtt);
        self.least = self.least.min(rtt);
        self.sum = self.sum.saturating_add(rtt.as_ps());
        self.count += 1;
    }

    /// Mean of this round trip.
    pub fn mean(&self) -> Option<Dur> {
        (self.count > 0).then(|| Dur::from_ps(self.sum / u64::from(self.count)))
    }

    /// True if this acknowledgment ends a round trip; [`Self::begin`] starts the next.
    pub fn over(&self, s: &AckSample) -> bool {
        s.round != self.round
    }

    /// Begins a round trip.
    pub fn begin(&mut self, round: u64) {
        self.round = round;
        (self.count, self.sum, self.least) = (0, 0, Dur::MAX);
    }

    /// Discards the measurements of this round trip.
    pub fn forget(&mut self) {
        self.begin(self.round);
    }
}

/// `a / b`.
pub fn ratio(a: Dur, b: Dur) -> f64 {
    a.as_ps() as f64 / b.as_ps().max(1) as f64
}

/// Segments of a window in the queue, where the path alone takes `base` and the round trip took `rtt` (Brakmo and Peterson 1995).
pub fn queued(window: f64, base: Dur, rtt: Dur) -> f64 {
    window * (1.0 - ratio(base, rtt))
}
