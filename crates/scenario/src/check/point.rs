//! A place written as a table.

use crate::source::{Node, Value};

/// `{ x = 1, y = 2 }` becomes `[1, 2]`; all else stays as it is. The key that is missing, if only the other one is there.
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
