//! Static shortest paths, by number of hops.

use fairlane_engine::hash_parts;
use std::collections::BTreeMap;

/// How a flow picks among equally short paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Routing {
    /// At each node by a hash of the flow's name (RFC 2992): flows spread, packets of a flow stay together.
    #[default]
    Ecmp,
    /// Always the link that was declared first.
    Single,
}

/// The graph of nodes and ports.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    /// For each node its ports as (port, far node), in order of declaration.
    out: Vec<Vec<(u32, u32)>>,
    /// For each node the near nodes of links into it.
    into: Vec<Vec<u32>>,
}

/// Distances to one node, kept for the nodes that forward.
type Distances = Vec<u32>;
const FAR: u32 = u32::MAX;

impl Graph {
    pub(crate) fn new(nodes: usize, links: impl Iterator<Item = (u32, u32)>) -> Self {
        let mut g = Self { out: vec![Vec::new(); nodes], into: vec![Vec::new(); nodes] };
        for (port, (a, b)) in links.enumerate() {
            g.out[a as usize].push((port as u32, b));
            g.into[b as usize].push(a);
        }
        g
    }

    /// A node with a single neighbour forwards nothing, so searches need not enter it.
    fn leaf(&self, n: u32) -> bool {
        match self.out[n as usize][..] {
            [] => true,
            [(_, far)] => self.into[n as usize].iter().all(|&m| m == far),
            _ => false,
        }
    }

    fn distances(&self, to: u32) -> Distances {
        let mut dist = vec![FAR; self.out.len()];
        dist[to as usize] = 0;
        let mut front = vec![to];
        while !front.is_empty() {
            let mut next = Vec::new();
            for &n in &front {
                for &m in &self.into[n as usize] {
                    if dist[m as usize] == FAR && !self.leaf(m) {
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
    names: &'a [String],
    routing: Routing,
    known: BTreeMap<u32, Distances>,
}

impl<'a> Router<'a> {
    pub(crate) fn new(graph: &'a Graph, names: &'a [String], routing: Routing) -> Self {
        Self { graph, names, routing, known: BTreeMap::new() }
    }

    /// The ports from `src` to `dst` for the flow called `flow`; `None` if there is no way.
    pub(crate) fn path(&mut self, flow: &str, src: u32, dst: u32) -> Option<Vec<u32>> {
        let g = self.graph;
        let mut path = Vec::with_capacity(8);
        let mut at = src;
        // The only link out of a leaf is the way, wherever it goes.
        if g.leaf(src) {
            let &(port, far) = g.out[src as usize].first()?;
            path.push(port);
            at = far;
        }
        if at == dst {
            return Some(path);
        }
        // A leaf is reached through its neighbour, whose distances all its leaves share.
        let gate = if g.leaf(dst) && g.into[dst as usize].len() == 1 { g.into[dst as usize][0] } else { dst };
        if self.known.len() > 64 && !self.known.contains_key(&gate) && g.out.len() > 10_000 {
            self.known.clear();
        }
        let dist = self.known.entry(gate).or_insert_with(|| g.distances(gate));
        while at != gate {
            let d = dist[at as usize];
            if d == FAR {
                return None;
            }
            let ways: Vec<(u32, u32)> = g.out[at as usize].iter().copied().filter(|&(_, m)| dist[m as usize] == d - 1).collect();
            let pick = match self.routing {
                Routing::Single => 0,
                Routing::Ecmp if ways.len() == 1 => 0,
                Routing::Ecmp => (hash_parts(&[flow, &self.names[at as usize]]) % ways.len() as u64) as usize,
            };
            path.push(ways[pick].0);
            at = ways[pick].1;
        }
        if gate != dst {
            path.push(g.out[gate as usize].iter().find(|&&(_, m)| m == dst)?.0);
        }
        Some(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(n: usize) -> Vec<String> {
        (0..n).map(|i| format!("n{i}")).collect()
    }

    #[test]
    fn ring_takes_the_short_side() {
        // 0-1-2-3-4-0, both directions.
        let links: Vec<(u32, u32)> = (0..5).flat_map(|i| [(i, (i + 1) % 5), ((i + 1) % 5, i)]).collect();
        let (g, names) = (Graph::new(5, links.iter().copied()), names(5));
        let mut r = Router::new(&g, &names, Routing::Ecmp);
        assert_eq!(r.path("f", 0, 2), Some(vec![0, 2]));
        assert_eq!(r.path("f", 0, 3), Some(vec![9, 7]));
        assert_eq!(r.path("f", 0, 4), Some(vec![9]));
    }

    #[test]
    fn one_way_graph_may_have_no_route() {
        let (g, names) = (Graph::new(4, [(0, 1), (1, 2), (3, 2)].into_iter()), names(4));
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
        let (g, names) = (Graph::new(8, links.iter().copied()), names(8));
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
}
