//! Reachability and shortest paths by hops, for checks and warnings only; the simulator computes its own routes.

use crate::channel::ChannelAt;
use crate::expand::LinkDir;
use fairlane_net::{Lists, NodeId};
use fairlane_units::Name;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Graph by number.
pub(super) struct Network<'a> {
    nodes: &'a [Name],
    index: FxHashMap<&'a str, usize>,
    /// Links of each node as (direction, far node).
    out: Lists<(u32, u32)>,
    /// Component number of each node, shared by nodes that reach each other; none if some link is one-way.
    part: Option<Vec<usize>>,
}

impl<'a> Network<'a> {
    pub(super) fn new(nodes: &'a [Name], links: &[LinkDir], channels: &[ChannelAt]) -> Self {
        let index: FxHashMap<&str, usize> = nodes.iter().enumerate().map(|(i, n)| (n.as_str(), i)).collect();
        let mut out = Vec::with_capacity(links.len());
        let mut one_way = false;
        for (l, link) in (0..).zip(links) {
            let (from, to) = (link.from(), link.far());
            if let Some(to) = to.filter(|to| from.max(*to).0 < nodes.len() as u32) {
                out.push((from.0, (l, to.0)));
            }
            let returns = |r: &LinkDir| Some(r.from()) == to && r.far() == Some(from);
            one_way |= !link.name.ends_with(".reverse") && !links.get(l as usize + 1).is_some_and(returns);
        }
        // Interfaces of stations are the last links.
        let mut first = links.len() - channels.iter().map(|c| c.stations.len()).sum::<usize>();
        for c in channels {
            for &(a, b) in c.ever().iter() {
                let node = |i: u32| index.get(c.stations[i as usize].node.as_str());
                if let (Some(&from), Some(&to)) = (node(a), node(b)) {
                    out.push((from as u32, (first as u32 + a, to as u32)));
                }
            }
            first += c.stations.len();
        }
        let out = Lists::new(nodes.len(), out.iter().copied());
        let mut network = Self { nodes, index, out, part: None };
        if !one_way {
            network.part = Some(network.parts());
        }
        network
    }

    pub(super) fn node(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }

    /// Name of a node.
    pub(super) fn name(&self, node: NodeId) -> &'a str {
        self.nodes.get(node.0 as usize).map_or("", Name::as_str)
    }

    pub(super) fn names(&self) -> Vec<&'a str> {
        self.nodes.iter().map(Name::as_str).collect()
    }

    /// Nodes with a single neighbour, if these are at least a third of all nodes, else all nodes; in the order of their numbers.
    pub(super) fn hosts(&self) -> Vec<&'a str> {
        let all = self.names();
        let alone = |n: &&str| self.node(n).is_some_and(|i| self.out[i].len() == 1);
        let hosts: Vec<&str> = all.iter().copied().filter(alone).collect();
        if hosts.len() < 2 || 3 * hosts.len() < all.len() { all } else { hosts }
    }

    fn parts(&self) -> Vec<usize> {
        let mut part = vec![usize::MAX; self.out.len()];
        for start in 0..self.out.len() {
            let mut stack = vec![start];
            while let Some(n) = stack.pop() {
                if part[n] == usize::MAX {
                    part[n] = start;
                    stack.extend(self.out[n].iter().map(|o| o.1 as usize));
                }
            }
        }
        part
    }

    /// Returns whether packets get from `a` to `b`, and from `b` to `a`.
    pub(super) fn joined(&self, a: usize, b: usize) -> (bool, bool) {
        match &self.part {
            Some(part) => (part[a] == part[b], part[a] == part[b]),
            None => (self.path(a, b).is_some(), self.path(b, a).is_some()),
        }
    }

    /// Link directions of a shortest path.
    pub(super) fn path(&self, a: usize, b: usize) -> Option<Vec<usize>> {
        let mut came = vec![None; self.out.len()];
        let mut line = VecDeque::from([a]);
        while let Some(n) = line.pop_front() {
            if n == b {
                let mut path = Vec::new();
                let mut at = b;
                while at != a {
                    let (link, from) = came[at]?;
                    path.push(link as usize);
                    at = from;
                }
                path.reverse();
                return Some(path);
            }
            for &(link, far) in &self.out[n] {
                let far = far as usize;
                if came[far].is_none() && far != a {
                    came[far] = Some((link, n));
                    line.push_back(far);
                }
            }
        }
        None
    }
}
