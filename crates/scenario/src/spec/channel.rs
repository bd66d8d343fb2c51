//! Wireless channels: positions and behaviour of stations.

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
        Standard::named(&name).map(Self).ok_or_else(|| serde::de::Error::custom("unknown standard"))
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

fairlane_units::params! {
    /// Start of the next countdown after a missed response.
    pub enum AfterTimeoutSpec {
        /// From the timeout on, if the medium was idle for DIFS by then (IEEE 802.11-2016 clause 10.3.4.3).
        #[default]
        AtOnce,
        /// DIFS after the timeout, as ns-3.37 does.
        Difs,
        /// Without a timeout: one slot after SIFS the station knows that no response started, and DIFS counts from the end of its frame (Bianchi 2000).
        Known,
    }

    /// Reception model of a frame that a receiver follows.
    pub enum ErrorsSpec {
        /// `threshold_db`, at every rate.
        #[default]
        Threshold,
        /// Random, by the error rate of the modulation at the signal-to-interference-and-noise ratio of each part of the frame.
        Rates,
    }

    /// Choice of the data rate.
    pub enum RateControlSpec {
        /// Always `rate`.
        #[default]
        Fixed,
        /// Automatic rate fallback (Kamerman and Monteban 1997): down after two acknowledgments missed in a row, up after ten received, or after fifteen frames.
        Arf,
        /// By the expected throughput from samples of all rates, after Linux's Minstrel.
        Minstrel,
    }

    /// Stations on a grid, row by row, from (0, 0) on.
    pub struct GridPlaces {
        /// Number of rows.
        #[schemars(range(min = 1, max = 1000))]
        pub rows: u32 = 1,
        /// Number of stations in a row.
        #[schemars(range(min = 1, max = 1000))]
        pub columns: u32 = 2,
        /// Distance between neighbours in metres.
        #[schemars(range(min = 0.1, max = 100_000.0))]
        pub spacing_m: f64 = 100.0,
        /// Names; `{i}` stands for the number.
        pub name: String = numbered(),
    }

    /// Stations on a circle around (0, 0).
    pub struct RingPlaces {
        /// Number of stations.
        #[schemars(range(min = 1, max = 2000))]
        pub count: u32 = 2,
        /// Radius in metres.
        #[schemars(range(min = 0.1, max = 100_000.0))]
        pub radius_m: f64 = 10.0,
        /// Names; `{i}` stands for the number.
        pub name: String = numbered(),
    }

    /// Stations at random positions in a field.
    pub struct ScatterPlaces {
        /// Number of stations.
        #[schemars(range(min = 1, max = 2000))]
        pub count: u32 = 16,
        /// Width of the field in metres.
        #[schemars(range(min = 0.1, max = 100_000.0))]
        pub width_m: f64 = 500.0,
        /// Height of the field in metres.
        #[schemars(range(min = 0.1, max = 100_000.0))]
        pub height_m: f64 = 500.0,
        /// Seed of the positions. The seed of the run does not change them.
        pub seed: u64 = 1,
        /// Names; `{i}` stands for the number.
        pub name: String = numbered(),
    }
}

fn numbered() -> String {
    "n{i}".to_owned()
}

fairlane_units::params! {
    /// A wireless channel: IEEE 802.11 stations that share a medium. A station's interface is the link `NODE-CHANNEL`.
    pub struct ChannelSpec {
        /// Physical layer: timing and available rates.
        pub standard: StandardName = StandardName(&STANDARDS[0]),
        /// Data rate. Absent: the highest of the standard.
        pub rate: Option<Rate> = None,
        /// Choice of the data rate. Unless it is fixed, use `errors = "rates"`, so that rates differ in more than speed.
        pub rate_control: RateControlSpec = RateControlSpec::Fixed,
        /// Rate of RTS, CTS and acknowledgments. Absent: RTS and CTS at the lowest mandatory rate, an acknowledgment at the highest mandatory rate
        /// not above that of the data (IEEE 802.11-2016 clause 10.7.6.5.2).
        pub control_rate: Option<Rate> = None,
        /// Positions of stations in metres, by node.
        pub nodes: IndexMap<String, Point> = IndexMap::new(),
        /// Stations on a grid.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub grid: Option<GridPlaces> = None,
        /// Stations on a circle.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub ring: Option<RingPlaces> = None,
        /// Stations at random positions in a field.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub scatter: Option<ScatterPlaces> = None,
        /// Node that all others exchange frames with (infrastructure). Absent: every station may send to every station that decodes it (ad hoc).
        pub access_point: Option<String> = None,
        /// Several access points: each station associates with the one it receives best; ties are broken by a hash of both names. Access points do not exchange frames over the air.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub access_points: Vec<String> = Vec::new(),
        /// Access points of single stations, by node, instead of the one they receive best.
        #[serde(skip_serializing_if = "IndexMap::is_empty")]
        pub association: IndexMap<String, String> = IndexMap::new(),
        /// Paths of stations, by node; a station without another position starts where its path does.
        #[serde(skip_serializing_if = "IndexMap::is_empty")]
        pub walks: IndexMap<String, WalkSpec> = IndexMap::new(),
        /// Stations with random-waypoint mobility.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub random_waypoint: Option<RandomWaypointSpec> = None,
        /// Interval at which the received power of moving stations is computed again.
        #[schemars(extend("x-min" = "1ms", "x-max" = "1h"))]
        pub position_step: Dur = Dur::from_ms(100),
        /// Adaptation of routes to moving stations.
        pub routes: RoutesSpec = RoutesSpec::Follow,
        /// Interval at which routes are recomputed from the stations that decode each other.
        #[schemars(extend("x-min" = "1ms", "x-max" = "1h"))]
        pub route_step: Dur = Dur::from_secs(1),
        /// Delay from such a recomputation to the use of new routes: the convergence time of a routing protocol.
        #[schemars(extend("x-max" = "1h"))]
        pub route_delay: Dur = Dur::from_secs(1),
        /// Queue of every station. Absent: DropTail with its defaults.
        pub queue: Option<QueueTable> = None,
        /// Queues of single stations by node, instead of `queue`.
        #[serde(skip_serializing_if = "IndexMap::is_empty")]
        pub queues: IndexMap<String, QueueTable> = IndexMap::new(),
        /// Path loss by distance.
        pub propagation: PropagationSpec,
        /// Transmit power of every station in dBm, antenna gains included.
        #[schemars(range(min = -50.0, max = 60.0))]
        pub power_dbm: f64 = 15.0,
        /// Noise figure of the receivers, which adds to thermal noise, in dB.
        #[schemars(range(min = 0.0, max = 40.0))]
        pub noise_figure_db: f64 = 7.0,
        /// Reception model of a frame that a receiver follows.
        pub errors: ErrorsSpec = ErrorsSpec::Threshold,
        /// A frame is received if its signal-to-interference-and-noise ratio was at least this all the time, in dB. Routes use it also with `errors = "rates"`.
        #[schemars(range(min = -10.0, max = 60.0))]
        pub threshold_db: f64 = 10.0,
        /// A receiver follows a frame if its preamble exceeds noise and interference by this, in dB (`ThresholdPreambleDetectionModel` of ns-3).
        #[schemars(range(min = -30.0, max = 60.0))]
        pub preamble_db: f64 = 4.0,
        /// Duration of preamble detection; the medium counts as busy from its end on.
        #[schemars(extend("x-max" = "100us"))]
        pub preamble_time: Dur = Dur::from_us(4),
        /// A later frame takes over the receiver if it is stronger by this, in dB. Absent: never.
        #[schemars(range(min = 0.0, max = 60.0))]
        pub capture_db: Option<f64> = None,
        /// Time after the start of a frame during which a later one may take over.
        pub capture_time: Dur = Dur::from_us(16),
        /// A receiver follows no signal below this power, in dBm (`RxSensitivity` of ns-3): weaker ones are interference.
        #[schemars(range(min = -150.0, max = 40.0))]
        pub sensitivity_dbm: f64 = -101.0,
        /// Signals below this power are ignored, even as interference, in dBm.
        #[schemars(range(min = -150.0, max = 40.0))]
        pub floor_dbm: f64 = -110.0,
        /// The medium is busy while the total signal power reaches this, in dBm, or a frame is being followed (IEEE 802.11-2016 clause 15.4.8.5: -70 for transmitters up
        /// to 50 mW).
        #[schemars(range(min = -150.0, max = 40.0))]
        pub cca_dbm: f64 = -70.0,
        /// True if a receiver is free again after a frame header that it cannot decode; else it follows the frame to its end and waits EIFS.
        pub header_check: bool = true,
        /// True if medium access does not sense a signal that started during the preamble of another one whose header then failed, as in ns-3.37.
        pub overlaid_unsensed: bool = false,
        /// Margin in dB by which the signal of a hop must exceed the required one to be used in routes.
        #[schemars(range(min = 0.0, max = 60.0))]
        pub margin_db: f64 = 0.0,
        /// Frames of more bytes, header and check sequence included, are sent after an RTS. Absent: none (dot11RTSThreshold).
        pub rts_threshold: Option<Bytes> = None,
        /// Attempts of a frame without RTS, and of an RTS (dot11ShortRetryLimit).
        #[schemars(range(min = 1, max = 255))]
        pub short_retries: u32 = 7,
        /// Attempts of a frame sent after an RTS (dot11LongRetryLimit).
        #[schemars(range(min = 1, max = 255))]
        pub long_retries: u32 = 4,
        /// Smallest contention window, one less than a power of two. Absent: that of the standard.
        #[schemars(range(min = 1, max = 32_767))]
        pub cw_min: Option<u32> = None,
        /// Largest contention window, one less than a power of two. Absent: that of the standard.
        #[schemars(range(min = 1, max = 32_767))]
        pub cw_max: Option<u32> = None,
        /// Start of the next countdown after a missed response.
        pub after_timeout: AfterTimeoutSpec = AfterTimeoutSpec::AtOnce,
        /// True if a packet that finds queue and medium idle for DIFS is sent at once (IEEE 802.11-2016 clause 10.3.4.2); else it waits DIFS from its arrival, as in ns-3.37.
        pub immediate_access: bool = true,
        /// True if a station resets its NAV when no frame follows an RTS for other stations (IEEE 802.11-2016 clause 10.3.2.4).
        pub nav_reset: bool = true,
    }
}
