//! A place written as a table.

use crate::source::{Node, Value};

/// `{ x = 1, y = 2 }` becomes `[1, 2]`; all else stays as it is.
pub(super) fn as_list(node: &mut Node) {
    if let Value::Table(t) = &mut node.value
        && t.len() == 2
        && let (Some(x), Some(y)) = (t.shift_remove("x"), t.get("y").cloned())
    {
        node.value = Value::Array(vec![x.node, y.node]);
    }
}
