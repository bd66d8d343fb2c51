//! Profile: propagation delay, loss and rate that follow a trace.
//!
//! The rate is a schedule of the link (`profile.rs` of this crate). A packet whose transmission ends at t takes the delay that the profile has at t, and is
//! lost with the probability at t. The ring of the link has the least delay; the rest is added here, as for jitter.

use super::{Arrival, At, Draws, Finding, Impairment, Outcome, Work};
use crate::profile::{Mode, Profile, ProfileRate, Value};
use crate::schedule::Schedule;
use fairlane_engine::Stream;
use fairlane_units::{DataFile, Dur, Rate, Time};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Rate, delay and loss over time. The rate replaces that of the link, the delay its propagation delay; losses come on top.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfileParams {
    /// A CSV file with a header such as `time_s,rate_mbps,delay_ms,loss`, of which any but the time may be missing; RTTs of Hypatia, paths of LeoEM, a log of
    /// ERRANT, JSON of irtt, output of ping; or the name of a shipped profile: `leo`, `5g_drive`, `cable`. It begins with the run.
    #[schemars(extend("x-reads" = "profile"))]
    pub file: DataFile,
    /// Delay and loss between two rows; the rate keeps that of the row before. Absent: as shipped profiles say, else `step`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interpolation: Option<Interpolation>,
    /// True if the profile restarts at the time of its last row, else the last row holds to the end of the run.
    #[serde(default = "yes")]
    pub repeat: bool,
    /// True if packets may overtake each other when the delay falls; else they wait for those before them.
    #[serde(default)]
    pub overtaking: bool,
    /// True for the rate of the column `upload`, for the direction from the user.
    #[serde(default)]
    pub upload: bool,
    /// False if the link keeps its own rate.
    #[serde(default = "yes")]
    pub rates: bool,
    /// False if the link keeps its own propagation delay.
    #[serde(default = "yes")]
    pub delays: bool,
}

const fn yes() -> bool {
    true
}

/// Values between two rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Interpolation {
    /// Values of the row before.
    Step,
    /// In proportion to the time.
    Linear,
}

/// [`ProfileParams`], or the file alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProfileSpec(pub ProfileParams);

impl JsonSchema for ProfileSpec {
    fn schema_name() -> Cow<'static, str> {
        "Profile".into()
    }
    fn json_schema(g: &mut SchemaGenerator) -> Schema {
        let params = g.subschema_for::<ProfileParams>();
        json_schema!({
            "description": "Rate, delay and loss over time: a file or the name of a shipped profile, or a table of parameters.",
            "x-shorthand": "file",
            "anyOf": [{ "type": "string", "format": "fl-file", "x-reads": "profile" }, params],
        })
    }
}

impl ProfileSpec {
    fn profile(&self) -> Profile {
        Profile::new(self.0.file.shared())
    }
    const fn rate_column(&self) -> Value {
        if self.0.upload { Value::Upload } else { Value::Rate }
    }
    /// Returns true if the rate of the link follows the profile.
    pub fn has_rates(&self) -> bool {
        self.0.rates && self.profile().has(self.rate_column())
    }
    /// Returns true if the propagation delay of the link follows the profile.
    pub fn has_delays(&self) -> bool {
        self.0.delays && self.profile().has(Value::Delay)
    }
    fn rates(&self) -> Option<ProfileRate> {
        self.has_rates().then(|| ProfileRate::new(self.profile(), self.rate_column(), self.0.repeat))
    }
    /// Schedule of the link's rate, if it follows the profile.
    pub fn schedule(&self) -> Option<Schedule> {
        self.rates().map(Schedule::Profile)
    }
    /// Mean rate, if it follows the profile.
    pub fn rate(&self) -> Option<Rate> {
        self.rates().map(|r| r.mean())
    }
    /// Least delay, if the delay follows the profile.
    pub fn delay(&self) -> Option<Dur> {
        self.has_delays().then(|| Dur::from_ps(self.profile().least(Value::Delay)))
    }
    fn mode(&self) -> Mode {
        let linear = self.0.interpolation.map_or_else(|| self.profile().is_linear(), |i| i == Interpolation::Linear);
        Mode { linear, repeat: self.0.repeat }
    }
}

impl Impairment for ProfileSpec {
    type Working = Following;

    fn check(&self, _: Dur) -> Option<Finding> {
        (self.0.upload && !self.profile().has(Value::Upload)).then(|| Finding {
            key: "profile",
            message: "the profile has no column `upload`".to_owned(),
            help: "leave `upload` out".to_owned(),
        })
    }
    fn delays(&self) -> bool {
        self.has_delays()
    }
    fn begin(&self, at: &At<'_>) -> Option<Following> {
        let profile = self.profile();
        let (delays, losses) = (self.has_delays(), profile.has(Value::Loss));
        (delays || losses).then(|| Following {
            least: profile.least(Value::Delay),
            profile,
            mode: self.mode(),
            delays,
            losses,
            keep_order: !self.0.overtaking,
            stream: at.stream("profile"),
            last: Time::ZERO,
        })
    }
}

/// State of a link that follows a profile.
#[derive(Clone, Debug)]
pub struct Following {
    profile: Profile,
    mode: Mode,
    delays: bool,
    losses: bool,
    keep_order: bool,
    /// Least delay, in picoseconds.
    least: u64,
    stream: Stream,
    /// Arrival of the last packet.
    last: Time,
}

impl Work for Following {
    fn reseed(&mut self, number: u64) {
        self.stream.fork(number);
    }

    fn apply(&mut self, _: Draws, sent: Time, outcome: &mut Outcome) {
        if self.losses {
            // The draw is made always, so that it does not depend on the profile.
            let draw = self.stream.below(1_000_000_000);
            outcome.lost |= draw < self.profile.at(Value::Loss, sent, self.mode);
        }
    }

    fn extra(&mut self, p: Arrival) -> Dur {
        if !self.delays {
            return Dur::ZERO;
        }
        let mut at = p.at + Dur::from_ps(self.profile.at(Value::Delay, p.sent, self.mode) - self.least);
        if self.keep_order {
            at = at.max(self.last);
            self.last = at;
        }
        at - p.at
    }
}
