//! Interface of a transport endpoint. Endpoints are sans-IO: time comes in as an argument, segments and deadlines go out through [`Cx`].

use crate::limit::Limit;
use crate::packet::{Class, Segment};
use fairlane_units::{Dur, Rate, Time};
use std::ops::Deref;

/// Timer of an endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum TimerId {
    /// Retransmission timeout (RFC 6298).
    Rto,
    /// Delayed acknowledgment (RFC 1122 section 4.2.3.2).
    DelAck,
    /// Pacing.
    Pace,
    /// Loss probe or reordering window (RFC 8985).
    Probe,
}

/// Number of timers of an endpoint.
pub const TIMERS: usize = 4;

impl TimerId {
    /// All timers.
    pub const ALL: [Self; TIMERS] = [Self::Rto, Self::DelAck, Self::Pace, Self::Probe];
}

/// Deadlines of an endpoint. Setting one is a store; the world keeps at most one event for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timers {
    deadline: [Time; TIMERS],
}

impl Default for Timers {
    fn default() -> Self {
        Self { deadline: [Time::MAX; TIMERS] }
    }
}

impl Timers {
    /// Sets or moves a deadline.
    #[inline]
    pub fn set(&mut self, id: TimerId, at: Time) {
        self.deadline[id as usize] = at;
    }
    /// Cancels a deadline.
    #[inline]
    pub fn cancel(&mut self, id: TimerId) {
        self.deadline[id as usize] = Time::MAX;
    }
    /// Returns the deadline, if set.
    #[inline]
    pub fn get(&self, id: TimerId) -> Option<Time> {
        let t = self.deadline[id as usize];
        (t != Time::MAX).then_some(t)
    }
    /// Returns the earliest deadline; [`Time::MAX`] if none is set.
    #[inline]
    pub fn next(&self) -> Time {
        let d = &self.deadline;
        d[0].min(d[1]).min(d[2].min(d[3]))
    }
    /// Clears and returns a timer that is due.
    #[inline]
    pub fn take_due(&mut self, now: Time) -> Option<TimerId> {
        let id = TimerId::ALL.into_iter().find(|&id| self.deadline[id as usize] <= now)?;
        self.cancel(id);
        Some(id)
    }
}

/// Deadlines of an endpoint during one call.
#[derive(Debug)]
pub struct Deadlines<'a> {
    all: &'a mut Timers,
    /// Earliest deadline that was set during the call.
    pub(crate) soonest: Time,
}

impl Deadlines<'_> {
    /// Sets or moves a deadline.
    #[inline]
    pub fn set(&mut self, id: TimerId, at: Time) {
        self.all.set(id, at);
        if at < self.soonest {
            self.soonest = at;
        }
    }
    /// Cancels a deadline.
    #[inline]
    pub fn cancel(&mut self, id: TimerId) {
        self.all.cancel(id);
    }
    /// Clears and returns a timer that is due.
    #[inline]
    pub fn take_due(&mut self, now: Time) -> Option<TimerId> {
        self.all.take_due(now)
    }
}

impl Deref for Deadlines<'_> {
    type Target = Timers;
    #[inline]
    fn deref(&self) -> &Timers {
        self.all
    }
}

/// A segment to be sent, with its IP parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Out {
    /// The segment.
    pub seg: Segment,
    /// Length on the wire, all headers included.
    pub len: u32,
    /// Traffic class.
    pub class: Class,
}

/// Context of an endpoint during one call.
pub struct Cx<'a> {
    /// Time of the call.
    pub now: Time,
    /// Segments to send, in order.
    pub out: &'a mut Vec<Out>,
    /// Deadlines of the endpoint.
    pub timers: Deadlines<'a>,
    /// Payload bytes handed to the application, in order and for the first time, during this call.
    pub delivered: u64,
    /// Round-trip time measured during this call.
    pub rtt: Option<Dur>,
    /// True once every byte of a closed flow is acknowledged.
    pub finished: bool,
}

impl<'a> Cx<'a> {
    /// Creates a context with nothing reported.
    #[inline]
    pub fn new(now: Time, out: &'a mut Vec<Out>, timers: &'a mut Timers) -> Self {
        Self { now, out, timers: Deadlines { all: timers, soonest: Time::MAX }, delivered: 0, rtt: None, finished: false }
    }
    /// Sends a segment of `len` bytes on the wire.
    #[inline]
    pub fn send(&mut self, seg: Segment, len: u32, class: Class) {
        self.out.push(Out { seg, len, class });
    }
}

/// Counters and state of an endpoint, read by samplers and at the end of a run. Bytes unless said otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowView {
    /// Segments sent with data, retransmissions included (UDP: datagrams).
    pub data_segments: u64,
    /// Segments retransmitted.
    pub retransmits: u64,
    /// Payload bytes sent, retransmissions included.
    pub data_bytes: u64,
    /// Payload bytes retransmitted.
    pub retransmit_bytes: u64,
    /// Retransmission timeouts with data or a FIN outstanding.
    pub timeouts: u64,
    /// Fast retransmits: entries into loss recovery without a timeout.
    pub fast_recoveries: u64,
    /// Window reductions of all kinds.
    pub cwnd_cuts: u64,
    /// Duplicate arrivals a receiver reported with D-SACK (RFC 2883).
    pub dsacks: u64,
    /// Window reductions in answer to ECN marks (RFC 3168 section 6.1.2), part of `cwnd_cuts`.
    pub ecn_cuts: u64,
    /// Bytes that the receiver reported as marked; 0 with the feedback of RFC 3168, which has no amounts.
    pub ce_delivered: u64,
    /// Data packets that arrived marked with congestion experienced (RFC 3168 section 5).
    pub ce_received: u64,
    /// Pure acknowledgments sent.
    pub acks: u64,
    /// Highest cumulative acknowledgment received, as payload bytes.
    pub acked: u64,
    /// Congestion window.
    pub cwnd: u64,
    /// Slow-start threshold; `u64::MAX` while infinite.
    pub ssthresh: u64,
    /// Bytes in flight (pipe of RFC 6675 or flight size).
    pub in_flight: u64,
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Dur,
    /// Round-trip time variation.
    pub rttvar: Dur,
    /// Retransmission timeout in force.
    pub rto: Dur,
    /// Maximum segment size: converts windows to segments.
    pub mss: u32,
}

impl FlowView {
    /// Adds the counters of an earlier connection; the state stays that of this one.
    #[must_use]
    pub fn after(self, past: &Self) -> Self {
        Self {
            data_segments: self.data_segments + past.data_segments,
            retransmits: self.retransmits + past.retransmits,
            data_bytes: self.data_bytes + past.data_bytes,
            retransmit_bytes: self.retransmit_bytes + past.retransmit_bytes,
            timeouts: self.timeouts + past.timeouts,
            fast_recoveries: self.fast_recoveries + past.fast_recoveries,
            cwnd_cuts: self.cwnd_cuts + past.cwnd_cuts,
            dsacks: self.dsacks + past.dsacks,
            ecn_cuts: self.ecn_cuts + past.ecn_cuts,
            ce_delivered: self.ce_delivered + past.ce_delivered,
            ce_received: self.ce_received + past.ce_received,
            acks: self.acks + past.acks,
            acked: self.acked + past.acked,
            ..self
        }
    }
}

/// State of a sender for observers, cheap to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderState {
    /// Congestion window in bytes.
    pub cwnd: u64,
    /// Slow-start threshold in bytes; `u64::MAX` while infinite.
    pub ssthresh: u64,
    /// Retransmission timeouts so far.
    pub timeouts: u64,
    /// State of the connection (RFC 9293 section 3.3.2).
    pub connection: &'static str,
    /// State of the sending half, in the words of Linux.
    pub sending: &'static str,
}

/// Sample of a sender for time series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderSample {
    /// Congestion window in bytes; 0 for a transport without one.
    pub cwnd: u64,
    /// Slow-start threshold in bytes; `u64::MAX` while there is none.
    pub ssthresh: u64,
    /// Bytes in flight.
    pub in_flight: u64,
    /// Smoothed round-trip time; zero before the first measurement.
    pub srtt: Dur,
}

impl From<FlowView> for SenderSample {
    fn from(v: FlowView) -> Self {
        Self { cwnd: v.cwnd, ssthresh: v.ssthresh, in_flight: v.in_flight, srtt: v.srtt }
    }
}

/// A transport endpoint: one end of a flow.
pub trait Endpoint: Send {
    /// Called once before the run, with the rate of the first link of the route.
    fn attach(&mut self, first_link: Rate) {
        let _ = first_link;
    }
    /// Starts the endpoint: an active opener connects, a passive one waits.
    fn start(&mut self, cx: &mut Cx<'_>);
    /// Processes a segment that arrived.
    fn on_packet(&mut self, seg: &Segment, cx: &mut Cx<'_>);
    /// Processes a timer that expired.
    fn on_timer(&mut self, id: TimerId, cx: &mut Cx<'_>);
    /// Accepts `bytes` from the application ([`ENDLESS`] for an unlimited source); `fin`: no more data follows.
    fn on_write(&mut self, bytes: u64, fin: bool, cx: &mut Cx<'_>);
    /// Discards unsent data, because the application stops; sent data is still recovered.
    fn on_stop(&mut self, cx: &mut Cx<'_>);
    /// Holds or releases the endpoint, because a flow controller closes or opens its flow ([`crate::Control`]). Returns true if a held endpoint accepts
    /// data, sends nothing, and resumes when released; otherwise the clock of the application is stopped.
    fn hold(&mut self, held: bool, cx: &mut Cx<'_>) -> bool {
        let _ = (held, cx);
        false
    }
    /// Sets window (bytes) and pacing rate (zero: none) of a sender that gets them from outside, and sends what they allow.
    fn set_window(&mut self, window: u64, rate: Rate, cx: &mut Cx<'_>) {
        let _ = (window, rate, cx);
    }
    /// Seeds its random choices, if there are any.
    fn reseed(&mut self, seed: u64) {
        let _ = seed;
    }
    /// Returns counters and state.
    fn view(&self) -> FlowView;
    /// Returns its sample for time series, cheaper than [`Self::view`].
    fn sample(&self) -> SenderSample {
        self.view().into()
    }
    /// Returns the state of a sender with a congestion window.
    fn moment(&self) -> Option<SenderState> {
        None
    }
    /// Returns what limits the sender after this call.
    fn limit(&self, timers: &Timers) -> Limit {
        if timers.get(TimerId::Pace).is_some() { Limit::Pacing } else { Limit::Application }
    }
    /// Payload bytes that arrived out of order and are not delivered yet.
    fn kept(&self) -> u64 {
        0
    }
    /// Passes gauges for time series to `out`, by name: variables that are not in the view.
    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        let _ = out;
    }
}

/// Size of a write that never ends.
pub const ENDLESS: u64 = 1 << 62;
