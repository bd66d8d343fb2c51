//! PI, REM and AVQ: one step by hand, the loop closed, and their neighbours.

use crate::closed::{Loop, Seen, link, pkt, rules, run};
use fairlane_engine::Stream;
use fairlane_net::{Backlog, DropReason, Ecn, LinkInfo, Packet, QCx, Qdisc};
use fairlane_queue::{Admit, AvqParams, Discipline, DropTailParams, Fifo, Front, Measure, PiParams, RedParams, RedThresholds, RemParams};
use fairlane_testkit::cases;
use fairlane_testkit::conformance::Rules;
use fairlane_units::{Bytes, Dur, Len, Rate, Time};
use proptest::prelude::*;

fn p(n: u64) -> Len {
    Len::Packets(n)
}

fn ns2<D: Discipline + serde::de::DeserializeOwned>() -> D {
    serde_json::from_str(D::PRESETS.iter().find(|p| p.name == "ns2").unwrap().values).unwrap()
}

/// A queue called by hand.
struct Hand<Q> {
    q: Q,
    rng: Stream,
    drops: Vec<(Packet, DropReason)>,
    marks: u32,
}

impl<Q: Qdisc> Hand<Q> {
    fn new(q: Q) -> Self {
        Self { q, rng: Stream::new(5, "port", "hand", "aqm"), drops: vec![], marks: 0 }
    }
    fn call<R>(&mut self, us: u64, f: impl FnOnce(&mut Q, &mut QCx<'_>) -> R) -> R {
        let mut cx = QCx { now: Time::ZERO + Dur::from_us(us), rng: &mut self.rng, drops: &mut self.drops, marks: 0 };
        let r = f(&mut self.q, &mut cx);
        self.marks += cx.marks;
        r
    }
    fn offer(&mut self, us: u64, n: u32, ecn: Ecn) {
        (0..n).for_each(|_| self.call(us, |q, cx| q.enqueue(pkt(1000, ecn), cx)));
    }
}

/// The PI paper in discrete time: p(k) = a (q(k) - q_ref) - b (q(k-1) - q_ref) + p(k-1) with its own a and b.
#[test]
fn pi_steps_by_its_difference_equation() {
    let mut h = Hand::new(PiParams { target: p(50), ..PiParams::default() }.build(&link(10).into()));
    assert_eq!(h.call(0, |q, cx| q.on_timer(cx)), Some(Time::ZERO + Dur::from_us(6250)));
    // An empty queue at time zero: (b - a) 50 is below zero.
    assert_eq!(h.q.law().prob(), 0.0);
    h.offer(0, 150, Ecn::NotEct);
    let mut want = 1.822e-5 * 100.0 + 1.816e-5 * 50.0;
    for k in 1..=20 {
        h.call(6250 * k, |q, cx| q.on_timer(cx));
        assert!((h.q.law().prob() - want).abs() < 1e-15, "{k}");
        want += (1.822e-5 - 1.816e-5) * 100.0;
    }
}

/// The discrete a and b are those of the paper's K_PI (s / 0.53 + 1) / s with K_PI = 9.64e-6, by the bilinear transform at 160 Hz.
#[test]
fn pi_defaults_are_the_papers_design() {
    let d = PiParams::default();
    let (k, w_g, t) = (9.64e-6, 0.53, d.interval.as_secs_f64());
    assert!((t - 1.0 / 160.0).abs() < 1e-12);
    assert!((d.a / (k * (1.0 / w_g + t / 2.0)) - 1.0).abs() < 1e-3);
    assert!((d.b / (k * (1.0 / w_g - t / 2.0)) - 1.0).abs() < 1e-3);
}

/// ns-2's byte mode: the probability grows with the length of the packet.
#[test]
fn pi_and_rem_byte_modes_drop_by_length() {
    let pi = PiParams { byte_mode: true, target: p(10), a: 2e-3, b: 1e-3, ..PiParams::default() };
    let rem = RemParams { measure: Measure::Bytes, target: p(10), gamma: 0.05, ..RemParams::default() };
    // The law is set by one sample of a queue of 200 packets, then keeps its probability.
    let mut h = Hand::new(pi.build(&link(10).into()));
    h.offer(0, 200, Ecn::NotEct);
    h.call(6250, |q, cx| q.on_timer(cx));
    assert!((h.q.law().prob() - (2e-3 * 190.0 + 1e-3 * 10.0)).abs() < 1e-12);
    let pi = long_over_short(&mut h, Fifo::evict);
    let mut h = Hand::new(rem.build(&link(10).into()));
    h.offer(0, 400, Ecn::NotEct);
    h.call(2000, |q, cx| q.on_timer(cx));
    assert!(h.q.law().prob() > 0.01);
    let rem = long_over_short(&mut h, Fifo::evict);
    assert!((pi - 4.0).abs() < 0.5 && (rem - 4.0).abs() < 0.5, "{pi} {rem}");
}

/// Drops of packets of 1000 bytes over drops of packets of 250, at a queue that stays as long as it is.
fn long_over_short<Q: Qdisc>(h: &mut Hand<Q>, evict: fn(&mut Q, usize) -> Option<Packet>) -> f64 {
    let keep = h.q.backlog().pkts;
    h.drops.clear();
    for i in 0..40_000 {
        h.call(10_000, |q, cx| q.enqueue(pkt([250, 1000][i % 2], Ecn::NotEct), cx));
        if h.q.backlog().pkts > keep {
            evict(&mut h.q, keep as usize);
        }
    }
    let long = h.drops.iter().filter(|d| d.0.len == 1000).count() as f64;
    long / (h.drops.len() as f64 - long)
}

/// The REM paper's price and probability, with gamma = 0.001, alpha = 0.1, b* = 20, phi = 1.001 and 2.5 packets a step of 2 ms at 10 Mbit/s.
#[test]
fn rem_price_follows_its_update() {
    let mut h = Hand::new(RemParams::default().build(&link(10).into()));
    h.call(0, |q, cx| q.on_timer(cx));
    h.offer(0, 70, Ecn::NotEct);
    h.call(2000, |q, cx| q.on_timer(cx));
    let first = 0.001 * (70.0 + 0.1 * (70.0 - 20.0) - 2.5);
    assert!((h.q.law().price() - first).abs() < 1e-15);
    assert!((h.q.law().prob() - (1.0 - 1.001_f64.powf(-first))).abs() < 1e-15);
    h.call(4000, |q, cx| q.on_timer(cx));
    let second = first + 0.001 * (0.1 * 50.0 - 2.5);
    assert!((h.q.law().price() - second).abs() < 1e-15);
    // An empty queue and no arrivals: the price sinks by gamma (alpha b* + c) a step, never below zero.
    while h.call(4000, |q, cx| q.dequeue(cx)).is_some() {}
    h.call(6000, |q, cx| q.on_timer(cx));
    assert!((h.q.law().price() - (second - 0.001 * (2.0 + 2.5))).abs() < 1e-15);
    (4..60).for_each(|k| assert!(h.call(2000 * k, |q, cx| q.on_timer(cx)).is_some()));
    assert_eq!((h.q.law().price(), h.q.law().prob()), (0.0, 0.0));
}

/// ns-2's low-pass filter of the arrivals, in_avg = (1 - inw) in_avg + inw in.
#[test]
fn rem_averages_arrivals() {
    let mut h = Hand::new(RemParams { weight: 0.25, alpha: 0.0, ..RemParams::default() }.build(&link(10).into()));
    h.offer(0, 100, Ecn::NotEct);
    h.call(2000, |q, cx| q.on_timer(cx));
    h.call(4000, |q, cx| q.on_timer(cx));
    assert!((h.q.law().price() - 0.001 * (25.0 - 2.5 + 18.75 - 2.5)).abs() < 1e-12);
}

/// The AVQ paper's pseudo-code by hand: room for 3 packets, 1250 packets a second, gamma 0.98, alpha 0.15.
#[test]
fn avq_follows_its_pseudo_code() {
    let params = AvqParams { measure: Measure::Packets, virtual_limit: Some(p(3)), ..AvqParams::default() };
    let mut h = Hand::new(params.build(&link(10).into()));
    h.offer(0, 5, Ecn::NotEct);
    // Three fit; each arrival, kept or not, takes alpha off the capacity, which began at the link's rate.
    assert_eq!((h.drops.len(), h.q.law().virtual_queue()), (2, 3.0));
    assert!((h.q.law().virtual_share() - (1250.0 - 5.0 * 0.15) / 1250.0).abs() < 1e-12);
    // 1 ms later the virtual queue has sent 1249.25 / 1000 packets and the capacity has grown to its bound.
    h.offer(1000, 1, Ecn::NotEct);
    assert!((h.q.law().virtual_queue() - (4.0 - 1.249_25)).abs() < 1e-12);
    assert!((h.q.law().virtual_share() - (1249.25 + 0.15 * 0.98 * 1.25 - 0.15) / 1250.0).abs() < 1e-12);
    // After long silence: empty, and the capacity is the link's less this arrival.
    h.offer(9_000_000, 1, Ecn::NotEct);
    assert!((h.q.law().virtual_queue() - 1.0).abs() < 1e-12);
    assert!((h.q.law().virtual_share() - (1250.0 - 0.15) / 1250.0).abs() < 1e-12);
}

/// ns-2's Vq: starts at 0.8 of the link, does not adapt on a dropped arrival, and caps after taking the arrival off.
#[test]
fn avq_in_the_dialect_of_ns2() {
    let params = AvqParams { measure: Measure::Packets, virtual_limit: Some(p(3)), ..ns2::<AvqParams>() };
    let mut h = Hand::new(params.build(&link(10).into()));
    h.offer(500, 5, Ecn::NotEct);
    assert_eq!((h.drops.len(), h.q.law().virtual_queue()), (2, 3.0));
    assert!((h.q.law().virtual_share() - (1000.0 - 3.0 * 0.15) / 1250.0).abs() < 1e-12);
    h.offer(9_000_000, 1, Ecn::NotEct);
    assert_eq!(h.q.law().virtual_share(), 1.0);
    // The class defaults: 50 packets of 1000 bytes, real and virtual.
    let mut h = Hand::new(ns2::<AvqParams>().build(&link(10).into()));
    h.offer(0, 60, Ecn::NotEct);
    assert_eq!((h.q.backlog().pkts, h.drops.len()), (50, 10));
}

fn settle<D: Discipline>(params: &D, flows: usize, ecn: Ecn) -> Seen {
    let mut q = params.build(&link(10).into());
    Loop { flows, ecn, ..Loop::new(10) }.run(&mut q, Dur::from_secs(320), Dur::from_secs(140))
}

/// The aim of PI: the reference queue, whatever the load. RED's queue grows with the load.
#[test]
fn pi_holds_its_reference() {
    let red = RedParams {
        limit: p(400),
        thresholds: RedThresholds { min: Some(p(20)), max: Some(p(100)), max_p: 0.1, ..RedThresholds::default() },
        ..RedParams::default()
    };
    for (flows, target) in [(5, 50), (12, 50), (12, 100)] {
        let seen = settle(&PiParams { limit: p(400), target: p(target), ..PiParams::default() }, flows, Ecn::NotEct);
        assert!((seen.queue / target as f64 - 1.0).abs() < 0.1, "{flows} {target} {seen:?}");
        assert!(seen.utilisation > 0.97, "{seen:?}");
    }
    let (few, many) = (settle(&red, 10, Ecn::NotEct).queue, settle(&red, 30, Ecn::NotEct).queue);
    assert!(many > 1.3 * few, "{few} {many}");
}

/// The aim of REM, with the marks it was made for: queue at b*, rate at capacity, whatever the number of flows.
#[test]
fn rem_holds_its_reference() {
    for (flows, target) in [(6, 20), (15, 20), (15, 60)] {
        let seen = settle(&RemParams { limit: p(400), target: p(target), ecn: true, ..RemParams::default() }, flows, Ecn::Ect0);
        assert!((seen.queue / target as f64 - 1.0).abs() < 0.1, "{flows} {target} {seen:?}");
        assert!(seen.drops == 0 && (seen.load - 1.0).abs() < 0.01, "{seen:?}");
    }
}

/// The price in balance: alpha (queue - b*) + arrivals - capacity = 0. Where packets are dropped more arrive than the link can send, and the queue
/// settles that much over alpha below b*.
#[test]
fn rem_that_drops_holds_a_shorter_queue() {
    for (flows, target) in [(6, 20), (15, 20), (15, 60)] {
        let seen = settle(&RemParams { limit: p(400), target: p(target), ..RemParams::default() }, flows, Ecn::NotEct);
        let want = target as f64 - (seen.load - 1.0) * 2.5 / 0.1;
        assert!((seen.queue / want - 1.0).abs() < 0.1, "{flows} {target} {want} {seen:?}");
    }
}

/// The aim of AVQ: arrivals at gamma of the link, so that its queue stays small; DropTail's load is the link's and more.
#[test]
fn avq_steers_to_its_utilisation() {
    for (flows, gamma) in [(10, 0.98), (30, 0.98), (30, 0.9)] {
        let params = AvqParams { limit: p(100), gamma, ..AvqParams::default() };
        let seen = settle(&params, flows, Ecn::NotEct);
        assert!((seen.load - gamma).abs() < 0.01, "{flows} {gamma} {seen:?}");
        let tail = settle(&DropTailParams { limit: p(100), ..DropTailParams::default() }, flows, Ecn::NotEct);
        assert!(tail.load > 1.0 && tail.queue > 2.0 * seen.queue, "{tail:?} {seen:?}");
    }
}

/// With ECN all of them signal without a loss.
#[test]
fn marks_replace_drops() {
    let pi = settle(&PiParams { limit: p(400), ecn: true, ..PiParams::default() }, 12, Ecn::Ect0);
    let rem = settle(&RemParams { limit: p(400), ecn: true, ..RemParams::default() }, 12, Ecn::Ect0);
    let departing = settle(&RemParams { limit: p(400), ecn: true, ..ns2::<RemParams>() }, 12, Ecn::Ect0);
    let avq = settle(&AvqParams { limit: p(100), ecn: true, ..AvqParams::default() }, 12, Ecn::Ect0);
    for seen in [pi, rem, departing, avq] {
        assert!(seen.drops == 0 && seen.marks > 1000, "{seen:?}");
    }
    assert!((pi.queue / 50.0 - 1.0).abs() < 0.1 && (rem.queue / 20.0 - 1.0).abs() < 0.1 && (avq.load - 0.98).abs() < 0.01);
}

/// ns-2's REM and Vq leave packets alone that cannot be marked, once they mark at all; ns-2's PI drops them.
#[test]
fn packets_that_cannot_be_marked() {
    let dropped = |seen: Seen| seen.drops > 0;
    let not_ect = |q: &mut dyn Qdisc| Loop { flows: 3, ..Loop::new(10) }.run(q, Dur::from_secs(60), Dur::ZERO);
    let site = link(10).into();
    let small = DropTailParams { limit: p(10_000), ..DropTailParams::default() };
    assert!(!dropped(not_ect(&mut small.build(&site))));
    for (ecn, spare, want) in [(true, true, false), (true, false, true), (false, true, true)] {
        let rem = RemParams { limit: p(10_000), ecn, spare_incapable: spare, ..RemParams::default() };
        assert_eq!(dropped(not_ect(&mut rem.build(&site))), want, "{ecn} {spare}");
        let avq = AvqParams { limit: p(10_000), virtual_limit: Some(p(50)), ecn, spare_incapable: spare, ..AvqParams::default() };
        assert_eq!(dropped(not_ect(&mut avq.build(&site))), want, "{ecn} {spare}");
    }
    assert!(dropped(not_ect(&mut PiParams { limit: p(10_000), target: p(10), ecn: true, ..PiParams::default() }.build(&site))));
}

#[test]
fn nonsense_is_named() {
    let l = LinkInfo { rate: Rate::from_mbps(10), delay: Dur::from_ms(20) };
    let pi = |p: PiParams| p.check(&l.into()).map_err(|e| e.field);
    assert_eq!(pi(PiParams { interval: Dur::ZERO, ..PiParams::default() }), Err("interval".into()));
    assert_eq!(pi(PiParams { a: 1e-5, b: 2e-5, ..PiParams::default() }), Err("a".into()));
    assert_eq!(pi(PiParams { b: f64::NAN, ..PiParams::default() }), Err("b".into()));
    let rem = |p: RemParams| p.check(&l.into()).map_err(|e| e.field);
    assert_eq!(rem(RemParams { phi: 1.0, ..RemParams::default() }), Err("phi".into()));
    assert_eq!(rem(RemParams { limit: p(0), ..RemParams::default() }), Err("limit".into()));
    assert_eq!(rem(RemParams { interval: Dur::ZERO, ..RemParams::default() }), Err("interval".into()));
    let avq = |p: AvqParams| p.check(&l.into()).map_err(|e| e.field);
    assert_eq!(avq(AvqParams { gamma: 1.2, ..AvqParams::default() }), Err("gamma".into()));
    assert_eq!(avq(AvqParams { virtual_limit: Some(p(0)), ..AvqParams::default() }), Err("virtual_limit".into()));
    assert!(pi(ns2()).is_ok() && rem(ns2()).is_ok() && avq(ns2()).is_ok());
    // 170 samples a second, to the picosecond.
    assert_eq!(ns2::<PiParams>().interval, Dur::from_ps(1_000_000_000_000 / 170));
}

fn limits() -> impl Strategy<Value = Len> {
    prop_oneof![(1_u64..80).prop_map(Len::Packets), (1540_u64..80_000).prop_map(Len::Bytes)]
}

/// A limit in packets is one of bytes where the queue is measured so.
fn bound(limit: Len, in_bytes: bool, ecn: bool) -> Rules {
    match limit {
        Len::Packets(n) if in_bytes => Rules { most: Backlog { pkts: u32::MAX, bytes: n * 1000 }, marks: ecn, ..Rules::default() },
        limit => rules(limit, ecn),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(32)))]

    #[test]
    fn pi_conforms(seed: u64, us in 200_u64..1500, limit in limits(), target in 0_u64..60, b in 0.0_f64..0.1, more in 0.0_f64..0.1,
                   ms in 1_u64..100, flags in proptest::array::uniform3(any::<bool>())) {
        let [in_bytes, byte_mode, ecn] = flags;
        let params = PiParams {
            limit, target: p(target), a: b + more, b, interval: Dur::from_ms(ms), byte_mode, ecn,
            measure: if in_bytes { Measure::Bytes } else { Measure::Packets }, mean_packet: Bytes(1000), admit: Admit::Fits,
            front: Front::default(),
        };
        prop_assert!(params.check(&link(10).into()).is_ok());
        run(&params.build(&link(10).into()), seed, us, &bound(limit, in_bytes, ecn))?;
    }

    #[test]
    fn rem_conforms(seed: u64, us in 200_u64..1500, limit in limits(), target in 0_u64..60, gamma in 0.0_f64..1.0, weight in 0.0_f64..=1.0,
                    ms in 1_u64..100, flags in proptest::array::uniform4(any::<bool>())) {
        let [in_bytes, mark_departing, spare_incapable, ecn] = flags;
        let params = RemParams {
            limit, target: p(target), gamma, weight, interval: Dur::from_ms(ms), ecn, mark_departing, spare_incapable,
            measure: if in_bytes { Measure::Bytes } else { Measure::Packets }, ..RemParams::default()
        };
        prop_assert!(params.check(&link(10).into()).is_ok());
        run(&params.build(&link(10).into()), seed, us, &bound(limit, in_bytes, ecn))?;
    }

    #[test]
    fn avq_conforms(seed: u64, us in 200_u64..1500, limit in limits(), gamma in 0.0_f64..=1.0, alpha in 0.0_f64..10.0, initial in 0.0_f64..=1.0,
                    flags in proptest::array::uniform5(any::<bool>())) {
        let [in_bytes, skip_dropped, cap_last, spare_incapable, ecn] = flags;
        let params = AvqParams {
            limit, gamma, alpha, initial, ecn, skip_dropped, cap_last, spare_incapable,
            measure: if in_bytes { Measure::Bytes } else { Measure::Packets }, ..AvqParams::default()
        };
        prop_assert!(params.check(&link(10).into()).is_ok());
        run(&params.build(&link(10).into()), seed, us, &bound(limit, in_bytes, ecn))?;
    }
}
