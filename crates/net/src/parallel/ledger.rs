//! Notes that a part takes for the others during a window. The loop is compiled a second time with them, so that plain runs pay nothing.

use crate::flow::Flow;
use crate::ids::FlowId;
use crate::observe::{Observer, PartLedger};
use fairlane_engine::Slot;
use fairlane_units::{Dur, Time};
use std::sync::Arc;

/// Position in the order of all notes: the event, and the number of the note within it.
///
/// Times and numbers of events are the same in every part, and each source of events belongs to one part, so two parts never have equal stamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EventStamp {
    time: Time,
    number: Slot,
    step: u32,
}

/// Bytes that an application wrote to a flow whose receiver is in another part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wrote {
    pub(super) flow: FlowId,
    pub(super) when: EventStamp,
    pub(super) began: Time,
    pub(super) written: u64,
    pub(super) closed: bool,
}

/// A delivery that may have been the last of its flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivery {
    pub(super) flow: FlowId,
    pub(super) when: EventStamp,
    pub(super) delivered: u64,
}

/// A round-trip time that an endpoint measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    pub(super) flow: FlowId,
    pub(super) when: EventStamp,
    pub(super) rtt: Dur,
}

/// A TCP packet that a queue dropped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loss {
    pub(super) port: u32,
    pub(super) flow: FlowId,
    /// Time of the drop. `when` is the event that carried it out.
    pub(super) at: Time,
    pub(super) when: EventStamp,
}

/// Notes of one part for the others.
#[derive(Clone, Debug)]
pub(super) struct Ledger {
    /// Part of each endpoint.
    pub(super) homes: Arc<[u16]>,
    pub(super) own: u16,
    now: EventStamp,
    pub(super) wrote: Vec<Wrote>,
    pub(super) deliveries: Vec<Delivery>,
    pub(super) measured: Vec<Measured>,
    pub(super) losses: Vec<Loss>,
}

impl Ledger {
    pub(super) fn new(homes: Arc<[u16]>, own: u16) -> Self {
        let now = EventStamp { time: Time::ZERO, number: 0, step: 0 };
        Self { homes, own, now, wrote: Vec::new(), deliveries: Vec::new(), measured: Vec::new(), losses: Vec::new() }
    }

    /// Ends all events up to `time`.
    pub(super) fn end(&mut self, time: Time) {
        self.now = EventStamp { time, number: Slot::MAX, step: 0 };
    }

    #[inline]
    fn stamp(&mut self) -> EventStamp {
        self.now.step += 1;
        self.now
    }
}

impl PartLedger for Ledger {
    #[inline]
    fn begin(&mut self, time: Time, number: Slot) {
        self.now = EventStamp { time, number, step: self.now.step };
    }
    #[inline]
    fn is_away(&self, ep: u32) -> bool {
        self.homes[ep as usize] != self.own
    }
    #[inline]
    fn measured(&mut self, flow: FlowId, rtt: Dur) {
        let when = self.stamp();
        self.measured.push(Measured { flow, when, rtt });
    }
    #[cold]
    fn wrote(&mut self, id: FlowId, flow: &Flow) {
        let when = self.stamp();
        self.wrote.push(Wrote { flow: id, when, began: flow.started, written: flow.written, closed: flow.closed });
    }
    /// A delivery is not the last one while more was written than delivered.
    #[inline]
    fn delivered(&mut self, id: FlowId, flow: &Flow) {
        if flow.delivered >= flow.written && flow.completed == Time::MAX {
            let when = self.stamp();
            self.deliveries.push(Delivery { flow: id, when, delivered: flow.delivered });
        }
    }
    #[cold]
    fn lost(&mut self, port: u32, flow: FlowId, at: Time) {
        let when = self.stamp();
        self.losses.push(Loss { port, flow, at, when });
    }
}

impl EventStamp {
    pub(super) fn time(self) -> Time {
        self.time
    }
}

impl Observer for Ledger {
    const ON: bool = false;
    const PART: bool = true;
    #[inline]
    fn ledger(&mut self) -> Option<&mut dyn PartLedger> {
        Some(self)
    }
}
