//! A channel in single parts: where its stations stand, who hears whom how well, and the medium made from that.

use crate::expand::numbered;
use crate::spec::{AfterTimeoutSpec, ChannelSpec, ErrorsSpec, RateControlSpec};
use fairlane_engine::Stream;
use fairlane_units::Rate;
use fairlane_wireless::air::{AirError, near_enough};
use fairlane_wireless::power::{self, Power, Ratio};
use fairlane_wireless::rates::{Arf, Control, Minstrel};
use fairlane_wireless::{AfterTimeout, Air, AirConfig, Dcf, Ear, Errors, Tone};
use serde::Serialize;

/// A station.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StationAt {
    /// Its node.
    pub node: String,
    /// [x, y] in metres.
    pub at: [f64; 2],
}

/// A channel with its stations and the hops that routes may take.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChannelAt {
    /// Its name.
    pub name: String,
    /// Its stations, in the order of their links.
    pub stations: Vec<StationAt>,
    /// Pairs of stations, sender and receiver, of which the second decodes the first.
    pub hops: Vec<(u32, u32)>,
    #[serde(skip)]
    ears: Vec<Vec<Ear>>,
}

/// Bandwidth of the noise: that of a channel of DSSS and CCK, and of OFDM.
const DSSS_HZ: f64 = 22e6;
const OFDM_HZ: f64 = 20e6;

impl ChannelSpec {
    /// All stations with their places: those of the grid, of the circle, of the field, and those that are named.
    pub fn stations(&self, channel: &str) -> Vec<StationAt> {
        let mut all = Vec::new();
        let mut put = |node: String, x: f64, y: f64| all.push(StationAt { node, at: [x, y] });
        if let Some(g) = &self.grid {
            for i in 0..g.rows * g.columns {
                put(numbered(&g.name, i), f64::from(i % g.columns) * g.spacing_m, f64::from(i / g.columns) * g.spacing_m);
            }
        }
        if let Some(r) = &self.ring {
            for i in 0..r.count {
                let angle = std::f64::consts::TAU * f64::from(i) / f64::from(r.count);
                put(numbered(&r.name, i), r.radius_m * libm::cos(angle), r.radius_m * libm::sin(angle));
            }
        }
        if let Some(f) = &self.scatter {
            let mut stream = Stream::new(f.seed, "channel", channel, "places");
            let mut share = || stream.below(1 << 53) as f64 / (1_u64 << 53) as f64;
            for i in 0..f.count {
                let (x, y) = (share() * f.width_m, share() * f.height_m);
                put(numbered(&f.name, i), x, y);
            }
        }
        for (node, &[x, y]) in &self.nodes {
            put(node.clone(), x, y);
        }
        all
    }

    /// What data are sent with; none if the standard has no such rate.
    pub fn tone(&self) -> Option<Tone> {
        let wave = self.standard.0.wave;
        let highest = wave.rates().last().copied();
        let kbps = self.rate.map_or(highest, kbps)?;
        Tone::new(wave, kbps)
    }
    /// What control frames are sent with, if that is said; the inner one is none if the standard has no such rate.
    pub fn control_tone(&self) -> Option<Option<Tone>> {
        let standard = self.standard.0;
        self.control_rate.map(|rate| {
            let kbps = kbps(rate)?;
            Tone::new(standard.wave, kbps).or_else(|| standard.basic.iter().find(|t| t.kbps == kbps).copied())
        })
    }

    /// Medium access.
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

    /// Power of a signal over a distance in metres, in dBm; minus infinity where nothing arrives.
    pub fn received_dbm(&self, metres: f64) -> f64 {
        self.power_dbm - self.propagation.model().loss(metres)
    }

    /// How far a signal is decoded where nobody else sends, in metres up to 1000 km: by halving, as losses grow with the distance.
    pub fn reach(&self) -> f64 {
        let (noise, needed) = (self.noise(), Ratio::from_db(self.threshold_db + self.margin_db));
        let (mut near, mut far) = (0.0, 1e6);
        for _ in 0..60 {
            let middle = (near + far) / 2.0;
            let dbm = self.received_dbm(middle);
            let heard = dbm >= self.sensitivity_dbm && Power::from_dbm(dbm).over(noise, needed);
            (near, far) = if heard { (middle, far) } else { (near, middle) };
        }
        near
    }

    /// The channel in single parts.
    pub fn at(&self, name: &str) -> ChannelAt {
        let stations = self.stations(name);
        let needed = Ratio::from_db(self.threshold_db + self.margin_db);
        let noise = self.noise();
        let infrastructure = self.access_point.as_deref();
        let (mut ears, mut hops) = (vec![Vec::new(); stations.len()], Vec::new());
        for (i, a) in stations.iter().enumerate() {
            for (j, b) in stations.iter().enumerate().filter(|&(j, _)| j != i) {
                let metres = distance(a.at, b.at);
                let dbm = self.received_dbm(metres);
                if dbm < self.floor_dbm {
                    continue;
                }
                let power = Power::from_dbm(dbm);
                ears[i].push(Ear { station: j as u32, power, delay: power::flight(metres) });
                let allowed = infrastructure.is_none_or(|ap| a.node == ap || b.node == ap);
                if allowed && dbm >= self.sensitivity_dbm && power.over(noise, needed) {
                    hops.push((i as u32, j as u32));
                }
            }
        }
        ChannelAt { name: name.to_owned(), stations, hops, ears }
    }
}

impl ChannelAt {
    /// Whether all who hear one another are near enough for the standard.
    pub(crate) fn check(&self, spec: &ChannelSpec) -> Result<(), AirError> {
        (0..).zip(&self.ears).try_for_each(|(station, ears)| near_enough(spec.standard.0.sifs, station, ears))
    }
    /// The medium in the run with this seed. None: a rate that the standard has not.
    pub fn air(&self, spec: &ChannelSpec, seed: u64) -> Option<Result<Air, AirError>> {
        Some(Air::new(spec.dcf()?, &spec.config(), self.ears.clone(), seed, &self.name))
    }
    /// The name of the link that is the interface of a node.
    pub fn link(&self, node: &str) -> String {
        format!("{node}-{}", self.name)
    }
}

/// Between two places, in metres.
fn distance([x, y]: [f64; 2], [u, v]: [f64; 2]) -> f64 {
    ((x - u) * (x - u) + (y - v) * (y - v)).sqrt()
}

/// In kbit/s, if it is a whole number of these.
fn kbps(rate: Rate) -> Option<u32> {
    let bps = rate.as_bps();
    u32::try_from(bps / 1000).ok().filter(|_| bps.is_multiple_of(1000))
}
