//! Graph of nodes and ports, and distances in it.

use crate::lists::Lists;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Graph of nodes and ports. The ports of a node are sorted, so that a search skips most ports of a node with very many.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    /// Ports of each node as (far node, port), sorted by far node, then by order of declaration.
    pub(super) out: Links,
    /// Ports of each node to nodes that are not leaves as (far node, port), in order of declaration.
    pub(super) onward: Links,
    /// Links into each node from nodes that are not leaves, as (near node, port).
    into: Links,
    /// Cost of each link; empty if all are equal.
    pub(super) costs: Vec<u64>,
    /// True for nodes with one neighbour.
    leaf: Vec<bool>,
    /// Near node of the only link into each node, if there is only one.
    gate: Vec<Option<u32>>,
}

/// Links of each node, as (node at the other end, port).
type Links = Lists<(u32, u32)>;

/// Distances to one node of all nodes that are not leaves.
pub(super) type Distances = Vec<u64>;
/// Distance without a route.
pub(super) const FAR: u64 = u64::MAX;

impl Graph {
    /// Creates a graph of edges as (port, near node, far node). A port may have several edges.
    pub(crate) fn new(nodes: usize, edges: impl Iterator<Item = (u32, u32, u32)>) -> Self {
        let edges: Vec<(u32, u32, u32)> = edges.collect();
        let mut out = Lists::new(nodes, edges.iter().map(|&(port, a, b)| (a, (b, port))));
        let into = Lists::new(nodes, edges.iter().map(|&(port, a, b)| (b, (a, port))));
        // A node with one neighbour forwards nothing, so searches skip it.
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

    /// Sets the cost of each link, above zero; empty if all are equal.
    pub(crate) fn with_costs(mut self, costs: Vec<u64>) -> Self {
        self.costs = costs;
        self
    }

    pub(super) fn cost(&self, port: u32) -> u64 {
        self.costs.get(port as usize).copied().unwrap_or(1)
    }

    pub(super) fn leaf(&self, n: u32) -> bool {
        self.leaf[n as usize]
    }

    /// Returns the node that decides the distance to `dst`: itself, or its neighbour if it is a leaf.
    pub(super) fn gate_of(&self, dst: u32) -> u32 {
        self.gate[dst as usize].filter(|_| self.leaf(dst)).unwrap_or(dst)
    }

    /// Returns the ports from a node to its neighbour `to`.
    pub(super) fn straight(&self, from: u32, to: u32) -> &[(u32, u32)] {
        let out = &self.out[from as usize];
        let first = out.partition_point(|&(far, _)| far < to);
        let several = out[first..].partition_point(|&(far, _)| far == to);
        &out[first..first + several]
    }

    pub(super) fn distances(&self, to: u32) -> Distances {
        if self.costs.is_empty() { self.hops(to) } else { self.sums(to) }
    }

    /// Returns the least sums of costs (Dijkstra 1959).
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

    /// Returns the least numbers of links (breadth-first search).
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
