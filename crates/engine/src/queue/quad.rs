//! 4-ary heap.

use crate::event::{EventQueue, Key, Slot, slot_bits};
use crate::steps::step;
use fairlane_units::Time;

/// 4-ary heap whose root may be a hole: an event that schedules its successor costs one sift.
#[derive(Clone, Debug, Default)]
pub struct QuadHeap<K = u64> {
    keys: Vec<K>,
    bits: u32,
    hole: bool,
}

impl<K: Key> QuadHeap<K> {
    #[inline]
    fn sift_down(&mut self, key: K) {
        let n = self.keys.len();
        let keys = &mut self.keys[..];
        let mut i = 0;
        loop {
            let first = 4 * i + 1;
            let best = if let Some(&[a, b, c, d]) = keys.get(first..first + 4) {
                let (x, p) = if b < a { (b, 1) } else { (a, 0) };
                let (y, q) = if d < c { (d, 3) } else { (c, 2) };
                first + if y < x { q } else { p }
            } else if first < n {
                (first + 1..n).fold(first, |m, j| if keys[j] < keys[m] { j } else { m })
            } else {
                break;
            };
            step(4);
            let least = keys[best];
            if least >= key {
                break;
            }
            keys[i] = least;
            i = best;
        }
        keys[i] = key;
    }

    #[inline]
    fn fill_hole(&mut self) {
        if self.hole {
            self.hole = false;
            let last = self.keys.pop().unwrap_or(K::NEVER);
            if !self.keys.is_empty() {
                self.sift_down(last);
            }
        }
    }

    /// Adds a packed event.
    #[inline]
    pub(crate) fn push_key(&mut self, key: K) {
        if self.hole {
            self.hole = false;
            self.sift_down(key);
            return;
        }
        let mut i = self.keys.len();
        self.keys.push(key);
        while i > 0 {
            step(1);
            let up = (i - 1) / 4;
            if self.keys[up] <= key {
                break;
            }
            self.keys[i] = self.keys[up];
            i = up;
        }
        self.keys[i] = key;
    }

    /// Returns the earliest packed event.
    #[inline]
    pub(crate) fn first(&mut self) -> Option<K> {
        self.fill_hole();
        self.keys.first().copied()
    }

    /// Removes the packed event that [`Self::first`] has just returned.
    #[inline]
    pub(crate) fn take_first(&mut self) {
        self.hole = !self.keys.is_empty();
    }
}

impl<K: Key> EventQueue for QuadHeap<K> {
    fn with_slots(slots: usize) -> Self {
        Self { keys: Vec::with_capacity(slots.min(1 << 12)), bits: slot_bits(slots), hole: false }
    }

    #[inline]
    fn push(&mut self, time: Time, slot: Slot) {
        self.push_key(K::pack(time, slot, self.bits));
    }

    #[inline]
    fn pop_until(&mut self, last: Time) -> Option<(Time, Slot)> {
        let key = self.first()?;
        let time = key.time(self.bits);
        if time > last {
            return None;
        }
        self.hole = true;
        Some((time, key.slot(self.bits)))
    }

    fn len(&self) -> usize {
        self.keys.len() - usize::from(self.hole)
    }
}
