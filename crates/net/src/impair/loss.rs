//! Random and scripted losses after transmission: the packet has used the link.
//!
//! - With one probability, independently;
//! - by the chain of E. N. Gilbert, Capacity of a burst-noise channel, Bell System Technical Journal 39, 1960, with the loss
//!   probabilities of both states of E. O. Elliott, BSTJ 42, 1963. As in netem (`gemodel`), a packet is judged in the state it finds, then the chain moves, once a packet;
//!   it begins in the good state;
//! - every n-th packet, or packets of given numbers, counted from 1 among all that cross the link (ns-2's ErrorModel/List and /Periodic).

use super::chance::Chance;
use super::{At, Draws, Finding, Impairment, Outcome, Work, plain};
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
    /// Weight of the last random number in the next one, for `share` (netem). It narrows the numbers, so that the share is met without it alone.
    #[schemars(range(min = 0.0, max = 1.0))]
    #[serde(skip_serializing_if = "plain")]
    pub correlation: f64,
    /// Losses in bursts, by four states.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub four_states: Option<FourStatesSpec>,
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

/// The chain of four states of Salsano, Ludovici, Ordine and Giannuzzi (2012), netem's `loss state`: packets arrive in 1 and are lost in 3, in bursts with
/// lost (3) and arriving (2) packets, and lost singly (4) between bursts. netem names the probabilities p13, p31, p32, p23 and p14.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FourStatesSpec {
    /// Probability that a burst begins.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub p13: f64,
    /// Probability that it ends after a loss. Absent: 1 - p13.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub p31: Option<f64>,
    /// Probability that a packet arrives after a loss and the burst continues.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub p32: f64,
    /// Probability that a packet is lost after one that arrived in a burst.
    #[serde(default = "certain")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub p23: f64,
    /// Probability of a single loss between bursts.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub p14: f64,
}

/// A state of [`FourStatesSpec`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Gap,
    Burst,
    Lost,
    Single,
}

impl FourStatesSpec {
    /// The state of the next packet; it is lost in `Lost` and `Single` (loss_4state).
    fn step(&self, from: State, u: f64) -> State {
        match from {
            State::Gap if u < self.p14 => State::Single,
            State::Gap if u < self.p13 + self.p14 => State::Lost,
            State::Burst if u < self.p23 => State::Lost,
            State::Burst => State::Burst,
            State::Lost if u < self.p32 => State::Burst,
            State::Lost if u >= self.p31.unwrap_or(1.0 - self.p13) + self.p32 => State::Lost,
            State::Gap | State::Lost | State::Single => State::Gap,
        }
    }
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
        let LossModels { share, correlation, four_states, gilbert_elliott: chain, every, list } = self.models();
        let (every, list) = (every.unwrap_or(0), list.unwrap_or_default());
        let hurts = share > 0.0 || four_states.is_some() || chain.is_some() || every > 0 || !list.is_empty();
        hurts.then(|| Losing {
            share,
            chance: Chance::new(correlation, &mut at.stream("loss_correlation")),
            four_states: four_states.map(|p| (p, State::Gap, at.stream("loss_states"))),
            chain,
            every,
            list: list.into(),
            stream: at.stream("loss"),
            bad: false,
            count: 0,
            listed: 0,
        })
    }
}

/// State of the losses of a link.
#[derive(Clone, Debug)]
pub struct Losing {
    share: f64,
    chance: Chance,
    four_states: Option<(FourStatesSpec, State, Stream)>,
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
        if let Some((_, _, stream)) = &mut self.four_states {
            stream.fork(number);
        }
    }

    fn apply(&mut self, draws: Draws, _: Time, outcome: &mut Outcome) {
        let mut lost = self.chance.next(draws.loss) < self.share;
        if let Some((p, state, stream)) = &mut self.four_states {
            *state = p.step(*state, stream.uniform());
            lost |= matches!(state, State::Lost | State::Single);
        }
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
