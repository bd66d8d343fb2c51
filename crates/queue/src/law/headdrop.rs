//! Drop from front: when the buffer is full, the packet that has waited longest makes room.

use super::{Law, LawCx, Victim};
use crate::discipline::{Discipline, Preset, Problem};
use crate::limit::{Admit, Limit};
use crate::sched::fifo::Fifo;
use fairlane_net::{BuildContext, Packet};
use fairlane_units::Len;

fairlane_units::params! {
    /// Drop from front: first in, first out; an arrival that finds no room is kept and the head is dropped, so that its sender hears of the loss
    /// a whole queue earlier (Lakshman, Neidhardt and Ott 1996; tc's pfifo_head_drop).
    pub struct HeadDropParams {
        /// Buffer limit in packets or bytes, without the packet in transmission. In bytes, as many packets leave from the front as
        /// the arriving one needs room.
        pub limit: Len = Len::Packets(1000),
        /// Which arrivals the limit admits without a drop.
        pub admit: Admit = Admit::Fits,
    }
}

impl Discipline for HeadDropParams {
    type Queue = Fifo<HeadDrop>;

    const PRESETS: &'static [Preset] = &[Preset {
        name: "ns2",
        doc: "Queue/DropTail of ns-2.35 with drop_front_: of a limit of n packets, n - 1 wait and one is in transmission.",
        values: r#"{"limit": "50p", "admit": "under"}"#,
    }];

    fn check(&self, _: &BuildContext<'_>) -> Result<(), Problem> {
        check_limit(self.limit, self.admit)
    }

    fn build(&self, _: &BuildContext<'_>) -> Fifo<HeadDrop> {
        Fifo::new(HeadDrop, Limit::new(self.limit, self.admit))
    }
}

/// Refuses limits that let nothing through.
pub(super) fn check_limit(limit: Len, admit: Admit) -> Result<(), Problem> {
    match limit {
        Len::Packets(0) | Len::Bytes(0) => Err(Problem::new("limit", format!("{limit} holds nothing: write at least \"1p\""))),
        Len::Packets(1) if admit == Admit::Under => Err(Problem::new("limit", "under \"1p\" nothing fits: write at least \"2p\"")),
        _ => Ok(()),
    }
}

/// The law that sacrifices the head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeadDrop;

impl Law for HeadDrop {
    #[inline]
    fn on_overflow(&mut self, _: &Packet, _: &mut LawCx<'_>) -> Victim {
        Victim::Head
    }
}
