//! The network: topology builder, refinements, and links of the scenario.

use super::known::Wires;
use super::network::Network;
use super::{MOST_LINKS, MOST_NODES, Semantics};
use crate::channel::ChannelAt;
use crate::code::Code;
use crate::diag::suggest;
use crate::expand::{Hop, LinkDir, Member, Positions};
use crate::source::{Node, Value};
use crate::spec::{LinkSpec, Pipe, Scenario, Wire};
use crate::topology::{Builder, Edge, Graph};
use fairlane_net::{BuildContext, NodeId};
use fairlane_queue::{Discipline, Problem};
use fairlane_units::{Name, name};
use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;
use std::collections::HashMap;
use std::sync::Arc;

/// Names appear on terminals and in paths.
const NO_CONTROL: &str = "a name must not contain control characters";
const PLAIN: &str = "write it with letters, digits, - and _";

impl Semantics<'_> {
    /// Creates nodes and link directions, and completes `scenario`.
    pub(super) fn links(&mut self, scenario: &mut Scenario) -> (Vec<Name>, Positions, Vec<LinkDir>) {
        self.interfaces(scenario);
        let mut graph = self.builder(scenario);
        if graph.links.is_empty() && scenario.links.is_empty() && scenario.wireless.is_empty() && self.found.is_empty() {
            self.fail(
                Code::NoNetwork,
                &[],
                "there is no network",
                "write a builder such as [topology.dumbbell], links under [links.NAME], or stations under [wireless.NAME]",
            );
        }
        let whole: Vec<String> =
            scenario.links.iter().filter(|(_, spec)| spec.from.is_some() && spec.to.is_some()).map(|(name, _)| name.clone()).collect();
        let mut known = HashMap::new();
        for (name, spec) in &mut scenario.links {
            let path = ["links", name.as_str()];
            let made = graph.links.get(name.as_str());
            if let Some((done, pipe, wires)) = self.known.and_then(|k| k.link(name, spec)) {
                *spec = done;
                let (from, to) = (spec.from.as_deref().unwrap_or_default().into(), spec.to.as_deref().unwrap_or_default().into());
                let edge = Edge { from, to, duplex: spec.duplex.unwrap_or(true), pipe: Arc::new(pipe) };
                known.insert(Arc::as_ptr(&edge.pipe), Some(wires));
                graph.links.insert(name.clone().into(), edge);
                continue;
            }
            if made.is_none() && spec.from.is_none() && spec.to.is_none() && self.found.has_room() {
                // A misspelt name: one error, instead of one per missing key.
                let known: Vec<&str> = graph
                    .links
                    .keys()
                    .map(Name::as_str)
                    .chain(whole.iter().map(String::as_str).filter(|n| !graph.links.contains_key(*n)))
                    .collect();
                let help = match crate::diag::nearest(name, known.iter().copied()) {
                    Some(near) => Some(format!("did you mean `{near}`? A new link has from, to, rate and delay")),
                    None => self.is_option(&path).then(|| suggest(name, &known, "links")),
                };
                if let Some(help) = help {
                    self.fail_key(Code::UnknownLink, &path, format!("unknown link `{name}`"), help);
                    continue;
                }
            }
            for (end, own, theirs) in [("from", &spec.from, made.map(|m| &m.from)), ("to", &spec.to, made.map(|m| &m.to))] {
                match (own, theirs) {
                    (Some(own), Some(theirs)) if own != theirs => {
                        let message = format!("the builder's link `{name}` has {end} = \"{theirs}\", not \"{own}\"");
                        self.fail(Code::EndsDiffer, &["links", name, end], message, "leave it out, or give a new link another name");
                    }
                    (None, None) => {
                        let help = format!("write {end} = \"NODE\"");
                        self.fail_key(Code::LinkIncomplete, &path, format!("link `{name}` has no `{end}`"), help);
                    }
                    _ => {}
                }
            }
            let base = made.map_or_else(Arc::default, |m| m.pipe.clone());
            let pipe = spec.pipe().over(&base);
            if pipe.reverse.as_ref().is_some_and(|r| r.impairments.nat.is_some()) {
                let message = format!("the NAT of link `{name}` is that of both directions");
                self.fail(Code::WireUnfit, &["links", name, "reverse", "nat"], message, "write `nat` at the link, and which end is inside");
            }
            let back = pipe.reverse.as_ref().and_then(|r| r.queue.as_ref());
            for (queue, at) in [(pipe.forward.queue.as_ref(), "queue"), (back, "reverse")] {
                if queue.is_some_and(|q| !q.reads()) {
                    let message = format!("the queue of link `{name}` has no such list");
                    self.fail(Code::NoSuchList, &["links", name, at], message, "write the whole list: classes = [ ... ]");
                }
            }
            let pipe = pipe.filled();
            let no_rate = pipe.forward.rate.is_none() && pipe.forward.trace.is_none() && !pipe.forward.follows_rates();
            let no_delay = pipe.forward.delay.is_none() && !pipe.forward.follows_delays();
            for (key, missing, example) in [("rate", no_rate, "10Mbit/s"), ("delay", no_delay, "5ms")] {
                if missing {
                    self.fail_key(
                        Code::LinkIncomplete,
                        &path,
                        format!("link `{name}` has no `{key}`"),
                        format!("write {key} = \"{example}\""),
                    );
                }
            }
            let from = spec.from.clone().or_else(|| Some(made?.from.to_string())).unwrap_or_default();
            let to = spec.to.clone().or_else(|| Some(made?.to.to_string())).unwrap_or_default();
            let duplex = spec.duplex.or_else(|| Some(made?.duplex)).unwrap_or(true);
            if !from.is_empty() && from == to {
                let message = format!("link `{name}` starts and ends at `{from}`");
                self.fail(Code::EndsMeet, &["links", name, "to"], message, "a link joins two nodes");
            }
            *spec = LinkSpec::new(&from, &to, duplex, pipe.clone());
            graph.links.insert(name.clone().into(), Edge { from: from.into(), to: to.into(), duplex, pipe: Arc::new(pipe) });
        }
        let nodes = self.nodes(scenario, &graph);
        let links = self.directions(graph.links, &nodes, known);
        if nodes.len() > MOST_NODES || links.len() > MOST_LINKS {
            let message = format!("the network is too large: {} nodes, {} link directions", nodes.len(), links.len());
            self.fail(Code::TooLarge, &["topology"], message, format!("limits are {MOST_NODES} and {MOST_LINKS}"));
        }
        let mut names = Vec::with_capacity(nodes.len());
        names.extend(nodes);
        let builder = scenario.topology.as_ref().filter(|_| !graph.nodes.is_empty()).cloned().map(Box::new);
        (names, Positions { builder, built: graph.nodes.len(), ..Positions::default() }, links)
    }

    /// Drawing positions: those of the scenario, else of the builder, else of the stations.
    pub(super) fn positions(&mut self, scenario: &Scenario, nodes: &[Name], channels: &[ChannelAt], positions: &mut Positions) {
        if channels.is_empty() && scenario.positions.is_empty() {
            return;
        }
        let known: IndexSet<&str> = nodes.iter().map(Name::as_str).collect();
        let built = |name: &str| known.get_index_of(name);
        for station in channels.iter().flat_map(|c| &c.stations) {
            if built(&station.node).is_none_or(|i| i >= positions.built) {
                positions.others.entry(station.node.clone().into()).or_insert(station.at.into());
            }
        }
        for (name, &place) in &scenario.positions {
            if !known.contains(name.as_str()) && self.found.has_room() {
                let all: Vec<&str> = known.iter().copied().collect();
                let help = suggest(name, &all, "known nodes");
                self.fail_key(Code::UnknownNode, &["positions", name], format!("unknown node `{name}`"), help);
            }
            positions.others.insert(name.clone().into(), place);
        }
    }

    fn builder(&mut self, scenario: &mut Scenario) -> Graph {
        let Some(topology) = &mut scenario.topology else { return Graph::default() };
        *topology = topology.filled();
        let invalid_parameters = topology.check();
        for m in &invalid_parameters {
            self.fail(Code::TopologyUnfit, &["topology", topology.name(), m.field], m.message.clone(), m.help.clone());
        }
        if !invalid_parameters.is_empty() {
            self.no_graph = true;
            return Graph::default();
        }
        self.hosts = Some(topology.hosts());
        topology.graph()
    }

    fn nodes(&mut self, scenario: &Scenario, graph: &Graph) -> IndexSet<Name, FxBuildHasher> {
        let mut nodes: IndexSet<Name, FxBuildHasher> = graph.nodes.iter().cloned().collect();
        for (i, name) in scenario.nodes.iter().flatten().enumerate() {
            let place = i.to_string();
            if name.is_empty() {
                self.fail(Code::EmptyName, &["nodes", &place], "a node's name must not be empty", "write for instance \"a\"");
            } else if name.contains(char::is_control) {
                self.fail(Code::ControlCharacter, &["nodes", &place], NO_CONTROL, PLAIN);
            } else if !nodes.insert(name.clone().into()) {
                let help = if graph.nodes.iter().any(|n| n == name) { "the topology builder makes it" } else { "name each node once" };
                self.fail(Code::NameTaken, &["nodes", &place], format!("node `{name}` appears twice"), help);
            }
        }
        for (name, spec) in &scenario.links {
            for (end, node) in [("from", &spec.from), ("to", &spec.to)] {
                let Some(node) = node.as_ref().filter(|n| !n.is_empty()) else { continue };
                if node.contains(char::is_control) {
                    self.fail(Code::ControlCharacter, &["links", name, end], NO_CONTROL, PLAIN);
                } else if scenario.nodes.is_some() && !nodes.contains(node.as_str()) {
                    let known: Vec<&str> = nodes.iter().map(Name::as_str).collect();
                    let help = suggest(node, &known, "known nodes");
                    self.fail(Code::UnknownNode, &["links", name, end], format!("unknown node `{node}` in `nodes`"), help);
                }
                nodes.insert(node.clone().into());
            }
        }
        nodes
    }

    /// Creates the directions of links; `known`: those of some kinds.
    fn directions(
        &mut self,
        links: IndexMap<Name, Edge, FxBuildHasher>,
        nodes: &IndexSet<Name, FxBuildHasher>,
        mut known: HashMap<*const Pipe, Option<Wires>>,
    ) -> Vec<LinkDir> {
        // A missing end was reported before.
        let node = |name: &Name| nodes.get_index_of(name).map_or(u32::MAX >> 1, |i| i as u32);
        let mut all = Vec::with_capacity(2 * links.len());
        for (name, Edge { from, to, duplex, pipe }) in &links {
            let (from, to) = (node(from), node(to));
            // A missing key was reported before.
            let Some([there, back]) = known.entry(Arc::as_ptr(pipe)).or_insert_with(|| wires(pipe)) else { continue };
            all.push(LinkDir::new(name.clone(), from, Hop::Node(NodeId(to)), there.clone()));
            if !duplex {
                continue;
            }
            let reverse = name!("{name}.reverse");
            if links.contains_key(&reverse) {
                self.fail_key(
                    Code::NameTaken,
                    &["links", &reverse],
                    format!("`{reverse}` is the other direction of link `{name}`"),
                    "choose another name",
                );
            }
            all.push(LinkDir::new(reverse, to, Hop::Node(NodeId(from)), back.clone()));
        }
        all
    }

    /// Checks the parameters of every queue against its link and flows.
    pub(super) fn queues(&mut self, scenario: &Scenario, network: &Network<'_>, links: &[LinkDir], flows: &[Member]) {
        let builder = scenario.topology.as_ref().map(|t| t.name());
        let infos = crate::build::Listed::new(|| flows);
        let mut before: Option<&LinkDir> = None;
        let mut sound: Option<&Arc<Wire>> = None;
        for l in links {
            if sound.is_some_and(|s| Arc::ptr_eq(s, &l.wire)) {
                before = Some(l);
                continue;
            }
            let context = BuildContext { link: l.wire.info(), flows: &infos };
            let (name, direction) = match l.name.strip_suffix(".reverse") {
                Some(name) if before.is_some_and(|b| b.name == name) => (name, "reverse"),
                _ => (l.name.as_str(), ""),
            };
            // An unspecified direction would only repeat the findings of the other one.
            let repeats = direction == "reverse" && before.is_some_and(|b| b.wire == l.wire);
            let checked = if repeats { Ok(()) } else { l.wire.queue.check(&context) };
            if !repeats && checked.is_ok() {
                sound = Some(&l.wire);
                if let Some(text) = l.wire.queue.remark(&context) {
                    self.warn(Code::ThresholdAboveLimit, format!("queue `{}` of link `{}`: {text}", l.wire.queue.name(), l.name));
                }
            }
            if let Err(problem) = checked {
                if let Hop::Channel(number) = l.to()
                    && let Some((to, channel)) = scenario.wireless.get_index(number)
                {
                    let from = network.name(l.from());
                    let own = channel.queues.contains_key(from);
                    let mut path = if own { vec!["wireless", to, "queues", from] } else { vec!["wireless", to, "queue"] };
                    path.extend(problem.field.split('.').filter(|p| !p.is_empty()));
                    let message = format!("{}: {}", l.wire.queue.name(), problem.message);
                    self.fail(Code::QueueUnfit, &path, message, "");
                    before = Some(l);
                    continue;
                }
                self.bad_queue(name, direction, &l.wire, &problem, builder);
            }
            before = Some(l);
        }
    }

    /// Reports an error in a parameter of a queue.
    fn bad_queue(&mut self, link: &str, direction: &str, wire: &Wire, problem: &Problem, builder: Option<&str>) {
        let algorithm = wire.queue.name();
        let mut path = vec!["links", link, direction, "queue"];
        path.extend(problem.field.split('.'));
        path.retain(|p| !p.is_empty());
        let own = self.root.get("links").and_then(|l| l.get(link)).is_some_and(|l| l.get("queue").is_some() || l.get("reverse").is_some());
        // The parameter of a builder's link is written in the builder's table.
        let message = format!("{algorithm}: {}", problem.message);
        match builder.and_then(|b| self.root.get("topology")?.get(b)).filter(|_| !own) {
            Some(t) => self.fail_made(Code::QueueUnfit, find_queue(t, &problem.field).unwrap_or(t.span), &path, message, ""),
            None => self.fail(Code::QueueUnfit, &path, message, ""),
        }
    }
}

/// Both directions with all parameters; one shared value if they are equal.
pub(crate) fn wires(pipe: &Pipe) -> Option<[Arc<Wire>; 2]> {
    let there = Arc::new(pipe.forward.wire().ok()?);
    let back = match &pipe.reverse {
        Some(r) => Arc::new(r.over(&pipe.forward).wire().ok()?),
        None => there.clone(),
    };
    Some([there, back])
}

/// Place in a builder's table where the parameter of a queue, or else the queue, was written. The path begins with the queue's name.
fn find_queue(node: &Node, path: &str) -> Option<crate::diag::Span> {
    let Value::Table(t) = &node.value else { return None };
    let mut keys = path.split('.');
    let here = keys.next().and_then(|algorithm| t.get("queue").and_then(|q| q.node.get(algorithm)));
    let exact = here.and_then(|q| keys.try_fold(q, Node::get)).map(|n| n.span);
    exact.or_else(|| t.values().find_map(|e| find_queue(&e.node, path))).or_else(|| here.map(|n| n.span))
}
