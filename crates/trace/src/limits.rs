//! Report of what limited flows, and of the state of their queues, in whole picoseconds.

use fairlane_net::{
    DequeueEvent, DropEvent, Ecn, EnqueueEvent, EpId, Interest, Limit, LimitEvent, Observer, PacketRef, PortId, ReceiveEvent, SendEvent,
};
use fairlane_units::Time;
use std::collections::BTreeMap;

/// No port.
const NONE: u32 = u32::MAX;

/// Time per limit, indexed by the number of the limit.
pub type Times = [u64; Limit::COUNT];

/// Limits of a flow.
#[derive(Clone, Debug, Default)]
pub struct FlowLimits {
    limit: Limit,
    since: Time,
    /// Time since the last packet from the receiver, or since sending into an empty network: if the retransmission timer expires, the sender waited for it.
    pending: Times,
    times: Times,
    seen: u64,
    timeouts: u64,
    /// Highest sent and highest acknowledged byte: the timer runs between them.
    sent: u64,
    acked: u64,
    /// Connection of these sequence numbers.
    conn: u16,
    /// Ports of the path.
    route: Vec<u32>,
}

impl FlowLimits {
    /// Picoseconds by limit.
    pub fn times(&self) -> &Times {
        &self.times
    }
    /// Timeouts that the sender waited for.
    pub fn timeouts(&self) -> u64 {
        self.timeouts
    }
    fn pass(&mut self, now: Time, from: Time) {
        self.pending[self.limit as usize] += now.since(self.since.max(from)).as_ps();
        self.since = now;
    }
    fn keep(&mut self) {
        for (all, part) in self.times.iter_mut().zip(std::mem::take(&mut self.pending)) {
            *all += part;
        }
    }
    /// Attributes all pending time, except that of the handshake, to the timeout.
    fn timed_out(&mut self) {
        for (i, part) in std::mem::take(&mut self.pending).into_iter().enumerate() {
            let kept = i == Limit::Handshake as usize || i == Limit::Nothing as usize;
            self.times[if kept { i } else { Limit::Timeout as usize }] += part;
        }
    }
}

/// Effects of one flow at one queue.
#[derive(Clone, Copy, Debug, Default)]
pub struct Share {
    /// Bytes times picoseconds of queueing, for packets that have left.
    pub waited: u128,
    /// Packets of the flow dropped by the queue.
    pub drops: u64,
    /// Packets of the flow marked by the queue.
    pub marks: u64,
}

/// State of a queue over time.
#[derive(Clone, Debug, Default)]
pub struct QueueLimits {
    /// Shares by flow.
    pub shares: BTreeMap<u32, Share>,
    /// Picoseconds with an empty queue although a flow through it had data to send.
    pub starved: u64,
    /// Picoseconds in which a flow had data to send.
    pub wanted: u64,
    waits: u32,
    wanting: u32,
    since: Time,
}

impl QueueLimits {
    fn pass(&mut self, now: Time, from: Time) {
        let span = now.since(self.since.max(from)).as_ps();
        if self.wanting > 0 {
            self.wanted += span;
            self.starved += if self.waits == 0 { span } else { 0 };
        }
        self.since = now;
    }
}

/// A packet at a queue: the port, and true if it arrived with a mark.
#[derive(Clone, Copy, Debug)]
struct QueuedPacket {
    port: u32,
    marked: bool,
}

/// Observes the limits of flows.
#[derive(Clone, Debug)]
pub struct LimitReport {
    from: Time,
    flows: Vec<FlowLimits>,
    queues: Vec<QueueLimits>,
    /// Packets by arena index.
    queued: Vec<QueuedPacket>,
}

impl LimitReport {
    /// Counts from `from` on; `routes`: ports on the path of each flow.
    pub fn new(routes: Vec<Vec<u32>>, ports: usize, from: Time) -> Self {
        let flows = routes.into_iter().map(|route| FlowLimits { route, ..FlowLimits::default() }).collect();
        Self { from, flows, queues: vec![QueueLimits::default(); ports], queued: Vec::new() }
    }

    /// Counts up to `now`.
    pub fn close(&mut self, now: Time) {
        for f in &mut self.flows {
            f.pass(now, self.from);
            f.keep();
        }
        for q in &mut self.queues {
            q.pass(now, self.from);
        }
    }
    /// Limits of the flows.
    pub fn flows(&self) -> &[FlowLimits] {
        &self.flows
    }
    /// States of the queues, one per port.
    pub fn queues(&self) -> &[QueueLimits] {
        &self.queues
    }

    fn counts(&self, now: Time) -> bool {
        now > self.from || self.from == Time::ZERO
    }

    fn queued(&mut self, id: PacketRef) -> &mut QueuedPacket {
        let i = id.0 as usize;
        if i >= self.queued.len() {
            self.queued.resize(i + 1, QueuedPacket { port: NONE, marked: false });
        }
        &mut self.queued[i]
    }

    fn level(&mut self, port: PortId, now: Time, waits: u32) {
        let from = self.from;
        let q = &mut self.queues[port.0 as usize];
        if (q.waits == 0) != (waits == 0) {
            q.pass(now, from);
        }
        q.waits = waits;
    }

    fn waited(&mut self, port: PortId, flow: u32, len: u32, at: Time, now: Time) -> &mut Share {
        let span = now.since(at.max(self.from)).as_ps();
        let share = self.queues[port.0 as usize].shares.entry(flow).or_default();
        share.waited += u128::from(span) * u128::from(len);
        share
    }
}

impl Observer for LimitReport {
    #[inline]
    fn endpoint_interest(&self, endpoint: EpId) -> Interest {
        Interest::SEGMENT | Interest::LIMIT.when(!endpoint.receives())
    }

    fn on_limit(&mut self, e: &LimitEvent) {
        let (from, counts) = (self.from, self.counts(e.time));
        let Some(f) = self.flows.get_mut(e.endpoint.flow().0 as usize) else { return };
        f.pass(e.time, from);
        if e.timeouts > f.seen {
            f.timeouts += if counts { e.timeouts - f.seen } else { 0 };
            f.seen = e.timeouts;
            f.timed_out();
        }
        let before = std::mem::replace(&mut f.limit, e.limit);
        if before.wants() != e.limit.wants() {
            for &port in &f.route {
                let q = &mut self.queues[port as usize];
                q.pass(e.time, from);
                q.wanting = if e.limit.wants() { q.wanting + 1 } else { q.wanting - 1 };
            }
        }
    }

    fn on_send(&mut self, e: &SendEvent) {
        let (from, end) = (self.from, e.seg.seq + u64::from(e.seg.payload));
        if e.endpoint.receives() || e.seg.payload == 0 {
            return;
        }
        let Some(f) = self.flows.get_mut(e.endpoint.flow().0 as usize) else { return };
        if e.pkt.conn != f.conn {
            (f.conn, f.sent, f.acked) = (e.pkt.conn, 0, 0);
        }
        if f.acked >= f.sent {
            f.pass(e.time, from);
            f.keep();
        }
        f.sent = f.sent.max(end);
    }

    fn on_receive(&mut self, e: &ReceiveEvent) {
        if !e.endpoint.receives() {
            let from = self.from;
            if let Some(f) = self.flows.get_mut(e.flow.0 as usize).filter(|f| f.conn == e.pkt.conn) {
                f.pass(e.time, from);
                f.keep();
                f.acked = f.acked.max(e.seg.ack);
            }
        }
        *self.queued(e.pkt.id) = QueuedPacket { port: NONE, marked: false };
    }

    fn on_enqueue(&mut self, e: &EnqueueEvent) {
        *self.queued(e.pkt.id) = QueuedPacket { port: e.port.0, marked: e.pkt.ecn == Ecn::Ce };
        self.level(e.port, e.time, e.backlog.pkts);
    }

    fn on_dequeue(&mut self, e: &DequeueEvent) {
        let (queued, counts) = (*self.queued(e.pkt.id), self.counts(e.time));
        let share = self.waited(e.port, e.pkt.flow.0, e.pkt.len, e.pkt.at, e.time);
        share.marks += u64::from(counts && e.pkt.ecn == Ecn::Ce && queued.port == e.port.0 && !queued.marked);
        self.level(e.port, e.time, e.backlog.pkts);
    }

    fn on_drop(&mut self, e: &DropEvent) {
        let queued = std::mem::replace(self.queued(e.pkt.id), QueuedPacket { port: NONE, marked: false });
        if e.why.on_link() {
            return;
        }
        let (counts, let_in) = (self.counts(e.time), queued.port == e.port.0);
        let at = if let_in { e.pkt.at } else { e.time };
        self.waited(e.port, e.pkt.flow.0, e.pkt.len, at, e.time).drops += u64::from(counts);
        self.level(e.port, e.time, e.backlog.pkts);
    }
}
