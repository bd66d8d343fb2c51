//! Partition of a network: it depends on the network alone, never on the number of threads.

use super::clusters::Clusters;
use crate::app::App;
use crate::endpoint::{Cx, Endpoint, Timers};
use crate::ids::{EpId, FlowId};
use crate::packet::Proto;
use crate::port::{Port, Role};
use crate::qdisc::Qdisc;
use crate::world::{Components, World};
use fairlane_engine::EventQueue;
use fairlane_units::{Dur, Rate};
use std::collections::HashMap;
use std::fmt;

/// Nodes that links and flows join; a world itself does not know them.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    /// Number of nodes.
    pub nodes: usize,
    /// Near and far node of each port.
    pub links: Vec<[u32; 2]>,
    /// Sender's and receiver's node of each flow.
    pub flows: Vec<[u32; 2]>,
}

/// Reason why a network is not partitioned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotPartitioned {
    /// The network has a wireless channel.
    Channel,
    /// A flow controller opens and closes flows.
    Control,
    /// Links fail.
    Outage,
    /// Packets of a flow take several routes, or routes change.
    Ways,
    /// Time series are recorded.
    Samples,
    /// The run has begun.
    Begun,
    /// The network is so large that its copies for the parts would take too much memory.
    Large,
    /// Links or flows that cannot be cut connect all nodes.
    Together,
    /// One part would have nearly all events.
    Lopsided,
    /// The links that could be cut have so short delays that parts would mostly wait for each other.
    ShortDelays,
}

impl fmt::Display for NotPartitioned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Channel => "stations on a wireless channel hear each other without delay",
            Self::Control => "a control opens and closes flows",
            Self::Outage => "links fail and come back",
            Self::Ways => "routes change, or packets of a flow take several",
            Self::Samples => "time series are recorded",
            Self::Begun => "the run has begun",
            Self::Large => "the network is so large that its parts would take too much memory",
            Self::Together => "links or flows that cannot be cut connect all nodes",
            Self::Lopsided => "one part would have nearly all the work",
            Self::ShortDelays => "the links that could be cut have delays so short that parts would mostly wait for each other",
        })
    }
}

/// One part of a network.
#[derive(Clone, Debug, PartialEq)]
pub struct Portion {
    /// Nodes of this part.
    pub nodes: Vec<u32>,
    /// Expected share of all events.
    pub load: f64,
}

/// Partition of a network.
#[derive(Clone, Debug, PartialEq)]
pub struct Partition {
    /// Parts.
    pub portions: Vec<Portion>,
    /// Ports whose links lead from one part into another.
    pub links: Vec<u32>,
    /// Time that parts run without communicating: the shortest delay of those links.
    pub window: Dur,
    /// Expected events in a window, of all parts.
    pub events: f64,
    /// Share of all transmissions that lead into another part.
    pub crossing: f64,
    /// `Ok` if the run is expected to take less time on two threads than on one.
    pub pays: Result<(), NotPartitioned>,
    /// Parts where the link of each port begins and ends.
    pub(super) near: Vec<u16>,
    pub(super) far: Vec<u16>,
    /// Parts of each endpoint and of each application.
    pub(super) ends: Vec<u16>,
    pub(super) hosts: Vec<u16>,
}

/// Assumed bytes per packet.
const PACKET: f64 = 1000.0;
/// Events per data packet: acknowledgments, sender, receiver.
const ACK: f64 = 0.8;
const SENDER: f64 = 0.8;
const RECEIVER: f64 = 0.4;
/// Measured costs in events (docs/background/performance.md): a window of one part; a meeting of all parts, uneven loads included; a packet that crosses.
const PART: f64 = 5.0;
const MEETING: f64 = 36.0;
const CROSSING: f64 = 0.5;
/// Largest share of the time on one thread at which a partition pays.
const WORTH: f64 = 0.85;
/// Numbers of parts that are tried. Each part is a copy of the world: a `LARGE` network has two parts at most, a `HUGE` one is not cut.
const PARTS: [usize; 3] = [2, 4, 8];
const LARGE: usize = 20_000;
const HUGE: usize = 100_000;
/// Number of delays that are tried as the shortest one to be cut.
const DELAYS: usize = 12;

/// Disjoint sets of nodes that stay together (union-find).
struct Sets(Vec<u32>);

impl Sets {
    fn new(n: usize) -> Self {
        Self((0..n as u32).collect())
    }
    fn of(&mut self, mut i: u32) -> u32 {
        while self.0[i as usize] != i {
            self.0[i as usize] = self.0[self.0[i as usize] as usize];
            i = self.0[i as usize];
        }
        i
    }
    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.of(a), self.of(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}

/// True if a link can be cut: it has a delay and nothing else, and its queue may be settled late.
fn can_be_cut<Q: Qdisc>(port: &Port<Q>) -> bool {
    let plain = port.impair().is_none() && port.role != Role::SlowPath && port.failure_schedule().is_none() && !port.is_on_air();
    plain && port.delay > Dur::ZERO && port.ring.is_empty() && !port.qdisc.drops_late() && port.qdisc.ready_at().is_none()
}

impl Partition {
    /// True if a network with this many nodes and flows is not partitioned.
    pub fn is_too_large(nodes: usize, flows: usize) -> bool {
        nodes.max(flows) >= HUGE
    }

    /// Partitions a world that has not begun. With fewer `threads` than parts, neighbouring parts are bundled: each part has its own memory and mail, so more
    /// parts than threads cost more than they balance, unless loads are uneven. Results do not depend on it.
    ///
    /// # Errors
    /// Something in the network acts on several nodes without delay.
    pub fn new<P: Components, H: EventQueue>(
        world: &World<P, H>,
        topology: &Topology,
        threads: Option<usize>,
    ) -> Result<Self, NotPartitioned> {
        let forbidden = [
            (!world.airs.is_empty(), NotPartitioned::Channel),
            (world.controllers.is_some(), NotPartitioned::Control),
            (world.outages.is_some(), NotPartitioned::Outage),
            (world.path.forwarding.is_some() || !world.reroutes.is_empty(), NotPartitioned::Ways),
            (world.sampler.is_some(), NotPartitioned::Samples),
            (Self::is_too_large(topology.nodes, topology.flows.len()), NotPartitioned::Large),
            (world.events_run > 0 || !world.path.arena.is_empty(), NotPartitioned::Begun),
        ];
        if let Some((_, why)) = forbidden.into_iter().find(|f| f.0) {
            return Err(why);
        }
        let mut sets = Sets::new(topology.nodes);
        for (port, &[a, b]) in world.path.ports.iter().zip(&topology.links) {
            if !can_be_cut(port) {
                sets.join(a, b);
            }
        }
        let mut drivers: HashMap<u32, u32> = HashMap::new();
        for (f, &[a, b]) in topology.flows.iter().enumerate() {
            if together(world, f) {
                sets.join(a, b);
            }
            let first = *drivers.entry(world.path.flows[f].app).or_insert(a);
            sets.join(first, a);
        }
        let demand = Demand::new(world, topology);
        let cuts = delays(world).into_iter().filter_map(|shortest| Self::at(world, topology, &demand, Sets(sets.0.clone()), shortest));
        let partition = cuts.min_by(|a, b| a.cost().total_cmp(&b.cost())).ok_or(NotPartitioned::Together)?;
        let two = partition.bundled(world, topology, &demand, 2);
        // Profit is judged for two threads, for any number of threads.
        let pays = two.as_ref().unwrap_or(&partition).pays;
        let bundled = match threads {
            None => None,
            Some(..=2) => two,
            Some(n) => partition.bundled(world, topology, &demand, n),
        };
        Ok(Self { pays, ..bundled.unwrap_or(partition) })
    }

    /// Fastest bundling of parts for this number of threads; `None` if the parts are best left as they are.
    fn bundled<P: Components, H: EventQueue>(
        &self,
        world: &World<P, H>,
        topology: &Topology,
        demand: &Demand,
        threads: usize,
    ) -> Option<Self> {
        let mut home = vec![0; topology.nodes];
        for (i, portion) in (0..).zip(&self.portions) {
            portion.nodes.iter().for_each(|&n| home[n as usize] = i);
        }
        let clusters = demand.clusters(topology, &home, self.portions.len());
        let counts = PARTS.into_iter().chain([threads]).filter(|&n| n >= threads && n < self.portions.len());
        let ways = counts.filter_map(|n| Self::of(world, topology, demand, &clusters.parts(&home, n)));
        ways.min_by(|a, b| a.time(threads).total_cmp(&b.time(threads))).filter(|best| best.time(threads) < self.time(threads))
    }

    /// Expected time on this number of threads, relative to one thread.
    fn time(&self, threads: usize) -> f64 {
        let (loads, events) = (&self.loads(), self.events.max(f64::MIN_POSITIVE));
        makespan(loads, threads) * (1.0 + CROSSING * self.crossing) + (PART * (loads.len() as f64 / threads as f64) + MEETING) / events
    }

    fn loads(&self) -> Vec<f64> {
        self.portions.iter().map(|p| p.load).collect()
    }

    /// Sum of the expected times on two threads and on one thread per part.
    fn cost(&self) -> f64 {
        self.time(2) + self.time(self.portions.len())
    }

    /// Best partition by links with at least this delay.
    fn at<P: Components, H: EventQueue>(
        world: &World<P, H>,
        topology: &Topology,
        demand: &Demand,
        mut sets: Sets,
        shortest: Dur,
    ) -> Option<Self> {
        for (port, &[a, b]) in world.path.ports.iter().zip(&topology.links) {
            if port.delay < shortest {
                sets.join(a, b);
            }
        }
        let (mut number, mut count) = (vec![u32::MAX; topology.nodes], 0);
        let cluster: Vec<u32> = (0..topology.nodes as u32)
            .map(|n| {
                let of = &mut number[sets.of(n) as usize];
                if *of == u32::MAX {
                    *of = count;
                    count += 1;
                }
                *of
            })
            .collect();
        let clusters = demand.clusters(topology, &cluster, count as usize);
        let most = if topology.nodes.max(topology.flows.len()) < LARGE { PARTS[2] } else { PARTS[0] };
        let counts = PARTS.into_iter().filter(|&n| n <= most.min(count as usize));
        let ways = counts.filter_map(|n| Self::of(world, topology, demand, &clusters.parts(&cluster, n)));
        ways.min_by(|a, b| a.cost().total_cmp(&b.cost()))
    }

    /// Partition with this part for each node; `None` if there is only one part.
    fn of<P: Components, H: EventQueue>(world: &World<P, H>, topology: &Topology, demand: &Demand, home: &[u16]) -> Option<Self> {
        // Number parts in the order of their first nodes; empty ones have none.
        let mut names: Vec<u16> = Vec::new();
        let home: Vec<u16> = home
            .iter()
            .map(|h| {
                names.iter().position(|n| n == h).unwrap_or_else(|| {
                    names.push(*h);
                    names.len() - 1
                }) as u16
            })
            .collect();
        if names.len() < 2 {
            return None;
        }
        let part = |n: u32| home[n as usize];
        let (near, far): (Vec<u16>, Vec<u16>) = topology.links.iter().map(|&[a, b]| (part(a), part(b))).unzip();
        let links: Vec<u32> = (0..near.len() as u32).filter(|&i| near[i as usize] != far[i as usize]).collect();
        let window = links.iter().map(|&i| world.path.ports[i as usize].delay).min();
        // Parts without a common link never communicate.
        let window = window.unwrap_or(Dur::from_secs(1));
        let ends: Vec<u16> = topology.flows.iter().flatten().map(|&n| part(n)).collect();
        let mut hosts = vec![0; world.hosts.len()];
        for (f, flow) in world.path.flows.iter().enumerate() {
            hosts[flow.app as usize] = ends[2 * f];
        }
        let mut portions = vec![Portion { nodes: Vec::new(), load: 0.0 }; names.len()];
        let total: f64 = demand.nodes.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        for (n, &h) in home.iter().enumerate() {
            portions[h as usize].nodes.push(n as u32);
            portions[h as usize].load += demand.nodes[n] / total;
        }
        let hops: f64 = demand.links.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let crossing = links.iter().map(|&i| demand.links[i as usize]).sum::<f64>() / hops;
        let events = total * window.as_secs_f64();
        let mut partition = Self { portions, links, window, events, crossing, pays: Ok(()), near, far, ends, hosts };
        partition.pays = match partition.time(2) {
            t if t < WORTH => Ok(()),
            _ if makespan(&partition.loads(), 2) > WORTH => Err(NotPartitioned::Lopsided),
            _ => Err(NotPartitioned::ShortDelays),
        };
        Some(partition)
    }
}

/// Largest load of a thread, if parts are assigned largest first.
fn makespan(loads: &[f64], threads: usize) -> f64 {
    let mut loads = loads.to_vec();
    loads.sort_by(|a, b| b.total_cmp(a));
    let mut shares = vec![0.0_f64; threads];
    for load in loads {
        if let Some(least) = shares.iter_mut().min_by(|a, b| a.total_cmp(b)) {
            *least += load;
        }
    }
    shares.into_iter().fold(0.0, f64::max)
}

/// Delays of links that can be cut, longest first; a selection of many.
fn delays<P: Components, H: EventQueue>(world: &World<P, H>) -> Vec<Dur> {
    let mut all: Vec<Dur> = world.path.ports.iter().filter(|p| can_be_cut(p)).map(|p| p.delay).collect();
    all.sort_unstable();
    all.dedup();
    all.reverse();
    let n = all.len();
    if n <= DELAYS { all } else { (0..DELAYS).map(|i| all[i * (n - 1) / (DELAYS - 1)]).collect() }
}

/// True if both ends of a flow must be in one part, because one acts at once on events at the other.
fn together<P: Components, H: EventQueue>(world: &World<P, H>, f: usize) -> bool {
    let flow = &world.path.flows[f];
    let app = &world.hosts[flow.app as usize].app;
    if flow.watched || flow.amount != 0 || app.usage().dialogue {
        return true;
    }
    // The receiver starts a window late, which is allowed only if it sends nothing then.
    let mut receiver = world.endpoints[2 * f + 1].clone();
    let (mut out, mut timers) = (Vec::new(), Timers::default());
    let mut cx = Cx::new(app.starts_at(), &mut out, &mut timers);
    receiver.start(&mut cx);
    let silent = cx.delivered == 0 && cx.rtt.is_none();
    !silent || !out.is_empty() || timers != Timers::default()
}

/// Expected work, if each flow gets its share of the narrowest of its links.
struct Demand {
    /// Events per second at each node.
    nodes: Vec<f64>,
    /// Packets per second over each link.
    links: Vec<f64>,
}

impl Demand {
    fn new<P: Components, H: EventQueue>(world: &World<P, H>, topology: &Topology) -> Self {
        let ports = &world.path.ports;
        let mut flows = vec![0_u32; ports.len()];
        let sender = |f: usize| EpId::sender(FlowId(f as u32));
        for f in 0..topology.flows.len() {
            world.route(sender(f)).for_each(|p| flows[p.0 as usize] += 1);
        }
        let mut demand = Self { nodes: vec![0.0; topology.nodes], links: vec![0.0; ports.len()] };
        for (f, &[from, to]) in topology.flows.iter().enumerate() {
            let rate = |r: Rate| r.as_bps() as f64;
            let share = |p: crate::ids::PortId| rate(ports[p.0 as usize].link().rate) / f64::from(flows[p.0 as usize]);
            let packets = world.route(sender(f)).map(share).fold(f64::INFINITY, f64::min) / (8.0 * PACKET);
            let packets = if packets.is_finite() { packets } else { 0.0 };
            let back = if world.sides[2 * f].proto == Proto::Tcp { ACK * packets } else { 0.0 };
            for (ep, n) in [(sender(f), packets), (EpId::receiver(FlowId(f as u32)), back)] {
                for p in world.route(ep) {
                    demand.links[p.0 as usize] += n;
                    // The far end has the event, the near end the queue.
                    let [near, far] = topology.links[p.0 as usize];
                    demand.nodes[near as usize] += 0.4 * n;
                    demand.nodes[far as usize] += 0.6 * n;
                }
            }
            demand.nodes[from as usize] += SENDER * packets;
            demand.nodes[to as usize] += RECEIVER * packets;
        }
        demand
    }

    /// Loads of clusters, and the traffic between them; `cluster` has the number of each node's cluster.
    fn clusters(&self, topology: &Topology, cluster: &[u32], count: usize) -> Clusters {
        let mut clusters = Clusters { loads: vec![0.0; count], ties: vec![Vec::new(); count] };
        for (&c, load) in cluster.iter().zip(&self.nodes) {
            clusters.loads[c as usize] += load;
        }
        for (&[a, b], &traffic) in topology.links.iter().zip(&self.links) {
            let [a, b] = [a, b].map(|n| cluster[n as usize]);
            if a != b {
                // A link without traffic has a cost, too.
                let traffic = traffic.max(1e-3);
                clusters.ties[a as usize].push((b, traffic));
                clusters.ties[b as usize].push((a, traffic));
            }
        }
        clusters
    }
}
