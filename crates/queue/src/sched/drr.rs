//! DRR, deficit round robin: queues take turns, and each turn is worth the same number of bytes.

use super::bank::{Bank, ClassSpec, check_classes, nature_of};
use super::check;
use super::hash::{FlowMap, HashBy};
use super::room::Room;
use super::rounds::{DropFrom, Longest, Rounds, Turn};
use super::wrr::{TurnUnit, Wrr};
use crate::classify::Match;
use crate::discipline::{Capabilities, Discipline, Preset, Problem};
use fairlane_net::{Backlog, BuildContext, FlowId, Packet, QCx, Qdisc, Segment};
use fairlane_units::{Bytes, Len, Time};

fairlane_units::params! {
    /// DRR: flows take turns, and what a turn's quantum of bytes does not cover is carried over to the next (Shreedhar and Varghese 1996).
    pub struct DrrParams<S> {
        /// Limit of all queues together; the packet in transmission is not counted (ns-2's blimit_).
        pub limit: Len = Len::Packets(1000),
        /// Bytes a queue may send in its turn (section 3). A packet's cost is constant if no packet is longer; shorter quanta need several rounds
        /// for a packet.
        #[schemars(extend("x-min" = "1B", "x-max" = "1MiB"))]
        pub quantum: Bytes = QUANTUM,
        /// Number of queues that flows are hashed into (section 3). Unset: a queue for each.
        #[schemars(range(min = 1, max = 1_048_576))]
        pub buckets: Option<u32> = None,
        /// Field that the packets of one queue share.
        pub hash: HashBy = HashBy::Flow,
        /// Salt of the hash. Unset: drawn from the random stream of the queue.
        pub salt: Option<u64> = None,
        /// Which packet of the longest queue, in bytes, makes room in a full buffer (buffer stealing, section 3).
        pub drop: DropFrom = DropFrom::Tail,
        /// Classes that take turns instead of flows, in this order; each has its own queue and quantum. The next packet is unknown of a queue whose
        /// law may still drop it, so a turn lasts until its credit is used up, and what the last packet took beyond it is missing from the next turn.
        /// A full buffer (`limit`) refuses the arriving packet. None: flows.
        pub classes: Vec<DrrClassParams<S>> = vec![],
    }

    /// A class of packets with a queue and a quantum of its own.
    pub struct DrrClassParams<S> {
        /// Which packets: `"tcp"`, `"udp"`, `"dscp:ef"`, `"flow:NAME"`, `"ecn:ect1"`, `"any"`, or a list of these. The first class that fits takes
        /// the packet; a packet that fits none goes to the last class.
        #[serde(rename = "match")]
        pub select: Match,
        /// The queue of the class: any discipline.
        pub queue: S,
        /// Bytes of a turn of this class.
        #[schemars(extend("x-min" = "1B", "x-max" = "1MiB"))]
        pub quantum: Bytes = QUANTUM,
    }
}

/// A full Ethernet frame's payload.
const QUANTUM: Bytes = Bytes(1500);

impl<S: Discipline> ClassSpec for DrrClassParams<S> {
    type Inner = S;
    fn select(&self) -> &Match {
        &self.select
    }
    fn queue(&self) -> &S {
        &self.queue
    }
}

/// A quantum as credit.
fn credit(quantum: Bytes) -> i64 {
    quantum.get().min(u64::from(u32::MAX)) as i64
}

impl<S: Discipline> Discipline for DrrParams<S> {
    type Queue = Drr<S::Queue>;

    const PRESETS: &'static [Preset] = &[Preset {
        name: "ns2",
        doc: "Queue/DRR of ns-2.35: 25000 bytes, 10 buckets by source address, a quantum of 250 bytes, drops from the head of the longest queue.",
        values: r#"{"limit": "25kB", "quantum": "250B", "buckets": 10, "hash": "ns2_source", "drop": "head"}"#,
    }];

    fn check(&self, context: &BuildContext<'_>) -> Result<(), Problem> {
        check::holds("limit", Some(self.limit))?;
        check::some("quantum", self.quantum.get())?;
        check::some("buckets", self.buckets.map_or(1, u64::from))?;
        for (i, c) in self.classes.iter().enumerate() {
            check::some(&format!("classes.{i}.quantum"), c.quantum.get())?;
        }
        if self.buckets.is_some() && !self.classes.is_empty() {
            return Err(Problem::new("buckets", "classes are given already: leave one of the two out"));
        }
        check_classes(&self.classes, context)
    }

    fn build(&self, context: &BuildContext<'_>) -> Drr<S::Queue> {
        if !self.classes.is_empty() {
            let bank = Bank::of_classes(&self.classes, Some(self.limit), context);
            let turns = self.classes.iter().map(|c| credit(c.quantum)).collect();
            return Drr(Kind::Classes(Wrr::new(bank, turns, credit(self.quantum), TurnUnit::Bytes)));
        }
        Drr(Kind::Flows(Flows {
            map: FlowMap::new(self.hash, self.buckets, self.salt, context),
            rounds: Rounds::new(self.buckets.unwrap_or(0) as usize, Turn::Deficit(credit(self.quantum))),
            room: Room::new(self.limit),
            drop: self.drop,
        }))
    }

    fn capabilities(&self) -> Capabilities {
        nature_of(&self.classes)
    }
}

/// The queues of DRR.
#[derive(Clone, Debug)]
pub struct Drr<Q>(Kind<Q>);

#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "one for each port")]
enum Kind<Q> {
    Flows(Flows),
    Classes(Wrr<Q>),
}

#[derive(Clone, Debug)]
struct Flows {
    map: FlowMap,
    rounds: Rounds,
    room: Room,
    drop: DropFrom,
}

impl<Q: Qdisc + Clone> Qdisc for Drr<Q> {
    #[inline]
    fn enqueue(&mut self, p: Packet, cx: &mut QCx<'_>) {
        match &mut self.0 {
            Kind::Flows(f) => {
                let i = f.map.queue(&p, cx.rng);
                f.rounds.push(i, p);
                f.rounds.make_room(f.room, &p, Longest::Bytes, f.drop, cx);
            }
            Kind::Classes(c) => c.enqueue(p, cx),
        }
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut QCx<'_>) -> Option<Packet> {
        match &mut self.0 {
            Kind::Flows(f) => f.rounds.pop(),
            Kind::Classes(c) => c.dequeue(cx),
        }
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        match &self.0 {
            Kind::Flows(f) => f.rounds.held(),
            Kind::Classes(c) => c.backlog(),
        }
    }

    fn head(&self) -> Option<&Packet> {
        match &self.0 {
            Kind::Flows(f) => f.rounds.head(),
            Kind::Classes(c) => c.head(),
        }
    }

    fn ready_at(&self) -> Option<Time> {
        if let Kind::Classes(c) = &self.0 { c.ready_at() } else { None }
    }

    fn has_timer(&self) -> bool {
        matches!(&self.0, Kind::Classes(c) if c.has_timer())
    }

    fn on_timer(&mut self, cx: &mut QCx<'_>) -> Option<Time> {
        if let Kind::Classes(c) = &mut self.0 { c.on_timer(cx) } else { None }
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        match &self.0 {
            Kind::Flows(f) => out("queues", f.rounds.active() as f64),
            Kind::Classes(c) => c.gauges(out),
        }
    }

    fn window_clamp(&self, flow: FlowId) -> Option<u32> {
        if let Kind::Classes(c) = &self.0 { c.window_clamp(flow) } else { None }
    }

    fn clamps(&self) -> bool {
        matches!(&self.0, Kind::Classes(c) if c.clamps())
    }

    fn reads_headers(&self) -> bool {
        matches!(&self.0, Kind::Classes(c) if c.reads_headers())
    }

    fn on_header(&mut self, header: &Segment) {
        if let Kind::Classes(c) = &mut self.0 {
            c.on_header(header);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::hash::tests::{link, pkt};
    use fairlane_engine::Stream;
    use fairlane_net::DropReason;

    type Params = DrrParams<crate::DropTailParams>;

    fn with<R>(f: impl FnOnce(&mut QCx<'_>) -> R) -> (R, Vec<(u32, DropReason)>) {
        let (mut rng, mut drops) = (Stream::new(1, "port", "drr", "aqm"), vec![]);
        let mut cx = QCx { now: Time::ZERO, rng: &mut rng, drops: &mut drops, marks: 0 };
        let r = f(&mut cx);
        (r, drops.into_iter().map(|(p, why)| (p.id.0, why)).collect())
    }

    /// The fairness measure of Shreedhar and Varghese 1996: over any interval in which flows i and j stay backlogged, their service differs
    /// by less than quantum + 2 Max, three times the longest packet if the quantum is that long.
    #[test]
    fn service_of_backlogged_flows_differs_by_less_than_quantum_and_two_packets() {
        for (seed, quantum) in [(1, 1500), (2, 1500), (3, 4000), (4, 700)] {
            let mut rng = Stream::new(seed, "test", "drr", "lens");
            let p = Params { quantum: Bytes(quantum), limit: Len::Packets(100_000), ..Params::default() };
            let mut q = p.build(&link().into());
            let lens: Vec<u32> = (0..4).flat_map(|flow| std::iter::repeat_n([100, 400, 900, 1500][flow], 3000)).collect();
            // Flow k sends packets of up to its own maximum, and more of them the shorter they are, so that none runs dry.
            with(|cx| {
                for (id, &max) in lens.iter().enumerate() {
                    let flow = id as u32 / 3000;
                    for _ in 0..1500 / max {
                        q.enqueue(pkt(id as u32, flow, 40 + rng.below(u64::from(max) - 39) as u32), cx);
                    }
                }
            });
            let bound = (quantum + 2 * 1500) as i64;
            let mut served = [0_i64; 4];
            // Largest and smallest difference so far: their distance is the worst over any interval.
            let mut range = [[(0_i64, 0_i64); 4]; 4];
            for _ in 0..8000 {
                let (Some(out), _) = with(|cx| q.dequeue(cx)) else { break };
                served[out.flow.0 as usize] += i64::from(out.len);
                for i in 0..4 {
                    for j in 0..i {
                        let (d, r) = (served[i] - served[j], &mut range[i][j]);
                        *r = (r.0.min(d), r.1.max(d));
                        assert!(r.1 - r.0 < bound, "flows {i} and {j}: {r:?}");
                    }
                }
            }
            assert!(served.iter().sum::<i64>() > 1_000_000, "{served:?}");
        }
    }

    /// One packet in a round, whatever the lengths, would give a flow of long packets fifteen times the bytes: DRR does not.
    #[test]
    fn long_packets_bring_no_more_bytes() {
        let mut q = Params { limit: Len::Packets(100_000), ..Params::default() }.build(&link().into());
        with(|cx| (0..20_000).for_each(|id| q.enqueue(pkt(id, id % 2, [1500, 100][id as usize % 2]), cx)));
        let mut bytes = [0_u32; 2];
        for _ in 0..8000 {
            if let (Some(p), _) = with(|cx| q.dequeue(cx)) {
                bytes[p.flow.0 as usize] += p.len;
            }
        }
        assert!(bytes[0].abs_diff(bytes[1]) <= 1500, "{bytes:?}");
    }

    /// The buffer is taken from the flow that holds most bytes, not most packets, at the end asked for.
    #[test]
    fn a_full_buffer_takes_from_the_longest_in_bytes() {
        for (drop, victim) in [(DropFrom::Tail, 3), (DropFrom::Head, 0)] {
            let mut q = Params { limit: Len::Bytes(8000), drop, ..Params::default() }.build(&link().into());
            let ((), drops) = with(|cx| {
                (0..4).for_each(|id| q.enqueue(pkt(id, 0, 1500), cx));
                (4..24).for_each(|id| q.enqueue(pkt(id, 1, 100), cx));
                q.enqueue(pkt(24, 2, 40), cx);
            });
            assert_eq!(drops, [(victim, DropReason::Evicted)]);
            let (left, _) = with(|cx| std::iter::from_fn(|| q.dequeue(cx)).map(|p| p.id.0).filter(|&id| id < 4).collect::<Vec<_>>());
            assert_eq!(left.len(), 3);
            assert!(!left.contains(&victim));
        }
    }

    /// Quanta far shorter than a packet need more rounds and give the same shares.
    #[test]
    fn a_small_quantum_still_serves() {
        let mut q = Params { quantum: Bytes(1), ..Params::default() }.build(&link().into());
        let (order, _) = with(|cx| {
            (0..4).for_each(|id| q.enqueue(pkt(id, id % 2, [1000, 100][id as usize % 2]), cx));
            std::iter::from_fn(|| q.dequeue(cx)).map(|p| p.id.0).collect::<Vec<_>>()
        });
        assert_eq!(order, [1, 3, 0, 2]);
    }

    /// Classes share by their quanta, whatever their packets' lengths: 3000 to 1000 bytes a turn.
    #[test]
    fn classes_have_quanta_and_queues_of_their_own() {
        let p: Params = serde_json::from_str(
            r#"{"limit": "100000p", "classes": [{"match": "tcp", "quantum": "3000B", "queue": {"limit": "50000p"}},
                {"match": "udp", "quantum": "1000B", "queue": {"limit": "20000p"}}]}"#,
        )
        .unwrap();
        assert_eq!(p.check(&link().into()), Ok(()));
        let mut q = p.build(&link().into());
        let tcp = |id| Packet { proto: fairlane_net::Proto::Tcp, ..pkt(id, 0, 200) };
        let ((), drops) = with(|cx| (0..60_000).for_each(|id| q.enqueue(if id % 2 == 0 { tcp(id) } else { pkt(id, 1, 1500) }, cx)));
        // The second class holds 20000 of its 30000.
        assert_eq!(drops.len(), 10_000);
        let mut bytes = [0_i64; 2];
        for _ in 0..20_000 {
            if let (Some(p), _) = with(|cx| q.dequeue(cx)) {
                bytes[p.flow.0 as usize] += i64::from(p.len);
            }
        }
        assert!((bytes[0] - 3 * bytes[1]).abs() <= 3000 + 3 * 1500, "{bytes:?}");
        let twice = Params { buckets: Some(4), ..p };
        assert_eq!(twice.check(&link().into()).unwrap_err().field, "buckets");
    }
}
