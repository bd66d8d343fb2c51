//! TFRC, TCP-Friendly Rate Control (RFC 5348): the receiver measures how often packets are lost, the sender goes at the rate that TCP's throughput
//! equation gives for it.
//!
//! Deviations. Times and rates cross the network unrounded, where section 3.2 has fields of 32 bits; the headers have the lengths of those fields. The receiver
//! tells the number of loss events so far, by which the sender of section 4.3 step (4) knows a new one even where p does not rise. The clock is exact,
//! so t_gran and t_delta of section 4.6 are 0. The nofeedback timer of a sender that is idle and would not be slowed any more rests until the next packet is sent.
//! A packet that comes late takes back the last loss event only (section 5.1 leaves that open).

mod receiver;
mod sender;

pub use receiver::TfrcReceiver;
use sender::Tfrc;
/// The end that sends.
pub type TfrcSender = RateSender<Tfrc>;

use crate::rate::outlet::{Outlet, back, headers};
use crate::rate::sender::RateSender;
use crate::source::Source;
use crate::udp::UdpParams;
use fairlane_net::{Class, FlowId, Problem, Proto};
use fairlane_units::{Bytes, Dur, Time};

fairlane_units::params! {
    /// TFRC sends what another source writes at a TCP-friendly rate (RFC 5348): that of the throughput equation for the measured loss event rate, smoother than TCP's.
    /// Nothing is retransmitted. The flow needs `udp`.
    pub struct TfrcParams<S> {
        /// Source of the data: any other source. A write is a packet, or several if it is larger than `size`.
        pub source: Box<S> = Box::default(),
        /// Largest payload of a packet: the segment size s, as which the mean of recent packets counts if they vary (RFC 5348 section 4.1).
        #[schemars(extend("x-min" = "1B", "x-max" = "65507B"))]
        pub size: Bytes = SIZE,
        /// Bytes of writes that may wait to be sent; beyond them new writes are discarded. A write that finds less waiting is taken whole.
        #[schemars(extend("x-min" = "1B"))]
        pub buffer: Bytes = BUFFER,
        /// Header of a data packet after that of UDP: sequence number, time stamp and round-trip estimate of 4 bytes each (RFC 5348 section 3.2.1).
        #[schemars(extend("x-min" = "0B", "x-max" = "1000B"))]
        pub data_header: Bytes = Bytes(12),
        /// Feedback packet after the header of UDP: time stamp of the last data packet, delay since then, receive rate, loss event rate and number of
        /// loss events, 4 bytes each (RFC 5348 section 3.2.2; the number is ours).
        #[schemars(extend("x-min" = "0B", "x-max" = "1000B"))]
        pub feedback: Bytes = Bytes(20),
        /// True if the rate falls with a growing round-trip time within the round trip (RFC 5348 section 4.5).
        pub oscillation_reduction: bool = true,
        /// True if a long loss-free time discounts the loss intervals before it (RFC 5348 section 5.5).
        pub history_discounting: bool = true,
        /// Unused time to send that may be made up for in a burst, in round trips; RFC 5348 section 4.6 allows one at most.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub credit: f64 = 0.0,
    }
}

/// Default segment size, that of ns-2's Agent/TFRC.
const SIZE: Bytes = Bytes(1000);
/// Default buffer: a second at 8 Mbit/s.
const BUFFER: Bytes = Bytes(1_000_000);

impl<S: Source> Source for TfrcParams<S> {
    type App = S::App;

    /// Builds the inner source; only the endpoints differ.
    fn build(&self, flow: FlowId, start: Time, stop: Option<Time>) -> S::App {
        self.source.build(flow, start, stop)
    }

    fn check(&self, over: Proto) -> Result<(), Problem> {
        self.source.check(over).map_err(|problem| problem.within("source"))
    }
}

impl<S> TfrcParams<S> {
    /// The two ends of a flow whose packets carry `class`, below them UDP.
    pub fn endpoints(&self, udp: &UdpParams, class: Class) -> (TfrcSender, TfrcReceiver) {
        let outlet = Outlet::new(self.size, self.data_header, self.buffer, udp, class);
        let feedback = headers(udp, self.feedback);
        let to = receiver::Config { size: outlet.size, feedback, class, discounting: self.history_discounting };
        let from = sender::Config { reduces_oscillation: self.oscillation_reduction, credit: self.credit.clamp(0.0, 1.0) };
        (RateSender(Tfrc::new(from, outlet)), TfrcReceiver::new(to, back(self.size, udp, class)))
    }
}

/// Maximum backoff interval t_mbi: a sender sends a packet in 64 seconds at least (RFC 5348 section 4.3).
const T_MBI: f64 = 64.0;

/// Longest round trip that is believed: a feedback that comes later says nothing of the path any more.
const LONGEST_RTT: Dur = Dur::from_secs(64);

#[cfg(test)]
#[path = "../tfrc_tests.rs"]
mod tests;
