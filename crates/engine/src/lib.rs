//! Ordered simulated time: the event queue, its ordering key and the random streams.
//! This crate knows neither packets nor networks.

mod event;
mod stream;

pub use event::{EventQueue, Key, QuadHeap, Slot};
pub use stream::{Stream, hash_parts};
