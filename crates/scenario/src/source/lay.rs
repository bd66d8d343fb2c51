//! Layers of a tree: an option over the file.

use super::{Node, Value};
use crate::spec::REGISTRY_KEYS;

impl Node {
    /// Lays `over` on `self`: tables are merged, everything else is replaced; a table that names another algorithm
    /// (`registry`) replaces the old one.
    pub(crate) fn lay(&mut self, over: Self, registry: bool) {
        match (&mut self.value, over.value) {
            (Value::Table(base), Value::Table(over)) => {
                if registry && !over.is_empty() && base.keys().next() != over.keys().next() {
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
