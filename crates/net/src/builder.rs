//! Builds a [`World`] from nodes, links, flows and applications.

use crate::app::App;
use crate::counters::FlowCounters;
use crate::endpoint::{Endpoint, Timers};
use crate::govern::Govern;
use crate::impair::{Impair, Impairments};
use crate::order::{Order, Turn};
use crate::packet::{Arena, FlowId, Proto};
use crate::path::{END, Path};
use crate::port::{Port, PortId};
use crate::qdisc::{LinkInfo, Qdisc};
use crate::route::{Graph, Router, Routing};
use crate::sample::Sampler;
use crate::schedule::Schedule;
use crate::world::{Flow, Host, Plugs, Side, Slots, World};
use fairlane_engine::{EventQueue, Stream};
use fairlane_units::{Dur, Rate, Time};

/// Number of a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

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
    flows: Vec<Ends>,
    /// Two for each flow, where they stay: of many flows they are most of the memory.
    endpoints: Vec<P::Endpoint>,
    apps: Vec<(P::App, Vec<FlowId>)>,
    sample: Option<(Dur, Vec<u32>)>,
    controls: Vec<(P::Control, Vec<FlowId>)>,
    amounts: Vec<(FlowId, u64)>,
}

impl<P: Plugs> WorldBuilder<P> {
    /// An empty network whose random streams follow `seed`.
    pub fn new(seed: u64, routing: Routing) -> Self {
        Self {
            seed,
            routing,
            nodes: Vec::new(),
            links: Vec::new(),
            flows: Vec::new(),
            endpoints: Vec::new(),
            apps: Vec::new(),
            sample: None,
            controls: Vec::new(),
            amounts: Vec::new(),
        }
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
    /// Samples flows, and the links in `watched`, every `step`.
    pub fn sample(&mut self, step: Dur, watched: Vec<PortId>) {
        self.sample = Some((step, watched.into_iter().map(|p| p.0).collect()));
    }

    /// Adds a control of flows, which it knows by their places in the list.
    pub fn control(&mut self, control: P::Control, flows: Vec<FlowId>) {
        self.controls.push((control, flows));
    }
    /// Ends a flow once its receiver has this much, above zero; the source sends until then.
    pub fn amount(&mut self, flow: FlowId, bytes: u64) {
        self.amounts.push((flow, bytes));
    }

    /// Lays the routes and makes the world.
    pub fn build<H: EventQueue>(self) -> Result<World<P, H>, BuildError> {
        let Self { seed, routing, nodes, links, flows: defs, mut endpoints, apps, sample, controls, amounts } = self;
        if let Some(l) = links.iter().find(|l| l.rate == Rate::default()) {
            return Err(BuildError::NoRate { link: l.name.clone() });
        }
        let graph = Graph::new(nodes.len(), links.iter().map(|l| (l.from.0, l.to.0)));
        let mut router = Router::new(&graph, &nodes, routing);

        let mut hops = Vec::new();
        let (mut sides, mut flows) = (Vec::with_capacity(2 * defs.len()), Vec::with_capacity(defs.len()));
        for (f, d) in defs.into_iter().enumerate() {
            let name_of = |n: NodeId| nodes[n.0 as usize].clone();
            if d.from == d.to {
                return Err(BuildError::SameNode { flow: d.name, node: name_of(d.from) });
            }
            for (end, from, to) in [(1, d.from, d.to), (0, d.to, d.from)] {
                let Some(path) = router.path(&d.name, from.0, to.0) else {
                    return Err(BuildError::NoRoute { flow: d.name, from: name_of(from), to: name_of(to) });
                };
                sides.push(Side {
                    timers: Timers::default(),
                    armed: Time::MAX,
                    later: Time::MAX,
                    route: hops.len() as u32,
                    proto: d.proto,
                });
                hops.extend(path);
                if let Some(first) = hops.get(sides[sides.len() - 1].route as usize) {
                    endpoints[2 * f + 1 - end as usize].attach(links[*first as usize].rate);
                }
                hops.push(END | (2 * f as u32 + end));
            }
            flows.push(Flow {
                name: d.name,
                counters: FlowCounters::default(),
                base: None,
                started: Time::MAX,
                completed: Time::MAX,
                delivered: 0,
                written: 0,
                amount: 0,
                closed: false,
                app: u32::MAX,
                watched: false,
                alone: true,
            });
        }

        for (f, bytes) in amounts {
            let flow = &mut flows[f.0 as usize];
            (flow.amount, flow.written, flow.closed) = (bytes, bytes, true);
        }

        let clampers = clampers(&links);
        let mut ports: Vec<Port<P::Qdisc>> = links
            .into_iter()
            .zip(clampers)
            .map(|(l, clamped_by)| {
                let mut impair = Impair::new(&l.impairments, l.delay, seed, &l.name);
                if clamped_by.is_some() {
                    impair.get_or_insert_with(|| Impair::idle(l.impairments, l.delay, seed, &l.name)).clamped_by = clamped_by;
                }
                let rng = Stream::new(seed, "port", &l.name, "queue");
                Port::new(LinkInfo { rate: l.rate, delay: l.delay }, l.schedule, l.qdisc, impair, rng)
            })
            .collect();

        let mut hosts = Vec::new();
        for (i, (app, driven)) in apps.into_iter().enumerate() {
            for f in &driven {
                let flow = &mut flows[f.0 as usize];
                flow.app = i as u32;
                flow.watched = app.listens();
                flow.alone = driven.len() == 1;
            }
            let name = driven.first().map_or("", |f| &flows[f.0 as usize].name);
            let wake = app.starts_at();
            hosts.push(Host { rng: Stream::new(seed, "app", name, "traffic"), wake, armed: wake, app });
        }
        if let Some(flow) = flows.iter().find(|f| f.app == u32::MAX) {
            return Err(BuildError::NoApp { flow: flow.name.clone() });
        }

        let govern = Govern::new(controls, &flows, &mut sides, &mut endpoints, hosts.len())
            .map_err(|f| BuildError::GovernedTwice { flow: flows[f.0 as usize].name.clone() })?;

        let clocks: Vec<u32> = (0..ports.len() as u32).filter(|&i| ports[i as usize].qdisc.has_timer()).collect();
        let is_late = |p: &Port<P::Qdisc>| p.impair.as_ref().is_some_and(|imp| imp.late.is_some());
        let lates: Vec<u32> = (0..ports.len() as u32).filter(|&i| is_late(&ports[i as usize])).collect();
        let mut next = ports.len() as u32;
        let mut block = |n: usize| {
            let first = next;
            next += n as u32;
            first
        };
        let slots = Slots {
            endpoints: block(endpoints.len()),
            hosts: block(hosts.len()),
            clocks: block(clocks.len()),
            lates: block(lates.len()),
            sampler: block(1),
            controls: block(govern.as_ref().map_or(0, |g| g.len())),
            order: Order::new(next as usize, seed),
        };
        for (k, &i) in lates.iter().enumerate() {
            if let Some(late) = ports[i as usize].impair.as_mut().and_then(|imp| imp.late.as_mut()) {
                late.place(slots.lates + k as u32, sides.len());
            }
        }
        let order = slots.order;
        let mut events = H::with_slots(order.numbers());
        let mut push = |time, slot, turn| events.push(time, order.number(time, slot, turn));
        for (i, host) in hosts.iter().enumerate().filter(|(_, h)| h.wake != Time::MAX) {
            push(host.wake, slots.hosts + i as u32, Turn::Act);
        }
        for i in 0..clocks.len() as u32 {
            push(Time::ZERO, slots.clocks + i, Turn::Act);
        }
        let sampler = sample.map(|(step, watched)| {
            push(Time::ZERO, slots.sampler, Turn::Look);
            Sampler::new(step, watched)
        });
        Ok(World {
            path: Path {
                now: Time::ZERO,
                events,
                ports,
                hops,
                arena: Arena::default(),
                flows,
                slots,
                drops: Vec::new(),
                hops_before_reset: 0,
                copies: Vec::new(),
            },
            endpoints,
            last_views: Vec::new(),
            sides,
            hosts,
            clocks,
            lates,
            sampler,
            govern,
            out: Vec::new(),
            actions: Vec::new(),
            events_run: 0,
            reset_at: Time::ZERO,
            fingerprint: 0,
        })
    }
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
