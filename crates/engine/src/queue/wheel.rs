//! Timing wheel with sorted buckets: the current bucket is sorted once and run in order, later events are only binned, and a heap holds events beyond the wheel.

use super::QuadHeap;
use crate::event::{EventQueue, Key, Slot, slot_bits};
use fairlane_units::Time;

/// Number of buckets: a power of two and a multiple of 64.
const BUCKETS: u64 = 4096;
/// Refills between two reviews of the bucket width.
const REVIEW: u32 = 512;
/// Bounds of the width: 2^6 ps to 2^44 ps (17 s).
const SHIFT: std::ops::RangeInclusive<u32> = 6..=44;
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Node<K> {
    key: K,
    next: u32,
}

/// Timing wheel whose bucket width follows the density of events.
#[derive(Clone, Debug)]
pub struct Wheel<K = u64> {
    /// Events of the current bucket and before, latest first.
    near: Vec<K>,
    /// Number of the current bucket: `time >> shift`.
    current: u64,
    shift: u32,
    heads: Vec<u32>,
    /// Bits of the buckets that are not empty.
    occupied: Vec<u64>,
    nodes: Vec<Node<K>>,
    free: u32,
    far: QuadHeap<K>,
    bits: u32,
    far_from: u64,
    binned: usize,
    refills: u32,
    refilled: u32,
}

impl<K: Key> Wheel<K> {
    #[inline]
    fn put(&mut self, key: K) {
        let b = key.time(self.bits).as_ps() >> self.shift;
        if b <= self.current {
            self.insert_near(key);
        } else if b < self.current + BUCKETS {
            self.bin(b, key);
        } else {
            self.far.push_key(key);
            self.far_from = self.far_from.min(b);
        }
    }

    fn bin(&mut self, bucket: u64, key: K) {
        let i = (bucket % BUCKETS) as usize;
        let next = self.heads[i];
        let node = if self.free == NONE {
            self.nodes.push(Node { key, next });
            self.nodes.len() as u32 - 1
        } else {
            let n = self.free;
            self.free = self.nodes[n as usize].next;
            self.nodes[n as usize] = Node { key, next };
            n
        };
        self.heads[i] = node;
        self.occupied[i / 64] |= 1 << (i % 64);
        self.binned += 1;
    }

    /// Inserts into `near`, which is short; new events mostly belong at its end.
    fn insert_near(&mut self, key: K) {
        let mut i = self.near.len();
        self.near.push(key);
        while i > 0 && self.near[i - 1] < key {
            self.near[i] = self.near[i - 1];
            i -= 1;
        }
        self.near[i] = key;
    }

    /// Returns the next bucket after the current one that is not empty.
    fn next_occupied(&self) -> u64 {
        let first = self.current + 1;
        let start = (first % BUCKETS) as usize;
        let (word, bit) = (start / 64, start % 64);
        let words = self.occupied.len();
        let masked = self.occupied[word] & (u64::MAX << bit);
        if masked != 0 {
            return first + u64::from(masked.trailing_zeros()) - bit as u64;
        }
        for k in 1..=words {
            let w = self.occupied[(word + k) % words];
            if w != 0 {
                return first + (64 * k - bit) as u64 + u64::from(w.trailing_zeros());
            }
        }
        u64::MAX
    }

    #[cold]
    fn take_far(&mut self) {
        let horizon = self.current + BUCKETS;
        while self.far_from < horizon {
            let Some(key) = self.far.first() else {
                self.far_from = u64::MAX;
                return;
            };
            let b = key.time(self.bits).as_ps() >> self.shift;
            if b >= horizon {
                self.far_from = b;
                return;
            }
            self.far.take_first();
            if b <= self.current { self.insert_near(key) } else { self.bin(b, key) }
        }
    }

    #[inline(never)]
    fn refill(&mut self) -> bool {
        self.refills += 1;
        if self.refills == REVIEW {
            self.review();
            if !self.near.is_empty() {
                return true;
            }
        }
        if self.binned == 0 {
            if self.far_from == u64::MAX {
                return false;
            }
            self.current = self.far_from;
            self.take_far();
        } else {
            self.current = self.next_occupied();
        }
        let i = (self.current % BUCKETS) as usize;
        let mut n = self.heads[i];
        self.heads[i] = NONE;
        self.occupied[i / 64] &= !(1 << (i % 64));
        while n != NONE {
            let node = self.nodes[n as usize];
            self.near.push(node.key);
            self.nodes[n as usize].next = self.free;
            self.free = n;
            n = node.next;
            self.binned -= 1;
            self.refilled += 1;
        }
        match self.near.len() {
            0..=1 => {}
            2 if self.near[0] < self.near[1] => self.near.swap(0, 1),
            2 => {}
            _ => self.near.sort_unstable_by(|a, b| b.cmp(a)),
        }
        if self.far_from < self.current + BUCKETS {
            self.take_far();
        }
        true
    }

    /// Widens buckets that are nearly empty, and narrows full ones.
    #[cold]
    fn review(&mut self) {
        let mean = self.refilled / self.refills;
        (self.refills, self.refilled) = (0, 0);
        let shift = match mean {
            0..=1 => self.shift + 2,
            2..=3 => self.shift + 1,
            33.. => self.shift - 2,
            17.. => self.shift - 1,
            _ => return,
        };
        let shift = shift.clamp(*SHIFT.start(), *SHIFT.end());
        if shift == self.shift {
            return;
        }
        let mut all = std::mem::take(&mut self.near);
        for i in 0..self.heads.len() {
            let mut n = std::mem::replace(&mut self.heads[i], NONE);
            while n != NONE {
                all.push(self.nodes[n as usize].key);
                n = self.nodes[n as usize].next;
            }
        }
        while let Some(key) = self.far.first() {
            self.far.take_first();
            all.push(key);
        }
        self.occupied.fill(0);
        self.nodes.clear();
        (self.free, self.binned, self.far_from) = (NONE, 0, u64::MAX);
        self.shift = shift;
        self.current = all.iter().min().map_or(0, |k| k.time(self.bits).as_ps() >> shift);
        all.into_iter().for_each(|key| self.put(key));
    }
}

impl<K: Key> EventQueue for Wheel<K> {
    fn with_slots(slots: usize) -> Self {
        Self {
            near: Vec::new(),
            current: 0,
            shift: 20,
            heads: vec![NONE; BUCKETS as usize],
            occupied: vec![0; (BUCKETS / 64) as usize],
            nodes: Vec::new(),
            free: NONE,
            far: QuadHeap::with_slots(1),
            bits: slot_bits(slots),
            far_from: u64::MAX,
            binned: 0,
            refills: 0,
            refilled: 0,
        }
    }

    #[inline]
    fn push(&mut self, time: Time, slot: Slot) {
        self.put(K::pack(time, slot, self.bits));
    }

    #[inline]
    fn pop_until(&mut self, last: Time) -> Option<(Time, Slot)> {
        if self.near.is_empty() && !self.refill() {
            return None;
        }
        let top = *self.near.last()?;
        let time = top.time(self.bits);
        if time > last {
            return None;
        }
        self.near.pop();
        Some((time, top.slot(self.bits)))
    }

    #[inline]
    fn upcoming(&self, k: usize) -> Option<(Time, Slot)> {
        let key = self.near[self.near.len().checked_sub(1 + k)?];
        Some((key.time(self.bits), key.slot(self.bits)))
    }

    fn len(&self) -> usize {
        self.near.len() + self.binned + self.far.len()
    }
}
