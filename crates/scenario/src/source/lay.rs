//! Layers of a tree: an option over the file.

use super::{Node, Table, Value};
use crate::spec::REGISTRY_KEYS;

impl Node {
    /// Lays `over` on `self`: tables are merged, everything else is replaced; a table that names another algorithm
    /// (`registry`) replaces the old one.
    pub(crate) fn lay(&mut self, over: Self, registry: bool) {
        match (&mut self.value, over.value) {
            (Value::Table(base), Value::Table(over)) => {
                if registry && !over.is_empty() && named(base) != named(&over) {
                    base.clear();
                }
                for (name, entry) in over {
                    match base.get_mut(&name) {
                        Some(old) => old.node.lay(entry.node, REGISTRY_KEYS.contains(&name.as_str())),
                        None => {
                            base.insert(name, entry);
                        }
                    }
                }
            }
            // `classes.0.weight=2` reaches into a list.
            (Value::Array(base), Value::Table(over)) if over.keys().all(|k| k.parse().is_ok_and(|i: usize| i < base.len())) => {
                for (place, entry) in over {
                    if let Some(old) = place.parse().ok().and_then(|i: usize| base.get_mut(i)) {
                        old.lay(entry.node, false);
                    }
                }
            }
            (_, value) => *self = Self { value, span: over.span },
        }
    }
}

/// The algorithm a one-key table names: one that is not built in is named inside.
fn named(table: &Table) -> (Option<&String>, Option<&Value>) {
    let first = table.first();
    let inside = first.filter(|(name, _)| *name == "plugin").and_then(|(_, e)| e.node.get("name"));
    (first.map(|(name, _)| name), inside.map(|n| &n.value))
}
