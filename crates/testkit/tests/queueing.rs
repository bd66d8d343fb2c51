//! A Poisson source before one link, against the formulas of queueing theory: M/D/1, M/M/1 and M/M/1/K.

use fairlane_engine::QuadHeap;
use fairlane_net::*;
use fairlane_queue::{Admit, Discipline, DropTail, DropTailParams, Fifo};
use fairlane_testkit::stats::Interval;
use fairlane_testkit::theory;
use fairlane_traffic::source::poisson::{Poisson, PoissonParams, Sizes};
use fairlane_traffic::{Source, Udp, UdpParams};
use fairlane_units::{Bytes, Dur, Len, Rate, Time};

#[derive(Clone)]
struct Line;
impl Components for Line {
    type Qdisc = Fifo<DropTail>;
    type Endpoint = Udp;
    type App = Poisson;
    type Control = ();
}

/// Measurements of one replication: mean number waiting, mean wait in mean service times, share of packets lost.
struct Measured {
    waiting: f64,
    wait: f64,
    loss: f64,
}

/// 10 Mbit/s and packets of 1000 bytes in the mean: a mean service time of 0.8 ms.
fn replicate(rho: f64, sizes: Sizes, limit: Len, seed: u64) -> Measured {
    let rate = Rate::from_mbps(10);
    let mut b = WorldBuilder::<Line>::new(seed, Routing::Single);
    let (from, to) = (b.node("a"), b.node("b"));
    let mut link = |name: &str, from, to| {
        let delay = Dur::from_ms(1);
        let qdisc = DropTailParams { limit, admit: Admit::Fits }.build(&LinkInfo { rate, delay }.into());
        b.link(LinkDef {
            name: name.into(),
            from,
            to,
            rate,
            delay,
            qdisc,
            schedule: None,
            impairments: Impairments::default(),
            device: None,
        })
    };
    let port = link("ab", from, to);
    link("ba", to, from);
    let (sender, receiver) = UdpParams { header: Bytes(0), ..UdpParams::default() }.build(Class(0), Usage::default());
    let flow = b.flow(FlowDef { name: "udp".into(), from, to, proto: Proto::Udp, sender, receiver });
    let load = PoissonParams { rate: Rate::from_bps((rho * 1e7) as u64), size: Bytes(1000), sizes };
    b.app(load.build(flow, Time::ZERO, None), vec![flow]);
    let mut world = b.build::<QuadHeap>().unwrap();
    let (warm, end) = (Dur::from_secs(10), Dur::from_secs(310));
    world.advance(Time::ZERO + warm, u64::MAX, &mut ());
    world.reset_counters(&mut ());
    world.advance(Time::ZERO + end, u64::MAX, &mut ());
    world.settle(&mut ());
    let c = world.port(port).counters();
    let levels = c.occupancy().close(world.reset_at(), world.now()).levels;
    let span = (world.now() - world.reset_at()).as_ps() as f64;
    let waiting = levels.iter().enumerate().map(|(n, &l)| n as f64 * l as f64).sum::<f64>() / span;
    let waited = if c.waits().n > 0 { c.waits().mean() * c.waits().n as f64 } else { 0.0 };
    let (sent, lost) = (c.sent_pkts as f64, c.queue_drops() as f64);
    Measured { waiting, wait: waited / sent / 0.8e9, loss: lost / (sent + lost) }
}

/// Ten replications; each mean must have its formula inside its 95 % interval.
fn compare(rho: f64, sizes: Sizes, limit: Len, want: [f64; 3]) {
    let runs: Vec<Measured> = (1..=10).map(|seed| replicate(rho, sizes, limit, seed)).collect();
    for (i, name) in ["waiting", "wait", "loss"].into_iter().enumerate() {
        let column: Vec<f64> = runs.iter().map(|m| [m.waiting, m.wait, m.loss][i]).collect();
        let (got, want) = (Interval::of(&column), want[i]);
        assert!(got.contains(want), "{name} at load {rho}: {:.5} +- {:.5}, formula {want:.5}", got.mean, got.half);
        assert!(got.half <= 0.06 * got.mean.max(1e-9) || got.mean == 0.0, "{name} at load {rho}: an interval too wide to tell anything");
    }
}

const ROOM: Len = Len::Packets(1_000_000);

#[test]
fn md1() {
    for rho in [0.3, 0.6, 0.8, 0.9] {
        compare(rho, Sizes::Fixed, ROOM, [theory::md1_waiting(rho), theory::md1_wait(rho), 0.0]);
    }
}

#[test]
fn mm1() {
    for rho in [0.3, 0.6, 0.8, 0.9] {
        compare(rho, Sizes::Exponential, ROOM, [theory::mm1_waiting(rho), theory::mm1_wait(rho), 0.0]);
    }
}

/// A DropTail of k packets and one in service: at most k + 1 in the system.
#[test]
fn mm1k() {
    for (rho, k) in [(0.8, 5), (1.0, 10), (1.5, 20)] {
        let (waiting, wait, loss) = (theory::mm1k_waiting(rho, k + 1), theory::mm1k_wait(rho, k + 1), theory::mm1k_loss(rho, k + 1));
        compare(rho, Sizes::Exponential, Len::Packets(u64::from(k)), [waiting, wait, loss]);
    }
}
