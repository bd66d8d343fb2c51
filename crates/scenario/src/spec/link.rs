//! Links: what may be written, in part, and what a direction is once all is known.

use super::impair::{JitterSpec, LossSpec, RateStep, ReorderSpec};
use super::table::QueueTable;
use crate::registry::QueueSpec;
use fairlane_net::{Impairments, LinkInfo, Opportunities, Schedule, Steps};
use fairlane_units::{DataFile, Dur, Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

/// One direction of a link, complete.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Wire {
    /// Transmission rate: of a trace the mean, of steps the first.
    pub rate: Rate,
    /// The trace that the rate follows.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "in_short")]
    pub trace: Option<DataFile>,
    /// Changes of the rate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<RateStep>,
    /// Propagation delay.
    pub delay: Dur,
    /// Queue before the link.
    pub queue: QueueSpec,
    /// Which packets are lost on the link.
    pub loss: LossSpec,
    /// Probability that a packet arrives twice.
    pub duplicate: f64,
    /// Packets that arrive later than those behind them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reorder: Option<ReorderSpec>,
    /// Variation of the delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<JitterSpec>,
}

fn in_short<S: Serializer>(trace: &Option<DataFile>, s: S) -> Result<S::Ok, S::Error> {
    let trace = trace.as_ref().map_or(&[][..], DataFile::values);
    s.collect_str(&format_args!("{} opportunities in {}", trace.len(), Dur::from_ms(trace.last().copied().unwrap_or(0))))
}

impl Wire {
    /// Rate and delay, as queues are told.
    pub fn info(&self) -> LinkInfo {
        LinkInfo { rate: self.rate, delay: self.delay }
    }
    /// How the rate changes.
    pub fn schedule(&self) -> Option<Schedule> {
        match &self.trace {
            Some(trace) => Opportunities::new(trace.shared()).map(Schedule::Opportunities),
            None if self.rates.is_empty() => None,
            None => {
                let steps = self.rates.iter().map(|s| (Time::ZERO + s.at, s.rate)).collect();
                Some(Schedule::Steps(Steps::new(self.rate, steps)))
            }
        }
    }
    /// Losses, duplicates, late packets.
    pub fn impairments(&self) -> Impairments {
        Impairments {
            loss: self.loss.loss(),
            duplicate: self.duplicate,
            reorder: self.reorder.and_then(ReorderSpec::reorder),
            jitter: self.jitter.and_then(JitterSpec::jitter),
        }
    }
}

macro_rules! pipe {
    ($(#[$doc:meta])* $name:ident { $($(#[$fdoc:meta])* $own:ident: $ty:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            $($(#[$fdoc])* pub $own: $ty,)*
            /// Transmission rate.
            #[schemars(extend("x-min" = "1bit/s", "x-max" = "10Tbit/s"))]
            pub rate: Option<Rate>,
            /// In place of the rate: a file with a millisecond on each line, at which the link can carry 1500 bytes (mahimahi's traces). It begins anew at its last time.
            #[schemars(extend("x-reads" = "opportunities"))]
            #[serde(skip_serializing_if = "Option::is_none")]
            pub trace: Option<DataFile>,
            /// Changes of the rate during the run.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub rates: Option<Vec<RateStep>>,
            /// Propagation delay.
            #[schemars(extend("x-max" = "1h"))]
            pub delay: Option<Dur>,
            /// Queue before the link. Absent: DropTail with its defaults.
            pub queue: Option<QueueTable>,
            /// Probability that a packet is lost on the link, or a table of models. Absent: 0.
            pub loss: Option<LossSpec>,
            /// Probability that a packet arrives twice. Absent: 0.
            #[schemars(range(min = 0.0, max = 1.0))]
            pub duplicate: Option<f64>,
            /// A share of the packets that arrives later than those behind them.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub reorder: Option<ReorderSpec>,
            /// Variation of the propagation delay: its width, or a table of parameters.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub jitter: Option<JitterSpec>,
        }
        pipe!(@parts $name { $($own: $ty),* });
    };
    (@parts $name:ident {}) => {};
    (@parts $name:ident { $($own:ident: $ty:ty),* }) => {
        impl $name {
            /// What it says about its forward direction.
            pub fn forward(&self) -> Direction {
                let Self { rate, trace, rates, delay, queue, loss, duplicate, reorder, jitter, .. } = self.clone();
                Direction { rate, trace, rates, delay, queue, loss, duplicate, reorder, jitter }
            }
            fn of(d: Direction, $($own: $ty),*) -> Self {
                let Direction { rate, trace, rates, delay, queue, loss, duplicate, reorder, jitter } = d;
                Self { $($own,)* rate, trace, rates, delay, queue, loss, duplicate, reorder, jitter }
            }
        }
    };
}

pipe! {
    /// One direction of a link; what is absent is as in the other direction.
    Direction {}
}

pipe! {
    /// The links of one kind that a topology builder makes.
    Pipe {
        /// The other direction, where it differs.
        reverse: Option<Direction>,
    }
}

pipe! {
    /// A link between two nodes, or a refinement of a link that the topology builder makes.
    LinkSpec {
        /// Node at its start. Required unless the builder makes the link.
        from: Option<String>,
        /// Node at its end. Required unless the builder makes the link.
        to: Option<String>,
        /// Whether it carries packets both ways. Absent: true.
        duplex: Option<bool>,
        /// The direction from `to` to `from`, where it differs.
        reverse: Option<Direction>,
    }
}

impl Direction {
    /// `self` where it says something, else `base`. A rate and a trace stand for one another.
    pub fn over(&self, base: &Self) -> Self {
        let own = self.rate.is_some() || self.trace.is_some();
        let capacity = if own { self } else { base };
        Self {
            rate: capacity.rate,
            trace: capacity.trace.clone(),
            rates: self.rates.clone().or_else(|| capacity.rates.clone()),
            delay: self.delay.or(base.delay),
            queue: QueueTable::over(self.queue.as_ref(), base.queue.as_ref()),
            loss: self.loss.clone().or_else(|| base.loss.clone()),
            duplicate: self.duplicate.or(base.duplicate),
            reorder: self.reorder.or(base.reorder),
            jitter: self.jitter.or(base.jitter),
        }
    }
    /// Complete, with the queue's parameters read. Fails if the rate or the delay was left out.
    pub fn wire(&self) -> Result<Wire, &'static str> {
        let mean = |t: &DataFile| Opportunities::new(t.shared()).map(|o| o.rate());
        Ok(Wire {
            rate: self.trace.as_ref().map_or(self.rate, mean).ok_or("rate")?,
            trace: self.trace.clone(),
            rates: self.rates.clone().unwrap_or_default(),
            delay: self.delay.ok_or("delay")?,
            queue: self.queue.as_ref().map_or_else(QueueSpec::default, QueueTable::spec),
            loss: self.loss.clone().unwrap_or_default(),
            duplicate: self.duplicate.unwrap_or(0.0),
            reorder: self.reorder,
            jitter: self.jitter,
        })
    }
    /// The same with every parameter written out, where something is said at all.
    #[must_use]
    pub fn filled(&self) -> Self {
        Self { queue: self.queue.as_ref().map(|q| QueueTable::from(&q.spec())), ..self.clone() }
    }
}

impl Pipe {
    /// `self` where it says something, else `base`.
    pub fn over(&self, base: &Self) -> Self {
        let reverse = match (&self.reverse, &base.reverse) {
            (Some(a), Some(b)) => Some(a.over(b)),
            (a, b) => a.clone().or_else(|| b.clone()),
        };
        Self::of(self.forward().over(&base.forward()), reverse)
    }
    /// The same with every parameter written out: the queue, and zero for the impairments.
    #[must_use]
    pub fn filled(&self) -> Self {
        let plain = Direction { loss: Some(LossSpec::default()), duplicate: Some(0.0), ..Direction::default() };
        let mut forward = self.forward().over(&plain).filled();
        forward.queue.get_or_insert_with(|| QueueTable::from(&QueueSpec::default()));
        let reverse = self.reverse.as_ref().map(|r| r.over(&forward).filled());
        Self::of(forward, reverse)
    }
    /// With this queue, unless it has one.
    #[must_use]
    pub fn or_queue(mut self, queue: Option<&QueueTable>) -> Self {
        self.queue = self.queue.or_else(|| queue.cloned());
        self
    }
    /// With this rate in place of whatever it had.
    #[must_use]
    pub fn with_rate(self, rate: Rate) -> Self {
        let only = Direction { rate: Some(rate), ..Direction::default() };
        let reverse = self.reverse.as_ref().map(|r| only.over(r));
        Self::of(only.over(&self.forward()), reverse)
    }
}

impl LinkSpec {
    /// What it says about its two directions.
    pub fn pipe(&self) -> Pipe {
        Pipe::of(self.forward(), self.reverse.clone())
    }
    /// A link from its parts.
    pub fn new(from: &str, to: &str, duplex: bool, pipe: Pipe) -> Self {
        Self::of(pipe.forward(), Some(from.to_owned()), Some(to.to_owned()), Some(duplex), pipe.reverse)
    }
}
