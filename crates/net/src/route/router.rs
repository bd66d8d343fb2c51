//! Shortest paths, and the choice between equally short ones.

use super::graph::{Distances, FAR, Graph};
use fairlane_engine::hash_seeded;
use fairlane_units::Name;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Choice among equally short paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Routing {
    /// At each node by a hash of the flow's name: flows spread, packets of a flow take one path.
    #[default]
    Ecmp,
    /// At each node the packets of a flow take the next hops in turn, in the order of their hashes.
    EcmpPackets,
    /// At each node by a hash of the destination's name: all flows to one node, and to the leaves of one node, take one path.
    Single,
}

/// Breaks ties between next hops by highest random weight (RFC 2991): the hop with the largest hash wins. The hash depends on names and on the seed of the
/// run, so the order of declarations decides nothing, and an interval over seeds covers the choice.
#[derive(Clone, Copy)]
pub(crate) struct Ties<'a> {
    pub(crate) routing: Routing,
    pub(crate) seed: u64,
    /// Names of nodes.
    pub(crate) nodes: &'a [Name],
    /// Returns the name of the link of a port.
    pub(crate) link: &'a dyn Fn(u32) -> &'a str,
}

impl Ties<'_> {
    /// Weight of a next hop, as (far node, port), for a flow to `gate`: the destination, or the neighbour of a destination that is a leaf.
    fn weight(self, flow: &str, gate: u32, (far, port): (u32, u32)) -> u64 {
        let who = if self.routing == Routing::Single { &self.nodes[gate as usize] } else { flow };
        hash_seeded(self.seed, &[who, (self.link)(port), &self.nodes[far as usize]])
    }
    /// Returns the next hop of a flow; `None` without a route.
    pub(crate) fn choose(self, flow: &str, gate: u32, ways: &[(u32, u32)]) -> Option<(u32, u32)> {
        match ways {
            &[only] => Some(only),
            several => several.iter().copied().max_by_key(|&w| self.weight(flow, gate, w)),
        }
    }
    /// Returns all next hops, that of [`Self::choose`] first.
    pub(crate) fn ranked(self, flow: &str, gate: u32, ways: &[(u32, u32)]) -> Vec<(u32, u32)> {
        let mut all = ways.to_vec();
        if all.len() > 1 {
            all.sort_by_cached_key(|&w| Reverse(self.weight(flow, gate, w)));
        }
        all
    }
}

/// Finds paths; caches the distances to destinations and to the neighbours of leaves.
pub(crate) struct Router<'g, 'a> {
    graph: &'g Graph,
    ties: Ties<'a>,
    known: BTreeMap<u32, Distances>,
    /// Next hops of a node, as (far node, port).
    ways: Vec<(u32, u32)>,
}

impl<'g, 'a> Router<'g, 'a> {
    pub(crate) fn new(graph: &'g Graph, ties: Ties<'a>) -> Self {
        Self { graph, ties, known: BTreeMap::new(), ways: Vec::new() }
    }

    /// Returns the ports from `src` to `dst` for the flow called `flow`; `None` without a route.
    pub(crate) fn path(&mut self, flow: &str, src: u32, dst: u32) -> Option<Vec<u32>> {
        let g = self.graph;
        let mut path = Vec::with_capacity(8);
        let mut at = src;
        // A leaf has one neighbour: its first link is the way.
        if g.leaf(src) {
            let &(far, port) = g.out[src as usize].first()?;
            path.push(port);
            at = far;
        }
        if at == dst {
            return Some(path);
        }
        // All leaves of a node share its distances.
        let gate = g.gate_of(dst);
        self.look(gate);
        while at != gate {
            let ties = self.ties;
            let (far, port) = ties.choose(flow, gate, self.onward(at, gate))?;
            path.push(port);
            at = far;
        }
        if gate != dst {
            path.push(g.straight(gate, dst).first()?.1);
        }
        Some(path)
    }

    /// Returns the equally short next hops from a node to another one, as (far node, port) in order of declaration; empty without a route.
    pub(crate) fn ways(&mut self, at: u32, dst: u32) -> &[(u32, u32)] {
        let g = self.graph;
        let gate = g.gate_of(dst);
        if at == gate {
            let straight = g.straight(gate, dst);
            return &straight[..straight.len().min(1)];
        }
        self.look(gate);
        if !g.leaf(at) {
            return self.onward(at, gate);
        }
        // The first link of a leaf is the way, if its far end has a route.
        let arrives = |w: &&(u32, u32)| w.0 == dst || self.known.get(&gate).is_some_and(|d| d[w.0 as usize] != FAR);
        g.out[at as usize].first().filter(arrives).map_or(&[], std::slice::from_ref)
    }

    /// Returns the node that decides the distance to `dst`: itself, or its neighbour if it is a leaf.
    pub(crate) fn gate_of(&self, dst: u32) -> u32 {
        self.graph.gate_of(dst)
    }

    /// Caches the distances to a node.
    fn look(&mut self, gate: u32) {
        let g = self.graph;
        if self.known.len() > 64 && !self.known.contains_key(&gate) && g.out.len() > 10_000 {
            self.known.clear();
        }
        self.known.entry(gate).or_insert_with(|| g.distances(gate));
    }

    /// Returns the next hops of a forwarding node to a node with cached distances.
    fn onward(&mut self, at: u32, gate: u32) -> &[(u32, u32)] {
        let g = self.graph;
        let Some(dist) = self.known.get(&gate) else { return &[] };
        let d = dist[at as usize];
        if d == FAR {
            return &[];
        }
        if d == 1 && g.costs.is_empty() {
            return g.straight(at, gate);
        }
        let on = |w: &&(u32, u32)| dist[w.0 as usize] != FAR && dist[w.0 as usize] + g.cost(w.1) == d;
        self.ways.clear();
        self.ways.extend(g.onward[at as usize].iter().filter(on));
        // A leaf with several links into it is a destination of its own.
        if g.leaf(gate) {
            self.ways.extend(g.straight(at, gate).iter().filter(on));
            self.ways.sort_unstable_by_key(|w| w.1);
        }
        &self.ways
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
