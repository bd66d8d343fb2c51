//! Duplication: packets that arrive twice.

use super::{At, Draws, Impairment, Outcome, Work};
use fairlane_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Probability that a packet arrives twice.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Duplicate(pub f64);

impl Impairment for Duplicate {
    type Working = Self;

    fn plain() -> Option<Self> {
        Some(Self(0.0))
    }
    fn begin(&self, _: &At<'_>) -> Option<Self> {
        (self.0 > 0.0).then_some(*self)
    }
}

impl Work for Duplicate {
    fn apply(&mut self, draws: Draws, _: Time, outcome: &mut Outcome) {
        outcome.twice |= draws.twice < self.0;
    }
}
