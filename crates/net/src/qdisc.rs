//! Interface of a queue discipline.

use crate::ids::FlowId;
use crate::link::LinkInfo;
use crate::packet::{Ecn, Packet, Proto, Segment};
use fairlane_engine::Stream;
use fairlane_units::Time;

/// Reason why a packet was dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum DropReason {
    /// The buffer was full.
    Overflow,
    /// Random early drop.
    Early,
    /// Forced drop (for instance RED above the maximum threshold).
    Forced,
    /// Drop at the head (for instance CoDel).
    Head,
    /// Evicted from the longest queue to make room.
    Evicted,
    /// Lost on the link by an impairment.
    Link,
    /// Dropped by a wireless station after the retry limit.
    Retry,
    /// In flight on a link that failed.
    Cut,
    /// Queued at a link that failed, or arrived while it was down.
    Down,
}

impl DropReason {
    /// All reasons, in order.
    pub const ALL: [Self; 9] =
        [Self::Overflow, Self::Early, Self::Forced, Self::Head, Self::Evicted, Self::Link, Self::Retry, Self::Cut, Self::Down];
    /// Number of reasons.
    pub const COUNT: usize = Self::ALL.len();
    /// Name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Overflow => "overflow",
            Self::Early => "early",
            Self::Forced => "forced",
            Self::Head => "head",
            Self::Evicted => "evicted",
            Self::Link => "link",
            Self::Retry => "retry",
            Self::Cut => "cut",
            Self::Down => "down",
        }
    }
    /// True if the packet had left the queue.
    pub const fn on_link(self) -> bool {
        matches!(self, Self::Link | Self::Retry | Self::Cut)
    }
    /// True if the queue discipline dropped it.
    pub const fn by_queue(self) -> bool {
        !self.on_link() && !matches!(self, Self::Down)
    }
}

/// Queued packets and bytes, without the packet in transmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Backlog {
    /// Packets.
    pub pkts: u32,
    /// Bytes on the wire.
    pub bytes: u64,
}

impl Backlog {
    /// Adds a packet.
    #[inline]
    pub const fn add(&mut self, p: &Packet) {
        self.pkts += 1;
        self.bytes += p.len as u64;
    }
    /// Removes a packet.
    #[inline]
    pub const fn sub(&mut self, p: &Packet) {
        self.pkts -= 1;
        self.bytes -= p.len as u64;
    }
}

/// Limit of a queue in packets and bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Room {
    /// Packets.
    pub pkts: u32,
    /// Bytes.
    pub bytes: u64,
    /// True if the arriving packet counts.
    pub arriving: bool,
}

impl Room {
    /// True if a packet of `len` bytes may join a queue that holds `held`.
    #[inline]
    pub const fn admits(&self, held: Backlog, len: u32) -> bool {
        // No overflow: fewer than 2^32 packets of less than 2^32 bytes.
        held.pkts < self.pkts && held.bytes + len as u64 * self.arriving as u64 <= self.bytes
    }
}

/// A flow as classifiers see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowInfo<'a> {
    /// Name of the group, with the number of the member if there are several (`web.3`).
    pub name: &'a str,
    /// Address of the sender: the index of its node.
    pub from: u32,
    /// Address of the receiver.
    pub to: u32,
    /// Transport protocol.
    pub proto: Proto,
}

/// All flows of a network, which may be listed only when a queue asks for them.
pub trait FlowList: std::fmt::Debug {
    /// Flows; entry `i` is `FlowId(i)`.
    fn all(&self) -> &[FlowInfo<'_>];
}

impl FlowList for Vec<FlowInfo<'_>> {
    fn all(&self) -> &[FlowInfo<'_>] {
        self
    }
}

impl<const N: usize> FlowList for [FlowInfo<'_>; N] {
    fn all(&self) -> &[FlowInfo<'_>] {
        self
    }
}

/// Context in which a queue is built: its link, and all flows of the network.
#[derive(Clone, Copy, Debug)]
pub struct BuildContext<'a> {
    /// Link behind the queue.
    pub link: LinkInfo,
    /// Flows of the network. Most queues do not read them.
    pub flows: &'a dyn FlowList,
}

impl<'a> BuildContext<'a> {
    /// Flows; entry `i` is `FlowId(i)`.
    pub fn flows(&self) -> &'a [FlowInfo<'a>] {
        self.flows.all()
    }
}

impl From<LinkInfo> for BuildContext<'static> {
    /// Creates a context without flows.
    fn from(link: LinkInfo) -> Self {
        Self { link, flows: &[] as &[FlowInfo<'_>; 0] }
    }
}

/// Drops made during one call, with their reasons. Nearly always empty.
pub type Drops = Vec<(Packet, DropReason)>;

/// Context of a queue discipline during one call.
pub struct QCx<'a> {
    /// Time of the call. A dequeue may be carried out after its time, but never in another order.
    pub now: Time,
    /// Random stream of the queue.
    pub rng: &'a mut Stream,
    /// Dropped packets; the port counts and frees them.
    pub drops: &'a mut Drops,
    /// Number of packets marked during the call.
    pub marks: u32,
}

impl QCx<'_> {
    /// Drops a packet that was offered or held.
    #[inline]
    pub fn drop(&mut self, p: Packet, why: DropReason) {
        self.drops.push((p, why));
    }
    /// Sets congestion experienced (RFC 3168 section 5). The packet must be ECN-capable.
    #[inline]
    pub fn mark(&mut self, p: &mut Packet) {
        debug_assert!(p.ecn.capable());
        p.ecn = Ecn::Ce;
        self.marks += 1;
    }
}

/// A queue discipline: stores packets and decides which leaves next.
///
/// The port calls `dequeue` for the start of each transmission, in the order of time, but possibly later: only `cx.now` is the time of the departure.
pub trait Qdisc: Send {
    /// Offers a packet, which is stored or dropped through `cx`.
    fn enqueue(&mut self, p: Packet, cx: &mut QCx<'_>);
    /// True if it reads the transport headers of arriving packets: [`Qdisc::on_header`] is then called before a packet is offered.
    fn reads_headers(&self) -> bool {
        false
    }
    /// Reads the header of the packet that is offered next. Called only if [`Qdisc::reads_headers`].
    fn on_header(&mut self, header: &Segment) {
        let _ = header;
    }
    /// Takes the next packet to transmit.
    fn dequeue(&mut self, cx: &mut QCx<'_>) -> Option<Packet>;
    /// Offers a packet to an empty queue with a free link: `enqueue`, then `dequeue`. A FIFO need not store the packet. Returns true if `p` is now a
    /// packet to transmit.
    #[inline]
    fn pass(&mut self, p: &mut Packet, cx: &mut QCx<'_>) -> bool {
        self.enqueue(*p, cx);
        match self.dequeue(cx) {
            Some(first) => {
                *p = first;
                true
            }
            None => false,
        }
    }
    /// Returns the limit of a plain tail-drop FIFO without gauges: the port may then store the packets itself.
    fn tail(&self) -> Option<Room> {
        None
    }
    /// Frees unused memory of an empty queue.
    fn give_back(&mut self) {}
    /// Returns the queued packets and bytes.
    fn backlog(&self) -> Backlog;
    /// Returns the packet that leaves next, if it is known: its memory is prefetched. A hint that no result depends on.
    #[inline]
    fn head(&self) -> Option<&Packet> {
        None
    }
    /// Shapers: time of the next dequeue although packets wait. `None`: at once.
    fn ready_at(&self) -> Option<Time> {
        None
    }
    /// Periodic update, called at time zero and at each time that it returns.
    fn on_timer(&mut self, cx: &mut QCx<'_>) -> Option<Time> {
        let _ = cx;
        None
    }
    /// True if `on_timer` is needed.
    fn has_timer(&self) -> bool {
        false
    }
    /// True if `dequeue` may drop packets. If not, a departure may be carried out at any later time.
    fn drops_late(&self) -> bool {
        true
    }
    /// Passes gauges for time series to `out`, by name (average queue, drop probability).
    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        let _ = out;
    }
    /// Largest receive window in bytes for acknowledgments of `flow` that cross the link in the opposite direction; `None` for no limit. Called only if
    /// [`Qdisc::clamps`].
    fn window_clamp(&self, flow: FlowId) -> Option<u32> {
        let _ = flow;
        None
    }
    /// True if the queue rewrites the windows of returning acknowledgments (ModRED).
    fn clamps(&self) -> bool {
        false
    }
}
