//! RED, random early detection: drops or marks with a probability that grows with the average queue.

use super::{Law, LawCx, Verdict, Victim};
use crate::discipline::{Discipline, Preset, Problem};
use crate::limit::{Admit, Limit};
use crate::sched::fifo::Fifo;
use fairlane_net::{LinkInfo, QPkt, Site, Why};
use fairlane_units::{Bytes, Dur, Len, PS_PER_SEC, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the queue is counted in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Packets.
    #[default]
    Packets,
    /// Bytes; a length written in packets stands for that many of `mean_packet`.
    Bytes,
}

/// RED drops or marks arriving packets with a probability that grows with the average queue (Floyd and Jacobson 1993; gentle variant of Floyd 2000).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RedParams {
    /// What the buffer holds; the packet in transmission is not counted. In packets with `measure = "bytes"`: that many of `mean_packet`.
    pub limit: Len,
    /// Which arrivals the limit admits.
    pub admit: Admit,
    /// Average queue below which nothing is dropped (min_th, section 4). Unset: half of `target_delay` worth of the link, at least 5 packets.
    pub min: Option<Len>,
    /// Average queue at which the probability is `max_p` (max_th, section 4). Unset: three times `min` (section 5).
    pub max: Option<Len>,
    /// Queueing delay that automatic thresholds aim at (Floyd, Gummadi and Shenker 2001, section 5).
    #[schemars(extend("x-min" = "1us", "x-max" = "100s"))]
    pub target_delay: Dur,
    /// Probability at `max` (max_p, section 4); ns-2's linterm is its inverse.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub max_p: f64,
    /// Weight of one arrival in the average (w_q, section 4). Unset: from `averaging`.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub w_q: Option<f64>,
    /// Time constant of the average on a busy link, from which w_q = 1 - exp(-1 / packets sent in it). Unset: ten round trips, one being three times
    /// the link's delay and transmission time, at least 100 ms (Floyd, Gummadi and Shenker 2001, section 4.3).
    #[schemars(extend("x-min" = "1us", "x-max" = "1000s"))]
    pub averaging: Option<Dur>,
    /// Whether the probability grows from `max_p` at `max` to 1 at twice `max`, instead of jumping to 1 at `max` (Floyd 2000).
    pub gentle: bool,
    /// Whether gaps between drops are spread over 1/p to 2/p packets instead of 1 to 1/p (ns-2's wait_).
    pub wait: bool,
    /// What the average, the thresholds and the limit are counted in (section 4; ns-2's queue_in_bytes_).
    pub measure: Measure,
    /// Whether a packet is dropped in proportion to its length, and gaps are counted in bytes (section 4, byte mode; ns-2's bytes_).
    pub byte_mode: bool,
    /// Length of a typical packet: converts between packets and bytes, and rates into packets.
    #[schemars(extend("x-min" = "1B", "x-max" = "64KiB"))]
    pub mean_packet: Bytes,
    /// Length of the packets that an idle link is taken to have sent, which ages the average (s in section 4). Unset: `mean_packet`.
    #[schemars(extend("x-min" = "1B", "x-max" = "64KiB"))]
    pub idle_packet: Option<Bytes>,
    /// Whether ECN-capable packets are marked instead of dropped (RFC 3168 section 7; ns-2's setbit_).
    pub ecn: bool,
    /// Probability from which packets are dropped even if they could be marked (RFC 3168 section 7; ns-2's mark_p_).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub mark_p: f64,
    /// No early drop while only this many wait, in the unit of `measure`; ns-2 has 1. Unset: the average alone decides (section 4).
    pub spare: Option<u64>,
    /// Whether the arrival that begins a stay above `min` is spared and counted as the first of the gap, as in ns-2.
    pub grace: bool,
}

impl Default for RedParams {
    fn default() -> Self {
        Self {
            limit: Len::Packets(1000),
            admit: Admit::Fits,
            min: None,
            max: None,
            target_delay: Dur::from_ms(5),
            max_p: 0.1,
            w_q: None,
            averaging: None,
            gentle: true,
            wait: false,
            measure: Measure::Packets,
            byte_mode: false,
            mean_packet: Bytes(1000),
            idle_packet: None,
            ecn: false,
            mark_p: 1.0,
            spare: None,
            grace: false,
        }
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
        self.mean_packet.get().max(1) as f64
    }

    fn in_measure(&self, len: Len) -> f64 {
        match (len, self.measure) {
            (Len::Packets(n), Measure::Packets) | (Len::Bytes(n), Measure::Bytes) => n as f64,
            (Len::Packets(n), Measure::Bytes) => n as f64 * self.mean(),
            (Len::Bytes(n), Measure::Packets) => n as f64 / self.mean(),
        }
    }

    /// The values in force on a link.
    pub fn setting(&self, link: LinkInfo) -> RedSetting {
        let rate = link.rate.as_bps() as f64;
        let packets_per_sec = rate / (8.0 * self.mean());
        let unit = if self.measure == Measure::Bytes { self.mean() } else { 1.0 };
        let min = self.min.map_or_else(
            || {
                let half = self.target_delay.as_secs_f64() * packets_per_sec / 2.0;
                unit * if half > LEAST_MIN { half } else { LEAST_MIN }
            },
            |len| self.in_measure(len),
        );
        let max = self.max.map_or(MAX_OVER_MIN * min, |len| self.in_measure(len));
        let w_q = self.w_q.unwrap_or_else(|| {
            let span = self.averaging.map_or_else(
                || {
                    let rtt = 3.0 * (link.delay.as_secs_f64() + 1.0 / packets_per_sec);
                    AVERAGED_RTTS * if rtt > LEAST_RTT { rtt } else { LEAST_RTT }
                },
                Dur::as_secs_f64,
            );
            1.0 - libm::exp(-1.0 / (span * packets_per_sec))
        });
        let idle = self.idle_packet.map_or(self.mean(), |b| b.get().max(1) as f64);
        RedSetting { min, max, w_q, idle_rate: rate / (8.0 * idle) }
    }
}

impl Discipline for RedParams {
    type Queue = Fifo<Red>;

    const PRESETS: &'static [Preset] = &[Preset {
        name: "ns2",
        doc: "Queue/RED of ns-2.35 with its class defaults: lengths and probabilities in bytes of 500-byte packets (a limit of n packets \
              is n * 500 bytes), automatic thresholds and weight, gentle, wait.",
        values: r#"{"limit": "50p", "admit": "not_full", "target_delay": "5ms", "max_p": 0.1, "gentle": true, "wait": true,
                    "measure": "bytes", "byte_mode": true, "mean_packet": "500B", "ecn": false, "mark_p": 0.1, "spare": 1, "grace": true}"#,
    }];

    fn check(&self, site: &Site<'_>) -> Result<(), Problem> {
        if matches!(self.limit, Len::Packets(0) | Len::Bytes(0)) {
            return Err(Problem::new("limit", format!("{} holds nothing: write at least \"1p\"", self.limit)));
        }
        let s = self.setting(site.link);
        if s.max < s.min {
            let unit = if self.measure == Measure::Bytes { "bytes" } else { "packets" };
            return Err(Problem::new("max", format!("the upper threshold ({} {unit}) is below the lower one ({} {unit})", s.max, s.min)));
        }
        for (name, p) in [("max_p", self.max_p), ("mark_p", self.mark_p), ("w_q", s.w_q)] {
            if !(0.0..=1.0).contains(&p) {
                return Err(Problem::new(name, format!("{p} is not between 0 and 1")));
            }
        }
        Ok(())
    }

    fn build(&self, site: &Site<'_>) -> Fifo<Red> {
        let limit = match (self.limit, self.measure) {
            (Len::Packets(n), Measure::Bytes) => Len::Bytes(n.saturating_mul(self.mean_packet.get())),
            (len, _) => len,
        };
        Fifo::new(Red::new(self, site.link), Limit::new(limit, self.admit))
    }
}

/// The state of RED.
#[derive(Clone, Debug, PartialEq)]
pub struct Red {
    setting: RedSetting,
    /// p_b between the thresholds is `slope * avg + offset`, above the upper one `slope2 * avg + offset2`.
    slope: f64,
    offset: f64,
    slope2: f64,
    offset2: f64,
    mean_packet: u64,
    spare: u64,
    mark_p: f64,
    /// Seconds the link needs for a byte.
    sec_per_byte: f64,
    wait: bool,
    in_bytes: bool,
    byte_mode: bool,
    grace: bool,
    ecn: bool,

    avg: f64,
    /// p_b of the last arrival.
    p_b: f64,
    /// Arrivals since the last drop or mark, this one included.
    count: u64,
    count_bytes: u64,
    /// Whether the last arrival found the average above the lower threshold.
    active: bool,
    /// The last departure: its start and length say when the link fell idle.
    left_at: Time,
    left_len: u32,
}

impl Red {
    fn new(p: &RedParams, link: LinkInfo) -> Self {
        let s = p.setting(link);
        let width = s.max - s.min;
        // Equal thresholds: a step, written as a ramp of one unit so that nothing divides by zero.
        let width = if width > 0.0 { width } else { 1.0 };
        let (slope2, offset2) = if p.gentle { ((1.0 - p.max_p) / s.max, 2.0 * p.max_p - 1.0) } else { (0.0, 1.0) };
        Self {
            setting: s,
            slope: p.max_p / width,
            offset: -p.max_p * s.min / width,
            slope2,
            offset2,
            mean_packet: p.mean_packet.get().max(1),
            spare: p.spare.map_or(0, |n| n.saturating_add(1)),
            mark_p: p.mark_p,
            sec_per_byte: 8.0 / link.rate.as_bps().max(1) as f64,
            wait: p.wait,
            in_bytes: p.measure == Measure::Bytes,
            byte_mode: p.byte_mode,
            grace: p.grace,
            ecn: p.ecn,
            avg: 0.0,
            p_b: 0.0,
            count: 0,
            count_bytes: 0,
            active: false,
            left_at: Time::ZERO,
            left_len: 0,
        }
    }

    /// The average queue, in the unit of its measure.
    pub fn avg(&self) -> f64 {
        self.avg
    }

    /// Section 4: an arrival after idle time ages the average by the packets that could have been sent in it.
    fn idle_packets(&self, now: Time) -> u64 {
        let since_left = (now - self.left_at).as_ps() as f64 / PS_PER_SEC as f64;
        let idle = since_left - f64::from(self.left_len) * self.sec_per_byte;
        // The cast rounds down and takes a link that is still busy as not idle.
        (idle * self.setting.idle_rate) as u64
    }

    /// p_b: section 4, and the gentle variant above `max`.
    fn p_b(&self) -> f64 {
        let p = if self.avg >= self.setting.max { self.slope2 * self.avg + self.offset2 } else { self.slope * self.avg + self.offset };
        p.clamp(0.0, 1.0)
    }

    /// p_a: makes the gaps between drops uniform instead of geometric (section 7, method 2).
    fn p_a(&self, p_b: f64, len: u32) -> f64 {
        let count = if self.byte_mode { self.count_bytes / self.mean_packet } else { self.count };
        let expected = count as f64 * p_b;
        let p = match (self.wait, expected) {
            (true, e) if e < 1.0 => 0.0,
            (true, e) if e < 2.0 => p_b / (2.0 - e),
            (false, e) if e < 1.0 => p_b / (1.0 - e),
            _ => 1.0,
        };
        // Byte mode scales p_a and not p_b as in the paper, so that large packets do not shorten the gap twice; ns-2 does the same.
        if self.byte_mode && p < 1.0 { p * f64::from(len) / self.mean_packet as f64 } else { p }
    }

    fn restart(&mut self) {
        self.count = 0;
        self.count_bytes = 0;
    }
}

/// `x` to the power `n`, by squaring: the same products on every machine.
fn power(mut x: f64, mut n: u64) -> f64 {
    let mut y = 1.0;
    while n > 0 {
        if n & 1 == 1 {
            y *= x;
        }
        x *= x;
        n >>= 1;
    }
    y
}

impl Law for Red {
    #[inline]
    fn on_enqueue(&mut self, p: &QPkt, cx: &mut LawCx<'_>) -> Verdict {
        let waiting = if self.in_bytes { cx.held.bytes } else { u64::from(cx.held.pkts) };
        // Section 4: the average is updated before the arriving packet joins.
        let keep = 1.0 - self.setting.w_q;
        if cx.held.pkts == 0 {
            self.avg *= power(keep, self.idle_packets(cx.now));
        }
        self.avg = self.avg * keep + self.setting.w_q * waiting as f64;
        self.count += 1;
        self.count_bytes += u64::from(p.len);

        if self.avg < self.setting.min || waiting < self.spare {
            self.active = false;
            self.p_b = 0.0;
            return Verdict::Pass;
        }
        if !self.active {
            self.active = true;
            // Section 4 counts the first arrival above the threshold as number 0, ns-2 as number 1.
            self.count = u64::from(self.grace);
            self.count_bytes = if self.grace { u64::from(p.len) } else { 0 };
            if self.grace {
                return Verdict::Pass;
            }
        }
        self.p_b = self.p_b();
        let p_a = self.p_a(self.p_b, p.len);
        if cx.rng.uniform() >= p_a {
            return Verdict::Pass;
        }
        self.restart();
        match p.ecn.capable() && self.ecn && self.p_b < self.mark_p {
            true => Verdict::Mark,
            false => Verdict::Drop(if self.p_b < 1.0 { Why::Early } else { Why::Forced }),
        }
    }

    /// A drop of any kind begins a new gap.
    #[inline]
    fn on_overflow(&mut self, _: &QPkt, _: &mut LawCx<'_>) -> Victim {
        self.restart();
        Victim::Arriving
    }

    #[inline]
    fn on_dequeue(&mut self, p: &QPkt, cx: &mut LawCx<'_>) -> Verdict {
        self.left_at = cx.now;
        self.left_len = p.len;
        Verdict::Pass
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("avg", self.avg);
        out("drop_prob", self.p_b);
    }
}

#[cfg(test)]
mod tests;
