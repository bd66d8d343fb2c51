//! The event queue: which source acts next, and when.
//!
//! A *slot* is a source of events: a port, an endpoint's timers, an application, a sampler. A slot has at
//! most one event pending, so the order (time, slot) is total and needs no counter: it does not
//! depend on threads, on how the network is cut, nor on when an event was put in.

use fairlane_units::Time;

/// The number of a source of events.
pub type Slot = u32;

/// Time and slot in one integer, so that one comparison orders two events.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Key(u128);

impl Key {
    /// After every event.
    pub const NEVER: Self = Self(u128::MAX);

    /// The key of `slot` at `time`.
    #[inline]
    pub const fn new(time: Time, slot: Slot) -> Self {
        Self((time.as_ps() as u128) << 32 | slot as u128)
    }
    /// When.
    #[inline]
    pub const fn time(self) -> Time {
        Time::from_ps((self.0 >> 32) as u64)
    }
    /// Who.
    #[inline]
    pub const fn slot(self) -> Slot {
        self.0 as u32
    }
}

/// A priority queue of keys. `pop_until` leaves a hole that the next `push` may fill.
pub trait EventQueue: Clone + Send {
    /// An empty queue for slots `0..slots`.
    fn with_slots(slots: usize) -> Self;
    /// Adds an event.
    fn push(&mut self, key: Key);
    /// Takes the earliest event if it is not after `last`.
    fn pop_until(&mut self, last: Key) -> Option<Key>;
    /// Number of events.
    fn len(&self) -> usize;
    /// Whether none is pending.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A 4-ary heap whose root may be a hole: an event that schedules its successor costs one sift.
#[derive(Clone, Debug, Default)]
pub struct QuadHeap {
    keys: Vec<Key>,
    hole: bool,
}

impl QuadHeap {
    fn sift_down(&mut self, key: Key) {
        let n = self.keys.len();
        let keys = &mut self.keys[..];
        let mut i = 0;
        loop {
            let first = 4 * i + 1;
            if first >= n {
                break;
            }
            let mut best = first;
            if first + 4 <= n {
                let c = &keys[first..first + 4];
                let a = usize::from(c[1] < c[0]);
                let b = 2 + usize::from(c[3] < c[2]);
                best = first + if c[b] < c[a] { b } else { a };
            } else {
                for j in first + 1..n {
                    if keys[j] < keys[best] {
                        best = j;
                    }
                }
            }
            if keys[best] >= key {
                break;
            }
            keys[i] = keys[best];
            i = best;
        }
        keys[i] = key;
    }

    fn fill_hole(&mut self) {
        if self.hole {
            self.hole = false;
            let last = self.keys.pop().unwrap_or(Key::NEVER);
            if !self.keys.is_empty() {
                self.sift_down(last);
            }
        }
    }
}

impl EventQueue for QuadHeap {
    fn with_slots(slots: usize) -> Self {
        Self { keys: Vec::with_capacity(slots.min(1 << 16)), hole: false }
    }

    #[inline]
    fn push(&mut self, key: Key) {
        if self.hole {
            self.hole = false;
            self.sift_down(key);
            return;
        }
        let mut i = self.keys.len();
        self.keys.push(key);
        while i > 0 {
            let up = (i - 1) / 4;
            if self.keys[up] <= key {
                break;
            }
            self.keys[i] = self.keys[up];
            i = up;
        }
        self.keys[i] = key;
    }

    #[inline]
    fn pop_until(&mut self, last: Key) -> Option<Key> {
        self.fill_hole();
        let top = *self.keys.first()?;
        if top > last {
            return None;
        }
        self.hole = true;
        Some(top)
    }

    fn len(&self) -> usize {
        self.keys.len() - usize::from(self.hole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_orders_by_time_then_slot() {
        let k = |t, s| Key::new(Time::from_ps(t), s);
        assert!(k(1, 9) < k(2, 0));
        assert!(k(2, 0) < k(2, 1));
        assert!(k(u64::MAX, u32::MAX) < Key::NEVER);
        assert_eq!((k(5, 7).time(), k(5, 7).slot()), (Time::from_ps(5), 7));
    }
}
