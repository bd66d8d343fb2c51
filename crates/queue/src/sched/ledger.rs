//! A scheduler's record of packets that it gave to an inner queue, which may drop or reorder them.

use fairlane_net::{Packet, PacketRef};
use std::collections::VecDeque;

/// A packet held by an inner queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) id: PacketRef,
    pub(crate) len: u32,
    /// Virtual time of its arrival.
    pub(crate) tag: u128,
}

/// The packets of one inner queue in the order of arrival. The first is the one expected to leave next: for a FIFO that is
/// exact, and whatever leaves or is dropped in its stead is found by its handle.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger(VecDeque<Entry>);

impl Ledger {
    pub(crate) fn add(&mut self, p: &Packet, tag: u128) {
        self.0.push_back(Entry { id: p.id, len: p.len, tag });
    }

    #[inline]
    pub(crate) fn first(&self) -> Option<&Entry> {
        self.0.front()
    }

    /// Strikes a packet out. The one sought is nearly always the first.
    pub(crate) fn strike(&mut self, id: PacketRef) -> Option<Entry> {
        if self.0.front()?.id == id {
            return self.0.pop_front();
        }
        let at = self.0.iter().rposition(|e| e.id == id)?;
        self.0.remove(at)
    }
}
