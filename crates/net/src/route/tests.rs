use super::*;
use fairlane_engine::Stream;

/// A network with names of nodes and links.
struct Net {
    nodes: Vec<Name>,
    links: Vec<(u32, u32)>,
    labels: Vec<String>,
    costs: Vec<u64>,
}

impl Net {
    /// Nodes `n0`, `n1`...; a link is named for its ends, and the second of two with the same ends for that, too.
    fn new(nodes: usize, links: &[(u32, u32)]) -> Self {
        let nodes: Vec<Name> = (0..nodes).map(|i| format!("n{i}").into()).collect();
        let label = |(i, &(a, b)): (usize, &(u32, u32))| {
            let nth = links[..i].iter().filter(|&&l| l == (a, b)).count();
            format!("{}-{}.{nth}", nodes[a as usize], nodes[b as usize])
        };
        let labels = links.iter().enumerate().map(label).collect();
        Self { links: links.to_vec(), labels, costs: Vec::new(), nodes }
    }

    /// Declares the network with its nodes and links in another order. Returns it with the new numbers of the nodes.
    fn shuffled(&self, draw: &mut Stream) -> (Self, Vec<u32>) {
        let nodes = draw.permutation(self.nodes.len());
        let links = draw.permutation(self.links.len());
        let mut names = self.nodes.clone();
        (0..).zip(&nodes).for_each(|(old, &new): (usize, _)| names[new as usize] = self.nodes[old].clone());
        let moved = |&i: &u32| self.links[i as usize];
        let net = Self {
            nodes: names,
            links: links.iter().map(moved).map(|(a, b)| (nodes[a as usize], nodes[b as usize])).collect(),
            labels: links.iter().map(|&i| self.labels[i as usize].clone()).collect(),
            costs: if self.costs.is_empty() { Vec::new() } else { links.iter().map(|&i| self.costs[i as usize]).collect() },
        };
        (net, nodes)
    }

    fn graph(&self) -> Graph {
        Graph::new(self.nodes.len(), (0..).zip(&self.links).map(|(port, &(a, b))| (port, a, b))).with_costs(self.costs.clone())
    }

    /// The ports of a path in the run with this seed.
    fn path(&self, routing: Routing, seed: u64, flow: &str, src: u32, dst: u32) -> Option<Vec<u32>> {
        let link = |port: u32| self.labels[port as usize].as_str();
        let graph = self.graph();
        Router::new(&graph, Ties { routing, seed, nodes: &self.nodes, link: &link }).path(flow, src, dst)
    }

    /// The links of that path.
    fn names(&self, path: Option<Vec<u32>>) -> Option<Vec<&str>> {
        Some(path?.into_iter().map(|port| self.labels[port as usize].as_str()).collect())
    }
}

#[test]
fn ring_takes_the_short_side() {
    // 0-1-2-3-4-0, both directions.
    let links: Vec<(u32, u32)> = (0..5).flat_map(|i| [(i, (i + 1) % 5), ((i + 1) % 5, i)]).collect();
    let net = Net::new(5, &links);
    for seed in 1..20 {
        let path = |to| net.path(Routing::Ecmp, seed, "f", 0, to);
        assert_eq!([path(2), path(3), path(4)], [Some(vec![0, 2]), Some(vec![9, 7]), Some(vec![9])], "whatever the seed");
    }
}

#[test]
fn one_way_graph_may_have_no_route() {
    let net = Net::new(4, &[(0, 1), (1, 2), (3, 2)]);
    let path = |from, to| net.path(Routing::Single, 1, "f", from, to);
    assert_eq!([path(0, 2), path(2, 0), path(0, 3)], [Some(vec![0, 1]), None, None]);
}

/// 0 -> {1..4} -> 5 -> 6, and a leaf 7 before 0: which of the four each of 64 flows takes, from the leaf to `to`.
fn middles(routing: Routing, seed: u64, to: u32) -> Vec<u32> {
    let mut links: Vec<(u32, u32)> = (1..5).flat_map(|i| [(0, i), (i, 5)]).collect();
    links.extend([(5, 6), (7, 0)]);
    let net = Net::new(8, &links);
    (0..64).map(|f| net.path(routing, seed, &format!("f{f}"), 7, to).unwrap()[1]).collect()
}

#[test]
fn ecmp_spreads_flows_and_single_does_not() {
    let differing = |mut seen: Vec<u32>| {
        seen.sort_unstable();
        seen.dedup();
        seen
    };
    assert_eq!(differing(middles(Routing::Ecmp, 1, 6)), [0, 2, 4, 6]);
    let one: Vec<u32> = (0..40).flat_map(|seed| differing(middles(Routing::Single, seed, 6))).collect();
    assert_eq!((one.len(), differing(one)), (40, vec![0, 2, 4, 6]), "one way for all flows, another one in another run");
}

/// Over flows and seeds each of four ways has a quarter, within four standard deviations.
#[test]
fn no_way_is_favoured() {
    let mut counts = [0_u32; 4];
    for seed in 0..50 {
        middles(Routing::Ecmp, seed, 6).into_iter().for_each(|port| counts[port as usize / 2] += 1);
    }
    for count in counts {
        let share = f64::from(count) / 3200.0;
        assert!((share - 0.25).abs() < 4.0 * (0.25_f64 * 0.75 / 3200.0).sqrt(), "{counts:?}");
    }
}

/// Applies the rule by brute force: all ports of all nodes, and all links as often as there are nodes (Bellman and Ford).
fn plainly(net: &Net, routing: Routing, flow: &str, src: u32, dst: u32) -> Option<Vec<u32>> {
    let links = &net.links;
    let cost = |port: u32| net.costs.get(port as usize).copied().unwrap_or(1);
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
    let mut dist = vec![FAR; net.nodes.len()];
    dist[gate as usize] = 0;
    for _ in &net.nodes {
        for (port, &(m, n)) in (0..).zip(links).filter(|(_, l)| !leaf(l.0)) {
            dist[m as usize] = dist[m as usize].min(dist[n as usize].saturating_add(cost(port)));
        }
    }
    let who = if routing == Routing::Single { &net.nodes[gate as usize] } else { flow };
    while at != gate {
        let d = dist[at as usize];
        let ways = from(at).filter(|&(p, m)| d != FAR && dist[m as usize] != FAR && dist[m as usize] + cost(p) == d);
        let (port, far) = ways.max_by_key(|&(p, m)| hash_seeded(1, &[who, &net.labels[p as usize], &net.nodes[m as usize]]))?;
        path.push(port);
        at = far;
    }
    if gate != dst {
        path.push(from(gate).find(|&(_, m)| m == dst)?.0);
    }
    Some(path)
}

/// Paths are those of the plain rule, and lead over the links of the same names in whatever order these are declared.
fn agree(net: &Net, draw: &mut Stream) {
    let nodes = net.nodes.len() as u32;
    let (other, number) = net.shuffled(draw);
    for routing in [Routing::Ecmp, Routing::Single] {
        for (a, b) in (0..nodes).flat_map(|a| (0..nodes).map(move |b| (a, b))).filter(|(a, b)| a != b) {
            for flow in ["f", "tcp.1", "other"] {
                let path = net.path(routing, 1, flow, a, b);
                let what = format!("{routing:?} {flow} from {a} to {b} over {:?} at {:?}", net.links, net.costs);
                assert_eq!(path, plainly(net, routing, flow, a, b), "{what}");
                let same = other.path(routing, 1, flow, number[a as usize], number[b as usize]);
                assert_eq!(other.names(same), net.names(path), "{what}, declared as {:?}", other.labels);
            }
        }
    }
}

/// Parallel links, one-way links, two nodes, a leaf with several links in.
#[test]
fn the_ports_are_those_of_the_plain_rule_in_any_order_of_declaration() {
    let mut draw = Stream::new(1, "test", "route", "graphs");
    let fixed: [(usize, &[(u32, u32)]); 4] = [
        (2, &[(0, 1), (1, 0)]),
        (2, &[(0, 1), (0, 1), (1, 0), (1, 0)]),
        (3, &[(0, 2), (1, 2), (0, 1), (1, 0)]),
        (3, &[(0, 1), (1, 0), (1, 2), (1, 2), (2, 1), (0, 2)]),
    ];
    for (nodes, links) in fixed {
        agree(&Net::new(nodes, links), &mut draw);
    }
    for _ in 0..120 {
        let nodes = 2 + draw.below(7);
        let mut links = Vec::new();
        for _ in 0..1 + draw.below(3 * nodes) {
            let (a, b) = (draw.below(nodes) as u32, draw.below(nodes) as u32);
            if a != b {
                let both = draw.uniform() < 0.8;
                for _ in 0..1 + draw.below(5) / 4 {
                    links.push((a, b));
                    links.extend(both.then_some((b, a)));
                }
            }
        }
        let mut net = Net::new(nodes as usize, &links);
        agree(&net, &mut draw);
        net.costs = links.iter().map(|_| 1 + draw.below(4)).collect();
        agree(&net, &mut draw);
    }
}
