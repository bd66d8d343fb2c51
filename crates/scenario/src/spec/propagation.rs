//! Path loss models: one struct of parameters for each model, and a line in the list.

use crate::registry_macros::spec;
use fairlane_wireless::Propagation;

spec! {
    /// A propagation model with its parameters.
    PropagationSpec, "propagation", "Path loss by distance: a model's name, or a table of its parameters under its name.";
    "free_space" ["friis", "FriisPropagationLossModel", "Propagation/FreeSpace"] => FreeSpace: FreeSpaceParams;
    "two_ray" ["two_ray_ground", "TwoRayGroundPropagationLossModel", "Propagation/TwoRayGround"] => TwoRay: TwoRayParams;
    "log_distance" ["LogDistancePropagationLossModel"] => LogDistance: LogDistanceParams;
    "fixed_range" ["range", "RangePropagationLossModel"] => FixedRange: FixedRangeParams;
}

fairlane_units::params! {
    /// Free space (Friis 1946): path loss 20 log10(4 pi d / wavelength) dB at distance d.
    pub struct FreeSpaceParams {
        /// Carrier frequency in GHz.
        #[schemars(range(min = 0.1, max = 100.0))]
        pub frequency_ghz: f64 = GHZ,
    }

    /// Two-ray ground reflection (Rappaport 2002, section 4.6): fourth power of the distance beyond the crossover at 4 pi h^2 / wavelength, free space before it.
    pub struct TwoRayParams {
        /// Carrier frequency in GHz.
        #[schemars(range(min = 0.1, max = 100.0))]
        pub frequency_ghz: f64 = GHZ,
        /// Height of all antennas in metres.
        #[schemars(range(min = 0.01, max = 1000.0))]
        pub height_m: f64 = 1.5,
    }

    /// Log-distance (Rappaport 2002, section 4.9.1): path loss at one metre plus 10 * exponent * log10(d) dB.
    pub struct LogDistanceParams {
        /// Path loss at one metre, in dB: 40.05 for free space at 2.4 GHz, 46.67 at 5.15 GHz.
        #[schemars(range(min = 0.0, max = 200.0))]
        pub first_metre_db: f64 = 40.05,
        /// Path loss exponent: 2 in free space, 2.7 to 5 in urban areas.
        #[schemars(range(min = 1.0, max = 10.0))]
        pub exponent: f64 = 3.0,
    }

    /// No loss up to a range, no reception beyond it.
    pub struct FixedRangeParams {
        /// Range in metres.
        #[schemars(range(min = 0.1, max = 100_000.0))]
        pub range_m: f64 = 250.0,
    }
}

/// Carrier frequency of 802.11b and g in GHz.
const GHZ: f64 = 2.4;
impl Default for PropagationSpec {
    fn default() -> Self {
        Self::LogDistance(LogDistanceParams::default())
    }
}

impl PropagationSpec {
    /// Propagation model of the simulator.
    pub fn model(&self) -> Propagation {
        match self {
            Self::FreeSpace(p) => Propagation::FreeSpace { frequency: p.frequency_ghz * 1e9 },
            Self::TwoRay(p) => Propagation::TwoRay { frequency: p.frequency_ghz * 1e9, height: p.height_m },
            Self::LogDistance(p) => Propagation::LogDistance { first_metre: p.first_metre_db, exponent: p.exponent },
            Self::FixedRange(p) => Propagation::Range { metres: p.range_m },
        }
    }
}
