//! Benchmark of a queue discipline: enqueue and dequeue of a packet at a steady backlog, without a network.

use crate::registry::{AnyQdisc, QueueSpec};
use fairlane_engine::Stream;
use fairlane_net::{BuildContext, Class, Ecn, FlowId, FlowInfo, LinkInfo, Packet, PacketRef, Proto, QCx, Qdisc};
use fairlane_queue::Discipline;
use fairlane_units::{Dur, Rate, Time};
use std::time::Instant;

/// Flows served in turn.
const FLOWS: u32 = 16;
/// Queued packets, about two milliseconds at 100 Mbit/s: below the target of every law, so the benchmark measures storing and not dropping.
const BACKLOG: u64 = 20;
/// Length of all packets in bytes.
const LENGTH: u32 = 1000;
/// Number of equal parts of a measurement; only the fastest counts, because the others were disturbed.
const PARTS: u64 = 10;

/// The cost of a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueCost {
    /// Nanoseconds per packet for enqueue and dequeue together.
    pub ns: f64,
    /// Packets offered.
    pub packets: u64,
    /// Packets dropped.
    pub drops: u64,
}

/// Measures the discipline `spec` before a link of 100 Mbit/s with about `packets` packets of 16 flows.
pub fn bench_queue(spec: &QueueSpec, packets: u64, seed: u64) -> QueueCost {
    let link = LinkInfo { rate: Rate::from_mbps(100), delay: Dur::from_ms(10) };
    let names: Vec<String> = (0..FLOWS).map(|i| format!("flow.{i}")).collect();
    let flows: Vec<FlowInfo<'_>> =
        names.iter().zip(0..).map(|(name, i)| FlowInfo { name, from: 2 + 2 * i, to: 3 + 2 * i, proto: proto(i) }).collect();
    let mut rig = Rig {
        queue: spec.build(&BuildContext { link, flows: &flows }),
        rng: Stream::new(seed, "port", "bench", "queue"),
        drops: Vec::new(),
        dropped: 0,
        now: Time::ZERO,
        offered: 0,
        timer: Time::ZERO,
    };
    let gap = link.rate.tx_time(u64::from(LENGTH));
    for _ in 0..BACKLOG {
        rig.offer();
    }
    let part = (packets / PARTS).max(1);
    let mut best = f64::INFINITY;
    for _ in 0..PARTS {
        let start = Instant::now();
        for _ in 0..part {
            rig.now += gap;
            rig.offer();
            rig.take();
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e9 / part as f64);
    }
    QueueCost { ns: best, packets: rig.offered, drops: rig.dropped }
}

fn proto(flow: u32) -> Proto {
    if flow % 4 == 3 { Proto::Udp } else { Proto::Tcp }
}

struct Rig {
    queue: AnyQdisc,
    rng: Stream,
    drops: Vec<(Packet, fairlane_net::DropReason)>,
    dropped: u64,
    now: Time,
    offered: u64,
    timer: Time,
}

impl Rig {
    fn offer(&mut self) {
        let flow = (self.offered % u64::from(FLOWS)) as u32;
        // Handles are reused like those of an arena, so a queue may keep tables indexed by handle.
        let id = PacketRef((self.offered % (4 * BACKLOG)) as u32);
        let pkt = Packet {
            id,
            len: LENGTH,
            flow: FlowId(flow),
            hop: 0,
            at: self.now,
            class: Class(0),
            ecn: Ecn::NotEct,
            proto: proto(flow),
            data: true,
            back: false,
            conn: 0,
        };
        self.offered += 1;
        self.queue.enqueue(pkt, &mut QCx { now: self.now, rng: &mut self.rng, drops: &mut self.drops, marks: 0 });
        self.clear();
    }

    fn take(&mut self) {
        let mut cx = QCx { now: self.now, rng: &mut self.rng, drops: &mut self.drops, marks: 0 };
        if self.queue.has_timer() && self.timer <= cx.now {
            self.timer = self.queue.on_timer(&mut cx).unwrap_or(Time::MAX);
        }
        std::hint::black_box(self.queue.dequeue(&mut cx));
        self.clear();
    }

    fn clear(&mut self) {
        self.dropped += self.drops.len() as u64;
        self.drops.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_what_it_offers() {
        for spec in QueueSpec::all() {
            let cost = bench_queue(&spec, 2000, 1);
            assert_eq!(cost.packets, 2000 + BACKLOG, "{}", spec.name());
            // A policer drops what exceeds its rate, whatever waits.
            let most = if spec.name() == "policer" { 2000 } else { 400 };
            assert!(cost.ns > 0.0 && cost.drops < most, "{}: {cost:?}", spec.name());
        }
    }
}
