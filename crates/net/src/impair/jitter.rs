//! Jitter: the propagation delay varies from packet to packet, as in netem (tc-netem(8)). It may keep the order of packets (a packet then waits for the
//! one before it) or not.

use super::chance::{self, Chance};
use super::{Arrival, At, Finding, Impairment, Work, plain};
use fairlane_engine::Stream;
use fairlane_units::{Dur, Time};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// How the propagation delay varies around its mean, from packet to packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JitterParams {
    /// Uniform: half the width, at most the delay. Normal: the standard deviation; draws are cut at 4 deviations and where no delay would be left. Pareto
    /// and pareto_normal: netem's scale, 3/4 of a width of standard deviation at most, likewise cut.
    #[schemars(extend("x-max" = "1h"))]
    pub width: Dur,
    /// Distribution of the variation.
    #[serde(default)]
    pub distribution: Distribution,
    /// True if packets wait for those before them; else they overtake each other, as in netem.
    #[serde(default)]
    pub keep_order: bool,
    /// Weight of the last random number in the next one (netem). It narrows the variation.
    #[serde(default, skip_serializing_if = "plain")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub correlation: f64,
}

/// Distribution of the variation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Distribution {
    /// All delays from delay - width to delay + width are equally likely.
    #[default]
    Uniform,
    /// Normal.
    Normal,
    /// Pareto with exponent 3: few packets are much later than the others (netem's table).
    Pareto,
    /// A quarter of the normal distribution and three quarters of Pareto's (netem's table).
    ParetoNormal,
}

impl Distribution {
    /// Most that is taken away from the delay, in quarters of the width.
    const fn earliest(self) -> u64 {
        match self {
            Self::Uniform => 4,
            Self::Normal => 4 * CUT,
            // 2/3, and 1/4 * 4 + 3/4 * 2/3.
            Self::Pareto => 3,
            Self::ParetoNormal => 6,
        }
    }

    /// The value of the distribution below which a share `u` of the draws lies, in widths.
    pub(super) fn quantile(self, u: f64) -> f64 {
        match self {
            Self::Uniform => 2.0 * u - 1.0,
            Self::Normal => chance::normal(u),
            Self::Pareto => chance::pareto(u),
            Self::ParetoNormal => chance::pareto_normal(u),
        }
    }
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

/// Deviations from the mean at which the normal distribution is cut, as netem's table is. One value in 16,000 is beyond.
const CUT: u64 = 4;

impl Impairment for JitterSpec {
    type Working = Jittering;

    fn check(&self, delay: Dur) -> Option<Finding> {
        let JitterParams { width, distribution, .. } = self.0;
        (distribution == Distribution::Uniform && width > delay).then(|| Finding {
            key: "jitter",
            message: format!("a jitter of {width} either way leaves no delay: the link's is {delay}"),
            help: format!("write a width of at most \"{delay}\", or a longer delay"),
        })
    }
    fn delays(&self) -> bool {
        self.0.width > Dur::ZERO
    }
    fn begin(&self, at: &At<'_>) -> Option<Jittering> {
        let JitterParams { width, distribution, keep_order, correlation } = self.0;
        let early = Dur::from_ps(width.as_ps().saturating_mul(distribution.earliest()) / 4).min(at.delay);
        self.delays().then(|| {
            let mut stream = at.stream("jitter");
            let chance = Chance::new(correlation, &mut stream);
            Jittering { width, distribution, correlated: correlation > 0.0, chance, keep_order, early, stream, last: Time::ZERO }
        })
    }
}

/// State of the jitter of a link.
#[derive(Clone, Debug)]
pub struct Jittering {
    width: Dur,
    distribution: Distribution,
    correlated: bool,
    chance: Chance,
    keep_order: bool,
    /// Part of the propagation delay that is added here: the most that a draw takes away.
    early: Dur,
    stream: Stream,
    /// Arrival of the last packet, if order is kept.
    last: Time,
}

impl Jittering {
    fn draw(&mut self) -> Dur {
        let widths = match (self.distribution, self.correlated) {
            (Distribution::Uniform, false) => return Dur::from_ps(self.stream.below(2 * self.early.as_ps() + 1)),
            (Distribution::Normal, false) => self.stream.normal(),
            (distribution, _) => {
                let fresh = self.stream.uniform();
                distribution.quantile(self.chance.next(fresh))
            }
        };
        let most = self.early + self.width * CUT;
        let x = self.early.as_ps() as f64 + self.width.as_ps() as f64 * widths + 0.5;
        // A draw below zero becomes zero.
        Dur::from_ps(x as u64).min(most)
    }
}

impl Work for Jittering {
    fn reseed(&mut self, number: u64) {
        self.stream.fork(number);
    }

    fn extra(&mut self, p: Arrival) -> Dur {
        let mut at = p.at + self.draw();
        if self.keep_order {
            at = at.max(self.last);
            self.last = at;
        }
        at - p.at
    }
    fn early(&self) -> Dur {
        self.early
    }
}
