//! Event tables: what happened to each packet at each queue and endpoint, and to windows and states, as rows in the order of time.
//!
//! Rows are collected in batches of equal size and handed on; so memory is flat however long the run, and whoever takes them may write
//! them on another thread.

mod columns;
mod ns2;

pub use columns::{Cells, Column};
pub use ns2::Ends;

use fairlane_net::{
    Backlog, DequeueEvent, DropEvent, Ecn, EnqueueEvent, EpId, HopEvent, Moment, MomentEvent, Observer, PktRef, PortId, QPkt, ReceiveEvent,
    Segment, SendEvent,
};
use fairlane_units::Time;
use std::sync::Arc;

/// Rows of a batch.
const ROWS: usize = 1 << 18;
/// No link, or none known.
const NONE: u32 = u32::MAX;

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $name:literal,)*) => {
        /// What a row tells of.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
        #[repr(u8)]
        pub enum Kind { #[default] $($(#[$doc])* $kind),* }
        impl Kind {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$kind),*];
            /// Their names, in order.
            pub const NAMES: &[&str] = &[$($name),*];
        }
    };
}

kinds! {
    /// A packet was offered to the queue of a link.
    Enqueue = "enqueue",
    /// It left the queue.
    Dequeue = "dequeue",
    /// Its last bit reached the far end of the link.
    Arrive = "arrive",
    /// The queue dropped it, or the link lost it.
    Drop = "drop",
    /// The queue marked it (ECN).
    Mark = "mark",
    /// An endpoint sent it.
    Send = "send",
    /// An endpoint sent data again.
    Retransmit = "retransmit",
    /// It reached an endpoint.
    Receive = "receive",
    /// The retransmission timer ran out.
    Timeout = "timeout",
    /// Congestion window or slow-start threshold of a sender changed.
    Window = "window",
    /// The state of a connection, or of its sending half, changed.
    State = "state",
}

impl Kind {
    const fn bit(self) -> u16 {
        1 << self as u8
    }
    const AT_LINKS: u16 = Self::Enqueue.bit() | Self::Dequeue.bit() | Self::Arrive.bit() | Self::Drop.bit() | Self::Mark.bit();
    const OF_SENDERS: u16 = Self::Timeout.bit() | Self::Window.bit() | Self::State.bit();
}

/// Which rows are wanted; every condition that is there has to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// Kinds of events; none given: all.
    pub kinds: Vec<Kind>,
    /// For each flow whether it is wanted; `None`: all.
    pub flows: Option<Vec<bool>>,
    /// For each link direction whether it is wanted, and nothing that happens elsewhere; `None`: all.
    pub links: Option<Vec<bool>>,
    /// From this instant on.
    pub from: Time,
    /// Up to this one.
    pub to: Time,
}

impl Default for Filter {
    fn default() -> Self {
        Self { kinds: Vec::new(), flows: None, links: None, from: Time::ZERO, to: Time::MAX }
    }
}

/// One row, packed.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    time: Time,
    packet: u64,
    /// Sequence number, or the congestion window.
    seq: u64,
    /// Acknowledgment number, or the slow-start threshold.
    ack: u64,
    queue_bytes: u64,
    queue_packets: u32,
    flow: u32,
    link: u32,
    length: u32,
    payload: u16,
    kind: Kind,
    flags: u8,
    ecn: u8,
    back: bool,
    /// Reason of a drop, or number of a state.
    detail: u8,
}

/// Names of connection and sending states, as rows number them.
const STATES: &[&str] = &[
    "CLOSED",
    "LISTEN",
    "SYN-SENT",
    "SYN-RECEIVED",
    "ESTABLISHED",
    "FIN-WAIT-1",
    "FIN-WAIT-2",
    "CLOSE-WAIT",
    "CLOSING",
    "LAST-ACK",
    "TIME-WAIT",
    "open",
    "disorder",
    "cwr",
    "recovery",
    "loss",
]; // names of RFC 9293 section 3.3.2, then those of Linux

/// Rows in the order of time, all but the last batch of the same length.
#[derive(Debug)]
pub struct Batch {
    rows: Vec<Row>,
    names: Arc<Names>,
}

/// What rows give by number.
#[derive(Debug, Default)]
pub struct Names {
    /// Names of the flows.
    pub flows: Vec<String>,
    /// Names of the link directions.
    pub links: Vec<String>,
    /// The nodes of each of them.
    pub wires: Vec<(u32, u32)>,
    /// The ends of each flow.
    pub ends: Vec<Ends>,
}

/// Takes batches. It may wait: then the run waits.
pub type Sink = Box<dyn FnMut(Batch) + Send>;

/// What is known of a packet that is under way.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// Counts packets from 1 in the order of sending.
    number: u64,
    /// The port whose queue it was offered to.
    port: u32,
    marked: bool,
    segment: Carried,
}

/// What is told of a segment.
#[derive(Clone, Copy, Debug, Default)]
struct Carried {
    seq: u64,
    ack: u64,
    payload: u16,
    flags: u8,
}

impl From<&Segment> for Carried {
    #[inline]
    fn from(seg: &Segment) -> Self {
        Self { seq: seg.seq, ack: seg.ack, payload: seg.payload, flags: seg.flags }
    }
}

const UNKNOWN: Known = Known { number: 0, port: NONE, marked: false, segment: Carried { seq: 0, ack: 0, payload: 0, flags: 0 } };

/// Collects rows.
pub struct Recorder {
    filter: Filter,
    kinds: u16,
    names: Arc<Names>,
    rows: Vec<Row>,
    /// By the packet's place in the arena.
    known: Vec<Known>,
    sent: u64,
    /// By flow.
    before: Vec<Option<Moment>>,
    sink: Sink,
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder").field("filter", &self.filter).field("rows", &self.rows.len()).finish_non_exhaustive()
    }
}

impl Recorder {
    /// Records what the filter lets through for `sink`.
    pub fn new(filter: Filter, names: Names, sink: Sink) -> Self {
        let kinds = if filter.kinds.is_empty() { !0 } else { filter.kinds.iter().fold(0, |all, k| all | k.bit()) };
        let before = vec![None; names.flows.len()];
        let rows = Vec::with_capacity(ROWS);
        Self { filter, kinds, names: Arc::new(names), rows, known: Vec::new(), sent: 0, before, sink }
    }

    /// Hands over what is left, be it nothing: so every run has a table.
    pub fn finish(mut self) {
        self.flush();
    }

    #[cold]
    fn flush(&mut self) {
        let rows = std::mem::replace(&mut self.rows, Vec::with_capacity(ROWS));
        (self.sink)(Batch { rows, names: self.names.clone() });
    }

    #[inline]
    fn wants(&self, kind: Kind) -> bool {
        self.kinds & kind.bit() != 0
    }

    #[inline]
    fn put(&mut self, row: Row) {
        let f = &self.filter;
        if !self.wants(row.kind) || row.time < f.from || row.time > f.to {
            return;
        }
        if let Some(flows) = &f.flows
            && !flows.get(row.flow as usize).is_some_and(|&wanted| wanted)
        {
            return;
        }
        if f.links.is_some() && row.link == NONE {
            return;
        }
        self.rows.push(row);
        if self.rows.len() == ROWS {
            self.flush();
        }
    }

    /// What is known of a packet; a copy that a link made is counted when it is first seen.
    #[inline]
    fn known(&mut self, id: PktRef) -> &mut Known {
        let i = id.0 as usize;
        if i >= self.known.len() {
            self.known.resize(i + 1, UNKNOWN);
        }
        let known = &mut self.known[i];
        if known.number == 0 {
            self.sent += 1;
            *known = Known { number: self.sent, ..UNKNOWN };
        }
        known
    }

    #[inline]
    fn at_link(kind: Kind, time: Time, port: PortId, pkt: &QPkt, backlog: Backlog, known: &Known) -> Row {
        Row {
            queue_bytes: backlog.bytes,
            queue_packets: backlog.pkts,
            link: port.0,
            ..Self::of_packet(kind, time, pkt, known.number, known.segment)
        }
    }

    #[inline]
    fn of_packet(kind: Kind, time: Time, pkt: &QPkt, packet: u64, carried: Carried) -> Row {
        let Carried { seq, ack, payload, flags } = carried;
        let (flow, length, ecn, back) = (pkt.flow.0, pkt.len, pkt.ecn as u8, pkt.back);
        Row { time, packet, flow, link: NONE, length, kind, ecn, back, seq, ack, payload, flags, ..Row::default() }
    }
}

impl Observer for Recorder {
    #[inline]
    fn sees(&self, port: PortId) -> bool {
        let wanted = |links: &Vec<bool>| links.get(port.0 as usize).is_some_and(|&w| w);
        self.kinds & Kind::AT_LINKS != 0 && self.filter.links.as_ref().is_none_or(wanted)
    }

    #[inline]
    fn looks(&self, endpoint: EpId) -> bool {
        self.kinds & Kind::OF_SENDERS != 0 && !endpoint.receives()
    }

    #[inline]
    fn on_send(&mut self, e: &SendEvent) {
        let known = self.known(e.pkt.id);
        known.segment = Carried::from(&e.seg);
        let kind = if e.seg.retransmission() { Kind::Retransmit } else { Kind::Send };
        let row = Self::of_packet(kind, e.time, &e.pkt, known.number, known.segment);
        self.put(row);
    }

    #[inline]
    fn on_enqueue(&mut self, e: &EnqueueEvent) {
        let known = self.known(e.pkt.id);
        (known.port, known.marked) = (e.port.0, e.pkt.ecn == Ecn::Ce);
        let row = Self::at_link(Kind::Enqueue, e.time, e.port, &e.pkt, e.backlog, known);
        self.put(row);
    }

    #[inline]
    fn on_dequeue(&mut self, e: &DequeueEvent) {
        let known = self.known(e.pkt.id);
        let (marks, row) = (!known.marked, Self::at_link(Kind::Dequeue, e.time, e.port, &e.pkt, e.backlog, known));
        if e.pkt.ecn == Ecn::Ce && marks {
            self.put(Row { kind: Kind::Mark, ..row });
        }
        self.put(row);
    }

    #[inline]
    fn on_hop(&mut self, e: &HopEvent) {
        let known = self.known(e.pkt.id);
        // A copy that the link made is seen here for the first time.
        known.segment = Carried::from(&e.seg);
        let row = Self::at_link(Kind::Arrive, e.time, e.port, &e.pkt, Backlog::default(), known);
        self.put(row);
    }

    fn on_drop(&mut self, e: &DropEvent) {
        let known = std::mem::replace(self.known(e.pkt.id), UNKNOWN);
        let row = Self::at_link(Kind::Drop, e.time, e.port, &e.pkt, e.backlog, &known);
        if !e.why.on_link() && known.port != e.port.0 {
            // It was never let in: for whoever counts, it came all the same.
            self.put(Row { kind: Kind::Enqueue, ..row });
        }
        self.put(Row { detail: e.why as u8, ..row });
    }

    #[inline]
    fn on_receive(&mut self, e: &ReceiveEvent) {
        let packet = std::mem::replace(self.known(e.pkt.id), UNKNOWN).number;
        self.put(Self::of_packet(Kind::Receive, e.time, &e.pkt, packet, Carried::from(&e.seg)));
    }

    #[inline]
    fn on_moment(&mut self, e: &MomentEvent) {
        let flow = e.endpoint.flow().0;
        let Some(place) = self.before.get_mut(flow as usize) else { return };
        if place.as_ref() == Some(&e.moment) {
            return;
        }
        let before = place.replace(e.moment);
        let now = e.moment;
        let row = Row { time: e.time, flow, link: NONE, ..Row::default() };
        if before.is_some_and(|b| b.timeouts < now.timeouts) {
            self.put(Row { kind: Kind::Timeout, ..row });
        }
        for (was, is) in [(before.map(|b| b.connection), now.connection), (before.map(|b| b.sending), now.sending)] {
            if was != Some(is) {
                let detail = STATES.iter().position(|&s| s == is).unwrap_or(0) as u8;
                self.put(Row { kind: Kind::State, detail, ..row });
            }
        }
        if before.is_none_or(|b| (b.cwnd, b.ssthresh) != (now.cwnd, now.ssthresh)) {
            self.put(Row { kind: Kind::Window, seq: now.cwnd, ack: now.ssthresh, ..row });
        }
    }
}

#[cfg(test)]
mod tests;
