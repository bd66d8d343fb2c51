//! Every topology of the registry, with its defaults and with random parameters: the network is connected, and data crosses it. A new line
//! of the list is tested automatically.

use fairlane_engine::{QuadHeap, Stream};
use fairlane_scenario::{Builder, Format, Graph, Resolved, TopologySpec, registry_listing, resolve, world};
use fairlane_testkit::draw;
use fairlane_units::Name;
use fairlane_units::{Dur, Time};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// Most links of a network that a test has time to send data through.
const LARGE: usize = 400;

/// Ends of each link.
fn ends(graph: &Graph) -> impl Iterator<Item = (&str, &str)> {
    graph.links.values().map(|l| (&*l.from, &*l.to))
}

/// Nodes with one link, in the order of the builder; all nodes if there are fewer than two.
fn hosts(graph: &Graph) -> Vec<&str> {
    let mut links: HashMap<&str, u32> = HashMap::new();
    for (a, b) in ends(graph) {
        *links.entry(a).or_default() += 1;
        *links.entry(b).or_default() += 1;
    }
    let all = || graph.nodes.iter().map(Name::as_str);
    let lone: Vec<&str> = all().filter(|n| links.get(n) == Some(&1)).collect();
    if lone.len() > 1 { lone } else { all().collect() }
}

/// Names are unique, links join existing nodes, every node is reachable from the first, and has its own position.
fn hangs_together(graph: &Graph, what: &str) {
    let names: HashSet<&str> = graph.nodes.iter().map(Name::as_str).collect();
    assert_eq!(names.len(), graph.nodes.len(), "{what}: nodes share a name");
    let places: HashSet<_> = graph.places.iter().map(|p| (p.x.to_bits(), p.y.to_bits())).collect();
    assert!(places.len() == names.len() && graph.places.iter().all(|p| p.x.is_finite() && p.y.is_finite()), "{what}: places");
    let mut next: HashMap<&str, Vec<&str>> = HashMap::new();
    for (a, b) in ends(graph) {
        assert!(a != b && names.contains(a) && names.contains(b), "{what}: a link from {a} to {b}");
        next.entry(a).or_default().push(b);
        next.entry(b).or_default().push(a);
    }
    let (mut seen, mut open) = (HashSet::from([graph.nodes[0].as_str()]), vec![graph.nodes[0].as_str()]);
    while let Some(node) = open.pop() {
        open.extend(next.get(node).into_iter().flatten().filter(|&&n| seen.insert(n)));
    }
    assert_eq!(seen.len(), names.len(), "{what}: some nodes are out of reach");
}

/// The topology with these parameters and a flow between two nodes.
fn scenario(name: &str, sets: &[(String, String)], from: &str, to: &str) -> Result<Resolved, String> {
    let text = format!("duration = \"1s\"\n[topology.{name}]\n[flows.f]\nfrom = \"{from}\"\nto = \"{to}\"\ntcp = {{}}\n");
    resolve(&text, "x.toml", Format::Toml, sets).map_err(|e| e.to_string())
}

/// Bytes delivered, after a check that another run is equal.
fn delivered(r: &Resolved) -> u64 {
    let run = || {
        let mut w = world::<QuadHeap<u64>>(r, 1).unwrap();
        w.advance(Time::ZERO + Dur::from_secs(1), 40_000, &mut ());
        (w.fingerprint(), w.flows()[0].delivered)
    };
    let (one, again) = (run(), run());
    assert_eq!(one, again, "a run does not repeat itself");
    one.1
}

#[test]
fn every_topology_builds() {
    for t in TopologySpec::all() {
        let (name, graph) = (t.name(), t.filled().graph());
        hangs_together(&graph, name);
        let hosts = hosts(&graph);
        let r = scenario(name, &[], hosts[0], hosts[hosts.len() - 1]).unwrap_or_else(|e| panic!("{e}"));
        assert!(delivered(&r) > 100_000, "{name}");
        assert_eq!(Resolved::from_json(&r.to_json().to_string()).unwrap(), r, "{name}");
    }
}

#[test]
fn every_topology_with_any_parameters() {
    for (number, l) in (0..).zip(registry_listing().into_iter().filter(|l| l.kind == "topology")) {
        let mut rng = Stream::new(number, "test", l.name, "parameters");
        let (mut accepted, mut carried) = (0, 0);
        for _ in 0..40 {
            let drawn = draw::table(&l.schema, 0.6, &mut rng);
            let what = format!("{} with {}", l.name, Value::Object(drawn.clone()));
            let spec: TopologySpec = serde_json::from_value(serde_json::json!({ l.name: drawn })).unwrap_or_else(|e| panic!("{what}: {e}"));
            if !spec.check().is_empty() {
                continue;
            }
            let graph = spec.filled().graph();
            hangs_together(&graph, &what);
            accepted += 1;
            let hosts = hosts(&graph);
            if graph.links.len() > LARGE || hosts.len() < 2 {
                continue;
            }
            let written = |v: &Value| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
            let sets: Vec<_> =
                drawn.iter().filter(|(_, v)| !v.is_null()).map(|(key, v)| (format!("topology.{}.{key}", l.name), written(v))).collect();
            let r = scenario(l.name, &sets, hosts[0], hosts[hosts.len() - 1]).unwrap_or_else(|e| panic!("{what}: {e}"));
            carried += u32::from(delivered(&r) > 0);
        }
        assert!(accepted >= 8 && carried > 0, "{}: {accepted} accepted, {carried} carry data", l.name);
    }
}
