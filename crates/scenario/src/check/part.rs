//! Check of a part of a tree.

use super::Checker;
use crate::diag::Diagnostics;
use crate::source::Node;

impl Checker<'_> {
    /// Checks the value at a path of keys, in a tree whose other values are right.
    pub(crate) fn run_at(mut self, root: &mut Node, path: &[&str]) -> Diagnostics {
        let mut schema = Some(self.root);
        for key in path {
            let table = schema.map(|s| self.resolve(s).0);
            let property = table.and_then(|s| s.get("properties")?.get(key));
            schema = property.or_else(|| table.and_then(|s| s.get("additionalProperties")));
            self.path.push((*key).to_owned());
        }
        if let (Some(node), Some(schema)) = (root.get_mut(path), schema) {
            self.check(node, schema);
        }
        self.found
    }
}
