//! TCP as a value: segments, deadlines and writes go in, segments and deadlines come out. It opens no socket and reads no clock.
//!
//! [`Tcp`] is one end of a connection, sending and receiving. Everything it does is set by [`TcpParams`]; the
//! dialects of other simulators and systems are sets of values ([`presets`]), never branches in the code.

mod acks;
mod arrive;
mod audit;
mod buffer;
pub mod cc;
mod check;
mod choices;
mod compress;
mod config;
mod cwv;
mod ecn;
mod endpoint;
mod fast_open;
mod fin;
mod handshake;
mod hold;
mod info;
mod limit;
mod lost;
mod more;
mod output;
mod pacing;
mod params;
mod presets;
mod quick;
mod rate;
mod receiver;
mod recovery;
mod rtt;
mod scoreboard;
mod sender;
mod straight;
mod tso;
mod tx;

pub use arrive::Ended;
pub use cc::{AnyCc, CcInfo, CcParams, CcSite, CongestionControl, announced_cc, cc_plugins, register_cc};
pub use choices::{
    BackoffEnds, EcnMode, ExitWindow, FastOpen, GrowthUnit, HystartRounds, IdleRestart, InitialWindow, LossBasis, NewRenoTimer,
    OldSegments, Paws, Preset, Prr, PrrBase, RtoRule, RttSampling, SackMemory, SackPipe, Scheme, SlowStart,
};
pub use config::TcpConfig;
pub use endpoint::Tcp;
pub use info::{CaState, TcpInfo};
pub use params::TcpParams;
pub use presets::{ParamsError, PresetInfo, presets, resolve_params};
pub use rtt::RttEstimator;
