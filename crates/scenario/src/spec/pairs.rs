//! Who sends to whom, and how much, where that is not one line a flow.

use fairlane_units::{DataFile, Rate};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The members of a group by their ends, in place of `from`, `to` and `count`: one of `random`, `matrix` and `gravity`. Members are named `NAME.FROM-TO`, so that one more changes nothing of what the others draw.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PairsSpec {
    /// Nodes that send and receive. Absent: hosts, which are the nodes with a single neighbour if these are a third of all nodes or more, else all nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub among: Option<Vec<String>>,
    /// Pairs drawn at random, none of them twice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub random: Option<RandomPairs>,
    /// Pairs from a traffic matrix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matrix: Option<MatrixPairs>,
    /// Pairs by the gravity model: the traffic from one node to another is in proportion to the masses of both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gravity: Option<GravityPairs>,
}

/// Pairs drawn at random, none of them twice: a share of the nodes as senders, or a number of pairs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RandomPairs {
    /// Share of the nodes that send, rounded, at least one: each to a node of its own, so that nobody receives twice. Those of a smaller share are among those of a larger one.
    #[schemars(range(min = 0.0, max = 1.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// In place of the share: a number of pairs, all pairs being equally likely. A node may send and receive several times.
    #[schemars(range(min = 1, max = 1_000_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// Seed of the pairs. The seed of the run does not change them.
    pub seed: u64,
}

impl Default for RandomPairs {
    fn default() -> Self {
        Self { share: None, count: None, seed: 1 }
    }
}

/// Pairs from a traffic matrix: a file, or a list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MatrixPairs {
    /// A CSV file: a first line `from,to` or `from,to,rate` and a line for each pair; or a table with the receivers in the first line, the senders in the first column and rates in it, 0 or nothing for none.
    #[schemars(extend("x-reads" = "demands"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<DataFile>,
    /// In place of the file: `{ from = "a", to = "b", rate = "2Mbit/s" }` for each pair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub demands: Option<Vec<DemandSpec>>,
}

/// What one node sends to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DemandSpec {
    /// The node that sends.
    pub from: String,
    /// The node that receives.
    pub to: String,
    /// Mean rate: over UDP on the wire, headers included, over TCP of the data. Absent: what the source does by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1bit/s", "x-max" = "1Tbit/s"))]
    pub rate: Option<Rate>,
}

/// Pairs by the gravity model (Zhang, Roughan, Duffield and Greenberg, SIGMETRICS 2003, section 3): T(a, b) = total m(a) m(b) / (sum over all pairs).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GravityPairs {
    /// Masses of nodes by name; a node without one takes no part. Absent: of each node the sum of the rates of the links that leave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub masses: Option<IndexMap<String, f64>>,
    /// Mean rate of all pairs together, each of which has its share: over UDP on the wire, headers included, over TCP of the data.
    #[schemars(extend("x-min" = "1bit/s", "x-max" = "100Tbit/s"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<Rate>,
    /// So many pairs, drawn in proportion to the product of their masses, none of them twice. Absent: all pairs.
    #[schemars(range(min = 1, max = 1_000_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// Seed of the pairs. The seed of the run does not change them.
    pub seed: u64,
}

impl Default for GravityPairs {
    fn default() -> Self {
        Self { masses: None, total: None, count: None, seed: 1 }
    }
}

/// How much of a link a group of flows takes on average.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadSpec {
    /// The link. Where `from` and `to` are left out, the flows go from its start to its end.
    pub link: String,
    /// Mean rate of all members together on the wire, as a share of the link's rate. Each member has as much as any other.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub share: f64,
}
