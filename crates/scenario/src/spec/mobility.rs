//! Mobility of wireless stations.

use super::link::Point;
use fairlane_units::{DataFile, Dur};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A position at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Waypoint {
    /// Time at the position.
    #[schemars(extend("x-max" = "1000h"))]
    pub at: Dur,
    /// Position in metres.
    pub place: Point,
}

fairlane_units::params! {
    /// Path of a station: straight and at constant speed from point to point, at rest after the last.
    pub struct WalkSpec {
        /// Positions and times, in the order of time.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub points: Vec<Waypoint>,
        /// The points as a file: seconds, and metres to the east and to the north on each line, separated by commas or spaces.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(extend("x-reads" = "walk"))]
        pub file: Option<DataFile>,
    }

    /// Random-waypoint mobility: straight to a random position in a field at a random speed, a pause, and on to the next (Johnson and Maltz 1996).
    pub struct RandomWaypointSpec {
        /// Moving stations. Absent: all stations but access points and those with a path of their own.
        pub stations: Option<Vec<String>> = None,
        /// Western edge of the field in metres.
        #[schemars(range(min = -100_000.0, max = 100_000.0))]
        pub west_m: f64 = 0.0,
        /// Southern edge of the field in metres.
        #[schemars(range(min = -100_000.0, max = 100_000.0))]
        pub south_m: f64 = 0.0,
        /// Width of the field in metres.
        #[schemars(range(min = 0.1, max = 100_000.0))]
        pub width_m: f64 = 500.0,
        /// Height of the field in metres.
        #[schemars(range(min = 0.1, max = 100_000.0))]
        pub height_m: f64 = 500.0,
        /// Lowest speed in m/s; not zero, because stations would eventually stop for ever (Yoon, Liu and Noble, INFOCOM 2003).
        #[schemars(range(min = 0.01, max = 1000.0))]
        pub slowest_mps: f64 = 1.0,
        /// Highest speed in m/s.
        #[schemars(range(min = 0.01, max = 1000.0))]
        pub fastest_mps: f64 = 10.0,
        /// Pause at each position.
        #[schemars(extend("x-max" = "1000h"))]
        pub pause: Dur = Dur::ZERO,
        /// Seed of the paths. The seed of the run does not change them.
        pub seed: u64 = 1,
    }

    /// Adaptation of routes to moving stations.
    pub enum RoutesSpec {
        /// Routes follow after `route_delay`.
        #[default]
        Follow,
        /// Routes stay as they are at the start.
        Static,
    }
}
