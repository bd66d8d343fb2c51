//! Time series of flows and ports.

pub(crate) mod columns;
mod sampler;

pub use columns::{Column, Fill, FlowSample, PortSample};
pub use sampler::{Sampler, Sampling, Series};
