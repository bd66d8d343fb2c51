//! The scenario file as types. Everything a user may write is declared here or in the parameter structs of the
//! algorithms; the JSON Schema made from it is the one source of validation, editor help and reference pages.

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
pub use table::{QueueTable, SourceTable, TcpTable};

use crate::topology::TopologySpec;
use fairlane_units::Dur;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One experiment: a network, the flows in it, how long it runs and what is recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Title for reports.
    #[serde(default)]
    pub name: Option<String>,
    /// What the experiment is about.
    #[serde(default)]
    pub description: Option<String>,
    /// Simulated time of a run.
    #[schemars(extend("x-min" = "1ns", "x-max" = "1000h"))]
    pub duration: Dur,
    /// Time at the start that is cut from every average.
    #[serde(default)]
    pub warmup: Dur,
    /// Seed of all random streams. Two scenarios with the same seed share their random numbers.
    #[serde(default = "one")]
    pub seed: u64,
    /// Step of the time series. Absent: no series.
    #[serde(default)]
    #[schemars(extend("x-min" = "1ns"))]
    pub sample: Option<Dur>,
    /// Whether results have a row for each flow or for each group of flows. With very many flows only the latter is of use.
    #[serde(default, skip_serializing_if = "ReportSpec::is_flows")]
    pub report: ReportSpec,
    /// Which of several shortest paths a flow takes.
    #[serde(default)]
    pub routing: RoutingSpec,
    /// What makes a path short.
    #[serde(default, skip_serializing_if = "RouteBy::is_hops")]
    pub route_by: RouteBy,
    /// How long a link has to be down, or up again, before routes follow: what it takes to notice and to tell all nodes. Absent: never, routes stay as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1000h"))]
    pub reroute: Option<Dur>,
    /// A builder of a regular network; its links can be refined under `links`.
    #[serde(default)]
    pub topology: Option<TopologySpec>,
    /// Names of all nodes. Absent: every node that a link names.
    #[serde(default)]
    pub nodes: Option<Vec<String>>,
    /// Where nodes are drawn, by name; over what the builder says. Nothing else depends on it.
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
    /// Controls of flows at their source.
    #[serde(default, skip_serializing_if = "ControlTables::is_empty")]
    pub control: ControlTables,
    /// Changes while the network runs, in the order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<AtSpec>,
}

fn one() -> u64 {
    1
}

/// Whose rows a result has, besides those of links and of the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReportSpec {
    /// One for each flow.
    #[default]
    Flows,
    /// One for each table under `flows`, of all its members together: counts are added up, means and percentiles are over the packets of all of them. No row of a single flow is made, and no time series of flows.
    Groups,
}

impl ReportSpec {
    pub(crate) fn is_flows(&self) -> bool {
        *self == Self::Flows
    }
}

/// What the paths of flows are chosen by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RouteBy {
    /// The fewest links.
    #[default]
    Hops,
    /// The least sum of propagation delays, to the nanosecond.
    Delay,
    /// The least sum of `weight` of the links, such as the costs of OSPF (RFC 2328).
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
    /// Equal-cost multipath packet by packet: at every node each packet of a flow takes the next of the paths in turn (round robin, RFC 2991), in the order of these hashes, so that packets may overtake one another.
    EcmpPackets,
    /// One path for all flows to a node, and to the hosts that hang on it: at every node a hash of the destination's name, the next hop and the seed picks it.
    Single,
}
