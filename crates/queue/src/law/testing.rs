//! Helpers of several laws' tests: packets, and a law without a queue around it.

use super::{Law, LawCx, Verdict};
use crate::sched::waiting::Waiting;
use fairlane_engine::Stream;
use fairlane_net::{Backlog, Ecn, FlowId, Packet};
use fairlane_testkit::packet::PACKET;
use fairlane_units::Time;

/// A data packet of `len` bytes that arrived at `at`.
pub(crate) fn pkt(len: u32, flow: u32, ecn: Ecn, at: Time) -> Packet {
    Packet { len, flow: FlowId(flow), at, ecn, ..PACKET }
}

/// A law with a given backlog; packets of 1000 bytes where only bytes are given.
pub(crate) struct Bench<L> {
    pub law: L,
    pub rng: Stream,
    pub queue: Waiting,
}

impl<L: Law> Bench<L> {
    pub(crate) fn new(law: L, seed: u64) -> Self {
        Self { law, rng: Stream::new(seed, "port", "law", "aqm"), queue: Waiting::default() }
    }
    fn with<R>(&mut self, now: Time, bytes: u64, f: impl FnOnce(&mut L, &mut LawCx<'_>) -> R) -> R {
        let held = Backlog { pkts: bytes.div_ceil(1000) as u32, bytes };
        f(&mut self.law, &mut LawCx { now, rng: &mut self.rng, held, queue: &self.queue })
    }
    pub(crate) fn enqueue(&mut self, p: &Packet, now: Time, bytes: u64) -> Verdict {
        self.with(now, bytes, |l, cx| l.on_enqueue(p, cx))
    }
    pub(crate) fn overflow(&mut self, p: &Packet, now: Time, bytes: u64) {
        self.with(now, bytes, |l, cx| l.on_overflow(p, cx));
    }
    pub(crate) fn dequeue(&mut self, p: &Packet, now: Time, bytes: u64) -> Verdict {
        self.with(now, bytes, |l, cx| l.on_dequeue(p, cx))
    }
    pub(crate) fn timer(&mut self, now: Time, bytes: u64) -> Option<Time> {
        self.with(now, bytes, |l, cx| l.on_timer(cx))
    }
}
