//! MTU black holes: longer packets vanish, and no message says so (RFC 2923 section 2.1, RFC 4821 section 1).

use super::{At, Draws, Impairment, Outcome, Work};
use fairlane_units::{Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Longest packet that passes; longer ones are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct BlackHole(pub Bytes);

impl Impairment for BlackHole {
    type Working = Self;

    fn begin(&self, _: &At<'_>) -> Option<Self> {
        Some(*self)
    }
}

impl Work for BlackHole {
    fn apply(&mut self, _: Draws, _: Time, outcome: &mut Outcome) {
        outcome.lost |= u64::from(outcome.len) > self.0.get();
    }
}
