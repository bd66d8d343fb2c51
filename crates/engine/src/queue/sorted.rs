//! A sorted array of the events to come, for networks in which few are pending.

use super::QuadHeap;
use crate::event::{EventQueue, Key, Slot, slot_bits};
use fairlane_units::Time;

/// Events in the array at most: so many are passed over in the worst case when one is put in.
const ROOM: usize = 64;
/// Events that move between array and heap at a time.
const SHARE: usize = 16;

/// A short sorted array, latest first: the next event is its last, and new ones mostly belong near it. What finds no room there waits in a heap.
#[derive(Clone, Debug)]
pub struct Sorted<K = u64> {
    near: Vec<K>,
    /// All that are not before `from`.
    far: QuadHeap<K>,
    /// The earliest in the heap; [`Key::NEVER`] if there is none.
    from: K,
    bits: u32,
}

impl<K: Key> Sorted<K> {
    #[inline]
    fn insert(&mut self, key: K) {
        let mut i = self.near.len();
        self.near.push(key);
        let near = &mut self.near[..];
        while i > 0 && near[i - 1] < key {
            near[i] = near[i - 1];
            i -= 1;
        }
        near[i] = key;
    }

    /// Puts an event in that is before all of the heap while the array is full.
    #[cold]
    fn spill(&mut self, key: K) {
        if key >= self.near[0] {
            self.far.push_key(key);
            self.from = key;
            return;
        }
        self.insert(key);
        for key in self.near.drain(..SHARE) {
            self.far.push_key(key);
            self.from = key;
        }
    }

    /// The array is empty: takes the earliest events of the heap, if there are any.
    #[cold]
    fn refill(&mut self) {
        while self.near.len() < SHARE
            && let Some(key) = self.far.first()
        {
            self.far.take_first();
            self.near.push(key);
        }
        self.near.reverse();
        self.from = self.far.first().unwrap_or(K::NEVER);
    }
}

impl<K: Key> EventQueue for Sorted<K> {
    fn with_slots(slots: usize) -> Self {
        Self { near: Vec::with_capacity(ROOM + 1), far: QuadHeap::with_slots(1), from: K::NEVER, bits: slot_bits(slots) }
    }

    #[inline]
    fn push(&mut self, time: Time, slot: Slot) {
        let key = K::pack(time, slot, self.bits);
        if key >= self.from {
            self.far.push_key(key);
        } else if self.near.len() < ROOM {
            self.insert(key);
        } else {
            self.spill(key);
        }
    }

    #[inline]
    fn pop_until(&mut self, last: Time) -> Option<(Time, Slot)> {
        if self.near.is_empty() {
            self.refill();
        }
        let key = *self.near.last()?;
        let time = key.time(self.bits);
        if time > last {
            return None;
        }
        self.near.pop();
        Some((time, key.slot(self.bits)))
    }

    fn len(&self) -> usize {
        self.near.len() + self.far.len()
    }
}
