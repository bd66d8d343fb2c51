//! A scenario that passed every check, and the states that its changes lead to.

use crate::code::Warning;
use crate::expand::{Expanded, LinkDir, Member, members};
use crate::spec::Scenario;
use fairlane_net::{NodeId, Waiting};
use fairlane_units::{Name, Time};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

/// A scenario that passed every check, with every parameter written out.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The description, complete.
    pub scenario: Scenario,
    /// The same in single parts.
    pub expanded: Expanded,
    /// What to check before the results are trusted.
    pub warnings: Vec<Warning>,
    /// The scenario after each of its changes.
    pub changes: Vec<Change>,
}

/// The scenario from a time on.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// When.
    pub time: Time,
    /// What becomes of packets in queues that are replaced.
    pub waiting: Waiting,
    /// The scenario as if it had been so from the beginning.
    pub state: Arc<Resolved>,
}

impl Deref for Resolved {
    type Target = Scenario;
    fn deref(&self) -> &Scenario {
        &self.scenario
    }
}

impl Resolved {
    /// One entry a flow, as the scenario's own seed has them.
    pub fn flow_members(&self) -> &[Member] {
        &self.expanded.flows
    }
    /// One entry a flow in the run with this seed, which decides permutations and random starts.
    pub fn members_at(&self, seed: u64) -> Cow<'_, [Member]> {
        if seed == self.scenario.seed {
            return Cow::Borrowed(&self.expanded.flows);
        }
        let groups = self.scenario.flows.values().zip(self.expanded.groups.iter().enumerate());
        let numbers: FxHashMap<&str, u32> = self.expanded.nodes.iter().map(Name::as_str).zip(0..).collect();
        // Reading saw to it that every name is a node.
        let node = |name: &str| NodeId(numbers.get(name).copied().unwrap_or_default());
        Cow::Owned(groups.flat_map(|(spec, group)| members(spec, group, seed, node)).collect())
    }
    /// One entry a link direction.
    pub fn link_directions(&self) -> &[LinkDir] {
        &self.expanded.links
    }
    /// What to check before the results are trusted.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }
    /// The scenario as JSON, without the single parts.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(&self.scenario).unwrap_or_default()
    }
    /// The scenario as JSON with its single parts under `expanded` and its warnings.
    pub fn to_json_expanded(&self) -> serde_json::Value {
        let mut v = self.to_json();
        v["expanded"] = serde_json::to_value(&self.expanded).unwrap_or_default();
        v["warnings"] = self.warnings.iter().map(|w| w.text.as_str()).collect::<Vec<_>>().into();
        v
    }
}
