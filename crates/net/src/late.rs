//! Packets that take longer over a link than the one behind them: because they were singled out, or because the propagation delay varies.
//!
//! The ring of a port stays in order: a packet leaves it at the earliest time it could arrive and is then kept here, in a heap with a source of events
//! of its own, until its time has come.
//!
//! Reordering is counted as in RFC 4737 section 3.3: a packet is reordered if one of the same flow and direction that entered the link later has
//! left it before.

use crate::packet::Packet;
use fairlane_engine::Slot;
use fairlane_units::Time;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

#[derive(Clone, Copy, Debug)]
struct Held {
    at: Time,
    number: u64,
    pkt: Packet,
}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Held {}
impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Held {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

/// The late packets of a link.
#[derive(Clone, Debug)]
pub(crate) struct Late {
    held: BinaryHeap<Reverse<Held>>,
    /// Time of the earliest event queued.
    armed: Time,
    /// The source of its events.
    pub(crate) slot: Slot,
    /// Packets so far.
    count: u64,
    /// By endpoint: the latest packet that has arrived.
    newest: Vec<u64>,
}

impl Default for Late {
    fn default() -> Self {
        Self { held: BinaryHeap::new(), armed: Time::MAX, slot: Slot::MAX, count: 0, newest: Vec::new() }
    }
}

impl Late {
    /// Where the network puts its events, and how many endpoints there are.
    pub(crate) fn place(&mut self, slot: Slot, endpoints: usize) {
        self.slot = slot;
        self.newest = vec![0; endpoints];
    }

    /// Packets held.
    pub(crate) fn len(&self) -> usize {
        self.held.len()
    }

    /// Numbers the next packet that enters the link.
    pub(crate) fn number(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    /// Keeps a packet until `at`. Returns whether an event is needed then.
    pub(crate) fn hold(&mut self, pkt: Packet, number: u64, at: Time) -> bool {
        self.held.push(Reverse(Held { at, number, pkt }));
        self.arm(at)
    }

    fn arm(&mut self, at: Time) -> bool {
        let sooner = at < self.armed;
        if sooner {
            self.armed = at;
        }
        sooner
    }

    /// An event queued for `now` is over.
    pub(crate) fn disarm(&mut self, now: Time) {
        if self.armed == now {
            self.armed = Time::MAX;
        }
    }

    /// The next packet whose time has come, with its number.
    pub(crate) fn due(&mut self, now: Time) -> Option<(Packet, u64)> {
        if self.held.peek()?.0.at > now {
            return None;
        }
        self.held.pop().map(|h| (h.0.pkt, h.0.number))
    }

    /// The next packet, its time come or not.
    pub(crate) fn take(&mut self) -> Option<Packet> {
        self.held.pop().map(|h| h.0.pkt)
    }

    /// When the next event is needed, if none is queued for that time.
    pub(crate) fn next(&mut self) -> Option<Time> {
        let at = self.held.peek()?.0.at;
        self.arm(at).then_some(at)
    }

    /// A packet has arrived; whether it is reordered (RFC 4737 section 3.3).
    pub(crate) fn arrived(&mut self, pkt: &Packet, number: u64) -> bool {
        let Some(newest) = self.newest.get_mut((pkt.flow.0 as usize) << 1 | usize::from(pkt.back)) else { return false };
        let late = number < *newest;
        *newest = number.max(*newest);
        late
    }
}
