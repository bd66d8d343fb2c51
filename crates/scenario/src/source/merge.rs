//! Merges layers of a tree: an option over the file.

use super::{Node, Table, Value};
use crate::spec::REGISTRY_KEYS;

/// Meaning of a table's keys.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Names {
    /// Sections of a scenario.
    Sections,
    /// Parameters.
    Nothing,
    /// An algorithm: its only key.
    Algorithm,
    /// Owners that each have an algorithm: the nodes of a channel's `queues`.
    Owners,
    /// Links by name.
    Links,
    /// Groups of flows.
    Flows,
    /// Parameters of a group of flows, with one transport among them.
    Flow,
}

/// Transports of a flow, of which it has one.
const TRANSPORTS: [&str; 3] = ["tcp", "udp", "stack"];

impl Names {
    fn below(self, key: &str) -> Self {
        match key {
            "flows" if self == Self::Sections => Self::Flows,
            "links" if self == Self::Sections => Self::Links,
            _ if self == Self::Flows => Self::Flow,
            _ if self == Self::Links => Self::Nothing,
            _ if self == Self::Owners || REGISTRY_KEYS.contains(&key) => Self::Algorithm,
            "queues" => Self::Owners,
            _ => Self::Nothing,
        }
    }
}

impl Node {
    /// Merges `over` into `self`: tables are merged, other values replaced; a table that names another algorithm
    /// replaces the old one, and so does another transport of a flow.
    pub(crate) fn merge(&mut self, over: Self, names: Names) {
        match (&mut self.value, over.value) {
            (Value::Table(base), Value::Table(over)) => {
                if names == Names::Algorithm && !over.is_empty() && named(base) != named(&over) {
                    base.clear();
                }
                if names == Names::Flow && TRANSPORTS.iter().any(|t| over.contains_key(*t)) {
                    base.retain(|name, _| !TRANSPORTS.contains(&name.as_str()) || over.contains_key(name));
                }
                for (name, entry) in over {
                    match base.get_mut(&name) {
                        Some(old) => old.node.merge(entry.node, names.below(&name)),
                        None => {
                            base.insert(name, entry);
                        }
                    }
                }
            }
            // `classes.0.weight=2` changes an element of a list.
            (Value::Array(base), Value::Table(over)) if over.keys().all(|k| k.parse().is_ok_and(|i: usize| i < base.len())) => {
                for (place, entry) in over {
                    if let Some(old) = place.parse().ok().and_then(|i: usize| base.get_mut(i)) {
                        old.merge(entry.node, Names::Nothing);
                    }
                }
            }
            (_, value) => *self = Self { value, span: over.span },
        }
    }
}

/// Algorithm of a one-key table; a plug-in is named inside.
fn named(table: &Table) -> (Option<&String>, Option<&Value>) {
    let first = table.first();
    let inside = first.filter(|(name, _)| *name == "plugin").and_then(|(_, e)| e.node.get("name"));
    (first.map(|(name, _)| name), inside.map(|n| &n.value))
}
