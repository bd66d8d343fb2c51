//! Event queues. All give the same order; `docs/background/event-queue.md` has their speeds.

mod quad;
mod sorted;
mod tournament;
mod wheel;

pub use quad::QuadHeap;
pub use sorted::Sorted;
pub use tournament::Tournament;
pub use wheel::Wheel;

#[cfg(test)]
mod tests;
