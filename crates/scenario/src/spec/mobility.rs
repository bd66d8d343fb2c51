//! Stations of a wireless channel that move.

use super::link::Point;
use fairlane_units::{DataFile, Dur};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A place at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Waypoint {
    /// When the station is there.
    #[schemars(extend("x-max" = "1000h"))]
    pub at: Dur,
    /// Where that is, in metres.
    pub place: Point,
}

/// Where a station is at which times: it walks straight and at one speed from one to the next, and rests after the last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WalkSpec {
    /// Places and times, in the order of time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<Waypoint>,
    /// The same as a file: seconds, and metres to the east and to the north on each line, with commas or spaces between them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-reads" = "walk"))]
    pub file: Option<DataFile>,
}

/// Stations that walk at random: to a place in a field, straight and at a speed of its own, a rest, and on to the next (Johnson and Maltz 1996).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RandomWaypointSpec {
    /// Who walks. Absent: all stations but access points and those with a walk of their own.
    pub stations: Option<Vec<String>>,
    /// Western edge of the field in metres.
    #[schemars(range(min = -100_000.0, max = 100_000.0))]
    pub west_m: f64,
    /// Southern edge of the field in metres.
    #[schemars(range(min = -100_000.0, max = 100_000.0))]
    pub south_m: f64,
    /// Width of the field in metres.
    #[schemars(range(min = 0.1, max = 100_000.0))]
    pub width_m: f64,
    /// Height of the field in metres.
    #[schemars(range(min = 0.1, max = 100_000.0))]
    pub height_m: f64,
    /// Least speed in m/s; not zero, as stations come to rest for ever else (Yoon, Liu and Noble, INFOCOM 2003).
    #[schemars(range(min = 0.01, max = 1000.0))]
    pub slowest_mps: f64,
    /// Greatest speed in m/s.
    #[schemars(range(min = 0.01, max = 1000.0))]
    pub fastest_mps: f64,
    /// Rest at each place.
    #[schemars(extend("x-max" = "1000h"))]
    pub pause: Dur,
    /// Seed of the walks, which are the same for every seed of the run.
    pub seed: u64,
}

impl Default for RandomWaypointSpec {
    fn default() -> Self {
        Self {
            stations: None,
            west_m: 0.0,
            south_m: 0.0,
            width_m: 500.0,
            height_m: 500.0,
            slowest_mps: 1.0,
            fastest_mps: 10.0,
            pause: Dur::ZERO,
            seed: 1,
        }
    }
}

/// Whether routes follow stations that move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RoutesSpec {
    /// They do, after `route_delay`.
    #[default]
    Follow,
    /// They stay as they are at the start.
    Static,
}
