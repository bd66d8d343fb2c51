//! IEEE 802.11 in simulated time: who hears whom, what a receiver decodes, and when a station may speak.
//!
//! Rooms, none of which knows a clock or a network:
//!
//! - [`phy`]: how long a frame is on the air, for each waveform and rate; [`power`]: what is left of a signal at a distance;
//! - [`errors`]: how likely bits are received well; [`mobility`]: where a station is at a time; [`motion`]: who hears whom from there; [`hops`]: which hops routes may take;
//! - [`rates`]: which rate a frame goes out with;
//! - [`mac`]: the distributed coordination function as a state machine, time in, frames and deadlines out;
//! - [`air`]: the medium that all stations share. It adds up powers at each receiver, decides what is decoded, and tells the stations.
//!
//! What is above a station (its queue, its node) is [`air::Above`]; where events wait is [`air::Agenda`].

pub mod air;
pub mod errors;
pub mod hops;
pub mod mac;
pub mod mobility;
pub mod motion;
pub mod phy;
pub mod power;
mod radio;
pub mod rates;

pub use air::{Above, Agenda, Air, AirConfig, Ear};
pub use errors::Errors;
pub use hops::{Access, Meetings};
pub use mac::{AfterTimeout, Dcf, Frame, Kind, Mac, Msdu};
pub use mobility::{Field, Place, Track, TrackError};
pub use motion::{Hearing, Motion};
pub use phy::{Standard, Tone, Wave};
pub use power::{Power, Propagation};
pub use radio::{Lost, RadioCounters};
pub use rates::{Arf, Control, Minstrel, Rung};
