//! A flow, without its endpoints.

use crate::endpoint::{Endpoint, FlowView};
use crate::stats::{FlowCounters, Playback};
use fairlane_units::{Name, Time};

/// A flow: its counters and its progress.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Unique name.
    pub name: Name,
    /// Counters since the last reset.
    pub counters: FlowCounters,
    /// View of the sender at the last reset, to be subtracted from the present one.
    pub base: Option<Box<FlowView>>,
    /// Time when the application first wrote on the newest connection; `MAX` before.
    pub started: Time,
    /// Time when the last byte of the newest connection was delivered; `MAX` before.
    pub completed: Time,
    /// Payload bytes delivered, of all connections.
    pub delivered: u64,
    pub(crate) written: u64,
    /// Bytes after whose delivery the flow ends; 0: it ends after the last written byte.
    pub(crate) amount: u64,
    /// Its packets in the network, modulo 2^32; of a part of a network, those it has sent less those it has received or dropped.
    pub(crate) in_network: u32,
    pub(crate) closed: bool,
    pub(crate) app: u32,
    /// True if the application needs `on_delivered`.
    pub(crate) watched: bool,
    /// True if its application drives no other flow.
    pub(crate) alone: bool,
    /// Counters of earlier connections.
    pub(crate) past: Option<Box<Past>>,
}

/// Counters of the earlier connections of a flow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Past {
    /// Sum of the counters of their senders.
    pub(crate) view: FlowView,
    /// Bytes that arrived out of order and were never delivered.
    pub(crate) kept: u64,
    /// Bytes delivered.
    pub(crate) delivered: u64,
}

impl Default for Flow {
    /// A flow without a name that never begins.
    fn default() -> Self {
        Self::new(Name::default())
    }
}

impl Flow {
    /// Creates a flow without an application.
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
            in_network: 0,
            closed: false,
            app: u32::MAX,
            watched: false,
            alone: true,
            past: None,
        }
    }

    /// True if the flow has ever begun.
    pub fn has_begun(&self) -> bool {
        self.started != Time::MAX || self.past.is_some()
    }

    /// View of the newest `sender`, with the counters of all earlier ones.
    pub(crate) fn view<E: Endpoint>(&self, sender: &E) -> FlowView {
        let view = sender.view();
        self.past.as_ref().map_or(view, |p| view.after(&p.view))
    }

    /// Bytes that arrived out of order at the newest `receiver` and at all earlier ones.
    pub(crate) fn kept<E: Endpoint>(&self, receiver: &E) -> u64 {
        self.past.as_ref().map_or(0, |p| p.kept) + receiver.kept()
    }

    /// Counts that the player at the receiver plays, and has enough until `until`.
    pub(crate) fn plays(&mut self, now: Time, until: Time) {
        let asked = self.started.min(now);
        self.counters.playback.get_or_insert_with(|| Box::new(Playback::new(asked, now))).plays(now, until);
    }

    /// Counts that the player at the receiver stops, if there is one.
    pub(crate) fn play_ends(&mut self, now: Time) {
        if self.counters.playback.is_some()
            && let Some(p) = &mut self.counters.playback
        {
            p.end(now);
        }
    }

    /// Bytes written on the newest connection.
    pub(crate) fn own_written(&self) -> u64 {
        self.written - self.past.as_ref().map_or(0, |p| p.delivered)
    }
}
