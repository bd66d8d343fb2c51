//! PIE, proportional integral controller enhanced: a drop probability that holds the delay at a target.

use super::headdrop::check_limit;
use super::pi2::check_control;
use super::{Law, LawCx, Verdict, Victim};
use crate::discipline::{Discipline, Preset, Problem};
use crate::limit::{Admit, Front, Limit};
use crate::sched::fifo::Fifo;
use fairlane_net::{Backlog, BuildContext, DropReason, Packet};
use fairlane_units::{Bytes, Dur, Len, Time};

fairlane_units::params! {
    /// Where PIE takes the queueing delay from (RFC 8033 section 4.3).
    pub enum DelayEstimate {
        /// How long the last packet waited; zero once nothing waits.
        #[default]
        Timestamp,
        /// The backlog times the measured time to send `dq_threshold` (section 5.2).
        DequeueRate,
    }

    /// PIE drops or marks arriving packets with a probability that a proportional integral controller sets from the queueing delay (RFC 8033).
    pub struct PieParams {
        /// Buffer limit (TAIL_DROP), without the packet in transmission.
        pub limit: Len = Len::Packets(1000),
        /// Which arrivals the limit admits.
        pub admit: Admit = Admit::Fits,
        /// Which packet bears what is decided at an arrival.
        #[serde(flatten)]
        pub front: Front,
        /// The controller.
        #[serde(flatten)]
        pub control: PieControl,
        /// Backlog at which PIE sets to work; it rests again when probability and delay are zero (section 5.3). Unset: always at work.
        pub start: Option<Len> = None,
        /// When it marks.
        #[serde(flatten)]
        pub marks: PieMarks,
    }

    /// PIE's controller: what it holds and how it gets there.
    pub part PieControl {
        /// Delay to hold (QDELAY_REF, RFC 8033 section 4.2).
        #[schemars(extend("x-min" = "1us", "x-max" = "100s"))]
        pub target: Dur = Dur::from_ms(15),
        /// Time between two updates of the probability (T_UPDATE, RFC 8033 section 4.2).
        #[schemars(extend("x-min" = "1us", "x-max" = "100s"))]
        pub tupdate: Dur = Dur::from_ms(15),
        /// Weight of the delay's distance from the target, per second and update (RFC 8033 section 4.2).
        #[schemars(range(min = 0.0, max = 1000.0))]
        pub alpha: f64 = 0.125,
        /// Weight of the delay's change, per second and update (RFC 8033 section 4.2).
        #[schemars(range(min = 0.0, max = 1000.0))]
        pub beta: f64 = 1.25,
        /// How long a burst passes without a drop after a time without congestion (MAX_BURST, RFC 8033 section 4.4).
        #[schemars(extend("x-min" = "0s", "x-max" = "100s"))]
        pub max_burst: Dur = Dur::from_ms(150),
        /// Length of a typical packet: nothing is dropped while at most two of them wait (MEAN_PKTSIZE, RFC 8033 section 4.1).
        #[schemars(extend("x-min" = "1B", "x-max" = "64KiB"))]
        pub mean_packet: Bytes = Bytes(1500),
        /// Backlog up to which nothing is dropped early. Unset: two of `mean_packet` (RFC 8033 section 4.1). ns-3 counts packets where its limit is in packets.
        pub safe_backlog: Option<Len> = None,
        /// Where the delay comes from.
        pub estimate: DelayEstimate = DelayEstimate::Timestamp,
        /// Bytes over which the departure rate is measured (DQ_THRESHOLD, RFC 8033 section 5.2).
        #[schemars(extend("x-min" = "1B", "x-max" = "64KiB"))]
        pub dq_threshold: Bytes = Bytes(16_384),
        /// True if the probability, once it is 10 %, grows by at most 2 % an update (RFC 8033 section 5.5).
        pub cap: bool = true,
        /// True if lucky and unlucky series of the random test are cut short (RFC 8033 section 5.4).
        pub derandomize: bool = false,
        /// True if the probability stays zero during a burst allowance, as in ns-3.
        pub hold: bool = false,
        /// Quiet time after which the next arrival begins a burst allowance, which then runs out with congestion or without, as in ns-3. Unset: the
        /// allowance is whole for as long as it is quiet (RFC 8033 section 4.4).
        #[schemars(extend("x-min" = "1us", "x-max" = "100s"))]
        pub burst_reset: Option<Dur> = None,
        /// Delay above which 2 % are added to the probability at each update, as in Linux. Unset: none.
        #[schemars(extend("x-min" = "1us", "x-max" = "100s"))]
        pub panic_delay: Option<Dur> = None,
        /// True if a packet is dropped in proportion to its length (tc's bytemode).
        pub byte_mode: bool = false,
    }

    /// When PIE marks.
    pub part PieMarks {
        /// True if ECN-capable packets are marked instead of dropped (RFC 8033 section 5.1).
        pub ecn: bool = false,
        /// Probability above which packets are dropped even if they could be marked (mark_ecnth, RFC 8033 section 5.1).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub mark_ecnth: f64 = 0.1,
    }
}

impl PieControl {
    /// True if the values make sense.
    pub(crate) fn check(&self, marks: &PieMarks) -> Result<(), Problem> {
        check_control(self.tupdate, &[("alpha", self.alpha, 1000.0), ("beta", self.beta, 1000.0), ("mark_ecnth", marks.mark_ecnth, 1.0)])
    }
}

impl Discipline for PieParams {
    type Queue = Fifo<Pie>;

    const PRESETS: &'static [Preset] = &[
        Preset {
            name: "linux",
            doc: "sch_pie of Linux (tc pie): series of luck are cut short, 2 % more at each update while the delay is above 250 ms.",
            values: r#"{"limit": "1000p", "target": "15ms", "tupdate": "15ms", "alpha": 0.125, "beta": 1.25, "max_burst": "150ms",
                        "derandomize": true, "panic_delay": "250ms", "cap": true, "ecn": false}"#,
        },
        Preset {
            name: "ns3",
            doc: "PieQueueDisc of ns-3 with its defaults: 25 packets, a burst allowance that begins with the first packet after 1.5 s of quiet, and no \
                  probability that builds up during it.",
            values: r#"{"limit": "25p", "target": "15ms", "tupdate": "15ms", "alpha": 0.125, "beta": 1.25, "max_burst": "150ms",
                        "safe_backlog": "2p", "hold": true, "burst_reset": "1.5s", "cap": true, "ecn": false}"#,
        },
    ];

    fn check(&self, _: &BuildContext<'_>) -> Result<(), Problem> {
        check_limit(self.limit, self.admit)?;
        self.control.check(&self.marks)
    }

    fn build(&self, _: &BuildContext<'_>) -> Fifo<Pie> {
        Fifo::new(Pie::new(self), Limit::new(self.limit, self.admit)).bearing(self.front)
    }
}

/// Section 4.2: a step is divided by the second number while the probability is below the first, so that a small one moves in small steps.
const TUNING: [(f64, f64); 6] = [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)];
/// Section 4.2: what remains of the probability after each update without any delay.
pub(super) const DECAY: f64 = 0.98;
/// Section 4.1: below this probability nothing is dropped while the delay was under half its target.
pub(super) const SAFE_PROB: f64 = 0.2;
/// Section 5.5: largest step of a probability of at least `CAPPED_FROM`.
pub(super) const CAP: f64 = 0.02;
pub(super) const CAPPED_FROM: f64 = 0.1;
/// Section 5.4: below this sum of the probabilities since the last drop none is made, from the other on one is certain.
const ACCU_LOW: f64 = 0.85;
const ACCU_HIGH: f64 = 8.5;

/// Section 4.2: a step of a probability, divided as the probability wants.
pub(super) fn tuned(step: f64, drop_prob: f64) -> f64 {
    TUNING.iter().find(|t| drop_prob < t.0).map_or(step, |t| step / t.1)
}

/// The state of PIE: one for a plain queue, one for each queue of a scheduler with many.
#[derive(Clone, Debug, PartialEq)]
pub struct Pie {
    p: PieControl,
    marks: PieMarks,
    /// Backlog at which it sets to work.
    start: Option<Len>,
    /// The target in seconds.
    target: f64,

    active: bool,
    drop_prob: f64,
    /// The delay at the last update, in seconds.
    qdelay_old: f64,
    burst_allowance: Dur,
    /// With `burst_reset`: how long it has been quiet; unset while the next arrival begins an allowance.
    quiet: Option<Dur>,
    accu_prob: f64,
    /// How long the last packet waited, in seconds.
    sojourn: f64,
    /// Start of a measurement of the departure rate.
    measuring: Option<Time>,
    dq_count: u64,
    /// Average time to send `dq_threshold`, in seconds; zero before the first measurement.
    avg_dq_time: f64,
}

impl Pie {
    /// A PIE that has seen nothing yet.
    pub fn new(p: &PieParams) -> Self {
        Self::of(&p.control, &p.marks, p.start)
    }

    /// One of these parameters.
    pub(crate) fn of(p: &PieControl, marks: &PieMarks, start: Option<Len>) -> Self {
        Self {
            target: p.target.as_secs_f64(),
            active: start.is_none(),
            drop_prob: 0.0,
            qdelay_old: 0.0,
            burst_allowance: if p.burst_reset.is_some() { Dur::ZERO } else { p.max_burst },
            quiet: None,
            accu_prob: 0.0,
            sojourn: 0.0,
            measuring: None,
            dq_count: 0,
            avg_dq_time: 0.0,
            p: p.clone(),
            marks: marks.clone(),
            start,
        }
    }

    /// The drop probability in force.
    pub fn drop_prob(&self) -> f64 {
        self.drop_prob
    }

    /// Section 4.3: the queueing delay now, in seconds.
    fn qdelay(&self, held: Backlog) -> f64 {
        match self.p.estimate {
            DelayEstimate::Timestamp if held.pkts == 0 => 0.0,
            DelayEstimate::Timestamp => self.sojourn,
            DelayEstimate::DequeueRate => held.bytes as f64 * self.avg_dq_time / self.p.dq_threshold.get().max(1) as f64,
        }
    }

    /// Section 4.2: by how much the probability changes at this delay.
    fn step(&self, qdelay: f64) -> f64 {
        let p = self.p.alpha * (qdelay - self.target) + self.p.beta * (qdelay - self.qdelay_old);
        let p = tuned(p, self.drop_prob);
        let p = if self.p.cap && self.drop_prob >= CAPPED_FROM && p > CAP { CAP } else { p };
        match self.p.panic_delay {
            Some(d) if qdelay > d.as_secs_f64() => p + CAP,
            _ => p,
        }
    }

    /// Sections 4.2 and 4.4: the periodic update.
    fn update(&mut self, held: Backlog) {
        let qdelay = self.qdelay(held);
        if self.p.hold && self.burst_allowance > Dur::ZERO {
            self.drop_prob = 0.0;
        } else {
            self.drop_prob += self.step(qdelay);
        }
        if qdelay == 0.0 && self.qdelay_old == 0.0 {
            self.drop_prob *= DECAY;
        }
        self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
        self.burst_allowance = self.burst_allowance.saturating_sub(self.p.tupdate);
        let calm = |d: f64| d < self.target / 2.0;
        let quiet = self.drop_prob == 0.0 && calm(qdelay) && calm(self.qdelay_old);
        match self.p.burst_reset {
            None if quiet => self.burst_allowance = self.p.max_burst,
            None => {}
            Some(reset) => {
                let quiet = quiet && self.burst_allowance == Dur::ZERO;
                let so_far = self.quiet.map(|t| if quiet { t + self.p.tupdate } else { Dur::ZERO });
                self.quiet = so_far.filter(|&t| t <= reset);
            }
        }
        if self.start.is_some() && self.drop_prob == 0.0 && qdelay == 0.0 && self.qdelay_old == 0.0 {
            self.active = false;
        }
        self.qdelay_old = qdelay;
    }

    /// Section 5.3: sets to work once enough waits.
    fn awake(&mut self, held: Backlog) -> bool {
        let due = |len| match len {
            Len::Packets(n) => u64::from(held.pkts) >= n,
            Len::Bytes(n) => held.bytes >= n,
        };
        if !self.active && self.start.is_some_and(due) {
            self.active = true;
            self.drop_prob = 0.0;
            self.qdelay_old = 0.0;
            self.accu_prob = 0.0;
            self.avg_dq_time = 0.0;
            self.measuring = None;
            self.burst_allowance = if self.p.burst_reset.is_some() { Dur::ZERO } else { self.p.max_burst };
            self.quiet = None;
        }
        self.active
    }

    /// Section 4.1: whether so little waits that dropping would leave the link idle.
    fn safe(&self, held: Backlog, mean: u64) -> bool {
        match self.p.safe_backlog {
            None => held.bytes <= 2 * mean,
            Some(Len::Packets(n)) => u64::from(held.pkts) <= n,
            Some(Len::Bytes(n)) => held.bytes <= n,
        }
    }

    /// Sections 4.1 and 5.4: whether an arriving packet is dropped.
    fn drop_early(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> bool {
        if self.p.burst_reset.is_some() && self.quiet.is_none() {
            self.quiet = Some(Dur::ZERO);
            self.burst_allowance = self.p.max_burst;
        }
        let mean = self.p.mean_packet.get();
        if self.burst_allowance > Dur::ZERO
            || (self.qdelay_old < self.target / 2.0 && self.drop_prob < SAFE_PROB)
            || self.safe(cx.held, mean)
        {
            return false;
        }
        let prob = match self.p.byte_mode {
            true => self.drop_prob * f64::from(p.len) / mean.max(1) as f64,
            false => self.drop_prob,
        };
        if self.p.derandomize {
            self.accu_prob = if self.drop_prob == 0.0 { 0.0 } else { self.accu_prob + prob };
            if self.accu_prob < ACCU_LOW {
                return false;
            }
            if self.accu_prob >= ACCU_HIGH {
                self.accu_prob = 0.0;
                return true;
            }
        }
        if cx.rng.uniform() >= prob {
            return false;
        }
        self.accu_prob = 0.0;
        true
    }

    /// Section 5.2: the time to send `dq_threshold`, measured while at least that much waits.
    fn measure_rate(&mut self, p: &Packet, cx: &LawCx<'_>) {
        let threshold = self.p.dq_threshold.get().max(1);
        if self.measuring.is_none() && cx.held.bytes + u64::from(p.len) >= threshold {
            self.measuring = Some(cx.now);
            self.dq_count = 0;
        }
        let Some(since) = self.measuring else { return };
        // The packet that starts a measurement is sent within it: what counts is what left since.
        if self.dq_count >= threshold {
            let took = (cx.now - since).as_secs_f64() * threshold as f64 / self.dq_count as f64;
            let weight = threshold as f64 / 65_536.0;
            self.avg_dq_time = if self.avg_dq_time == 0.0 { took } else { took * weight + self.avg_dq_time * (1.0 - weight) };
            self.measuring = (cx.held.bytes + u64::from(p.len) >= threshold).then_some(cx.now);
            self.dq_count = 0;
        }
        self.dq_count += u64::from(p.len);
    }
}

impl Law for Pie {
    const FRONT: bool = true;
    const HAS_TIMER: bool = true;

    #[inline]
    fn on_enqueue(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Verdict {
        if !self.awake(cx.held) || !self.drop_early(p, cx) {
            return Verdict::Pass;
        }
        match self.marks.ecn && p.ecn.capable() && self.drop_prob <= self.marks.mark_ecnth {
            true => Verdict::Mark,
            false => Verdict::Drop(DropReason::Early),
        }
    }

    /// A lost packet begins a new series of section 5.4.
    fn on_overflow(&mut self, _: &Packet, _: &mut LawCx<'_>) -> Victim {
        self.accu_prob = 0.0;
        Victim::Arriving
    }

    #[inline]
    fn on_dequeue(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Verdict {
        self.sojourn = cx.now.since(p.at).as_secs_f64();
        if self.p.estimate == DelayEstimate::DequeueRate {
            self.measure_rate(p, cx);
        }
        Verdict::Pass
    }

    fn on_timer(&mut self, cx: &mut LawCx<'_>) -> Option<Time> {
        if self.active {
            self.update(cx.held);
        }
        Some(cx.now + self.p.tupdate)
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("drop_prob", self.drop_prob);
        out("qdelay", self.qdelay_old);
        out("burst_allowance", self.burst_allowance.as_secs_f64());
    }
}

#[cfg(test)]
mod tests;
