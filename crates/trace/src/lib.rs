//! Observers: optional probes, event tables, time series files, packet capture and animations.

mod arrow;
pub mod capture_file;
pub mod capture_import;
pub mod events;
mod hop_delay;
pub mod limits;
mod long_table;
mod parquet;
pub mod pcapng;
pub mod scene;
mod series;
mod varint;

pub use arrow::{ArrowStream, ArrowValues};
pub use hop_delay::HopDelay;
pub use long_table::{LongTable, Of, Subjects};
pub use series::SeriesFile;
