//! FQ, fair queueing: packets leave in the order in which a server that goes round bit by bit would finish them.

use super::check;
use super::hash::{FlowMap, HashBy};
use super::heap::MinHeap;
use super::room::Room;
use super::rounds::DropFrom;
use crate::discipline::{Discipline, Preset, Problem};
use crate::limit::{Admit, Limit};
use fairlane_engine::steps::step;
use fairlane_net::{Backlog, BuildContext, DropReason, Packet, QCx, Qdisc};
use fairlane_units::{Bytes, Len, PS_PER_SEC, Rate, Time};
use std::cmp::Reverse;
use std::collections::VecDeque;

fairlane_units::params! {
    /// Clock of the finish numbers.
    pub enum FqClock {
        /// The number of rounds that the bit-by-bit server has made (Demers, Keshav and Shenker 1989, section 2).
        #[default]
        Round,
        /// The time at which a packet comes to the head of its flow: the last finish or that time, whichever is later, plus the packet's transmission time
        /// multiplied by the flows that wait when the choice is made (ns-2's FQ). Each departure looks at every flow that waits.
        Arrival,
    }

    /// FQ: the packet leaves first whose last bit a bit-by-bit round robin among the flows would send first (Demers, Keshav and Shenker 1989).
    pub struct FqParams {
        /// Limit of all flows together; the packet in transmission is not counted. A full buffer takes from the flow that holds most bytes (section 2). Unset: no limit.
        pub limit: Option<Len> = Some(Len::Packets(1000)),
        /// Limit of one flow (ns-2's limit_ of each flow's queue). Unset: no limit.
        pub flow_limit: Option<Len> = None,
        /// Field that the packets of one flow share.
        pub hash: HashBy = HashBy::Flow,
        /// Clock of the finish numbers.
        pub clock: FqClock = FqClock::Round,
        /// How many bytes of rounds a flow that was silent may go back when it bids for service, so that thin flows leave sooner (delta, section 2). Only with
        /// `clock = "round"`.
        #[schemars(extend("x-min" = "0B", "x-max" = "10MB"))]
        pub promptness: Bytes = Bytes(0),
        /// Which packet of the flow that holds most makes room; the paper drops the last.
        pub drop: DropFrom = DropFrom::Tail,
    }
}

impl Discipline for FqParams {
    type Queue = Fq;

    const PRESETS: &'static [Preset] = &[Preset {
        name: "ns2",
        doc: "Queue/FQ of ns-2.35 with its DropTail for each flow: 50 packets a flow, no limit in all, finish times from the clock.",
        values: r#"{"limit": null, "flow_limit": "50p", "hash": "flow", "clock": "arrival"}"#,
    }];

    fn check(&self, _: &BuildContext<'_>) -> Result<(), Problem> {
        check::holds("limit", self.limit)?;
        check::holds("flow_limit", self.flow_limit)?;
        match self.promptness.get() > 0 && self.clock == FqClock::Arrival {
            true => Err(Problem::new("promptness", "needs clock = \"round\"")),
            false => Ok(()),
        }
    }

    fn build(&self, context: &BuildContext<'_>) -> Fq {
        Fq {
            map: FlowMap::new(self.hash, None, None, context),
            flows: vec![],
            waiting: MinHeap::default(),
            fluid: Fluid::new(context.link.rate),
            by_arrival: self.clock == FqClock::Arrival,
            sec_per_byte: 8.0 / context.link.rate.as_bps().max(1) as f64,
            promptness: self.promptness.get() as f64,
            room: self.limit.map_or(Room::ENDLESS, Room::new),
            flow_limit: self.flow_limit.map_or(Limit::NONE, |l| Limit::new(l, Admit::Fits)),
            drop: self.drop,
            held: Backlog::default(),
            by_bytes: None,
        }
    }
}

/// The bit-by-bit server that is imitated. Rounds are counted in bytes: in one round each flow that has something left sends a byte.
#[derive(Clone, Debug)]
struct Fluid {
    /// R(t), the rounds made.
    rounds: f64,
    /// The time t.
    at: Time,
    /// Flows it still serves, by the round in which it will have sent all they brought.
    busy: MinHeap,
    ps_per_byte: f64,
}

impl Fluid {
    fn new(rate: Rate) -> Self {
        let ps_per_byte = 8.0 * PS_PER_SEC as f64 / rate.as_bps().max(1) as f64;
        Self { rounds: 0.0, at: Time::ZERO, busy: MinHeap::default(), ps_per_byte }
    }

    /// Section 2: R grows with the rate of the link divided by the number of flows that are being served.
    #[inline]
    fn advance(&mut self, now: Time) {
        let mut left = (now - self.at).as_ps() as f64;
        self.at = now;
        while let Some((finish, flow)) = self.busy.first() {
            step(1);
            let per_round = self.ps_per_byte * self.busy.len() as f64;
            let need = (finish - self.rounds) * per_round;
            if need > left {
                self.rounds += left / per_round;
                return;
            }
            self.rounds = if finish > self.rounds { finish } else { self.rounds };
            left -= if need > 0.0 { need } else { 0.0 };
            self.busy.remove(flow);
        }
    }
}

/// A packet with its finish number and its bid: the two differ by `promptness`.
#[derive(Clone, Copy, Debug)]
struct Entry {
    p: Packet,
    finish: f64,
    bid: f64,
}

#[derive(Clone, Debug, Default)]
struct Flow {
    packets: VecDeque<Entry>,
    bytes: u64,
    /// Finish number of the last packet that was not dropped; with the arrival clock, finish time of the last that was sent.
    finish: f64,
    /// Finish number of the last packet that was sent.
    sent: f64,
    /// With the arrival clock: when service of the head can begin.
    start: f64,
    /// Breaks ties: the flow's number and direction.
    number: u64,
}

impl Flow {
    fn held(&self) -> Backlog {
        Backlog { pkts: self.packets.len() as u32, bytes: self.bytes }
    }
}

/// The queues of FQ.
#[derive(Clone, Debug)]
pub struct Fq {
    map: FlowMap,
    flows: Vec<Flow>,
    /// Flows that hold packets, by the bid of the first one.
    waiting: MinHeap,
    fluid: Fluid,
    by_arrival: bool,
    sec_per_byte: f64,
    promptness: f64,
    room: Room,
    flow_limit: Limit,
    drop: DropFrom,
    held: Backlog,
    /// Flows that hold packets, by their bytes; none until a full buffer seeks the one with most.
    by_bytes: Option<Box<MinHeap<Reverse<u64>>>>,
}

fn later(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

impl Fq {
    /// The flow whose head leaves next.
    #[inline]
    fn next(&self) -> Option<usize> {
        if !self.by_arrival {
            return self.waiting.first().map(|(_, i)| i);
        }
        let mut best: Option<(f64, u64, usize)> = None;
        for i in self.waiting.members() {
            step(1);
            let f = &self.flows[i];
            let key = (self.finish_time(f), f.number, i);
            if best.is_none_or(|b| key.0 < b.0 || (key.0 == b.0 && key.1 < b.1)) {
                best = Some(key);
            }
        }
        best.map(|b| b.2)
    }

    /// When ns-2 takes the head of a flow to be finished.
    fn finish_time(&self, f: &Flow) -> f64 {
        let len = f.packets.front().map_or(0, |e| e.p.len);
        f.start + f64::from(len) * self.sec_per_byte * self.waiting.len() as f64
    }

    /// The flow's first packet is another one now.
    #[inline]
    fn new_head(&mut self, i: usize, now: Time) {
        let f = &mut self.flows[i];
        let Some(head) = f.packets.front() else { return self.waiting.remove(i) };
        if self.by_arrival {
            f.start = later(f.finish, now.as_secs_f64());
        }
        self.waiting.set(i, head.bid);
    }

    /// Puts flow `i` in its place by bytes.
    #[inline]
    fn update(&mut self, i: usize) {
        match &mut self.by_bytes {
            None => {}
            Some(most) if self.flows[i].packets.is_empty() => most.remove(i),
            Some(most) => most.set(i, Reverse(self.flows[i].bytes)),
        }
    }

    /// The flow that holds most bytes; of equal ones the first.
    fn most_bytes(&mut self) -> Option<usize> {
        let most = self.by_bytes.get_or_insert_with(|| {
            let mut most = Box::new(MinHeap::default());
            step(self.waiting.len());
            self.waiting.members().for_each(|i| most.set(i, Reverse(self.flows[i].bytes)));
            most
        });
        most.first().map(|(_, i)| i)
    }

    /// Takes a packet from the flow that holds most bytes.
    #[cold]
    fn evict(&mut self, now: Time) -> Option<Packet> {
        let i = self.most_bytes()?;
        let f = &mut self.flows[i];
        let e = match self.drop {
            DropFrom::Head => f.packets.pop_front(),
            DropFrom::Tail => f.packets.pop_back(),
        }?;
        f.bytes -= u64::from(e.p.len);
        self.held.sub(&e.p);
        self.update(i);
        let f = &mut self.flows[i];
        if !self.by_arrival && self.drop == DropFrom::Tail {
            // What is dropped must not be paid for: the flow stands where it stood before the packet came.
            f.finish = f.packets.back().map_or(f.sent, |last| last.finish);
            self.fluid.busy.set(i, f.finish);
        }
        if self.drop == DropFrom::Head || f.packets.is_empty() {
            self.new_head(i, now);
        }
        Some(e.p)
    }
}

impl Qdisc for Fq {
    fn enqueue(&mut self, p: Packet, cx: &mut QCx<'_>) {
        let i = self.map.queue(&p, cx.rng);
        while self.flows.len() <= i {
            self.flows.push(Flow { number: u64::from(p.flow.0) * 2 + u64::from(p.back), ..Flow::default() });
        }
        if !self.flow_limit.admits(self.flows[i].held(), p.len) {
            return cx.drop(p, DropReason::Overflow);
        }
        let f = &mut self.flows[i];
        let len = f64::from(p.len);
        let mut bid = 0.0;
        if !self.by_arrival {
            // Equations of section 2: F = max(F of the packet before, R) + P, and the bid with R - delta in the place of R.
            self.fluid.advance(cx.now);
            bid = later(f.finish, self.fluid.rounds - self.promptness) + len;
            f.finish = later(f.finish, self.fluid.rounds) + len;
            self.fluid.busy.set(i, f.finish);
        }
        f.packets.push_back(Entry { p, finish: f.finish, bid });
        f.bytes += u64::from(p.len);
        self.held.add(&p);
        self.update(i);
        if self.flows[i].packets.len() == 1 {
            self.new_head(i, cx.now);
        }
        while self.room.exceeded(self.held) {
            let Some(out) = self.evict(cx.now) else { return };
            cx.drop(out, if out.id == p.id { DropReason::Overflow } else { DropReason::Evicted });
        }
    }

    fn dequeue(&mut self, cx: &mut QCx<'_>) -> Option<Packet> {
        let i = self.next()?;
        let finish = if self.by_arrival { self.finish_time(&self.flows[i]) } else { 0.0 };
        let f = &mut self.flows[i];
        let e = f.packets.pop_front()?;
        f.bytes -= u64::from(e.p.len);
        f.sent = e.finish;
        if self.by_arrival {
            f.finish = finish;
        }
        self.held.sub(&e.p);
        self.update(i);
        self.new_head(i, cx.now);
        Some(e.p)
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.held
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("flows", self.waiting.len() as f64);
    }
}

#[cfg(test)]
mod tests;
