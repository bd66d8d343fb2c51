//! Flow groups.

use super::classes::Classes;
use super::pairs::{LoadSpec, PairsSpec};
use super::table::{SourceTable, TcpTable};
use fairlane_traffic::UdpParams;
use fairlane_units::{Bytes, Dur};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A group of equal flows; `{i}` in `from` and `to` is the number of the member.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-required-unless" = { "from": ["pairs", "load"], "to": ["pairs", "load"] }))]
pub struct FlowSpec {
    /// Node that sends. `{i}` stands for the number of the member. Required unless `pairs` or `load` says it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub from: String,
    /// Node that receives. `{i}` stands for the number of the member. Required unless `pairs` or `load` says it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub to: String,
    /// Who sends to whom, in place of `from`, `to` and `count`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<PairsSpec>,
    /// How much of a link all members together take on average: what they send is set by it, whatever rate the source has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadSpec>,
    /// Number of members. One member is named like the group, more are named `NAME.0`, `NAME.1`...
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub count: u32,
    /// Most members that there may be at a time, where `[[at]]` or a run in hand changes `count`: their nodes have to be there. Members beyond `count` are no flows until then. Absent: `count`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub room: Option<u32>,
    /// Share of the members that take part, evenly spread over all: `count * active` of them, rounded, at least one. The others are no flows at all. (In
    /// ramachendra2014 the load of n nodes is the share of them that send.)
    #[serde(default = "all")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub active: f64,
    /// Number that `{i}` begins with.
    #[serde(default)]
    pub first: u32,
    /// When the first member starts.
    #[serde(default)]
    pub start: Dur,
    /// Time between the starts of two members: member i starts at start + i * stagger.
    #[serde(default)]
    pub stagger: Dur,
    /// Each member starts up to this much later, at random (drawn from the seed and the member's name): breaks phase effects.
    #[serde(default)]
    pub spread: Dur,
    /// When the source stops. Absent: at the end of the run.
    #[serde(default)]
    pub stop: Option<Dur>,
    /// Whether `{i}` of `to` is a random permutation without fixed points (drawn from the seed).
    #[serde(default)]
    pub permute: bool,
    /// Traffic class: the DSCP (RFC 2474) of every packet. A list is dealt to the members in turn. For a control it is the priority, 1 (best) to 6.
    #[serde(default)]
    pub class: Classes,
    /// The flow is over once the receiver has this much data, headers not counted; its source sends until then, whatever it is. Absent: once it has
    /// all that the source wrote.
    #[serde(default)]
    #[schemars(extend("x-min" = "1B", "x-max" = "1000TB"))]
    pub amount: Option<Bytes>,
    /// TCP: a congestion control's name, or a table of parameters.
    #[serde(default)]
    pub tcp: Option<TcpTable>,
    /// UDP: a table of parameters.
    #[serde(default)]
    pub udp: Option<UdpParams>,
    /// What is sent. Absent: `bulk` over TCP.
    #[serde(default)]
    pub source: Option<SourceTable>,
}

impl FlowSpec {
    /// Members that there are or may be later.
    pub fn most(&self) -> u32 {
        self.room.map_or(self.count, |room| room.max(self.count))
    }
}

fn one() -> u32 {
    1
}

fn all() -> f64 {
    1.0
}
