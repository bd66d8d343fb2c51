//! Congestion control: the algorithm owns its window; loss detection and recovery belong to the sender.

mod ack_aggregation;
mod algorithm;
pub mod bbr;
pub mod bbr3;
pub mod bic;
mod config;
mod control;
pub mod cubic;
pub mod dctcp;
mod enum_dispatch;
pub mod external;
pub mod highspeed;
pub mod htcp;
pub mod hybla;
pub mod hystart;
pub mod illinois;
pub mod ledbat;
mod plugin;
pub mod prague;
mod registry;
mod registry_macro;
pub mod reno;
pub mod rfc793;
pub mod rtt_stats;
pub mod scalable;
pub mod vegas;
pub mod veno;
pub mod westwood;
pub mod window;
pub mod windowed_max;
pub mod yeah;

pub use algorithm::{Algorithm, CcContext};
pub use config::{CcConfig, WindowRules};
pub use control::{
    AckSample, CloneCc, CongestionControl, CongestionEvent, CongestionKind, CustomCc, FineClock, LostSample, MarkSample, RateSample,
    RecoveryExit, SampleSource, Wants,
};
pub use plugin::{CcPlugin, PluginCc, RegisterCcError, cc_plugins, register_cc, register_cc_plugin};
pub use registry::{AnyCc, CcParams};
pub use registry_macro::CcInfo;
pub use reno::Reno;
pub use window::{LossBased, Window};

#[cfg(test)]
#[path = "lists_tests.rs"]
mod lists;
