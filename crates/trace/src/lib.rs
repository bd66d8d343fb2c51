//! Observers: probes that measure more than every run needs, event tables, and packet capture.

pub mod events;
mod hop_delay;
pub mod pcapng;

pub use hop_delay::HopDelay;
