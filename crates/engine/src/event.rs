//! Interface of the event queue.
//!
//! A *slot* is a source of events: a port, the timers of an endpoint, an application, a sampler. A slot has at most one pending event, so the order (time, slot)
//! is total and needs no counter: it does not depend on threads, on the partition of the network, or on the time of insertion.

use fairlane_units::Time;

/// Number of a source of events.
pub type Slot = u32;

/// Time and slot packed in one integer, so that one comparison orders two events.
pub trait Key: Copy + Ord + Send + std::fmt::Debug {
    /// Key after every event.
    const NEVER: Self;
    /// Latest time that fits if slots take `bits`.
    fn latest(bits: u32) -> Time;
    /// Packs an event that is not after [`Self::latest`]; the slot takes the low `bits`.
    fn join(time: Time, slot: Slot, bits: u32) -> Self;
    /// Packs any event; one that is too late becomes [`Self::NEVER`].
    #[inline]
    fn pack(time: Time, slot: Slot, bits: u32) -> Self {
        if time <= Self::latest(bits) { Self::join(time, slot, bits) } else { Self::NEVER }
    }
    /// Returns the slot.
    fn slot(self, bits: u32) -> Slot;
    /// Returns the slot; `mask` has its bits.
    fn low(self, mask: Slot) -> Slot;
    /// Returns the time.
    fn time(self, bits: u32) -> Time;
}

impl Key for u64 {
    const NEVER: Self = Self::MAX;
    #[inline]
    fn latest(bits: u32) -> Time {
        Time::from_ps(Self::MAX >> bits)
    }
    #[inline]
    fn join(time: Time, slot: Slot, bits: u32) -> Self {
        time.as_ps() << bits | Self::from(slot)
    }
    #[inline]
    fn slot(self, bits: u32) -> Slot {
        (self & ((1 << bits) - 1)) as Slot
    }
    #[inline]
    fn low(self, mask: Slot) -> Slot {
        self as Slot & mask
    }
    #[inline]
    fn time(self, bits: u32) -> Time {
        Time::from_ps(self >> bits)
    }
}

impl Key for u128 {
    const NEVER: Self = Self::MAX;
    #[inline]
    fn latest(_: u32) -> Time {
        Time::MAX
    }
    #[inline]
    fn join(time: Time, slot: Slot, bits: u32) -> Self {
        Self::from(time.as_ps()) << bits | Self::from(slot)
    }
    #[inline]
    fn slot(self, bits: u32) -> Slot {
        (self & ((1 << bits) - 1)) as Slot
    }
    #[inline]
    fn low(self, mask: Slot) -> Slot {
        self as Slot & mask
    }
    #[inline]
    fn time(self, bits: u32) -> Time {
        Time::from_ps((self >> bits) as u64)
    }
}

/// Mask of [`slot_bits`].
pub(crate) const fn slot_mask(slots: usize) -> Slot {
    ((1_u64 << slot_bits(slots)) - 1) as Slot
}

/// Number of bits for `slots` slots.
pub const fn slot_bits(slots: usize) -> u32 {
    let bits = usize::BITS - slots.leading_zeros();
    if bits == 0 { 1 } else { bits }
}

/// Returns true if events of `slots` slots up to `horizon` fit into 64-bit keys. Later events never come, which is correct if the run ends at the horizon.
pub const fn fits_64_bits(slots: usize, horizon: Time) -> bool {
    // One more bit, so that an event at the horizon itself is well below `NEVER`.
    horizon.as_ps() >> (63 - slot_bits(slots)) == 0
}

/// A priority queue of events.
pub trait EventQueue: Clone + Send {
    /// Creates an empty queue for slots `0..slots`.
    fn with_slots(slots: usize) -> Self;
    /// Adds an event.
    fn push(&mut self, time: Time, slot: Slot);
    /// Adds an event of `source`, a number of its own that mostly has one pending event.
    #[inline]
    fn push_of(&mut self, source: Slot, time: Time, slot: Slot) {
        let _ = source;
        self.push(time, slot);
    }
    /// Takes the earliest event, if it is not after `last`.
    fn pop_until(&mut self, last: Time) -> Option<(Time, Slot)>;
    /// [`Self::pop_until`] with the source of the event; `source` computes it from time and slot.
    #[inline]
    fn pop_of(&mut self, last: Time, source: impl Fn(Time, Slot) -> Slot) -> Option<(Time, Slot, Slot)> {
        let (time, slot) = self.pop_until(last)?;
        Some((time, slot, source(time, slot)))
    }
    /// Guesses the event `k` places after the next one, to prefetch its memory. No result depends on it.
    #[inline]
    fn upcoming(&self, k: usize) -> Option<(Time, Slot)> {
        let _ = k;
        None
    }
    /// Number of events.
    fn len(&self) -> usize;
    /// True if no event is pending.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_order_by_time_then_slot() {
        fn check<K: Key>() {
            let k = |t, s| K::pack(Time::from_ps(t), s, 10);
            assert!(k(1, 900) < k(2, 0));
            assert!(k(2, 0) < k(2, 1));
            assert!(k(1 << 50, 7) < K::NEVER);
            assert_eq!((k(5, 7).time(10), k(5, 7).slot(10), k(5, 7).low(1023)), (Time::from_ps(5), 7, 7));
        }
        check::<u64>();
        check::<u128>();
    }

    #[test]
    fn sixty_four_bits_are_enough_for_most_runs() {
        let hours = |h: u64| Time::from_ps(h * 3_600_000_000_000_000);
        assert!(fits_64_bits(130, hours(5)));
        assert!(fits_64_bits(10_000, Time::from_ps(500_000_000_000_000)));
        assert!(!fits_64_bits(1 << 20, Time::from_ps(10_000_000_000_000)));
        assert_eq!((slot_bits(1), slot_bits(255), slot_bits(256)), (1, 8, 9));
        assert_eq!((slot_mask(1), slot_mask(255), slot_mask(u32::MAX as usize)), (1, 255, u32::MAX));
    }
}
