//! DOCSIS-PIE: the PIE of cable modems, which predicts the delay from the token bucket that shapes the upstream.

use super::pi2::check_control;
use super::pie::{CAP, CAPPED_FROM, DECAY, SAFE_PROB, tuned};
use super::{Law, LawCx, Verdict, Victim};
use crate::discipline::{Capabilities, Discipline, Problem};
use crate::limit::{Admit, Limit};
use crate::sched::bucket::{Bucket, tokens};
use crate::sched::check;
use crate::sched::fifo::Fifo;
use crate::sched::tbf::Tbf;
use fairlane_net::{Backlog, BuildContext, DropReason, Packet};
use fairlane_units::{Bytes, Dur, Len, Rate, Time};

fairlane_units::params! {
    /// DOCSIS-PIE shapes an upstream by its token bucket and drops as PIE does, with the delay that backlog and tokens predict (RFC 8034).
    pub struct DocsisPieParams {
        /// Maximum Sustained Rate, MSR: rate of the tokens. Unset: that of the link.
        #[schemars(extend("x-min" = "8bit/s", "x-max" = "100Tbit/s"))]
        pub msr: Option<Rate> = None,
        /// Maximum Traffic Burst: depth of the bucket, what leaves at the peak rate after a pause. The default is that of DOCSIS.
        #[schemars(extend("x-min" = "1522B", "x-max" = "1GiB"))]
        pub burst: Bytes = Bytes(3044),
        /// Peak Traffic Rate: rate at which the burst leaves. Unset: that of the link.
        #[schemars(extend("x-min" = "8bit/s", "x-max" = "100Tbit/s"))]
        pub peak_rate: Option<Rate> = None,
        /// Buffer limit (BUFFER_SIZE). Unset: what MSR sends in 100 ms, at least 15 kB.
        pub limit: Option<Len> = None,
        /// Delay to hold (LATENCY_TARGET).
        #[schemars(extend("x-min" = "1us", "x-max" = "100s"))]
        pub target: Dur = Dur::from_ms(10),
        /// Time between two updates of the probability (INTERVAL).
        #[schemars(extend("x-min" = "1us", "x-max" = "100s"))]
        pub tupdate: Dur = Dur::from_ms(16),
        /// Weight of the delay's distance from the target, per second and update (A).
        #[schemars(range(min = 0.0, max = 1000.0))]
        pub alpha: f64 = 0.25,
        /// Weight of the delay's change, per second and update (B).
        #[schemars(range(min = 0.0, max = 1000.0))]
        pub beta: f64 = 2.5,
        /// How long a burst passes after the first drop (MAX_BURST).
        #[schemars(extend("x-min" = "0s", "x-max" = "100s"))]
        pub max_burst: Dur = Dur::from_ms(142),
        /// Quiet time after which nothing is dropped until a third of the buffer is full (BURST_RESET_TIMEOUT).
        #[schemars(extend("x-min" = "0s", "x-max" = "100s"))]
        pub burst_reset: Dur = Dur::from_secs(1),
        /// Length of a typical packet: the probability is that of a packet of this length, and nothing is dropped while at most two wait (MEAN_PKTSIZE).
        #[schemars(extend("x-min" = "1B", "x-max" = "64KiB"))]
        pub mean_packet: Bytes = Bytes(1024),
    }
}

/// Shortest packet (MIN_PKTSIZE).
const MIN_PACKET: f64 = 64.0;
/// Depth of the bucket of the peak rate: the longest frame.
const FRAME: Bytes = Bytes(1522);
/// Bounds of the sum of the probabilities since the last drop (PROB_LOW, PROB_HIGH); the first is also the most for a packet.
const PROB_LOW: f64 = 0.85;
const PROB_HIGH: f64 = 8.5;
/// Delay in seconds below which the probability decays, and above which 2 % are added (LATENCY_LOW, LATENCY_HIGH).
const LATENCY_LOW: f64 = 0.005;
const LATENCY_HIGH: f64 = 0.2;
/// The automatic limit: this part of what MSR sends in a second, and at least this.
const LIMITS_PER_SEC: u64 = 10;
const LEAST_LIMIT: u64 = 15_000;

impl DocsisPieParams {
    fn rates(&self, link: Rate) -> [Rate; 2] {
        [self.msr.unwrap_or(link), self.peak_rate.unwrap_or(link)]
    }

    fn limit(&self, link: Rate) -> Len {
        self.limit.unwrap_or(Len::Bytes((self.rates(link)[0].as_bps() / 8 / LIMITS_PER_SEC).max(LEAST_LIMIT)))
    }
}

impl Discipline for DocsisPieParams {
    type Queue = Tbf<Fifo<DocsisPie>>;

    fn check(&self, context: &BuildContext<'_>) -> Result<(), Problem> {
        check::holds("limit", self.limit)?;
        check_control(self.tupdate, &[("alpha", self.alpha, 1000.0), ("beta", self.beta, 1000.0)])?;
        for (field, rate) in [("msr", self.msr), ("peak_rate", self.peak_rate)] {
            if rate.is_some_and(|r| r.as_bps() < 8) {
                return Err(Problem::new(field, "must be at least 8bit/s"));
            }
        }
        if self.burst < FRAME {
            return Err(Problem::new("burst", format!("the longest frame of {FRAME} would never be sent")));
        }
        let [msr, _] = self.rates(context.link.rate);
        match self.peak_rate {
            Some(peak) if peak < msr => {
                Err(Problem::new("peak_rate", format!("it is below the MSR of {msr}, which would then never be reached")))
            }
            _ => Ok(()),
        }
    }

    fn build(&self, context: &BuildContext<'_>) -> Self::Queue {
        let [msr, peak] = self.rates(context.link.rate);
        let limit = self.limit(context.link.rate);
        let bucket = Bucket::new(msr, self.burst);
        let law = DocsisPie::new(self, [msr, peak], limit);
        let peak = self.peak_rate.map(|p| Bucket::new(p, FRAME));
        Tbf::over(Fifo::new(law, Limit::new(limit, Admit::Fits)), bucket, peak)
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { shapes: true, ..Capabilities::default() }
    }
}

/// State of a burst (`burst_state_`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Burst {
    /// It is quiet: nothing is dropped until a third of the buffer is full.
    None,
    /// The next drop begins the allowance.
    In,
    /// The allowance was given.
    Protecting,
}

/// The state of DOCSIS-PIE.
#[derive(Clone, Debug, PartialEq)]
pub struct DocsisPie {
    p: DocsisPieParams,
    msr: Rate,
    peak: Rate,
    /// Backlog up to which a quiet queue drops nothing: a third of the buffer.
    third: Len,
    /// The tokens of the shaper, which takes them when a packet leaves.
    bucket: Bucket,
    target: f64,
    drop_prob: f64,
    qdelay_old: f64,
    accu_prob: f64,
    allowance: Dur,
    burst: Burst,
    /// How long it has been quiet.
    quiet: Dur,
}

impl DocsisPie {
    fn new(p: &DocsisPieParams, [msr, peak]: [Rate; 2], limit: Len) -> Self {
        Self {
            p: p.clone(),
            msr,
            peak,
            third: match limit {
                Len::Packets(n) => Len::Packets(n / 3),
                Len::Bytes(n) => Len::Bytes(n / 3),
            },
            bucket: Bucket::new(msr, p.burst),
            target: p.target.as_secs_f64(),
            drop_prob: 0.0,
            qdelay_old: 0.0,
            accu_prob: 0.0,
            allowance: Dur::ZERO,
            burst: Burst::None,
            quiet: Dur::ZERO,
        }
    }

    /// The drop probability of a packet of the mean length.
    pub fn drop_prob(&self) -> f64 {
        self.drop_prob
    }

    /// Predicts the delay of a packet that arrives now: tokens leave at the peak rate, the rest at MSR.
    fn predict(&mut self, now: Time, held: Backlog) -> f64 {
        self.bucket.fill(now);
        let (bytes, tokens) = (held.bytes as f64, self.bucket.bytes());
        let at = |bytes: f64, rate: Rate| bytes * 8.0 / rate.as_bps() as f64;
        at(bytes.min(tokens), self.peak) + at((bytes - tokens).max(0.0), self.msr)
    }

    /// The periodic update (calculate_drop_prob).
    fn update(&mut self, now: Time, held: Backlog) {
        let qdelay = self.predict(now, held);
        if self.allowance > Dur::ZERO {
            self.drop_prob = 0.0;
        } else {
            let step = self.p.alpha * (qdelay - self.target) + self.p.beta * (qdelay - self.qdelay_old);
            // From one on, steps grow with the probability, which is that of a packet of the mean length.
            let step = match self.drop_prob {
                p if p >= 10.0 => step / 0.031_25,
                p if p >= 1.0 => step / 0.125,
                p if p >= CAPPED_FROM => step / 0.5,
                p => tuned(step, p),
            };
            self.drop_prob += if self.drop_prob >= CAPPED_FROM { step.min(CAP) } else { step };
            if qdelay < LATENCY_LOW && self.qdelay_old < LATENCY_LOW {
                self.drop_prob *= DECAY;
            } else if qdelay > LATENCY_HIGH {
                self.drop_prob += CAP;
            }
            self.drop_prob = self.drop_prob.clamp(0.0, PROB_LOW * self.p.mean_packet.get() as f64 / MIN_PACKET);
        }
        self.allowance = self.allowance.saturating_sub(self.p.tupdate);
        let calm = |delay: f64| delay < self.target / 2.0;
        let quiet = calm(qdelay) && calm(self.qdelay_old) && self.drop_prob == 0.0 && self.allowance == Dur::ZERO;
        match self.burst {
            Burst::Protecting if quiet => (self.burst, self.quiet) = (Burst::In, Dur::ZERO),
            Burst::In if quiet => {
                self.quiet += self.p.tupdate;
                if self.quiet > self.p.burst_reset {
                    self.burst = Burst::None;
                }
            }
            Burst::In => self.quiet = Dur::ZERO,
            _ => {}
        }
        self.qdelay_old = qdelay;
    }

    /// True if an arriving packet is dropped (drop_early).
    fn drop_early(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> bool {
        if self.allowance > Dur::ZERO {
            return false;
        }
        if self.drop_prob == 0.0 {
            self.accu_prob = 0.0;
        }
        if self.burst == Burst::None {
            let below = match self.third {
                Len::Packets(n) => u64::from(cx.held.pkts) < n,
                Len::Bytes(n) => cx.held.bytes < n,
            };
            if below {
                return false;
            }
            (self.burst, self.quiet) = (Burst::In, Dur::ZERO);
        }
        let mean = self.p.mean_packet.get().max(1);
        let prob = (self.drop_prob * f64::from(p.len) / mean as f64).min(PROB_LOW);
        self.accu_prob += prob;
        if (self.qdelay_old < self.target / 2.0 && self.drop_prob < SAFE_PROB) || cx.held.bytes <= 2 * mean || self.accu_prob < PROB_LOW {
            return false;
        }
        self.accu_prob >= PROB_HIGH || cx.rng.uniform() < prob
    }
}

impl Law for DocsisPie {
    const HAS_TIMER: bool = true;

    #[inline]
    fn on_enqueue(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Verdict {
        if !self.drop_early(p, cx) {
            return Verdict::Pass;
        }
        self.accu_prob = 0.0;
        if self.burst == Burst::In {
            (self.burst, self.allowance) = (Burst::Protecting, self.p.max_burst);
        }
        Verdict::Drop(DropReason::Early)
    }

    fn on_overflow(&mut self, _: &Packet, _: &mut LawCx<'_>) -> Victim {
        self.accu_prob = 0.0;
        Victim::Arriving
    }

    #[inline]
    fn on_dequeue(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Verdict {
        self.bucket.fill(cx.now);
        self.bucket.take(tokens(u64::from(p.len)));
        Verdict::Pass
    }

    fn on_timer(&mut self, cx: &mut LawCx<'_>) -> Option<Time> {
        self.update(cx.now, cx.held);
        Some(cx.now + self.p.tupdate)
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("drop_prob", self.drop_prob);
        out("qdelay", self.qdelay_old);
        out("burst_allowance", self.allowance.as_secs_f64());
    }
}

#[cfg(test)]
mod tests;
