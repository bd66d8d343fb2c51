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
