//! AFD: drops each flow in proportion to what it sends above the fair share, as a sample of recent arrivals tells it.

use super::headdrop::check_limit;
use super::{Law, LawCx, Verdict};
use crate::discipline::{Discipline, Problem};
use crate::limit::{Admit, Limit};
use crate::sched::fifo::Fifo;
use fairlane_net::{BuildContext, DropReason, Packet};
use fairlane_units::{Bytes, Dur, Len, Time};

fairlane_units::params! {
    /// Approximate fair dropping keeps a random sample of recent arrivals and drops from flows with more than the fair share in it, so that what is left of each is that share;
    /// the share follows from the queue (Pan, Breslau, Prabhakar and Shenker 2003).
    pub struct AfdParams {
        /// Buffer limit, without the packet in transmission.
        pub limit: Len = Len::Packets(1000),
        /// Which arrivals the limit admits.
        pub admit: Admit = Admit::Fits,
        /// The queue that the fair share aims at (q_target).
        pub target: Len = Len::Packets(50),
        /// Arrivals of which one is sampled on average (s).
        #[schemars(range(min = 1, max = 1_000_000))]
        pub sampling: u32 = 5,
        /// Packets that the sample holds (b, the shadow buffer); a new one takes the place of one drawn at random. It covers the last `sampling` times as many arrivals.
        #[schemars(range(min = 1, max = 1_000_000))]
        pub shadow: u32 = 500,
        /// Gain of the queue's error one update ago, in packets of the sample per packet of the queue (alpha).
        pub alpha: f64 = 1.7,
        /// Gain of the present error, subtracted from the fair share (beta). Above `alpha`, so that a persistently long queue keeps lowering the share.
        pub beta: f64 = 1.8,
        /// Time between two updates of the fair share; the paper's frequency is 160 Hz.
        #[schemars(extend("x-min" = "1us", "x-max" = "100s"))]
        pub interval: Dur = Dur::from_us(6250),
        /// Length of a typical packet: converts bytes into packets, in which the controller counts.
        #[schemars(extend("x-min" = "1B", "x-max" = "64KiB"))]
        pub mean_packet: Bytes = Bytes(1000),
    }
}

/// Largest sample and rarest sampling.
const MOST: u32 = 1_000_000;

impl AfdParams {
    fn packets(&self, len: Len) -> f64 {
        match len {
            Len::Packets(n) => n as f64,
            Len::Bytes(n) => n as f64 / self.mean_packet.get().max(1) as f64,
        }
    }
}

impl Discipline for AfdParams {
    type Queue = Fifo<Afd>;

    fn check(&self, _: &BuildContext<'_>) -> Result<(), Problem> {
        check_limit(self.limit, self.admit)?;
        for (name, n) in [("sampling", self.sampling), ("shadow", self.shadow)] {
            if !(1..=MOST).contains(&n) {
                return Err(Problem::new(name, format!("{n} is not between 1 and {MOST}")));
            }
        }
        if self.interval == Dur::ZERO {
            return Err(Problem::new("interval", "the interval is zero: the queue would be sampled without end"));
        }
        for (name, gain) in [("alpha", self.alpha), ("beta", self.beta)] {
            if !gain.is_finite() || gain < 0.0 {
                return Err(Problem::new(name, format!("{gain} is not a gain: write zero or more")));
            }
        }
        if self.beta < self.alpha {
            return Err(Problem::new(
                "beta",
                format!("beta ({}) is below alpha ({}): the share would grow while the queue is too long", self.beta, self.alpha),
            ));
        }
        Ok(())
    }

    fn build(&self, _: &BuildContext<'_>) -> Fifo<Afd> {
        Fifo::new(Afd::new(self), Limit::new(self.limit, self.admit))
    }
}

/// One arrival in the sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sampled {
    /// Its flow and direction.
    key: u32,
    len: u32,
}

/// The state of AFD.
#[derive(Clone, Debug, PartialEq)]
pub struct Afd {
    sampling: u32,
    shadow: usize,
    alpha: f64,
    beta: f64,
    target: f64,
    interval: Dur,
    mean_packet: f64,

    /// The shadow buffer.
    sample: Vec<Sampled>,
    /// Bytes in the sample, two sums for each flow: one for each direction.
    matches: Vec<u64>,
    /// Fair share of a flow in the sample, in packets (m_fair).
    fair: f64,
    /// Queue less target at the last update, in packets. The queue starts empty.
    error: f64,
}

impl Afd {
    /// An AFD that has seen nothing yet: it drops nothing before the queue asks for it.
    pub fn new(p: &AfdParams) -> Self {
        let target = p.packets(p.target);
        Self {
            sampling: p.sampling,
            shadow: p.shadow as usize,
            alpha: p.alpha,
            beta: p.beta,
            target,
            interval: p.interval,
            mean_packet: p.mean_packet.get().max(1) as f64,
            sample: Vec::with_capacity(p.shadow as usize),
            matches: vec![],
            fair: f64::from(p.shadow),
            error: -target,
        }
    }

    /// Returns the fair share of a flow in the sample, in packets.
    pub fn fair(&self) -> f64 {
        self.fair
    }

    /// Probability with which a flow's packets are dropped: 1 - m_fair / m_i, not below 0.
    pub fn drop_prob(&self, flow: u32, back: bool) -> f64 {
        let held = self.matches.get(key(flow, back) as usize).map_or(0.0, |&b| b as f64 / self.mean_packet);
        if held > self.fair { 1.0 - self.fair / held } else { 0.0 }
    }

    /// Puts an arrival into the sample, in the place of one drawn at random once it is full.
    fn note(&mut self, p: &Packet, cx: &mut LawCx<'_>) {
        let new = Sampled { key: key(p.flow.0, p.back), len: p.len };
        if self.matches.len() <= new.key as usize {
            self.matches.resize(new.key as usize + 1, 0);
        }
        self.matches[new.key as usize] += u64::from(new.len);
        if self.sample.len() < self.shadow {
            self.sample.push(new);
            return;
        }
        let at = cx.rng.below(self.shadow as u64) as usize;
        let old = std::mem::replace(&mut self.sample[at], new);
        self.matches[old.key as usize] -= u64::from(old.len);
    }
}

fn key(flow: u32, back: bool) -> u32 {
    2 * flow + u32::from(back)
}

impl Law for Afd {
    const HAS_TIMER: bool = true;

    /// Arrivals are sampled whether they are dropped or not: the sample tells what flows send.
    #[inline]
    fn on_enqueue(&mut self, p: &Packet, cx: &mut LawCx<'_>) -> Verdict {
        if cx.rng.below(u64::from(self.sampling)) == 0 {
            self.note(p, cx);
        }
        let prob = self.drop_prob(p.flow.0, p.back);
        if prob > 0.0 && cx.rng.uniform() < prob { Verdict::Drop(DropReason::Early) } else { Verdict::Pass }
    }

    /// m_fair(t) = m_fair(t - 1) + alpha (q(t - 1) - q_target) - beta (q(t) - q_target), between nothing and the whole sample.
    fn on_timer(&mut self, cx: &mut LawCx<'_>) -> Option<Time> {
        let error = cx.held.bytes as f64 / self.mean_packet - self.target;
        self.fair = (self.fair + self.alpha * self.error - self.beta * error).clamp(0.0, self.shadow as f64);
        self.error = error;
        Some(cx.now + self.interval)
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("fair", self.fair);
        out("sampled", self.sample.len() as f64);
    }
}

#[cfg(test)]
mod tests;
