//! The binary heap of the standard library, as a yardstick.

use crate::event::{EventQueue, Key, Slot, slot_bits};
use fairlane_units::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A binary heap: one sift down for each event taken, one sift up for each put in.
#[derive(Clone, Debug)]
pub struct StdHeap<K = u64> {
    heap: BinaryHeap<Reverse<K>>,
    bits: u32,
}

impl<K: Key> EventQueue for StdHeap<K> {
    fn with_slots(slots: usize) -> Self {
        Self { heap: BinaryHeap::new(), bits: slot_bits(slots) }
    }
    #[inline]
    fn push(&mut self, time: Time, slot: Slot) {
        self.heap.push(Reverse(K::pack(time, slot, self.bits)));
    }
    #[inline]
    fn pop_until(&mut self, last: Time) -> Option<(Time, Slot)> {
        let key = self.heap.peek()?.0;
        let time = key.time(self.bits);
        if time > last {
            return None;
        }
        self.heap.pop();
        Some((time, key.slot(self.bits)))
    }
    fn len(&self) -> usize {
        self.heap.len()
    }
}
