//! Reordering: a share of the packets arrives a fixed time later, and delays no others.
//!
//! netem's `reorder` (tc-netem(8)) is the opposite: all packets are delayed but the given share, which overtakes them. A share of 1 - x with the whole
//! delay gives the same.

use super::{At, Finding, Impairment, Work};
use fairlane_engine::Stream;
use fairlane_units::{Dur, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Packets that are singled out and arrive later than those behind them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReorderSpec {
    /// Probability that a packet is.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: f64,
    /// How much later it arrives.
    #[schemars(extend("x-max" = "1h"))]
    pub delay: Dur,
}

impl Impairment for ReorderSpec {
    type Working = Reordering;

    fn check(&self, _: Dur) -> Option<Finding> {
        (self.share > 0.0 && self.delay == Dur::ZERO).then(|| Finding {
            key: "reorder",
            message: "packets that are no later are not reordered".to_owned(),
            help: "write a delay such as \"5ms\"".to_owned(),
        })
    }
    fn delays(&self) -> bool {
        self.share > 0.0 && self.delay > Dur::ZERO
    }
    fn begin(&self, at: &At<'_>) -> Option<Reordering> {
        self.delays().then(|| Reordering { what: *self, stream: at.stream("reorder") })
    }
}

/// State of the reordering of a link.
#[derive(Clone, Debug)]
pub struct Reordering {
    what: ReorderSpec,
    stream: Stream,
}

impl Work for Reordering {
    fn reseed(&mut self, number: u64) {
        self.stream.fork(number);
    }

    fn extra(&mut self, _: Time, _: Time) -> Dur {
        if self.stream.uniform() < self.what.share { self.what.delay } else { Dur::ZERO }
    }
}
