//! Coordinates written as a table.

use crate::source::{Node, Value};

/// Converts `{ x = 1, y = 2 }` to `[1, 2]` and leaves other values alone. Returns the missing key if only one of the two is present.
pub(super) fn as_list(node: &mut Node) -> Option<&'static str> {
    let Value::Table(t) = &node.value else { return None };
    match (t.get("x").cloned(), t.get("y").cloned(), t.len()) {
        (Some(x), Some(y), 2) => node.value = Value::Array(vec![x.node, y.node]),
        (Some(_), None, 1) => return Some("y"),
        (None, Some(_), 1) => return Some("x"),
        _ => {}
    }
    None
}
