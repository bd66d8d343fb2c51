//! What a port asks of a queue discipline.

use crate::ids::FlowId;
use crate::link::LinkInfo;
use crate::packet::{Ecn, Packet, Proto};
use fairlane_engine::Stream;
use fairlane_units::Time;

/// Why a packet was dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum DropReason {
    /// The buffer was full.
    Overflow,
    /// A random early drop by the law of the queue.
    Early,
    /// The law was in its forced region (for instance RED above the maximum threshold).
    Forced,
    /// The law dropped at the head (for instance CoDel).
    Head,
    /// Evicted from the longest queue to make room.
    Evicted,
    /// Lost on the link by an impairment.
    Link,
    /// Given up by a wireless station after its last attempt.
    Retry,
    /// Under way on a link when that failed.
    Cut,
    /// Before a link that is down: it waited when that failed, or came later.
    Down,
}

impl DropReason {
    /// All reasons, in order.
    pub const ALL: [Self; 9] =
        [Self::Overflow, Self::Early, Self::Forced, Self::Head, Self::Evicted, Self::Link, Self::Retry, Self::Cut, Self::Down];
    /// Number of reasons.
    pub const COUNT: usize = Self::ALL.len();
    /// The name in tables.
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
    /// Whether the packet had left the queue.
    pub const fn on_link(self) -> bool {
        matches!(self, Self::Link | Self::Retry | Self::Cut)
    }
    /// Whether the queue discipline decided it.
    pub const fn by_queue(self) -> bool {
        !self.on_link() && !matches!(self, Self::Down)
    }
}

/// Packets and bytes waiting; the packet in transmission is not among them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Backlog {
    /// Packets.
    pub pkts: u32,
    /// Bytes on the wire.
    pub bytes: u64,
}

impl Backlog {
    /// Counts a packet in.
    #[inline]
    pub const fn add(&mut self, p: &Packet) {
        self.pkts += 1;
        self.bytes += p.len as u64;
    }
    /// Counts a packet out.
    #[inline]
    pub const fn sub(&mut self, p: &Packet) {
        self.pkts -= 1;
        self.bytes -= p.len as u64;
    }
}

/// How much a queue may hold, ready for the path: two comparisons a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Room {
    /// Packets.
    pub pkts: u32,
    /// Bytes.
    pub bytes: u64,
    /// Whether the arriving packet counts.
    pub arriving: bool,
}

impl Room {
    /// Whether a packet of `len` bytes may join `held`.
    #[inline]
    pub const fn admits(&self, held: Backlog, len: u32) -> bool {
        // Fewer than 2^32 packets, none of 2^32 bytes: the sum has room.
        held.pkts < self.pkts && held.bytes + len as u64 * self.arriving as u64 <= self.bytes
    }
}

/// A flow as classifiers see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowInfo<'a> {
    /// Its name: the group's, or the group's and the member's number (`web.3`).
    pub name: &'a str,
    /// Address of the sender: the place of its node in the list of all nodes.
    pub from: u32,
    /// Address of the receiver.
    pub to: u32,
    /// Transport protocol.
    pub proto: Proto,
}

/// Where a queue is put: the link it feeds, and all flows of the network in the order of their numbers.
#[derive(Clone, Copy, Debug)]
pub struct BuildContext<'a> {
    /// The link.
    pub link: LinkInfo,
    /// The flows; `FlowId(i)` is entry `i`.
    pub flows: &'a [FlowInfo<'a>],
}

impl From<LinkInfo> for BuildContext<'static> {
    /// A link in a network of which nothing else is known.
    fn from(link: LinkInfo) -> Self {
        Self { link, flows: &[] }
    }
}

/// Drops made during one call, with their reasons. Nearly always empty.
pub type Drops = Vec<(Packet, DropReason)>;

/// The surroundings of a queue discipline during one call.
pub struct QCx<'a> {
    /// The time of the call. A dequeue may be carried out later than it happens, never in another order.
    pub now: Time,
    /// The queue's own random stream.
    pub rng: &'a mut Stream,
    /// Where drops go; the port counts them and frees the packets.
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
/// The port calls `dequeue` in the order of time, at the start of each transmission, and may be late in
/// doing so: between two arrivals nothing but `cx.now` tells the queue what time it is.
pub trait Qdisc: Send {
    /// Offers a packet. It is held, or dropped through `cx`.
    fn enqueue(&mut self, p: Packet, cx: &mut QCx<'_>);
    /// The next packet to transmit.
    fn dequeue(&mut self, cx: &mut QCx<'_>) -> Option<Packet>;
    /// Offers a packet to an empty queue before a free link: the same as `enqueue` then `dequeue`, which
    /// a FIFO can do without storing the packet. Returns whether `p` now is a packet to transmit.
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
    /// Its limit, if it is first in, first out, drops what finds no room and does nothing else that could be told (it has no gauges): the port then keeps packets itself where that is shorter.
    fn tail(&self) -> Option<Room> {
        None
    }
    /// Gives memory back that it has kept for packets, where none waits. Packets that come again cost the allocator then.
    fn give_back(&mut self) {}
    /// What waits.
    fn backlog(&self) -> Backlog;
    /// The packet that leaves next, where that is known beforehand: its memory is fetched early. A hint, never used for results.
    #[inline]
    fn head(&self) -> Option<&Packet> {
        None
    }
    /// Shapers: when to ask again although packets wait. `None`: at once.
    fn ready_at(&self) -> Option<Time> {
        None
    }
    /// Called at start (at time zero) and at each time returned by the last call: the next periodic update.
    fn on_timer(&mut self, cx: &mut QCx<'_>) -> Option<Time> {
        let _ = cx;
        None
    }
    /// Whether `on_timer` wants to be called at all.
    fn has_timer(&self) -> bool {
        false
    }
    /// Whether a call of `dequeue` may drop packets; where none does, it makes no difference when a departure is carried out that is due.
    fn drops_late(&self) -> bool {
        true
    }
    /// Inner variables for plots (average queue, drop probability...), by name.
    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        let _ = out;
    }
    /// The largest receive window, in bytes, that acknowledgements of `flow` may show while they cross the link against the
    /// direction of this queue; asked only of queues that say [`Qdisc::clamps`]. `None` leaves them alone.
    fn window_clamp(&self, flow: FlowId) -> Option<u32> {
        let _ = flow;
        None
    }
    /// Whether the queue rewrites the windows of returning acknowledgements (ModRED).
    fn clamps(&self) -> bool {
        false
    }
}
