//! Parts of a scenario that were completed before, for one that differs from it in a few values.

use crate::expand::Group;
use crate::resolved::Resolved;
use crate::spec::{FlowSpec, LinkSpec, Pipe, Scenario, Wire};
use std::collections::HashMap;
use std::sync::Arc;

/// Both directions of a link.
pub(super) type Wires = [Arc<Wire>; 2];

/// A scenario as written and as completed. The topology of the other one must be the same.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) raw: Scenario,
    pub(crate) done: Arc<Resolved>,
    /// Directions of the links that the scenario writes.
    wires: HashMap<String, Wires>,
}

impl Known {
    pub(crate) fn new(raw: Scenario, done: Arc<Resolved>) -> Self {
        let mut wires = HashMap::new();
        let links = done.link_directions();
        for (link, next) in links.iter().zip(links.iter().skip(1).map(Some).chain([None])) {
            if done.links.contains_key(link.name.as_str()) {
                let back = next.filter(|b| b.name.strip_suffix(".reverse") == Some(link.name.as_str()));
                wires.insert(link.name.to_string(), [link.wire.clone(), back.unwrap_or(link).wire.clone()]);
            }
        }
        Self { raw, done, wires }
    }

    /// Returns the complete form of a link with these values, if it is the known one.
    pub(super) fn link(&self, name: &str, spec: &LinkSpec) -> Option<(LinkSpec, Pipe, Wires)> {
        self.raw.links.get(name).filter(|raw| *raw == spec)?;
        let done = self.done.links.get(name)?;
        Some((done.clone(), done.pipe(), self.wires.get(name)?.clone()))
    }

    /// Returns transport and source of a group with these values, if they are the known ones, and completes the values.
    pub(super) fn group(&self, name: &str, spec: &mut FlowSpec) -> Option<Group> {
        let (place, _, raw) = self.raw.flows.get_full(name)?;
        let same =
            raw.tcp == spec.tcp && raw.udp == spec.udp && raw.stack == spec.stack && raw.source == spec.source && raw.class == spec.class;
        let group = self.done.expanded.groups.get(place).filter(|group| same && group.name == name)?;
        let done = self.done.flows.get(name)?;
        (spec.tcp, spec.stack, spec.source) = (done.tcp.clone(), done.stack.clone(), done.source.clone());
        Some(Group { pairs: None, rate: None, ..group.clone() })
    }
}
