//! Where a network is cut: a function of the network alone, never of the number of threads.

use super::clusters::Clusters;
use crate::app::App;
use crate::endpoint::{Cx, Endpoint, Timers};
use crate::ids::{EpId, FlowId};
use crate::packet::Proto;
use crate::port::Port;
use crate::qdisc::Qdisc;
use crate::world::{Components, World};
use fairlane_engine::EventQueue;
use fairlane_units::{Dur, Rate};
use std::collections::HashMap;
use std::fmt;

/// Which nodes links and flows join, which a world has no need to know.
#[derive(Clone, Debug, Default)]
pub struct Map {
    /// Nodes.
    pub nodes: usize,
    /// Of each port the nodes that its link begins and ends at.
    pub links: Vec<[u32; 2]>,
    /// Of each flow the nodes of its sender and its receiver.
    pub flows: Vec<[u32; 2]>,
}

/// Why a network runs in one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotPartitioned {
    /// It has a wireless channel.
    Channel,
    /// A control opens and closes flows.
    Control,
    /// Links fail.
    Outage,
    /// Packets of a flow take ways of their own, or ways change.
    Ways,
    /// Time series are recorded.
    Samples,
    /// It has begun.
    Begun,
    /// It is so large that copies of it for the parts would take too much memory.
    Large,
    /// All nodes hang together by what cannot be cut.
    Together,
    /// One part would have nearly all there is to do.
    Lopsided,
    /// The delays of the links that could be cut are so short that parts would mostly wait for each other.
    ShortDelays,
}

impl fmt::Display for NotPartitioned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Channel => "stations on a wireless channel hear each other at once",
            Self::Control => "a control opens and closes flows",
            Self::Outage => "links fail and come back",
            Self::Ways => "routes change, or packets of a flow take several",
            Self::Samples => "time series are recorded",
            Self::Begun => "the run has begun",
            Self::Large => "the network is so large that its parts would take too much memory",
            Self::Together => "all nodes hang together by links or flows that cannot be cut",
            Self::Lopsided => "one part would have nearly all there is to do",
            Self::ShortDelays => "the links that could be cut have so short a delay that parts would mostly wait for each other",
        })
    }
}

/// One part of a network.
#[derive(Clone, Debug, PartialEq)]
pub struct Portion {
    /// Its nodes.
    pub nodes: Vec<u32>,
    /// The share of all events that it is expected to have.
    pub load: f64,
}

/// A network in parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Cut {
    /// The parts.
    pub portions: Vec<Portion>,
    /// The ports whose links lead from one part into another.
    pub links: Vec<u32>,
    /// How long parts run without hearing from each other: the shortest delay of those links.
    pub window: Dur,
    /// Events that are expected in a window, in all parts together.
    pub events: f64,
    /// The share of all transmissions that lead into another part.
    pub crossing: f64,
    /// Whether the run is expected to take less time on two threads than on one.
    pub pays: Result<(), NotPartitioned>,
    /// By port, the part where its link begins and where it ends.
    pub(super) near: Vec<u16>,
    pub(super) far: Vec<u16>,
    /// By endpoint and by application.
    pub(super) ends: Vec<u16>,
    pub(super) hosts: Vec<u16>,
}

/// Bytes of a packet, for an estimate of how many there are.
const PACKET: f64 = 1000.0;
/// Events of an acknowledgement for one of a packet, and of a sender and of a receiver for a packet.
const ACK: f64 = 0.8;
const SENDER: f64 = 0.8;
const RECEIVER: f64 = 0.4;
/// What takes how long, in events, as measured (docs/background/performance.md): a window of a part, meeting the others with what some have more to do than others by
/// chance, and a packet that crosses.
const PART: f64 = 5.0;
const MEETING: f64 = 36.0;
const CROSSING: f64 = 0.5;
/// The time that is to be left of that on one thread.
const WORTH: f64 = 0.85;
/// Numbers of parts that are tried. Each is a copy of what was built: a network of so many nodes or flows has two at most, a still larger one is not cut.
const PARTS: [usize; 3] = [2, 4, 8];
const LARGE: usize = 20_000;
const HUGE: usize = 100_000;
/// Delays that are tried as the shortest one to be cut.
const DELAYS: usize = 12;

/// Sets of nodes that stay together.
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

/// Whether a link can lead from one part into another: it takes time and does no more than carry, and it makes no difference when what its queue does is carried out.
fn can_be_cut<Q: Qdisc>(port: &Port<Q>) -> bool {
    let plain = port.impair().is_none() && !port.rough && port.frail().is_none() && !port.is_on_air();
    plain && port.delay > Dur::ZERO && port.ring.is_empty() && !port.qdisc.drops_late() && port.qdisc.ready_at().is_none()
}

impl Cut {
    /// Where a world that has not begun is cut. Fewer `threads` than parts, if given, have parts that belong together as one: each part has its own place in caches and its
    /// own post, so more of them than threads cost more than they even out, unless they are uneven. Results do not depend on it.
    ///
    /// # Errors
    /// It has what lets no part run without the others, even for a moment.
    pub fn new<P: Components, H: EventQueue>(world: &World<P, H>, map: &Map, threads: Option<usize>) -> Result<Self, NotPartitioned> {
        let forbidden = [
            (!world.airs.is_empty(), NotPartitioned::Channel),
            (world.govern.is_some(), NotPartitioned::Control),
            (world.outages.is_some(), NotPartitioned::Outage),
            (world.path.maze.is_some() || !world.reroutes.is_empty(), NotPartitioned::Ways),
            (world.sampler.is_some(), NotPartitioned::Samples),
            (map.nodes.max(map.flows.len()) >= HUGE, NotPartitioned::Large),
            (world.events_run > 0 || !world.path.arena.is_empty(), NotPartitioned::Begun),
        ];
        if let Some((_, why)) = forbidden.into_iter().find(|f| f.0) {
            return Err(why);
        }
        let mut sets = Sets::new(map.nodes);
        for (port, &[a, b]) in world.path.ports.iter().zip(&map.links) {
            if !can_be_cut(port) {
                sets.join(a, b);
            }
        }
        let mut drivers: HashMap<u32, u32> = HashMap::new();
        for (f, &[a, b]) in map.flows.iter().enumerate() {
            if together(world, f) {
                sets.join(a, b);
            }
            let first = *drivers.entry(world.path.flows[f].app).or_insert(a);
            sets.join(first, a);
        }
        let demand = Demand::new(world, map);
        let cuts = delays(world).into_iter().filter_map(|shortest| Self::at(world, map, &demand, Sets(sets.0.clone()), shortest));
        let cut = cuts.min_by(|a, b| a.cost().total_cmp(&b.cost())).ok_or(NotPartitioned::Together)?;
        let two = cut.bundled(world, map, &demand, 2);
        // Whether it pays is asked of two threads, however many there are.
        let pays = two.as_ref().unwrap_or(&cut).pays;
        let bundled = match threads {
            None => None,
            Some(..=2) => two,
            Some(n) => cut.bundled(world, map, &demand, n),
        };
        Ok(Self { pays, ..bundled.unwrap_or(cut) })
    }

    /// Of the ways to bundle parts for so many threads the one that takes least time; none where they are best left as they are.
    fn bundled<P: Components, H: EventQueue>(&self, world: &World<P, H>, map: &Map, demand: &Demand, threads: usize) -> Option<Self> {
        let mut home = vec![0; map.nodes];
        for (i, portion) in (0..).zip(&self.portions) {
            portion.nodes.iter().for_each(|&n| home[n as usize] = i);
        }
        let clusters = demand.clusters(map, &home, self.portions.len());
        let counts = PARTS.into_iter().chain([threads]).filter(|&n| n >= threads && n < self.portions.len());
        let ways = counts.filter_map(|n| Self::of(world, map, demand, &clusters.parts(&home, n)));
        ways.min_by(|a, b| a.time(threads).total_cmp(&b.time(threads))).filter(|best| best.time(threads) < self.time(threads))
    }

    /// Time on so many threads for one on a single thread.
    fn time(&self, threads: usize) -> f64 {
        let (loads, events) = (&self.loads(), self.events.max(f64::MIN_POSITIVE));
        makespan(loads, threads) * (1.0 + CROSSING * self.crossing) + (PART * (loads.len() as f64 / threads as f64) + MEETING) / events
    }

    fn loads(&self) -> Vec<f64> {
        self.portions.iter().map(|p| p.load).collect()
    }

    /// What it takes on two threads, and on as many as there are parts.
    fn cost(&self) -> f64 {
        self.time(2) + self.time(self.portions.len())
    }

    /// The best cut through links with at least this delay.
    fn at<P: Components, H: EventQueue>(world: &World<P, H>, map: &Map, demand: &Demand, mut sets: Sets, shortest: Dur) -> Option<Self> {
        for (port, &[a, b]) in world.path.ports.iter().zip(&map.links) {
            if port.delay < shortest {
                sets.join(a, b);
            }
        }
        let (mut number, mut count) = (vec![u32::MAX; map.nodes], 0);
        let cluster: Vec<u32> = (0..map.nodes as u32)
            .map(|n| {
                let of = &mut number[sets.of(n) as usize];
                if *of == u32::MAX {
                    *of = count;
                    count += 1;
                }
                *of
            })
            .collect();
        let clusters = demand.clusters(map, &cluster, count as usize);
        let most = if map.nodes.max(map.flows.len()) < LARGE { PARTS[2] } else { PARTS[0] };
        let counts = PARTS.into_iter().filter(|&n| n <= most.min(count as usize));
        let ways = counts.filter_map(|n| Self::of(world, map, demand, &clusters.parts(&cluster, n)));
        ways.min_by(|a, b| a.cost().total_cmp(&b.cost()))
    }

    /// With this part for each node; none where one has no node.
    fn of<P: Components, H: EventQueue>(world: &World<P, H>, map: &Map, demand: &Demand, home: &[u16]) -> Option<Self> {
        // Parts in the order of their first nodes; those without any are none.
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
        let (near, far): (Vec<u16>, Vec<u16>) = map.links.iter().map(|&[a, b]| (part(a), part(b))).unzip();
        let links: Vec<u32> = (0..near.len() as u32).filter(|&i| near[i as usize] != far[i as usize]).collect();
        let window = links.iter().map(|&i| world.path.ports[i as usize].delay).min();
        // Parts that no link joins never need to hear from each other.
        let window = window.unwrap_or(Dur::from_secs(1));
        let ends: Vec<u16> = map.flows.iter().flatten().map(|&n| part(n)).collect();
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
        let mut cut = Self { portions, links, window, events, crossing, pays: Ok(()), near, far, ends, hosts };
        cut.pays = match cut.time(2) {
            t if t < WORTH => Ok(()),
            _ if makespan(&cut.loads(), 2) > WORTH => Err(NotPartitioned::Lopsided),
            _ => Err(NotPartitioned::ShortDelays),
        };
        Some(cut)
    }
}

/// The longest share of so many threads, parts going to them with the largest first.
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

/// Delays of links that can be cut, the longest first; of many some.
fn delays<P: Components, H: EventQueue>(world: &World<P, H>) -> Vec<Dur> {
    let mut all: Vec<Dur> = world.path.ports.iter().filter(|p| can_be_cut(p)).map(|p| p.delay).collect();
    all.sort_unstable();
    all.dedup();
    all.reverse();
    let n = all.len();
    if n <= DELAYS { all } else { (0..DELAYS).map(|i| all[i * (n - 1) / (DELAYS - 1)]).collect() }
}

/// Whether both ends of a flow have to be in one part: one acts at once on what happens at the other.
fn together<P: Components, H: EventQueue>(world: &World<P, H>, f: usize) -> bool {
    let flow = &world.path.flows[f];
    let app = &world.hosts[flow.app as usize].app;
    if flow.watched || flow.amount != 0 || app.usage().dialogue {
        return true;
    }
    // The receiver hears of the beginning a window late: that must be no news for the network.
    let mut receiver = world.endpoints[2 * f + 1].clone();
    let (mut out, mut timers) = (Vec::new(), Timers::default());
    let mut cx = Cx::new(app.starts_at(), &mut out, &mut timers);
    receiver.start(&mut cx);
    let silent = cx.delivered == 0 && cx.rtt.is_none();
    !silent || !out.is_empty() || timers != Timers::default()
}

/// What there will be to do, by what flows could send: each has its share of the narrowest of its links.
struct Demand {
    /// Events a second at each node.
    nodes: Vec<f64>,
    /// Packets a second over each link.
    links: Vec<f64>,
}

impl Demand {
    fn new<P: Components, H: EventQueue>(world: &World<P, H>, map: &Map) -> Self {
        let ports = &world.path.ports;
        let mut flows = vec![0_u32; ports.len()];
        let sender = |f: usize| EpId::sender(FlowId(f as u32));
        for f in 0..map.flows.len() {
            world.route(sender(f)).for_each(|p| flows[p.0 as usize] += 1);
        }
        let mut demand = Self { nodes: vec![0.0; map.nodes], links: vec![0.0; ports.len()] };
        for (f, &[from, to]) in map.flows.iter().enumerate() {
            let rate = |r: Rate| r.as_bps() as f64;
            let share = |p: crate::ids::PortId| rate(ports[p.0 as usize].link().rate) / f64::from(flows[p.0 as usize]);
            let packets = world.route(sender(f)).map(share).fold(f64::INFINITY, f64::min) / (8.0 * PACKET);
            let packets = if packets.is_finite() { packets } else { 0.0 };
            let back = if world.sides[2 * f].proto == Proto::Tcp { ACK * packets } else { 0.0 };
            for (ep, n) in [(sender(f), packets), (EpId::receiver(FlowId(f as u32)), back)] {
                for p in world.route(ep) {
                    demand.links[p.0 as usize] += n;
                    // The event is that of the far end, the queue is looked at by the near one.
                    let [near, far] = map.links[p.0 as usize];
                    demand.nodes[near as usize] += 0.4 * n;
                    demand.nodes[far as usize] += 0.6 * n;
                }
            }
            demand.nodes[from as usize] += SENDER * packets;
            demand.nodes[to as usize] += RECEIVER * packets;
        }
        demand
    }

    /// Nodes that stay together, by the number of each one's cluster: what they have to do, and what crosses between them.
    fn clusters(&self, map: &Map, cluster: &[u32], count: usize) -> Clusters {
        let mut clusters = Clusters { loads: vec![0.0; count], ties: vec![Vec::new(); count] };
        for (&c, load) in cluster.iter().zip(&self.nodes) {
            clusters.loads[c as usize] += load;
        }
        for (&[a, b], &traffic) in map.links.iter().zip(&self.links) {
            let [a, b] = [a, b].map(|n| cluster[n as usize]);
            if a != b {
                // A link without traffic still costs a look.
                let traffic = traffic.max(1e-3);
                clusters.ties[a as usize].push((b, traffic));
                clusters.ties[b as usize].push((a, traffic));
            }
        }
        clusters
    }
}
