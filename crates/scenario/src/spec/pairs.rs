//! Senders, receivers and rates of flow groups that are not written one by one.

use fairlane_units::{DataFile, Rate};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

fairlane_units::params! {
    /// Ends of a group's members, instead of `from`, `to` and `count`: one of `random`, `matrix` and `gravity`. Members are named `NAME.FROM-TO`, so adding one does not change the random numbers of the others.
    pub struct PairsSpec {
        /// Nodes that send and receive. Absent: hosts, which are the nodes with a single neighbour if these are at least a third of all nodes, else all nodes.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub among: Option<Vec<String>>,
        /// Random pairs, each at most once.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub random: Option<RandomPairs>,
        /// Pairs from a traffic matrix.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub matrix: Option<MatrixPairs>,
        /// Pairs by the gravity model: traffic between two nodes is proportional to the product of their masses.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub gravity: Option<GravityPairs>,
    }

    /// Random pairs, each at most once: a share of the nodes as senders, or a number of pairs.
    pub struct RandomPairs {
        /// Share of the nodes that send, rounded, at least one: each to a different node, so no node receives twice. The senders of a smaller share are a subset of those of a larger one.
        #[schemars(range(min = 0.0, max = 1.0))]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub share: Option<f64> = None,
        /// Instead of the share: a number of pairs, all pairs being equally likely. A node may send and receive several times.
        #[schemars(range(min = 1, max = 1_000_000))]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub count: Option<u32> = None,
        /// Seed of the pairs. The seed of the run does not change them.
        pub seed: u64 = 1,
    }

    /// Pairs from a traffic matrix: a file, or a list.
    pub struct MatrixPairs {
        /// CSV file: a first line `from,to` or `from,to,rate` and one line per pair; or a table with receivers in the first line, senders in the first column and rates in the cells, 0 or nothing for none.
        #[schemars(extend("x-reads" = "demands"))]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub file: Option<DataFile>,
        /// Instead of the file: `{ from = "a", to = "b", rate = "2Mbit/s" }` for each pair.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub demands: Option<Vec<DemandSpec>>,
    }
}

/// Traffic from one node to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DemandSpec {
    /// Sending node.
    pub from: String,
    /// Receiving node.
    pub to: String,
    /// Mean rate: over UDP on the wire, headers included; over TCP of the data. Absent: the rate of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1bit/s", "x-max" = "1Tbit/s"))]
    pub rate: Option<Rate>,
}

fairlane_units::params! {
    /// Pairs by the gravity model (Zhang, Roughan, Duffield and Greenberg, SIGMETRICS 2003, section 3): T(a, b) = total m(a) m(b) / (sum over all pairs).
    pub struct GravityPairs {
        /// Masses of nodes by name; a node without one takes no part. Absent: for each node the sum of the rates of its outgoing links.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub masses: Option<IndexMap<String, f64>> = None,
        /// Mean rate of all pairs together: over UDP on the wire, headers included; over TCP of the data.
        #[schemars(extend("x-min" = "1bit/s", "x-max" = "100Tbit/s"))]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub total: Option<Rate> = None,
        /// Number of pairs, drawn with probabilities proportional to the product of their masses, each at most once. Absent: all pairs.
        #[schemars(range(min = 1, max = 1_000_000))]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub count: Option<u32> = None,
        /// Seed of the pairs. The seed of the run does not change them.
        pub seed: u64 = 1,
    }
}

/// Mean load of a flow group on a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadSpec {
    /// The link. Without `from` and `to` the flows go from its start to its end.
    pub link: String,
    /// Mean rate of all members together on the wire, as a share of the link's rate. All members have the same rate.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub share: f64,
}
