//! Reordering: a share of the packets arrives a fixed time later, and delays no others.
//!
//! netem's `reorder` (tc-netem(8)) is the opposite: all packets are delayed but the given share, which overtakes them. `ahead` does that.

use super::chance::Chance;
use super::{Arrival, At, Finding, Impairment, Work, plain};
use fairlane_engine::Stream;
use fairlane_units::Dur;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Packets that are singled out and arrive later than those behind them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReorderSpec {
    /// Probability that a packet is.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: f64,
    /// How much later it arrives.
    #[schemars(extend("x-max" = "1h"))]
    pub delay: Dur,
    /// True if those singled out are the ones that arrive in time and overtake all others, which are late (netem's reorder).
    #[serde(default, skip_serializing_if = "plain")]
    pub ahead: bool,
    /// Packets from one that is singled out to the next that may be (netem's gap): 1 or 0 for any.
    #[serde(default, skip_serializing_if = "plain")]
    pub gap: u32,
    /// Weight of the last random number in the next one (netem). It narrows the numbers, so that the share is met without it alone.
    #[serde(default, skip_serializing_if = "plain")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub correlation: f64,
}

impl Impairment for ReorderSpec {
    type Working = Reordering;

    fn check(&self, _: Dur) -> Option<Finding> {
        ((self.share > 0.0 || self.ahead) && self.delay == Dur::ZERO).then(|| Finding {
            key: "reorder",
            message: "packets that are no later are not reordered".to_owned(),
            help: "write a delay such as \"5ms\"".to_owned(),
        })
    }
    fn delays(&self) -> bool {
        (self.share > 0.0 || self.ahead) && self.delay > Dur::ZERO
    }
    fn begin(&self, at: &At<'_>) -> Option<Reordering> {
        self.delays().then(|| {
            let mut stream = at.stream("reorder");
            Reordering { what: *self, chance: Chance::new(self.correlation, &mut stream), stream, since: 0 }
        })
    }
}

/// State of the reordering of a link.
#[derive(Clone, Debug)]
pub struct Reordering {
    what: ReorderSpec,
    chance: Chance,
    stream: Stream,
    /// Packets since the last one that was singled out.
    since: u32,
}

impl Work for Reordering {
    fn reseed(&mut self, number: u64) {
        self.stream.fork(number);
    }

    fn extra(&mut self, _: Arrival) -> Dur {
        let fresh = self.stream.uniform();
        let single = self.since + 1 >= self.what.gap && self.chance.next(fresh) < self.what.share;
        self.since = if single { 0 } else { self.since.saturating_add(1) };
        if single != self.what.ahead { self.what.delay } else { Dur::ZERO }
    }
}
