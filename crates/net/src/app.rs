//! What the network asks of an application: when to write how much.

use crate::ids::{EpId, FlowId};
use fairlane_engine::Stream;
use fairlane_units::Time;

/// What an application does at one end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Writes bytes; `fin`: nothing follows.
    Write {
        /// Bytes ([`crate::ENDLESS`]: unlimited).
        bytes: u64,
        /// Whether this closes the flow.
        fin: bool,
    },
    /// Stops: unsent data is discarded.
    Stop,
    /// A transaction is complete: a page is there, an answer has come. Counted with its duration.
    Done {
        /// When it began.
        since: Time,
    },
}

/// The surroundings of an application during one call.
pub struct AppCx<'a> {
    /// The time of the call.
    pub now: Time,
    /// The application's random stream.
    pub rng: &'a mut Stream,
    /// What it wants done, in order.
    pub actions: &'a mut Vec<(EpId, Action)>,
    /// When it wants to be woken next; [`Time::MAX`] for never.
    pub wake: &'a mut Time,
}

impl AppCx<'_> {
    /// Writes to a flow.
    pub fn write(&mut self, flow: FlowId, bytes: u64, fin: bool) {
        self.actions.push((EpId::sender(flow), Action::Write { bytes, fin }));
    }
    /// Writes at the receiving end of a flow, towards its sender: a request, an answer.
    pub fn reply(&mut self, flow: FlowId, bytes: u64, fin: bool) {
        self.actions.push((EpId::receiver(flow), Action::Write { bytes, fin }));
    }
    /// Stops a flow.
    pub fn stop(&mut self, flow: FlowId) {
        self.actions.push((EpId::sender(flow), Action::Stop));
    }
    /// Stops what the receiving end of a flow writes.
    pub fn stop_reply(&mut self, flow: FlowId) {
        self.actions.push((EpId::receiver(flow), Action::Stop));
    }
    /// Reports that a transaction of a flow, begun at `since`, is complete.
    pub fn done(&mut self, flow: FlowId, since: Time) {
        self.actions.push((EpId::sender(flow), Action::Done { since }));
    }
    /// Asks to be woken at `at`, in place of any earlier request.
    pub fn wake_at(&mut self, at: Time) {
        *self.wake = at;
    }
}

/// How an application uses its flow; asked once, before the transport is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The receiving end asks and the sending end answers. The receiving end opens the connection then, and no end closes only because the other did.
    pub dialogue: bool,
    /// What it writes are amounts of data, not packets: a transport that sends datagrams chooses their length.
    pub amounts: bool,
}

/// An application: the source of traffic on one or more flows.
pub trait App: Send {
    /// When it first wants to be woken: the start time of its first flow.
    fn starts_at(&self) -> Time;
    /// The time it asked for has come.
    fn on_wake(&mut self, cx: &mut AppCx<'_>);
    /// Bytes arrived, in order, at this end of a flow it drives. Called only if `listens`.
    fn on_delivered(&mut self, at: EpId, bytes: u64, cx: &mut AppCx<'_>) {
        let _ = (at, bytes, cx);
    }
    /// Whether it wants `on_delivered`.
    fn listens(&self) -> bool {
        false
    }
    /// How it uses its flow.
    fn usage(&self) -> Usage {
        Usage::default()
    }
}
