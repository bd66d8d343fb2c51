//! A graph of modules, and the groups in it that import one another.

use std::collections::{BTreeMap, BTreeSet};

/// Modules and the imports between them.
#[derive(Default)]
pub(super) struct Graph {
    /// Path of each module, from the root of its crate or package.
    pub(super) modules: Vec<Vec<String>>,
    /// Modules that each module imports.
    pub(super) edges: Vec<BTreeSet<usize>>,
}

impl Graph {
    /// Makes a graph of modules and the modules that each imports.
    pub(super) fn new(imports: BTreeMap<Vec<String>, BTreeSet<Vec<String>>>) -> Self {
        let modules: Vec<Vec<String>> = imports.keys().cloned().collect();
        let place = |m: &Vec<String>| modules.binary_search(m).ok();
        let related = |a: &[String], b: &[String]| a.starts_with(b) || b.starts_with(a);
        let edges = imports.iter().map(|(from, to)| to.iter().filter(|t| !related(from, t)).filter_map(place).collect()).collect();
        Self { edges, modules }
    }

    /// Groups of more than `most` modules in which each reaches each (Tarjan, SIAM Journal on Computing 1, 1972), in order.
    pub(super) fn cycles(&self, most: usize) -> Vec<Vec<usize>> {
        let n = self.modules.len();
        let mut search = Search { graph: self, next: 0, index: vec![None; n], low: vec![0; n], open: Vec::new(), found: Vec::new() };
        for module in 0..n {
            if search.index[module].is_none() {
                search.visit(module);
            }
        }
        search.found.retain(|group| group.len() > most);
        search.found
    }

    /// The imports inside a group, a line for each importing module.
    pub(super) fn arrows(&self, group: &[usize]) -> String {
        let name = |m: usize| if self.modules[m].is_empty() { "lib".to_owned() } else { self.modules[m].join("/") };
        let line = |m: &usize| {
            let to: Vec<String> = self.edges[*m].iter().filter(|t| group.contains(t)).map(|t| name(*t)).collect();
            format!("    {} -> {}", name(*m), to.join(", "))
        };
        group.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

struct Search<'a> {
    graph: &'a Graph,
    next: usize,
    index: Vec<Option<usize>>,
    low: Vec<usize>,
    open: Vec<usize>,
    found: Vec<Vec<usize>>,
}

impl Search<'_> {
    fn visit(&mut self, module: usize) {
        self.index[module] = Some(self.next);
        self.low[module] = self.next;
        self.next += 1;
        self.open.push(module);
        for &to in &self.graph.edges[module] {
            match self.index[to] {
                None => {
                    self.visit(to);
                    self.low[module] = self.low[module].min(self.low[to]);
                }
                Some(index) if self.open.contains(&to) => self.low[module] = self.low[module].min(index),
                Some(_) => {}
            }
        }
        if Some(self.low[module]) == self.index[module] {
            let first = self.open.iter().position(|m| *m == module).unwrap_or_default();
            let mut group = self.open.split_off(first);
            group.sort_unstable();
            self.found.push(group);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(arrows: &[(&str, &str)]) -> Graph {
        let path = |p: &str| p.split('/').map(str::to_owned).collect::<Vec<_>>();
        let mut imports = BTreeMap::new();
        for (from, to) in arrows {
            imports.entry(path(from)).or_insert_with(BTreeSet::new).insert(path(to));
            imports.entry(path(to)).or_insert_with(BTreeSet::new);
        }
        Graph::new(imports)
    }

    #[test]
    fn a_circle_of_four_is_found_and_one_of_three_is_not() {
        let four = graph(&[("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("d", "e")]);
        assert_eq!(four.cycles(3), [[0, 1, 2, 3]]);
        assert_eq!(four.arrows(&[0, 1, 2, 3]), "    a -> b\n    b -> c\n    c -> d\n    d -> a");
        assert!(graph(&[("a", "b"), ("b", "c"), ("c", "a")]).cycles(3).is_empty());
    }

    #[test]
    fn a_parent_and_its_children_are_excepted() {
        let family = graph(&[("a", "a/b"), ("a/b", "a"), ("a/c", "a"), ("a", "a/c"), ("a/b", "a/d"), ("a/d", "a")]);
        assert!(family.cycles(1).is_empty());
        assert_eq!(graph(&[("a/b", "a/c"), ("a/c", "a/b")]).cycles(1).len(), 1);
    }
}
