//! RED, random early detection: drops or marks with a probability that grows with the average queue.

pub(crate) mod parts;

use self::parts::{Average, Chooser, Idle, Shape};
use super::bounds::check_shares;
use super::{Law, LawCx, Verdict, Victim};
use crate::discipline::{Discipline, Preset, Problem};
use crate::limit::{Admit, Front, Limit};
use crate::sched::fifo::Fifo;
use fairlane_net::{BuildContext, DropReason, LinkInfo, Packet};
use fairlane_units::{Bytes, Dur, Len};

fairlane_units::params! {
    /// Unit of a queue's length.
    pub enum Measure {
        /// Packets.
        #[default]
        Packets,
        /// Bytes; a length written in packets stands for that many of `mean_packet`.
        Bytes,
    }

    /// RED drops or marks arriving packets with a probability that grows with the average queue (Floyd and Jacobson 1993; gentle variant of Floyd 2000).
    pub struct RedParams {
        /// Buffer limit, without the packet in transmission. In packets with `measure = "bytes"`: that many of `mean_packet`.
        pub limit: Len = Len::Packets(1000),
        /// Which arrivals the limit admits.
        pub admit: Admit = Admit::Fits,
        /// Which packet bears what is decided at an arrival.
        #[serde(flatten)]
        pub front: Front,
        /// Where early drops begin, and how frequent they get.
        #[serde(flatten)]
        pub thresholds: RedThresholds,
        /// The average, and the curve of the probability.
        #[serde(flatten)]
        pub tuning: RedTuning,
        /// True if packets that could be marked are dropped from `mark_p` on (ns-3 `UseHardDrop`); false: they are marked whatever the average, as DCTCP
        /// needs it (Alizadeh et al. 2010 section 3.1).
        pub hard_drop: bool = true,
        /// How a stay above the lower threshold begins.
        #[serde(flatten)]
        pub start: RedStart,
    }

    /// Where RED's early drops begin, and how frequent they get.
    pub part RedThresholds {
        /// Average queue below which nothing is dropped (min_th, Floyd and Jacobson 1993 section 4). Unset: half of `target_delay` worth of the link, at least 5 packets.
        pub min: Option<Len> = None,
        /// Average queue at which the probability is `max_p` (max_th, Floyd and Jacobson 1993 section 4). Unset: three times `min` (section 5).
        pub max: Option<Len> = None,
        /// Queueing delay that automatic thresholds aim at (Floyd, Gummadi and Shenker 2001, section 5).
        #[schemars(extend("x-min" = "1us", "x-max" = "100s"))]
        pub target_delay: Dur = Dur::from_ms(5),
        /// Probability at `max` (max_p, Floyd and Jacobson 1993 section 4; ns-2's linterm is its inverse); adaptive RED begins with it.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub max_p: f64 = 0.1,
    }

    /// RED's average, and the curve of its probability.
    pub part RedTuning {
        /// Weight of one arrival in the average (w_q, Floyd and Jacobson 1993 section 4). Unset: from `averaging`.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub w_q: Option<f64> = None,
        /// Time constant of the average on a busy link, from which w_q = 1 - exp(-1 / packets sent in it). Unset: ten round trips, one being three times
        /// the link's delay and transmission time, at least 100 ms (Floyd, Gummadi and Shenker 2001, section 4.3).
        #[schemars(extend("x-min" = "1us", "x-max" = "1000s"))]
        pub averaging: Option<Dur> = None,
        /// True if the probability grows from `max_p` at `max` to 1 at twice `max`, instead of jumping to 1 at `max` (Floyd 2000).
        pub gentle: bool = true,
        /// True if gaps between drops are spread over 1/p to 2/p packets instead of 1 to 1/p (ns-2's wait_).
        pub wait: bool = false,
        /// Unit of the average, the thresholds and the limit (Floyd and Jacobson 1993 section 4; ns-2's queue_in_bytes_).
        pub measure: Measure = Measure::Packets,
        /// True if a packet is dropped in proportion to its length, and gaps are counted in bytes (Floyd and Jacobson 1993 section 4, byte mode; ns-2's bytes_).
        pub byte_mode: bool = false,
        /// Length of a typical packet: converts between packets and bytes, and rates into packets.
        #[schemars(extend("x-min" = "1B", "x-max" = "64KiB"))]
        pub mean_packet: Bytes = Bytes(1000),
        /// Length of the packets that an idle link is taken to have sent, which ages the average (s in Floyd and Jacobson 1993 section 4). Unset: `mean_packet`.
        #[schemars(extend("x-min" = "1B", "x-max" = "64KiB"))]
        pub idle_packet: Option<Bytes> = None,
        /// True if ECN-capable packets are marked instead of dropped (RFC 3168 section 7; ns-2's setbit_).
        pub ecn: bool = false,
        /// Probability from which packets are dropped even if they could be marked (RFC 3168 section 7; ns-2's mark_p_).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub mark_p: f64 = 1.0,
    }

    /// How a stay above the lower threshold begins.
    pub part RedStart {
        /// No early drop while only this many wait of those that the average counts, in the unit of `measure`; ns-2 has 1. Unset: the average alone decides (Floyd and Jacobson 1993 section 4).
        pub spare: Option<u64>,
        /// True if the arrival that begins a stay above `min` is spared and counted as the first of the gap, as in ns-2.
        pub grace: bool,
    }
}

/// The values RED works with on a given link, automatic ones worked out. Lengths are in the unit of [`RedParams::measure`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedSetting {
    /// Lower threshold.
    pub min: f64,
    /// Upper threshold.
    pub max: f64,
    /// Weight of one arrival.
    pub w_q: f64,
    /// Packets of the idle length that the link sends in a second.
    pub idle_rate: f64,
}

/// Smallest automatic lower threshold, in packets (Floyd, Gummadi and Shenker 2001, section 5).
const LEAST_MIN: f64 = 5.0;
/// Automatic ratio of the thresholds (the same place).
const MAX_OVER_MIN: f64 = 3.0;
/// Least round-trip time that the automatic weight reckons with, in seconds (the same paper, section 4.3).
const LEAST_RTT: f64 = 0.1;
/// Round trips in the automatic time constant (the same place).
const AVERAGED_RTTS: f64 = 10.0;

impl RedParams {
    fn mean(&self) -> f64 {
        self.tuning.mean_packet.get().max(1) as f64
    }

    fn in_measure(&self, len: Len) -> f64 {
        length_in(self.tuning.measure, len, self.tuning.mean_packet)
    }

    /// Returns the limit of the buffer.
    pub(crate) fn limit(&self) -> Limit {
        limit_in(self.tuning.measure, self.limit, self.tuning.mean_packet, self.admit)
    }

    /// The values in force on a link.
    pub fn setting(&self, link: LinkInfo) -> RedSetting {
        let rate = link.rate.as_bps() as f64;
        let packets_per_sec = rate / (8.0 * self.mean());
        let unit = if self.tuning.measure == Measure::Bytes { self.mean() } else { 1.0 };
        let min = self.thresholds.min.map_or_else(
            || {
                let half = self.thresholds.target_delay.as_secs_f64() * packets_per_sec / 2.0;
                unit * if half > LEAST_MIN { half } else { LEAST_MIN }
            },
            |len| self.in_measure(len),
        );
        let max = self.thresholds.max.map_or(MAX_OVER_MIN * min, |len| self.in_measure(len));
        let w_q = self.tuning.w_q.unwrap_or_else(|| {
            let span = self.tuning.averaging.map_or_else(
                || {
                    let rtt = 3.0 * (link.delay.as_secs_f64() + 1.0 / packets_per_sec);
                    AVERAGED_RTTS * if rtt > LEAST_RTT { rtt } else { LEAST_RTT }
                },
                Dur::as_secs_f64,
            );
            1.0 - libm::exp(-1.0 / (span * packets_per_sec))
        });
        let idle = self.tuning.idle_packet.map_or(self.mean(), |b| b.get().max(1) as f64);
        RedSetting { min, max, w_q, idle_rate: rate / (8.0 * idle) }
    }
}

impl Discipline for RedParams {
    type Queue = Fifo<Box<Red>>;

    const PRESETS: &'static [Preset] = &[
        Preset {
            name: "ns2",
            doc: "Queue/RED of ns-2.35 with its class defaults: lengths and probabilities in bytes of 500-byte packets (a limit of n packets \
                  is n * 500 bytes), automatic thresholds and weight, gentle, wait.",
            values: r#"{"limit": "50p", "admit": "not_full", "target_delay": "5ms", "max_p": 0.1, "gentle": true, "wait": true,
                        "measure": "bytes", "byte_mode": true, "mean_packet": "500B", "ecn": false, "mark_p": 0.1, "spare": 1, "grace": true}"#,
        },
        Preset {
            name: "ns3",
            doc: "RedQueueDisc of ns-3.37 with its defaults: 25 packets, thresholds 5 and 15, max_p 1/50, gentle, wait. ns-3 takes the idle time's packets \
                  from its attribute LinkBandwidth, which has to be set to the link's.",
            values: r#"{"limit": "25p", "admit": "not_full", "min": "5p", "max": "15p", "max_p": 0.02, "w_q": 0.002, "gentle": true, "wait": true,
                        "measure": "packets", "byte_mode": false, "mean_packet": "500B", "ecn": false, "spare": 1, "grace": true}"#,
        },
        Preset {
            name: "dctcp",
            doc: "The step that DCTCP wants of a switch (RFC 8257 section 3.1, Alizadeh et al. 2010 section 3.1): every packet that finds 20 or more waiting is \
                  marked, by the queue itself, not its average. K = 20 is theirs for 1 Gbit/s; a seventh of a round trip is enough.",
            values: r#"{"min": "20p", "max": "20p", "w_q": 1.0, "gentle": false, "ecn": true, "hard_drop": false}"#,
        },
    ];

    fn check(&self, context: &BuildContext<'_>) -> Result<(), Problem> {
        if matches!(self.limit, Len::Packets(0) | Len::Bytes(0)) {
            return Err(Problem::new("limit", format!("{} holds nothing: write at least \"1p\"", self.limit)));
        }
        let s = self.setting(context.link);
        if s.max < s.min {
            let unit = if self.tuning.measure == Measure::Bytes { "bytes" } else { "packets" };
            return Err(Problem::new("max", format!("the upper threshold ({} {unit}) is below the lower one ({} {unit})", s.max, s.min)));
        }
        check_shares(&[("max_p", self.thresholds.max_p), ("mark_p", self.tuning.mark_p), ("w_q", s.w_q)])
    }

    fn remark(&self, context: &BuildContext<'_>) -> Option<String> {
        let s = self.setting(context.link);
        let limit = self.in_measure(self.limit);
        if s.max <= limit {
            return None;
        }
        let unit = if self.tuning.measure == Measure::Bytes { "bytes" } else { "packets" };
        let what =
            if s.min >= limit { "is full before it drops early, as a DropTail queue" } else { "never drops as often as `max_p` says" };
        Some(format!(
            "its limit is {limit:.0} {unit}, below the upper threshold of {:.0}, so it {what}: write a larger limit, or `min` and `max` below it",
            s.max
        ))
    }

    fn build(&self, context: &BuildContext<'_>) -> Fifo<Box<Red>> {
        Fifo::new(Box::new(Red::new(self, context.link)), self.limit()).bearing(self.front)
    }
}

/// A length in the unit of `measure`; `mean_packet` converts.
pub(crate) fn length_in(measure: Measure, len: Len, mean_packet: Bytes) -> f64 {
    let mean = mean_packet.get().max(1) as f64;
    match (len, measure) {
        (Len::Packets(n), Measure::Packets) | (Len::Bytes(n), Measure::Bytes) => n as f64,
        (Len::Packets(n), Measure::Bytes) => n as f64 * mean,
        (Len::Bytes(n), Measure::Packets) => n as f64 / mean,
    }
}

/// A limit in packets stands for that many of the mean length where the queue is counted in bytes, as in ns-2.
pub(crate) fn limit_in(measure: Measure, limit: Len, mean_packet: Bytes, admit: Admit) -> Limit {
    let len = match (limit, measure) {
        (Len::Packets(n), Measure::Bytes) => Len::Bytes(n.saturating_mul(mean_packet.get())),
        (len, _) => len,
    };
    Limit::new(len, admit)
}

/// The state of RED.
#[derive(Clone, Debug, PartialEq)]
pub struct Red {
    idle: Idle,
    average: Average,
    chooser: Chooser,
    in_bytes: bool,
    ecn: bool,
    mark_p: f64,
}

impl Red {
    pub(crate) fn new(p: &RedParams, link: LinkInfo) -> Self {
        let s = p.setting(link);
        let shape = Shape {
            min: s.min,
            max: s.max,
            max_p: p.thresholds.max_p,
            gentle: p.tuning.gentle,
            wait: p.tuning.wait,
            byte_mode: p.tuning.byte_mode,
            mean_packet: p.tuning.mean_packet.get().max(1),
            spare: p.start.spare.map_or(0, |n| n.saturating_add(1)),
            grace: p.start.grace,
            lapse: false,
        };
        Self {
            idle: Idle::new(s.idle_rate, link),
            average: Average::new(s.w_q),
            chooser: Chooser::new(shape),
            in_bytes: p.tuning.measure == Measure::Bytes,
            ecn: p.tuning.ecn,
            mark_p: if p.hard_drop { p.tuning.mark_p } else { f64::INFINITY },
        }
    }

    /// The average queue, in the unit of its measure.
    pub fn avg(&self) -> f64 {
        self.average.value
    }

    /// The choice that follows from the average.
    pub(crate) fn chooser_mut(&mut self) -> &mut Chooser {
        &mut self.chooser
    }

    #[inline]
    fn waiting(&self, cx: &LawCx<'_>) -> u64 {
        if self.in_bytes { cx.held.bytes } else { u64::from(cx.held.pkts) }
    }

    /// Section 4: the average is updated before the arriving packet joins; an arrival after idle time ages it first.
    #[inline]
    pub(crate) fn update_average(&mut self, cx: &LawCx<'_>) {
        if cx.held.pkts == 0 {
            self.average.age(self.idle.packets(cx.now));
        }
        self.average.sample(self.waiting(cx));
    }

    /// Returns the verdict on the packet that has just been averaged.
    #[inline]
    pub(crate) fn judge(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Verdict {
        let waiting = self.waiting(cx);
        if !self.chooser.chooses(self.average.value, waiting, p.len, cx.rng) {
            return Verdict::Pass;
        }
        let p_b = self.chooser.p_b();
        match p.ecn.capable() && self.ecn && p_b < self.mark_p {
            true => Verdict::Mark,
            false => Verdict::Drop(if p_b < 1.0 { DropReason::Early } else { DropReason::Forced }),
        }
    }
}

impl Law for Red {
    const FRONT: bool = true;
    #[inline]
    fn on_enqueue(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Verdict {
        self.update_average(cx);
        self.judge(p, cx)
    }

    /// A drop of any kind begins a new gap.
    #[inline]
    fn on_overflow(&mut self, _: &Packet, _: &mut LawCx<'_>) -> Victim {
        self.chooser.restart();
        Victim::Arriving
    }

    #[inline]
    fn on_dequeue(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Verdict {
        self.idle.left(cx.now, p.len);
        Verdict::Pass
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("avg", self.average.value);
        out("drop_prob", self.chooser.p_b());
    }
}

/// Boxed, so that ports with simpler queues stay small.
impl Law for Box<Red> {
    const FRONT: bool = Red::FRONT;
    #[inline]
    fn on_enqueue(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Verdict {
        (**self).on_enqueue(p, cx)
    }
    #[inline]
    fn on_overflow(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Victim {
        (**self).on_overflow(p, cx)
    }
    #[inline]
    fn on_dequeue(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Verdict {
        (**self).on_dequeue(p, cx)
    }
    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        (**self).gauges(out);
    }
}

#[cfg(test)]
mod tests;
