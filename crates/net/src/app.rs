//! Interface of an application, the source of traffic.

use crate::ids::{EpId, FlowId};
use fairlane_engine::Stream;
use fairlane_units::{Dur, Time};

/// Action of an application at one end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Writes bytes; `fin`: nothing follows.
    Write {
        /// Bytes ([`crate::ENDLESS`]: unlimited).
        bytes: u64,
        /// True if this closes the flow.
        fin: bool,
    },
    /// Stops: unsent data is discarded.
    Stop,
    /// A transaction is complete (a page has loaded, an answer has arrived): counts its duration.
    Done {
        /// Start of the transaction.
        since: Time,
    },
    /// A player at the receiver plays: counts its stalls.
    Plays {
        /// Time for which its buffer lasts from now on, without more data.
        lasts: Dur,
    },
    /// The player stops.
    PlayEnds,
}

/// Context of an application during one call.
pub struct AppCx<'a> {
    /// Time of the call.
    pub now: Time,
    /// Random stream of the application.
    pub rng: &'a mut Stream,
    /// Requested actions, in order.
    pub actions: &'a mut Vec<(EpId, Action)>,
    /// Time of the next wake-up; [`Time::MAX`] for none.
    pub wake: &'a mut Time,
    /// Number of the newest datagram that has arrived, counted from 0, in [`App::on_delivered`] over a datagram transport.
    pub newest: Option<u64>,
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
    /// Stops the receiving end of a flow.
    pub fn stop_reply(&mut self, flow: FlowId) {
        self.actions.push((EpId::receiver(flow), Action::Stop));
    }
    /// Reports that a transaction of a flow, begun at `since`, is complete.
    pub fn done(&mut self, flow: FlowId, since: Time) {
        self.actions.push((EpId::sender(flow), Action::Done { since }));
    }
    /// Reports that the player of a flow plays and its buffer lasts for `lasts` from now on.
    pub fn plays(&mut self, flow: FlowId, lasts: Dur) {
        self.actions.push((EpId::sender(flow), Action::Plays { lasts }));
    }
    /// Reports that the player of a flow stops.
    pub fn play_ends(&mut self, flow: FlowId) {
        self.actions.push((EpId::sender(flow), Action::PlayEnds));
    }
    /// Requests a wake-up at `at`, which replaces any earlier request.
    pub fn wake_at(&mut self, at: Time) {
        *self.wake = at;
    }
}

/// Use of a flow by an application; read once, before the transport is built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// True if the receiving end sends requests and the sending end answers. Then the receiving end opens the connection, and each end closes by itself.
    pub dialogue: bool,
    /// True if writes are amounts of data, not packets: a datagram transport chooses the length of its packets.
    pub amounts: bool,
}

/// An application, the source of traffic of one or more flows.
pub trait App: Send {
    /// Time of the first wake-up, the start of the first flow.
    fn starts_at(&self) -> Time;
    /// Called at the requested time.
    fn on_wake(&mut self, cx: &mut AppCx<'_>);
    /// Called if [`Self::listens`] when bytes were delivered in order at one end of a flow.
    fn on_delivered(&mut self, at: EpId, bytes: u64, cx: &mut AppCx<'_>) {
        let _ = (at, bytes, cx);
    }
    /// True if the application needs `on_delivered`.
    fn listens(&self) -> bool {
        false
    }
    /// Returns the use of its flow.
    fn usage(&self) -> Usage {
        Usage::default()
    }
}
