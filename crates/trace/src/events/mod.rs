//! Event tables: events of packets at queues and endpoints, and of windows and states, as rows in order of time.
//!
//! Rows are collected in batches and passed to a writer thread, so memory does not grow with the run.

mod dictionary;
mod filter;
mod import;
mod listeners;
mod nam;
mod ns2;
mod output;
mod table;

pub use filter::Filter;
pub(crate) use import::{CapturedPacket, Import};
pub use ns2::Ends;
pub use output::{Failure, Format};
pub use table::{columns, texts};

use fairlane_net::{
    Backlog, DequeueEvent, DropEvent, Ecn, EnqueueEvent, EpId, GaugeEvent, HopEvent, Inside, Interest, Observer, Packet, PacketRef, PortId,
    ReceiveEvent, Segment, SendEvent, SenderState, StateEvent,
};
use fairlane_units::Time;
use listeners::Listeners;
use output::{Output, Sink};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Rows per batch: few enough to stay in the cache until a file is made of them.
const ROWS: usize = 1 << 12;
/// No link, or an unknown one.
const NONE: u32 = u32::MAX;

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $name:literal,)*) => {
        /// Kind of a row.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
        #[repr(u8)]
        pub enum Kind { #[default] $($(#[$doc])* $kind),* }
        impl Kind {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$kind),*];
            /// Names of the kinds, in order.
            pub const NAMES: &[&str] = &[$($name),*];
        }
    };
}

kinds! {
    /// A packet was offered to the queue of a link.
    Enqueue = "enqueue",
    /// A packet left the queue.
    Dequeue = "dequeue",
    /// The last bit of a packet reached the far end of the link.
    Arrive = "arrive",
    /// The queue dropped a packet, or the link lost it.
    Drop = "drop",
    /// The queue marked a packet (ECN).
    Mark = "mark",
    /// An endpoint sent a packet.
    Send = "send",
    /// An endpoint retransmitted data.
    Retransmit = "retransmit",
    /// A packet reached an endpoint.
    Receive = "receive",
    /// The retransmission timer expired.
    Timeout = "timeout",
    /// Congestion window or slow-start threshold of a sender changed.
    Window = "window",
    /// The state of a connection, or of its sender, changed.
    State = "state",
    /// An internal variable of a queue or a congestion control changed.
    Gauge = "gauge",
}

impl Kind {
    const fn bit(self) -> u16 {
        1 << self as u8
    }
    const AT_LINKS: u16 = Self::Enqueue.bit() | Self::Dequeue.bit() | Self::Arrive.bit() | Self::Drop.bit() | Self::Mark.bit();
    const OF_SENDERS: u16 = Self::Timeout.bit() | Self::Window.bit() | Self::State.bit();
}

/// One row, packed into a cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Row {
    time: Time,
    packet: u64,
    /// Sequence number, congestion window, or bits of a gauge's value.
    seq: u64,
    /// Acknowledgment number, or slow-start threshold.
    ack: u64,
    queue_bytes: u64,
    queue_packets: u32,
    flow: u32,
    link: u32,
    length: u32,
    payload: u32,
    kind: Kind,
    flags: u8,
    /// ECN field, with the direction above it.
    field: u8,
    /// Drop reason, or number of a state or of a gauge.
    detail: u8,
}

impl Row {
    const fn field(ecn: Ecn, back: bool) -> u8 {
        ecn as u8 | (back as u8) << 2
    }
    #[inline]
    const fn ecn(&self) -> u8 {
        self.field & 3
    }
    #[inline]
    const fn back(&self) -> bool {
        self.field & 4 != 0
    }
}

/// Names of connection and sender states, as numbered in rows.
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

/// A link direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wire {
    /// Node at its start.
    pub from: u32,
    /// Node at its end.
    pub to: u32,
    /// Bits per second.
    pub rate: u64,
    /// Propagation delay in picoseconds.
    pub delay_ps: u64,
}

/// Names behind the numbers in rows.
#[derive(Debug, Default)]
pub struct Names {
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// Names of the flows.
    pub flows: Vec<String>,
    /// Names of the link directions.
    pub links: Vec<String>,
    /// Ends and parameters of the link directions.
    pub wires: Vec<Wire>,
    /// Ends of each flow.
    pub ends: Vec<Ends>,
    /// Names of gauges, in order of appearance.
    pub gauges: Mutex<Vec<&'static str>>,
}

impl Names {
    fn gauges(&self) -> Vec<&'static str> {
        self.gauges.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A packet in the network.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// Number of the packet, from 1 in order of sending.
    number: u64,
    /// Port whose queue the packet was offered to.
    port: u32,
    marked: bool,
    segment: Carried,
}

/// Fields of a segment that rows contain.
#[derive(Clone, Copy, Debug, Default)]
struct Carried {
    seq: u64,
    ack: u64,
    payload: u32,
    flags: u8,
}

impl From<&Segment> for Carried {
    #[inline]
    fn from(seg: &Segment) -> Self {
        Self { seq: seg.seq, ack: seg.ack, payload: seg.payload.into(), flags: seg.flags }
    }
}

const UNKNOWN: Known = Known { number: 0, port: NONE, marked: false, segment: Carried { seq: 0, ack: 0, payload: 0, flags: 0 } };

/// Most distinct gauges.
const GAUGES: usize = 256;

/// Records event rows.
pub struct Recorder {
    filter: Filter,
    kinds: u16,
    names: Arc<Names>,
    rows: Vec<Row>,
    /// Packets by arena index.
    known: Vec<Known>,
    sent: u64,
    /// Sender state by flow.
    before: Vec<Option<SenderState>>,
    /// Gauges by number, and the last value of each by place.
    gauges: Vec<&'static str>,
    values: [Vec<Vec<(u8, u64)>>; 2],
    files: Files,
    /// Listeners during the run.
    listeners: Option<Listeners>,
}

/// Output files; none in tests.
#[derive(Default)]
struct Files {
    sink: Option<Sink>,
    output: Option<Output>,
}

impl Files {
    fn close(&mut self) -> Result<(), Failure> {
        self.sink = None;
        self.output.take().map_or(Ok(()), Output::finish)
    }
}

impl Drop for Files {
    /// Waits for the writer of a failed run too, so that no file is written after its removal.
    fn drop(&mut self) {
        // The run reports its own error.
        let _ = self.close();
    }
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder").field("filter", &self.filter).field("rows", &self.rows.len()).finish_non_exhaustive()
    }
}

impl Recorder {
    /// Records rows that pass the filter to `place`: a folder for a table, a file for lines.
    ///
    /// # Errors
    /// The file or folder cannot be created.
    pub fn new(filter: Filter, names: Names, format: Format, place: PathBuf) -> Result<Self, Failure> {
        let names = Arc::new(names);
        let (output, sink) = Output::new(format, place, names.clone())?;
        let files = Files { sink: Some(sink), output: Some(output) };
        Ok(Self { files, ..Self::collecting(filter, names) })
    }

    fn collecting(filter: Filter, names: Arc<Names>) -> Self {
        let kinds = filter.set();
        let before = vec![None; names.flows.len()];
        let values = [vec![Vec::new(); names.links.len()], vec![Vec::new(); names.flows.len()]];
        let (rows, known, gauges) = (Vec::with_capacity(ROWS), Vec::new(), Vec::new());
        Self { filter, kinds, names, rows, known, sent: 0, before, gauges, values, files: Files::default(), listeners: None }
    }

    /// Write error, if any.
    pub fn failure(&self) -> Option<&Failure> {
        self.files.output.as_ref()?.failure()
    }

    /// Writes the remaining rows, possibly none, and waits for the writer: every run has a table.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn finish(mut self) -> Result<(), Failure> {
        self.flush();
        self.files.close()
    }

    #[cold]
    fn flush(&mut self) {
        if let Some(sink) = &self.files.sink {
            self.rows = sink.swap(std::mem::take(&mut self.rows));
        }
    }

    /// Number of a gauge; `None` if there are too many.
    fn gauge(&mut self, name: &'static str) -> Option<u8> {
        if let Some(i) = self.gauges.iter().position(|n| std::ptr::eq(*n, name) || *n == name) {
            return Some(i as u8);
        }
        if self.gauges.len() == GAUGES {
            return None;
        }
        self.gauges.push(name);
        self.names.gauges.lock().unwrap_or_else(PoisonError::into_inner).push(name);
        Some((self.gauges.len() - 1) as u8)
    }

    #[inline]
    fn wants(&self, kind: Kind) -> bool {
        self.kinds & kind.bit() != 0
    }

    #[inline]
    fn put(&mut self, row: Row) {
        if !self.filter.lets(self.kinds, &row) {
            return;
        }
        if let Some(listeners) = &mut self.listeners
            && !listeners.hear(&row)
        {
            return;
        }
        self.rows.push(row);
        if self.rows.len() >= ROWS && self.listeners.is_none() {
            self.flush();
        }
    }

    /// State of a packet; a copy made by a link is counted when it first appears.
    #[inline]
    fn known(&mut self, id: PacketRef) -> &mut Known {
        if self.slot(id).number == 0 {
            self.sent += 1;
            *self.slot(id) = Known { number: self.sent, ..UNKNOWN };
        }
        self.slot(id)
    }

    #[inline]
    fn slot(&mut self, id: PacketRef) -> &mut Known {
        let i = id.0 as usize;
        if i >= self.known.len() {
            self.known.resize(i + 1, UNKNOWN);
        }
        &mut self.known[i]
    }

    #[inline]
    fn at_link(kind: Kind, time: Time, port: PortId, pkt: &Packet, backlog: Backlog, known: &Known) -> Row {
        Row {
            queue_bytes: backlog.bytes,
            queue_packets: backlog.pkts,
            link: port.0,
            ..Self::of_packet(kind, time, pkt, known.number, known.segment)
        }
    }

    #[inline]
    fn of_packet(kind: Kind, time: Time, pkt: &Packet, packet: u64, carried: Carried) -> Row {
        let Carried { seq, ack, payload, flags } = carried;
        let (flow, length, field) = (pkt.flow.0, pkt.len, Row::field(pkt.ecn, pkt.back));
        Row { time, packet, flow, link: NONE, length, kind, field, seq, ack, payload, flags, ..Row::default() }
    }
}

impl Observer for Recorder {
    #[inline]
    fn port_interest(&self, port: PortId) -> Interest {
        let wanted = |links: &Vec<bool>| links.get(port.0 as usize).is_some_and(|&w| w);
        let gauges = self.wants(Kind::Gauge);
        let any = self.kinds & Kind::AT_LINKS != 0 || gauges;
        (Interest::PACKETS | Interest::GAUGE.when(gauges)).when(any && self.filter.links.as_ref().is_none_or(wanted))
    }

    #[inline]
    fn endpoint_interest(&self, endpoint: EpId) -> Interest {
        let states = self.kinds & Kind::OF_SENDERS != 0;
        let gauges = self.wants(Kind::Gauge) && self.filter.links.is_none();
        Interest::SEGMENT | (Interest::STATE.when(states) | Interest::GAUGE.when(gauges)).when(!endpoint.receives())
    }

    #[inline]
    fn enough(&self) -> bool {
        self.listeners.as_ref().is_some_and(|listeners| listeners.enough(self.rows.len()))
    }

    fn on_gauge(&mut self, e: &GaugeEvent) {
        let (side, place, flow, link) = match e.of {
            Inside::Queue(port) => (0, port.0, NONE, port.0),
            Inside::End(end) => (1, end.flow().0, end.flow().0, NONE),
        };
        let (Some(number), bits) = (self.gauge(e.name), e.value.to_bits()) else { return };
        let Some(values) = self.values[side].get_mut(place as usize) else { return };
        match values.iter_mut().find(|(n, _)| *n == number) {
            Some((_, last)) if *last == bits => return,
            Some((_, last)) => *last = bits,
            None => values.push((number, bits)),
        }
        self.put(Row { kind: Kind::Gauge, time: e.time, flow, link, seq: bits, detail: number, ..Row::default() });
    }

    #[inline]
    fn on_send(&mut self, e: &SendEvent) {
        // The previous packet at this arena index may have been dropped unobserved.
        self.sent += 1;
        let known = Known { number: self.sent, segment: Carried::from(&e.seg), ..UNKNOWN };
        *self.slot(e.pkt.id) = known;
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
        let (marks, row) =
            (known.port == e.port.0 && !known.marked, Self::at_link(Kind::Dequeue, e.time, e.port, &e.pkt, e.backlog, known));
        if e.pkt.ecn == Ecn::Ce && marks {
            self.put(Row { kind: Kind::Mark, ..row });
        }
        self.put(row);
    }

    #[inline]
    fn on_hop(&mut self, e: &HopEvent) {
        let known = self.known(e.pkt.id);
        // A copy made by the link appears here for the first time.
        known.segment = Carried::from(&e.seg);
        let row = Self::at_link(Kind::Arrive, e.time, e.port, &e.pkt, Backlog::default(), known);
        self.put(row);
    }

    fn on_drop(&mut self, e: &DropEvent) {
        let known = Known { segment: Carried::from(&e.seg), ..std::mem::replace(self.known(e.pkt.id), UNKNOWN) };
        let row = Self::at_link(Kind::Drop, e.time, e.port, &e.pkt, e.backlog, &known);
        if !e.why.on_link() && known.port != e.port.0 && !self.waits_unknown(e.pkt.at) {
            // The queue refused the packet; it counts as an arrival all the same.
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
    fn on_state(&mut self, e: &StateEvent) {
        let flow = e.endpoint.flow().0;
        let Some(place) = self.before.get_mut(flow as usize) else { return };
        if place.as_ref() == Some(&e.state) {
            return;
        }
        let before = place.replace(e.state);
        let now = e.state;
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
