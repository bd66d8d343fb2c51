//! A wireless channel: positions of its stations, links between them, and the medium built from both.

use crate::expand::numbered;
use crate::mobility::Moving;
use crate::spec::{AfterTimeoutSpec, ChannelSpec, ErrorsSpec, Point, RateControlSpec};
use fairlane_engine::Stream;
use fairlane_units::Rate;
use fairlane_wireless::air::{AirError, near_enough};
use fairlane_wireless::power::{self, Power, Ratio};
use fairlane_wireless::rates::{Arf, Control, Minstrel};
use fairlane_wireless::{Access, AfterTimeout, Air, AirConfig, Dcf, Ear, Errors, Hearing, Meetings, Tone};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::HashMap;

/// A station with its position.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StationAt {
    /// Node of the station.
    pub node: String,
    /// Position [x, y] in metres.
    pub at: [f64; 2],
}

/// A channel with its stations and the hops that routes may use.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChannelAt {
    /// Name of the channel.
    pub name: String,
    /// Stations, in the order of their links.
    pub stations: Vec<StationAt>,
    /// Pairs (sender, receiver) in which the receiver decodes the sender; for moving stations, at the start.
    pub hops: Vec<(u32, u32)>,
    /// Paths of the moving stations.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ways: Vec<WayAt>,
    #[serde(skip)]
    ears: Vec<Vec<Ear>>,
    /// Motion of the stations, if any moves.
    #[serde(skip)]
    pub(crate) moving: Option<Moving>,
}

/// Path of a moving station.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WayAt {
    /// Node of the station.
    pub node: String,
    /// Waypoints up to the end of the run, [x, y] in metres.
    pub points: Vec<[f64; 2]>,
}

/// Noise bandwidths of a DSSS or CCK channel, and of an OFDM channel.
const DSSS_HZ: f64 = 22e6;
const OFDM_HZ: f64 = 20e6;

impl ChannelSpec {
    /// All stations with their positions: those of the grid, the circle and the field, and those that are named.
    pub fn stations(&self, channel: &str) -> Vec<StationAt> {
        let mut all = Vec::new();
        let mut put = |node: String, x: f64, y: f64| all.push(StationAt { node, at: [x, y] });
        if let Some(g) = &self.grid {
            for i in 0..g.rows * g.columns {
                put(numbered(&g.name, i).to_string(), f64::from(i % g.columns) * g.spacing_m, f64::from(i / g.columns) * g.spacing_m);
            }
        }
        if let Some(r) = &self.ring {
            for i in 0..r.count {
                let angle = std::f64::consts::TAU * f64::from(i) / f64::from(r.count);
                put(numbered(&r.name, i).to_string(), r.radius_m * libm::cos(angle), r.radius_m * libm::sin(angle));
            }
        }
        if let Some(f) = &self.scatter {
            let mut stream = Stream::new(f.seed, "channel", channel, "places");
            let mut share = || stream.below(1 << 53) as f64 / (1_u64 << 53) as f64;
            for i in 0..f.count {
                let (x, y) = (share() * f.width_m, share() * f.height_m);
                put(numbered(&f.name, i).to_string(), x, y);
            }
        }
        for (node, &Point { x, y }) in &self.nodes {
            put(node.clone(), x, y);
        }
        self.walkers(&mut all);
        all
    }

    /// Access points: the only nodes that stations exchange frames with, if there are any.
    pub fn points(&self) -> impl Iterator<Item = &String> {
        self.access_point.iter().chain(&self.access_points)
    }

    fn access(&self, stations: &[StationAt]) -> Access {
        let number = |node: &String| stations.iter().position(|s| s.node == *node).map(|i| i as u32);
        let points: Vec<u32> = self.points().filter_map(number).collect();
        if points.is_empty() {
            return Access::AdHoc;
        }
        let of = stations.iter().map(|s| self.association.get(&s.node).and_then(number)).collect();
        Access::Points { points, of, names: stations.iter().map(|s| s.node.clone()).collect() }
    }

    /// Modulation of data frames; none if the standard has no such rate.
    pub fn tone(&self) -> Option<Tone> {
        let wave = self.standard.0.wave;
        let highest = wave.rates().last().copied();
        let kbps = self.rate.map_or(highest, kbps)?;
        Tone::new(wave, kbps)
    }
    /// Modulation of control frames, if set; the inner value is none if the standard has no such rate.
    pub fn control_tone(&self) -> Option<Option<Tone>> {
        let standard = self.standard.0;
        self.control_rate.map(|rate| {
            let kbps = kbps(rate)?;
            Tone::new(standard.wave, kbps).or_else(|| standard.basic.iter().find(|t| t.kbps == kbps).copied())
        })
    }

    /// Parameters of medium access.
    fn dcf(&self) -> Option<Dcf> {
        let mut dcf = Dcf::new(self.standard.0, self.tone()?);
        if let Some(tone) = self.control_tone() {
            let tone = tone?;
            (dcf.ack, dcf.rts, dcf.cts) = (tone, tone, tone);
            dcf.rungs.iter_mut().for_each(|r| r.ack = tone);
        }
        dcf.cw_min = self.cw_min.unwrap_or(dcf.cw_min);
        dcf.cw_max = self.cw_max.unwrap_or(dcf.cw_max);
        (dcf.short_retries, dcf.long_retries) = (self.short_retries, self.long_retries);
        dcf.rts_threshold = self.rts_threshold.map_or(u32::MAX, |b| u32::try_from(b.get()).unwrap_or(u32::MAX));
        dcf.after_timeout = match self.after_timeout {
            AfterTimeoutSpec::AtOnce => AfterTimeout::AtOnce,
            AfterTimeoutSpec::Difs => AfterTimeout::Difs,
            AfterTimeoutSpec::Known => AfterTimeout::Known,
        };
        dcf.control = match self.rate_control {
            RateControlSpec::Fixed => Control::Fixed,
            RateControlSpec::Arf => Control::Arf(Arf::default()),
            RateControlSpec::Minstrel => Control::Minstrel(Minstrel::default()),
        };
        (dcf.at_once, dcf.nav_reset) = (self.immediate_access, self.nav_reset);
        Some(dcf)
    }

    fn noise(&self) -> Power {
        let dsss = self.standard.0.wave.rates().contains(&11_000);
        power::noise(if dsss { DSSS_HZ } else { OFDM_HZ }, self.noise_figure_db)
    }

    fn config(&self) -> AirConfig {
        AirConfig {
            noise: self.noise(),
            least: Power::from_dbm(self.sensitivity_dbm),
            cca: Power::from_dbm(self.cca_dbm),
            decode_db: self.threshold_db,
            errors: match self.errors {
                ErrorsSpec::Threshold => Errors::Threshold,
                ErrorsSpec::Rates => Errors::Rates,
            },
            look: self.preamble_time,
            detect_db: Some(self.preamble_db),
            capture: self.capture_db.map(|db| (db, self.capture_time)),
            headers_fail: self.header_check,
            overlaid_unsensed: self.overlaid_unsensed,
        }
    }

    /// Received power in dBm at a distance in metres; minus infinity if no signal arrives.
    pub fn received_dbm(&self, metres: f64) -> f64 {
        self.power_dbm - self.propagation.model().loss(metres)
    }

    /// Largest distance in metres, up to 1000 km, at which a signal is decoded without interference: bisection, as losses grow with the distance.
    pub fn reach(&self) -> f64 {
        let (mut near, mut far) = (0.0, 1e6);
        for _ in 0..60 {
            let middle = (near + far) / 2.0;
            (near, far) = if self.decodes(middle) { (middle, far) } else { (near, middle) };
        }
        near
    }

    /// True if a signal is decoded at a distance in metres without interference.
    fn decodes(&self, metres: f64) -> bool {
        let dbm = self.received_dbm(metres);
        dbm >= self.sensitivity_dbm && Power::from_dbm(dbm).over(self.noise(), Ratio::from_db(self.threshold_db + self.margin_db))
    }

    /// Decoding range in whole millimetres.
    pub(crate) fn reach_mm(&self) -> u64 {
        let mm = libm::round(self.reach() * 1e3) as u64;
        if self.decodes(mm as f64 / 1e3) { mm } else { mm.saturating_sub(1) }
    }

    /// Builds the channel; `moving`: the motion of its stations, if any.
    pub(crate) fn at(&self, name: &str, moving: Option<Moving>) -> ChannelAt {
        let stations = self.stations(name);
        let access = self.access(&stations);
        if let Some(moving) = moving {
            let ways = moving.ways(&stations);
            let (hops, moving) = moving.with(self, access);
            return ChannelAt { name: name.to_owned(), stations, hops, ways, ears: Vec::new(), moving: Some(moving) };
        }
        let needed = Ratio::from_db(self.threshold_db + self.margin_db);
        let noise = self.noise();
        let mut ears = vec![Vec::new(); stations.len()];
        let mut decoded = HashMap::new();
        for (i, a) in stations.iter().enumerate() {
            for (j, b) in stations.iter().enumerate().filter(|&(j, _)| j != i) {
                let metres = distance(a.at, b.at);
                let dbm = self.received_dbm(metres);
                if dbm < self.floor_dbm {
                    continue;
                }
                let power = Power::from_dbm(dbm);
                ears[i].push(Ear { station: j as u32, power, delay: power::flight(metres) });
                if dbm >= self.sensitivity_dbm && power.over(noise, needed) {
                    decoded.insert((i as u32, j as u32), (metres * 1e3) as u64);
                }
            }
        }
        let hops = access.hops(stations.len() as u32, |i, j| decoded.get(&(i, j)).copied());
        ChannelAt { name: name.to_owned(), stations, hops, ways: Vec::new(), ears, moving: None }
    }

    /// Attenuation of signals by distance.
    pub(crate) fn hearing(&self) -> Hearing {
        Hearing { power_dbm: self.power_dbm, floor_dbm: self.floor_dbm, propagation: self.propagation.model() }
    }
}

impl ChannelAt {
    /// Checks that all stations that hear one another are near enough for the standard.
    pub(crate) fn check(&self, spec: &ChannelSpec) -> Result<(), AirError> {
        if let Some(moving) = &self.moving {
            return moving.check(spec);
        }
        (0..).zip(&self.ears).try_for_each(|(station, ears)| near_enough(spec.standard.0.sifs, station, ears))
    }
    /// Hops that exist at any route update, each once.
    pub(crate) fn ever(&self) -> Cow<'_, [(u32, u32)]> {
        self.moving.as_ref().and_then(|m| m.ever(&self.hops)).map_or(Cow::Borrowed(&self.hops), Cow::Owned)
    }
    /// Changes of the hops during the run, if routes follow.
    pub fn meetings(&self) -> Option<Meetings> {
        self.moving.as_ref().and_then(|m| m.meetings.clone())
    }
    /// Builds the medium for the run with this seed. None: the standard lacks a rate.
    pub fn air(&self, spec: &ChannelSpec, seed: u64) -> Option<Result<Air, AirError>> {
        let (dcf, config) = (spec.dcf()?, spec.config());
        let name = |i: usize| format!("{}.{}", self.name, self.stations[i].node);
        Some(match &self.moving {
            Some(moving) => Air::moving(dcf, &config, moving.motion(spec), seed, name),
            None => Air::new(dcf, &config, self.ears.clone(), seed, name),
        })
    }
    /// Name of the link that is a node's interface.
    pub fn link(&self, node: &str) -> String {
        format!("{node}-{}", self.name)
    }
}

/// Distance between two positions, in metres.
fn distance([x, y]: [f64; 2], [u, v]: [f64; 2]) -> f64 {
    ((x - u) * (x - u) + (y - v) * (y - v)).sqrt()
}

/// Rate in kbit/s, if it is a whole number.
fn kbps(rate: Rate) -> Option<u32> {
    let bps = rate.as_bps();
    u32::try_from(bps / 1000).ok().filter(|_| bps.is_multiple_of(1000))
}
