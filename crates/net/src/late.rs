//! Packets that take longer over a link than the one behind them.
//!
//! Two reasons, as in netem (tc-netem(8)): a share of the packets is singled out and comes a fixed time later, and the propagation delay
//! varies from packet to packet. Jitter may keep the order of the packets (a packet then waits for the one before it) or not; packets that
//! are singled out never hold up others. netem's `reorder` is the other way round: all packets are delayed but the share named, which
//! overtakes them; who asks for a share of 1 - x with all of the delay has that.
//!
//! The ring of a port stays in order: a packet leaves it at the earliest time it could arrive and is then kept here, in a heap with a source of events
//! of its own, until its time has come.
//!
//! Reordering is counted as in RFC 4737 section 3.3: a packet is reordered if one of the same flow and direction that entered the link later has
//! left it before.

use crate::packet::QPkt;
use fairlane_engine::{Slot, Stream};
use fairlane_units::{Dur, Time};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Packets that are singled out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reorder {
    /// Probability that a packet is.
    pub share: f64,
    /// How much later it comes.
    pub delay: Dur,
}

/// How the propagation delay of a link varies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jitter {
    /// Half the width of the uniform distribution, or the standard deviation of the normal one.
    pub width: Dur,
    /// Whether it is the normal distribution.
    pub normal: bool,
    /// Whether packets wait for those before them.
    pub keep_order: bool,
}

/// The normal distribution is cut this many deviations from its mean; beyond is one draw in 16,000. netem's table ends there, too.
const CUT: u64 = 4;

#[derive(Clone, Copy, Debug)]
struct Held {
    at: Time,
    number: u64,
    pkt: QPkt,
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
    reorder: Option<Reorder>,
    jitter: Option<Jitter>,
    /// Part of the propagation delay that is added here: what the shortest draw takes away.
    early: Dur,
    swaps: Stream,
    draws: Stream,
    /// Arrival of the last packet that keeps its place.
    last: Time,
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

impl Late {
    pub(crate) fn new(reorder: Option<Reorder>, jitter: Option<Jitter>, delay: Dur, stream: impl Fn(&'static str) -> Stream) -> Self {
        let early = jitter.map_or(Dur::ZERO, |j| if j.normal { j.width * CUT } else { j.width }.min(delay));
        Self {
            reorder,
            jitter,
            early,
            swaps: stream("reorder"),
            draws: stream("jitter"),
            last: Time::ZERO,
            held: BinaryHeap::new(),
            armed: Time::MAX,
            slot: Slot::MAX,
            count: 0,
            newest: Vec::new(),
        }
    }

    /// Where the network puts its events, and how many endpoints there are.
    pub(crate) fn place(&mut self, slot: Slot, endpoints: usize) {
        self.slot = slot;
        self.newest = vec![0; endpoints];
    }

    pub(crate) fn early(&self) -> Dur {
        self.early
    }

    /// Packets held.
    pub(crate) fn len(&self) -> usize {
        self.held.len()
    }

    /// When a packet arrives that may arrive from `now` on.
    pub(crate) fn arrival(&mut self, now: Time) -> Time {
        let mut at = now + self.draw();
        if self.jitter.is_some_and(|j| j.keep_order) {
            at = at.max(self.last);
            self.last = at;
        }
        if let Some(r) = self.reorder
            && self.swaps.uniform() < r.share
        {
            at += r.delay;
        }
        at
    }

    fn draw(&mut self) -> Dur {
        let Some(j) = self.jitter else { return Dur::ZERO };
        let width = j.width.as_ps();
        if !j.normal {
            return Dur::from_ps(self.draws.below(2 * self.early.as_ps() + 1));
        }
        let most = self.early + j.width * CUT;
        let x = self.early.as_ps() as f64 + width as f64 * self.draws.normal() + 0.5;
        // A draw below zero becomes zero.
        Dur::from_ps(x as u64).min(most)
    }

    /// Numbers the next packet that enters the link.
    pub(crate) fn number(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    /// Keeps a packet until `at`. Returns whether an event is needed then.
    pub(crate) fn hold(&mut self, pkt: QPkt, number: u64, at: Time) -> bool {
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
    pub(crate) fn due(&mut self, now: Time) -> Option<(QPkt, u64)> {
        if self.held.peek()?.0.at > now {
            return None;
        }
        self.held.pop().map(|h| (h.0.pkt, h.0.number))
    }

    /// When the next event is needed, if none is queued for that time.
    pub(crate) fn next(&mut self) -> Option<Time> {
        let at = self.held.peek()?.0.at;
        self.arm(at).then_some(at)
    }

    /// A packet has arrived; whether it is reordered (RFC 4737 section 3.3).
    pub(crate) fn arrived(&mut self, pkt: &QPkt, number: u64) -> bool {
        let Some(newest) = self.newest.get_mut((pkt.flow.0 as usize) << 1 | usize::from(pkt.back)) else { return false };
        let late = number < *newest;
        *newest = number.max(*newest);
        late
    }
}
