//! What a part notes for the others while a window runs. The loop is compiled once more for it, so that plain runs do not pay for it.

use crate::flow::Flow;
use crate::ids::FlowId;
use crate::observe::Observer;
use crate::stats::PortCounters;
use crate::stats::Summary;
use fairlane_engine::Slot;
use fairlane_units::{Dur, Time};
use std::sync::Arc;

/// A place in the order of all that happens: the event, and what came how late in it.
///
/// Times and numbers of events are the same in every part, and each source of events belongs to one part, so two parts never have the same place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment {
    time: Time,
    number: Slot,
    step: u32,
}

/// What an application has asked a flow to carry whose receiver lies in another part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wrote {
    pub(super) flow: FlowId,
    pub(super) when: Moment,
    pub(super) began: Time,
    pub(super) written: u64,
    pub(super) closed: bool,
}

/// A delivery that may have been the last of its flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivery {
    pub(super) flow: FlowId,
    pub(super) when: Moment,
    pub(super) delivered: u64,
}

/// A round-trip time that an end of a flow has measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    pub(super) flow: FlowId,
    pub(super) when: Moment,
    pub(super) rtt: Dur,
}

/// A TCP packet that a queue dropped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loss {
    pub(super) port: u32,
    pub(super) flow: FlowId,
    /// When it was dropped, and when that was carried out.
    pub(super) at: Time,
    pub(super) when: Moment,
}

/// What a part notes for the others.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct Ledger {
    /// The part that each endpoint is in.
    pub(super) homes: Arc<[u16]>,
    pub(super) own: u16,
    now: Moment,
    pub(super) wrote: Vec<Wrote>,
    pub(super) deliveries: Vec<Delivery>,
    pub(super) measured: Vec<Measured>,
    pub(super) losses: Vec<Loss>,
}

impl Ledger {
    pub(super) fn new(homes: Arc<[u16]>, own: u16) -> Self {
        let now = Moment { time: Time::ZERO, number: 0, step: 0 };
        Self { homes, own, now, wrote: Vec::new(), deliveries: Vec::new(), measured: Vec::new(), losses: Vec::new() }
    }

    /// An event begins.
    #[inline]
    pub(crate) fn begin(&mut self, time: Time, number: Slot) {
        self.now = Moment { time, number, step: self.now.step };
    }

    /// All events up to `time` are over.
    pub(super) fn end(&mut self, time: Time) {
        self.now = Moment { time, number: Slot::MAX, step: 0 };
    }

    #[inline]
    fn moment(&mut self) -> Moment {
        self.now.step += 1;
        self.now
    }

    /// Whether an endpoint lies in another part.
    #[inline]
    pub(crate) fn is_away(&self, ep: u32) -> bool {
        self.homes[ep as usize] != self.own
    }

    /// An end of a flow has measured a round-trip time.
    #[inline]
    pub(crate) fn measured(&mut self, flow: FlowId, rtt: Dur) {
        let when = self.moment();
        self.measured.push(Measured { flow, when, rtt });
    }

    /// The application of a flow with a receiver elsewhere began, wrote or stopped.
    #[cold]
    pub(crate) fn wrote(&mut self, id: FlowId, flow: &Flow) {
        let when = self.moment();
        self.wrote.push(Wrote { flow: id, when, began: flow.started, written: flow.written, closed: flow.closed });
    }

    /// A flow with a sender elsewhere delivered something. As long as more was written than that, it was not the last.
    #[inline]
    pub(crate) fn delivered(&mut self, id: FlowId, flow: &Flow) {
        if flow.delivered >= flow.written && flow.completed == Time::MAX {
            let when = self.moment();
            self.deliveries.push(Delivery { flow: id, when, delivered: flow.delivered });
        }
    }

    /// The queue of a port dropped data of a TCP flow.
    #[cold]
    fn lost(&mut self, port: u32, flow: FlowId, at: Time) {
        let when = self.moment();
        self.losses.push(Loss { port, flow, at, when });
    }
}

/// The queue of a port dropped data of a TCP flow that has measured these round-trip times: a part has to ask for them.
#[inline]
pub(crate) fn lost<O: Observer>(c: &mut PortCounters, rtt: &Summary, (port, flow): (u32, FlowId), at: Time, obs: &mut O) {
    if O::PART
        && let Some(ledger) = obs.ledger()
    {
        ledger.lost(port, flow, at);
    } else {
        c.together.lost(flow, at, if rtt.n == 0 { 0 } else { rtt.mean() as u64 });
    }
}

impl Moment {
    pub(super) fn time(self) -> Time {
        self.time
    }
}

impl Observer for Ledger {
    const ON: bool = false;
    const PART: bool = true;
    #[inline]
    fn ledger(&mut self) -> Option<&mut Ledger> {
        Some(self)
    }
}
