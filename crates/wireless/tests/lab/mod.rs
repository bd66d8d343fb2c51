//! A loop, queues and saturated sources around one channel: the least that makes a network of stations.

#![allow(dead_code, unreachable_pub, missing_docs, clippy::print_stdout)]

use fairlane_units::{Dur, Time};
use fairlane_wireless::*;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Bytes that a datagram of 1000 bytes has on the air.
pub const FRAME: u32 = 1064;
/// A queue that always holds a few datagrams, as a saturated source has it.
const AHEAD: usize = 8;

/// Events in the order of time; those of one instant in an order that favours no station.
#[derive(Clone, Default)]
pub struct Heap(BinaryHeap<Reverse<(Time, u64, u32)>>);

impl Agenda for Heap {
    fn push(&mut self, time: Time, slot: u32) {
        let tie = (time.as_ps() ^ u64::from(slot)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0.push(Reverse((time, tie, slot)));
    }
}

/// A saturated flow over the stations of its path.
#[derive(Clone)]
pub struct Flow {
    pub path: Vec<u32>,
    pub received: u64,
}

/// Queues of the stations, and flows between them.
#[derive(Clone)]
pub struct Nodes {
    pub queues: Vec<VecDeque<Msdu>>,
    pub limit: usize,
    pub flows: Vec<Flow>,
    pub made: u64,
    pub overflow: u64,
    pub lost: u64,
    wake: Vec<u32>,
}

/// A handle is the flow, and a number.
fn handle(flow: usize, n: u64) -> u64 {
    (flow as u64) << 40 | n
}

impl Nodes {
    fn fill(&mut self, f: usize) {
        let path = &self.flows[f].path;
        let (src, to) = (path[0] as usize, path[1]);
        while self.queues[src].len() < AHEAD {
            self.made += 1;
            self.queues[src].push_back(Msdu { handle: handle(f, self.made), to, bytes: FRAME });
        }
    }
}

impl Above for Nodes {
    fn next(&mut self, station: u32, _: Time) -> Option<Msdu> {
        let head = self.queues[station as usize].pop_front();
        if let Some(f) = self.flows.iter().position(|f| f.path[0] == station) {
            self.fill(f);
        }
        head
    }
    fn deliver(&mut self, station: u32, m: Msdu, _: Time) {
        let flow = &mut self.flows[(m.handle >> 40) as usize];
        let at = flow.path.iter().position(|&s| s == station).expect("on its path");
        match flow.path.get(at + 1) {
            None => flow.received += 1,
            Some(&to) if self.queues[station as usize].len() < self.limit => {
                self.queues[station as usize].push_back(Msdu { to, ..m });
                self.wake.push(station);
            }
            Some(_) => self.overflow += 1,
        }
    }
    fn give_up(&mut self, _: u32, _: Msdu, _: Time) {
        self.lost += 1;
    }
}

/// A channel with its nodes.
#[derive(Clone)]
pub struct Lab {
    pub air: Air,
    pub nodes: Nodes,
    heap: Heap,
    pub now: Time,
    pub span: Dur,
}

impl Lab {
    pub fn new(dcf: Dcf, config: &AirConfig, ears: Vec<Vec<Ear>>, paths: &[&[u32]], seed: u64) -> Self {
        let n = ears.len();
        let air = Air::new(dcf, config, ears, seed, |i| format!("air.{i}")).expect("near enough");
        let flows: Vec<Flow> = paths.iter().map(|p| Flow { path: p.to_vec(), received: 0 }).collect();
        let nodes = Nodes { queues: vec![VecDeque::new(); n], limit: 50, flows, made: 0, overflow: 0, lost: 0, wake: Vec::new() };
        let mut lab = Self { air, nodes, heap: Heap::default(), now: Time::ZERO, span: Dur::ZERO };
        for (f, path) in paths.iter().enumerate() {
            lab.nodes.fill(f);
            lab.air.ready(path[0], Time::ZERO, &mut lab.nodes, &mut lab.heap);
        }
        lab
    }

    pub fn run(&mut self, until: Time) {
        while let Some(&Reverse((at, _, slot))) = self.heap.0.peek() {
            if at > until {
                break;
            }
            self.heap.0.pop();
            self.now = at;
            self.air.on_event(slot, at, &mut self.nodes, &mut self.heap);
            while let Some(s) = self.nodes.wake.pop() {
                self.air.ready(s, at, &mut self.nodes, &mut self.heap);
            }
        }
        self.now = until;
    }

    /// After half a second of warm-up.
    pub fn measure(mut self, warmup: Dur, span: Dur) -> Self {
        self.run(Time::ZERO + warmup);
        self.air.reset_counters(self.now);
        for f in &mut self.nodes.flows {
            f.received = 0;
        }
        self.run(Time::ZERO + warmup + span);
        self.span = span;
        self
    }

    pub fn goodput(&self) -> f64 {
        self.nodes.flows.iter().map(|f| f.received as f64 * 8000.0).sum::<f64>() / self.span.as_secs_f64() / 1e6
    }

    pub fn sum(&self, what: impl Fn(&RadioCounters) -> u64) -> f64 {
        (0..self.nodes.queues.len() as u32).map(|i| what(self.air.counters(i))).sum::<u64>() as f64
    }

    /// Share of attempts that failed: of data, or of RTS where there are any.
    pub fn failure_rate(&self) -> f64 {
        let (rts, cts) = (self.sum(|c| c.rts_tx), self.sum(|c| c.data_tx));
        if rts > 0.0 { 1.0 - cts / rts } else { 1.0 - self.sum(|c| c.acked) / self.sum(|c| c.data_tx) }
    }

    /// Every packet that was made is somewhere.
    pub fn conserved(&self) {
        let n = &self.nodes;
        let held: usize = n.queues.iter().map(VecDeque::len).sum::<usize>() + self.air.in_hand().count();
        let arrived: u64 = n.flows.iter().map(|f| f.received).sum();
        assert_eq!(n.made, held as u64 + arrived + n.overflow + n.lost);
    }
}

/// 802.11b at 11 Mbit/s, control frames at 1 Mbit/s, with the rules of ns-3.37.
pub fn b11() -> Dcf {
    let standard = Standard::named("802.11b").expect("a standard");
    let tone = |kbps| Tone::new(Wave::DsssLong, kbps).expect("a rate");
    Dcf { ack: tone(1_000), after_timeout: AfterTimeout::Difs, at_once: false, ..Dcf::new(standard, tone(11_000)) }
}

/// Receivers as ns-3.37 has them, with a threshold instead of its error rates.
pub fn ns3(least_dbm: f64, cca_dbm: f64) -> AirConfig {
    AirConfig {
        noise: power::noise(22e6, 7.0),
        least: Power::from_dbm(least_dbm),
        cca: Power::from_dbm(cca_dbm),
        decode_db: 10.0,
        errors: Errors::Threshold,
        look: Dur::from_us(4),
        detect_db: Some(4.0),
        capture: None,
        headers_fail: true,
        overlaid_unsensed: true,
    }
}

/// Stations at one place: `hears(a, b)` says whether b hears a.
pub fn together(n: u32, hears: impl Fn(u32, u32) -> bool) -> Vec<Vec<Ear>> {
    let ear = |station| Ear { station, power: Power::from_dbm(-50.0), delay: Dur::ZERO };
    (0..n).map(|a| (0..n).filter(|&b| b != a && hears(a, b)).map(ear).collect()).collect()
}

/// Stations in a row, `metres` apart, over ns-2's ground.
pub fn row(n: u32, metres: f64) -> Vec<Vec<Ear>> {
    let ear = |a: u32, b: u32| {
        let d = metres * f64::from(a.abs_diff(b));
        let dbm = 31.54 - 40.0 * d.log10();
        (a != b && dbm >= -101.0).then(|| Ear { station: b, power: Power::from_dbm(dbm), delay: power::flight(d) })
    };
    (0..n).map(|a| (0..n).filter_map(|b| ear(a, b)).collect()).collect()
}

/// A standard at a rate, with the rules of ns-3.37 for what follows an attempt.
pub fn of(standard: &str, kbps: u32) -> Dcf {
    let standard = Standard::named(standard).expect("a standard");
    let data = Tone::new(standard.wave, kbps).expect("a rate");
    Dcf { after_timeout: AfterTimeout::Difs, at_once: false, ..Dcf::new(standard, data) }
}

/// All of its data behind RTS.
pub fn rts(dcf: Dcf) -> Dcf {
    Dcf { rts_threshold: 0, ..dcf }
}

/// `n` saturated stations and one that answers.
pub fn saturated(n: u32, dcf: Dcf, config: &AirConfig, seconds: u64) -> Lab {
    let paths: Vec<[u32; 2]> = (1..=n).map(|i| [i, 0]).collect();
    let paths: Vec<&[u32]> = paths.iter().map(|p| &p[..]).collect();
    Lab::new(dcf, config, together(n + 1, |_, _| true), &paths, 1).measure(Dur::from_ms(500), Dur::from_secs(seconds))
}

/// Two senders to one receiver; what comes of each. The first is weaker by `db`.
pub fn two(hidden: bool, db: f64, dcf: Dcf, config: &AirConfig) -> [f64; 2] {
    let mut ears = together(3, |a, b| !hidden || a == 0 || b == 0);
    ears[1].iter_mut().filter(|e| e.station == 0).for_each(|e| e.power = Power::from_dbm(-50.0 - db));
    let lab = Lab::new(dcf, config, ears, &[&[1, 0], &[2, 0]], 1).measure(Dur::from_ms(500), Dur::from_secs(60));
    [0, 1].map(|f| lab.nodes.flows[f].received as f64 * 8e-3 / 60.0)
}

/// A saturated flow over a row of stations, 200 m apart.
pub fn chain(hops: u32, dcf: Dcf, config: &AirConfig, seconds: u64) -> Lab {
    let path: Vec<u32> = (0..=hops).collect();
    Lab::new(dcf, config, row(hops + 1, 200.0), &[&path], 1).measure(Dur::from_secs(2), Dur::from_secs(seconds))
}

/// Holds two numbers against each other, and prints them as a row of a table.
pub fn near(what: &str, ours: f64, theirs: f64, within: f64) {
    let off = (ours / theirs - 1.0) * 100.0;
    println!("| {what} | {theirs:.3} | {ours:.3} | {off:+.1} % |");
    assert!(off.abs() <= within * 100.0, "{what}: {ours:.4}, not within {:.0} % of {theirs}", within * 100.0);
}

/// Returns the name of the data rate, for a table.
pub fn title(dcf: &Dcf) -> String {
    let (wave, rate) = (dcf.data.wave, f64::from(dcf.data.kbps) / 1e3);
    let protected = if dcf.protection.is_some() { ", CTS to self" } else { "" };
    let behind = if dcf.rts_threshold == 0 { ", RTS" } else { "" };
    format!("{wave:?} {rate} Mbit/s, {} slots{protected}{behind}", dcf.slot)
}

/// Stations in a row, `metres` apart in free space, with the receivers of [`in_free_space`].
pub fn free_row(n: u32, metres: f64, hertz: f64, power_dbm: f64) -> Vec<Vec<Ear>> {
    let space = Propagation::FreeSpace { frequency: hertz };
    let ear = |a: u32, b: u32| {
        let d = metres * f64::from(a.abs_diff(b));
        let dbm = power_dbm - space.loss(d);
        (a != b && dbm >= -101.0).then(|| Ear { station: b, power: Power::from_dbm(dbm), delay: power::flight(d) })
    };
    (0..n).map(|a| (0..n).filter_map(|b| ear(a, b)).collect()).collect()
}

/// Receivers that follow whatever they can make out, and whose medium is busy above -70 dBm.
pub fn in_free_space(bandwidth_hz: f64) -> AirConfig {
    AirConfig { noise: power::noise(bandwidth_hz, 7.0), ..ns3(-101.0, -70.0) }
}
