//! Traffic: the UDP endpoint, and the sources that decide when a flow has how much to send.

mod control;
pub mod draw;
pub mod e_model;
mod rate;
pub mod source;
mod udp;

pub use control::congestion_signal::{CongestionSignal, CongestionSignalParams, Hold, Release, Signal};
pub use control::time_slots::{RingOrder, TimeSlots, TimeSlotsParams};
pub use control::{Acks, Controller, PRIORITIES};
pub use rate::rap::{RapParams, RapReceiver, RapSender};
pub use rate::tfrc::{TfrcParams, TfrcReceiver, TfrcSender};
pub use source::Source;
pub use udp::{MAX_DATAGRAM, Udp, UdpEcn, UdpParams};
