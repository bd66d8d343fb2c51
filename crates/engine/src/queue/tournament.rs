//! Winner tree of event sources, for networks with many pending events.

use super::QuadHeap;
use crate::event::{EventQueue, Key, Slot, slot_bits, slot_mask};
use crate::steps::step;
use fairlane_units::Time;

/// Winner tree (Knuth, vol. 3, section 5.4.1): each source has a leaf with its pending event, and each inner node the earlier event of its children. After an event
/// was taken, its source plays its matches again when its next event is known: one comparison per level, without a branch. A heap holds events of sources without
/// a leaf, and second events of a source.
#[derive(Clone, Debug)]
pub struct Tournament<K = u64> {
    /// Node 1 is the root, the children of `i` are `2 i` and `2 i + 1`, the last half are leaves. The number is fixed to avoid bounds checks.
    nodes: Box<[K; NODES]>,
    /// Leaf whose event was taken and whose matches are not played yet; 0 for none.
    open: usize,
    far: QuadHeap<K>,
    /// Earliest event of the heap; [`Key::NEVER`] if it is empty.
    from: K,
    bits: u32,
    mask: Slot,
    /// Events after it never come.
    latest: Time,
}

/// Matches from a leaf to the root.
const ROUNDS: u32 = 11;
/// Sources with leaves.
const SOURCES: usize = 1 << ROUNDS;
const NODES: usize = 2 * SOURCES;

impl<K: Key> Tournament<K> {
    /// Plays the matches of a leaf whose event changed, up to the root.
    #[inline(always)]
    fn play(&mut self, leaf: usize, key: K) {
        let (mut i, mut best) = (leaf % NODES, key);
        self.nodes[i] = key;
        step(ROUNDS as usize);
        for _ in 0..ROUNDS {
            best = best.min(self.nodes[i ^ 1]);
            i /= 2;
            self.nodes[i] = best;
        }
    }

    /// Inserts an event, and plays its matches until it loses.
    #[inline(always)]
    fn enter(&mut self, leaf: usize, key: K) {
        let mut i = leaf % NODES;
        self.nodes[i] = key;
        step(ROUNDS as usize);
        for _ in 0..ROUNDS {
            i /= 2;
            if self.nodes[i] <= key {
                break;
            }
            self.nodes[i] = key;
        }
    }

    #[cold]
    fn push_far(&mut self, key: K) {
        self.far.push_key(key);
        self.from = self.from.min(key);
    }

    #[cold]
    fn pop_far(&mut self, last: Time) -> Option<(Time, Slot)> {
        let time = self.from.time(self.bits);
        if time > last {
            return None;
        }
        let slot = self.from.slot(self.bits);
        self.far.take_first();
        self.from = self.far.first().unwrap_or(K::NEVER);
        Some((time, slot))
    }

    /// Returns the earliest event of all leaves.
    #[inline(always)]
    fn winner(&mut self) -> K {
        if self.open > 0 {
            let leaf = std::mem::take(&mut self.open);
            self.play(leaf, K::NEVER);
        }
        self.nodes[1]
    }

    /// Returns the leaf of the winner.
    fn champion(&self) -> usize {
        let mut i = 1;
        step(ROUNDS as usize);
        while i < SOURCES {
            i = 2 * i + usize::from(self.nodes[2 * i] != self.nodes[1]);
        }
        i
    }
}

impl<K: Key> EventQueue for Tournament<K> {
    fn with_slots(slots: usize) -> Self {
        Self {
            nodes: Box::new([K::NEVER; NODES]),
            open: 0,
            far: QuadHeap::with_slots(1),
            from: K::NEVER,
            bits: slot_bits(slots),
            mask: slot_mask(slots),
            latest: K::latest(slot_bits(slots)),
        }
    }

    fn push(&mut self, time: Time, slot: Slot) {
        self.push_far(K::pack(time, slot, self.bits));
    }

    #[inline]
    fn push_of(&mut self, source: Slot, time: Time, slot: Slot) {
        if time > self.latest {
            return self.push_far(K::NEVER);
        }
        let (key, leaf) = (K::join(time, slot, self.bits), SOURCES + source as usize);
        if leaf == self.open {
            self.open = 0;
            self.play(leaf, key);
        } else if leaf < NODES && self.nodes[leaf] == K::NEVER {
            self.enter(leaf, key);
        } else {
            self.push_far(key);
        }
    }

    fn pop_until(&mut self, last: Time) -> Option<(Time, Slot)> {
        self.winner();
        let source = (self.champion() - SOURCES) as Slot;
        self.pop_of(last, |_, _| source).map(|(time, slot, _)| (time, slot))
    }

    #[inline]
    fn pop_of(&mut self, last: Time, source: impl Fn(Time, Slot) -> Slot) -> Option<(Time, Slot, Slot)> {
        let key = self.winner();
        if self.from < key {
            let (time, slot) = self.pop_far(last)?;
            return Some((time, slot, source(time, slot)));
        }
        let time = key.time(self.bits);
        if time > last || key == K::NEVER {
            return None;
        }
        let slot = key.low(self.mask);
        let source = source(time, slot);
        self.open = SOURCES + source as usize % SOURCES;
        self.nodes[self.open % NODES] = K::NEVER;
        Some((time, slot, source))
    }

    fn len(&self) -> usize {
        self.far.len() + self.nodes[SOURCES..].iter().filter(|&&k| k != K::NEVER).count()
    }
}
