//! A port's side of a scheduler, for tests.

use fairlane_engine::Stream;
use fairlane_net::{Class, Drops, FlowId, LinkInfo, PktRef, Proto, QCx, QPkt, Qdisc};
use fairlane_testkit::packet::PACKET;
use fairlane_units::{Dur, Rate, Time};

/// 8 Mbit/s: a byte takes a microsecond.
pub(crate) fn link() -> LinkInfo {
    LinkInfo { rate: Rate::from_mbps(8), delay: Dur::ZERO }
}

/// A packet of flow `flow`; flows of odd number are UDP, and the class is the flow's number.
pub(crate) fn pkt(id: u32, flow: u32, len: u32) -> QPkt {
    let (id, proto) = (PktRef(id), if flow.is_multiple_of(2) { Proto::Tcp } else { Proto::Udp });
    let (flow, class) = (FlowId(flow), Class(flow as u8));
    QPkt { id, len, flow, class, proto, ..PACKET }
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

    pub(crate) fn put(&mut self, q: &mut impl Qdisc, t: Time, p: QPkt) {
        q.enqueue(QPkt { at: t, ..p }, &mut QCx { now: t, rng: &mut self.rng, drops: &mut self.drops, marks: 0 });
    }

    pub(crate) fn get(&mut self, q: &mut impl Qdisc, t: Time) -> Option<QPkt> {
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
