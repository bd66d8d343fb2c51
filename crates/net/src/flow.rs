//! A flow, without its endpoints.

use crate::endpoint::{Endpoint, FlowView};
use crate::stats::FlowCounters;
use fairlane_units::{Name, Time};

/// A flow: its counters and its progress.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Unique name.
    pub name: Name,
    /// Counters since the last reset.
    pub counters: FlowCounters,
    /// The sender's view at the last reset: subtract it from the present one.
    pub base: Option<Box<FlowView>>,
    /// When the application first wrote; `MAX` before. Of a flow that began again: for its newest connection.
    pub started: Time,
    /// When the last byte written reached the receiving application; `MAX` before. Of a flow that began again: for its newest connection.
    pub completed: Time,
    /// Payload bytes delivered since the flow began.
    pub delivered: u64,
    pub(crate) written: u64,
    /// The flow is over once the receiver has this much; 0: once it has all that was written.
    pub(crate) amount: u64,
    pub(crate) closed: bool,
    pub(crate) app: u32,
    pub(crate) watched: bool,
    /// Its application drives no other.
    pub(crate) alone: bool,
    /// What its connections before the newest one came to.
    pub(crate) past: Option<Box<Past>>,
}

/// Connections of a flow that are over.
#[derive(Clone, Debug, Default)]
pub(crate) struct Past {
    /// Counters of their senders.
    pub(crate) view: FlowView,
    /// Bytes that had arrived and were not delivered, because something before them was missing.
    pub(crate) kept: u64,
    /// Bytes that were delivered.
    pub(crate) delivered: u64,
}

impl Flow {
    /// One that no application drives yet.
    pub(crate) fn new(name: Name) -> Self {
        Self {
            name,
            counters: FlowCounters::default(),
            base: None,
            started: Time::MAX,
            completed: Time::MAX,
            delivered: 0,
            written: 0,
            amount: 0,
            closed: false,
            app: u32::MAX,
            watched: false,
            alone: true,
            past: None,
        }
    }

    /// Whether it has ever begun.
    pub fn has_begun(&self) -> bool {
        self.started != Time::MAX || self.past.is_some()
    }

    /// What all senders that it had came to, the newest of which this is.
    pub(crate) fn view<E: Endpoint>(&self, sender: &E) -> FlowView {
        let view = sender.view();
        self.past.as_ref().map_or(view, |p| view.after(&p.view))
    }

    /// Bytes that all receivers that it had, the newest of which this is, have kept and not delivered.
    pub(crate) fn kept<E: Endpoint>(&self, receiver: &E) -> u64 {
        self.past.as_ref().map_or(0, |p| p.kept) + receiver.kept()
    }

    /// Bytes that the newest connection is to carry.
    pub(crate) fn own_written(&self) -> u64 {
        self.written - self.past.as_ref().map_or(0, |p| p.delivered)
    }
}
