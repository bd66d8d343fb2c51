//! WRED, RIO and ModRED: thresholds by drop precedence, averages of two kinds, windows instead of drops.

use crate::closed::{link, rules, run};
use fairlane_engine::Stream;
use fairlane_net::{Class, DropReason, Ecn, FlowId, Packet, QCx, Qdisc};
use fairlane_queue::{
    Coupling, CurveTuning, Discipline, Fifo, Match, Measure, ModRed, ModRedParams, RedParams, RedStart, RedThresholds, RedTuning,
    RioParams, WredLevel, WredParams, code_point,
};
use fairlane_testkit::cases;
use fairlane_testkit::conformance::{Load, check};
use fairlane_units::{Bytes, Dur, Len, Time};
use proptest::prelude::*;

fn p(n: u64) -> Len {
    Len::Packets(n)
}

fn preset<D: Discipline + serde::de::DeserializeOwned>(name: &str) -> D {
    serde_json::from_str(D::PRESETS.iter().find(|p| p.name == name).unwrap().values).unwrap()
}

/// A packet of 1000 bytes with the code point of this name.
fn coloured(name: &str) -> Packet {
    Packet { class: Class(code_point(name).unwrap()), ..crate::closed::pkt(1000, Ecn::NotEct) }
}

/// A queue called by hand. `steady` offers packets to it while it keeps its length.
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
    fn at<R>(&mut self, us: u64, f: impl FnOnce(&mut Q, &mut QCx<'_>) -> R) -> R {
        let mut cx = QCx { now: Time::ZERO + Dur::from_us(us), rng: &mut self.rng, drops: &mut self.drops, marks: 0 };
        let r = f(&mut self.q, &mut cx);
        self.marks += cx.marks;
        r
    }
    fn offer(&mut self, p: &Packet) {
        self.at(0, |q, cx| q.enqueue(*p, cx));
    }
    /// Fills the queue with `n` packets, however many are lost on the way.
    fn fill(&mut self, p: &Packet, n: u32) {
        let want = self.q.backlog().pkts + n;
        while self.q.backlog().pkts < want {
            self.offer(p);
        }
    }
}

impl<L: fairlane_queue::Law> Hand<Fifo<L>> {
    /// Share of `n` arrivals that is dropped at a queue that stays as it is.
    fn share(&mut self, p: &Packet, n: usize) -> f64 {
        let keep = self.q.backlog().pkts;
        self.drops.clear();
        for _ in 0..n {
            self.offer(p);
            if self.q.backlog().pkts > keep {
                self.q.evict(keep as usize);
            }
        }
        self.drops.len() as f64 / n as f64
    }
}

/// Uniform gaps: at p_b the share dropped is 1 / mean gap with gaps of 1 to 1/p_b - 1 arrivals (RED, section 7).
fn uniform_share(p_b: f64) -> f64 {
    2.0 * p_b
}

/// Three precedences share one average and each follows its own ramp.
#[test]
fn wred_judges_each_precedence_by_its_own_curve() {
    let level = |name: &str, min, max, max_p| WredLevel { select: name.into(), min: p(min), max: p(max), max_p };
    let params = WredParams {
        levels: vec![level("dscp:af11", 30, 50, 0.1), level("dscp:af12", 10, 50, 0.1), level("dscp:af13", 5, 15, 0.1)],
        w_q: 1.0,
        ..WredParams::default()
    };
    let mut h = Hand::new(params.build(&link(10).into()));
    h.fill(&coloured("af11"), 20);
    assert_eq!(h.share(&coloured("af11"), 20_000), 0.0);
    // (20 - 10) / (50 - 10) of 0.1.
    let yellow = h.share(&coloured("af12"), 100_000);
    assert!((yellow / uniform_share(0.025) - 1.0).abs() < 0.05, "{yellow}");
    assert_eq!(h.share(&coloured("af13"), 1000), 1.0);
    // A packet that no level names is judged by the last.
    assert_eq!(h.share(&coloured("ef"), 1000), 1.0);
    assert!(h.drops.iter().all(|d| d.1 == DropReason::Forced));
}

/// RFC 2597 section 6 by default: AFx1 before AFx2 before AFx3, in each of the four classes, and everything else after them.
#[test]
fn wred_reads_drop_precedence_from_the_code_point() {
    let mut h = Hand::new(WredParams { w_q: 1.0, ..WredParams::default() }.build(&link(10).into()));
    // Cisco's minimum thresholds 32, 28, 24 and 20, maximum 40, one in ten.
    let mut lost_at = |name: &str, n: u32| {
        let waiting = h.q.backlog().pkts;
        h.fill(&coloured("af11"), n.saturating_sub(waiting));
        h.share(&coloured(name), 4000) > 0.0
    };
    for (min, names) in [(20, ["be", "cs1"]), (24, ["af13", "af43"]), (28, ["af22", "af32"]), (32, ["af21", "af41"])] {
        assert!(names.iter().all(|n| !lost_at(n, min)), "{min}");
        assert!(names.iter().all(|n| lost_at(n, min + 1)), "{min}");
    }
    // The whole table of Cisco IOS.
    let cisco: WredParams = preset("cisco");
    let min_of = |name: &str| {
        let (site, pkt) = (link(10).into(), coloured(name));
        let fits = |l: &&WredLevel| fairlane_queue::Filter::new(&l.select, &site).fits(&pkt);
        cisco.levels.iter().find(fits).unwrap().min
    };
    for (name, min) in [
        ("af11", 32),
        ("af12", 28),
        ("af13", 24),
        ("af41", 32),
        ("af42", 28),
        ("af43", 24),
        ("cs1", 22),
        ("cs2", 24),
        ("cs3", 26),
        ("cs4", 28),
        ("cs5", 30),
        ("cs6", 32),
        ("cs7", 34),
        ("ef", 36),
        ("be", 20),
    ] {
        assert_eq!(min_of(name), p(min), "{name}");
    }
}

/// With one level it is RED, packet by packet; with two it is not.
#[test]
fn wred_of_one_level_is_red() {
    let red = RedParams {
        limit: p(60),
        thresholds: RedThresholds { min: Some(p(5)), max: Some(p(15)), max_p: 0.1, ..RedThresholds::default() },
        tuning: RedTuning { w_q: Some(0.01), gentle: false, ..RedTuning::default() },
        ..RedParams::default()
    };
    let level = WredLevel { select: Match::default(), min: p(5), max: p(15), max_p: 0.1 };
    let one = WredParams { levels: vec![level.clone()], w_q: 0.01, limit: p(60), ..WredParams::default() };
    let two = WredParams { levels: vec![WredLevel { select: "udp".into(), min: p(10), ..level.clone() }, level], ..one.clone() };
    let out = |q: &dyn Fn() -> Result<fairlane_testkit::conformance::Outcome, TestCaseError>| q().unwrap();
    let r = out(&|| run(&red.build(&link(10).into()), 3, 500, &rules(p(60), false)));
    let w = out(&|| run(&one.build(&link(10).into()), 3, 500, &rules(p(60), false)));
    let t = out(&|| run(&two.build(&link(10).into()), 3, 500, &rules(p(60), false)));
    assert!(r.dropped.len() > 50 && r == w && r != t);
}

/// A RIO with averages equal to the queues, curves 20 to 40 for IN and 5 to 25 for OUT, both up to 0.1.
fn rio(coupling: Coupling) -> RioParams {
    RioParams {
        in_min: p(20),
        in_max: p(40),
        in_max_p: 0.1,
        out_min: p(5),
        out_max: p(25),
        out_max_p: 0.1,
        coupling,
        w_q: 1.0,
        ..RioParams::default()
    }
}

/// Clark and Fang: OUT is judged by the total, IN by the IN packets alone, so that OUT goes first.
#[test]
fn rio_drops_out_before_in() {
    let (inside, outside) = (coloured("af11"), coloured("be"));
    let mut h = Hand::new(rio(Coupling::Coupled).build(&link(10).into()));
    h.fill(&inside, 15);
    assert_eq!((h.drops.len(), h.share(&inside, 10_000)), (0, 0.0));
    // 15 IN packets are 15 in total: (15 - 5) / 20 of 0.1.
    let out = h.share(&outside, 40_000);
    assert!((out / uniform_share(0.05) - 1.0).abs() < 0.05, "{out}");
    assert_eq!((h.q.law().avg(), h.q.law().avg_in()), (15.0, 15.0));
    h.fill(&inside, 12);
    assert_eq!(h.share(&outside, 1000), 1.0);
    // 27 IN packets: (27 - 20) / 20 of 0.1; the OUT packets that wait do not count for them.
    let share = h.share(&inside, 40_000);
    assert!((share / uniform_share(0.035) - 1.0).abs() < 0.05, "{share}");
}

/// A queue full of OUT packets costs IN nothing; in the decoupled variant a queue full of IN costs OUT nothing either.
#[test]
fn rio_couples_one_way_and_decoupled_not_at_all() {
    let (inside, outside) = (coloured("af21"), coloured("af22"));
    for coupling in [Coupling::Coupled, Coupling::Decoupled] {
        let mut h = Hand::new(rio(coupling).build(&link(10).into()));
        h.fill(&outside, 24);
        assert_eq!(h.share(&inside, 10_000), 0.0);
        let mut h = Hand::new(rio(coupling).build(&link(10).into()));
        h.fill(&inside, 18);
        let out = h.share(&outside, 10_000);
        assert_eq!(out > 0.0, coupling == Coupling::Coupled, "{out}");
    }
}

/// The average of the IN packets follows their number in the queue, through departures, evictions and overflows.
#[test]
fn rio_counts_its_in_packets() {
    let params = RioParams { limit: p(10), in_min: p(50), in_max: p(60), out_min: p(50), out_max: p(60), w_q: 1.0, ..RioParams::default() };
    let mut h = Hand::new(params.build(&link(10).into()));
    let (inside, outside) = (coloured("af11"), coloured("be"));
    let mut rng = Stream::new(9, "test", "rio", "mix");
    for _ in 0..3000 {
        match rng.below(4) {
            0 => h.offer(&inside),
            1 => h.offer(&outside),
            2 => drop(h.at(0, |q, cx| q.dequeue(cx))),
            _ => drop(h.q.evict(rng.below(10) as usize)),
        }
        let want = h.q.packets().iter().filter(|p| p.class == inside.class).count() as f64;
        h.at(0, |q, cx| q.enqueue(inside, cx));
        assert_eq!(h.q.law().avg_in(), want);
        if h.q.packets().back().is_some_and(|p| p.class == inside.class) {
            h.q.evict(h.q.packets().len() - 1);
        }
    }
    assert!(h.drops.len() > 100);
}

/// ns-2.35's RIO: class defaults, the OUT probability from linterm_, and averages that only IN packets move.
#[test]
fn rio_in_the_dialect_of_ns2() {
    let ns2: RioParams = preset("ns2");
    assert_eq!((ns2.in_min, ns2.in_max, ns2.out_min, ns2.out_max), (p(15), p(30), p(5), p(15)));
    assert_eq!((ns2.in_max_p, ns2.out_max_p), (1.0 / 50.0, 1.0 / 10.0));
    let mut h = Hand::new(RioParams { w_q: 1.0, ..ns2.clone() }.build(&link(10).into()));
    // OUT alone fills the buffer: no average moves, nothing is dropped early.
    h.fill(&coloured("be"), 50);
    assert_eq!((h.drops.len(), h.q.law().avg()), (0, 0.0));
    h.offer(&coloured("be"));
    assert_eq!(h.drops[0].1, DropReason::Overflow);
    // One IN packet moves the total average, even if it is lost; then OUT is dropped by force.
    h.at(0, |q, cx| q.dequeue(cx));
    h.offer(&coloured("af11"));
    assert_eq!((h.q.law().avg(), h.q.law().avg_in()), (49.0, 0.0));
    h.at(0, |q, cx| q.dequeue(cx));
    h.offer(&coloured("be"));
    assert_eq!(h.drops.last().unwrap().1, DropReason::Forced);
}

/// Idle time ages the averages as in RED: by the packets of mean length that the link could have sent.
#[test]
fn rio_averages_age_while_the_link_is_idle() {
    let w: f64 = 0.05;
    for total_by_in in [false, true] {
        let params = RioParams { w_q: w, in_min: p(100), in_max: p(200), total_by_in, ..RioParams::default() };
        let mut h = Hand::new(params.build(&link(10).into()));
        let inside = coloured("af11");
        h.fill(&inside, 60);
        let mut last = 0;
        while h.at(last, |q, cx| q.dequeue(cx)).is_some() {
            last += 800;
        }
        let before = h.q.law().avg();
        assert_eq!(before, h.q.law().avg_in());
        // The last packet left at `last` - 800 and took 0.8 ms; then 10.5 packet times of silence.
        h.at(last + 8400, |q, cx| q.enqueue(inside, cx));
        let want = before * (1.0 - w).powi(11);
        assert!((h.q.law().avg() / want - 1.0).abs() < 1e-9 && (h.q.law().avg_in() / want - 1.0).abs() < 1e-9);
    }
}

/// ECN: marks below the upper threshold, drops above it (RFC 3168 section 7).
#[test]
fn precedences_mark_below_the_upper_threshold() {
    let capable = Packet { ecn: Ecn::Ect0, ..coloured("be") };
    let mut h = Hand::new(
        RioParams { curves: CurveTuning { ecn: true, ..rio(Coupling::Coupled).curves }, ..rio(Coupling::Coupled) }.build(&link(10).into()),
    );
    h.fill(&coloured("af11"), 15);
    assert_eq!(h.share(&capable, 1000), 0.0);
    assert!(h.marks > 50);
    h.fill(&coloured("af11"), 12);
    assert_eq!(h.share(&capable, 1000), 1.0);
    let level = WredLevel { select: Match::default(), min: p(5), max: p(25), max_p: 0.1 };
    let mut h = Hand::new(
        WredParams { levels: vec![level], w_q: 1.0, curves: CurveTuning { ecn: true, ..CurveTuning::default() }, ..WredParams::default() }
            .build(&link(10).into()),
    );
    h.fill(&capable, 15);
    let marks = h.marks;
    assert_eq!(h.share(&capable, 1000), 0.0);
    assert!(h.marks > marks + 50);
    h.fill(&capable, 10);
    assert_eq!(h.share(&capable, 1000), 1.0);
}

fn modred() -> Hand<Fifo<ModRed>> {
    Hand::new(ModRedParams { w_q: 1.0, window: Bytes(512), ..ModRedParams::default() }.build(&link(10).into()))
}

/// Part B of the paper: below the thresholds nothing; between them windows are cut and nothing is dropped or marked; above them packets are dropped.
#[test]
fn modred_cuts_windows_between_the_thresholds() {
    let (inside, outside) = (coloured("af11"), coloured("be"));
    let mut h = modred();
    assert!(h.q.clamps());
    let mut seen = vec![];
    for _ in 0..30 {
        h.offer(&inside);
        seen.push((h.q.law().avg() as u32, h.q.window_clamp(FlowId(7)), h.drops.len()));
    }
    for (avg, clamp, drops) in &seen {
        assert_eq!(*clamp, (5..=20).contains(avg).then_some(512), "{avg}");
        assert!(*avg > 20 || *drops == 0, "{avg}");
    }
    // IN is dropped above 20, so 21 wait: the average that lets the last one in is 20.
    assert_eq!((h.q.backlog().pkts, h.drops.len()), (21, 9));
    assert!(h.drops.iter().all(|d| d.1 == DropReason::Forced));
    // OUT is dropped above 10 of all packets, with windows still cut.
    let mut h = modred();
    h.fill(&inside, 10);
    assert_eq!(h.share(&outside, 1000), 0.0);
    h.fill(&inside, 1);
    assert_eq!(h.share(&outside, 1000), 1.0);
    assert_eq!(h.share(&inside, 1000), 0.0);
    assert_eq!(h.q.window_clamp(FlowId(0)), Some(512));
}

/// It neither marks nor drops early, unlike RIO with the same thresholds, and a full buffer still drops.
#[test]
fn modred_is_not_rio() {
    let capable = Packet { ecn: Ecn::Ect0, ..coloured("af11") };
    let mut h = modred();
    h.fill(&capable, 18);
    assert_eq!((h.share(&capable, 5000), h.marks), (0.0, 0));
    let rio = RioParams { in_min: p(10), in_max: p(20), in_max_p: 0.02, out_min: p(5), out_max: p(10), w_q: 1.0, ..RioParams::default() };
    let mut r = Hand::new(rio.build(&link(10).into()));
    r.fill(&capable, 18);
    assert!(r.share(&capable, 5000) > 0.01 && r.q.window_clamp(FlowId(0)).is_none() && !r.q.clamps());
    let mut small = Hand::new(ModRedParams { limit: p(8), w_q: 1.0, ..ModRedParams::default() }.build(&link(10).into()));
    (0..12).for_each(|_| small.offer(&capable));
    assert_eq!((small.q.backlog().pkts, small.drops.len(), small.drops[0].1), (8, 4, DropReason::Overflow));
}

#[test]
fn nonsense_is_named() {
    let site = link(10).into();
    let wred = |p: WredParams| p.check(&site).map_err(|e| e.field);
    assert_eq!(wred(WredParams { levels: vec![], ..WredParams::default() }), Err("levels".into()));
    let odd = WredLevel { min: p(50), ..WredLevel::default() };
    assert_eq!(wred(WredParams { levels: vec![WredLevel::default(), odd], ..WredParams::default() }), Err("levels.1.max".into()));
    let unread = WredLevel { select: "dscp:af15".into(), ..WredLevel::default() };
    assert_eq!(wred(WredParams { levels: vec![unread], ..WredParams::default() }), Err("levels.0.match".into()));
    let rio = |p: RioParams| p.check(&site).map_err(|e| e.field);
    assert_eq!(rio(RioParams { out_max: p(1), ..RioParams::default() }), Err("out_max".into()));
    assert_eq!(rio(RioParams { in_max_p: 1.5, ..RioParams::default() }), Err("in_max_p".into()));
    assert_eq!(rio(RioParams { in_profile: "ecn:ect1".into(), ..RioParams::default() }), Err("in_profile".into()));
    assert_eq!(rio(RioParams { total_by_in: true, coupling: Coupling::Decoupled, ..RioParams::default() }), Err("coupling".into()));
    let modred = |p: ModRedParams| p.check(&site).map_err(|e| e.field);
    assert_eq!(modred(ModRedParams { window: Bytes(0), ..ModRedParams::default() }), Err("window".into()));
    assert_eq!(modred(ModRedParams { in_max: p(2), ..ModRedParams::default() }), Err("in_max".into()));
    assert!(wred(preset("cisco")).is_ok() && wred(preset("qualnet")).is_ok() && rio(preset("ns2")).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(32)))]

    #[test]
    fn conform(seed: u64, us in 200_u64..1500, limit in 1_u64..80, min in 0_u64..20, width in 0_u64..20, max_p in 0.0_f64..=1.0,
               w_q in 0.0001_f64..=1.0, spare in proptest::option::of(0_u64..4), flags in proptest::array::uniform7(any::<bool>())) {
        let [gentle, wait, byte_mode, ecn, grace, in_bytes, ns2] = flags;
        let measure = if in_bytes { Measure::Bytes } else { Measure::Packets };
        let mean_packet = Bytes(1600);
        // Flows of the load have classes 0 to 4 and odd ones are UDP: IN are the UDP flows and class 4.
        let in_profile: Match = ["udp", "dscp:4"].into();
        let rio = RioParams {
            limit: p(limit),
            in_profile: in_profile.clone(),
            in_min: p(min + 5),
            in_max: p(min + 5 + width),
            in_max_p: max_p,
            out_min: p(min),
            out_max: p(min + width),
            out_max_p: max_p,
            w_q,
            coupling: if ns2 || wait { Coupling::Coupled } else { Coupling::Decoupled },
            total_by_in: ns2,
            keep_out_gap: ns2,
            curves: CurveTuning { gentle, wait, byte_mode, ecn, measure, mean_packet },
            start: RedStart { grace, spare },
            ..RioParams::default()
        };
        let level = |select, more| WredLevel { select, min: p(min + more), max: p(min + more + width), max_p };
        let wred = WredParams {
            limit: p(limit),
            levels: vec![level("dscp:1".into(), 5), level("tcp".into(), 2), level(Match::default(), 0)],
            w_q,
            curves: CurveTuning { gentle, wait, byte_mode, ecn, measure, mean_packet },
            ..WredParams::default()
        };
        let modred = ModRedParams {
            limit: p(limit), in_profile, min: p(min), in_max: p(min + width + 5), out_max: p(min + width), w_q, measure, mean_packet, ..ModRedParams::default()
        };
        let bound = |marks| match in_bytes {
            true => rules(Len::Bytes(limit * 1600), marks),
            false => rules(p(limit), marks),
        };
        let load = Load { packets: crate::closed::PACKETS, flows: 5, lens: &[40, 576, 1540], ect: 0.5, mean_gap: Dur::from_us(us) }.draw(seed);
        let site = link(10).into();
        prop_assert!(rio.check(&site).is_ok() && wred.check(&site).is_ok() && modred.check(&site).is_ok());
        check(&rio.build(&site), link(10), &load, &bound(ecn)).map_err(TestCaseError::fail)?;
        check(&wred.build(&site), link(10), &load, &bound(ecn)).map_err(TestCaseError::fail)?;
        check(&modred.build(&site), link(10), &load, &bound(false)).map_err(TestCaseError::fail)?;
    }
}
