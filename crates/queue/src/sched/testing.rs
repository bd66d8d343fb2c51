//! A port's side of a scheduler, for tests.

use fairlane_engine::{Stream, steps::steps};
use fairlane_net::{BuildContext, Class, Drops, FlowId, FlowInfo, LinkInfo, Packet, PacketRef, Proto, QCx, Qdisc};
use fairlane_testkit::packet::PACKET;
use fairlane_units::{Dur, Rate, Time};

/// 8 Mbit/s: a byte takes a microsecond.
pub(crate) fn link() -> LinkInfo {
    LinkInfo { rate: Rate::from_mbps(8), delay: Dur::ZERO }
}

/// A packet of flow `flow`; flows of odd number are UDP, and the class is the flow's number.
pub(crate) fn pkt(id: u32, flow: u32, len: u32) -> Packet {
    let (id, proto) = (PacketRef(id), if flow.is_multiple_of(2) { Proto::Tcp } else { Proto::Udp });
    let (flow, class) = (FlowId(flow), Class(flow as u8));
    Packet { id, len, flow, class, proto, ..PACKET }
}

/// Microseconds as a time.
pub(crate) fn us(t: u64) -> Time {
    Time::ZERO + Dur::from_us(t)
}

/// Calls a queue.
pub(crate) struct Desk {
    rng: Stream,
    pub(crate) drops: Drops,
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self { rng: Stream::new(1, "port", "test", "aqm"), drops: vec![] }
    }

    pub(crate) fn put(&mut self, q: &mut impl Qdisc, t: Time, p: Packet) {
        q.enqueue(Packet { at: t, ..p }, &mut QCx { now: t, rng: &mut self.rng, drops: &mut self.drops, marks: 0 });
    }

    pub(crate) fn get(&mut self, q: &mut impl Qdisc, t: Time) -> Option<Packet> {
        q.dequeue(&mut QCx { now: t, rng: &mut self.rng, drops: &mut self.drops, marks: 0 })
    }

    /// Flows of the packets that leave one after the other at time `t`, at most `n`.
    pub(crate) fn flows(&mut self, q: &mut impl Qdisc, t: Time, n: usize) -> Vec<u32> {
        (0..n).map_while(|_| self.get(q, t)).map(|p| p.flow.0).collect()
    }

    /// Numbers of the packets dropped so far.
    pub(crate) fn dropped(&self) -> Vec<u32> {
        self.drops.iter().map(|(p, _)| p.id.0).collect()
    }
}

/// Steps for each packet that a queue sends to [`link`]: it holds `each` packets of each of the flows `f.0` to `f.(n - 1)`, and sends two for each.
pub(crate) fn steps_per_packet<Q: Qdisc>(n: u32, each: u32, build: impl FnOnce(&BuildContext<'_>) -> Q) -> f64 {
    let names: Vec<String> = (0..n).map(|i| format!("f.{i}")).collect();
    let flows: Vec<_> = names.iter().map(|name| FlowInfo { name, from: 0, to: 1, proto: Proto::Udp }).collect();
    let mut q = build(&BuildContext { link: link(), flows: &flows });
    let mut desk = Desk::new();
    (0..each * n).for_each(|id| desk.put(&mut q, us(0), pkt(id, id % n, 1000)));
    let (mut now, before, mut sent) = (us(0), steps(), 0);
    while sent < 2 * n {
        now = now.max(q.ready_at().unwrap_or(now));
        if desk.get(&mut q, now).is_some() {
            now += link().rate.tx_time(1000);
            sent += 1;
        }
    }
    (steps() - before) as f64 / f64::from(sent)
}

/// Mean wait of the packets of `n` flows with a constant rate, 103 % of 10 Mbit/s together, in ms: of those that leave between 10 and 30 s.
pub(crate) fn cbr_wait(q: &mut impl Qdisc, link: Rate, n: u32) -> f64 {
    let gap = Rate::from_mbps(10).tx_time(1500).as_ps() as f64 / 1.03;
    let (from, to) = (Time::ZERO + Dur::from_secs(10), Time::ZERO + Dur::from_secs(30));
    let (mut desk, mut id, mut now, mut free, mut waits, mut sent) = (Desk::new(), 0, Time::ZERO, Time::ZERO, 0.0, 0);
    while now < to {
        let next = Time::from_ps((f64::from(id) * gap) as u64);
        let ready = if q.backlog().pkts > 0 { q.ready_at().unwrap_or(Time::ZERO).max(free).max(now) } else { Time::MAX };
        now = next.min(ready);
        if now == next {
            desk.put(q, now, pkt(id, id % n, 1500));
            id += 1;
        }
        if now < free {
            continue;
        }
        if let Some(p) = desk.get(q, now) {
            free = now + link.tx_time(1500);
            if now > from {
                waits += now.since(p.at).as_secs_f64() * 1e3;
                sent += 1;
            }
        }
    }
    waits / f64::from(sent)
}
