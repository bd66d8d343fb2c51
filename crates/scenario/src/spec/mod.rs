//! The scenario file as types. Every key is declared here or in the parameter structs of the algorithms; the JSON
//! Schema made from them is the one source of validation, editor help and reference pages.

mod changes;
mod channel;
mod classes;
mod control;
mod flow;
mod link;
mod mobility;
mod pairs;
mod propagation;
mod table;

pub use changes::AtSpec;
pub use channel::{AfterTimeoutSpec, ChannelSpec, ErrorsSpec, GridPlaces, RateControlSpec, RingPlaces, ScatterPlaces, StandardName};
pub use classes::Classes;
pub use control::ControlTables;
pub use flow::FlowSpec;
pub use link::{Direction, LinkSpec, OutageSpec, Pipe, Point, RateStep, Wire};
pub use mobility::{RandomWaypointSpec, RoutesSpec, WalkSpec, Waypoint};
pub use pairs::{DemandSpec, GravityPairs, LoadSpec, MatrixPairs, PairsSpec, RandomPairs};
pub use propagation::{FixedRangeParams, FreeSpaceParams, LogDistanceParams, PropagationSpec, TwoRayParams};
pub(crate) use table::REGISTRY_KEYS;
pub use table::{QueueTable, SourceTable, StackTable, TcpTable};

use crate::topology::TopologySpec;
use fairlane_units::Dur;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One experiment: network, flows, duration and recorded data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Title for reports.
    #[serde(default)]
    pub name: Option<String>,
    /// Description of the experiment.
    #[serde(default)]
    pub description: Option<String>,
    /// Simulated time of a run.
    #[schemars(extend("x-min" = "1ns", "x-max" = "1000h"))]
    pub duration: Dur,
    /// Time at the start that is excluded from every average.
    #[serde(default)]
    pub warmup: Dur,
    /// Seed of all random streams. Two scenarios with the same seed share their random numbers.
    #[serde(default = "one")]
    pub seed: u64,
    /// Step of the time series. Absent: no series.
    #[serde(default)]
    #[schemars(extend("x-min" = "1ns"))]
    pub sample: Option<Dur>,
    /// Rows of the results: one per flow, or one per group of flows. Use groups for very many flows.
    #[serde(default, skip_serializing_if = "ReportSpec::is_flows")]
    pub report: ReportSpec,
    /// Choice among several shortest paths.
    #[serde(default)]
    pub routing: RoutingSpec,
    /// Measure of the length of a path.
    #[serde(default, skip_serializing_if = "RouteBy::is_hops")]
    pub route_by: RouteBy,
    /// Time that a link must be down, or up again, before routes follow: the convergence time of a routing protocol. Absent: routes stay as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1000h"))]
    pub reroute: Option<Dur>,
    /// Builder of a regular network; its links can be refined under `links`.
    #[serde(default)]
    pub topology: Option<TopologySpec>,
    /// Names of all nodes. Absent: every node that a link names.
    #[serde(default)]
    pub nodes: Option<Vec<String>>,
    /// Drawing positions of nodes, by name, instead of those of the builder. They affect nothing else.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub positions: IndexMap<String, Point>,
    /// Links by name: new ones, refinements of the builder's, or queues of wireless stations' interfaces.
    #[serde(default)]
    pub links: IndexMap<String, LinkSpec>,
    /// Wireless channels by name.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub wireless: IndexMap<String, ChannelSpec>,
    /// Groups of equal flows by name.
    #[serde(default)]
    pub flows: IndexMap<String, FlowSpec>,
    /// Flow controls at the source.
    #[serde(default, skip_serializing_if = "ControlTables::is_empty")]
    pub control: ControlTables,
    /// Changes during the run, in the order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<AtSpec>,
}

fn one() -> u64 {
    1
}

/// Rows of a result, besides those of links and of the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReportSpec {
    /// One per flow.
    #[default]
    Flows,
    /// One per table under `flows`, for all its members together: counts are summed, means and percentiles are over all their packets. There are no rows and no time series of single flows.
    Groups,
}

impl ReportSpec {
    pub(crate) fn is_flows(&self) -> bool {
        *self == Self::Flows
    }
}

/// Measure of the length of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RouteBy {
    /// Number of links.
    #[default]
    Hops,
    /// Sum of propagation delays, to the nanosecond.
    Delay,
    /// Sum of `weight` of the links, such as the costs of OSPF (RFC 2328).
    Weight,
}

impl RouteBy {
    pub(crate) fn is_hops(&self) -> bool {
        *self == Self::Hops
    }
}

/// Choice among shortest paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RoutingSpec {
    /// Equal-cost multipath: at every node a hash of the flow's name, the next hop and the seed picks a path (highest random weight, RFC 2991).
    #[default]
    Ecmp,
    /// Equal-cost multipath per packet: at every node the packets of a flow take the paths in turn (round robin, RFC 2991), in the order of these hashes, so packets may be reordered.
    EcmpPackets,
    /// One path for all flows to a node, and to the hosts attached to it: at every node a hash of the destination's name, the next hop and the seed picks it.
    Single,
}
