//! DropTail: no management at all, the arriving packet is lost when the buffer is full.

use super::Law;
use crate::discipline::{Discipline, Preset, Problem};
use crate::limit::{Admit, Limit};
use crate::sched::fifo::Fifo;
use fairlane_net::BuildContext;
use fairlane_units::Len;

fairlane_units::params! {
    /// DropTail: first in, first out; an arriving packet that finds no room is dropped (RFC 7567 section 1).
    pub struct DropTailParams {
        /// Buffer limit in packets or bytes, without the packet in transmission.
        pub limit: Len = Len::Packets(1000),
        /// Which arrivals the limit admits.
        pub admit: Admit = Admit::Fits,
    }
}

impl Discipline for DropTailParams {
    type Queue = Fifo<DropTail>;

    const PRESETS: &'static [Preset] = &[Preset {
        name: "ns2",
        doc: "Queue/DropTail of ns-2.35: of a limit of n packets, n - 1 wait and one is in transmission.",
        values: r#"{"limit": "50p", "admit": "under"}"#,
    }];

    fn check(&self, _: &BuildContext<'_>) -> Result<(), Problem> {
        match self.limit {
            Len::Packets(0) | Len::Bytes(0) => Err(Problem::new("limit", format!("{} holds nothing: write at least \"1p\"", self.limit))),
            Len::Packets(1) if self.admit == Admit::Under => Err(Problem::new("limit", "under \"1p\" nothing fits: write at least \"2p\"")),
            _ => Ok(()),
        }
    }

    fn build(&self, _: &BuildContext<'_>) -> Fifo<DropTail> {
        Fifo::new(DropTail, Limit::new(self.limit, self.admit))
    }
}

/// The law that never interferes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DropTail;

impl Law for DropTail {
    const IDLE: bool = true;
}
