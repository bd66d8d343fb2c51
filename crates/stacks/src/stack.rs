//! The interface between a transport implementation and the network.

use crate::datagrams::Datagrams;
use fairlane_net::{Ecn, Limit};
use fairlane_units::{Dur, Time};
use std::sync::Arc;

/// Place of a stack in a scenario: what it is built from.
#[derive(Clone, Debug)]
pub struct Seat {
    /// Seed of the run.
    pub seed: u64,
    /// Name of the flow.
    pub flow: String,
    /// True at the receiving end of the flow.
    pub receives: bool,
    /// True for the end that opens the connection.
    pub opens: bool,
    /// True if the connection is closed when all data of the closed flow are acknowledged; false if the other end may still send.
    pub closes: bool,
    /// True if the application writes amounts of data, which a stream carries; false if it writes packets, each of which is a datagram of its own.
    pub streams: bool,
    /// Datagrams on their way, and what the stack records of itself.
    pub datagrams: Arc<Datagrams>,
}

/// A datagram that a stack sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transmit {
    /// ECN field of the IP header.
    pub ecn: Ecn,
    /// True if it carries data of the application; false for acknowledgments, the handshake and the like.
    pub data: bool,
    /// Number of the newest packet of the application in it, counted from 0, where the application writes packets.
    pub number: Option<u64>,
}

/// Counters and state of one end of a connection. Bytes unless said otherwise. A stack that does not tell a value leaves it zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StackState {
    /// True once the handshake is complete.
    pub connected: bool,
    /// Packets declared lost.
    pub lost_packets: u64,
    /// Bytes of these packets.
    pub lost_bytes: u64,
    /// Reductions of the congestion window of all kinds.
    pub cuts: u64,
    /// Reductions in answer to ECN marks, part of `cuts`.
    pub ecn_cuts: u64,
    /// Bytes acknowledged.
    pub acked: u64,
    /// Congestion window.
    pub cwnd: u64,
    /// Slow-start threshold; none while it is infinite or the algorithm has none.
    pub ssthresh: Option<u64>,
    /// Bytes in flight.
    pub in_flight: u64,
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Dur,
    /// Longest payload of a datagram on this path.
    pub mtu: u32,
    /// Rate of pacing in bit/s; zero if there is none.
    pub rate: f64,
    /// Rate in bit/s that a congestion control of media allows its encoder; zero if there is none.
    pub target: f64,
    /// Why no more is sent.
    pub limit: Limit,
}

/// A transport implementation at one end of a flow.
///
/// Time is an argument of every call and never decreases. After any call the endpoint takes the datagrams that are due by [`Self::poll_transmit`] and
/// asks for the next deadline.
pub trait Stack: Send {
    /// Opens the connection, at the end that does so.
    fn connect(&mut self, now: Time);
    /// Processes a datagram that arrived.
    fn handle(&mut self, now: Time, datagram: &[u8], ecn: Ecn);
    /// Appends the next datagram to `into`, which is empty; `None` if nothing is to be sent now.
    fn poll_transmit(&mut self, now: Time, into: &mut Vec<u8>) -> Option<Transmit>;
    /// Next deadline; `None` for none.
    fn poll_timeout(&mut self) -> Option<Time>;
    /// Processes the deadlines that are due.
    fn on_timeout(&mut self, now: Time);
    /// Accepts `bytes` of the application ([`fairlane_net::ENDLESS`] for an unlimited source); `fin`: no more data follows.
    fn write(&mut self, now: Time, bytes: u64, fin: bool);
    /// Discards unsent data, because the application stops.
    fn stop(&mut self, now: Time);
    /// Payload bytes handed to the application since the last call.
    fn delivered(&mut self) -> u64;
    /// Round-trip time measured since the last call, if any.
    fn rtt(&mut self) -> Option<Dur> {
        None
    }
    /// True once every byte of a closed flow is acknowledged.
    fn finished(&self) -> bool {
        false
    }
    /// Why the connection ended, if it ended by an error.
    fn failure(&self) -> Option<String> {
        None
    }
    /// Counters and state.
    fn state(&self) -> StackState;
}
