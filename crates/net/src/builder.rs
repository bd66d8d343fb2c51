//! Builds a [`World`] from nodes, links, flows and applications.

mod lay;

use crate::air::{AirDef, Channels, Pending};
use crate::app::App;
use crate::flow::Flow;
use crate::govern::Govern;
use crate::ids::{FlowId, NodeId, PortId};
use crate::impair::{Impair, Impairments};
use crate::order::Turn;
use crate::outage::{Frail, Outages, Plan, Spans};
use crate::packet::{Arena, Proto};
use crate::path::{Path, Relays};
use crate::port::Port;
use crate::qdisc::{LinkInfo, Qdisc};
use crate::reroute::Reroutes;
use crate::route::Routing;
use crate::sample::{Sampler, Sampling};
use crate::schedule::Schedule;
use crate::side::Host;
use crate::slots::{Slots, Sources};
use crate::world::{Plugs, World};
use fairlane_engine::{EventQueue, Stream};
use fairlane_units::{Dur, Len, Rate, Time};
use lay::Laid;

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct LinkDef<Q> {
    /// Unique name; keys the random streams of the port.
    pub name: String,
    /// Where it begins.
    pub from: NodeId,
    /// Where it ends.
    pub to: NodeId,
    /// Transmission rate, above zero.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Dur,
    /// The queue before it.
    pub qdisc: Q,
    /// How the rate changes during the run, if it does; `rate` is then what the queue is told.
    pub schedule: Option<Schedule>,
    /// Losses, duplicates, late packets.
    pub impairments: Impairments,
    /// What a device holds below the queue, besides the packet in transmission.
    pub device: Option<Len>,
}

/// A flow from one node to another, with its two endpoints.
#[derive(Clone, Debug)]
pub struct FlowDef<E> {
    /// Unique name; decides its path among equal ones.
    pub name: String,
    /// The sender's node.
    pub from: NodeId,
    /// The receiver's node.
    pub to: NodeId,
    /// Transport protocol.
    pub proto: Proto,
    /// The endpoint that sends data.
    pub sender: E,
    /// The endpoint that receives it.
    pub receiver: E,
}

/// Why a world cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// No path between the ends of a flow.
    #[error("flow `{flow}`: no route from `{from}` to `{to}`")]
    NoRoute {
        /// The flow.
        flow: String,
        /// One end.
        from: String,
        /// The other.
        to: String,
    },
    /// A link without a rate.
    #[error("link `{link}`: the rate must be above zero")]
    NoRate {
        /// The link.
        link: String,
    },
    /// Ways that change, of too many packets in too large a network.
    #[error(
        "the routes of {flows} flows around links that fail, or packet by packet, would take more memory than they may: take fewer flows, or fewer failures"
    )]
    TooManyWays {
        /// Flows.
        flows: usize,
    },
    /// Ways that change with failures or packet by packet, and with stations that move.
    #[error("stations that move do not go together with routing = \"ecmp_packets\" or `reroute`: take one of them out")]
    WaysOfMoving,
    /// A flow that goes nowhere.
    #[error("flow `{flow}`: both ends are `{node}`")]
    SameNode {
        /// The flow.
        flow: String,
        /// The node.
        node: String,
    },
    /// A flow that two controls govern.
    #[error("flow `{flow}` is governed twice")]
    GovernedTwice {
        /// The flow.
        flow: String,
    },
    /// A flow without an application.
    #[error("flow `{flow}` has no source")]
    NoApp {
        /// The flow.
        flow: String,
    },
}

/// A flow without its endpoints.
#[derive(Clone, Debug)]
struct Ends {
    name: String,
    from: NodeId,
    to: NodeId,
    proto: Proto,
}

/// Collects the parts of a world.
#[derive(Clone, Debug)]
pub struct WorldBuilder<P: Plugs> {
    seed: u64,
    routing: Routing,
    nodes: Vec<String>,
    links: Vec<LinkDef<P::Qdisc>>,
    airs: Channels,
    flows: Vec<Ends>,
    /// Two for each flow, where they stay: of many flows they are most of the memory.
    endpoints: Vec<P::Endpoint>,
    apps: Vec<(P::App, Vec<FlowId>)>,
    sample: Option<(Sampling, Vec<u32>)>,
    controls: Vec<(P::Control, Vec<FlowId>)>,
    amounts: Vec<(FlowId, u64)>,
    costs: Vec<u64>,
    down: Vec<(u32, Spans)>,
    reroute: Option<Dur>,
    shortcuts: bool,
}

impl<P: Plugs> WorldBuilder<P> {
    /// An empty network whose random streams follow `seed`.
    pub fn new(seed: u64, routing: Routing) -> Self {
        Self {
            seed,
            routing,
            nodes: Vec::new(),
            links: Vec::new(),
            airs: Channels::default(),
            flows: Vec::new(),
            endpoints: Vec::new(),
            apps: Vec::new(),
            sample: None,
            controls: Vec::new(),
            amounts: Vec::new(),
            costs: Vec::new(),
            down: Vec::new(),
            reroute: None,
            shortcuts: true,
        }
    }
    /// Each packet has an event at each port, whether anything can happen there or not: for tests.
    #[doc(hidden)]
    pub fn without_shortcuts(&mut self) {
        self.shortcuts = false;
    }
    /// Adds a node.
    pub fn node(&mut self, name: &str) -> NodeId {
        self.nodes.push(name.to_owned());
        NodeId(self.nodes.len() as u32 - 1)
    }
    /// Adds one direction of a link.
    pub fn link(&mut self, def: LinkDef<P::Qdisc>) -> PortId {
        self.links.push(def);
        PortId(self.links.len() as u32 - 1)
    }
    /// What each link costs, above zero: routes have the least sum, in place of the fewest links.
    pub fn costs(&mut self, costs: Vec<u64>) {
        self.costs = costs;
    }
    /// The link of a port is down from the first to the second of these times, `MAX` for never again up.
    pub fn down(&mut self, port: PortId, spans: Vec<(Time, Time)>) {
        self.down.push((port.0, spans));
    }
    /// Routes follow a failure or a repair that has lasted for this time.
    pub fn reroute(&mut self, after: Dur) {
        self.reroute = Some(after);
    }
    /// Adds a channel; returns the port of its first station, behind which those of the others follow.
    pub fn air(&mut self, def: AirDef<P::Qdisc>) -> PortId {
        let first = PortId(self.links.len() as u32);
        let nodes = def.stations.iter().map(|s| s.from).collect();
        self.links.extend(def.stations);
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
    /// Adds the application that drives `flows`.
    pub fn app(&mut self, app: P::App, flows: Vec<FlowId>) {
        self.apps.push((app, flows));
    }
    /// Samples flows, and the links in `watched`.
    pub fn sample(&mut self, what: Sampling, watched: Vec<PortId>) {
        self.sample = Some((what, watched.into_iter().map(|p| p.0).collect()));
    }

    /// Adds a control of flows, which it knows by their places in the list.
    pub fn control(&mut self, control: P::Control, flows: Vec<FlowId>) {
        self.controls.push((control, flows));
    }
    /// Ends a flow once its receiver has this much, above zero; the source sends until then.
    pub fn amount(&mut self, flow: FlowId, bytes: u64) {
        self.amounts.push((flow, bytes));
    }

    /// Sources of events, and numbers that their events can have: what a structure for the event queue is chosen by.
    pub fn slots(&self) -> (usize, usize) {
        let slots = Slots::new(self.sources(), self.seed);
        (slots.count as usize, slots.order.numbers())
    }

    fn sources(&self) -> Sources {
        Sources {
            ports: self.links.len(),
            endpoints: self.endpoints.len(),
            hosts: self.apps.len(),
            clocks: clocks(&self.links).count(),
            lates: lates(&self.links).count(),
            airs: self.airs.slots() as usize,
            routes: usize::from(self.airs.next_change().is_some()),
            controls: self.controls.len(),
            outages: usize::from(!self.down.is_empty()),
        }
    }

    /// Lays the routes and makes the world.
    pub fn build<H: EventQueue>(mut self) -> Result<World<P, H>, BuildError> {
        if let Some(l) = self.links.iter().find(|l| l.rate == Rate::default()) {
            return Err(BuildError::NoRate { link: l.name.clone() });
        }
        let slots = Slots::new(self.sources(), self.seed);
        let clocks: Vec<u32> = clocks(&self.links).collect();
        let lates: Vec<u32> = lates(&self.links).collect();
        let mut plan = Plan::new(&self.down, self.reroute);
        let Laid { hops, maze, towards, mut sides, mut flows, reroutes } = self.lay(&plan)?;
        for (f, bytes) in self.amounts {
            let flow = &mut flows[f.0 as usize];
            (flow.amount, flow.written, flow.closed) = (bytes, bytes, true);
        }
        let mut ports = ports(self.links, self.seed, |i| maze.is_some() || self.down.iter().any(|d| d.0 == i));
        for (i, down) in self.down {
            let port = &mut ports[i as usize];
            port.frail = Some(Box::new(Frail { fresh: port.qdisc.clone(), down }));
        }
        for i in self.airs.ports() {
            ports[i as usize].put_on_air();
        }
        for (&i, slot) in lates.iter().zip(slots.lates..) {
            if let Some(late) = ports[i as usize].impair.as_mut().and_then(|imp| imp.late.as_mut()) {
                late.place(slot, sides.len());
            }
        }
        let hosts = hosts(self.apps, &mut flows, self.seed)?;
        let govern = Govern::new(self.controls, &flows, &mut sides, &mut self.endpoints, hosts.len())
            .map_err(|f| BuildError::GovernedTwice { flow: flows[f.0 as usize].name.clone() })?;
        let sampler = self.sample.map(|(what, watched)| Sampler::new(what, watched));
        let shortcuts = self.shortcuts;
        let mut world = World {
            path: Path {
                now: Time::ZERO,
                events: first_events(slots, &hosts, clocks.len(), sampler.is_some(), (&self.airs, &reroutes, &plan)),
                ports,
                hops,
                maze,
                towards,
                arena: Arena::default(),
                flows,
                slots,
                drops: Vec::new(),
                hops_before_reset: 0,
                copies: Vec::new(),
                relays: Relays::default(),
            },
            endpoints: self.endpoints,
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
            govern,
            outages: (!plan.changes.is_empty()).then(|| Box::new(Outages { changes: std::mem::take(&mut plan.changes).into(), next: 0 })),
            out: Vec::new(),
            actions: Vec::new(),
            events_run: 0,
            reset_at: Time::ZERO,
            fingerprint: 0,
        };
        if shortcuts {
            let watched = world.sampler.as_ref().map_or(&[] as &[u32], |s| s.watched());
            world.path.find_relays(watched);
            world.path.find_lanes(watched);
        }
        Ok(world)
    }
}

/// Numbers of the links whose queue has a timer of its own.
fn clocks<Q: Qdisc>(links: &[LinkDef<Q>]) -> impl Iterator<Item = u32> {
    (0..).zip(links).filter(|(_, l)| l.qdisc.has_timer()).map(|(i, _)| i)
}

/// Numbers of the links that keep packets back.
fn lates<Q>(links: &[LinkDef<Q>]) -> impl Iterator<Item = u32> {
    (0..).zip(links).filter(|(_, l)| l.impairments.delays()).map(|(i, _)| i)
}

/// The ports; those that `rough` names go the long way at the end of their link.
fn ports<Q: Qdisc>(links: Vec<LinkDef<Q>>, seed: u64, rough: impl Fn(u32) -> bool) -> Vec<Port<Q>> {
    let clampers = clampers(&links);
    let port = |(i, (l, clamped_by)): (u32, (LinkDef<Q>, Option<PortId>))| {
        let mut impair = Impair::new(&l.impairments, l.delay, seed, &l.name);
        if clamped_by.is_some() || rough(i) {
            impair.get_or_insert_with(|| Impair::idle(&l.impairments, l.delay, seed, &l.name)).clamped_by = clamped_by;
        }
        let rng = Stream::new(seed, "port", &l.name, "queue");
        Port::new(LinkInfo { rate: l.rate, delay: l.delay }, l.schedule, l.qdisc, impair, rng).with_device(l.device)
    };
    (0..).zip(links.into_iter().zip(clampers)).map(port).collect()
}

/// The applications, each of which is noted in the flows that it drives.
fn hosts<A: App>(apps: Vec<(A, Vec<FlowId>)>, flows: &mut [Flow], seed: u64) -> Result<Vec<Host<A>>, BuildError> {
    let mut hosts = Vec::new();
    for (i, (app, driven)) in (0..).zip(apps) {
        for f in &driven {
            let flow = &mut flows[f.0 as usize];
            flow.app = i;
            flow.watched = app.listens();
            flow.alone = driven.len() == 1;
        }
        let name = driven.first().map_or("", |f| &flows[f.0 as usize].name);
        let wake = app.starts_at();
        hosts.push(Host { rng: Stream::new(seed, "app", name, "traffic"), wake, armed: wake, app });
    }
    match flows.iter().find(|f| f.app == u32::MAX) {
        Some(flow) => Err(BuildError::NoApp { flow: flow.name.clone() }),
        None => Ok(hosts),
    }
}

/// The event queue with what begins by itself: applications, the timers of queues, the sampler, steps of stations, changes of routes, failures.
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

/// For each link the port of its other direction, where the queue there rewrites windows. Of parallel links the one that
/// was added next to it counts.
fn clampers<Q: Qdisc>(links: &[LinkDef<Q>]) -> Vec<Option<PortId>> {
    let mut by = vec![None; links.len()];
    for (i, l) in links.iter().enumerate().filter(|(_, l)| l.qdisc.clamps()) {
        let others = links.iter().enumerate().filter(|(_, o)| o.from == l.to && o.to == l.from);
        if let Some((o, _)) = others.min_by_key(|(o, _)| o.abs_diff(i)) {
            by[o] = Some(PortId(i as u32));
        }
    }
    by
}
