//! Sorted array of events, for networks with few pending events.

use super::QuadHeap;
use crate::event::{EventQueue, Key, Slot, slot_bits, slot_mask};
use crate::steps::step;
use fairlane_units::Time;

/// Capacity of the array, and the most events passed over by an insertion.
const ROOM: usize = 64;
/// Events moved between array and heap at once.
const SHARE: usize = 16;

/// Short sorted array, latest event first: the next event is its last, and new ones mostly belong near it. A heap holds the events that do not fit.
#[derive(Clone, Debug)]
pub struct Sorted<K = u64> {
    near: Box<[K; ROOM]>,
    /// Number of events in the array.
    len: usize,
    /// Events that are not before `from`.
    far: QuadHeap<K>,
    /// Earliest event of the heap; [`Key::NEVER`] if it is empty.
    from: K,
    bits: u32,
    mask: Slot,
    /// Events after it never come.
    latest: Time,
}

impl<K: Key> Sorted<K> {
    /// Inserts an event, if there is room.
    #[inline]
    fn insert(&mut self, key: K) -> bool {
        let (near, mut i) = (&mut *self.near, self.len);
        if i >= ROOM {
            return false;
        }
        self.len = i + 1;
        // Move two events at once while both are earlier.
        while i >= 2 && near[i - 2] < key {
            (near[i - 1], near[i]) = (near[i - 2], near[i - 1]);
            i -= 2;
        }
        if i > 0 && near[i - 1] < key {
            near[i] = near[i - 1];
            i -= 1;
        }
        step(self.len - i);
        near[i] = key;
        true
    }

    /// Inserts an event into a full array: its latest events move to the heap.
    #[cold]
    fn spill(&mut self, key: K) {
        step(ROOM);
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

    /// Refills the empty array with the earliest events of the heap.
    #[cold]
    fn refill(&mut self) {
        while self.len < SHARE
            && let Some(key) = self.far.first()
        {
            self.far.take_first();
            self.near[self.len] = key;
            self.len += 1;
        }
        step(self.len);
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
        // Never above `ROOM`: the remainder avoids a bounds check.
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
