//! Traffic: the UDP endpoint, and the sources that decide when a flow has how much to send.

mod control;
pub mod draw;
mod rate;
mod source;
mod udp;

pub use control::congestion_signal::{CongestionSignal, CongestionSignalParams, Hold, Release, Signal};
pub use control::time_slots::{RingOrder, TimeSlots, TimeSlotsParams};
pub use control::{Acks, Controller, PRIORITIES};
pub use rate::rap::{RapParams, RapReceiver, RapSender};
pub use rate::tfrc::{TfrcParams, TfrcReceiver, TfrcSender};
pub use source::Source;
pub use source::bulk::{Bulk, BulkParams};
pub use source::cbr::{Cbr, CbrParams};
pub use source::file::{File, FileParams};
pub use source::mmpp::{Mmpp, MmppParams, MmppState};
pub use source::on_off::{Begin, Fraction, OnOff, OnOffParams, Periods};
pub use source::poisson::{Poisson, PoissonParams, Sizes};
pub use source::replay::{Recorded, Replay, ReplayParams};
pub use source::request_response::{RequestResponse, RequestResponseParams, ThinkTimes};
pub use source::video::{Video, VideoParams};
pub use source::voip::{Codec, Voip, VoipParams};
pub use source::web::{Web, WebModel, WebParams};
pub use udp::{MAX_DATAGRAM, Udp, UdpEcn, UdpParams};
