//! Links: partial settings, and a complete direction.

use super::table::QueueTable;
use crate::registry::QueueSpec;
use fairlane_net::{Impairments, LinkInfo, Opportunities, ProfileSpec, Schedule, Steps};
use fairlane_units::{DataFile, Dur, Len, Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

/// A change of a link's rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateStep {
    /// Time since the start of the run.
    pub at: Dur,
    /// Transmission rate from then on; zero is an outage.
    #[schemars(extend("x-min" = "0bit/s", "x-max" = "10Tbit/s"))]
    pub rate: Rate,
}

/// A failure of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutageSpec {
    /// Time of the failure since the start of the run: packets in flight and in the queue are lost.
    pub at: Dur,
    /// Time of the repair. Absent: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Dur>,
}

impl OutageSpec {
    /// Start and end; the end is `MAX` if the link is not repaired.
    pub fn span(&self) -> (Time, Time) {
        (Time::ZERO + self.at, self.until.map_or(Time::MAX, |u| Time::ZERO + u))
    }
}

/// One direction of a link, complete.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Wire {
    /// Transmission rate: the mean of a trace or profile, the first of steps.
    pub rate: Rate,
    /// Trace of the rate.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "in_short")]
    pub trace: Option<DataFile>,
    /// Changes of the rate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<RateStep>,
    /// Outages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub down: Vec<OutageSpec>,
    /// Propagation delay: the least of a profile.
    pub delay: Dur,
    /// Capacity of the device below the queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<Len>,
    /// Cost of the link for routes by weight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<u32>,
    /// Queue before the link.
    pub queue: QueueSpec,
    /// Impairments of packets.
    #[serde(flatten)]
    pub impairments: Impairments,
}

fn in_short<S: Serializer>(trace: &Option<DataFile>, s: S) -> Result<S::Ok, S::Error> {
    let trace = trace.as_ref().map_or(&[][..], DataFile::values);
    s.collect_str(&format_args!("{} opportunities in {}", trace.len(), Dur::from_ms(trace.last().copied().unwrap_or(0))))
}

impl Wire {
    /// Rate and delay.
    pub fn info(&self) -> LinkInfo {
        LinkInfo { rate: self.rate, delay: self.delay }
    }
    /// Returns true if its rate is that of a profile.
    fn follows_rates(&self) -> bool {
        self.impairments.profile.as_ref().is_some_and(ProfileSpec::has_rates)
    }
    /// Returns true if its rate changes by a trace, a profile or steps.
    pub fn varies(&self) -> bool {
        self.trace.is_some() || !self.rates.is_empty() || self.follows_rates()
    }
    /// Changes of the rate over time.
    pub fn schedule(&self) -> Option<Schedule> {
        match &self.trace {
            Some(trace) => Opportunities::new(trace.shared()).map(Schedule::Opportunities),
            None if self.follows_rates() => self.impairments.profile.as_ref()?.schedule(),
            None if self.rates.is_empty() => None,
            None => {
                let steps = self.rates.iter().map(|s| (Time::ZERO + s.at, s.rate));
                Some(Schedule::Steps(Steps::new(self.rate, steps)))
            }
        }
    }
}

// The tables below contain these keys. The schema refuses unknown keys, because serde cannot attribute them.
/// One direction of a link; absent values are those of the other direction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Direction {
    /// Transmission rate.
    #[schemars(extend("x-min" = "1bit/s", "x-max" = "10Tbit/s"))]
    pub rate: Option<Rate>,
    /// Instead of the rate: a file with one millisecond per line, at which the link can carry 1500 bytes (mahimahi's traces). It restarts at its last time.
    #[schemars(extend("x-reads" = "opportunities"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<DataFile>,
    /// Changes of the rate during the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rates: Option<Vec<RateStep>>,
    /// Outages; `reverse = { down = [] }` for a failure of this direction alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub down: Option<Vec<OutageSpec>>,
    /// Propagation delay.
    #[schemars(extend("x-max" = "1h"))]
    pub delay: Option<Dur>,
    /// Capacity of the device below the queue, besides the packet in transmission: packets, or bytes below which it takes another packet. The queue can neither drop nor
    /// count these packets (the queue of ns-3's NetDevice: at least `1p`; the ring of a Linux driver). Absent or `0p`: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<Len>,
    /// Cost of the link for routes by weight (`route_by`). Absent: 1.
    #[schemars(range(min = 1, max = 65_535))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<u32>,
    /// Queue before the link; `"tc: fq_codel limit 100"` is a line of tc. Absent: DropTail with its defaults.
    pub queue: Option<QueueTable>,
    /// Impairments of packets.
    #[serde(flatten)]
    pub impairments: Impairments,
}

/// A point in a plane: written `[x, y]` or `{ x = ..., y = ... }`, which the check of a file converts to the former.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "[f64; 2]", into = "[f64; 2]")]
pub struct Point {
    /// To the right, or to the east.
    pub x: f64,
    /// Upwards, or to the north.
    pub y: f64,
}

impl From<[f64; 2]> for Point {
    fn from([x, y]: [f64; 2]) -> Self {
        Self { x, y }
    }
}
impl From<Point> for [f64; 2] {
    fn from(p: Point) -> Self {
        [p.x, p.y]
    }
}
impl JsonSchema for Point {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Point".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2, "x-place": true })
    }
}

/// Links of one kind made by a topology builder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Pipe {
    /// Other direction, if it differs.
    pub reverse: Option<Direction>,
    /// Direction as written.
    #[serde(flatten)]
    pub forward: Direction,
}

/// A link between two nodes, or a refinement of a link of the topology builder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct LinkSpec {
    /// Node at its start. Required unless the builder makes the link.
    pub from: Option<String>,
    /// Node at its end. Required unless the builder makes the link.
    pub to: Option<String>,
    /// True if it carries packets both ways. Absent: true.
    pub duplex: Option<bool>,
    /// Direction from `to` to `from`, if it differs.
    pub reverse: Option<Direction>,
    /// Direction from `from` to `to`.
    #[serde(flatten)]
    pub forward: Direction,
}

impl Direction {
    /// Returns true if its rate is that of a profile.
    pub fn follows_rates(&self) -> bool {
        self.impairments.profile.as_ref().is_some_and(ProfileSpec::has_rates)
    }
    /// Returns true if its delay is that of a profile.
    pub fn follows_delays(&self) -> bool {
        self.impairments.profile.as_ref().is_some_and(ProfileSpec::has_delays)
    }
    /// Values of `self`, else of `base`. A rate, a trace and the rates of a profile replace each other, and so do a delay and the delays of a profile.
    pub fn over(&self, base: &Self) -> Self {
        let own = self.rate.is_some() || self.trace.is_some();
        let capacity = if own { self } else { base };
        let mut impairments = self.impairments.over(&base.impairments);
        if let (Some(profile), None) = (&mut impairments.profile, &self.impairments.profile) {
            profile.0.rates &= !own;
            profile.0.delays &= self.delay.is_none();
        }
        Self {
            rate: capacity.rate,
            trace: capacity.trace.clone(),
            rates: self.rates.clone().or_else(|| capacity.rates.clone()),
            down: self.down.clone().or_else(|| base.down.clone()),
            delay: self.delay.or(base.delay),
            device: self.device.or(base.device),
            weight: self.weight.or(base.weight),
            queue: QueueTable::over(self.queue.as_ref(), base.queue.as_ref()),
            impairments,
        }
        .without_replaced()
    }
    /// Copy without the rate and the delay that a profile replaces.
    fn without_replaced(mut self) -> Self {
        if self.follows_rates() {
            (self.rate, self.trace) = (None, None);
        }
        if self.follows_delays() {
            self.delay = None;
        }
        self
    }
    /// Complete direction, with all parameters of the queue. Fails with the name of a missing rate or delay.
    pub fn wire(&self) -> Result<Wire, &'static str> {
        let mean = |t: &DataFile| Opportunities::new(t.shared()).map(|o| o.rate());
        let profile = self.impairments.profile.as_ref();
        let rate = profile.and_then(ProfileSpec::rate);
        Ok(Wire {
            rate: rate.or_else(|| self.trace.as_ref().map_or(self.rate, mean)).ok_or("rate")?,
            trace: self.trace.clone(),
            rates: self.rates.clone().unwrap_or_default(),
            down: self.down.clone().unwrap_or_default(),
            delay: profile.and_then(ProfileSpec::delay).or(self.delay).ok_or("delay")?,
            device: self.device,
            weight: self.weight,
            queue: self.queue.as_ref().map_or_else(QueueSpec::default, QueueTable::spec),
            impairments: self.impairments.over(&Impairments::plain()),
        })
    }
    /// Copy with every parameter of the queue, if one is set.
    #[must_use]
    pub fn filled(&self) -> Self {
        Self { queue: self.queue.as_ref().map(|q| QueueTable::from(&q.spec())), ..self.clone() }.without_replaced()
    }
}

impl Pipe {
    /// Values of `self`, else of `base`.
    pub fn over(&self, base: &Self) -> Self {
        let reverse = match (&self.reverse, &base.reverse) {
            (Some(a), Some(b)) => Some(a.over(b)),
            (a, b) => a.clone().or_else(|| b.clone()),
        };
        Self { forward: self.forward.over(&base.forward), reverse }
    }
    /// Copy with every parameter: the queue, and zero for the impairments.
    #[must_use]
    pub fn filled(&self) -> Self {
        let plain = Direction { impairments: Impairments::plain(), ..Direction::default() };
        let mut forward = self.forward.over(&plain).filled();
        forward.queue.get_or_insert_with(|| QueueTable::from(&QueueSpec::default()));
        let reverse = self.reverse.as_ref().map(|r| {
            let mut back = r.over(&forward).filled();
            // It is that of both directions, and written once.
            back.impairments.nat = None;
            back
        });
        Self { forward, reverse }
    }
    /// Copy with this queue, unless it has one.
    #[must_use]
    pub fn or_queue(mut self, queue: Option<&QueueTable>) -> Self {
        self.forward.queue = self.forward.queue.or_else(|| queue.cloned());
        self
    }
    /// Copy with this rate.
    #[must_use]
    pub fn with_rate(self, rate: Rate) -> Self {
        let only = Direction { rate: Some(rate), ..Direction::default() };
        let reverse = self.reverse.as_ref().map(|r| only.over(r));
        Self { forward: only.over(&self.forward), reverse }
    }
    /// Copy with this delay in both directions.
    #[must_use]
    pub fn with_delay(self, delay: Dur) -> Self {
        let only = Direction { delay: Some(delay), ..Direction::default() };
        let reverse = self.reverse.as_ref().map(|r| only.over(r));
        Self { forward: only.over(&self.forward), reverse }
    }
}

impl LinkSpec {
    /// Both directions.
    pub fn pipe(&self) -> Pipe {
        Pipe { reverse: self.reverse.clone(), forward: self.forward.clone() }
    }
    /// Creates a link from its parts.
    pub fn new(from: &str, to: &str, duplex: bool, pipe: Pipe) -> Self {
        let Pipe { forward, reverse } = pipe;
        Self { from: Some(from.to_owned()), to: Some(to.to_owned()), duplex: Some(duplex), reverse, forward }
    }
}
