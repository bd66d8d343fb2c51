//! Observers: probes that measure more than every run needs.

mod hop_delay;

pub use hop_delay::HopDelay;
