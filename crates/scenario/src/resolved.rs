//! A scenario that passed every check, and its changes.

use crate::code::Warning;
use crate::expand::{Expanded, LinkDir, Member, Transport, members};
use crate::spec::{LinkSpec, Scenario, Wire};
use fairlane_net::{NodeId, Waiting};
use fairlane_units::{Name, Time};
use rustc_hash::FxHashMap;
use std::ops::Deref;
use std::sync::Arc;

/// A scenario that passed every check, with every parameter written out.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// Complete description.
    pub scenario: Scenario,
    /// Nodes, links and flows.
    pub expanded: Expanded,
    /// Warnings about the results.
    pub warnings: Vec<Warning>,
    /// Changes during the run.
    pub changes: Vec<Change>,
}

/// Change of a scenario at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Time of the change.
    pub time: Time,
    /// Treatment of packets in replaced queues.
    pub waiting: Waiting,
    pub(crate) update: Update,
}

/// A link with other values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Changed {
    pub(crate) name: String,
    /// Number of its first direction.
    pub(crate) first: usize,
    pub(crate) spec: LinkSpec,
    /// One or both directions.
    pub(crate) wires: Vec<Arc<Wire>>,
}

/// New values of a change.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Update {
    /// Links, with all their values.
    Links(Arc<[Changed]>),
    /// Anything: the scenario with the changed values from the start.
    All(Arc<Resolved>),
}

impl Deref for Resolved {
    type Target = Scenario;
    fn deref(&self) -> &Scenario {
        &self.scenario
    }
}

impl Resolved {
    /// One entry per flow, for the scenario's own seed.
    pub fn flow_members(&self) -> &[Member] {
        &self.expanded.flows
    }
    /// One entry per flow in the run with this seed, which determines permutations and random starts.
    pub fn members_at(&self, seed: u64) -> Arc<Vec<Member>> {
        if seed == self.scenario.seed {
            return self.expanded.flows.clone();
        }
        let groups = self.scenario.flows.values().zip(self.expanded.groups.iter().enumerate());
        let numbers: FxHashMap<&str, u32> = self.expanded.nodes.iter().map(Name::as_str).zip(0..).collect();
        // The reader checked that every name is a node.
        let node = |name: &str| NodeId(numbers.get(name).copied().unwrap_or_default());
        let mut all = Vec::with_capacity(self.expanded.flows.len());
        groups.for_each(|(spec, group)| all.extend(members(spec, group, seed, node)));
        Arc::new(all)
    }
    /// One entry per link direction.
    pub fn link_directions(&self) -> &[LinkDir] {
        &self.expanded.links
    }
    /// True if a flow is driven by a real transport stack.
    pub fn has_stack(&self) -> bool {
        self.expanded.groups.iter().any(|g| matches!(g.transport, Transport::Stack(_)))
    }
    /// Warnings about the results.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }
    /// Scenario as JSON, without the expanded parts.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(&self.scenario).unwrap_or_default()
    }
    /// Scenario as JSON with its expanded parts under `expanded` and its warnings.
    pub fn to_json_expanded(&self) -> serde_json::Value {
        let mut v = self.to_json();
        v["expanded"] = serde_json::to_value(&self.expanded).unwrap_or_default();
        v["warnings"] = self.warnings.iter().map(|w| w.text.as_str()).collect::<Vec<_>>().into();
        v
    }
}
