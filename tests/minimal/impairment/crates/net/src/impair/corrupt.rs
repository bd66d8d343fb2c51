//! Minimal example: packets with bit errors, which the receiver discards.

use super::{At, Outcome, Impairment, Draws, Work};
use fairlane_engine::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Packets that arrive with wrong bits and are thrown away.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Corrupt {
    /// Probability that a packet is one.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: f64,
}

impl Impairment for Corrupt {
    type Working = Corrupting;

    fn begin(&self, at: &At<'_>) -> Option<Corrupting> {
        (self.share > 0.0).then(|| Corrupting { share: self.share, stream: at.stream("corrupt") })
    }
}

/// A link that corrupts.
#[derive(Clone, Debug)]
pub struct Corrupting {
    share: f64,
    stream: Stream,
}

impl Work for Corrupting {
    fn judge(&mut self, _: Draws, fate: &mut Outcome) {
        fate.lost |= self.stream.uniform() < self.share;
    }
}
