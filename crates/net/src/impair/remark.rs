//! Headers that a link rewrites: the ECN field or the code point, as broken or badly configured boxes on a path do.

use super::{At, Draws, Impairment, Outcome, Work};
use crate::packet::{Class, Ecn};
use fairlane_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Change of the ECN field by a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RemarkEcn {
    /// Nothing.
    #[default]
    Keep,
    /// All become not ECN-capable: bleaching (RFC 9331 section 5.2; Custura, Secchi and Fairhurst 2018).
    Bleach,
    /// Marks are erased: CE becomes ECT(0), so that congestion is hidden (RFC 3168 section 18.1.1).
    Unmark,
    /// ECT(1) becomes ECT(0), so that L4S flows are taken as classic ones.
    Classic,
    /// All that are ECN-capable are marked.
    Mark,
}

/// Headers that a link rewrites.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RemarkSpec {
    /// Change of the ECN field.
    pub ecn: RemarkEcn,
    /// Code point that all packets get, as a number. Absent: they keep theirs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 63))]
    pub dscp: Option<u8>,
}

impl Impairment for RemarkSpec {
    type Working = Self;

    fn begin(&self, _: &At<'_>) -> Option<Self> {
        (*self != Self::default()).then_some(*self)
    }
}

impl Work for RemarkSpec {
    fn apply(&mut self, _: Draws, _: Time, outcome: &mut Outcome) {
        outcome.ecn = match (self.ecn, outcome.ecn) {
            (RemarkEcn::Bleach, _) => Ecn::NotEct,
            (RemarkEcn::Unmark, Ecn::Ce) | (RemarkEcn::Classic, Ecn::Ect1) => Ecn::Ect0,
            (RemarkEcn::Mark, Ecn::Ect0 | Ecn::Ect1) => Ecn::Ce,
            (_, kept) => kept,
        };
        if let Some(dscp) = self.dscp {
            outcome.class = Class(dscp & 63);
        }
    }
}
