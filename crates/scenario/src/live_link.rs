//! A link of a scenario in real time: real packets pass through a simulated queue, for network stacks outside of the simulator.
//!
//! It reads no clock and no device: the caller passes packets in with the time and takes them out when due. Transmissions follow each other
//! exactly as in the simulator (`net::Path`), however late the caller is.

use crate::build::Listed;
use crate::expand::LinkDir;
use crate::registry::AnyQdisc;
use crate::resolved::Resolved;
use fairlane_engine::Stream;
use fairlane_net::{BuildContext, Class, Device, Drops, Ecn, FlowId, Impair, Outcome, Packet, PacketRef, Proto, QCx, Qdisc, Schedule};
use fairlane_queue::Discipline;
use fairlane_units::{Dur, Rate, Time};
use std::collections::VecDeque;

/// Counters of a live link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiveCounters {
    /// Packets offered.
    pub arrivals: u64,
    /// Packets whose transmission started.
    pub departures: u64,
    /// Bytes of these packets.
    pub bytes: u64,
    /// Packets dropped by the queue.
    pub drops: u64,
    /// Packets marked CE by the queue.
    pub marks: u64,
    /// Packets lost on the link.
    pub lost: u64,
    /// Copies made by the duplication impairment.
    pub duplicates: u64,
}

/// One direction of a link with its queue, for real IP packets.
pub struct LiveLink {
    queue: AnyQdisc,
    rng: Stream,
    rate: Rate,
    schedule: Option<Schedule>,
    /// Propagation delay without that of an impairment.
    delay: Dur,
    impair: Option<Impair>,
    device: Option<Device>,
    /// No packet leaves the queue before this time.
    busy_until: Time,
    timer: Time,
    drops: Drops,
    /// Bytes of the packets inside, indexed by handle.
    store: Vec<Vec<u8>>,
    free: Vec<u32>,
    /// Packets in flight with their arrival times, in that order.
    flying: VecDeque<(Time, u32, Ecn)>,
    /// Known pairs of addresses and ports; the index is the flow number.
    flows: Vec<[u8; 12]>,
    known: usize,
    count: LiveCounters,
    /// Queueing time, in packets times picoseconds.
    waiting: u128,
    since: Time,
}

impl LiveLink {
    /// Creates the link direction `name` of a scenario; `None` if the name is unknown.
    pub fn new(scenario: &Resolved, name: &str, seed: u64) -> Option<Self> {
        let link: &LinkDir = scenario.link_directions().iter().find(|l| l.name == name)?;
        let members = scenario.members_at(seed);
        let infos = Listed::new(|| &members[..]);
        let info = link.wire.info();
        let queue = link.wire.queue.build(&BuildContext { link: info, flows: &infos });
        let impair = Impair::new(&link.wire.impairments, info.delay, seed, name);
        let timer = if queue.has_timer() { Time::ZERO } else { Time::MAX };
        Some(Self {
            queue,
            rng: Stream::new(seed, "port", name, "queue"),
            rate: info.rate,
            schedule: link.wire.schedule(),
            delay: info.delay.saturating_sub(impair.as_ref().map_or(Dur::ZERO, Impair::early)),
            impair,
            device: link.wire.device.and_then(Device::new),
            busy_until: Time::ZERO,
            timer,
            drops: Vec::new(),
            store: Vec::new(),
            free: Vec::new(),
            flying: VecDeque::new(),
            flows: Vec::new(),
            known: members.len().max(1),
            count: LiveCounters::default(),
            waiting: 0,
            since: Time::ZERO,
        })
    }

    /// Offers an IP packet at `now`, which must not decrease.
    pub fn offer(&mut self, now: Time, packet: &[u8]) {
        self.settle(now);
        let header = Header::of(packet);
        let flow = self.flow(&header.key);
        let id = self.keep(packet);
        let pkt = Packet {
            id,
            len: packet.len() as u32,
            flow: FlowId(flow),
            hop: 0,
            at: now,
            class: Class(header.dscp),
            ecn: header.ecn,
            proto: header.proto,
            data: header.data,
            back: false,
            conn: 0,
        };
        self.count.arrivals += 1;
        self.note(now);
        self.with_queue(now, |queue, cx| queue.enqueue(pkt, cx));
        self.busy_until = self.busy_until.max(now);
        self.settle_at(now, true);
    }

    /// Passes the packets that have reached the far end by `now` to `deliver`, in order.
    pub fn take(&mut self, now: Time, mut deliver: impl FnMut(&[u8])) {
        while self.take_one(now, |_, packet| deliver(packet)) {}
    }

    /// Delivers the first such packet with its due time; returns true if there was one.
    pub fn take_one(&mut self, now: Time, deliver: impl FnOnce(Time, &[u8])) -> bool {
        self.settle_at(now, true);
        let Some(&(at, slot, ecn)) = self.flying.front().filter(|f| f.0 <= now) else { return false };
        self.flying.pop_front();
        let packet = &mut self.store[slot as usize];
        set_ecn(packet, ecn);
        deliver(at, packet);
        self.free.push(slot);
        true
    }

    /// Time of the next arrival, when [`Self::take`] should be called; [`Time::MAX`] if the link is empty.
    pub fn next(&self) -> Time {
        let arrival = self.flying.front().map_or(Time::MAX, |f| f.0);
        // A transmission carried out late still happens at its own time: its arrival at the far end counts.
        let waiting = if self.queue.backlog().pkts > 0 { self.start().later(self.delay) } else { Time::MAX };
        arrival.min(waiting)
    }

    /// Counters so far.
    pub fn counters(&self) -> LiveCounters {
        self.count
    }

    /// Mean number of queued packets between time zero and `now`.
    pub fn queue_mean(&mut self, now: Time) -> f64 {
        self.settle(now);
        self.note(now);
        self.waiting as f64 / now.as_ps().max(1) as f64
    }

    fn start(&self) -> Time {
        self.queue.ready_at().map_or(self.busy_until, |t| t.max(self.busy_until))
    }

    fn settle(&mut self, now: Time) {
        self.settle_at(now, false);
    }

    /// Carries out transmissions due before `now` (`including`: or at `now`) and queue timers, in order of time.
    fn settle_at(&mut self, now: Time, including: bool) {
        loop {
            let start = if self.queue.backlog().pkts > 0 { self.start() } else { Time::MAX };
            if self.timer <= start && self.timer <= now {
                let at = self.timer;
                self.timer = self.with_queue(at, |queue, cx| queue.on_timer(cx)).unwrap_or(Time::MAX);
                continue;
            }
            if start > now || (start == now && !including) {
                return;
            }
            self.note(start);
            let Some(pkt) = self.with_queue(start, |queue, cx| queue.dequeue(cx)) else { return };
            self.count.departures += 1;
            self.count.bytes += u64::from(pkt.len);
            let begins = self.device.as_ref().map_or(start, |d| d.begins(start));
            let left = self.schedule.as_ref().map_or(0, |s| s.left());
            let end = match &mut self.schedule {
                Some(s) => s.end(pkt.at, begins, pkt.len),
                None => begins.later(self.rate.tx_time(u64::from(pkt.len))),
            };
            self.busy_until = self.device.as_mut().map_or(end, |d| d.take(start, end, pkt.len, left));
            self.fly(&pkt, end);
        }
    }

    /// Puts a packet on the link, in order of arrival.
    fn fly(&mut self, pkt: &Packet, sent: Time) {
        let earliest = sent.later(self.delay);
        let Some(impair) = &mut self.impair else {
            self.flying.push_back((earliest, pkt.id.0, pkt.ecn));
            return;
        };
        let Outcome { lost, twice, ecn, .. } = impair.outcome(earliest, Outcome::of(pkt));
        if lost {
            self.count.lost += 1;
            self.free.push(pkt.id.0);
            return;
        }
        let copy = twice.then(|| impair.arrival(earliest, pkt.len));
        let at = impair.arrival(earliest, pkt.len);
        if let Some(at) = copy {
            self.count.duplicates += 1;
            let bytes = self.store[pkt.id.0 as usize].clone();
            let id = self.keep(&bytes);
            self.insert(at, id.0, ecn);
        }
        self.insert(at, pkt.id.0, ecn);
    }

    fn insert(&mut self, at: Time, slot: u32, ecn: Ecn) {
        let place = self.flying.partition_point(|f| f.0 <= at);
        self.flying.insert(place, (at, slot, ecn));
    }

    fn with_queue<T>(&mut self, now: Time, f: impl FnOnce(&mut AnyQdisc, &mut QCx<'_>) -> T) -> T {
        let mut cx = QCx { now, rng: &mut self.rng, drops: &mut self.drops, marks: 0 };
        let out = f(&mut self.queue, &mut cx);
        self.count.marks += u64::from(cx.marks);
        self.count.drops += self.drops.len() as u64;
        self.free.extend(self.drops.drain(..).map(|(p, _)| p.id.0));
        out
    }

    /// Accumulates the backlog until `now`; called before it changes.
    fn note(&mut self, now: Time) {
        if now > self.since {
            self.waiting += u128::from(self.queue.backlog().pkts) * u128::from(now.since(self.since).as_ps());
            self.since = now;
        }
    }

    fn keep(&mut self, packet: &[u8]) -> PacketRef {
        match self.free.pop() {
            Some(slot) => {
                let kept = &mut self.store[slot as usize];
                kept.clear();
                kept.extend_from_slice(packet);
                PacketRef(slot)
            }
            None => {
                self.store.push(packet.to_vec());
                PacketRef(self.store.len() as u32 - 1)
            }
        }
    }

    /// Numbers flows in order of appearance; flows beyond the scenario's share its last number.
    fn flow(&mut self, key: &[u8; 12]) -> u32 {
        let place = self.flows.iter().position(|k| k == key).unwrap_or_else(|| {
            if self.flows.len() < self.known {
                self.flows.push(*key);
            }
            self.flows.len() - 1
        });
        place as u32
    }
}

/// Fields of an IPv4 header that queues use.
struct Header {
    key: [u8; 12],
    dscp: u8,
    ecn: Ecn,
    proto: Proto,
    data: bool,
}

/// Protocol number of UDP.
const UDP: u8 = 17;

impl Header {
    /// Parses a header; all zero for other protocols, which are carried but not parsed.
    fn of(packet: &[u8]) -> Self {
        let byte = |i: usize| packet.get(i).copied().unwrap_or(0);
        if byte(0) >> 4 != 4 {
            return Self { key: [0; 12], dscp: 0, ecn: Ecn::NotEct, proto: Proto::Tcp, data: true };
        }
        let ip = usize::from(byte(0) & 15) * 4;
        let proto = if byte(9) == UDP { Proto::Udp } else { Proto::Tcp };
        let mut key = [0; 12];
        for (i, k) in key.iter_mut().enumerate() {
            // Source and destination address, then both ports.
            *k = if i < 8 { byte(12 + i) } else { byte(ip + i - 8) };
        }
        let tcp = usize::from(byte(ip + 12) >> 4) * 4;
        let ecn = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(byte(1) & 3)];
        Self { key, dscp: byte(1) >> 2, ecn, proto, data: proto == Proto::Udp || packet.len() > ip + tcp }
    }
}

/// Sets the ECN field of an IPv4 header and updates its checksum (RFC 1624 equation 3).
fn set_ecn(packet: &mut [u8], ecn: Ecn) {
    let &mut [first, tos, ..] = packet else { return };
    if first >> 4 != 4 || packet.len() < 20 || tos & 3 == ecn as u8 {
        return;
    }
    packet[1] = tos & !3 | ecn as u8;
    let word = |low: u8| u32::from(u16::from_be_bytes([first, low]));
    let old = u32::from(!u16::from_be_bytes([packet[10], packet[11]]));
    let mut sum = old + (!word(tos) & 0xffff) + word(packet[1]);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    [packet[10], packet[11]] = (!(sum as u16)).to_be_bytes();
}

#[cfg(test)]
#[path = "live_link_tests.rs"]
mod tests;
