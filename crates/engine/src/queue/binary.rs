//! The binary heap of the standard library, as a yardstick.

use crate::event::{EventQueue, Key};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A binary heap: one sift down for each event taken, one sift up for each put in.
#[derive(Clone, Debug, Default)]
pub struct StdHeap(BinaryHeap<Reverse<Key>>);

impl EventQueue for StdHeap {
    fn with_slots(_: usize) -> Self {
        Self::default()
    }
    #[inline]
    fn push(&mut self, key: Key) {
        self.0.push(Reverse(key));
    }
    #[inline]
    fn pop_until(&mut self, last: Key) -> Option<Key> {
        if self.0.peek()?.0 > last {
            return None;
        }
        self.0.pop().map(|r| r.0)
    }
    fn len(&self) -> usize {
        self.0.len()
    }
}
