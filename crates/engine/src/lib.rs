//! Ordered simulated time: the event queue, its ordering key and the random streams.
//! This crate does not depend on packets or networks.

mod event;
mod queue;
pub mod steps;
mod stream;

pub use event::{EventQueue, Key, Slot, fits_64_bits, slot_bits};
pub use queue::{QuadHeap, Sorted, Tournament, Wheel};
pub use stream::{Stream, hash_parts, hash_seeded};
