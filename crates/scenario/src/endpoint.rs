//! The endpoints of a simulation.

use crate::dynamic::DynEndpoint;
use fairlane_net::{Cx, Endpoint, FlowView, Limit, Segment, SenderSample, SenderState, TimerId, Timers};
use fairlane_stacks::StackEndpoint;
use fairlane_tcp::{AnyCc, Tcp};
use fairlane_traffic::{RapReceiver, RapSender, TfrcReceiver, TfrcSender, Udp};
use fairlane_units::Rate;

/// One end of a flow.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "nearly all are TCP, and a box would cost a miss each packet")]
pub enum AnyEndpoint {
    /// Either end of a TCP connection.
    Tcp(Tcp<AnyCc>),
    /// Either end of a flow of datagrams.
    Udp(Udp),
    /// TFRC sender.
    TfrcSender(Box<TfrcSender>),
    /// TFRC receiver, which measures and reports.
    TfrcReceiver(Box<TfrcReceiver>),
    /// RAP sender.
    RapSender(Box<RapSender>),
    /// RAP receiver, which acknowledges.
    RapReceiver(Box<RapReceiver>),
    /// Either end of a connection of a real transport stack.
    Stack(Box<StackEndpoint>),
    /// An endpoint that is not built in.
    Dyn(Box<dyn DynEndpoint>),
}

macro_rules! from_boxed {
    ($($variant:ident),*) => {
        $(impl From<$variant> for AnyEndpoint {
            fn from(e: $variant) -> Self {
                Self::$variant(Box::new(e))
            }
        })*
    };
}

from_boxed!(TfrcSender, TfrcReceiver, RapSender, RapReceiver);

impl From<StackEndpoint> for AnyEndpoint {
    fn from(e: StackEndpoint) -> Self {
        Self::Stack(Box::new(e))
    }
}

macro_rules! each {
    ($me:expr, $e:ident => $call:expr) => {
        match $me {
            AnyEndpoint::Tcp($e) => $call,
            AnyEndpoint::Udp($e) => $call,
            AnyEndpoint::TfrcSender($e) => $call,
            AnyEndpoint::TfrcReceiver($e) => $call,
            AnyEndpoint::RapSender($e) => $call,
            AnyEndpoint::RapReceiver($e) => $call,
            AnyEndpoint::Stack($e) => $call,
            AnyEndpoint::Dyn($e) => $call,
        }
    };
}

impl AnyEndpoint {
    #[inline(never)]
    fn on_packet_other(&mut self, seg: &Segment, cx: &mut Cx<'_>) {
        each!(self, e => e.on_packet(seg, cx));
    }
    #[inline(never)]
    fn on_timer_other(&mut self, id: TimerId, cx: &mut Cx<'_>) {
        each!(self, e => e.on_timer(id, cx));
    }
}

impl Endpoint for AnyEndpoint {
    fn attach(&mut self, first_link: Rate) {
        each!(self, e => e.attach(first_link));
    }
    fn start(&mut self, cx: &mut Cx<'_>) {
        each!(self, e => e.start(cx));
    }
    #[inline]
    fn on_packet(&mut self, seg: &Segment, cx: &mut Cx<'_>) {
        if let Self::Tcp(e) = self {
            return e.on_packet(seg, cx);
        }
        self.on_packet_other(seg, cx);
    }
    #[inline]
    fn on_timer(&mut self, id: TimerId, cx: &mut Cx<'_>) {
        if let Self::Tcp(e) = self {
            return e.on_timer(id, cx);
        }
        self.on_timer_other(id, cx);
    }
    #[inline]
    fn on_write(&mut self, bytes: u64, fin: bool, cx: &mut Cx<'_>) {
        each!(self, e => e.on_write(bytes, fin, cx));
    }
    fn on_stop(&mut self, cx: &mut Cx<'_>) {
        each!(self, e => e.on_stop(cx));
    }
    fn hold(&mut self, held: bool, cx: &mut Cx<'_>) -> bool {
        each!(self, e => e.hold(held, cx))
    }
    fn set_window(&mut self, window: u64, rate: Rate, cx: &mut Cx<'_>) {
        each!(self, e => e.set_window(window, rate, cx));
    }
    fn reseed(&mut self, seed: u64) {
        each!(self, e => e.reseed(seed));
    }
    fn view(&self) -> FlowView {
        each!(self, e => e.view())
    }
    fn sample(&self) -> SenderSample {
        each!(self, e => e.sample())
    }
    fn moment(&self) -> Option<SenderState> {
        each!(self, e => e.moment())
    }
    fn limit(&self, timers: &Timers) -> Limit {
        each!(self, e => e.limit(timers))
    }
    fn kept(&self) -> u64 {
        each!(self, e => e.kept())
    }
    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        each!(self, e => e.gauges(out));
    }
}
