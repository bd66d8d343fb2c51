//! Imports of a Python package, read from its text: at the top of a file, inside functions, and for types alone.

use super::graph::Graph;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The import graph of a package, from its files.
pub(super) fn graph(package: &str, files: &[(PathBuf, String)]) -> Graph {
    let names: BTreeSet<Vec<String>> = files.iter().map(|(p, _)| module_path(p)).collect();
    let imports = files.iter().map(|(path, text)| {
        let own = module_path(path);
        let inside = if path.ends_with("__init__.py") { own.clone() } else { own[..own.len().saturating_sub(1)].to_vec() };
        let to = statements(text).flat_map(|(from, names)| targets(package, &inside, &from, &names));
        let to = to.filter_map(|t| deepest(&names, t)).filter(|t| *t != own).collect();
        (own, to)
    });
    Graph::new(imports.collect())
}

fn module_path(file: &Path) -> Vec<String> {
    let mut parts: Vec<String> = file.with_extension("").iter().map(|p| p.to_string_lossy().into_owned()).collect();
    if parts.last().is_some_and(|p| p == "__init__") {
        parts.pop();
    }
    parts
}

/// Import statements as the module they name and the names they take of it.
fn statements(text: &str) -> impl Iterator<Item = (String, Vec<String>)> {
    let mut lines = text.lines();
    std::iter::from_fn(move || {
        loop {
            let line = lines.next()?.trim().split(" #").next()?.to_owned();
            if let Some((module, names)) = line.strip_prefix("from ").and_then(|l| l.split_once(" import ")) {
                let mut names = names.to_owned();
                while names.contains('(') && !names.contains(')') {
                    names += lines.next()?.split('#').next()?;
                }
                return Some((module.trim().to_owned(), words(&names)));
            }
            if let Some(module) = line.strip_prefix("import ") {
                return Some((String::new(), words(module)));
            }
        }
    })
}

/// Names of a list, without what they are called here.
fn words(list: &str) -> Vec<String> {
    let list = list.trim().trim_matches(|c| matches!(c, '(' | ')'));
    list.split(',').filter_map(|n| n.split_whitespace().next()).map(|n| n.trim_matches(['(', ')']).to_owned()).collect()
}

/// Modules that a statement may mean, from the root of the package.
fn targets(package: &str, inside: &[String], from: &str, names: &[String]) -> Vec<Vec<String>> {
    let dots = from.len() - from.trim_start_matches('.').len();
    let parts = |text: &str| text.split('.').filter(|p| !p.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let base = match dots {
        0 if from.is_empty() => {
            let whole = names.iter().map(|n| parts(n)).filter(|p| p.first().is_some_and(|f| f == package));
            return whole.map(|p| p[1..].to_vec()).collect();
        }
        0 => match parts(from).split_first() {
            Some((first, rest)) if first == package => rest.to_vec(),
            _ => return Vec::new(),
        },
        n => inside.iter().take((inside.len() + 1).saturating_sub(n)).cloned().chain(parts(from)).collect(),
    };
    names.iter().map(|n| base.iter().chain([n]).cloned().collect()).collect()
}

/// The longest part of a path that is a module.
fn deepest(names: &BTreeSet<Vec<String>>, mut path: Vec<String>) -> Option<Vec<String>> {
    while !names.contains(&path) {
        path.pop()?;
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn arrows(g: &Graph) -> BTreeMap<String, Vec<String>> {
        let name = |m: usize| g.modules[m].join(".");
        let to = |m: usize| g.edges[m].iter().map(|t| name(*t)).collect::<Vec<_>>();
        (0..g.modules.len()).map(|m| (name(m), to(m))).filter(|(_, to)| !to.is_empty()).collect()
    }

    #[test]
    fn names_lead_to_the_module_that_has_them() {
        let files = [
            ("__init__.py", ""),
            ("a/__init__.py", "from .x import thing\n"),
            ("a/x.py", "from __future__ import annotations\nfrom ..b import (\n    y,  # a module\n    z as w,\n)\n"),
            ("b/__init__.py", "def z(): ...\n"),
            ("b/y.py", "import fairlane.a.x\ndef f():\n    from .. import a\n    import os\n"),
        ];
        let files: Vec<_> = files.iter().map(|(p, t)| (PathBuf::from(p), (*t).to_owned())).collect();
        let expected = [("a.x", vec!["b", "b.y"]), ("b.y", vec!["a", "a.x"])];
        let expected = expected.map(|(m, to)| (m.to_owned(), to.into_iter().map(str::to_owned).collect::<Vec<_>>()));
        assert_eq!(arrows(&graph("fairlane", &files)), BTreeMap::from(expected));
    }
}
