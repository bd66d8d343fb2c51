//! Links: what may be written, in part, and what a direction is once all is known.

use super::table::QueueTable;
use crate::registry::QueueSpec;
use fairlane_units::{Dur, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One direction of a link, complete.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Wire {
    /// Transmission rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Dur,
    /// Queue before the link.
    pub queue: QueueSpec,
    /// Probability that a packet is lost on the link.
    pub loss: f64,
    /// Probability that a packet arrives twice.
    pub duplicate: f64,
}

macro_rules! pipe {
    ($(#[$doc:meta])* $name:ident { $($(#[$fdoc:meta])* $field:ident: $ty:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            $($(#[$fdoc])* pub $field: $ty,)*
            /// Transmission rate.
            #[schemars(extend("x-min" = "1bit/s", "x-max" = "10Tbit/s"))]
            pub rate: Option<Rate>,
            /// Propagation delay.
            #[schemars(extend("x-max" = "1h"))]
            pub delay: Option<Dur>,
            /// Queue before the link. Absent: DropTail with its defaults.
            pub queue: Option<QueueTable>,
            /// Probability that a packet is lost on the link. Absent: 0.
            #[schemars(range(min = 0.0, max = 1.0))]
            pub loss: Option<f64>,
            /// Probability that a packet arrives twice. Absent: 0.
            #[schemars(range(min = 0.0, max = 1.0))]
            pub duplicate: Option<f64>,
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
    /// `self` where it says something, else `base`.
    pub fn over(&self, base: &Self) -> Self {
        Self {
            rate: self.rate.or(base.rate),
            delay: self.delay.or(base.delay),
            queue: QueueTable::over(self.queue.as_ref(), base.queue.as_ref()),
            loss: self.loss.or(base.loss),
            duplicate: self.duplicate.or(base.duplicate),
        }
    }
    /// Complete, with the queue's parameters read. Fails if the rate or the delay was left out.
    pub fn wire(&self) -> Result<Wire, &'static str> {
        Ok(Wire {
            rate: self.rate.ok_or("rate")?,
            delay: self.delay.ok_or("delay")?,
            queue: self.queue.as_ref().map_or_else(QueueSpec::default, QueueTable::spec),
            loss: self.loss.unwrap_or(0.0),
            duplicate: self.duplicate.unwrap_or(0.0),
        })
    }
    /// The same with every parameter written out, where something is said at all.
    #[must_use]
    pub fn filled(&self) -> Self {
        Self { queue: self.queue.as_ref().map(|q| QueueTable::from(&q.spec())), ..self.clone() }
    }
}

impl Pipe {
    /// The forward direction.
    pub fn forward(&self) -> Direction {
        Direction { rate: self.rate, delay: self.delay, queue: self.queue.clone(), loss: self.loss, duplicate: self.duplicate }
    }
    fn new(d: Direction, reverse: Option<Direction>) -> Self {
        Self { reverse, rate: d.rate, delay: d.delay, queue: d.queue, loss: d.loss, duplicate: d.duplicate }
    }
    /// `self` where it says something, else `base`.
    pub fn over(&self, base: &Self) -> Self {
        let reverse = match (&self.reverse, &base.reverse) {
            (Some(a), Some(b)) => Some(a.over(b)),
            (a, b) => a.clone().or_else(|| b.clone()),
        };
        Self::new(self.forward().over(&base.forward()), reverse)
    }
    /// The same with every parameter written out: the queue, and zero for the impairments.
    #[must_use]
    pub fn filled(&self) -> Self {
        let plain = Direction { loss: Some(0.0), duplicate: Some(0.0), ..Direction::default() };
        let mut forward = self.forward().over(&plain).filled();
        forward.queue.get_or_insert_with(|| QueueTable::from(&QueueSpec::default()));
        let reverse = self.reverse.as_ref().map(|r| r.over(&forward).filled());
        Self::new(forward, reverse)
    }
    /// With this queue, unless it has one.
    #[must_use]
    pub fn or_queue(mut self, queue: Option<&QueueTable>) -> Self {
        self.queue = self.queue.or_else(|| queue.cloned());
        self
    }
}

impl LinkSpec {
    /// What it says about its two directions.
    pub fn pipe(&self) -> Pipe {
        Pipe {
            reverse: self.reverse.clone(),
            rate: self.rate,
            delay: self.delay,
            queue: self.queue.clone(),
            loss: self.loss,
            duplicate: self.duplicate,
        }
    }
    /// A link from its parts.
    pub fn new(from: &str, to: &str, duplex: bool, pipe: Pipe) -> Self {
        Self {
            from: Some(from.to_owned()),
            to: Some(to.to_owned()),
            duplex: Some(duplex),
            reverse: pipe.reverse,
            rate: pipe.rate,
            delay: pipe.delay,
            queue: pipe.queue,
            loss: pipe.loss,
            duplicate: pipe.duplicate,
        }
    }
}
