//! SFQ, stochastic fairness queueing: flows are hashed into queues that take turns.

use super::check;
use super::hash::{FlowMap, HashBy};
use super::room::Room;
use super::rounds::{DropFrom, Longest, Rounds, Turn};
use crate::discipline::{Discipline, Preset, Problem};
use crate::limit::{Admit, Limit};
use fairlane_net::{Backlog, BuildContext, DropReason, Packet, QCx, Qdisc};
use fairlane_units::{Bytes, Dur, Len, Time};

fairlane_units::params! {
    /// SFQ: flows are hashed into queues served in turn, and a full buffer takes from the longest of them (McKenney 1990; Linux's sch_sfq).
    pub struct SfqParams {
        /// Limit of all queues together; the packet in transmission is not counted (ns-2's maxqueue_).
        pub limit: Len = Len::Packets(1000),
        /// Number of queues that flows are hashed into (tc's divisor).
        #[schemars(range(min = 1, max = 1_048_576))]
        pub buckets: u32 = 1024,
        /// Field that the packets of one queue share.
        pub hash: HashBy = HashBy::Flow,
        /// Salt of the hash. Unset: drawn from the random stream of the queue.
        pub salt: Option<u64> = None,
        /// How often the salt is drawn again, so that flows that collide do not do so for ever (McKenney 1990, section 4.1; tc's perturb).
        /// Packets move to their new queues and keep their order. Unset: never.
        #[schemars(extend("x-min" = "1ms", "x-max" = "100000s"))]
        pub perturb: Option<Dur> = None,
        /// Bytes a queue may send in its turn, the last packet being sent whole and its excess paid back in the next turns (tc's quantum).
        /// Unset: one packet, whatever its length (McKenney 1990).
        #[schemars(extend("x-min" = "1B", "x-max" = "1MiB"))]
        pub quantum: Option<Bytes> = None,
        /// Limit of one queue (tc's depth). Unset: the limit is the only one.
        pub depth: Option<Len> = None,
        /// Which packet of the longest queue, or of one at its depth, makes room (tc's headdrop). The longest queue is the one with most
        /// packets, or most bytes if the limit is in bytes.
        pub drop: DropFrom = DropFrom::Tail,
        /// True if no queue gives up a packet for another one: an arrival is refused if its queue holds half of the free space or more, or more than
        /// limit / buckets when fewer packets than buckets find room (ns-2's SFQ). The limit must be in packets.
        pub refuse: bool = false,
    }
}

impl Discipline for SfqParams {
    type Queue = Sfq;

    const PRESETS: &'static [Preset] = &[
        Preset {
            name: "ns2",
            doc: "Queue/SFQ of ns-2.35: 40 packets, 16 buckets by source plus destination address, one packet a turn, arrivals refused before \
                  the buffer is full.",
            values: r#"{"limit": "40p", "buckets": 16, "hash": "ns2_sum", "refuse": true}"#,
        },
        Preset {
            name: "linux",
            doc: "sch_sfq of Linux with its defaults: 127 packets, 1024 buckets of at most 127, turns of 1514 bytes, no perturbation.",
            values: r#"{"limit": "127p", "buckets": 1024, "depth": "127p", "quantum": "1514B", "drop": "tail"}"#,
        },
    ];

    fn check(&self, _: &BuildContext<'_>) -> Result<(), Problem> {
        check::holds("limit", Some(self.limit))?;
        check::holds("depth", self.depth)?;
        check::some("buckets", u64::from(self.buckets))?;
        check::some("perturb", self.perturb.map_or(1, Dur::as_ps))?;
        check::some("quantum", self.quantum.map_or(1, Bytes::get))?;
        match (self.refuse, self.limit) {
            (true, Len::Bytes(_)) => Err(Problem::new("limit", "with refuse = true it must be in packets, as in \"40p\"")),
            // Half of the free space of one packet is nothing: no arrival would ever be admitted.
            (true, Len::Packets(1)) => Err(Problem::new("limit", "with refuse = true nothing fits into \"1p\": write at least \"2p\"")),
            _ => Ok(()),
        }
    }

    fn build(&self, context: &BuildContext<'_>) -> Sfq {
        let turn = self.quantum.map_or(Turn::Packet, |q| Turn::Surplus(q.get().min(u64::from(u32::MAX)) as i64));
        let packets = if let Len::Packets(n) = self.limit { u32::try_from(n).unwrap_or(u32::MAX) } else { u32::MAX };
        Sfq {
            map: FlowMap::new(self.hash, Some(self.buckets), self.salt, context),
            rounds: Rounds::new(self.buckets as usize, turn),
            room: Room::new(self.limit),
            depth: self.depth.map_or(Limit::NONE, |d| Limit::new(d, Admit::Fits)),
            longest: if matches!(self.limit, Len::Packets(_)) { Longest::Packets } else { Longest::Bytes },
            drop: self.drop,
            perturb: self.perturb,
            refuse: self.refuse.then_some(Refusal { packets, buckets: self.buckets }),
        }
    }
}

/// ns-2's rule of admission.
#[derive(Clone, Copy, Debug)]
struct Refusal {
    packets: u32,
    buckets: u32,
}

impl Refusal {
    /// True if a packet for a queue that holds `used` is refused while `held` wait in all.
    const fn refuses(self, used: u32, held: u32) -> bool {
        let free = self.packets.saturating_sub(held);
        used >= free / 2 || (free < self.buckets && used > self.packets / self.buckets)
    }
}

/// The queues of SFQ.
#[derive(Clone, Debug)]
pub struct Sfq {
    map: FlowMap,
    rounds: Rounds,
    room: Room,
    depth: Limit,
    longest: Longest,
    drop: DropFrom,
    perturb: Option<Dur>,
    refuse: Option<Refusal>,
}

impl Qdisc for Sfq {
    #[inline]
    fn enqueue(&mut self, p: Packet, cx: &mut QCx<'_>) {
        let i = self.map.queue(&p, cx.rng);
        if let Some(rule) = self.refuse {
            match rule.refuses(self.rounds.held_by(i).pkts, self.rounds.held().pkts) {
                true => cx.drop(p, DropReason::Overflow),
                false => self.rounds.push(i, p),
            }
            return;
        }
        while !self.depth.admits(self.rounds.held_by(i), p.len) {
            let victim = if self.drop == DropFrom::Head { self.rounds.evict(i, DropFrom::Head) } else { None };
            match victim {
                Some(v) => cx.drop(v, DropReason::Overflow),
                None => return cx.drop(p, DropReason::Overflow),
            }
        }
        self.rounds.push(i, p);
        self.rounds.make_room(self.room, &p, self.longest, self.drop, cx);
    }

    #[inline]
    fn dequeue(&mut self, _: &mut QCx<'_>) -> Option<Packet> {
        self.rounds.pop()
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.rounds.held()
    }

    fn head(&self) -> Option<&Packet> {
        self.rounds.head()
    }

    fn has_timer(&self) -> bool {
        self.perturb.is_some()
    }

    fn on_timer(&mut self, cx: &mut QCx<'_>) -> Option<Time> {
        let every = self.perturb?;
        self.map.perturb(cx.rng);
        let Self { map, rounds, .. } = self;
        rounds.redistribute(|p| map.queue(p, cx.rng));
        Some(cx.now + every)
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("queues", self.rounds.active() as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::hash::tests::{flows, link, pkt};
    use fairlane_engine::Stream;

    fn run<R>(q: &mut Sfq, f: impl FnOnce(&mut Sfq, &mut QCx<'_>) -> R) -> (R, Vec<(u32, DropReason)>) {
        let (mut rng, mut drops) = (Stream::new(1, "port", "sfq", "aqm"), vec![]);
        let mut cx = QCx { now: Time::ZERO, rng: &mut rng, drops: &mut drops, marks: 0 };
        let r = f(q, &mut cx);
        (r, drops.into_iter().map(|(p, why)| (p.id.0, why)).collect())
    }

    fn offer(q: &mut Sfq, p: Packet) -> Vec<(u32, DropReason)> {
        run(q, |q, cx| q.enqueue(p, cx)).1
    }

    /// ns-2's rule with 40 packets and 16 buckets. A lone flow: packet k finds k waiting and 40 - k free, and is refused at the
    /// first k >= floor((40 - k) / 2), which is 13 (27 free, half is 13). Another queue then finds half of 27 free, and so on;
    /// with fewer than 16 free no queue may go above 40 / 16 = 2.
    #[test]
    fn ns2_refusal() {
        let flows = flows(&[[1, 10], [2, 10], [3, 10], [4, 10]]);
        let p: SfqParams = serde_json::from_str(r#"{"limit": "40p", "buckets": 16, "hash": "ns2_sum", "refuse": true}"#).unwrap();
        let mut q = p.build(&BuildContext { link: link(), flows: &flows });
        let mut admitted = |flow: u32| (0..40).filter(|&i| offer(&mut q, pkt(100 * flow + i, flow, 1000)).is_empty()).count();
        assert_eq!(admitted(0), 13);
        // Now 27 free: k >= floor((27 - k) / 2) first at k = 9; 18 left.
        assert_eq!(admitted(1), 9);
        // k >= floor((18 - k) / 2) first at k = 6, but from k = 3 on only 15 are free and 3 > 2.
        assert_eq!(admitted(2), 3);
        // 15 free: k > 2 at k = 3.
        assert_eq!(admitted(3), 3);
    }

    /// McKenney's buffer stealing: a full buffer takes from the longest queue, so a flood cannot push out a thin flow.
    #[test]
    fn a_full_buffer_takes_from_the_longest() {
        for (drop, victims) in [(DropFrom::Tail, [9, 8]), (DropFrom::Head, [0, 1])] {
            let mut q = SfqParams { limit: Len::Packets(10), salt: Some(1), drop, ..SfqParams::default() }.build(&link().into());
            for id in 0..10 {
                assert_eq!(offer(&mut q, pkt(id, 0, 1000)), []);
            }
            assert_eq!(offer(&mut q, pkt(10, 1, 1000)), [(victims[0], DropReason::Evicted)]);
            assert_eq!(offer(&mut q, pkt(11, 1, 1000)), [(victims[1], DropReason::Evicted)]);
            let own = if drop == DropFrom::Tail { (12, DropReason::Overflow) } else { (2, DropReason::Evicted) };
            assert_eq!(offer(&mut q, pkt(12, 0, 1000)), [own]);
        }
    }

    #[test]
    fn depth_holds_for_each_queue() {
        let depth = Some(Len::Packets(3));
        for (drop, lost) in [(DropFrom::Tail, [3, 4]), (DropFrom::Head, [0, 1])] {
            let mut q = SfqParams { depth, salt: Some(1), drop, ..SfqParams::default() }.build(&link().into());
            let drops: Vec<_> = (0..5).flat_map(|id| offer(&mut q, pkt(id, 0, 1000))).collect();
            assert_eq!(drops, lost.map(|id| (id, DropReason::Overflow)));
            assert_eq!(offer(&mut q, pkt(9, 1, 1000)), []);
        }
    }

    /// After a perturbation every packet is still there, flows keep their order, and flows that shared a queue may be apart.
    #[test]
    fn perturbation_moves_packets_in_order() {
        let p = SfqParams { buckets: 4, salt: Some(0), perturb: Some(Dur::from_secs(10)), ..SfqParams::default() };
        let mut q = p.build(&link().into());
        for id in 0..40 {
            offer(&mut q, pkt(id, id % 8, 1000));
        }
        let (next, _) = run(&mut q, |q, cx| q.on_timer(cx));
        assert_eq!(next, Some(Time::ZERO + Dur::from_secs(10)));
        let mut last = [None; 8];
        let mut n = 0;
        while let (Some(out), _) = run(&mut q, |q, cx| q.dequeue(cx)) {
            let was = last[out.flow.0 as usize].replace(out.id.0);
            assert!(was < Some(out.id.0));
            n += 1;
        }
        assert_eq!(n, 40);
    }

    #[test]
    fn bad_parameters_are_named() {
        let field = |p: SfqParams| p.check(&link().into()).unwrap_err().field;
        assert_eq!(field(SfqParams { limit: Len::Packets(0), ..SfqParams::default() }), "limit");
        assert_eq!(field(SfqParams { limit: Len::Bytes(9000), refuse: true, ..SfqParams::default() }), "limit");
        assert_eq!(field(SfqParams { buckets: 0, ..SfqParams::default() }), "buckets");
        assert_eq!(field(SfqParams { depth: Some(Len::Bytes(0)), ..SfqParams::default() }), "depth");
        assert_eq!(field(SfqParams { quantum: Some(Bytes(0)), ..SfqParams::default() }), "quantum");
    }
}
