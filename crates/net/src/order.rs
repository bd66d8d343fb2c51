//! Order of simultaneous events.
//!
//! In a simulation with round numbers many events are simultaneous: behind a shared link the packets of all senders arrive at multiples of its
//! transmission time. A rule that prefers low numbers would always give the last place of a queue to the first sender. So events of one instant are ordered by
//! [`Turn`], then by their slot numbers, permuted by a hash of the time and of the seed: no sender is favoured. The order is the same for any number of
//! threads. Replications of a scenario break ties differently, so an interval over seeds covers the choice.

use fairlane_engine::{Slot, Stream, slot_bits};
use fairlane_units::Time;

/// Turns of one instant, in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub(crate) enum Turn {
    /// Arrivals, timers, applications.
    Act = 0,
    /// Starts of transmissions that have their own events.
    Depart = 1,
    /// Samples of the state, and controls.
    Look = 2,
}

/// Number of turns.
const TURNS: usize = 3;

/// Order of the events of one instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order {
    bits: u32,
    mask: Slot,
    salt: u64,
}

/// 2^64 divided by the golden ratio: the multiplier of Fibonacci hashing (Knuth, vol. 3, section 6.4).
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

impl Order {
    pub(crate) fn new(slots: usize, seed: u64) -> Self {
        let bits = slot_bits(slots);
        Self { bits, mask: (1 << bits) - 1, salt: Stream::new(seed, "world", "", "ties").next_u64() }
    }

    /// Count of possible event numbers, for the event queue.
    pub(crate) fn numbers(self) -> usize {
        TURNS << self.bits
    }

    #[inline]
    fn shuffle(self, time: Time) -> Slot {
        // The high half of the product depends on all bits of the time.
        ((time.as_ps() ^ self.salt).wrapping_mul(GOLDEN) >> 32) as Slot & self.mask
    }

    /// Returns the number of an event in the event queue.
    #[inline]
    pub(crate) fn number(self, time: Time, slot: Slot, turn: Turn) -> Slot {
        (turn as Slot) << self.bits | (slot ^ self.shuffle(time))
    }

    /// Returns the slot of a queued event.
    #[inline]
    pub(crate) fn slot(self, time: Time, number: Slot) -> Slot {
        (number & self.mask) ^ self.shuffle(time)
    }

    /// Returns true if the departure comes first when a packet reaches `port` at the instant of the next departure there.
    #[inline]
    pub(crate) fn departure_first(self, time: Time, port: Slot) -> bool {
        (time.as_ps() ^ self.salt.rotate_left(32) ^ u64::from(port) << 40).wrapping_mul(GOLDEN) >> 63 == 1
    }

    /// Returns true if the event of a port is a departure.
    #[inline]
    pub(crate) fn departs(self, number: Slot) -> bool {
        number > self.mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_turns_keep_their_order() {
        let o = Order::new(1000, 1);
        for t in (0..200).map(|k| Time::from_ps(k * 246_400_000)) {
            for slot in [0, 1, 511, 999] {
                for turn in [Turn::Act, Turn::Depart, Turn::Look] {
                    let n = o.number(t, slot, turn);
                    assert!((n as usize) < o.numbers());
                    assert_eq!((o.slot(t, n), o.departs(n)), (slot, turn != Turn::Act));
                }
            }
            assert!(o.number(t, 999, Turn::Act) < o.number(t, 0, Turn::Depart));
            assert!(o.number(t, 999, Turn::Depart) < o.number(t, 0, Turn::Look));
        }
    }

    /// At equidistant times each of two slots is first in about half of the cases.
    #[test]
    fn nobody_is_favoured() {
        let o = Order::new(130, 7);
        for (a, b) in [(0, 1), (3, 64), (17, 18), (100, 129)] {
            for step in [246_400_000_u64, 1_232_000_000, 832_000_000, 1_000] {
                let n = 4000_u64;
                let first = (0..n).filter(|k| {
                    let t = Time::from_ps(k * step);
                    o.number(t, a, Turn::Act) < o.number(t, b, Turn::Act)
                });
                let share = first.count() as f64 / n as f64;
                // Four standard deviations of a fair coin.
                let coin = (0..n).filter(|k| o.departure_first(Time::from_ps(k * step), a)).count() as f64 / n as f64;
                assert!((coin - 0.5).abs() < 4.0 * 0.5 / (n as f64).sqrt() + 0.02, "coin of {a} at steps of {step} ps: {coin}");
                assert!((share - 0.5).abs() < 4.0 * 0.5 / (n as f64).sqrt() + 0.02, "{a} before {b} at steps of {step} ps: {share}");
            }
        }
    }
}
