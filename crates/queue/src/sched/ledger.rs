//! A scheduler's record of packets that it gave to an inner queue, which may drop or reorder them.

use fairlane_engine::steps::{log_step, step};
use fairlane_net::{Packet, PacketRef};
use std::collections::{BTreeMap, VecDeque};

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
pub(crate) struct Ledger {
    /// Entries and gaps; neither end is a gap.
    entries: VecDeque<Entry>,
    /// None until a packet other than the first or the last is struck out.
    index: Option<Box<Index>>,
}

#[derive(Clone, Debug, Default)]
struct Index {
    /// Number of each packet's entry.
    numbers: BTreeMap<u32, usize>,
    /// Number of the first entry.
    first: usize,
}

/// Marks a gap.
const GAP: PacketRef = PacketRef(u32::MAX);

impl Ledger {
    pub(crate) fn add(&mut self, p: &Packet, tag: u128) {
        if let Some(index) = &mut self.index {
            log_step(index.numbers.len());
            index.numbers.insert(p.id.0, index.first.wrapping_add(self.entries.len()));
        }
        self.entries.push_back(Entry { id: p.id, len: p.len, tag });
    }

    #[inline]
    pub(crate) fn first(&self) -> Option<&Entry> {
        self.entries.front()
    }

    /// Strikes a packet out. The one sought is nearly always the first.
    pub(crate) fn strike(&mut self, id: PacketRef) -> Option<Entry> {
        if self.index.is_none() {
            if self.entries.front()?.id == id {
                return self.entries.pop_front();
            }
            if self.entries.back()?.id == id {
                return self.entries.pop_back();
            }
        }
        self.strike_indexed(id)
    }

    #[cold]
    fn strike_indexed(&mut self, id: PacketRef) -> Option<Entry> {
        let index = self.index.get_or_insert_with(|| {
            step(self.entries.len());
            Box::new(Index { numbers: self.entries.iter().zip(0..).map(|(e, i)| (e.id.0, i)).collect(), first: 0 })
        });
        log_step(index.numbers.len());
        let at = index.numbers.remove(&id.0)?.wrapping_sub(index.first);
        let entry = std::mem::replace(self.entries.get_mut(at)?, Entry { id: GAP, len: 0, tag: 0 });
        while self.entries.front().is_some_and(|e| e.id == GAP) {
            step(1);
            self.entries.pop_front();
            index.first = index.first.wrapping_add(1);
        }
        while self.entries.back().is_some_and(|e| e.id == GAP) {
            step(1);
            self.entries.pop_back();
        }
        // Entries behind one that stays long do not pile up.
        if self.entries.len() > 64.max(2 * index.numbers.len()) {
            step(self.entries.len());
            self.entries.retain(|e| e.id != GAP);
            index.first = 0;
            index.numbers = self.entries.iter().zip(0..).map(|(e, i)| (e.id.0, i)).collect();
        }
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::hash::tests::pkt;
    use fairlane_engine::Stream;

    /// Against a plain list, for random steps.
    #[test]
    fn strikes_out_any_packet() {
        let mut rng = Stream::new(1, "test", "ledger", "");
        let (mut ledger, mut model) = (Ledger::default(), Vec::new());
        for id in 0..20_000 {
            if model.len() < 300 || rng.below(3) > 0 {
                ledger.add(&pkt(id, 0, 100), u128::from(id));
                model.push(id);
            }
            let i = match rng.below(3) {
                0 => 0,
                1 => model.len() - 1,
                _ => rng.below(model.len() as u64) as usize,
            };
            let id = model.remove(i);
            assert_eq!(ledger.strike(PacketRef(id)).map(|e| e.tag), Some(u128::from(id)));
            assert_eq!(ledger.strike(PacketRef(id)), None);
            assert_eq!(ledger.first().map(|e| e.id.0), model.first().copied());
        }
    }
}
