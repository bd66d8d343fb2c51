//! Time series of flows and ports.

mod chunks;
pub(crate) mod columns;
mod recording;
mod sampler;

pub use columns::{Column, Fill, FlowSample, PortSample};
pub use recording::{Cursor, Instants, Recording};
pub use sampler::{Sampler, Sampling, Series};
