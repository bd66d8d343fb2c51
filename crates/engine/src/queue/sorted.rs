//! A sorted array of the events to come, for networks in which few are pending.

use super::QuadHeap;
use crate::event::{EventQueue, Key, Slot, slot_bits, slot_mask};
use fairlane_units::Time;

/// Events in the array at most: so many are passed over in the worst case when one is put in.
const ROOM: usize = 64;
/// Events that move between array and heap at a time.
const SHARE: usize = 16;

/// A short sorted array, latest first: the next event is its last, and new ones mostly belong near it. What finds no room there waits in a heap.
#[derive(Clone, Debug)]
pub struct Sorted<K = u64> {
    near: Box<[K; ROOM]>,
    /// Events in it.
    len: usize,
    /// All that are not before `from`.
    far: QuadHeap<K>,
    /// The earliest in the heap; [`Key::NEVER`] if there is none.
    from: K,
    bits: u32,
    mask: Slot,
    /// Events after it never come.
    latest: Time,
}

impl<K: Key> Sorted<K> {
    /// Puts an event in, if there is room.
    #[inline]
    fn insert(&mut self, key: K) -> bool {
        let (near, mut i) = (&mut *self.near, self.len);
        if i >= ROOM {
            return false;
        }
        self.len = i + 1;
        // Two give way at once while both have to.
        while i >= 2 && near[i - 2] < key {
            (near[i - 1], near[i]) = (near[i - 2], near[i - 1]);
            i -= 2;
        }
        if i > 0 && near[i - 1] < key {
            near[i] = near[i - 1];
            i -= 1;
        }
        near[i] = key;
        true
    }

    /// Puts an event in that is before all of the heap while the array is full: the latest there give way.
    #[cold]
    fn spill(&mut self, key: K) {
        self.near[..SHARE].iter().for_each(|&key| self.far.push_key(key));
        self.from = self.near[SHARE - 1];
        self.near.copy_within(SHARE.., 0);
        self.len -= SHARE;
        if key >= self.from {
            self.far.push_key(key);
        } else {
            self.insert(key);
        }
    }

    /// The array is empty: takes the earliest events of the heap, if there are any.
    #[cold]
    fn refill(&mut self) {
        while self.len < SHARE
            && let Some(key) = self.far.first()
        {
            self.far.take_first();
            self.near[self.len] = key;
            self.len += 1;
        }
        self.near[..self.len].reverse();
        self.from = self.far.first().unwrap_or(K::NEVER);
    }
}

impl<K: Key> EventQueue for Sorted<K> {
    fn with_slots(slots: usize) -> Self {
        Self {
            near: Box::new([K::NEVER; ROOM]),
            len: 0,
            far: QuadHeap::with_slots(1),
            from: K::NEVER,
            bits: slot_bits(slots),
            mask: slot_mask(slots),
            latest: K::latest(slot_bits(slots)),
        }
    }

    #[inline]
    fn push(&mut self, time: Time, slot: Slot) {
        if time > self.latest {
            return self.far.push_key(K::NEVER);
        }
        let key = K::join(time, slot, self.bits);
        if key >= self.from {
            self.far.push_key(key);
        } else if !self.insert(key) {
            self.spill(key);
        }
    }

    #[inline]
    fn pop_until(&mut self, last: Time) -> Option<(Time, Slot)> {
        if self.len == 0 {
            self.refill();
        }
        let next = self.len.checked_sub(1)?;
        // Never more than `ROOM`: the remainder spares the comparison.
        let key = self.near[next % ROOM];
        let time = key.time(self.bits);
        if time > last {
            return None;
        }
        self.len = next;
        Some((time, key.low(self.mask)))
    }

    fn len(&self) -> usize {
        self.len + self.far.len()
    }
}
