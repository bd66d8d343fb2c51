//! Shortest paths, by number of hops or by the costs of links.

use crate::lists::Lists;
use fairlane_engine::hash_seeded;
use fairlane_units::Name;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// How a flow picks among equally short paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Routing {
    /// At each node by a hash of the flow's name: flows spread, packets of a flow stay together.
    #[default]
    Ecmp,
    /// At each node each packet of a flow the next way in turn, in the order of the hashes.
    EcmpPackets,
    /// At each node by a hash of the destination's name: all flows to one node, and to the leaves of one node, take the same way.
    Single,
}

/// Breaks ties between equally short ways by highest random weight (RFC 2991): the way whose hash is largest. The hash is that of names
/// and of the run's seed, so the order of declarations decides nothing, and an interval over seeds covers the choice.
#[derive(Clone, Copy)]
pub(crate) struct Ties<'a> {
    pub(crate) routing: Routing,
    pub(crate) seed: u64,
    /// Names of nodes.
    pub(crate) nodes: &'a [Name],
    /// The name of the link of a port.
    pub(crate) link: &'a dyn Fn(u32) -> &'a str,
}

impl Ties<'_> {
    /// The weight of a way, as (far node, port), for a flow to `gate`, the destination or the node where it hangs as a leaf.
    fn weight(self, flow: &str, gate: u32, (far, port): (u32, u32)) -> u64 {
        let who = if self.routing == Routing::Single { &self.nodes[gate as usize] } else { flow };
        hash_seeded(self.seed, &[who, (self.link)(port), &self.nodes[far as usize]])
    }
    /// The way that a flow takes; `None` if there is none.
    pub(crate) fn choose(self, flow: &str, gate: u32, ways: &[(u32, u32)]) -> Option<(u32, u32)> {
        match ways {
            &[only] => Some(only),
            several => several.iter().copied().max_by_key(|&w| self.weight(flow, gate, w)),
        }
    }
    /// All ways, the one that a flow takes first.
    pub(crate) fn ranked(self, flow: &str, gate: u32, ways: &[(u32, u32)]) -> Vec<(u32, u32)> {
        let mut all = ways.to_vec();
        if all.len() > 1 {
            all.sort_by_cached_key(|&w| Reverse(self.weight(flow, gate, w)));
        }
        all
    }
}

/// The graph of nodes and ports, sorted so that laying a route costs no look at all ports of a node with very many.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    /// For each node its ports as (far node, port): by far node, and of one far node in order of declaration.
    out: Links,
    /// For each node its ports to nodes that are no leaves as (far node, port), in order of declaration.
    onward: Links,
    /// For each node the links into it from nodes that are no leaves, as (near node, port).
    into: Links,
    /// What each link costs; none if each costs the same.
    costs: Vec<u64>,
    leaf: Vec<bool>,
    /// For each node the near node of its only link in.
    gate: Vec<Option<u32>>,
}

/// Links of each node, as (node at the other end, port).
type Links = Lists<(u32, u32)>;

/// Distances to one node, kept for the nodes that forward.
type Distances = Vec<u64>;
const FAR: u64 = u64::MAX;

impl Graph {
    /// From edges as (port, near node, far node); of a port that leads to several nodes there are several.
    pub(crate) fn new(nodes: usize, edges: impl Iterator<Item = (u32, u32, u32)>) -> Self {
        let edges: Vec<(u32, u32, u32)> = edges.collect();
        let mut out = Lists::new(nodes, edges.iter().map(|&(port, a, b)| (a, (b, port))));
        let into = Lists::new(nodes, edges.iter().map(|&(port, a, b)| (b, (a, port))));
        // A node with a single neighbour forwards nothing, so searches need not enter it.
        let lone = |n: usize| match out[n] {
            [] => true,
            [(far, _)] => into[n].iter().all(|&(m, _)| m == far),
            _ => false,
        };
        let leaf: Vec<bool> = (0..nodes).map(lone).collect();
        let gate = into.iter().map(|into| if let [(only, _)] = into[..] { Some(only) } else { None }).collect();
        let inner = |n: u32| !leaf[n as usize];
        let onward = Lists::new(nodes, edges.iter().filter(|e| inner(e.2)).map(|&(port, a, b)| (a, (b, port))));
        let into = Lists::new(nodes, edges.iter().filter(|e| inner(e.1)).map(|&(port, a, b)| (b, (a, port))));
        // Ports are numbered in order of declaration.
        (0..nodes).for_each(|n| out[n].sort_unstable());
        Self { out, onward, into, costs: Vec::new(), leaf, gate }
    }

    /// With a cost for each link, above zero; empty if each costs the same.
    pub(crate) fn with_costs(mut self, costs: Vec<u64>) -> Self {
        self.costs = costs;
        self
    }

    fn cost(&self, port: u32) -> u64 {
        self.costs.get(port as usize).copied().unwrap_or(1)
    }

    fn leaf(&self, n: u32) -> bool {
        self.leaf[n as usize]
    }

    /// The node whose distances tell how far it is to a node: a leaf is reached through its neighbour.
    fn gate_of(&self, dst: u32) -> u32 {
        self.gate[dst as usize].filter(|_| self.leaf(dst)).unwrap_or(dst)
    }

    /// The ports from one node straight to another.
    fn straight(&self, from: u32, to: u32) -> &[(u32, u32)] {
        let out = &self.out[from as usize];
        let first = out.partition_point(|&(far, _)| far < to);
        let several = out[first..].partition_point(|&(far, _)| far == to);
        &out[first..first + several]
    }

    fn distances(&self, to: u32) -> Distances {
        if self.costs.is_empty() { self.hops(to) } else { self.sums(to) }
    }

    /// The least sums of costs (Dijkstra 1959).
    fn sums(&self, to: u32) -> Distances {
        let mut dist = vec![FAR; self.out.len()];
        dist[to as usize] = 0;
        let mut open = BinaryHeap::from([Reverse((0, to))]);
        while let Some(Reverse((d, n))) = open.pop() {
            if d > dist[n as usize] {
                continue;
            }
            for &(m, port) in &self.into[n as usize] {
                let through = d.saturating_add(self.cost(port));
                if through < dist[m as usize] {
                    dist[m as usize] = through;
                    open.push(Reverse((through, m)));
                }
            }
        }
        dist
    }

    fn hops(&self, to: u32) -> Distances {
        let mut dist = vec![FAR; self.out.len()];
        dist[to as usize] = 0;
        let mut front = vec![to];
        while !front.is_empty() {
            let mut next = Vec::new();
            for &n in &front {
                for &(m, _) in &self.into[n as usize] {
                    if dist[m as usize] == FAR {
                        dist[m as usize] = dist[n as usize] + 1;
                        next.push(m);
                    }
                }
            }
            front = next;
        }
        dist
    }
}

/// Finds paths; remembers the distances to the nodes where the leaves hang.
pub(crate) struct Router<'g, 'a> {
    graph: &'g Graph,
    ties: Ties<'a>,
    known: BTreeMap<u32, Distances>,
    /// The ways on from a node, as (far node, port).
    ways: Vec<(u32, u32)>,
}

impl<'g, 'a> Router<'g, 'a> {
    pub(crate) fn new(graph: &'g Graph, ties: Ties<'a>) -> Self {
        Self { graph, ties, known: BTreeMap::new(), ways: Vec::new() }
    }

    /// The ports from `src` to `dst` for the flow called `flow`; `None` if there is no way.
    pub(crate) fn path(&mut self, flow: &str, src: u32, dst: u32) -> Option<Vec<u32>> {
        let g = self.graph;
        let mut path = Vec::with_capacity(8);
        let mut at = src;
        // The only link out of a leaf is the way, wherever it goes.
        if g.leaf(src) {
            let &(far, port) = g.out[src as usize].first()?;
            path.push(port);
            at = far;
        }
        if at == dst {
            return Some(path);
        }
        // A leaf is reached through its neighbour, whose distances all its leaves share.
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

    /// The ways on from a node towards another one, all equally short, as (far node, port) in order of declaration; none if there is no way.
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
        // The only link out of a leaf is the way, if the other end of it has one.
        let arrives = |w: &&(u32, u32)| w.0 == dst || self.known.get(&gate).is_some_and(|d| d[w.0 as usize] != FAR);
        g.out[at as usize].first().filter(arrives).map_or(&[], std::slice::from_ref)
    }

    /// The node that packets to `dst` have to get to: itself, or the one where it hangs as a leaf.
    pub(crate) fn gate_of(&self, dst: u32) -> u32 {
        self.graph.gate_of(dst)
    }

    /// Makes the distances to a node known.
    fn look(&mut self, gate: u32) {
        let g = self.graph;
        if self.known.len() > 64 && !self.known.contains_key(&gate) && g.out.len() > 10_000 {
            self.known.clear();
        }
        self.known.entry(gate).or_insert_with(|| g.distances(gate));
    }

    /// The ways on from a node that forwards to one whose distances are known.
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
        // The last node may be a leaf: one with several links into it.
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
