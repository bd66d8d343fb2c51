//! Timing wheel with sorted buckets: the current bucket is sorted once and run in order, later events are only binned, and heaps hold events beyond the wheel and
//! those that come into the middle of a full current bucket.

use super::QuadHeap;
use crate::event::{EventQueue, Key, Slot, slot_bits};
use crate::steps::{log_step, step};
use fairlane_units::Time;

/// Bounds of the number of buckets, powers of two: the words that mark the occupied ones are searched one by one.
const BUCKETS: std::ops::RangeInclusive<usize> = 4096..=16_384;
/// Slots for each bucket.
const SLOTS: usize = 8;
/// Refills between two reviews of the bucket width.
const REVIEW: u32 = 512;
/// Events of a bucket that lead to a review at once.
const CROWD: usize = 512;
/// Most events passed over by an insertion into the current bucket.
const REACH: usize = 32;
/// Bounds of the width: 2^4 ps to 2^44 ps (17 s).
const SHIFT: std::ops::RangeInclusive<u32> = 4..=44;
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
    /// Further events of the current bucket and before, which belong far from the end of `near`.
    middle: QuadHeap<K>,
    /// Earliest event of `middle`; [`Key::NEVER`] if it is empty.
    middle_from: K,
    /// Number of the current bucket: `time >> shift`.
    current: u64,
    shift: u32,
    heads: Vec<u32>,
    /// Number of buckets, a power of two.
    buckets: u64,
    /// Bits of the buckets that are not empty.
    occupied: Vec<u64>,
    nodes: Vec<Node<K>>,
    free: u32,
    far: QuadHeap<K>,
    bits: u32,
    far_from: u64,
    binned: usize,
    refills: u32,
    /// Events since the last review that became due with their bucket, or came into the current one.
    refilled: usize,
    /// True if the width is to be reviewed at the next refill.
    crowded: bool,
}

impl<K: Key> Wheel<K> {
    #[inline]
    fn put(&mut self, key: K) {
        let b = key.time(self.bits).as_ps() >> self.shift;
        if b <= self.current {
            self.insert_near(key);
        } else if b < self.current + self.buckets {
            self.bin(b, key);
        } else {
            self.far.push_key(key);
            self.far_from = self.far_from.min(b);
        }
    }

    fn bin(&mut self, bucket: u64, key: K) {
        let i = (bucket & (self.buckets - 1)) as usize;
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

    /// Inserts into the current bucket: new events mostly belong near the end of `near`.
    fn insert_near(&mut self, key: K) {
        self.refilled += 1;
        let end = self.near.len();
        let reach = end.saturating_sub(REACH);
        if reach > 0 && self.near[reach - 1] < key {
            return self.insert_middle(key);
        }
        let mut i = end;
        self.near.push(key);
        while i > 0 && self.near[i - 1] < key {
            self.near[i] = self.near[i - 1];
            i -= 1;
        }
        step(1 + end - i);
        self.near[i] = key;
    }

    #[cold]
    fn insert_middle(&mut self, key: K) {
        self.middle.push_key(key);
        self.middle_from = self.middle_from.min(key);
        // A narrower bucket would not divide events at one time.
        let same = self.near[self.near.len() - REACH - 1].time(self.bits) == key.time(self.bits);
        self.refilled -= usize::from(same);
        self.crowded |= !same && self.middle.len() > CROWD;
    }

    /// Takes the earliest event of `middle`, which comes before all of `near`.
    #[cold]
    fn pop_middle(&mut self, last: Time) -> Option<(Time, Slot)> {
        let key = self.middle_from;
        let time = key.time(self.bits);
        if time > last {
            return None;
        }
        self.middle.take_first();
        self.middle_from = self.middle.first().unwrap_or(K::NEVER);
        Some((time, key.slot(self.bits)))
    }

    /// Takes the earliest event if `near` is empty.
    #[inline(never)]
    fn pop_beyond(&mut self, last: Time) -> Option<(Time, Slot)> {
        if self.middle.len() != 0 {
            return self.pop_middle(last);
        }
        // `middle` has only events that are later than some of `near`.
        if self.refill() { self.pop_near(last) } else { None }
    }

    /// Takes the earliest event of `near`.
    #[inline(always)]
    fn pop_near(&mut self, last: Time) -> Option<(Time, Slot)> {
        let top = *self.near.last()?;
        let time = top.time(self.bits);
        if time > last {
            return None;
        }
        self.near.pop();
        Some((time, top.slot(self.bits)))
    }

    /// Returns the next bucket after the current one that is not empty.
    fn next_occupied(&self) -> u64 {
        let first = self.current + 1;
        let start = (first & (self.buckets - 1)) as usize;
        let (word, bit) = (start / 64, start % 64);
        let words = self.occupied.len();
        let masked = self.occupied[word] & (u64::MAX << bit);
        if masked != 0 {
            return first + u64::from(masked.trailing_zeros()) - bit as u64;
        }
        for k in 1..=words {
            step(1);
            let w = self.occupied[(word + k) % words];
            if w != 0 {
                return first + (64 * k - bit) as u64 + u64::from(w.trailing_zeros());
            }
        }
        u64::MAX
    }

    #[cold]
    fn take_far(&mut self) {
        let horizon = self.current + self.buckets;
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
            step(1);
            if b <= self.current { self.insert_near(key) } else { self.bin(b, key) }
        }
    }

    /// Moves the next bucket to `near`, which is empty, as is `middle`. Returns false if there is no event.
    fn refill(&mut self) -> bool {
        self.refills += 1;
        // A review moves the events in the buckets: there are at least an eighth as many between two.
        if (self.refills >= REVIEW || self.crowded) && self.refilled >= self.binned / 8 {
            self.review();
        }
        if self.binned == 0 {
            if self.far_from == u64::MAX {
                return false;
            }
            self.current = self.far_from.saturating_sub(1);
            self.take_far();
        }
        if !self.near.is_empty() {
            // Events of the first bucket of all, which has none before it.
            return true;
        }
        self.current = self.next_occupied();
        let i = (self.current & (self.buckets - 1)) as usize;
        let mut n = self.heads[i];
        self.heads[i] = NONE;
        self.occupied[i / 64] &= !(1 << (i % 64));
        while n != NONE {
            let node = self.nodes[n as usize];
            self.near.push(node.key);
            self.nodes[n as usize].next = self.free;
            self.free = n;
            n = node.next;
        }
        let moved = self.near.len();
        self.binned -= moved;
        self.refilled += moved;
        match self.near.len() {
            0..=1 => {}
            2 if self.near[0] < self.near[1] => self.near.swap(0, 1),
            2 => {}
            _ => self.sort(),
        }
        if self.far_from < self.current + self.buckets {
            self.take_far();
        }
        true
    }

    fn sort(&mut self) {
        self.near.sort_unstable_by(|a, b| b.cmp(a));
        step(self.near.len());
        self.near.iter().for_each(|_| log_step(self.near.len()));
        if self.near.len() > CROWD {
            self.note_crowd();
        }
    }

    /// Counts what a narrower bucket would divide: events at different times.
    #[cold]
    fn note_crowd(&mut self) {
        let same = self.near.windows(2).filter(|w| w[0].time(self.bits) == w[1].time(self.bits)).count();
        step(self.near.len());
        self.refilled -= same.min(self.refilled);
        self.crowded |= self.near.len() - same > CROWD;
    }

    /// Widens buckets that are nearly empty, and narrows full ones. The events of a bucket are known in order, so that those next can be
    /// prefetched.
    #[cold]
    fn review(&mut self) {
        let mean = self.refilled / self.refills as usize;
        (self.refills, self.refilled, self.crowded) = (0, 0, false);
        let shift = match mean {
            0..=7 => self.shift + 2,
            8..=15 => self.shift + 1,
            64.. => self.shift.saturating_sub((mean / 32).ilog2()),
            _ => return,
        };
        let shift = shift.clamp(*SHIFT.start(), *SHIFT.end());
        if shift == self.shift {
            return;
        }
        let mut all = Vec::with_capacity(self.binned);
        for head in &mut self.heads {
            let mut n = std::mem::replace(head, NONE);
            while n != NONE {
                all.push(self.nodes[n as usize].key);
                n = self.nodes[n as usize].next;
            }
        }
        step(self.heads.len() + all.len());
        self.occupied.fill(0);
        self.nodes.clear();
        (self.free, self.binned) = (NONE, 0);
        let far = self.far.first();
        let bucket = |key: K| key.time(self.bits).as_ps() >> shift;
        self.far_from = far.map_or(u64::MAX, bucket);
        // All events are behind the current bucket, except at time zero.
        self.current = all.iter().copied().chain(far).min().map_or(0, bucket).saturating_sub(1);
        self.shift = shift;
        all.into_iter().for_each(|key| self.put(key));
        self.take_far();
    }
}

impl<K: Key> EventQueue for Wheel<K> {
    fn with_slots(slots: usize) -> Self {
        let buckets = (slots / SLOTS).next_power_of_two().clamp(*BUCKETS.start(), *BUCKETS.end());
        Self {
            near: Vec::new(),
            middle: QuadHeap::with_slots(1),
            middle_from: K::NEVER,
            current: 0,
            shift: 20,
            heads: vec![NONE; buckets],
            buckets: buckets as u64,
            occupied: vec![0; buckets / 64],
            nodes: Vec::new(),
            free: NONE,
            far: QuadHeap::with_slots(1),
            bits: slot_bits(slots),
            far_from: u64::MAX,
            binned: 0,
            refills: 0,
            refilled: 0,
            crowded: false,
        }
    }

    #[inline]
    fn push(&mut self, time: Time, slot: Slot) {
        self.put(K::pack(time, slot, self.bits));
    }

    #[inline]
    fn pop_until(&mut self, last: Time) -> Option<(Time, Slot)> {
        match self.near.last() {
            None => self.pop_beyond(last),
            Some(&top) if self.middle_from < top => self.pop_middle(last),
            Some(_) => self.pop_near(last),
        }
    }

    #[inline]
    fn upcoming(&self, k: usize) -> Option<(Time, Slot)> {
        let key = self.near[self.near.len().checked_sub(1 + k)?];
        Some((key.time(self.bits), key.slot(self.bits)))
    }

    fn len(&self) -> usize {
        self.near.len() + self.middle.len() + self.binned + self.far.len()
    }
}
