//! Minimal example: every hundredth packet is dropped.

use super::{Law, LawCx, Verdict};
use crate::discipline::Discipline;
use crate::limit::{Admit, Limit};
use crate::sched::fifo::Fifo;
use fairlane_net::{Packet, BuildContext, DropReason};
use fairlane_units::Len;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// First in, first out, without every hundredth packet (nowhere published).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HundredthParams {
    /// Buffer limit in packets or bytes, without the packet in transmission.
    pub limit: Len,
}

impl Default for HundredthParams {
    fn default() -> Self {
        Self { limit: Len::Packets(100) }
    }
}

impl Discipline for HundredthParams {
    type Queue = Fifo<Hundredth>;

    fn build(&self, _: &BuildContext<'_>) -> Fifo<Hundredth> {
        Fifo::new(Hundredth { seen: 0 }, Limit::new(self.limit, Admit::Fits))
    }
}

/// The law that counts to a hundred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hundredth {
    seen: u64,
}

impl Law for Hundredth {
    fn on_enqueue(&mut self, _: &Packet, _: &mut LawCx<'_>) -> Verdict {
        self.seen += 1;
        if self.seen.is_multiple_of(100) { Verdict::Drop(DropReason::Early) } else { Verdict::Pass }
    }
}
