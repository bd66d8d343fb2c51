//! Counters and distributions of ports and flows.

pub(crate) mod counters;
pub(crate) mod histogram;
mod loss_events;
mod playback;

pub use counters::{FlowCounters, Initial, Occupancy, PortCounters, RareCounters, RareFlowCounters, Reasons};
pub use histogram::{Histogram, Summary};
pub use loss_events::LossEvents;
pub use playback::Playback;
