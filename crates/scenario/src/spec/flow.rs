//! Flow groups.

use super::classes::Classes;
use super::pairs::{LoadSpec, PairsSpec};
use super::table::{SourceTable, StackTable, TcpTable};
use fairlane_traffic::UdpParams;
use fairlane_units::{Bytes, Dur};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A group of equal flows; `{i}` in `from` and `to` is the number of the member.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-required-unless" = { "from": ["pairs", "load"], "to": ["pairs", "load"] }))]
pub struct FlowSpec {
    /// Sending node. `{i}` stands for the number of the member. Required unless `pairs` or `load` sets it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub from: String,
    /// Receiving node. `{i}` stands for the number of the member. Required unless `pairs` or `load` sets it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub to: String,
    /// Ends of the members, instead of `from`, `to` and `count`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<PairsSpec>,
    /// Mean share of a link that all members use together. It sets their rate, whatever rate the source has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadSpec>,
    /// Number of members. One member is named like the group, several are named `NAME.0`, `NAME.1`...
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub count: u32,
    /// Most members at any time, if `[[at]]` or a session changes `count`: their nodes must exist. Members beyond `count` do not exist until then. Absent: `count`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub room: Option<u32>,
    /// Share of the members that take part, evenly spread over all: `count * active` of them, rounded, at least one. The others do not exist. (In
    /// ramachendra2014 the load of n nodes is the share of them that send.)
    #[serde(default = "all")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub active: f64,
    /// First value of `{i}`.
    #[serde(default)]
    pub first: u32,
    /// Start of the first member.
    #[serde(default)]
    pub start: Dur,
    /// Time between the starts of two members: member i starts at start + i * stagger.
    #[serde(default)]
    pub stagger: Dur,
    /// Random delay of each member's start, up to this long (drawn from the seed and the member's name): breaks phase effects.
    #[serde(default)]
    pub spread: Dur,
    /// Time at which the source stops. Absent: at the end of the run.
    #[serde(default)]
    pub stop: Option<Dur>,
    /// True if `{i}` of `to` is a random permutation without fixed points (drawn from the seed).
    #[serde(default)]
    pub permute: bool,
    /// Traffic class: the DSCP (RFC 2474) of every packet, a number from 0 to 63 or a name such as `ef` or `af41`. A list is assigned to the members in turn. For a control it is the priority, 1 (best) to 6.
    #[serde(default)]
    pub class: Classes,
    /// Data after which the flow is complete, without headers; its source sends until then. Absent: all data that
    /// the source writes.
    #[serde(default)]
    #[schemars(extend("x-min" = "1B", "x-max" = "1000TB"))]
    pub amount: Option<Bytes>,
    /// TCP: a congestion control's name, or a table of parameters.
    #[serde(default)]
    pub tcp: Option<TcpTable>,
    /// UDP: a table of parameters.
    #[serde(default)]
    pub udp: Option<UdpParams>,
    /// A real transport implementation instead of a simulated one: a stack's name, or `stack.NAME` with its parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<StackTable>,
    /// Traffic source. Absent: `bulk` over TCP and over a stack.
    #[serde(default)]
    pub source: Option<SourceTable>,
}

impl FlowSpec {
    /// Most members now or later.
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
