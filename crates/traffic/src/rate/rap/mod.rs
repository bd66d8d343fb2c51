//! RAP, the Rate Adaptation Protocol (R. Rejaie, M. Handley and D. Estrin, RAP: An End-to-end Rate-based Congestion Control Mechanism for Realtime Streams
//! in the Internet, IEEE INFOCOM 1999): additive increase and multiplicative decrease as TCP has them, on the gap between packets instead of a window.
//!
//! Deviations. An acknowledgment names the highest packet received besides the one it answers, as ns-2's does, so that it also tells right where packets
//! overtake one another. The rate grows only after a round trip in which an acknowledgment came and `used` of the allowed packets were sent (the latter is ns-2's);
//! the paper has endless sources. A packet marked with congestion experienced is a loss; the paper has no ECN.

mod receiver;
mod sender;

pub use receiver::RapReceiver;
use sender::Rap;
/// The end that sends.
pub type RapSender = RateSender<Rap>;

use crate::rate::outlet::{Outlet, back, headers};
use crate::rate::sender::RateSender;
use crate::source::Source;
use crate::udp::UdpParams;
use fairlane_net::{Class, FlowId, Problem, Proto};
use fairlane_units::{Bytes, Dur, Time};

fairlane_units::params! {
    /// RAP sends what another source writes with a gap between packets that follows TCP's additive increase and multiplicative decrease (Rejaie, Handley and
    /// Estrin 1999). Each packet is acknowledged, nothing is retransmitted. The flow needs `udp`.
    pub struct RapParams<S> {
        /// Source of the data: any other source. A write is a packet, or several if it is larger than `size`.
        pub source: Box<S> = Box::default(),
        /// Largest payload of a packet.
        #[schemars(extend("x-min" = "1B", "x-max" = "65507B"))]
        pub size: Bytes = Bytes(1000),
        /// Bytes of writes that may wait to be sent; beyond them new writes are discarded. A write that finds less waiting is taken whole.
        #[schemars(extend("x-min" = "1B"))]
        pub buffer: Bytes = Bytes(1_000_000),
        /// Header of a data packet after that of UDP: its sequence number.
        #[schemars(extend("x-min" = "0B", "x-max" = "1000B"))]
        pub data_header: Bytes = Bytes(4),
        /// Acknowledgment after the header of UDP: the packet it answers, the highest received, and the last hole before that.
        #[schemars(extend("x-min" = "0B", "x-max" = "1000B"))]
        pub ack: Bytes = Bytes(16),
        /// Packets a round trip by which the rate grows in a round trip (increase/decrease algorithm of the paper; ns-2's alpha_).
        #[schemars(range(min = 0.01, max = 100.0))]
        pub increase: f64 = 1.0,
        /// Share of the rate that a loss leaves (increase/decrease algorithm; ns-2's beta_).
        #[schemars(range(min = 0.01, max = 0.99))]
        pub decrease: f64 = 0.5,
        /// Round-trip time that is assumed before the first sample; the first packets leave that far apart (ns-2).
        #[schemars(extend("x-min" = "1us", "x-max" = "64s"))]
        pub initial_rtt: Dur = Dur::from_secs(2),
        /// Weight of a sample in the smoothed round-trip time (Jacobson and Karels; ns-2's delta_ is 0.5).
        #[schemars(range(min = 0.001, max = 1.0))]
        pub srtt_gain: f64 = 0.125,
        /// Weight of a sample in the mean deviation of the round-trip time (ns-2's delta_ is 0.5).
        #[schemars(range(min = 0.001, max = 1.0))]
        pub deviation_gain: f64 = 0.25,
        /// Smoothed round-trip times in a timeout (ns-2's mu_).
        #[schemars(range(min = 1.0, max = 10.0))]
        pub timeout_srtt: f64 = 1.2,
        /// Mean deviations in a timeout (Jacobson and Karels; ns-2's phi_).
        #[schemars(range(min = 0.0, max = 10.0))]
        pub timeout_deviation: f64 = 4.0,
        /// Share of the allowed packets that must have been sent in a round trip for the rate to grow (ns-2's dpthresh_, in per cent).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub used: f64 = 0.5,
        /// True if the gap follows the ratio of the short-term to the long-term mean of the round-trip time (fine-grain adaptation).
        pub fine_grain: bool = false,
        /// Weight of a sample in the short-term mean of the round-trip time, K_frtt.
        #[schemars(range(min = 0.001, max = 1.0))]
        pub frtt_gain: f64 = 0.9,
        /// Weight of a sample in the long-term mean of the round-trip time, K_xrtt.
        #[schemars(range(min = 0.001, max = 1.0))]
        pub xrtt_gain: f64 = 0.01,
    }
}

impl<S: Source> Source for RapParams<S> {
    type App = S::App;

    /// Builds the inner source; only the endpoints differ.
    fn build(&self, flow: FlowId, start: Time, stop: Option<Time>) -> S::App {
        self.source.build(flow, start, stop)
    }

    fn check(&self, over: Proto) -> Result<(), Problem> {
        self.source.check(over).map_err(|problem| problem.within("source"))
    }
}

impl<S> RapParams<S> {
    /// The two ends of a flow whose packets carry `class`, below them UDP.
    pub fn endpoints(&self, udp: &UdpParams, class: Class) -> (RapSender, RapReceiver) {
        let outlet = Outlet::new(self.size, self.data_header, self.buffer, udp, class);
        let config = sender::Config {
            increase: self.increase,
            decrease: self.decrease,
            initial_rtt: self.initial_rtt.as_secs_f64(),
            srtt_gain: self.srtt_gain,
            deviation_gain: self.deviation_gain,
            timeout_srtt: self.timeout_srtt,
            timeout_deviation: self.timeout_deviation,
            used: self.used,
            fine_grain: self.fine_grain,
            frtt_gain: self.frtt_gain,
            xrtt_gain: self.xrtt_gain,
        };
        let receiver = RapReceiver::new(headers(udp, self.ack), class, back(self.size, udp, class));
        (RateSender(Rap::new(config, outlet)), receiver)
    }
}

#[cfg(test)]
#[path = "../rap_tests.rs"]
mod tests;
