//! What a link does to packets besides carrying them: it loses them, doubles them, or lets them come late.
//!
//! Losses (after transmission: the packet has used the link):
//! - with one probability, independently;
//! - by the chain of E. N. Gilbert, Capacity of a burst-noise channel, Bell System Technical Journal 39, 1960, with the loss
//!   probabilities of both states of E. O. Elliott, BSTJ 42, 1963. As in netem (`gemodel`), a packet is judged in the state it finds, then the chain moves, once a packet;
//!   it begins in the good state;
//! - every n-th packet, or packets of given numbers, counted from 1 among all that cross the link (ns-2's ErrorModel/List and /Periodic).
//!
//! A packet that any of them takes is lost. Each has a random stream of its own and always moves on, so that changing one leaves the others' luck alone.
//!
//! Late packets: see `late.rs`.

use crate::ids::PortId;
use crate::late::{Jitter, Late, Reorder};
use fairlane_engine::Stream;
use fairlane_units::{Dur, Time};
use std::sync::Arc;

/// The chain of Gilbert and Elliott: probabilities, in order of tc-netem(8)'s `gemodel p r 1-h 1-k`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GilbertElliott {
    /// From the good state to the bad.
    pub p: f64,
    /// From the bad state to the good.
    pub r: f64,
    /// Of loss in the bad state.
    pub bad: f64,
    /// Of loss in the good state.
    pub good: f64,
}

/// Which packets are lost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loss {
    /// Probability of loss.
    pub share: f64,
    /// A chain with bursts.
    pub chain: Option<GilbertElliott>,
    /// Every n-th packet; 0 for none.
    pub every: u64,
    /// Numbers of packets, in order.
    pub list: Arc<[u64]>,
}

/// What a link does to packets besides carrying them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Impairments {
    /// Which packets are lost.
    pub loss: Loss,
    /// Probability that a packet arrives twice.
    pub duplicate: f64,
    /// Packets that are singled out and come later.
    pub reorder: Option<Reorder>,
    /// How the propagation delay varies.
    pub jitter: Option<Jitter>,
}

impl Impairments {
    /// Whether packets may come later than the propagation delay says.
    pub fn delays(&self) -> bool {
        self.reorder.is_some() || self.jitter.is_some()
    }
    fn hurts(&self) -> bool {
        let Loss { share, chain, every, list } = &self.loss;
        *share > 0.0 || chain.is_some() || *every > 0 || !list.is_empty() || self.duplicate > 0.0 || self.delays()
    }
}

/// What happens to a packet at the end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fate {
    /// It is lost.
    pub lost: bool,
    /// It arrives twice.
    pub twice: bool,
}

/// The impairments of a link at work.
#[derive(Clone, Debug)]
pub struct Impair {
    what: Impairments,
    /// The port of the other direction, if its queue rewrites the windows of acknowledgements that cross this link.
    pub(crate) clamped_by: Option<PortId>,
    /// Decides over loss with one probability, and over duplicates.
    rng: Stream,
    /// Moves the chain.
    chain: Stream,
    bad: bool,
    /// Packets so far.
    count: u64,
    /// Entries of the list passed.
    listed: usize,
    pub(crate) late: Option<Late>,
}

impl Impair {
    /// Of the link `name` with a propagation delay of `delay`; none if it does nothing.
    pub fn new(what: &Impairments, delay: Dur, seed: u64, name: &str) -> Option<Self> {
        what.hurts().then(|| Self::idle(what.clone(), delay, seed, name))
    }

    pub(crate) fn idle(what: Impairments, delay: Dur, seed: u64, name: &str) -> Self {
        let stream = |purpose| Stream::new(seed, "port", name, purpose);
        let late = what.delays().then(|| Late::new(what.reorder, what.jitter, delay, stream));
        Self { what, clamped_by: None, rng: stream("impair"), chain: stream("loss"), bad: false, count: 0, listed: 0, late }
    }

    /// Decides over the next packet.
    pub fn fate(&mut self) -> Fate {
        // All draws are always made, so that changing one probability leaves the others' luck alone.
        let (u, v) = (self.rng.uniform(), self.rng.uniform());
        let mut lost = u < self.what.loss.share;
        self.count += 1;
        if let Some(c) = self.what.loss.chain {
            let (moves, loses) = (self.chain.uniform(), self.chain.uniform());
            lost |= loses < if self.bad { c.bad } else { c.good };
            self.bad = if self.bad { moves >= c.r } else { moves < c.p };
        }
        if self.what.loss.every > 0 {
            lost |= self.count.is_multiple_of(self.what.loss.every);
        }
        if self.what.loss.list.get(self.listed) == Some(&self.count) {
            self.listed += 1;
            lost = true;
        }
        Fate { lost, twice: v < self.what.duplicate }
    }

    /// When a packet that the propagation delay would bring at `now` is there in truth.
    pub fn arrival(&mut self, now: Time) -> Time {
        self.late.as_mut().map_or(now, |l| l.arrival(now))
    }

    /// How much sooner than the propagation delay says packets are to be handed to [`Self::arrival`].
    pub fn early(&self) -> Dur {
        self.late.as_ref().map_or(Dur::ZERO, Late::early)
    }
}

#[cfg(test)]
#[path = "impair_tests.rs"]
mod tests;
