//! Animation of a network: the path of every packet from queue to queue in few bytes, and the state of queues and
//! flows at the end of each stretch.
//!
//! A stretch is a **chunk**, read by `web/src/watch/chunk.js` in live and replayed pages. Both sides know when a packet in transmission
//! should reach the far end, and that a packet that arrived is offered to the next queue at once. Such times are not
//! written; a packet that arrives at another time than the rate and delay of its link imply has an event of its own.

mod encoding;

use encoding::{Zeros, apart, put, zigzag};
use fairlane_net::{
    DequeueEvent, DropEvent, Ecn, EnqueueEvent, EpId, HopEvent, Interest, Observer, Packet, PacketRef, ReceiveEvent, SendEvent, StateEvent,
};
use fairlane_units::Time;

/// Values of a link direction in a chunk: rate in bit/s, delay in ns, queued packets and bytes, bytes and packets sent, packets dropped by the queue,
/// lost on the link, marked.
pub const OF_LINK: usize = 9;
/// Values of a flow: cwnd, ssthresh (0: none), bytes in flight, srtt in us, payload delivered, bytes on the wire that arrived (from 0 again at the
/// end of the warm-up), retransmissions, timeouts, number of the state in [`STATES`], 0 before its start, 1 while active, 2 when complete.
pub const OF_FLOW: usize = 10;
/// Names of sender states.
pub const STATES: &[&str] = &["", "open", "disorder", "cwr", "recovery", "loss"];

/// State of all links and flows at one instant.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Links.
    pub links: Vec<[u64; OF_LINK]>,
    /// Flows.
    pub flows: Vec<[u64; OF_FLOW]>,
    /// Gauges: twice the number of the link, or twice that of the flow plus one, name, value.
    pub gauges: Vec<(u32, &'static str, f64)>,
}

/// Kind of an event. The numbers are those in chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Kind {
    /// A packet arrived at a queue and was sent at once.
    Pass = 0,
    /// A packet was queued.
    Wait = 1,
    /// A queued packet starts its transmission.
    Go = 2,
    /// An arriving packet was dropped.
    Drop = 3,
    /// A queued packet was dropped.
    Out = 4,
    /// The link lost a packet.
    Lost = 5,
    /// A packet reaches the far end at an unexpected time.
    Here = 6,
    /// A retransmission timer expired.
    Timeout = 7,
    /// A packet that is not followed was marked.
    Mark = 8,
}

const MARKED: u8 = 1 << 4;
const AGAIN: u8 = 1 << 5;
const BACK: u8 = 1 << 6;
const TIMED: u8 = 1 << 7;

/// Event that a search stops at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeekTarget {
    /// Any event of a packet at a queue.
    Packet,
    /// A drop by a queue, or a loss on a link.
    Drop,
    /// A mark.
    Mark,
    /// A timeout.
    Timeout,
}

impl SeekTarget {
    /// Parses a name.
    pub fn named(name: &str) -> Option<Self> {
        [("packet", Self::Packet), ("drop", Self::Drop), ("mark", Self::Mark), ("timeout", Self::Timeout)]
            .into_iter()
            .find_map(|(n, it)| (n == name).then_some(it))
    }
    fn kinds(self) -> u16 {
        let of = |kinds: &[Kind]| kinds.iter().fold(0, |all, &k| all | 1 << k as u8);
        match self {
            Self::Packet => of(&[Kind::Pass, Kind::Wait, Kind::Go, Kind::Drop, Kind::Out, Kind::Lost]),
            Self::Drop => of(&[Kind::Drop, Kind::Out, Kind::Lost]),
            Self::Mark => of(&[Kind::Mark]),
            Self::Timeout => of(&[Kind::Timeout]),
        }
    }
}

/// A packet in the network.
#[derive(Clone, Copy, Debug, Default)]
struct PacketState {
    /// Number in its flow and direction, from 1; 0 for none.
    number: u32,
    /// True if the packet is followed.
    followed: bool,
    again: bool,
    marked: bool,
    /// Port of the queue that holds it.
    port: Option<u32>,
    /// Expected or actual arrival at the end of its link, in ns; none before the first link.
    there: Option<u64>,
}

#[derive(Clone, Debug, Default)]
struct Columns {
    count: u64,
    heads: Vec<u8>,
    times: Vec<u8>,
    links: Vec<u8>,
    flows: Vec<u8>,
    numbers: Vec<u8>,
    sizes: Vec<u8>,
}

/// Number and size of the last reported packet of a flow and direction on a link.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    number: u32,
    size: u32,
}

/// A link direction as known to the reader: its state at the end of the last chunk.
#[derive(Clone, Copy, Debug, Default)]
struct Wire {
    rate: u64,
    delay: u64,
    /// End of the current transmission.
    free: u64,
}

/// Collects the events of a chunk.
#[derive(Clone, Debug)]
pub struct Scene {
    /// One of every `one_of` packets of a flow is followed; all drops and marks are reported.
    one_of: u32,
    under: Vec<PacketState>,
    sent: Vec<u32>,
    last: Vec<Vec<Last>>,
    wires: Vec<Wire>,
    timeouts: Vec<u64>,
    /// An arriving packet that may be sent at once.
    came: Option<EnqueueEvent>,
    /// Time of the last event that has one.
    clock: u64,
    columns: Columns,
    snapshot: Snapshot,
    at: u64,
    begun: bool,
    /// Kinds of events searched for, one bit each, and the time of the first match.
    sought: u16,
    found: Option<Time>,
}

/// Smaller time differences are ignored, in ns: expected times are computed in whole nanoseconds.
const CLOSE: u64 = 100;

fn ns(t: Time) -> u64 {
    t.as_ps() / 1000
}

impl Scene {
    /// Creates a scene that follows one of every `one_of` packets of a flow; `snapshot`: current state of the network.
    pub fn new(one_of: u32, snapshot: &Snapshot) -> Self {
        let (links, flows) = (snapshot.links.len(), snapshot.flows.len());
        let timeouts = snapshot.flows.iter().map(|f| f[7]).collect();
        let mut made = Self {
            one_of: one_of.max(1),
            under: Vec::new(),
            sent: vec![0; 2 * flows],
            last: vec![Vec::new(); links],
            wires: vec![Wire::default(); links],
            timeouts,
            came: None,
            clock: 0,
            columns: Columns::default(),
            snapshot: Snapshot { links: vec![[0; OF_LINK]; links], flows: vec![[0; OF_FLOW]; flows], gauges: Vec::new() },
            at: 0,
            begun: false,
            sought: 0,
            found: None,
        };
        made.record(snapshot);
        made
    }

    /// Number of events since the last chunk.
    pub fn len(&self) -> u64 {
        self.columns.count
    }
    /// True if nothing has happened since the last chunk.
    pub fn is_empty(&self) -> bool {
        self.columns.count == 0
    }

    fn record(&mut self, snapshot: &Snapshot) {
        for (wire, now) in self.wires.iter_mut().zip(&snapshot.links) {
            (wire.rate, wire.delay) = (now[0], now[1]);
        }
    }

    /// Starts a search for events of some kinds; discards an earlier match.
    pub fn seek(&mut self, what: SeekTarget) {
        (self.sought, self.found) = (what.kinds(), None);
    }
    /// Time of the first match.
    pub fn found(&self) -> Option<Time> {
        self.found
    }
    fn notice(&mut self, kind: Kind, marked: bool, now: Time) {
        if self.found.is_none() && (self.sought >> kind as u8 & 1 != 0 || (marked && self.sought >> Kind::Mark as u8 & 1 != 0)) {
            self.found = Some(now);
        }
    }

    /// Returns the chunk that ends now and starts the next one.
    pub fn chunk(&mut self, now: Time, snapshot: Snapshot) -> Vec<u8> {
        self.settle_one();
        let (first, now) = (!self.begun, ns(now));
        let names = |s: &Snapshot| s.gauges.iter().map(|g| (g.0, g.1)).collect::<Vec<_>>();
        let renamed = first || names(&self.snapshot) != names(&snapshot);
        let mut out = vec![u8::from(first) | u8::from(renamed) << 1];
        if first {
            put(&mut out, self.one_of.into());
        }
        put(&mut out, now.wrapping_sub(self.at));
        let mut zeros = Zeros::default();
        for k in 0..OF_LINK {
            for (new, old) in snapshot.links.iter().zip(&self.snapshot.links) {
                zeros.put(&mut out, apart(new[k], old[k]));
            }
        }
        for k in 0..OF_FLOW {
            for (new, old) in snapshot.flows.iter().zip(&self.snapshot.flows) {
                zeros.put(&mut out, apart(new[k], old[k]));
            }
        }
        zeros.end(&mut out);
        if renamed {
            put(&mut out, snapshot.gauges.len() as u64);
            for (owner, name, _) in &snapshot.gauges {
                put(&mut out, (*owner).into());
                put(&mut out, name.len() as u64);
                out.extend(name.bytes());
            }
        }
        let bits = |v: f64| u64::from((v as f32).to_bits());
        for (i, (_, _, value)) in snapshot.gauges.iter().enumerate() {
            let before = if renamed { 0 } else { bits(self.snapshot.gauges[i].2) };
            zeros.put(&mut out, apart(bits(*value), before));
        }
        zeros.end(&mut out);
        let c = std::mem::take(&mut self.columns);
        put(&mut out, c.count);
        out.extend(&c.heads);
        for column in [&c.times, &c.links, &c.flows, &c.numbers, &c.sizes] {
            put(&mut out, column.len() as u64);
            out.extend(column);
        }
        self.record(&snapshot);
        (self.snapshot, self.at, self.begun) = (snapshot, now, true);
        out
    }

    fn under(&mut self, id: PacketRef) -> &mut PacketState {
        let i = id.0 as usize;
        if i >= self.under.len() {
            self.under.resize(i + 1, PacketState::default());
        }
        &mut self.under[i]
    }

    /// State of a packet; a new one gets its number.
    fn known(&mut self, pkt: &Packet, again: bool) -> PacketState {
        let known = *self.under(pkt.id);
        if known.number != 0 {
            return known;
        }
        let way = (pkt.flow.0 as usize) << 1 | usize::from(pkt.back);
        if way >= self.sent.len() {
            self.sent.resize(way + 1, 0);
        }
        self.sent[way] += 1;
        let number = self.sent[way];
        let made = PacketState { number, followed: number.is_multiple_of(self.one_of), again, ..PacketState::default() };
        *self.under(pkt.id) = made;
        made
    }

    /// Writes an event of a packet at a port; `expected`: time that the reader assumes. Returns the written time.
    fn tell(&mut self, kind: Kind, now: u64, port: u32, pkt: &Packet, known: &PacketState, expected: Option<u64>) -> u64 {
        let near = expected.filter(|t| t.abs_diff(now) < CLOSE);
        let (timed, now) = (near.is_none(), near.unwrap_or(now));
        let flags = if known.marked { MARKED } else { 0 } | if known.again { AGAIN } else { 0 } | if pkt.back { BACK } else { 0 };
        self.head(kind, flags, timed, now);
        let c = &mut self.columns;
        put(&mut c.links, port.into());
        put(&mut c.flows, pkt.flow.0.into());
        if port as usize >= self.last.len() {
            self.last.resize(port as usize + 1, Vec::new());
        }
        let of_link = &mut self.last[port as usize];
        let way = (pkt.flow.0 as usize) << 1 | usize::from(pkt.back);
        if way >= of_link.len() {
            of_link.resize(way + 1, Last::default());
        }
        let last = &mut of_link[way];
        put(&mut c.numbers, zigzag(i64::from(known.number) - i64::from(last.number) - i64::from(self.one_of)));
        put(&mut c.sizes, apart(pkt.len.into(), last.size.into()));
        *last = Last { number: known.number, size: pkt.len };
        now
    }

    fn head(&mut self, kind: Kind, flags: u8, timed: bool, now: u64) {
        let c = &mut self.columns;
        c.count += 1;
        c.heads.push(kind as u8 | flags | if timed { TIMED } else { 0 });
        if timed {
            put(&mut c.times, apart(now, self.clock));
        }
        self.clock = now;
    }

    /// Writes the last arrival, if the packet was not sent at once.
    fn settle_one(&mut self) {
        if let Some(e) = self.came.take() {
            let known = *self.under(e.pkt.id);
            if known.followed {
                self.tell(Kind::Wait, ns(e.time), e.port.0, &e.pkt, &known, known.there);
            }
            self.notice(Kind::Wait, false, e.time);
            self.under(e.pkt.id).there = None;
        }
    }
}

impl Observer for Scene {
    #[inline]
    fn endpoint_interest(&self, endpoint: EpId) -> Interest {
        Interest::SEGMENT | Interest::STATE.when(!endpoint.receives())
    }

    fn on_send(&mut self, e: &SendEvent) {
        self.settle_one();
        *self.under(e.pkt.id) = PacketState::default();
        self.known(&e.pkt, e.seg.retransmission());
    }

    fn on_enqueue(&mut self, e: &EnqueueEvent) {
        self.settle_one();
        let mut known = self.known(&e.pkt, false);
        (known.port, known.marked) = (Some(e.port.0), e.pkt.ecn == Ecn::Ce);
        *self.under(e.pkt.id) = known;
        self.came = Some(*e);
    }

    fn on_dequeue(&mut self, e: &DequeueEvent) {
        let at_once = self.came.is_some_and(|c| c.pkt.id == e.pkt.id && c.time == e.time && c.port == e.port);
        if at_once {
            self.came = None;
        } else {
            self.settle_one();
        }
        let (now, mut known) = (ns(e.time), self.known(&e.pkt, e.seg.retransmission()));
        let marked = e.pkt.ecn == Ecn::Ce && !known.marked;
        known.marked = marked;
        self.notice(if at_once { Kind::Pass } else { Kind::Go }, marked, e.time);
        if known.followed {
            let wire = self.wires.get(e.port.0 as usize).copied().unwrap_or_default();
            let expected = if at_once { known.there } else { Some(wire.free) };
            let kind = if at_once { Kind::Pass } else { Kind::Go };
            let now = self.tell(kind, now, e.port.0, &e.pkt, &known, expected);
            if let Some(wire) = self.wires.get_mut(e.port.0 as usize) {
                let bits = u64::from(e.pkt.len) * 8;
                let sent = now + (bits * 1_000_000_000).checked_div(wire.rate).unwrap_or(0);
                wire.free = sent;
                known.there = Some(sent + wire.delay);
            }
        } else if marked {
            self.tell(Kind::Mark, now, e.port.0, &e.pkt, &known, None);
        }
        known.marked = e.pkt.ecn == Ecn::Ce;
        *self.under(e.pkt.id) = known;
    }

    fn on_hop(&mut self, e: &HopEvent) {
        self.settle_one();
        let known = *self.under(e.pkt.id);
        if known.number == 0 {
            return;
        }
        let now = ns(e.time);
        if known.followed && known.there.is_none_or(|t| t.abs_diff(now) >= CLOSE) {
            self.tell(Kind::Here, now, e.port.0, &e.pkt, &known, None);
            self.under(e.pkt.id).there = Some(now);
        }
    }

    fn on_drop(&mut self, e: &DropEvent) {
        let came = self.came.is_some_and(|c| c.pkt.id == e.pkt.id);
        self.settle_one();
        let known = PacketState { marked: false, ..self.known(&e.pkt, e.seg.retransmission()) };
        let kind = match (e.why.on_link(), known.port == Some(e.port.0) || came) {
            (true, _) => Kind::Lost,
            (false, true) => Kind::Out,
            (false, false) => Kind::Drop,
        };
        self.tell(kind, ns(e.time), e.port.0, &e.pkt, &known, None);
        self.notice(kind, false, e.time);
        *self.under(e.pkt.id) = PacketState::default();
    }

    fn on_receive(&mut self, e: &ReceiveEvent) {
        self.settle_one();
        *self.under(e.pkt.id) = PacketState::default();
    }

    fn on_state(&mut self, e: &StateEvent) {
        let flow = e.endpoint.flow().0;
        let Some(seen) = self.timeouts.get_mut(flow as usize) else { return };
        if e.state.timeouts > *seen {
            *seen = e.state.timeouts;
            self.settle_one();
            self.head(Kind::Timeout, 0, true, ns(e.time));
            put(&mut self.columns.flows, flow.into());
            self.notice(Kind::Timeout, false, e.time);
        }
    }
}

#[cfg(test)]
mod tests;
