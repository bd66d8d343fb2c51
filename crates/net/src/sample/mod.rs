//! Time series of flows and ports.

pub(crate) mod columns;
mod recording;
mod rows;
mod sampler;
mod shelf;

pub use columns::{Column, Fill, FlowSample, PortSample};
pub use recording::{Place, Recording, Stretch};
pub use sampler::{Sampler, Sampling, Series};
