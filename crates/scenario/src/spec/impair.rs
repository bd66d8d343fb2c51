//! What a link does to packets besides carrying them, and how its rate changes: as written in a scenario.

use fairlane_net::{GilbertElliott, Jitter, Loss, Reorder};
use fairlane_units::{Dur, Rate};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A change of a link's rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateStep {
    /// When, counted from the start of the run.
    pub at: Dur,
    /// Transmission rate from then on; zero is an outage.
    #[schemars(extend("x-min" = "0bit/s", "x-max" = "10Tbit/s"))]
    pub rate: Rate,
}

/// Which packets a link loses: a probability, or a table of models.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum LossSpec {
    /// Probability that a packet is lost, independently of all others.
    Share(#[schemars(range(min = 0.0, max = 1.0))] f64),
    /// One or more models.
    Models(LossModels),
}

/// Models of loss; a packet is lost if any of them says so.
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
    /// What a port does.
    pub fn loss(&self) -> Loss {
        let models = match self {
            Self::Share(share) => return Loss { share: *share, ..Loss::default() },
            Self::Models(m) => m,
        };
        Loss {
            share: models.share,
            chain: models.gilbert_elliott.map(|g| GilbertElliott { p: g.p, r: g.r, bad: g.bad, good: g.good }),
            every: models.every.unwrap_or(0),
            list: models.list.as_deref().unwrap_or_default().into(),
        }
    }
}

/// Packets that are singled out and arrive later than those behind them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReorderSpec {
    /// Probability that a packet is.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: f64,
    /// How much later it arrives.
    #[schemars(extend("x-max" = "1h"))]
    pub delay: Dur,
}

impl ReorderSpec {
    /// What a port does; nothing if no packet comes later.
    pub fn reorder(self) -> Option<Reorder> {
        (self.share > 0.0 && self.delay > Dur::ZERO).then_some(Reorder { share: self.share, delay: self.delay })
    }
}

/// How the propagation delay varies around its mean, from packet to packet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JitterParams {
    /// Uniform: half the width, at most the delay. Normal: the standard deviation; draws are cut at 4 deviations and where no delay would be left.
    #[schemars(extend("x-max" = "1h"))]
    pub width: Dur,
    /// Distribution of the variation.
    #[serde(default)]
    pub distribution: Distribution,
    /// Whether packets wait for those before them; else they overtake each other, as in netem.
    #[serde(default)]
    pub keep_order: bool,
}

/// A distribution of the variation of the delay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Distribution {
    /// All delays from delay - width to delay + width are equally likely.
    #[default]
    Uniform,
    /// Normal.
    Normal,
}

/// [`JitterParams`], or the width alone.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JitterSpec(pub JitterParams);

impl JsonSchema for JitterSpec {
    fn schema_name() -> Cow<'static, str> {
        "Jitter".into()
    }
    fn json_schema(g: &mut SchemaGenerator) -> Schema {
        let params = g.subschema_for::<JitterParams>();
        json_schema!({
            "description": "Variation of the delay: its width, or a table of parameters.",
            "x-shorthand": "width",
            "anyOf": [{ "type": "string", "format": "fl-dur" }, params],
        })
    }
}

impl JitterSpec {
    /// What a port does; nothing if the delay does not vary.
    pub fn jitter(self) -> Option<Jitter> {
        let JitterParams { width, distribution, keep_order } = self.0;
        (width > Dur::ZERO).then_some(Jitter { width, normal: distribution == Distribution::Normal, keep_order })
    }
}
