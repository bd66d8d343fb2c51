//! Reorder buffer of a link: packets that arrive after those behind them, because they were selected or because the propagation delay varies.
//!
//! The ring of a port stays in order: a packet leaves it at its earliest possible arrival, and waits here until it arrives. The buffer is a heap with
//! events of its own.
//!
//! Reordering is counted as in RFC 4737 section 3.3: a packet is reordered if one of the same flow and direction that entered the link later has
//! left it before.

use crate::packet::Packet;
use fairlane_engine::Slot;
use fairlane_engine::steps::log_step;
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

/// Late packets of a link.
#[derive(Clone, Debug)]
pub(crate) struct ReorderBuffer {
    held: BinaryHeap<Reverse<Held>>,
    /// Time of the earliest event queued.
    armed: Time,
    /// Event slot.
    pub(crate) slot: Slot,
    /// Packets so far.
    count: u64,
    /// By endpoint, number of the latest packet that has arrived.
    newest: Vec<u64>,
}

impl Default for ReorderBuffer {
    fn default() -> Self {
        Self { held: BinaryHeap::new(), armed: Time::MAX, slot: Slot::MAX, count: 0, newest: Vec::new() }
    }
}

impl ReorderBuffer {
    /// Sets the event slot and the number of endpoints.
    pub(crate) fn place(&mut self, slot: Slot, endpoints: usize) {
        self.slot = slot;
        self.newest = vec![0; endpoints];
    }

    /// Packets in the buffer.
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
        log_step(self.held.len());
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

    /// Notes that an event at `now` is over.
    pub(crate) fn disarm(&mut self, now: Time) {
        if self.armed == now {
            self.armed = Time::MAX;
        }
    }

    /// Returns true if a packet is due.
    pub(crate) fn is_due(&self, now: Time) -> bool {
        self.held.peek().is_some_and(|h| h.0.at <= now)
    }

    /// Takes the next packet that is due, with its number.
    pub(crate) fn due(&mut self, now: Time) -> Option<(Packet, u64)> {
        if !self.is_due(now) {
            return None;
        }
        log_step(self.held.len());
        self.held.pop().map(|h| (h.0.pkt, h.0.number))
    }

    /// Takes the next packet, due or not.
    pub(crate) fn take(&mut self) -> Option<Packet> {
        self.held.pop().map(|h| h.0.pkt)
    }

    /// Time of the next event, if it has to be queued.
    pub(crate) fn next(&mut self) -> Option<Time> {
        let at = self.held.peek()?.0.at;
        self.arm(at).then_some(at)
    }

    /// Notes an arrival. Returns true if the packet is reordered (RFC 4737 section 3.3).
    pub(crate) fn arrived(&mut self, pkt: &Packet, number: u64) -> bool {
        let Some(newest) = self.newest.get_mut((pkt.flow.0 as usize) << 1 | usize::from(pkt.back)) else { return false };
        let reordered = number < *newest;
        *newest = number.max(*newest);
        reordered
    }
}
