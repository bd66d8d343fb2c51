//! CAKE, common applications kept enhanced: shaper, tins by DSCP, fairness between hosts and flows, and COBALT for each flow.

mod ack_filter;
pub(super) mod hosts;
mod tins;
mod ways;
pub(super) mod wire;

use super::check;
use super::fifo::Fifo;
use super::flow_queues::FlowQueues;
use super::hash::{Addresses, FlowMap, lane};
use super::room::Room;
use crate::discipline::{Capabilities, Discipline, Preset, Problem};
use crate::law::cobalt::{Cobalt, CobaltParams};
use crate::limit::Limit;
pub use ack_filter::CakeAckFilter;
use ack_filter::Headers;
use fairlane_net::{Backlog, BuildContext, Class, DropReason, LinkInfo, Packet, QCx, Qdisc, Segment};
use fairlane_units::{Bytes, Dur, Len, PS_PER_SEC, Rate, Time};
pub use hosts::CakeIsolation;
use hosts::Hosts;
pub use tins::CakeTins;
use tins::{Share, WHOLE};
use ways::Ways;
pub use wire::CakeFraming;
use wire::Wire;

fairlane_units::params! {
    /// CAKE shapes to a rate, sorts packets into tins by DSCP, shares each tin between hosts and then flows, and lets COBALT manage every flow
    /// (Høiland-Jørgensen, Täht and Morton 2018; Linux's sch_cake).
    pub struct CakeParams {
        /// Rate to shape to (section III.A). Unset: the link sets the pace, and tins share it by deficits.
        pub bandwidth: Option<Rate> = None,
        /// Bytes that the link layer adds to each packet, for the shaper.
        #[schemars(extend("x-min" = "0B", "x-max" = "256B"))]
        pub overhead: Bytes = Bytes(0),
        /// Bytes of each packet that the shaper does not count, such as a header that the link layer does not carry: tc's negative overhead.
        #[schemars(extend("x-min" = "0B", "x-max" = "64B"))]
        pub uncounted: Bytes = Bytes(0),
        /// Least length of a packet with its overhead, for the shaper (tc's mpu).
        #[schemars(extend("x-min" = "0B", "x-max" = "256B"))]
        pub mpu: Bytes = Bytes(0),
        /// Framing of the link layer that the shaper assumes.
        pub framing: CakeFraming = CakeFraming::None,
        /// Into which tins packets are sorted (section III.B).
        pub tins: CakeTins = CakeTins::Diffserv3,
        /// Between whom a tin is shared (section III.C).
        pub isolation: CakeIsolation = CakeIsolation::TripleIsolate,
        /// A typical round trip: COBALT's interval, and twenty times its target.
        #[schemars(extend("x-min" = "1us", "x-max" = "1000s"))]
        pub rtt: Dur = Dur::from_ms(100),
        /// Limit of all queues together (tc's memlimit). Unset: four times what `bandwidth` sends in `rtt`, at least 4 MiB and at most 10240 packets of 1514 bytes; without a
        /// bandwidth 10240 packets of 1514 bytes.
        pub limit: Option<Len> = None,
        /// Number of queues in each tin.
        #[schemars(range(min = 1, max = 65536))]
        pub flows: u32 = 1024,
        /// Ways of the set-associative hash (section III.C); with one it is a plain hash.
        #[schemars(range(min = 1, max = 64))]
        pub ways: u32 = 8,
        /// Salt of the hash. Unset: drawn from the random stream of the queue.
        pub salt: Option<u64> = None,
        /// True if ECN-capable packets are marked instead of dropped; sch_cake always does.
        pub ecn: bool = true,
        /// True for a shaper behind the bottleneck (tc's ingress): packets that it drops count against the rate and the turns of flows, and a wait is long only
        /// above two frames of each bulk flow.
        pub ingress: bool = false,
        /// Which acknowledgments are dropped because a later one of the same flow waits behind them (tc's ack-filter).
        pub ack_filter: CakeAckFilter = CakeAckFilter::None,
        /// True if the code point is cleared once it has chosen the tin (tc's wash).
        pub wash: bool = false,
    }
}

/// A full frame, the unit of targets and quanta (sch_cake).
const FRAME: u64 = 1514;
/// Bounds of a flow's quantum, which is what the tin's rate sends in 1/4096 s (sch_cake).
const LEAST_QUANTUM: u64 = 300;
const QUANTA_PER_SEC: u64 = 4096;
/// COBALT's target is this part of its interval (tc-cake).
const TARGET_PART: u64 = 20;
/// Round trips that the automatic limit holds, its least, and its most: 10240 frames (sch_cake).
const LIMIT_RTTS: u64 = 4;
const LEAST_LIMIT: u64 = 4 << 20;
const MOST_LIMIT: u64 = 10_240 * FRAME;

impl CakeParams {
    fn wire(&self) -> Wire {
        let Self { overhead, uncounted, mpu, framing, .. } = self;
        Wire { overhead: overhead.get(), uncounted: uncounted.get(), mpu: mpu.get(), framing: *framing }
    }

    /// COBALT's times in a tin that is shaped to this rate: where it is low the target is at least one and a half frames, and the interval grows with it.
    /// Without a bandwidth (none) the rate is unknown, and no frame counts.
    fn cobalt(&self, rate: Option<Rate>) -> CobaltParams {
        let base = Dur::from_ps(self.rtt.as_ps() / TARGET_PART);
        let target = rate.map_or(base, |rate| base.max(Dur::from_ps(rate.tx_time(FRAME).as_ps() / 2 * 3)));
        let interval = (self.rtt + target.saturating_sub(base)).max(target * 2);
        CobaltParams { target, interval, mtu: rate.map(|_| Bytes(FRAME)), ecn: self.ecn, spare_last: true, ..CobaltParams::default() }
    }

    /// Returns the limit of all queues together.
    fn limit(&self) -> Len {
        self.limit.unwrap_or_else(|| match self.bandwidth {
            Some(rate) => {
                let bytes = u128::from(rate.as_bps()) / 8 * u128::from(self.rtt.as_ps()) / u128::from(PS_PER_SEC) * u128::from(LIMIT_RTTS);
                Len::Bytes(u64::try_from(bytes).unwrap_or(u64::MAX).clamp(LEAST_LIMIT, MOST_LIMIT))
            }
            None => Len::Bytes(MOST_LIMIT),
        })
    }

    fn tin(&self, share: Share, link: LinkInfo) -> Tin {
        let part =
            |rate: Rate| Rate::from_bps(((u128::from(rate.as_bps()) * u128::from(share.threshold)) / u128::from(WHOLE)).max(1) as u64);
        let rate = part(self.bandwidth.unwrap_or(link.rate));
        let law = Cobalt::new(&self.cobalt(self.bandwidth.map(|_| rate)), LinkInfo { rate, ..link }).of_several().at_ingress(self.ingress);
        let quantum = match self.bandwidth {
            Some(_) => (rate.as_bps() / 8 / QUANTA_PER_SEC).clamp(LEAST_QUANTUM, FRAME),
            None => FRAME,
        };
        let n = if self.isolation == CakeIsolation::Flowblind { 1 } else { self.flows.max(1) as usize };
        Tin {
            queues: FlowQueues::new(Fifo::new(law, Limit::NONE), n, quantum, self.bandwidth.unwrap_or(link.rate))
                .charging_drops(self.ingress),
            ways: Ways::new(n, self.ways as usize),
            hosts: Hosts::new(self.isolation, n, self.wire()),
            rate,
            next: Time::ZERO,
            quantum: share.quantum,
            deficit: 0,
        }
    }
}

impl Discipline for CakeParams {
    type Queue = Cake;

    const PRESETS: &'static [Preset] = &[Preset {
        name: "linux",
        doc: "sch_cake of Linux with its defaults: no rate, three tins, triple isolation, a round trip of 100 ms.",
        values: r#"{"bandwidth": null, "tins": "diffserv3", "isolation": "triple_isolate", "rtt": "100ms", "flows": 1024, "ways": 8, "ecn": true}"#,
    }];

    fn check(&self, _: &BuildContext<'_>) -> Result<(), Problem> {
        check::holds("limit", self.limit)?;
        check::some("flows", u64::from(self.flows))?;
        check::some("ways", u64::from(self.ways))?;
        check::some("bandwidth", self.bandwidth.map_or(1, Rate::as_bps))?;
        if self.rtt.as_ps() < TARGET_PART {
            return Err(Problem::new("rtt", "must be more than nothing"));
        }
        self.cobalt(self.bandwidth).check_values().map_err(|p| Problem::new("rtt", p.message))
    }

    fn build(&self, context: &BuildContext<'_>) -> Cake {
        Cake {
            params: self.clone(),
            wire: self.wire(),
            headers: Headers::default(),
            map: FlowMap::new(self.isolation.hash_by(), Some(self.flows), self.salt, context),
            addresses: Addresses::new(context),
            tin_of: self.tins.table(),
            tins: self.tins.shares().into_iter().map(|share| self.tin(share, context.link)).collect(),
            current: 0,
            next: Time::ZERO,
            failsafe: Time::ZERO,
            room: Room::new(self.limit()),
            held: Backlog::default(),
        }
    }

    fn capabilities(&self) -> Capabilities {
        // Two code points of one flow can fall into different tins.
        Capabilities { shapes: self.bandwidth.is_some(), reorders: self.tins != CakeTins::Besteffort, recolours: self.wash }
    }
}

#[derive(Clone, Debug)]
struct Tin {
    queues: FlowQueues<Cobalt>,
    ways: Ways,
    hosts: Hosts,
    /// Its threshold.
    rate: Rate,
    /// When it may send next to stay below its threshold.
    next: Time,
    quantum: i64,
    deficit: i64,
}

impl Tin {
    #[inline]
    fn waits(&self) -> bool {
        self.queues.held().pkts > 0
    }
}

/// The tins of CAKE and its shaper.
#[derive(Clone, Debug)]
pub struct Cake {
    params: CakeParams,
    wire: Wire,
    headers: Headers,
    map: FlowMap,
    addresses: Addresses,
    tin_of: [u8; 64],
    tins: Vec<Tin>,
    /// Without a bandwidth: whose turn it is.
    current: usize,
    /// When the shaper lets the next packet go.
    next: Time,
    /// When it does even if drops have used up the rate: two thirds of it are for packets that are sent.
    failsafe: Time,
    room: Room,
    held: Backlog,
}

impl Cake {
    fn count(&mut self) {
        self.held = Backlog::default();
        for tin in &self.tins {
            let held = tin.queues.held();
            self.held.pkts += held.pkts;
            self.held.bytes += held.bytes;
        }
    }

    /// With a bandwidth: the last tin that is below its threshold, or else the one that will be first (section III.B).
    fn by_schedule(&self, now: Time) -> Option<usize> {
        let mut best: Option<(Dur, usize)> = None;
        for (i, tin) in self.tins.iter().enumerate().filter(|(_, t)| t.waits()) {
            let wait = tin.next.since(now);
            if best.is_none_or(|(least, _)| wait <= least) {
                best = Some((wait, i));
            }
        }
        best.map(|(_, i)| i)
    }

    /// Without a bandwidth: tins take turns by deficits.
    fn by_deficit(&mut self) -> Option<usize> {
        if self.held.pkts == 0 {
            return None;
        }
        loop {
            let tin = &mut self.tins[self.current];
            if tin.deficit >= 0 && tin.waits() {
                return Some(self.current);
            }
            if tin.deficit <= 0 {
                tin.deficit += tin.quantum;
            }
            self.current = (self.current + 1) % self.tins.len();
        }
    }

    /// Charges a packet to the tin and to the shaper. What was dropped does not count for the failsafe.
    fn charge(&mut self, i: usize, len: u32, now: Time, dropped: bool) {
        let len = self.wire.framed(len);
        let tin = &mut self.tins[i];
        let Some(bandwidth) = self.params.bandwidth else {
            tin.deficit -= len.min(i64::MAX as u64) as i64;
            return;
        };
        let took = tin.rate.tx_time(len);
        // A tin behind its schedule may catch up, one ahead of it is never more than a packet ahead.
        if tin.next < now {
            tin.next += took;
        } else {
            tin.next = tin.next.max(now + took);
        }
        let took = bandwidth.tx_time(len);
        self.next += took;
        if !dropped {
            self.failsafe += took + Dur::from_ps(took.as_ps() / 2);
        }
    }

    /// When the shaper lets the next packet go.
    fn gate(&self) -> Time {
        self.next.min(self.failsafe)
    }

    /// Drops the acknowledgment that the last packet of a queue makes redundant.
    fn filter(&mut self, i: usize, name: usize, cx: &mut QCx<'_>) {
        let (headers, aggressive) = (&self.headers, self.params.ack_filter == CakeAckFilter::Aggressive);
        let Some(ack) = self.tins[i].queues.take(name, |queue| headers.redundant(queue, aggressive)) else { return };
        self.held.sub(&ack);
        cx.drop(ack, DropReason::Evicted);
        if self.params.ingress && self.params.bandwidth.is_some() {
            self.charge(i, ack.len, cx.now, true);
        }
    }

    /// Makes room at the longest queue of all tins; its COBALT learns of it.
    #[cold]
    fn overflow(&mut self, cx: &mut QCx<'_>) -> bool {
        // Of equal ones the first, which comes last here.
        let longest = self.tins.iter_mut().enumerate().rev().filter_map(|(i, t)| t.queues.longest().map(|(_, bytes)| (bytes, i)));
        let Some((_, i)) = longest.max_by_key(|&(bytes, _)| bytes) else { return false };
        let (now, before) = (cx.now, cx.drops.len());
        let Some(law) = self.tins[i].queues.drop_from_longest(1, cx) else { return false };
        law.full(now);
        self.count();
        if self.params.ingress && self.params.bandwidth.is_some() {
            cx.drops[before..].iter().for_each(|(p, _)| self.charge(i, p.len, now, true));
        }
        true
    }
}

impl Qdisc for Cake {
    fn enqueue(&mut self, mut p: Packet, cx: &mut QCx<'_>) {
        let hash = self.map.hash(&p, cx.rng);
        let i = self.tin_of[usize::from(p.class.0 & 63)] as usize;
        if self.params.wash {
            p.class = Class(0);
        }
        let tin = &mut self.tins[i];
        let queues = &tin.queues;
        let name = tin.ways.place(hash, lane(&p), |i| queues.in_use(i));
        if !queues.in_use(name) {
            tin.hosts.assign(name, self.addresses.of(&p));
        }
        // What was not used while nothing waited is lost.
        if !tin.waits() {
            tin.next = tin.next.max(cx.now);
        }
        if self.held.pkts == 0 && self.next < cx.now {
            (self.next, self.failsafe) = (cx.now, cx.now);
        }
        tin.queues.enqueue(name, p, cx, &mut tin.hosts);
        self.held.add(&p);
        if self.params.ack_filter != CakeAckFilter::None && self.headers.keep(&p) {
            self.filter(i, name, cx);
        }
        while self.room.exceeded(self.held) && self.overflow(cx) {}
    }

    fn dequeue(&mut self, cx: &mut QCx<'_>) -> Option<Packet> {
        if self.params.bandwidth.is_some() && cx.now < self.gate() {
            return None;
        }
        loop {
            let i = if self.params.bandwidth.is_some() { self.by_schedule(cx.now) } else { self.by_deficit() }?;
            let tin = &mut self.tins[i];
            let before = cx.drops.len();
            let sent = tin.queues.dequeue(cx, &mut tin.hosts);
            self.count();
            if self.params.ingress {
                cx.drops[before..].iter().for_each(|(p, _)| self.charge(i, p.len, cx.now, true));
            }
            if let Some(p) = sent {
                self.charge(i, p.len, cx.now, false);
                return Some(p);
            }
        }
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.held
    }

    fn reads_headers(&self) -> bool {
        self.params.ack_filter != CakeAckFilter::None
    }

    fn on_header(&mut self, header: &Segment) {
        self.headers.read(header);
    }

    fn ready_at(&self) -> Option<Time> {
        self.params.bandwidth.map(|_| self.gate())
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        const NAMES: [&str; 8] = ["tin0", "tin1", "tin2", "tin3", "tin4", "tin5", "tin6", "tin7"];
        for (tin, name) in self.tins.iter().zip(NAMES) {
            out(name, f64::from(tin.queues.held().pkts));
        }
        let [new, old] = self.tins.iter().map(|t| t.queues.counts()).fold([0, 0], |a, b| [a[0] + b[0], a[1] + b[1]]);
        out("new_flows", new as f64);
        out("old_flows", old as f64);
    }
}

#[cfg(test)]
mod tests;
