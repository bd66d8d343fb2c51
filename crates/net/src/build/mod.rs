//! Builder of a [`World`]: nodes, links, flows and applications.

mod routes;

use crate::app::App;
use crate::channel::{AirDef, Channels, Pending};
use crate::controllers::FlowControllers;
use crate::flow::Flow;
use crate::ids::{FlowId, NodeId, PortId};
use crate::impair::{Guard, Impair, Impairments, NatInside};
use crate::lifetime::{FlowFactory, Lifetimes, WAITING};
use crate::link::{LinkDef, LinkInfo};
use crate::order::Turn;
use crate::outage::{FailureSchedule, Outages, Plan, Spans, merged};
use crate::packet::{Arena, Proto};
use crate::path::{Path, Shortcuts, Visible};
use crate::port::{Port, Role};
use crate::qdisc::Qdisc;
use crate::route::Routing;
use crate::route::reroute::Reroutes;
use crate::sample::{Sampler, Sampling};
use crate::side::{Host, Side};
use crate::slots::{Slots, Sources};
use crate::world::{Components, World};
use fairlane_engine::{EventQueue, Stream};
use fairlane_units::{Dur, Name, Rate, Time};
use routes::Routes;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A flow from one node to another, with its two endpoints.
#[derive(Clone, Debug)]
pub struct FlowDef<E> {
    /// Unique name; decides the choice among equally short paths.
    pub name: Name,
    /// Node of the sender.
    pub from: NodeId,
    /// Node of the receiver.
    pub to: NodeId,
    /// Transport protocol.
    pub proto: Proto,
    /// Endpoint that sends data.
    pub sender: E,
    /// Endpoint that receives data.
    pub receiver: E,
}

/// Reason why a world cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// No path between the ends of a flow.
    #[error("flow `{flow}`: no route from `{from}` to `{to}`")]
    NoRoute {
        /// Flow.
        flow: Name,
        /// Node of the sender.
        from: Name,
        /// Node of the receiver.
        to: Name,
    },
    /// A link without a rate.
    #[error("link `{link}`: the rate must be above zero")]
    NoRate {
        /// Link.
        link: Name,
    },
    /// Dynamic routes of too many flows in too large a network.
    #[error(
        "the routes of {flows} flows around failing links, or per packet, would need too much memory: use fewer flows or fewer failures"
    )]
    TooManyWays {
        /// Number of flows.
        flows: usize,
    },
    /// Dynamic routes together with stations that move.
    #[error("moving stations cannot be combined with routing = \"ecmp_packets\" or `reroute`: remove one of them")]
    WaysOfMoving,
    /// A flow whose ends are at one node.
    #[error("flow `{flow}`: both ends are `{node}`")]
    SameNode {
        /// Flow.
        flow: Name,
        /// Node.
        node: Name,
    },
    /// A flow with two flow controllers.
    #[error("flow `{flow}` has two controls")]
    GovernedTwice {
        /// Flow.
        flow: Name,
    },
    /// A flow without an application.
    #[error("flow `{flow}` has no source")]
    NoApp {
        /// Flow.
        flow: Name,
    },
}

/// A flow without its endpoints.
#[derive(Clone, Debug)]
struct Ends {
    name: Name,
    from: NodeId,
    to: NodeId,
    proto: Proto,
}

/// Link data that the builder needs besides the port.
#[derive(Clone, Debug)]
struct LinkDraft {
    name: Name,
    from: NodeId,
    to: NodeId,
    rate: Rate,
    delay: Dur,
    /// Impairments, if there are any.
    impairments: Option<Box<Impairments>>,
}

/// Builder of a world.
#[derive(Clone, Debug)]
pub struct WorldBuilder<P: Components> {
    seed: u64,
    routing: Routing,
    nodes: Vec<Name>,
    links: Vec<LinkDraft>,
    /// One per link. They move into the world as they are: in a large network they are most of the memory.
    ports: Vec<Port<P::Qdisc>>,
    airs: Channels,
    flows: Vec<Ends>,
    /// Description of all flows, if they are built when they begin.
    factory: Option<Arc<dyn FlowFactory<P>>>,
    /// Two per flow, moved into the world as they are.
    endpoints: Vec<P::Endpoint>,
    apps: Vec<(P::App, Vec<FlowId>)>,
    sample: Option<(Sampling, Vec<u32>)>,
    controls: Vec<(P::Control, Vec<FlowId>)>,
    amounts: Vec<(FlowId, u64)>,
    costs: Vec<u64>,
    down: BTreeMap<u32, Spans>,
    reroute: Option<Dur>,
    shortcuts: bool,
}

impl<P: Components> WorldBuilder<P> {
    /// Creates an empty network; `seed` is the seed of all random streams.
    pub fn new(seed: u64, routing: Routing) -> Self {
        Self {
            seed,
            routing,
            nodes: Vec::new(),
            links: Vec::new(),
            ports: Vec::new(),
            airs: Channels::default(),
            flows: Vec::new(),
            factory: None,
            endpoints: Vec::new(),
            apps: Vec::new(),
            sample: None,
            controls: Vec::new(),
            amounts: Vec::new(),
            costs: Vec::new(),
            down: BTreeMap::new(),
            reroute: None,
            shortcuts: true,
        }
    }
    /// Disables shortcuts, for tests: each packet has an event at each port.
    #[doc(hidden)]
    pub fn without_shortcuts(&mut self) {
        self.shortcuts = false;
    }
    /// Reserves memory.
    pub fn reserve(&mut self, nodes: usize, links: usize, flows: usize) {
        self.nodes.reserve_exact(nodes);
        self.links.reserve_exact(links);
        self.ports.reserve_exact(links);
        self.flows.reserve_exact(flows);
        self.endpoints.reserve_exact(2 * flows);
        self.apps.reserve_exact(flows);
    }
    /// Adds a node.
    pub fn node(&mut self, name: impl Into<Name>) -> NodeId {
        self.nodes.push(name.into());
        NodeId(self.nodes.len() as u32 - 1)
    }
    /// Adds one direction of a link.
    pub fn link(&mut self, def: LinkDef<P::Qdisc>) -> PortId {
        let LinkDef { name, from, to, rate, delay, qdisc, schedule, impairments, device } = def;
        let impair = Impair::new(&impairments, delay, self.seed, &name);
        let (impairs, rng) = (impair.is_some(), Stream::new(self.seed, "port", &name, "queue"));
        self.ports.push(Port::new(LinkInfo { rate, delay }, schedule, qdisc, impair, rng).with_device(device));
        let impairments = (impairs || impairments.delays()).then(|| Box::new(impairments));
        self.links.push(LinkDraft { name, from, to, rate, delay, impairments });
        PortId(self.links.len() as u32 - 1)
    }
    /// Sets the cost of each link, above zero: routes then have the least sum of costs instead of the fewest links.
    pub fn costs(&mut self, costs: Vec<u64>) {
        self.costs = costs;
    }
    /// Adds outages of a link as (start, end), with `MAX` for no end. Overlapping outages are merged, also those of earlier calls.
    pub fn down(&mut self, port: PortId, spans: Vec<(Time, Time)>) {
        let all = self.down.entry(port.0).or_default();
        *all = merged([all, &spans[..]].concat());
    }
    /// Lets routes follow failures and repairs that have lasted for this time.
    pub fn reroute(&mut self, after: Dur) {
        self.reroute = Some(after);
    }
    /// Adds a channel. Returns the port of its first station; those of the others follow it.
    pub fn air(&mut self, def: AirDef<P::Qdisc>) -> PortId {
        let first = PortId(self.links.len() as u32);
        let nodes = def.stations.iter().map(|s| s.from).collect();
        def.stations.into_iter().for_each(|s| {
            self.link(s);
        });
        self.airs.add(def.air, first, nodes, (def.edges, def.meetings));
        first
    }
    /// Adds a flow.
    pub fn flow(&mut self, def: FlowDef<P::Endpoint>) -> FlowId {
        let FlowDef { name, from, to, proto, sender, receiver } = def;
        self.flows.push(Ends { name, from, to, proto });
        self.endpoints.extend([sender, receiver]);
        FlowId(self.flows.len() as u32 - 1)
    }
    /// Lets all flows be built when they begin, instead of adding them. Such a world has neither time series nor flow controllers, its routes are fixed, and it
    /// is neither observed nor changed.
    pub fn flows_from(&mut self, factory: Arc<dyn FlowFactory<P>>) {
        self.factory = Some(factory);
    }
    /// Adds the application that drives `flows`.
    pub fn app(&mut self, app: P::App, flows: Vec<FlowId>) {
        self.apps.push((app, flows));
    }
    /// Records time series of flows, and of the links in `watched`.
    pub fn sample(&mut self, what: Sampling, watched: Vec<PortId>) {
        self.sample = Some((what, watched.into_iter().map(|p| p.0).collect()));
    }

    /// Adds a flow controller, which numbers flows by their positions in the list.
    pub fn control(&mut self, control: P::Control, flows: Vec<FlowId>) {
        self.controls.push((control, flows));
    }
    /// Ends a flow after the delivery of this many bytes, above zero; its source sends until then.
    pub fn amount(&mut self, flow: FlowId, bytes: u64) {
        self.amounts.push((flow, bytes));
    }

    /// Returns the number of event sources and of possible event numbers, from which the event queue is chosen.
    pub fn slots(&self) -> (usize, usize) {
        let slots = Slots::new(self.sources(), self.seed);
        (slots.count as usize, slots.order.numbers())
    }

    fn sources(&self) -> Sources {
        Sources {
            ports: self.links.len(),
            endpoints: self.factory.as_ref().map_or(self.endpoints.len(), |f| 2 * f.count()),
            hosts: self.factory.as_ref().map_or(self.apps.len(), |f| f.count()),
            clocks: clocks(&self.ports).count(),
            lates: lates(&self.links).count(),
            airs: self.airs.slots() as usize,
            routes: usize::from(self.airs.next_change().is_some()),
            controls: self.controls.len(),
            outages: usize::from(!self.down.is_empty()),
        }
    }

    /// Computes the routes and builds the world.
    pub fn build<H: EventQueue>(mut self) -> Result<World<P, H>, BuildError> {
        if let Some(l) = self.links.iter().find(|l| l.rate == Rate::default()) {
            return Err(BuildError::NoRate { link: l.name.clone() });
        }
        let slots = Slots::new(self.sources(), self.seed);
        let clocks: Vec<u32> = clocks(&self.ports).collect();
        let lates: Vec<u32> = lates(&self.links).collect();
        let mut plan = Plan::new(&self.down, self.reroute);
        let Routes { hops, forwarding, towards, starts, reroutes } = self.lay(&plan)?;
        let ends = starts.chunks_exact(2).zip(&self.flows);
        let mut sides: Vec<Side> = ends.flat_map(|(s, f)| [0, 1].map(|k| Side::new(s[k], f.proto))).collect();
        let mut flows: Vec<Flow> = self.flows.into_iter().map(|f| Flow::new(f.name)).collect();
        for (f, bytes) in self.amounts {
            let flow = &mut flows[f.0 as usize];
            (flow.amount, flow.written, flow.closed) = (bytes, bytes, true);
        }
        let mut ports = self.ports;
        set_slow_paths(&mut ports, &self.links, self.seed, |i| forwarding.is_some() || self.down.contains_key(&i));
        drop(self.links);
        for (i, down) in self.down {
            let port = &mut ports[i as usize];
            port.set_failure_schedule(FailureSchedule { fresh: port.qdisc.clone(), down });
        }
        for i in self.airs.ports() {
            ports[i as usize].put_on_air();
        }
        for (&i, slot) in lates.iter().zip(slots.lates..) {
            if let Some(late) = ports[i as usize].impair_mut().and_then(|imp| imp.reorder_buffer.as_mut()) {
                late.place(slot, starts.len());
            }
        }
        let hosts = hosts(self.apps, &mut flows, self.seed)?;
        let controllers = FlowControllers::new(self.controls, &flows, &mut sides, &mut self.endpoints, hosts.len())
            .map_err(|f| BuildError::GovernedTwice { flow: flows[f.0 as usize].name.clone() })?;
        let order = slots.order;
        let lifetimes = self.factory.map(|factory| {
            let all = (0..factory.count() as u32).map(|f| (factory.starts_at(FlowId(f)), f)).filter(|(at, _)| *at != Time::MAX);
            let mut first: Vec<_> = all.map(|(at, f)| (at, order.number(at, slots.hosts + f, Turn::Act), f)).collect();
            first.sort_unstable();
            let begins = first.into_iter().map(|(_, _, f)| f).collect();
            Box::new(Lifetimes::new(factory, self.seed, starts, begins))
        });
        let places = lifetimes.as_ref().map_or_else(|| (0..flows.len() as u32).collect(), |l| vec![WAITING; l.factory.count()]);
        let sampler = self.sample.map(|(what, watched)| Sampler::new(what, watched));
        let shortcuts = self.shortcuts;
        let mut world = World {
            path: Path {
                now: Time::ZERO,
                events: first_events(slots, &hosts, clocks.len(), sampler.is_some(), (&self.airs, &reroutes, &plan)),
                ports,
                hops,
                forwarding,
                towards,
                arena: Arena::default(),
                places,
                flows,
                slots,
                drops: Vec::new(),
                hops_before_reset: 0,
                copies: Vec::new(),
                shortcuts: Shortcuts::default(),
            },
            endpoints: self.endpoints,
            lifetimes,
            last_views: Vec::new(),
            last_kept: Vec::new(),
            sides,
            hosts,
            clocks,
            lates,
            airs: self.airs.place(slots.airs),
            pending: Pending::default(),
            reroutes,
            sampler,
            controllers,
            outages: (!plan.changes.is_empty()).then(|| Box::new(Outages { changes: std::mem::take(&mut plan.changes).into(), next: 0 })),
            out: Vec::new(),
            actions: Vec::new(),
            events_run: 0,
            still: 0,
            standstill: None,
            reset_at: Time::ZERO,
            fingerprint: 0,
        };
        if let Some((first, at)) = world.lifetimes.as_ref().and_then(|l| l.next_start().map(|f| (f, l.factory.starts_at(f)))) {
            world.path.push(at, slots.hosts + first.0, Turn::Act);
        }
        if shortcuts {
            let sampled = Sampler::sampled_ports(world.sampler.as_ref(), world.path.ports.len());
            world.path.choose_shortcuts(|i| Visible { port: sampled[i as usize], ..Visible::default() });
        }
        Ok(world)
    }
}

/// Ports whose queue has a timer.
fn clocks<Q: Qdisc>(ports: &[Port<Q>]) -> impl Iterator<Item = u32> {
    (0..).zip(ports).filter(|(_, p)| p.qdisc.has_timer()).map(|(i, _)| i)
}

/// Links that delay packets.
fn lates(links: &[LinkDraft]) -> impl Iterator<Item = u32> {
    let late = |l: &LinkDraft| l.impairments.as_ref().is_some_and(|i| i.delays());
    (0..).zip(links).filter(move |(_, l)| late(l)).map(|(i, _)| i)
}

/// Puts ports on the slow path: those that `slow` selects, and those whose opposite queue rewrites windows.
fn set_slow_paths<Q: Qdisc>(ports: &mut [Port<Q>], links: &[LinkDraft], seed: u64, slow: impl Fn(u32) -> bool) {
    let (clampers, guards) = (clampers(ports, links), guards(links));
    for (i, ((port, l), (clamped_by, guard))) in (0..).zip(ports.iter_mut().zip(links).zip(clampers.into_iter().zip(guards))) {
        if clamped_by.is_some() || guard.is_some() || slow(i) {
            let plain = Impairments::default();
            let idle = || Impair::idle(l.impairments.as_deref().unwrap_or(&plain), l.delay, seed, &l.name);
            let impair = port.make_impair(idle);
            (impair.clamped_by, impair.guard) = (clamped_by, guard);
            port.role = Role::SlowPath;
        }
    }
}

impl<P: Components> WorldBuilder<P> {
    /// Number of flows.
    fn flow_count(&self) -> usize {
        self.factory.as_ref().map_or(self.flows.len(), |f| f.count())
    }
    /// Name of a flow, and the nodes of its sender and of its receiver.
    fn ends(&self, flow: usize) -> (&Name, NodeId, NodeId) {
        match &self.factory {
            Some(factory) => {
                let (id, f) = (FlowId(flow as u32), &**factory);
                (f.name(id), f.ends(id).from, f.ends(id).to)
            }
            None => (&self.flows[flow].name, self.flows[flow].from, self.flows[flow].to),
        }
    }
}

/// Builds the applications, and sets them in the flows that they drive.
fn hosts<A: App>(apps: Vec<(A, Vec<FlowId>)>, flows: &mut [Flow], seed: u64) -> Result<Vec<Host<A>>, BuildError> {
    let mut hosts = Vec::with_capacity(apps.len());
    for (i, (app, driven)) in (0..).zip(apps) {
        for f in &driven {
            let flow = &mut flows[f.0 as usize];
            flow.app = i;
            flow.watched = app.listens();
            flow.alone = driven.len() == 1;
        }
        let name = driven.first().map_or("", |f| &flows[f.0 as usize].name);
        let wake = app.starts_at();
        hosts.push(Host { rng: Stream::new(seed, "app", name, "traffic"), wake, armed: wake, number: i, app });
    }
    match flows.iter().find(|f| f.app == u32::MAX) {
        Some(flow) => Err(BuildError::NoApp { flow: flow.name.clone() }),
        None => Ok(hosts),
    }
}

/// Event queue with the first events of applications, queue timers, sampler, stations, changes of routes, and failures.
fn first_events<A, H: EventQueue>(slots: Slots, hosts: &[Host<A>], clocks: usize, sampled: bool, air: (&Channels, &Reroutes, &Plan)) -> H {
    let order = slots.order;
    let mut events = H::with_slots(order.numbers());
    let mut push = |time, slot, turn| events.push(time, order.number(time, slot, turn));
    for (host, slot) in hosts.iter().zip(slots.hosts..).filter(|(h, _)| h.wake != Time::MAX) {
        push(host.wake, slot, Turn::Act);
    }
    for slot in (slots.clocks..).take(clocks) {
        push(Time::ZERO, slot, Turn::Act);
    }
    if sampled {
        push(Time::ZERO, slots.sampler, Turn::Look);
    }
    for (time, slot) in air.0.first_events() {
        push(time, slots.airs + slot, Turn::Act);
    }
    if let Some(change) = air.2.changes.first() {
        push(change.at, slots.outages, Turn::Act);
    }
    if let Some(time) = air.1.next() {
        push(time, slots.routes, Turn::Act);
    }
    events
}

/// Port of the opposite direction of each link, if its queue rewrites windows.
fn clampers<Q: Qdisc>(ports: &[Port<Q>], links: &[LinkDraft]) -> Vec<Option<PortId>> {
    let mut by = vec![None; links.len()];
    for i in (0..links.len()).filter(|&i| ports[i].qdisc.clamps()) {
        if let Some(o) = opposite(links, i) {
            by[o] = Some(PortId(i as u32));
        }
    }
    by
}

/// The NAT that packets of each direction pass: that of its link, which the direction that is declared first holds.
fn guards(links: &[LinkDraft]) -> Vec<Option<Guard>> {
    let mut by: Vec<Option<Guard>> = vec![None; links.len()];
    for (i, l) in links.iter().enumerate() {
        let Some(nat) = l.impairments.as_ref().and_then(|what| what.nat.as_ref()).filter(|_| by[i].is_none()) else { continue };
        let (port, outward) = (PortId(i as u32), nat.0.inside == NatInside::From);
        by[i] = Some(Guard { port, outward });
        if let Some(o) = opposite(links, i) {
            by[o] = Some(Guard { port, outward: !outward });
        }
    }
    by
}

/// The opposite direction of a link. Of parallel links the nearest in the order of declaration counts.
fn opposite(links: &[LinkDraft], i: usize) -> Option<usize> {
    let others = links.iter().enumerate().filter(|(_, o)| o.from == links[i].to && o.to == links[i].from);
    others.min_by_key(|(o, _)| o.abs_diff(i)).map(|(o, _)| o)
}
