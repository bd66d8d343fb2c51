//! Wireless channels: who stands where, and how the stations behave.

use super::link::Point;
use super::mobility::{RandomWaypointSpec, RoutesSpec, WalkSpec};
use super::propagation::PropagationSpec;
use super::table::QueueTable;
use fairlane_units::{Bytes, Dur, Rate};
use fairlane_wireless::{Standard, phy::STANDARDS};
use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// A physical layer by its name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StandardName(pub &'static Standard);

impl Serialize for StandardName {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.0.name)
    }
}
impl<'de> Deserialize<'de> for StandardName {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let name = Cow::<'de, str>::deserialize(d)?;
        Standard::named(&name).map(Self).ok_or_else(|| serde::de::Error::custom("no standard of this name"))
    }
}
impl JsonSchema for StandardName {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "StandardName".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = STANDARDS.iter().map(|s| s.name).collect();
        json_schema!({ "type": "string", "enum": names })
    }
}

/// When a station whose frame was not answered counts down again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AfterTimeoutSpec {
    /// From the timeout on, if the medium was idle for DIFS by then (IEEE 802.11-2016 clause 10.3.4.3).
    #[default]
    AtOnce,
    /// DIFS after the timeout, as ns-3.37 does.
    Difs,
    /// Without a timeout: a slot after SIFS it knows that no answer was begun, and DIFS counts from the end of its frame (Bianchi 2000).
    Known,
}

/// What decides whether a frame that a receiver follows is received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorsSpec {
    /// `threshold_db`, for every rate.
    #[default]
    Threshold,
    /// Chance, by the error rate of the modulation at the ratio of signal to noise and interference, part by part of the frame.
    Rates,
}

/// How the rate of data is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RateControlSpec {
    /// It is `rate`, always.
    #[default]
    Fixed,
    /// Automatic rate fallback (Kamerman and Monteban 1997): down after two acknowledgments missed in a row, up after ten received, or after fifteen frames.
    Arf,
    /// By the throughput that samples of all rates promise, after Minstrel of Linux.
    Minstrel,
}

/// Stations on a grid, row by row, from (0, 0) on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GridPlaces {
    /// Number of rows.
    #[schemars(range(min = 1, max = 1000))]
    pub rows: u32,
    /// Number of stations in a row.
    #[schemars(range(min = 1, max = 1000))]
    pub columns: u32,
    /// Distance between neighbours in metres.
    #[schemars(range(min = 0.1, max = 100_000.0))]
    pub spacing_m: f64,
    /// Their names; `{i}` stands for the number.
    pub name: String,
}

/// Stations on a circle around (0, 0).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RingPlaces {
    /// Number of stations.
    #[schemars(range(min = 1, max = 2000))]
    pub count: u32,
    /// Radius in metres.
    #[schemars(range(min = 0.1, max = 100_000.0))]
    pub radius_m: f64,
    /// Their names; `{i}` stands for the number.
    pub name: String,
}

/// Stations at random in a field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ScatterPlaces {
    /// Number of stations.
    #[schemars(range(min = 1, max = 2000))]
    pub count: u32,
    /// Width of the field in metres.
    #[schemars(range(min = 0.1, max = 100_000.0))]
    pub width_m: f64,
    /// Height of the field in metres.
    #[schemars(range(min = 0.1, max = 100_000.0))]
    pub height_m: f64,
    /// Seed of the places, which are the same for every seed of the run.
    pub seed: u64,
    /// Their names; `{i}` stands for the number.
    pub name: String,
}

fn numbered() -> String {
    "n{i}".to_owned()
}

impl Default for GridPlaces {
    fn default() -> Self {
        Self { rows: 1, columns: 2, spacing_m: 100.0, name: numbered() }
    }
}
impl Default for RingPlaces {
    fn default() -> Self {
        Self { count: 2, radius_m: 10.0, name: numbered() }
    }
}
impl Default for ScatterPlaces {
    fn default() -> Self {
        Self { count: 16, width_m: 500.0, height_m: 500.0, seed: 1, name: numbered() }
    }
}

/// A wireless channel: stations of IEEE 802.11 that share a medium. A station's interface is the link `NODE-CHANNEL`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ChannelSpec {
    /// Physical layer: the timing, and the rates that there are.
    pub standard: StandardName,
    /// Rate of data. Absent: the highest of the standard.
    pub rate: Option<Rate>,
    /// How the rate of data is chosen; where it is not fixed, by `errors = "rates"` the rates differ in more than speed.
    pub rate_control: RateControlSpec,
    /// Rate of RTS, CTS and acknowledgments. Absent: RTS and CTS at the lowest rate that all stations must know, an acknowledgment at the highest such rate that
    /// is not above that of the data (IEEE 802.11-2016 clause 10.7.6.5.2).
    pub control_rate: Option<Rate>,
    /// Where stations stand, by node, in metres.
    pub nodes: IndexMap<String, Point>,
    /// Stations on a grid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grid: Option<GridPlaces>,
    /// Stations on a circle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ring: Option<RingPlaces>,
    /// Stations at random in a field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scatter: Option<ScatterPlaces>,
    /// The node that all others send to and hear from (infrastructure). Absent: every station may send to every other one that decodes it (ad hoc).
    pub access_point: Option<String>,
    /// Several such nodes: each station belongs to the one that it hears best, of equals to the one by a hash of both names. They do not talk to one another over the air.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub access_points: Vec<String>,
    /// The access point of single stations, by node, in place of the one that they hear best.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub association: IndexMap<String, String>,
    /// Walks of stations, by node; one without another place begins where its walk does.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub walks: IndexMap<String, WalkSpec>,
    /// Stations that walk at random.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub random_waypoint: Option<RandomWaypointSpec>,
    /// Of stations that move, powers are worked out anew after each such time.
    #[schemars(extend("x-min" = "1ms", "x-max" = "1h"))]
    pub position_step: Dur,
    /// Whether routes follow stations that move.
    pub routes: RoutesSpec,
    /// How often routes look at who decodes whom.
    #[schemars(extend("x-min" = "1ms", "x-max" = "1h"))]
    pub route_step: Dur,
    /// How long after such a look packets take other routes: what a routing protocol needs to find them.
    #[schemars(extend("x-max" = "1h"))]
    pub route_delay: Dur,
    /// Queue of every station. Absent: DropTail with its defaults.
    pub queue: Option<QueueTable>,
    /// Queues of single stations by node, in place of `queue`.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub queues: IndexMap<String, QueueTable>,
    /// How signals get weaker with the distance.
    pub propagation: PropagationSpec,
    /// Power of every transmitter in dBm, antenna gains included.
    #[schemars(range(min = -50.0, max = 60.0))]
    pub power_dbm: f64,
    /// What a receiver's own electronics add to thermal noise, in dB.
    #[schemars(range(min = 0.0, max = 40.0))]
    pub noise_figure_db: f64,
    /// What decides whether a frame that a receiver follows is received.
    pub errors: ErrorsSpec,
    /// A frame is received if it was so much stronger than noise and interference together for all of its time, in dB. Routes go by it where `errors` are by rate, too.
    #[schemars(range(min = -10.0, max = 60.0))]
    pub threshold_db: f64,
    /// A receiver follows a frame if its beginning is so much stronger than noise and interference, in dB (`ThresholdPreambleDetectionModel` of ns-3).
    #[schemars(range(min = -30.0, max = 60.0))]
    pub preamble_db: f64,
    /// How long a receiver looks at that beginning; the medium counts as busy from its end on.
    #[schemars(extend("x-max" = "100us"))]
    pub preamble_time: Dur,
    /// A later frame takes over the receiver if it is stronger by this, in dB. Absent: never.
    #[schemars(range(min = 0.0, max = 60.0))]
    pub capture_db: Option<f64>,
    /// How long after the beginning of a frame that may happen.
    pub capture_time: Dur,
    /// A receiver follows no signal below this power, in dBm (`RxSensitivity` of ns-3): weaker ones are interference.
    #[schemars(range(min = -150.0, max = 40.0))]
    pub sensitivity_dbm: f64,
    /// Signals below this power are not even that, in dBm: they are not looked at.
    #[schemars(range(min = -150.0, max = 40.0))]
    pub floor_dbm: f64,
    /// The medium is busy while all signals together have this power, in dBm, or a frame is being followed (IEEE 802.11-2016 clause 15.4.8.5: -70 for transmitters up
    /// to 50 mW).
    #[schemars(range(min = -150.0, max = 40.0))]
    pub cca_dbm: f64,
    /// Whether a receiver that cannot read a frame's header is free again after it; else it follows the frame to its end and waits EIFS.
    pub header_check: bool,
    /// Whether medium access does not hear of a signal that began during the preamble of another one whose header then failed, as in ns-3.37.
    pub overlaid_unsensed: bool,
    /// A route uses a hop whose signal is stronger than needed by this, in dB.
    #[schemars(range(min = 0.0, max = 60.0))]
    pub margin_db: f64,
    /// Frames of more bytes, header and check sequence included, are sent behind an RTS. Absent: none (dot11RTSThreshold).
    pub rts_threshold: Option<Bytes>,
    /// Attempts of a frame without RTS, and of an RTS (dot11ShortRetryLimit).
    #[schemars(range(min = 1, max = 255))]
    pub short_retries: u32,
    /// Attempts of a frame behind an RTS (dot11LongRetryLimit).
    #[schemars(range(min = 1, max = 255))]
    pub long_retries: u32,
    /// Least contention window, one less than a power of two. Absent: that of the standard.
    #[schemars(range(min = 1, max = 32_767))]
    pub cw_min: Option<u32>,
    /// Largest contention window, one less than a power of two. Absent: that of the standard.
    #[schemars(range(min = 1, max = 32_767))]
    pub cw_max: Option<u32>,
    /// When a station whose frame was not answered counts down again.
    pub after_timeout: AfterTimeoutSpec,
    /// Whether a packet that finds queue and medium idle for DIFS goes at once (IEEE 802.11-2016 clause 10.3.4.2); else it waits DIFS from its arrival, as in ns-3.37.
    pub immediate_access: bool,
    /// Whether a station that has heard an RTS for others forgets it when nothing follows (IEEE 802.11-2016 clause 10.3.2.4).
    pub nav_reset: bool,
}

impl Default for ChannelSpec {
    fn default() -> Self {
        Self {
            standard: StandardName(&STANDARDS[0]),
            rate: None,
            rate_control: RateControlSpec::Fixed,
            control_rate: None,
            nodes: IndexMap::new(),
            grid: None,
            ring: None,
            scatter: None,
            access_point: None,
            access_points: Vec::new(),
            association: IndexMap::new(),
            walks: IndexMap::new(),
            random_waypoint: None,
            position_step: Dur::from_ms(100),
            routes: RoutesSpec::Follow,
            route_step: Dur::from_secs(1),
            route_delay: Dur::from_secs(1),
            queue: None,
            queues: IndexMap::new(),
            propagation: PropagationSpec::default(),
            power_dbm: 15.0,
            noise_figure_db: 7.0,
            errors: ErrorsSpec::Threshold,
            threshold_db: 10.0,
            preamble_db: 4.0,
            preamble_time: Dur::from_us(4),
            capture_db: None,
            capture_time: Dur::from_us(16),
            sensitivity_dbm: -101.0,
            floor_dbm: -110.0,
            cca_dbm: -70.0,
            header_check: true,
            overlaid_unsensed: false,
            margin_db: 0.0,
            rts_threshold: None,
            short_retries: 7,
            long_retries: 4,
            cw_min: None,
            cw_max: None,
            after_timeout: AfterTimeoutSpec::AtOnce,
            immediate_access: true,
            nav_reset: true,
        }
    }
}
