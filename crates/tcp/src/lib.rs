//! TCP as a state machine without input and output: it takes segments, timeouts and writes, and returns segments and timers.
//!
//! [`Tcp`] is one end of a connection, sending and receiving. [`TcpParams`] determines its behaviour; other simulators and
//! systems are sets of values ([`presets`]), never branches in the code.

mod ack_compression;
mod ack_log;
mod blocks;
mod burst;
pub mod cc;
mod check;
mod choices;
mod config;
mod cwnd_usage;
mod cwv;
mod ecn;
mod endpoint;
mod error;
mod extensions;
mod fast_open;
mod features;
mod frto;
mod hold;
mod info;
mod lifecycle;
mod ns2_compat;
mod ns3_socket;
mod pacer;
mod params;
mod presets;
mod prr;
mod quantum;
mod quickack;
mod rack;
mod rate;
mod rcvbuf;
mod receiver;
mod rtt;
mod scoreboard;
mod send_state;
mod sent;
mod state;
mod undo;
mod vegas_state;

pub use cc::{AnyCc, CcConfig, CcContext, CcInfo, CcParams, CongestionControl, cc_plugins, register_cc};
pub use choices::{
    BackoffEnds, EcnMode, ExitWindow, FastOpen, GrowthUnit, HystartRounds, IdleRestart, InitialWindow, LossBasis, NewRenoTimer,
    OldSegments, Paws, Preset, Prr, PrrBase, RtoRule, RttSampling, SackMemory, SackPipe, Scheme, SlowStart,
};
pub use config::TcpConfig;
pub use endpoint::Tcp;
pub use error::ParamsError;
pub use info::{CaState, TcpInfo};
pub use lifecycle::Ended;
pub use params::TcpParams;
pub use presets::{PresetInfo, presets, resolve_params};
pub use rtt::RttEstimator;
