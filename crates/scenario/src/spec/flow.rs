//! Flow groups.

use super::table::{SourceTable, TcpTable};
use fairlane_traffic::UdpParams;
use fairlane_units::Dur;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A group of equal flows; `{i}` in `from` and `to` is the number of the member.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowSpec {
    /// Node that sends. `{i}` stands for the number of the member.
    pub from: String,
    /// Node that receives. `{i}` stands for the number of the member.
    pub to: String,
    /// Number of members. One member is named like the group, more are named `NAME.0`, `NAME.1`...
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub count: u32,
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
    /// Traffic class: the DSCP (RFC 2474) of every packet.
    #[serde(default)]
    #[schemars(range(max = 63))]
    pub class: u8,
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

fn one() -> u32 {
    1
}
