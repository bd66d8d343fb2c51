//! Builds the simulation world of a resolved scenario.

use crate::components::BuiltIn;
use crate::endpoint::AnyEndpoint;
use crate::expand::{Group, LinkDir, Member, Transport};
use crate::registry::AnyApp;
use crate::resolved::Resolved;
use crate::spec::{OutageSpec, RouteBy, RoutingSpec, Scenario};
use fairlane_engine::EventQueue;
use fairlane_net::{
    AirDef, App, BuildContext, BuildError, Class, Cookie, FastOpen as FastOpenOption, FlowDef, FlowId, FlowInfo, LinkDef, NodeId, PortId,
    Proto, Routing, Usage, World, WorldBuilder,
};
use fairlane_queue::Discipline;
use fairlane_tcp::{CcContext, CongestionControl, FastOpen, Tcp, TcpConfig};
use fairlane_traffic::Controller;
use fairlane_traffic::Source;
use fairlane_units::{Dur, Name, Time};
use indexmap::IndexMap;
use std::collections::HashMap;
use std::sync::Arc;

/// Returns the builder of a scenario's world for the run with this seed.
///
/// Nodes, links and flows are added in the order of the expanded scenario, so their numbers are its indices.
pub(crate) fn parts(scenario: &Resolved, seed: u64) -> WorldBuilder<BuiltIn> {
    let routing = match scenario.routing {
        RoutingSpec::Ecmp => Routing::Ecmp,
        RoutingSpec::EcmpPackets => Routing::EcmpPackets,
        RoutingSpec::Single => Routing::Single,
    };
    let mut w = WorldBuilder::<BuiltIn>::new(seed, routing);
    let members = scenario.members_at(seed);
    w.reserve(scenario.expanded.nodes.len(), scenario.link_directions().len(), members.len());
    for name in &scenario.expanded.nodes {
        w.node(name.clone());
    }
    let infos = flow_infos(&members);
    let def = |l: &LinkDir, to: NodeId| {
        let link = l.wire.info();
        LinkDef {
            name: l.name.clone(),
            from: l.from(),
            to,
            rate: link.rate,
            delay: link.delay,
            qdisc: l.wire.queue.build(&BuildContext { link, flows: &infos }),
            schedule: l.wire.schedule(),
            impairments: l.wire.impairments.clone(),
            device: l.wire.device,
        }
    };
    let directions = scenario.link_directions();
    let stations = scenario.expanded.channels.iter().map(|c| c.stations.len()).sum::<usize>();
    let (wired, mut radios) = directions.split_at(directions.len() - stations);
    for l in wired {
        let port = w.link(def(l, l.far().unwrap_or(NodeId(0))));
        if !l.wire.down.is_empty() {
            w.down(port, l.wire.down.iter().map(OutageSpec::span).collect());
        }
    }
    if let Some(after) = scenario.reroute {
        w.reroute(after);
    }
    for (spec, channel) in scenario.wireless.values().zip(&scenario.expanded.channels) {
        let (own, others) = radios.split_at(channel.stations.len());
        radios = others;
        // Validation has built it successfully.
        let Some(Ok(air)) = channel.air(spec, seed) else { continue };
        // Routes decide who receives a frame; as a link, the interface leads nowhere.
        let stations = own.iter().map(|l| def(l, NodeId(u32::MAX))).collect();
        w.air(AirDef { air, stations, edges: channel.hops.clone(), meetings: channel.meetings() });
    }
    let links = scenario.link_directions().iter();
    match scenario.route_by {
        RouteBy::Hops => {}
        // To the nanosecond, so that sums over any path stay in range.
        RouteBy::Delay => w.costs(links.map(|l| (l.wire.delay.as_ps() / 1000).max(1)).collect()),
        RouteBy::Weight => w.costs(links.map(|l| u64::from(l.wire.weight.unwrap_or(1))).collect()),
    }
    let mut configs = Configs::default();
    let known = Cookies::of(&members, &scenario.expanded.groups, &infos);
    for (number, m) in (0..).zip(members.iter()) {
        let group = &scenario.expanded.groups[m.group_index];
        let app = app(group, m, FlowId(number), begin(scenario, m.start));
        let (proto, mut sender, mut receiver) = endpoints(group, m, app.usage(), seed, &mut configs);
        known.give(m.start, &infos[number as usize], app.usage(), &mut sender, &mut receiver);
        let (from, to) = (m.from, m.to);
        let flow = w.flow(FlowDef { name: m.name.clone(), from, to, proto, sender, receiver });
        if let Some(amount) = scenario.flows.get(m.group.as_str()).and_then(|f| f.amount) {
            w.amount(flow, amount.get());
        }
        w.app(app, vec![flow]);
    }
    for c in &scenario.expanded.controls {
        let own = |f: &usize| (members[*f].class, members[*f].number);
        let (priorities, numbers): (Vec<u8>, Vec<u32>) = c.flows.iter().map(own).unzip();
        w.control(scenario.control.0[c.spec].build(&priorities, &numbers), c.flows.iter().map(|&f| FlowId(f as u32)).collect());
    }
    if let Some(step) = scenario.sample.filter(|&s| s > Dur::ZERO) {
        w.sample(
            crate::series::sampling(&scenario.scenario, scenario.link_directions(), step),
            watched(scenario, &scenario.expanded.nodes, scenario.link_directions()).into_iter().map(|i| PortId(i as u32)).collect(),
        );
    }
    w
}

/// Start time of an application; a member that is not there yet starts after the end of the run.
pub(crate) fn begin(scenario: &Scenario, start: Time) -> Time {
    start.min(Time::ZERO + scenario.duration + Dur::from_ps(1))
}

/// Builds the application of a member that starts at this time.
pub(crate) fn app(group: &Group, m: &Member, flow: FlowId, start: Time) -> AnyApp {
    let own = m.rate.and_then(|rate| group.source.at(rate, group.transport.header()));
    let mut app = own.as_ref().unwrap_or(&group.source).build(flow, start, m.stop.map(|s| Time::ZERO + s));
    if let (AnyApp::Video(video), Some(_)) = (&mut app, group.source.carried()) {
        video.unplayed();
    }
    app
}

/// Returns the application and both endpoints of a flow that restarts now. A client and a server that use Fast Open already share a cookie.
pub(crate) fn again(scenario: &Resolved, members: &[Member], flow: FlowId, seed: u64, now: Time) -> (AnyApp, [AnyEndpoint; 2]) {
    let m = &members[flow.0 as usize];
    let group = &scenario.expanded.groups[m.group_index];
    let app = app(group, m, flow, now);
    let usage = app.usage();
    let (_, mut sender, mut receiver) = endpoints(group, m, usage, seed, &mut Configs::default());
    if matches!(&group.transport, Transport::Tcp(p, _) if p.fast_open == FastOpen::Cookie) {
        let info = &flow_infos(std::slice::from_ref(m))[0];
        Cookies(HashMap::from([(client_and_server(info, usage), Time::ZERO)])).give(now, info, usage, &mut sender, &mut receiver);
    }
    (app, [sender, receiver])
}

/// Builds the world of a scenario for the run with this seed.
pub fn world<H: EventQueue>(scenario: &Resolved, seed: u64) -> Result<World<BuiltIn, H>, BuildError> {
    parts(scenario, seed).build()
}

/// Flows as classifiers see them. A node's address is its index among all nodes.
pub(crate) fn flow_infos(members: &[Member]) -> Vec<FlowInfo<'_>> {
    let proto = |m: &Member| if m.transport() == "udp" { Proto::Udp } else { Proto::Tcp };
    members.iter().map(|m| FlowInfo { name: &m.name, from: m.from.0, to: m.to.0, proto: proto(m) }).collect()
}

/// Sender and receiver of a flow.
fn endpoints(group: &Group, m: &Member, usage: Usage, seed: u64, configs: &mut Configs) -> (Proto, AnyEndpoint, AnyEndpoint) {
    match &group.transport {
        Transport::Tcp(params, config) => {
            let config = configs.of(m, config);
            let context = CcContext { flow: &m.name, seed, config: config.congestion() };
            let mut stream = context.stream();
            let mut cc = params.cc.build_at(&context);
            cc.seed(stream.next_u64());
            if usage.dialogue {
                let mut own = params.cc.build_at(&context);
                own.seed(stream.next_u64());
                let (mut server, mut client) = (Tcp::passive(config.clone(), cc), Tcp::active(config.clone(), own));
                server.keep_open();
                client.keep_open();
                return (Proto::Tcp, AnyEndpoint::Tcp(server), AnyEndpoint::Tcp(client));
            }
            let passive = Tcp::passive(config.clone(), params.cc.build_passive(config.congestion(), &cc));
            (Proto::Tcp, AnyEndpoint::Tcp(Tcp::active(config.clone(), cc)), AnyEndpoint::Tcp(passive))
        }
        Transport::Udp(params) => {
            let (sender, receiver) = group.source.endpoints(params, Class(m.class)).unwrap_or_else(|| {
                let (sender, receiver) = params.build(Class(m.class), usage);
                (AnyEndpoint::Udp(sender), AnyEndpoint::Udp(receiver))
            });
            (Proto::Udp, sender, receiver)
        }
    }
}

/// TCP configurations by group and class; members of one class share one.
#[derive(Default)]
struct Configs(HashMap<(usize, u8), Arc<TcpConfig>>);

impl Configs {
    /// Returns the configuration of a member; `first` is that of the group's first member.
    fn of(&mut self, m: &Member, first: &Arc<TcpConfig>) -> &Arc<TcpConfig> {
        self.0.entry((m.group_index, m.class)).or_insert_with(|| first.with_class(Class(m.class)))
    }
}

/// Fast Open cookies, computed in advance: the start time of the first connection from a client to a server, which requests
/// the cookie. Later connections have it, even if its answer is still in flight.
#[derive(Default)]
struct Cookies(HashMap<(u32, u32), Time>);

impl Cookies {
    /// Collects the flows that use cookies; returns at once if none does.
    fn of(members: &[Member], groups: &[Group], infos: &[FlowInfo<'_>]) -> Self {
        let mut first = HashMap::new();
        for (m, info) in members.iter().zip(infos) {
            let group = &groups[m.group_index];
            if matches!(&group.transport, Transport::Tcp(p, _) if p.fast_open == FastOpen::Cookie) {
                let usage = group.source.build(FlowId(0), Time::ZERO, None).usage();
                let at = first.entry(client_and_server(info, usage)).or_insert(m.start);
                *at = m.start.min(*at);
            }
        }
        Self(first)
    }

    /// Sets the cookies of both endpoints of a flow.
    fn give(&self, start: Time, info: &FlowInfo<'_>, usage: Usage, sender: &mut AnyEndpoint, receiver: &mut AnyEndpoint) {
        let (client, server) = client_and_server(info, usage);
        let Some(first) = self.0.get(&(client, server)) else { return };
        let (AnyEndpoint::Tcp(a), AnyEndpoint::Tcp(b)) = (sender, receiver) else { return };
        let (asks, grants) = if usage.dialogue { (b, a) } else { (a, b) };
        let option = FastOpenOption { cookie: Cookie::between(client, server), experimental: false };
        grants.set_cookie(option);
        if start > *first {
            asks.set_cookie(option);
        }
    }
}

/// Node numbers of the end that opens the connection and of the other end.
fn client_and_server(info: &FlowInfo<'_>, usage: Usage) -> (u32, u32) {
    if usage.dialogue { (info.to, info.from) } else { (info.from, info.to) }
}

/// Most link directions of a network that records time series of all.
const FEW: usize = 256;

/// Numbers of the link directions whose time series are recorded. A small network records all; a larger one those between
/// routers and those named under `links`. Without links between routers it adds those of the node that most flows share (a star's server).
pub fn watched(scenario: &Scenario, nodes: &[Name], links: &[LinkDir]) -> Vec<usize> {
    if links.len() <= FEW {
        return (0..links.len()).collect();
    }
    let mut degree = vec![0_u32; nodes.len()];
    for l in links {
        if let Some(d) = degree.get_mut(l.from().0 as usize) {
            *d += 1;
        }
    }
    let inner = |node: NodeId| degree.get(node.0 as usize).is_some_and(|&d| d > 1);
    let named = |l: &LinkDir| scenario.links.contains_key(l.name.strip_suffix(".reverse").unwrap_or(&l.name));
    let joins = |l: &LinkDir| inner(l.from()) && l.far().is_some_and(inner);
    let hub = if links.iter().any(joins) { None } else { hub(scenario) };
    let hub = hub.and_then(|h| nodes.iter().position(|n| n == h)).map(|n| NodeId(n as u32));
    let at_hub = |l: &LinkDir| hub.is_some() && (hub == Some(l.from()) || hub == l.far());
    (0..links.len()).filter(|&i| joins(&links[i]) || at_hub(&links[i]) || named(&links[i])).collect()
}

/// Returns the node at which most flows start or end; the first of equals.
fn hub(scenario: &Scenario) -> Option<&str> {
    let fixed = scenario
        .flows
        .values()
        .flat_map(|f| [(&f.from, f.count), (&f.to, f.count)])
        .filter(|(node, _)| !node.contains("{i}") && !node.is_empty());
    let mut flows: IndexMap<&str, u64> = IndexMap::new();
    for (node, count) in fixed {
        *flows.entry(node).or_default() += u64::from(count);
    }
    flows.iter().rev().max_by_key(|(_, n)| **n).map(|(node, _)| *node)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, resolve};

    fn names(text: &str) -> Vec<fairlane_units::Name> {
        let r = resolve(text, "x.toml", Format::Toml, &[]).unwrap();
        watched(&r, &r.expanded.nodes, r.link_directions()).into_iter().map(|i| r.link_directions()[i].name.clone()).collect()
    }

    #[test]
    fn a_large_star_has_the_series_of_its_server() {
        let star = |n: u32| {
            format!(
                "duration = \"9s\"\n[topology.star]\nclients = {n}\n[flows.f]\nfrom = \"c{{i}}\"\nto = \"server\"\ncount = 9\ntcp = {{}}\n"
            )
        };
        assert_eq!(names(&star(20)).len(), 42);
        assert_eq!(names(&star(2000)), ["server", "server.reverse"]);
        assert_eq!(names(&(star(2000) + "[links.c7]\nloss = 0.1\n")), ["server", "server.reverse", "c7", "c7.reverse"]);
    }

    #[test]
    fn a_large_dumbbell_has_the_series_of_its_bottleneck() {
        let text = "duration = \"9s\"\n[topology.dumbbell]\npairs = 500\n[flows.f]\nfrom = \"s{i}\"\nto = \"d{i}\"\ntcp = {}\n";
        assert_eq!(names(text), ["bottleneck", "bottleneck.reverse"]);
    }
}
