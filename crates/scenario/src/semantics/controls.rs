//! Assignment of flows to flow controls.

use super::Semantics;
use super::network::Network;
use crate::code::Code;
use crate::diag::suggest;
use crate::expand::{ControlAt, Member};
use crate::registry::ControlSpec;
use crate::spec::Scenario;
use fairlane_traffic::{Controller, PRIORITIES};
use std::collections::{BTreeMap, HashMap};

impl Semantics<'_> {
    /// Creates one control per node, with the indices of its flows.
    pub(super) fn controls(&mut self, s: &Scenario, network: &Network<'_>, flows: &[Member]) -> Vec<ControlAt> {
        let mut all = Vec::new();
        let mut owner: HashMap<usize, String> = HashMap::new();
        for (number, (place, spec)) in s.control.each().enumerate() {
            let at = self.control_path(spec, place);
            let at: Vec<&str> = at.iter().map(String::as_str).collect();
            if let Err(problem) = spec.check() {
                let path: Vec<&str> = at.iter().copied().chain(problem.field.split('.')).collect();
                self.fail(Code::ControlUnfit, &path, problem.message, "");
            }
            let Some(chosen) = self.governed(&at, spec, network, flows) else { continue };
            if chosen.is_empty() {
                self.fail_key(
                    Code::GovernsNothing,
                    &at,
                    format!("this {} governs no flow", spec.name()),
                    "name nodes at which flows start",
                );
                continue;
            }
            let mut by_node: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
            for f in chosen {
                let m = &flows[f];
                if !(1..=PRIORITIES).contains(&m.class) {
                    let message = format!(
                        "flow `{}` has class {}, but {} wants a priority from 1 (best) to {PRIORITIES}",
                        m.name,
                        m.class,
                        spec.name()
                    );
                    self.fail(
                        Code::ClassNoPriority,
                        &["flows", &m.group, "class"],
                        message,
                        "write for instance class = 1, or class = [1, 2, 3, 4] for the members in turn",
                    );
                    break;
                }
                if let Some(other) = owner.insert(f, spec.name().to_owned()) {
                    let message = format!("flow `{}` is governed twice: by {other} and by {}", m.name, spec.name());
                    let key = if spec.flows().is_some() { "flows" } else { "nodes" };
                    self.fail(Code::GovernedTwice, &[&at[..], &[key]].concat(), message, "name the nodes or the flows of each control");
                    break;
                }
                by_node.entry(m.from.0 as usize).or_default().push(f);
            }
            all.extend(by_node.into_values().map(|flows| ControlAt { spec: number, kind: spec.name(), node: String::new(), flows }));
        }
        for c in &mut all {
            c.node = network.name(flows[c.flows[0]].from).to_owned();
        }
        all
    }

    /// Path of a control in the file, with an index if it is in a list.
    fn control_path(&self, spec: &ControlSpec, place: usize) -> Vec<String> {
        let mut path = vec!["control".to_owned(), spec.name().to_owned()];
        let listed = self.root.get("control").and_then(|c| c.get(spec.name())).is_some_and(|n| n.get("0").is_some());
        path.extend(listed.then(|| place.to_string()));
        path
    }

    /// Indices of the flows that a control names; `None` if a name is wrong.
    fn governed(&mut self, at: &[&str], spec: &ControlSpec, network: &Network<'_>, flows: &[Member]) -> Option<Vec<usize>> {
        let before = self.found.count();
        for (i, node) in spec.nodes().into_iter().flatten().enumerate() {
            let place = i.to_string();
            let path = [at, &["nodes", &place]].concat();
            if network.node(node).is_none() {
                self.fail(Code::UnknownNode, &path, format!("unknown node `{node}`"), suggest(node, &network.names(), "known nodes"));
            } else if !flows.iter().any(|m| network.name(m.from) == node) {
                let mut senders: Vec<&str> = flows.iter().map(|m| network.name(m.from)).collect();
                senders.dedup();
                self.fail(
                    Code::NoFlowThere,
                    &path,
                    format!("no flow starts at node `{node}`"),
                    suggest(node, &senders, "nodes at which flows start"),
                );
            }
        }
        for (i, name) in spec.flows().into_iter().flatten().enumerate() {
            let place = i.to_string();
            let path = [at, &["flows", &place]].concat();
            let mut named = flows.iter().filter(|m| m.group == *name || m.name == *name).peekable();
            if named.peek().is_none() {
                let mut known: Vec<&str> = flows.iter().flat_map(|m| [m.group.as_str(), m.name.as_str()]).collect();
                known.sort_unstable();
                known.dedup();
                self.fail(Code::UnknownFlow, &path, format!("unknown flow `{name}`"), suggest(name, &known, "known flows"));
            } else if let Some(nodes) = spec.nodes()
                && !named.any(|m| nodes.iter().any(|n| network.name(m.from) == n))
            {
                self.fail(
                    Code::NoFlowThere,
                    &path,
                    format!("flow `{name}` does not start at {}", nodes.join(" or ")),
                    "leave out `nodes`, or name the flow's node there",
                );
            }
        }
        if self.found.count() > before {
            return None;
        }
        let within = |list: Option<&[String]>, names: [&str; 2]| list.is_none_or(|l| names.iter().any(|n| l.iter().any(|l| n == l)));
        Some(
            (0..flows.len())
                .filter(|&f| {
                    within(spec.nodes(), [network.name(flows[f].from); 2]) && within(spec.flows(), [&flows[f].group, &flows[f].name])
                })
                .collect(),
        )
    }
}
