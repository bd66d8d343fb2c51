//! Shortest paths, by number of hops or by the costs of links.

use crate::lists::Lists;
use fairlane_engine::hash_parts;
use fairlane_units::Name;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// How a flow picks among equally short paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Routing {
    /// At each node by a hash of the flow's name (RFC 2992): flows spread, packets of a flow stay together.
    #[default]
    Ecmp,
    /// At each node each packet of a flow the next way in turn, beginning with the one that the hash would choose.
    EcmpPackets,
    /// Always the link that was declared first.
    Single,
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
pub(crate) struct Router<'a> {
    graph: &'a Graph,
    names: &'a [Name],
    routing: Routing,
    known: BTreeMap<u32, Distances>,
    /// The ways on from a node, as (far node, port).
    ways: Vec<(u32, u32)>,
}

impl<'a> Router<'a> {
    pub(crate) fn new(graph: &'a Graph, names: &'a [Name], routing: Routing) -> Self {
        Self { graph, names, routing, known: BTreeMap::new(), ways: Vec::new() }
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
            let (routing, names) = (self.routing, self.names);
            let ways = self.onward(at, gate);
            let pick = match (ways.len(), routing) {
                (0, _) => return None,
                (1, _) | (_, Routing::Single) => 0,
                (n, Routing::Ecmp | Routing::EcmpPackets) => (hash_parts(&[flow, &names[at as usize]]) % n as u64) as usize,
            };
            let (far, port) = ways[pick];
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
mod tests {
    use super::*;

    fn names(n: usize) -> Vec<Name> {
        (0..n).map(|i| format!("n{i}").into()).collect()
    }

    fn graph(nodes: usize, links: &[(u32, u32)]) -> Graph {
        Graph::new(nodes, (0..).zip(links).map(|(port, &(a, b))| (port, a, b)))
    }

    #[test]
    fn ring_takes_the_short_side() {
        // 0-1-2-3-4-0, both directions.
        let links: Vec<(u32, u32)> = (0..5).flat_map(|i| [(i, (i + 1) % 5), ((i + 1) % 5, i)]).collect();
        let (g, names) = (graph(5, &links), names(5));
        let mut r = Router::new(&g, &names, Routing::Ecmp);
        assert_eq!(r.path("f", 0, 2), Some(vec![0, 2]));
        assert_eq!(r.path("f", 0, 3), Some(vec![9, 7]));
        assert_eq!(r.path("f", 0, 4), Some(vec![9]));
    }

    #[test]
    fn one_way_graph_may_have_no_route() {
        let (g, names) = (graph(4, &[(0, 1), (1, 2), (3, 2)]), names(4));
        let mut r = Router::new(&g, &names, Routing::Single);
        assert_eq!(r.path("f", 0, 2), Some(vec![0, 1]));
        assert_eq!(r.path("f", 2, 0), None);
        assert_eq!(r.path("f", 0, 3), None);
    }

    #[test]
    fn ecmp_spreads_flows_and_single_does_not() {
        // 0 -> {1..4} -> 5 -> 6, and a leaf 7 before 0.
        let mut links: Vec<(u32, u32)> = (1..5).flat_map(|i| [(0, i), (i, 5)]).collect();
        links.extend([(5, 6), (7, 0)]);
        let (g, names) = (graph(8, &links), names(8));
        let middle = |routing| {
            let mut r = Router::new(&g, &names, routing);
            let mut seen: Vec<u32> = (0..64).map(|f| r.path(&format!("f{f}"), 7, 6).unwrap()[1]).collect();
            seen.sort_unstable();
            seen.dedup();
            seen
        };
        assert_eq!(middle(Routing::Ecmp), [0, 2, 4, 6]);
        assert_eq!(middle(Routing::Single), [0]);
    }

    /// The same rule by looking at all ports of all nodes, and all links as often as there are nodes (Bellman and Ford).
    fn plainly(routing: Routing, names: &[Name], links: &[(u32, u32)], costs: &[u64], flow: &str, src: u32, dst: u32) -> Option<Vec<u32>> {
        let cost = |port: u32| costs.get(port as usize).copied().unwrap_or(1);
        let from = |n: u32| (0_u32..).zip(links).filter(move |(_, l)| l.0 == n).map(|(port, l)| (port, l.1));
        let into = |n: u32| links.iter().filter(move |l| l.1 == n).map(|l| l.0);
        let leaf = |n: u32| match from(n).collect::<Vec<_>>()[..] {
            [] => true,
            [(_, far)] => into(n).all(|m| m == far),
            _ => false,
        };
        let (mut at, mut path) = (src, Vec::new());
        if leaf(src) {
            let (port, far) = from(src).next()?;
            path.push(port);
            at = far;
        }
        if at == dst {
            return Some(path);
        }
        let gate = if leaf(dst) && into(dst).count() == 1 { into(dst).next()? } else { dst };
        let mut dist = vec![FAR; names.len()];
        dist[gate as usize] = 0;
        for _ in names {
            for (port, &(m, n)) in (0..).zip(links).filter(|(_, l)| !leaf(l.0)) {
                dist[m as usize] = dist[m as usize].min(dist[n as usize].saturating_add(cost(port)));
            }
        }
        while at != gate {
            let d = dist[at as usize];
            let ways: Vec<_> = from(at).filter(|&(p, m)| d != FAR && dist[m as usize] != FAR && dist[m as usize] + cost(p) == d).collect();
            let hash = hash_parts(&[flow, &names[at as usize]]) as usize;
            let &(port, far) = ways.get(if routing == Routing::Single { 0 } else { hash.checked_rem(ways.len())? })?;
            path.push(port);
            at = far;
        }
        if gate != dst {
            path.push(from(gate).find(|&(_, m)| m == dst)?.0);
        }
        Some(path)
    }

    fn agree(links: &[(u32, u32)], nodes: usize, costs: &[u64]) {
        let (g, names) = (graph(nodes, links).with_costs(costs.to_vec()), names(nodes));
        for routing in [Routing::Ecmp, Routing::Single] {
            let mut r = Router::new(&g, &names, routing);
            for (a, b) in (0..nodes as u32).flat_map(|a| (0..nodes as u32).map(move |b| (a, b))).filter(|(a, b)| a != b) {
                for flow in ["f", "tcp.1", "other"] {
                    let wanted = plainly(routing, &names, links, costs, flow, a, b);
                    assert_eq!(r.path(flow, a, b), wanted, "{routing:?} {flow} from {a} to {b} over {links:?} at {costs:?}");
                }
            }
        }
    }

    /// Parallel links, one-way links, two nodes, a leaf with several links in.
    #[test]
    fn the_ports_are_those_of_the_plain_rule() {
        agree(&[(0, 1), (1, 0)], 2, &[]);
        agree(&[(0, 1), (0, 1), (1, 0), (1, 0)], 2, &[]);
        agree(&[(0, 2), (1, 2), (0, 1), (1, 0)], 3, &[]);
        agree(&[(0, 1), (1, 0), (1, 2), (1, 2), (2, 1), (0, 2)], 3, &[]);
        let mut rng = fairlane_engine::Stream::new(1, "test", "route", "graphs");
        for _ in 0..120 {
            let nodes = 2 + rng.below(7);
            let mut links = Vec::new();
            for _ in 0..1 + rng.below(3 * nodes) {
                let (a, b) = (rng.below(nodes) as u32, rng.below(nodes) as u32);
                if a != b {
                    let both = rng.uniform() < 0.8;
                    for _ in 0..1 + rng.below(5) / 4 {
                        links.push((a, b));
                        links.extend(both.then_some((b, a)));
                    }
                }
            }
            agree(&links, nodes as usize, &[]);
            let costs: Vec<u64> = links.iter().map(|_| 1 + rng.below(4)).collect();
            agree(&links, nodes as usize, &costs);
        }
    }
}
