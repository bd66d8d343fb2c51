//! The Markov-modulated Poisson process.
//!
//! A Markov chain in continuous time has a rate in each state; packets come as a Poisson process of the rate of the present state (Heffes and
//! Lucantoni 1986, section III; Fischer and Meier-Hellstern 1993, section 2). Stays are exponential, so at a change of state the gap that
//! was drawn is forgotten and one of the new rate is drawn: both processes have no memory.
//!
//! Deviations: the chain begins in its stationary law by default, where some texts let it begin in the first state.

use super::poisson::Sizes;
use super::{Source, Span};
use crate::draw::{exponential, whole};
use crate::udp::MAX_DATAGRAM;
use fairlane_net::{App, AppCx, FlowId, Problem, Proto};
use fairlane_units::{Bytes, Dur, Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most states of the chain.
const MOST_STATES: usize = 100;

fairlane_units::params! {
    /// A state of the chain.
    pub struct MmppState {
        /// Mean rate of the data while in this state, headers not counted; may be zero.
        #[schemars(extend("x-max" = "1Tbit/s"))]
        pub rate: Rate = Rate::from_mbps(1),
        /// Mean of the stays in this state, which are exponential: 1 / (rate of leaving it).
        #[schemars(extend("x-min" = "1ns"))]
        pub stay: Dur = Dur::from_ms(100),
        /// Weights of the states that may follow, in the order of `states`; its own is 0. None: all others are equally likely.
        pub to: Vec<f64> = Vec::new(),
    }
}

/// MMPP writes packets as a Poisson process whose rate changes with the state of a Markov chain (Heffes and Lucantoni 1986).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MmppParams {
    /// The states of the chain: `{ rate = "4Mbit/s", stay = "100ms" }`, with `to = [...]` where not all others follow equally.
    pub states: Vec<MmppState>,
    /// Mean size of a packet, headers not counted.
    #[schemars(extend("x-min" = "1B", "x-max" = "65507B"))]
    pub size: Bytes,
    /// Distribution of the sizes.
    pub sizes: Sizes,
    /// State it begins in, counted from 0. Unset: drawn from the stationary law of the chain.
    #[schemars(range(max = 99))]
    pub first: Option<u32>,
}

impl Default for MmppParams {
    fn default() -> Self {
        let state = |mbps, ms| MmppState { rate: Rate::from_mbps(mbps), stay: Dur::from_ms(ms), to: Vec::new() };
        Self { states: vec![state(1, 150), state(4, 50)], size: Bytes(1000), sizes: Sizes::Fixed, first: None }
    }
}

impl MmppParams {
    /// Probability that state `j` follows state `i`.
    fn step(&self, i: usize, j: usize) -> f64 {
        let to = &self.states[i].to;
        let weight = |k: usize| if k == i { 0.0 } else { to.get(k).copied().unwrap_or(if to.is_empty() { 1.0 } else { 0.0 }) };
        let sum: f64 = (0..self.states.len()).map(weight).sum();
        if sum > 0.0 { weight(j) / sum } else { 0.0 }
    }

    /// The stationary law of the chain: what each state has of the time. None if the states do not all lead to one another.
    ///
    /// Visits obey v = v P; they are found by elimination without subtraction (Grassmann, Taksar and Heyman 1985). Time is visits times stays.
    pub fn stationary(&self) -> Option<Vec<f64>> {
        let n = self.states.len();
        let mut p: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| self.step(i, j)).collect()).collect();
        for k in (1..n).rev() {
            let out: f64 = p[k][..k].iter().sum();
            if out <= 0.0 {
                return None;
            }
            for i in 0..k {
                p[i][k] /= out;
                for j in 0..k {
                    p[i][j] += p[i][k] * p[k][j];
                }
            }
        }
        let mut time = vec![1.0; n];
        for k in 1..n {
            time[k] = (0..k).map(|i| time[i] * p[i][k]).sum();
        }
        time.iter_mut().zip(&self.states).for_each(|(t, s)| *t *= s.stay.as_ps() as f64);
        let sum: f64 = time.iter().sum();
        // A state without a share of the visits is one that is never come back to.
        (sum > 0.0 && time.iter().all(|t| *t > 0.0)).then(|| time.iter().map(|t| t / sum).collect())
    }
}

impl Source for MmppParams {
    type App = Mmpp;

    fn check(&self, _: Proto) -> Result<(), Problem> {
        let n = self.states.len();
        if n == 0 || n > MOST_STATES {
            return Err(Problem::new("states", format!("{n} states: write 1 to {MOST_STATES}")));
        }
        if self.states.iter().all(|s| s.rate.as_bps() == 0) {
            return Err(Problem::new("states", "the rate is zero in every state: nothing would be sent"));
        }
        for (i, s) in self.states.iter().enumerate().filter(|(_, s)| !s.to.is_empty()) {
            let at = |message: String| Err(Problem::new(format!("states.{i}.to"), message));
            if s.to.len() != n {
                return at(format!("{} weights for {n} states: write one for each, 0 for the state itself", s.to.len()));
            }
            if s.to.iter().any(|w| !w.is_finite() || *w < 0.0) {
                return at("a weight is negative or not finite".to_owned());
            }
            if s.to[i] != 0.0 {
                return at(format!("state {i} leads to itself: a stay ends when the state changes, so write 0 there and a longer `stay`"));
            }
        }
        if let Some(first) = self.first.filter(|f| *f as usize >= n) {
            return Err(Problem::new("first", format!("there is no state {first}: the last of {n} is {}", n - 1)));
        }
        if self.stationary().is_none() {
            return Err(Problem::new("states", "not every state is reached from every other: some weights in `to` must be above 0"));
        }
        Ok(())
    }

    fn build(&self, flow: FlowId, start: Time, stop: Option<Time>) -> Mmpp {
        let n = self.states.len();
        let size = self.size.get().max(1);
        let gap = |r: Rate| if r.as_bps() == 0 { Dur::MAX } else { r.tx_time(size) };
        let running = |v: Vec<f64>| -> Vec<f64> {
            let mut sum = 0.0;
            v.into_iter().map(|x| (sum += x, sum).1).collect()
        };
        let states = (0..n).map(|i| State {
            gap: gap(self.states[i].rate),
            stay: self.states[i].stay,
            next: running((0..n).map(|j| self.step(i, j)).collect()),
        });
        let begin = match self.first {
            Some(f) => (0..n).map(|i| if i >= f as usize { 1.0 } else { 0.0 }).collect(),
            None => running(self.stationary().unwrap_or_default()),
        };
        Mmpp {
            span: Span::new(flow, start, stop),
            size,
            sizes: self.sizes,
            states: states.collect(),
            begin,
            at: usize::MAX,
            until: Time::ZERO,
            due: Time::MAX,
        }
    }
}

/// A state as it runs.
#[derive(Clone, Debug, PartialEq)]
struct State {
    /// Mean gap between packets; `MAX` for none.
    gap: Dur,
    stay: Dur,
    /// Sums of the probabilities of the states that may follow.
    next: Vec<f64>,
}

/// A running Markov-modulated Poisson process.
#[derive(Clone, Debug, PartialEq)]
pub struct Mmpp {
    span: Span,
    size: u64,
    sizes: Sizes,
    states: Vec<State>,
    /// Sums of the probabilities of the first state.
    begin: Vec<f64>,
    /// The present state; beyond all before the start.
    at: usize,
    /// When it ends.
    until: Time,
    /// When the next packet comes, if the state lasts.
    due: Time,
}

/// The first place whose sum exceeds a uniform draw; the last, if rounding left a gap.
fn choose(sums: &[f64], u: f64) -> usize {
    sums.iter().position(|s| u < *s).unwrap_or(sums.len().saturating_sub(1))
}

impl Mmpp {
    /// Moves to another state; a chain of one state stays.
    fn change(&mut self, cx: &mut AppCx<'_>) {
        let sums = self.states.get(self.at).map_or(&self.begin, |s| &s.next);
        if self.states.len() > 1 {
            self.at = choose(sums, cx.rng.uniform());
        } else {
            self.at = 0;
        }
        let Some(s) = self.states.get(self.at) else {
            self.until = Time::MAX;
            return;
        };
        self.until = cx.now + cx.rng.exponential(s.stay).max(Dur::from_ps(1));
        self.due = self.gap(cx);
    }

    /// When the next packet comes, if the state lasts.
    fn gap(&self, cx: &mut AppCx<'_>) -> Time {
        match self.states.get(self.at) {
            Some(s) if s.gap < Dur::MAX => cx.now + cx.rng.exponential(s.gap).max(Dur::from_ps(1)),
            _ => Time::MAX,
        }
    }

    fn draw_size(&self, cx: &mut AppCx<'_>) -> u64 {
        match self.sizes {
            Sizes::Fixed => self.size,
            Sizes::Exponential => whole(exponential(cx.rng, self.size as f64), 1, MAX_DATAGRAM),
        }
    }
}

impl App for Mmpp {
    fn starts_at(&self) -> Time {
        self.span.start
    }

    fn on_wake(&mut self, cx: &mut AppCx<'_>) {
        if self.span.over(cx) {
            return;
        }
        if cx.now >= self.due {
            let size = self.draw_size(cx);
            cx.write(self.span.flow, size, false);
            self.due = self.gap(cx);
        }
        if self.at == usize::MAX || cx.now >= self.until {
            self.change(cx);
        }
        cx.wake_at(self.due.min(self.until).min(self.span.stop));
    }
}

#[cfg(test)]
#[path = "mmpp_tests.rs"]
mod tests;
