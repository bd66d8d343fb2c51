//! Builds the simulation world of a resolved scenario.

use crate::components::BuiltIn;
use crate::endpoint::AnyEndpoint;
use crate::expand::{Group, LinkDir, Member, Transport};
use crate::plugin::{Fault, STACK, fail};
use crate::registry::AnyApp;
use crate::resolved::Resolved;
use crate::spec::{OutageSpec, RouteBy, RoutingSpec, Scenario};
use fairlane_engine::EventQueue;
use fairlane_engine::steps::step;
use fairlane_net::{
    AirDef, App, BuildContext, BuildError, Class, Cookie, FastOpen as FastOpenOption, FlowDef, FlowEnds, FlowFactory, FlowId, FlowInfo,
    FlowList, LinkDef, NewFlow, NodeId, PortId, Proto, Routing, Usage, World, WorldBuilder,
};
use fairlane_queue::Discipline;
use fairlane_stacks::{StackEndpoint, StackFault};
use fairlane_tcp::{CcContext, CcParams, CongestionControl, FastOpen, Tcp, TcpConfig};
use fairlane_traffic::Controller;
use fairlane_traffic::Source;
use fairlane_units::{Bytes, Dur, Name, Time};
use indexmap::IndexMap;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;

/// Returns the builder of a scenario's world for the run with this seed.
///
/// `members`: its flows with this seed. Nodes, links and flows are added in the order of the expanded scenario, so their numbers are its indices.
pub(crate) fn parts(scenario: &Resolved, seed: u64, members: Arc<Vec<Member>>, build: Build) -> WorldBuilder<BuiltIn> {
    let routing = match scenario.routing {
        RoutingSpec::Ecmp => Routing::Ecmp,
        RoutingSpec::EcmpPackets => Routing::EcmpPackets,
        RoutingSpec::Single => Routing::Single,
    };
    let mut w = WorldBuilder::<BuiltIn>::new(seed, routing);
    let later = build == Build::WhenTheyBegin && LaterFlows::fit(scenario);
    w.reserve(scenario.expanded.nodes.len(), scenario.link_directions().len(), if later { 0 } else { members.len() });
    for name in &scenario.expanded.nodes {
        w.node(name.clone());
    }
    let infos = Listed::new(|| &members[..]);
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
    let flows = LaterFlows::new(scenario, members.clone(), seed);
    if later {
        w.flows_from(Arc::new(flows));
    } else {
        for (id, m) in (0..).map(FlowId).zip(members.iter()) {
            let NewFlow { app, sender, receiver, amount } = flows.build(id);
            let (name, FlowEnds { from, to, proto }) = (m.name.clone(), flows.ends(id));
            w.flow(FlowDef { name, from, to, proto, sender, receiver });
            if amount > 0 {
                w.amount(id, amount);
            }
            w.app(app, vec![id]);
        }
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
    let config = group.transport.config().map(|c| c.with_class(Class(m.class)));
    let (mut sender, mut receiver) = endpoints(group, m, usage, seed, config.as_ref());
    if matches!(&group.transport, Transport::Tcp(p, _) if p.fast_open == FastOpen::Cookie) {
        Cookies(HashMap::from([(client_and_server(m, usage), Time::ZERO)])).give(now, m, usage, &mut sender, &mut receiver);
    }
    (app, [sender, receiver])
}

/// When the flows of a world are built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Build {
    /// Before the run: they can be observed, changed and divided among threads.
    BeforeTheRun,
    /// Each when it begins, where the scenario allows it, so that a flow needs memory only while it lasts.
    WhenTheyBegin,
}

/// The flows of a run, built one by one.
#[derive(Debug)]
struct LaterFlows {
    seed: u64,
    members: Arc<Vec<Member>>,
    groups: Arc<Vec<Group>>,
    /// First instant after the run: members that are not there yet start then.
    after: Time,
    /// TCP configurations of each group, by class.
    configs: Vec<Vec<(u8, Arc<TcpConfig>)>>,
    /// Bytes after whose delivery a flow of each group ends; 0 for none.
    amounts: Vec<u64>,
    cookies: Cookies,
    /// True if ended flows are counted in the sums of their groups.
    by_group: bool,
}

impl LaterFlows {
    fn new(scenario: &Resolved, members: Arc<Vec<Member>>, seed: u64) -> Self {
        let groups = scenario.expanded.groups.clone();
        let mut configs = vec![Vec::new(); groups.len()];
        for m in members.iter() {
            let known: &mut Vec<(u8, Arc<TcpConfig>)> = &mut configs[m.group_index];
            if let Some(first) = groups[m.group_index].transport.config()
                && known.iter().all(|(class, _)| *class != m.class)
            {
                known.push((m.class, first.with_class(Class(m.class))));
            }
        }
        let amount = |g: &Group| scenario.flows.get(&g.name).and_then(|f| f.amount).map_or(0, Bytes::get);
        Self {
            seed,
            after: begin(scenario, Time::MAX),
            configs,
            amounts: groups.iter().map(amount).collect(),
            cookies: Cookies::of(&members, &groups),
            by_group: !scenario.report.is_flows(),
            members,
            groups,
        }
    }

    /// True if nothing but packets, timers and applications ever acts on the flows of a scenario, and their routes are fixed.
    fn fit(scenario: &Resolved) -> bool {
        let own = |g: &Group| match &g.transport {
            Transport::Tcp(p, _) => matches!(p.cc, CcParams::Plugin(_)),
            Transport::Udp(_) => false,
            Transport::Stack(_) => true,
        };
        let e = &scenario.expanded;
        let fixed = scenario.routing != RoutingSpec::EcmpPackets && scenario.reroute.is_none() && e.channels.is_empty();
        let sampled = scenario.sample.is_some_and(|s| s > Dur::ZERO);
        fixed && !sampled && scenario.changes.is_empty() && e.controls.is_empty() && !e.groups.iter().any(own)
    }

    fn member(&self, flow: FlowId) -> (&Member, &Group) {
        let m = &self.members[flow.0 as usize];
        (m, &self.groups[m.group_index])
    }

    fn app(&self, flow: FlowId) -> AnyApp {
        let (m, group) = self.member(flow);
        app(group, m, flow, m.start.min(self.after))
    }
}

impl FlowFactory<BuiltIn> for LaterFlows {
    fn count(&self) -> usize {
        self.members.len()
    }
    fn name(&self, flow: FlowId) -> &Name {
        &self.member(flow).0.name
    }
    fn ends(&self, flow: FlowId) -> FlowEnds {
        let m = self.member(flow).0;
        FlowEnds { from: m.from, to: m.to, proto: proto(m) }
    }
    fn starts_at(&self, flow: FlowId) -> Time {
        self.app(flow).starts_at()
    }
    fn build(&self, flow: FlowId) -> NewFlow<AnyApp, AnyEndpoint> {
        let ((m, group), app) = (self.member(flow), self.app(flow));
        let usage = app.usage();
        let config = self.configs[m.group_index].iter().find(|(class, _)| *class == m.class).map(|(_, config)| config);
        let (mut sender, mut receiver) = endpoints(group, m, usage, self.seed, config);
        self.cookies.give(m.start, m, usage, &mut sender, &mut receiver);
        NewFlow { app, sender, receiver, amount: self.amounts[m.group_index] }
    }
    fn sums(&self) -> usize {
        if self.by_group { self.groups.len() } else { 0 }
    }
    fn sum(&self, flow: FlowId) -> Option<usize> {
        let (m, group) = self.member(flow);
        (self.by_group && group.call().is_none()).then_some(m.group_index)
    }
}

/// Builds the world of a scenario for the run with this seed.
pub fn world<H: EventQueue>(scenario: &Resolved, seed: u64) -> Result<World<BuiltIn, H>, BuildError> {
    parts(scenario, seed, scenario.members_at(seed), Build::BeforeTheRun).build()
}

/// Flows as classifiers see them, listed when a queue first asks for them. A node's address is its index among all nodes.
pub(crate) struct Listed<'m, F> {
    members: F,
    infos: OnceCell<Vec<FlowInfo<'m>>>,
}

impl<'m, F: Fn() -> &'m [Member]> Listed<'m, F> {
    pub(crate) const fn new(members: F) -> Self {
        Self { members, infos: OnceCell::new() }
    }
}

impl<F> std::fmt::Debug for Listed<'_, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listed").field("infos", &self.infos).finish_non_exhaustive()
    }
}

impl<'m, F: Fn() -> &'m [Member]> FlowList for Listed<'m, F> {
    fn all(&self) -> &[FlowInfo<'_>] {
        self.infos.get_or_init(|| {
            let members = (self.members)();
            step(members.len());
            members.iter().map(|m| FlowInfo { name: &m.name, from: m.from.0, to: m.to.0, proto: proto(m) }).collect()
        })
    }
}

fn proto(m: &Member) -> Proto {
    if m.transport() == "tcp" { Proto::Tcp } else { Proto::Udp }
}

/// Sender and receiver of a flow. `config`: that of its group and class, if it is a TCP flow.
fn endpoints(group: &Group, m: &Member, usage: Usage, seed: u64, config: Option<&Arc<TcpConfig>>) -> (AnyEndpoint, AnyEndpoint) {
    match &group.transport {
        Transport::Tcp(params, first) => {
            let config = config.unwrap_or(first);
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
                return (AnyEndpoint::Tcp(server), AnyEndpoint::Tcp(client));
            }
            let passive = Tcp::passive(config.clone(), params.cc.build_passive(config.congestion(), &cc));
            (AnyEndpoint::Tcp(Tcp::active(config.clone(), cc)), AnyEndpoint::Tcp(passive))
        }
        Transport::Udp(params) => group.source.endpoints(params, Class(m.class)).unwrap_or_else(|| {
            let (sender, receiver) = params.build(Class(m.class), usage);
            (AnyEndpoint::Udp(sender), AnyEndpoint::Udp(receiver))
        }),
        Transport::Stack(stack) => {
            let wire = (Class(m.class), stack.header());
            let (sender, receiver) =
                StackEndpoint::pair(stack.title(), (seed, m.name.as_str()), wire, usage, stack_fails, |seat| stack.build(seat));
            (sender.into(), receiver.into())
        }
    }
}

/// Ends the run of this thread after a failure of a transport stack.
fn stack_fails(fault: StackFault) {
    fail(Fault { what: STACK, time: fault.time, message: fault.message, interrupted: false });
}

/// Fast Open cookies, computed in advance: the start time of the first connection from a client to a server, which requests
/// the cookie. Later connections have it, even if its answer is still in flight.
#[derive(Debug, Default)]
struct Cookies(HashMap<(u32, u32), Time>);

impl Cookies {
    /// Collects the flows that use cookies.
    fn of(members: &[Member], groups: &[Group]) -> Self {
        let mut first = HashMap::new();
        let uses = |g: &Group| matches!(&g.transport, Transport::Tcp(p, _) if p.fast_open == FastOpen::Cookie);
        let usages: Vec<Option<Usage>> =
            groups.iter().map(|g| uses(g).then(|| g.source.build(FlowId(0), Time::ZERO, None).usage())).collect();
        for m in members {
            if let Some(usage) = usages[m.group_index] {
                let at = first.entry(client_and_server(m, usage)).or_insert(m.start);
                *at = m.start.min(*at);
            }
        }
        Self(first)
    }

    /// Sets the cookies of both endpoints of a flow.
    fn give(&self, start: Time, m: &Member, usage: Usage, sender: &mut AnyEndpoint, receiver: &mut AnyEndpoint) {
        let (client, server) = client_and_server(m, usage);
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
fn client_and_server(m: &Member, usage: Usage) -> (u32, u32) {
    if usage.dialogue { (m.to.0, m.from.0) } else { (m.from.0, m.to.0) }
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
