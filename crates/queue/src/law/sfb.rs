//! SFB, stochastic fair BLUE: many BLUEs in a few levels of bins, of which each flow meets the mildest.

use super::bounds::check_shares;
use super::headdrop::check_limit;
use super::{Law, LawCx, Verdict, Victim};
use crate::discipline::{Discipline, Preset, Problem};
use crate::limit::{Admit, Limit};
use crate::sched::fifo::Fifo;
use fairlane_engine::Stream;
use fairlane_net::{Backlog, BuildContext, DropReason, LinkInfo, Packet};
use fairlane_units::{Bytes, Dur, Len, PS_PER_SEC, Rate, Time};
use std::cmp::Ordering;

fairlane_units::params! {
    /// SFB hashes each flow into one bin of every level, keeps a BLUE in each bin, drops or marks with the smallest probability a flow meets, and limits the rate of flows for which all are 1 (Feng, Kandlur, Saha and Shin 2001).
    pub struct SfbParams {
        /// Buffer limit, without the packet in transmission.
        pub limit: Len = Len::Packets(1000),
        /// Which arrivals the limit admits.
        pub admit: Admit = Admit::Fits,
        /// Levels, each with its own hash (L, section 3).
        #[schemars(range(min = 1, max = 16))]
        pub levels: u32 = 2,
        /// Bins in a level (N, section 3).
        #[schemars(range(min = 1, max = 65_536))]
        pub bins: u32 = 23,
        /// Packets in a bin above which its probability grows (section 3). Unset: one and a half times an equal share of `limit`.
        pub bin_size: Option<Len> = None,
        /// An arrival is dropped if all bins of its flow hold at least this much (tc's max). Unset: only the buffer itself is a limit.
        pub bin_limit: Option<Len> = None,
        /// By how much a bin's probability grows with an arrival that finds it above its size (section 3).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub increment: f64 = 0.0025,
        /// By how much it shrinks with an arrival that finds the bin empty (section 3).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub decrement: f64 = 0.00025,
        /// Least time between two changes of one bin's probability, as BLUE has it. Zero: every arrival may change it.
        #[schemars(extend("x-min" = "0s", "x-max" = "1000s"))]
        pub freeze_time: Dur = Dur::from_ms(10),
        /// Rate that all flows in the penalty box share, those with a probability of 1 in every bin (section 3.1). Unset: a hundredth of the link.
        pub penalty_rate: Option<Rate> = None,
        /// Burst that the penalty box lets through.
        #[schemars(extend("x-min" = "0B", "x-max" = "1GB"))]
        pub penalty_burst: Bytes = Bytes(15_000),
        /// Time after which the hashes change, so that no flow shares a bin with an unresponsive flow for ever (moving hashes, section 3.2). Unset: never.
        #[schemars(extend("x-min" = "1ms", "x-max" = "1000000s"))]
        pub rehash: Option<Dur> = None,
        /// Time before a change in which the new bins learn in parallel with the old ones (section 3.2).
        #[schemars(extend("x-min" = "0s", "x-max" = "1000000s"))]
        pub warmup: Dur = Dur::from_secs(1),
        /// True if ECN-capable packets are marked instead of dropped; never in the penalty box.
        pub ecn: bool = false,
    }
}

const MOST_LEVELS: u32 = 16;
const MOST_BINS: u32 = 65_536;
/// Automatic bins hold this many times an equal share of the buffer.
const SHARE: u64 = 3;
const SHARE_OF: u64 = 2;
/// The automatic rate of the penalty box is the link's over this.
const PENALTY: u64 = 100;

impl SfbParams {
    /// Returns the size of a bin: with b bins 3 / (2 b) of the buffer, at least one packet of 1500 bytes.
    fn bin_size(&self) -> Len {
        let bins = u64::from(self.bins.max(1));
        self.bin_size.unwrap_or(match self.limit {
            Len::Packets(n) => Len::Packets((n.saturating_mul(SHARE) / (SHARE_OF * bins)).max(1)),
            Len::Bytes(n) => Len::Bytes((n.saturating_mul(SHARE) / (SHARE_OF * bins)).max(1500)),
        })
    }
}

impl Discipline for SfbParams {
    type Queue = Fifo<Sfb>;

    const PRESETS: &'static [Preset] = &[Preset {
        name: "linux",
        doc: "sch_sfb of Linux (tc sfb) with its defaults: 8 levels of 16 bins, smaller steps, new hashes every 10 minutes, marks.",
        values: r#"{"levels": 8, "bins": 16, "bin_size": "20p", "bin_limit": "25p", "increment": 0.0005, "decrement": 0.00005, "freeze_time": "0s",
                    "rehash": "600s", "warmup": "60s", "ecn": true}"#,
    }];

    fn check(&self, _: &BuildContext<'_>) -> Result<(), Problem> {
        check_limit(self.limit, self.admit)?;
        for (name, n, most) in [("levels", self.levels, MOST_LEVELS), ("bins", self.bins, MOST_BINS)] {
            if !(1..=most).contains(&n) {
                return Err(Problem::new(name, format!("{n} is not between 1 and {most}")));
            }
        }
        check_shares(&[("increment", self.increment), ("decrement", self.decrement)])?;
        if self.rehash.is_some_and(|d| d == Dur::ZERO || d < self.warmup) {
            return Err(Problem::new("rehash", format!("hashes cannot change more often than their warm-up of {}", self.warmup)));
        }
        Ok(())
    }

    fn build(&self, context: &BuildContext<'_>) -> Fifo<Sfb> {
        Fifo::new(Sfb::new(self, context.link), Limit::new(self.limit, self.admit))
    }
}

/// One bin: what it holds, its probability, and from when that may change again.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Bin {
    held: Backlog,
    p: f64,
    thaws: Time,
}

impl Bin {
    /// Compares the content of the bin with a length.
    fn compare(&self, len: Len) -> Ordering {
        match len {
            Len::Packets(n) => u64::from(self.held.pkts).cmp(&n),
            Len::Bytes(n) => self.held.bytes.cmp(&n),
        }
    }
}

/// All levels under one set of hashes.
#[derive(Clone, Debug, PartialEq)]
struct Bins {
    per_level: usize,
    /// One for each level; none before the first packet.
    salts: Vec<u64>,
    /// Level after level.
    bins: Vec<Bin>,
}

impl Bins {
    fn new(levels: u32, bins: u32) -> Self {
        let (levels, per_level) = (levels.max(1) as usize, bins.max(1) as usize);
        Self { per_level, salts: vec![0; levels], bins: vec![Bin::default(); levels * per_level] }
    }

    /// Empties the bins and draws new hashes.
    fn restart(&mut self, rng: &mut Stream) {
        self.salts.iter_mut().for_each(|s| *s = rng.next_u64());
        self.bins.fill(Bin::default());
    }

    /// The bin of a packet's flow at a level: the flow's number and direction mixed with the level's salt (the finalizer of splitmix64).
    #[inline]
    fn at(&self, level: usize, p: &Packet) -> usize {
        let mut x = (u64::from(p.flow.0) << 1 | u64::from(p.back)) ^ self.salts[level];
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^= x >> 31;
        level * self.per_level + ((u128::from(x) * self.per_level as u128) >> 64) as usize
    }

    /// Applies `f` to the bins of a packet's flow.
    #[inline]
    fn each(&mut self, p: &Packet, mut f: impl FnMut(&mut Bin)) {
        for level in 0..self.salts.len() {
            let i = self.at(level, p);
            f(&mut self.bins[i]);
        }
    }

    /// Section 3: what an arrival teaches the bins of its flow.
    fn learn(&mut self, p: &Packet, step: &Step, now: Time) {
        self.each(p, |b| {
            let change = if b.compare(step.size).is_gt() {
                step.up
            } else if b.held.pkts == 0 {
                -step.down
            } else {
                return;
            };
            if now >= b.thaws {
                b.p = (b.p + change).clamp(0.0, 1.0);
                b.thaws = now + step.freeze;
            }
        });
    }

    fn add(&mut self, p: &Packet) {
        self.each(p, |b| b.held.add(p));
    }

    fn sub(&mut self, p: &Packet) {
        self.each(p, |b| b.held.sub(p));
    }
}

/// How bins learn.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Step {
    /// Size of a bin.
    size: Len,
    up: f64,
    down: f64,
    freeze: Dur,
}

/// The state of SFB.
#[derive(Clone, Debug, PartialEq)]
pub struct Sfb {
    bin_limit: Option<Len>,
    step: Step,
    ecn: bool,
    rehash: Option<Dur>,
    warmup: Dur,

    bins: Bins,
    /// The bins that take over at `change_at`; they are in use if `warming`.
    next: Bins,
    started: bool,
    warming: bool,
    change_at: Time,
    /// True if the last arrival was put into its bins.
    binned: bool,
    /// The penalty box: what it may send now, in bytes, as of when, and bytes a second.
    tokens: f64,
    filled_at: Time,
    penalty_rate: f64,
    penalty_burst: f64,
}

impl Sfb {
    /// An SFB that has seen nothing yet, before this link.
    pub fn new(p: &SfbParams, link: LinkInfo) -> Self {
        let penalty = p.penalty_rate.map_or(link.rate.as_bps() / PENALTY, Rate::as_bps);
        let bins = Bins::new(p.levels, p.bins);
        Self {
            bin_limit: p.bin_limit,
            step: Step { size: p.bin_size(), up: p.increment, down: p.decrement, freeze: p.freeze_time },
            ecn: p.ecn,
            rehash: p.rehash,
            warmup: p.warmup,
            next: if p.rehash.is_some() { bins.clone() } else { Bins::new(1, 1) },
            bins,
            started: false,
            warming: false,
            change_at: Time::MAX,
            binned: false,
            tokens: p.penalty_burst.get() as f64,
            filled_at: Time::ZERO,
            penalty_rate: penalty as f64 / 8.0,
            penalty_burst: p.penalty_burst.get() as f64,
        }
    }

    /// The probability that packets like `p` meet: the smallest of its bins.
    pub fn p_min(&self, p: &Packet) -> f64 {
        (0..self.bins.salts.len()).fold(1.0, |least, level| {
            let p = self.bins.bins[self.bins.at(level, p)].p;
            if p < least { p } else { least }
        })
    }

    /// Draws the first hashes, and changes them when it is time.
    fn keep_time(&mut self, cx: &mut LawCx<'_>) {
        if !self.started {
            self.started = true;
            self.bins.restart(cx.rng);
            self.change_at = self.rehash.map_or(Time::MAX, |d| cx.now + d);
        }
        let Some(period) = self.rehash else { return };
        if !self.warming && cx.now + self.warmup >= self.change_at {
            self.warming = true;
            self.next.restart(cx.rng);
            cx.queue.iter().for_each(|p| self.next.add(p));
        }
        if cx.now >= self.change_at {
            std::mem::swap(&mut self.bins, &mut self.next);
            self.warming = false;
            self.change_at = cx.now + period;
        }
    }

    /// Section 3.1: whether the penalty box lets a packet through.
    fn excused(&mut self, p: &Packet, now: Time) -> bool {
        let secs = now.since(self.filled_at).as_ps() as f64 / PS_PER_SEC as f64;
        let tokens = self.tokens + secs * self.penalty_rate;
        self.tokens = if tokens < self.penalty_burst { tokens } else { self.penalty_burst };
        self.filled_at = now;
        let pays = self.tokens >= f64::from(p.len);
        if pays {
            self.tokens -= f64::from(p.len);
        }
        pays
    }

    fn verdict(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Verdict {
        let bins = &self.bins;
        let full = |most| (0..bins.salts.len()).all(|level| bins.bins[bins.at(level, p)].compare(most).is_ge());
        if self.bin_limit.is_some_and(full) {
            return Verdict::Drop(DropReason::Forced);
        }
        let p_min = self.p_min(p);
        if p_min >= 1.0 {
            return if self.excused(p, cx.now) { Verdict::Pass } else { Verdict::Drop(DropReason::Forced) };
        }
        if p_min == 0.0 || cx.rng.uniform() >= p_min {
            return Verdict::Pass;
        }
        if self.ecn && p.ecn.capable() { Verdict::Mark } else { Verdict::Drop(DropReason::Early) }
    }
}

impl Law for Sfb {
    #[inline]
    fn on_enqueue(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Verdict {
        self.keep_time(cx);
        self.bins.learn(p, &self.step, cx.now);
        if self.warming {
            self.next.learn(p, &self.step, cx.now);
        }
        let v = self.verdict(p, cx);
        self.binned = !matches!(v, Verdict::Drop(_));
        if self.binned {
            self.bins.add(p);
            if self.warming {
                self.next.add(p);
            }
        }
        v
    }

    fn on_overflow(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Victim {
        if self.binned {
            self.on_dequeue(p, cx);
            self.binned = false;
        }
        Victim::Arriving
    }

    #[inline]
    fn on_dequeue(&mut self, p: &Packet, _: &mut LawCx<'_>) -> Verdict {
        self.bins.sub(p);
        if self.warming {
            self.next.sub(p);
        }
        Verdict::Pass
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        let most = self.bins.bins.iter().fold(0.0, |m, b| if b.p > m { b.p } else { m });
        out("drop_prob", most);
    }
}

#[cfg(test)]
mod tests;
