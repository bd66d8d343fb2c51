//! Corruption: a bit of a packet is flipped on the link (netem's `corrupt`). A checksum finds it, so that the packet is lost.

use super::chance::Chance;
use super::{At, Draws, Impairment, Outcome, Work};
use fairlane_engine::Stream;
use fairlane_units::Time;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Packets in which a bit is flipped.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CorruptParams {
    /// Probability that a packet is corrupted.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: f64,
    /// Weight of the last random number in the next one (netem). It narrows the numbers, so that the share is met without it alone.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub correlation: f64,
}

/// [`CorruptParams`], or the share alone.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CorruptSpec {
    /// Probability that a packet is corrupted.
    Share(f64),
    /// With a correlation.
    Table(CorruptParams),
}

impl JsonSchema for CorruptSpec {
    fn schema_name() -> Cow<'static, str> {
        "Corrupt".into()
    }
    fn json_schema(g: &mut SchemaGenerator) -> Schema {
        let params = g.subschema_for::<CorruptParams>();
        json_schema!({
            "description": "Packets in which a bit is flipped: their share, or a table of parameters.",
            "anyOf": [{ "type": "number", "minimum": 0.0, "maximum": 1.0 }, params],
        })
    }
}

impl Impairment for CorruptSpec {
    type Working = Corrupting;

    fn begin(&self, at: &At<'_>) -> Option<Corrupting> {
        let (share, correlation) = match *self {
            Self::Share(share) => (share, 0.0),
            Self::Table(p) => (p.share, p.correlation),
        };
        (share > 0.0).then(|| {
            let mut stream = at.stream("corrupt");
            Corrupting { share, chance: Chance::new(correlation, &mut stream), stream }
        })
    }
}

/// State of the corruption of a link.
#[derive(Clone, Debug)]
pub struct Corrupting {
    share: f64,
    chance: Chance,
    stream: Stream,
}

impl Work for Corrupting {
    fn reseed(&mut self, number: u64) {
        self.stream.fork(number);
    }

    fn apply(&mut self, _: Draws, _: Time, outcome: &mut Outcome) {
        let fresh = self.stream.uniform();
        outcome.lost |= self.chance.next(fresh) < self.share;
    }
}
