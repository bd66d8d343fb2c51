//! Random and scripted losses after transmission: the packet has used the link.
//!
//! - With one probability, independently;
//! - by the chain of E. N. Gilbert, Capacity of a burst-noise channel, Bell System Technical Journal 39, 1960, with the loss
//!   probabilities of both states of E. O. Elliott, BSTJ 42, 1963. As in netem (`gemodel`), a packet is judged in the state it finds, then the chain moves, once a packet;
//!   it begins in the good state;
//! - every n-th packet, or packets of given numbers, counted from 1 among all that cross the link (ns-2's ErrorModel/List and /Periodic).

use super::{At, Draws, Finding, Impairment, Outcome, Work};
use fairlane_engine::Stream;
use fairlane_units::{Dur, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Losses of a link: a probability, or a table of models.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum LossSpec {
    /// Probability that a packet is lost, independently of all others.
    Share(#[schemars(range(min = 0.0, max = 1.0))] f64),
    /// One or more models.
    Models(LossModels),
}

/// Loss models. A packet is lost if any of them loses it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LossModels {
    /// Probability that a packet is lost, independently of all others.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: f64,
    /// Losses in bursts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gilbert_elliott: Option<GilbertElliottSpec>,
    /// Every n-th packet is lost: with 100 the 100th, the 200th...
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<u64>,
    /// Numbers of the packets that are lost, in order, counted from 1 among all packets that cross the link in this direction: handshakes and
    /// acknowledgments, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list: Option<Vec<u64>>,
}

/// The chain of Gilbert (1960) and Elliott (1963): a good and a bad state, which may change after each packet. Stationary loss is
/// (r good + p bad) / (p + r); with good = 0 and bad = 1 bursts have a mean length of 1 / r. Written `gemodel p r 1-h 1-k` for netem.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliottSpec {
    /// Probability to go from the good state to the bad; netem's p.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub p: f64,
    /// Probability to go from the bad state to the good; netem's r.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub r: f64,
    /// Probability of loss in the good state; netem's 1-k.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub good: f64,
    /// Probability of loss in the bad state; netem's 1-h.
    #[serde(default = "certain")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub bad: f64,
}

fn certain() -> f64 {
    1.0
}

impl Default for LossSpec {
    fn default() -> Self {
        Self::Share(0.0)
    }
}

impl LossSpec {
    /// Equivalent loss models.
    pub fn models(&self) -> LossModels {
        match self {
            Self::Share(share) => LossModels { share: *share, ..LossModels::default() },
            Self::Models(models) => models.clone(),
        }
    }
}

impl Impairment for LossSpec {
    type Working = Losing;

    fn plain() -> Option<Self> {
        Some(Self::default())
    }

    fn check(&self, _: Dur) -> Option<Finding> {
        let list = self.models().list.unwrap_or_default();
        let wrong = list.first() == Some(&0) || list.windows(2).any(|p| p[1] <= p[0]);
        wrong.then(|| Finding {
            key: "list",
            message: "the numbers of the packets to lose do not rise from 1 on".to_owned(),
            help: "the first packet has the number 1; list each once, in order".to_owned(),
        })
    }

    fn begin(&self, at: &At<'_>) -> Option<Losing> {
        let LossModels { share, gilbert_elliott: chain, every, list } = self.models();
        let (every, list) = (every.unwrap_or(0), list.unwrap_or_default());
        let hurts = share > 0.0 || chain.is_some() || every > 0 || !list.is_empty();
        hurts.then(|| Losing { share, chain, every, list: list.into(), stream: at.stream("loss"), bad: false, count: 0, listed: 0 })
    }
}

/// State of the losses of a link.
#[derive(Clone, Debug)]
pub struct Losing {
    share: f64,
    chain: Option<GilbertElliottSpec>,
    /// 0 for none.
    every: u64,
    list: Arc<[u64]>,
    /// Random stream of the chain.
    stream: Stream,
    bad: bool,
    /// Packets counted.
    count: u64,
    /// Entries of the list that are used up.
    listed: usize,
}

impl Work for Losing {
    fn reseed(&mut self, number: u64) {
        self.stream.fork(number);
    }

    fn apply(&mut self, draws: Draws, _: Time, outcome: &mut Outcome) {
        let mut lost = draws.loss < self.share;
        self.count += 1;
        if let Some(c) = self.chain {
            let (moves, loses) = (self.stream.uniform(), self.stream.uniform());
            lost |= loses < if self.bad { c.bad } else { c.good };
            self.bad = if self.bad { moves >= c.r } else { moves < c.p };
        }
        if self.every > 0 {
            lost |= self.count.is_multiple_of(self.every);
        }
        if self.list.get(self.listed) == Some(&self.count) {
            self.listed += 1;
            lost = true;
        }
        outcome.lost |= lost;
    }
}
