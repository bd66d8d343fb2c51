//! Observers: probes that measure more than every run needs, event tables, time series as files, and packet capture.

pub mod events;
mod hop_delay;
mod long;
mod parquet;
pub mod pcapng;
pub mod reading;
pub mod scene;
mod series;
mod varint;
pub mod why;

pub use hop_delay::HopDelay;
pub use long::{LongTable, Of, Subjects};
pub use series::SeriesFile;
