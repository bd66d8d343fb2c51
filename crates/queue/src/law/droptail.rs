//! DropTail: no management at all, the arriving packet is lost when the buffer is full.

use super::Law;
use crate::Problem;
use crate::limit::{Admit, Limit};
use crate::sched::fifo::Fifo;
use fairlane_net::LinkInfo;
use fairlane_units::Len;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// DropTail: first in, first out; an arriving packet that finds no room is dropped (RFC 7567 section 1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DropTailParams {
    /// What the buffer holds, in packets or bytes; the packet in transmission is not counted.
    pub limit: Len,
    /// Which arrivals the limit admits.
    pub admit: Admit,
}

impl Default for DropTailParams {
    fn default() -> Self {
        Self { limit: Len::Packets(1000), admit: Admit::Fits }
    }
}

impl DropTailParams {
    /// Whether the parameters make sense together.
    pub fn check(&self, _link: LinkInfo) -> Result<(), Problem> {
        match self.limit {
            Len::Packets(0) | Len::Bytes(0) => Err(("limit", format!("{} holds nothing: write at least \"1p\"", self.limit))),
            Len::Packets(1) if self.admit == Admit::Under => Err(("limit", "under \"1p\" nothing fits: write at least \"2p\"".into())),
            _ => Ok(()),
        }
    }

    /// The queue with these parameters.
    pub fn build(&self, _link: LinkInfo) -> Fifo<DropTail> {
        Fifo::new(DropTail, Limit::new(self.limit, self.admit))
    }
}

/// The law that never interferes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DropTail;

impl Law for DropTail {}
