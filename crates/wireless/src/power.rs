//! Powers, and what is left of them at a distance.
//!
//! A power is a whole number of attowatts: sums of signals are exact and do not depend on the order in which they came, so a run is the same on any machine.

use fairlane_units::Dur;
use std::f64::consts::PI;
use std::ops::{Add, Sub};

/// A power in attowatts (10^-18 W): -120 dBm is 1,000, 40 dBm is 10^19.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub struct Power(pub u64);

/// Speed of light in m/s.
const LIGHT: f64 = 299_792_458.0;

impl Power {
    /// No power.
    pub const ZERO: Self = Self(0);

    /// From dBm; below -150 dBm nothing is left, above 42 dBm it stays there.
    pub fn from_dbm(dbm: f64) -> Self {
        // 0 dBm is 1 mW, 10^15 aW.
        Self((libm::pow(10.0, dbm.min(42.0) / 10.0) * 1e15 + 0.5) as u64)
    }
    /// In dBm.
    pub fn dbm(self) -> f64 {
        10.0 * libm::log10(self.0 as f64 / 1e15)
    }
    /// How much stronger it is than `other`, in dB.
    pub fn db_over(self, other: Self) -> f64 {
        10.0 * libm::log10(self.0 as f64 / other.0.max(1) as f64)
    }
    /// True if it is at least `ratio` times `other`.
    #[inline]
    pub fn over(self, other: Self, ratio: Ratio) -> bool {
        u128::from(self.0) << 20 >= u128::from(other.0) * u128::from(ratio.0)
    }
}

impl Add for Power {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}
impl Sub for Power {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

/// A ratio of powers, in parts of 2^20.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Ratio(u64);

impl Ratio {
    /// From decibels.
    pub fn from_db(db: f64) -> Self {
        Self((libm::pow(10.0, db.clamp(-60.0, 120.0) / 10.0) * f64::from(1 << 20) + 0.5) as u64)
    }
}

/// Thermal noise of a receiver: k T B at 290 K, and what its own electronics add.
pub fn noise(bandwidth_hz: f64, noise_figure_db: f64) -> Power {
    const BOLTZMANN: f64 = 1.380_649e-23;
    Power::from_dbm(10.0 * libm::log10(BOLTZMANN * 290.0 * bandwidth_hz * 1e3) + noise_figure_db)
}

/// Time that a signal takes over a distance in metres.
pub fn flight(metres: f64) -> Dur {
    Dur::from_secs_f64(metres / LIGHT)
}

/// How a signal gets weaker with the distance.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Propagation {
    /// Free space (Friis 1946): 20 log10(4 pi d / wavelength).
    FreeSpace {
        /// Carrier frequency in Hz.
        frequency: f64,
    },
    /// Over flat ground (Rappaport 2002, section 4.6): d^4 / (h_t^2 h_r^2) beyond 4 pi h_t h_r / wavelength, free space before it.
    TwoRay {
        /// Carrier frequency in Hz.
        frequency: f64,
        /// Height of both antennas in metres.
        height: f64,
    },
    /// Log-distance (Rappaport 2002, section 4.9.1).
    LogDistance {
        /// How much is lost over the first metre, in dB.
        first_metre: f64,
        /// The exponent: 2 in free space, 2.7 to 5 where houses stand.
        exponent: f64,
    },
    /// No loss up to a range, nothing beyond.
    Range {
        /// The range in metres.
        metres: f64,
    },
}

impl Propagation {
    /// The loss in dB over a distance in metres; infinite where nothing arrives.
    pub fn loss(&self, metres: f64) -> f64 {
        let friis = |frequency: f64| (20.0 * libm::log10(4.0 * PI * metres * frequency / LIGHT)).max(0.0);
        match *self {
            Self::Range { metres: range } if metres > range => f64::INFINITY,
            Self::Range { .. } => 0.0,
            Self::FreeSpace { frequency } => friis(frequency),
            Self::TwoRay { frequency, height } if metres * LIGHT < 4.0 * PI * height * height * frequency => friis(frequency),
            Self::TwoRay { height, .. } => 40.0 * libm::log10(metres) - 40.0 * libm::log10(height),
            Self::LogDistance { first_metre, exponent } => first_metre + (10.0 * exponent * libm::log10(metres)).max(0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ns-2's defaults (0.28183815 W, 914 MHz, antennas at 1.5 m): 250 m at its receive threshold of 3.652e-10 W, 550 m at its
    /// carrier-sense threshold of 1.559e-11 W, which are in its tcl/lib/ns-default.tcl.
    #[test]
    fn two_ray_ground_has_the_ranges_of_ns2() {
        let ground = Propagation::TwoRay { frequency: 914e6, height: 1.5 };
        let sent = 10.0 * libm::log10(0.281_838_15 * 1e3);
        let at = |m: f64| libm::pow(10.0, (sent - ground.loss(m)) / 10.0) / 1e3;
        assert!((at(250.0) / 3.652e-10 - 1.0).abs() < 1e-3, "{}", at(250.0));
        assert!((at(550.0) / 1.559e-11 - 1.0).abs() < 1e-3, "{}", at(550.0));
        let near = Propagation::FreeSpace { frequency: 914e6 };
        assert_eq!(ground.loss(50.0), near.loss(50.0), "before the crossover at 86 m");
        assert!(ground.loss(500.0) > near.loss(500.0));
    }

    /// Free space at 2.4 GHz: 40.05 dB over the first metre, 6.02 dB for each doubling.
    #[test]
    fn free_space_loses_six_decibels_for_each_doubling() {
        let p = Propagation::FreeSpace { frequency: 2.4e9 };
        assert!((p.loss(1.0) - 40.05).abs() < 0.01);
        assert!((p.loss(200.0) - p.loss(100.0) - 6.0206).abs() < 1e-4);
        let log = Propagation::LogDistance { first_metre: p.loss(1.0), exponent: 2.0 };
        assert!((log.loss(37.0) - p.loss(37.0)).abs() < 1e-9);
    }

    /// -93.5 dBm at 22 MHz and -94.0 dBm at 20 MHz with a figure of 7 dB.
    #[test]
    fn noise_is_ktb() {
        assert!((noise(22e6, 7.0).dbm() + 93.55).abs() < 0.05, "{}", noise(22e6, 7.0).dbm());
        assert!((noise(20e6, 7.0).dbm() + 93.97).abs() < 0.05);
    }

    #[test]
    fn ratios_are_compared_as_decibels_are() {
        let (a, b) = (Power::from_dbm(-60.0), Power::from_dbm(-70.0));
        assert!(a.over(b, Ratio::from_db(9.99)) && !a.over(b, Ratio::from_db(10.01)));
        assert_eq!(Power::from_dbm(f64::NEG_INFINITY), Power::ZERO);
    }
}
