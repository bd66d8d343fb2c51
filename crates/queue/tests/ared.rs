//! Adaptive RED against the rules of Floyd, Gummadi and Shenker (2001) and the class defaults of ns-2 and ns-3.

use crate::closed::{Loop, link, pkt, rules, run};
use fairlane_engine::Stream;
use fairlane_net::{Ecn, LinkInfo, QCx, Qdisc};
use fairlane_queue::{Admit, Ared, AredParams, Discipline, Fifo, RedParams, RedThresholds, RedTuning};
use fairlane_testkit::cases;
use fairlane_units::{Dur, Len, Rate, Time};
use proptest::prelude::*;

fn preset(name: &str) -> AredParams {
    serde_json::from_str(AredParams::PRESETS.iter().find(|p| p.name == name).unwrap().values).unwrap()
}

/// Thresholds 10 and 60, average equal to the queue: the target is 30 to 40.
fn instant() -> AredParams {
    AredParams {
        limit: Len::Packets(10_000),
        thresholds: RedThresholds { min: Some(Len::Packets(10)), max: Some(Len::Packets(60)), ..RedThresholds::default() },
        tuning: RedTuning { w_q: Some(1.0), ..RedTuning::default() },
        ..AredParams::default()
    }
}

/// A queue that holds `pkts` packets, however many the law drops on the way, fed and timed by hand.
struct Held {
    q: Fifo<Ared>,
    rng: Stream,
}

impl Held {
    fn new(params: &AredParams, pkts: u32) -> Self {
        let mut h = Self { q: params.build(&link(10).into()), rng: Stream::new(3, "port", "ared", "aqm") };
        while h.q.backlog().pkts < pkts {
            h.call(Time::ZERO, |q, cx| q.enqueue(pkt(1000, Ecn::NotEct), cx));
        }
        h
    }
    fn call<R>(&mut self, now: Time, f: impl FnOnce(&mut Fifo<Ared>, &mut QCx<'_>) -> R) -> R {
        let mut drops = vec![];
        f(&mut self.q, &mut QCx { now, rng: &mut self.rng, drops: &mut drops, marks: 0 })
    }
    fn tick(&mut self, n: u64) -> f64 {
        let at = Time::ZERO + Dur::from_ms(500) * n;
        assert_eq!(self.call(at, |q, cx| q.on_timer(cx)), Some(at + Dur::from_ms(500)));
        self.q.law().max_p()
    }
}

/// The target runs from min + 0.4 (max - min) to min + 0.6 (max - min).
#[test]
fn target_is_the_middle_fifth() {
    assert_eq!(Held::new(&instant(), 0).q.law().target(), (30.0, 40.0));
    // Automatic thresholds at 10 Mbit/s: 6.25 and 18.75 packets of 500 bytes.
    let auto =
        AredParams { tuning: RedTuning { mean_packet: fairlane_units::Bytes(500), ..RedTuning::default() }, ..AredParams::default() };
    let (low, high) = Held::new(&auto, 0).q.law().target();
    assert!((low - 11.25).abs() < 1e-12 && (high - 13.75).abs() < 1e-12, "{low} {high}");
}

/// The paper: alpha = min(0.01, max_p / 4) up, beta = 0.9 down, every half second, nothing at time zero or inside the target.
#[test]
fn max_p_moves_by_aimd() {
    let mut above = Held::new(&instant(), 45);
    assert_eq!(above.tick(0), 0.1);
    let mut want = 0.1;
    for n in 1..=60 {
        // The bound is looked at before the step: 0.5 is passed by less than one step.
        want += if want <= 0.5 { 0.01 } else { 0.0 };
        assert!((above.tick(n) - want).abs() < 1e-12, "{n}");
    }
    assert!(want > 0.5 && want < 0.511);
    let mut slow = Held::new(&AredParams { thresholds: RedThresholds { max_p: 0.01, ..instant().thresholds }, ..instant() }, 45);
    let steps: Vec<f64> = (1..=3).map(|n| slow.tick(n)).collect();
    // A quarter of itself while that is less than 0.01.
    for (got, want) in steps.iter().zip([0.0125, 0.015_625, 0.019_531_25]) {
        assert!((got - want).abs() < 1e-15, "{steps:?}");
    }
    let mut below = Held::new(&AredParams { bottom: Some(0.01), ..instant() }, 20);
    let mut want = 0.1;
    for n in 1..=40 {
        want *= if want >= 0.01 { 0.9 } else { 1.0 };
        assert!((below.tick(n) - want).abs() < 1e-12, "{n}");
    }
    assert!(want < 0.01 && want > 0.008);
    let mut inside = Held::new(&instant(), 36);
    assert!((1..=20).all(|n| inside.tick(n) == 0.1));
}

/// ns-2 and ns-3 look only when a packet arrives, more than the interval after the last change.
#[test]
fn dialects_adapt_on_arrival() {
    let p = AredParams { on_arrival: true, ..instant() };
    let mut h = Held::new(&p, 45);
    assert_eq!(h.call(Time::ZERO, |q, cx| q.on_timer(cx)), None);
    let mut seen = vec![];
    for ms in [400, 500, 501, 900, 1001, 1002, 5000, 5400, 5501] {
        h.call(Time::ZERO + Dur::from_ms(ms), |q, cx| q.enqueue(pkt(1000, Ecn::NotEct), cx));
        seen.push((h.q.law().max_p() * 100.0).round() as u32);
    }
    assert_eq!(seen, [10, 10, 11, 11, 11, 12, 13, 13, 14]);
}

/// ns-2's automatic lower bound: one in the packets of 1000 bytes that the link carries in 100 ms, at most 0.01.
#[test]
fn automatic_bottom() {
    for (mbps, bottom) in [(1, 0.01), (8, 0.01), (20, 0.004), (100, 0.0008)] {
        let mut q = AredParams { thresholds: RedThresholds { max_p: bottom * 1.05, ..instant().thresholds }, ..instant() }
            .build(&link(mbps).into());
        let (mut rng, mut drops) = (Stream::new(1, "port", "ared", "aqm"), vec![]);
        let mut at = |ms| {
            q.on_timer(&mut QCx { now: Time::ZERO + Dur::from_ms(ms), rng: &mut rng, drops: &mut drops, marks: 0 });
            q.law().max_p()
        };
        // One step takes it below the bound, then it stays.
        let (first, second) = (at(500), at(1000));
        assert!((first - bottom * 0.945).abs() < 1e-12 && first == second, "{mbps}: {first} {second}");
    }
}

/// Table of the automatic values of Queue/RED in ns-2.35; ns-3 takes w = 1 - exp(-1/C), a second.
#[test]
fn dialects_set_themselves() {
    let l = LinkInfo { rate: Rate::from_mbps(10), delay: Dur::from_ms(200) };
    let (ns2, ns3) = (preset("ns2").setting(l), preset("ns3").setting(l));
    assert!((ns2.w_q - (1.0 - (-1.0 / (10.0 * 3.0 * 0.2004 * 2500.0_f64)).exp())).abs() < 1e-15);
    assert!((ns3.w_q - (1.0 - (-1.0 / 2500.0_f64).exp())).abs() < 1e-15);
    assert!((ns2.min - 3125.0).abs() < 1e-9 && (ns2.max - 9375.0).abs() < 1e-9, "{ns2:?}");
    assert!((ns3.min - 6.25).abs() < 1e-12 && (ns3.max - 18.75).abs() < 1e-12, "{ns3:?}");
}

/// The aim: whatever the load, the average settles in the target. RED with a fixed max_p does not.
#[test]
fn average_settles_in_the_target() {
    let p = AredParams {
        limit: Len::Packets(500),
        thresholds: RedThresholds { min: Some(Len::Packets(20)), max: Some(Len::Packets(60)), ..RedThresholds::default() },
        ..AredParams::default()
    };
    for flows in [10, 20, 40] {
        let mean = |queue: &mut dyn Qdisc| Loop { flows, ..Loop::new(10) }.run(queue, Dur::from_secs(160), Dur::from_secs(80)).queue;
        let ared = mean(&mut p.build(&link(10).into()));
        assert!((34.0..46.0).contains(&ared), "{flows} flows: {ared}");
        let red = RedParams {
            limit: p.limit,
            thresholds: RedThresholds { min: p.thresholds.min, max: p.thresholds.max, max_p: 0.02, ..RedThresholds::default() },
            ..RedParams::default()
        };
        let red = mean(&mut red.build(&link(10).into()));
        assert!(flows < 40 || red > 55.0, "{flows} flows: {red}");
    }
}

/// With max_p held still it is RED, packet by packet.
#[test]
fn without_adaptation_it_is_red() {
    let still = AredParams {
        alpha: 0.0,
        beta: 1.0,
        thresholds: RedThresholds { min: Some(Len::Packets(5)), max: Some(Len::Packets(15)), ..RedThresholds::default() },
        ..AredParams::default()
    };
    let red = RedParams {
        thresholds: RedThresholds { min: still.thresholds.min, max: still.thresholds.max, ..RedThresholds::default() },
        ..RedParams::default()
    };
    let a = run(&still.build(&link(10).into()), 7, 600, &rules(Len::Packets(1000), true)).unwrap();
    let r = run(&red.build(&link(10).into()), 7, 600, &rules(Len::Packets(1000), true)).unwrap();
    assert_eq!(a, r);
    let moving = AredParams { alpha: 0.01, beta: 0.9, ..still };
    assert_ne!(run(&moving.build(&link(10).into()), 7, 600, &rules(Len::Packets(1000), true)).unwrap(), r);
}

#[test]
fn nonsense_is_named() {
    let field = |p: AredParams| p.check(&link(10).into()).unwrap_err().field;
    assert_eq!(field(AredParams { interval: Dur::ZERO, ..AredParams::default() }), "interval");
    assert_eq!(field(AredParams { beta: 1.5, ..AredParams::default() }), "beta");
    assert_eq!(field(AredParams { top: 0.005, bottom: Some(0.01), ..AredParams::default() }), "top");
    assert_eq!(field(AredParams { limit: Len::Packets(0), ..AredParams::default() }), "limit");
    for p in AredParams::PRESETS {
        assert_eq!(preset(p.name).check(&link(10).into()), Ok(()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(32)))]

    #[test]
    fn conforms(seed: u64, us in 200_u64..1500, limit in 1_u64..80, min in 0_u64..20, width in 0_u64..40, max_p in 0.0_f64..=1.0,
                ms in 1_u64..100, flags in proptest::array::uniform4(any::<bool>())) {
        let [on_arrival, fixed_gentle, gentle, ecn] = flags;
        let p = AredParams {
            limit: Len::Packets(limit),
            admit: Admit::Fits,
            interval: Dur::from_ms(ms),
            on_arrival,
            fixed_gentle,
            thresholds: RedThresholds {
                min: Some(Len::Packets(min)),
                max: Some(Len::Packets(min + width)),
                max_p,
                ..RedThresholds::default()
            },
            tuning: RedTuning { gentle, ecn, ..RedTuning::default() },
            ..AredParams::default()
        };
        prop_assert!(p.check(&link(10).into()).is_ok());
        let out = run(&p.build(&link(10).into()), seed, us, &rules(p.limit, ecn))?;
        prop_assert_eq!(out.sent.len() + out.dropped.len(), crate::closed::PACKETS);
    }
}
