//! Observers: probes that measure more than every run needs, and packet capture.

mod hop_delay;
pub mod pcapng;

pub use hop_delay::HopDelay;
