//! Event queues of runs, by the number of slots.

use fairlane_engine::QuadHeap;

/// Slot counts from which the tournament is faster than the sorted array, and the wheel faster than the tournament, see `docs/background/event-queue.md`.
pub(crate) const SOME_SLOTS: usize = 400;
pub(crate) const MANY_SLOTS: usize = 3200;

/// Event queues of networks with few, some and many slots. The loop is compiled once for each.
#[cfg(not(debug_assertions))]
pub(crate) mod events {
    pub(crate) type Few = fairlane_engine::Sorted<u64>;
    pub(crate) type Some = fairlane_engine::Tournament<u64>;
    pub(crate) type Many = fairlane_engine::Wheel<u64>;
}
/// The event queue of builds for tests, which is compiled sooner than three; `net/tests/laws.rs` compares all of them.
#[cfg(debug_assertions)]
pub(crate) mod events {
    pub(crate) type Few = super::AnyEvents;
    pub(crate) type Some = super::AnyEvents;
    pub(crate) type Many = super::AnyEvents;
}
/// Event queue of long runs, whose keys need 128 bits, of larger networks that are observed, and of every run in steps: it fits all networks and
/// durations, so that the loop for observers is compiled twice only.
pub(crate) type AnyEvents = QuadHeap<u128>;
