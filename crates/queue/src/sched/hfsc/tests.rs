use super::*;
use crate::DropTailParams;
use crate::sched::testing::{Desk, link, pkt, steps_per_packet, us};
use fairlane_engine::Stream;
use fairlane_units::Dur;

type Class = HfscClassParams<DropTailParams>;

fn kbit(n: u64) -> Rate {
    Rate::from_bps(n * 1000)
}

fn line(n: u64) -> Option<ServiceCurve> {
    Some(ServiceCurve::line(kbit(n)))
}

fn curve(m1: u64, d_ms: u64, m2: u64) -> Option<ServiceCurve> {
    Some(ServiceCurve { m1: Some(kbit(m1)), d: Dur::from_ms(d_ms), m2: kbit(m2) })
}

/// A class whose packets have the code point `flow`, which is also their flow's number; 64 for one with classes below it.
fn class(name: &str, parent: &str, flow: u32) -> Class {
    HfscClassParams {
        name: name.into(),
        parent: (!parent.is_empty()).then(|| parent.into()),
        select: if flow < 64 { format!("dscp:{flow}").as_str().into() } else { "any".into() },
        queue: DropTailParams { limit: Len::Packets(1_000_000), ..DropTailParams::default() },
        ..HfscClassParams::default()
    }
}

const INNER: u32 = 64;

fn build(classes: Vec<Class>) -> (HfscParams<DropTailParams>, Hfsc<impl Qdisc + Clone + std::fmt::Debug>) {
    let p = HfscParams { classes, ..HfscParams::default() };
    p.check(&link().into()).unwrap();
    let q = p.build(&link().into());
    (p, q)
}

/// A packet that left: flow, arrival, end of its transmission, length.
type Sent = (u32, Time, Time, u32);

/// Sends packets (time, flow, length), in order of time, over the link of 8 Mbit/s until `end`.
fn run(q: &mut impl Qdisc, arrivals: &[(Time, u32, u32)], end: Time) -> Vec<Sent> {
    let (mut desk, mut sent, mut free, mut now, mut k) = (Desk::new(), vec![], Time::ZERO, Time::ZERO, 0);
    while now < end {
        let next = arrivals.get(k).map_or(Time::MAX, |a| a.0);
        let ready = if q.backlog().pkts > 0 { q.ready_at().unwrap_or(Time::ZERO).max(free).max(now) } else { Time::MAX };
        now = next.min(ready);
        if now == Time::MAX {
            break;
        }
        if now == next {
            desk.put(q, now, pkt(k as u32, arrivals[k].1, arrivals[k].2));
            k += 1;
        } else if let Some(p) = desk.get(q, now) {
            free = now + link().rate.tx_time(u64::from(p.len));
            sent.push((p.flow.0, p.at, free, p.len));
        }
    }
    sent
}

/// `n` packets of a flow at one time.
fn burst(t: Time, flow: u32, n: u32, len: u32) -> Vec<(Time, u32, u32)> {
    vec![(t, flow, len); n as usize]
}

fn merged(mut parts: Vec<(Time, u32, u32)>) -> Vec<(Time, u32, u32)> {
    parts.sort_by_key(|a| a.0);
    parts
}

/// kbit/s of each flow among the packets that left between two times.
fn rates(sent: &[Sent], n: u32, from: Time, to: Time) -> Vec<f64> {
    let bits = |flow| sent.iter().filter(|s| s.0 == flow && s.2 > from && s.2 <= to).map(|s| f64::from(s.3) * 8.0).sum::<f64>();
    (0..n).map(|flow| bits(flow) / 1e3 / to.since(from).as_secs_f64()).collect()
}

fn close(got: &[f64], want: &[f64], off: f64) {
    assert!(got.iter().zip(want).all(|(g, w)| (g - w).abs() <= off * w.max(100.0)), "{got:?} against {want:?}");
}

/// Longest delay of a flow of 160 bytes each 20 ms, whose class has this curve, next to one that always has packets waiting and a promise of the rest.
fn voice_delay(rt: Option<ServiceCurve>) -> f64 {
    let mut q = build(vec![Class { rt, ..class("voice", "", 0) }, Class { rt: line(7_900), ls: line(7_900), ..class("data", "", 1) }]).1;
    let voice = (0..200).map(|k| (us(7_300 + 20_000 * k), 0, 160));
    let sent = run(&mut q, &merged(voice.chain(burst(us(0), 1, 3500, 1500)).collect()), us(4_000_000));
    let delays: Vec<f64> = sent.iter().filter(|s| s.0 == 0).map(|s| s.2.since(s.1).as_secs_f64() * 1e3).collect();
    assert_eq!(delays.len(), 200);
    delays.into_iter().fold(0.0, f64::max)
}

/// The paper's point (section III): a concave curve gives a flow of 64 kbit/s a delay of 5 ms, where a line of 64 kbit/s makes it wait for 20 ms; the rate
/// that is set aside is the same. One packet of the other class may be in transmission: 1.5 ms.
#[test]
fn delay_and_rate_are_apart() {
    let (decoupled, coupled) = (voice_delay(curve(256, 5, 64)), voice_delay(line(64)));
    assert!(decoupled <= 5.0 + 1.5, "{decoupled} ms");
    assert!((15.0..=21.5).contains(&coupled), "{coupled} ms");
}

/// The service guarantee (theorem 2): what a backlogged class has got is nowhere below its curve by more than a packet in transmission, whatever
/// the others do. Curves are drawn; their sum fits the link.
#[test]
fn real_time_curves_are_kept() {
    let mut rng = Stream::new(1, "test", "hfsc", "");
    for _ in 0..8 {
        let curves: Vec<_> = (0..4)
            .map(|_| {
                let (steep, d, flat) = (200 + rng.below(1700), 5 + rng.below(60), 100 + rng.below(1800));
                if rng.uniform() < 0.5 { curve(steep, d, flat.min(steep)) } else { curve(steep.min(flat), d, flat) }
            })
            .collect();
        let classes: Vec<Class> = (0..)
            .zip(&curves)
            .map(|(i, rt)| Class { rt: rt.clone(), ls: line(1 + rng.below(5)), ..class(&format!("c{i}"), "", i) })
            .collect();
        let (p, mut q) = build(classes);
        assert_eq!(p.remark(&link().into()), None);
        let starts: Vec<Time> = (0..4).map(|_| us(rng.below(300_000))).collect();
        let lens = [1500, 400, 1000, 120];
        let arrivals = (0..4_u32).flat_map(|i| burst(starts[i as usize], i, 2_000_000 / lens[i as usize], lens[i as usize]));
        let sent = run(&mut q, &merged(arrivals.collect()), us(1_000_000));
        for i in 0..4 {
            let promised = Curve::new(curves[i].as_ref().unwrap());
            let mut got = 0;
            for &(_, _, end, len) in sent.iter().filter(|s| s.0 == i as u32) {
                // Just before this packet is through, what was promised exceeds what came by at most the packet itself and one in transmission.
                let due = promised.amount(ps(end) - ps(starts[i]));
                let slack = curve::amount(len) + promised.amount(ps(us(1500))).max(curve::amount(1500));
                assert!(curve::amount(got) + slack >= due, "class {i} has {got} bytes at {end:?}");
                got += len;
            }
        }
    }
}

/// Link-sharing in a tree: in proportion to the curves, and what a silent class leaves goes to its siblings first.
#[test]
fn the_rest_is_shared_in_the_tree() {
    let tree = || {
        vec![
            Class { ls: line(3000), ..class("a", "", INNER) },
            Class { ls: line(1000), ..class("www", "a", 0) },
            Class { ls: line(3000), ..class("mail", "a", 1) },
            Class { ls: line(1000), ..class("b", "", 2) },
        ]
    };
    let shares = |flows: &[u32]| {
        let arrivals = flows.iter().flat_map(|&f| burst(us(0), f, 5000, 1000)).collect::<Vec<_>>();
        rates(&run(&mut build(tree()).1, &arrivals, us(3_000_000)), 3, us(100_000), us(2_900_000))
    };
    close(&shares(&[0, 1, 2]), &[1500.0, 4500.0, 2000.0], 0.01);
    close(&shares(&[0, 2]), &[6000.0, 0.0, 2000.0], 0.01);
    close(&shares(&[0, 1]), &[2000.0, 6000.0, 0.0], 0.01);
}

/// A class with an upper limit leaves the link idle; what it may not use goes to the others.
#[test]
fn upper_limits_hold() {
    let classes = || vec![Class { ls: line(4000), ul: line(1000), ..class("a", "", 0) }, Class { ls: line(4000), ..class("b", "", 1) }];
    let shares = |flows: &[u32]| {
        let (p, mut q) = build(classes());
        assert!(p.capabilities().shapes);
        let arrivals = flows.iter().flat_map(|&f| burst(us(0), f, 5000, 1000)).collect::<Vec<_>>();
        rates(&run(&mut q, &arrivals, us(3_000_000)), 2, us(100_000), us(2_900_000))
    };
    close(&shares(&[0]), &[1000.0, 0.0], 0.02);
    close(&shares(&[0, 1]), &[1000.0, 7000.0], 0.02);
}

/// Who used what others left is not made to pay for it later (section II): when the others come back, it has its promised rate again at once.
#[test]
fn excess_is_not_punished() {
    let mut q = build(vec![
        Class { rt: line(2000), ls: line(2000), ..class("a", "", 0) },
        Class { rt: line(5000), ls: line(6000), ..class("b", "", 1) },
    ])
    .1;
    let back = us(2_000_000);
    let sent = run(&mut q, &merged([burst(us(0), 0, 5000, 1000), burst(back, 1, 5000, 1000)].concat()), us(3_000_000));
    close(&rates(&sent, 2, us(0), back), &[8000.0, 0.0], 0.01);
    // In each 50 ms from then on.
    for k in 0..19 {
        let from = us(2_000_000 + 50_000 * k);
        let got = rates(&sent, 2, from, from + Dur::from_ms(50));
        assert!(got[0] >= 2000.0 - 2.0 * 160.0 && got[1] >= 5000.0, "{k}: {got:?}");
    }
}

/// Without a share of the rest a class has its promise and no more, so that it is a shaper.
#[test]
fn a_promise_alone_is_a_shaper() {
    let (p, mut q) = build(vec![Class { rt: line(500), ..class("a", "", 0) }]);
    assert!(p.capabilities().shapes);
    let sent = run(&mut q, &burst(us(0), 0, 500, 1000), us(2_000_000));
    close(&rates(&sent, 1, us(0), us(2_000_000)), &[500.0], 0.02);
}

#[test]
fn problems_say_where() {
    let problem = |classes: Vec<Class>| HfscParams { classes, ..HfscParams::default() }.check(&link().into()).unwrap_err();
    assert_eq!(problem(vec![Class { rt: line(0), ..class("a", "", 1) }]).field, "classes.0.rt.m2");
    assert_eq!(problem(vec![Class { rt: curve(100, 5, 0), ..class("a", "", 1) }]).field, "classes.0.rt.m2");
    // With a virtual time beyond all others it would have no share of the rest, and neither would a class that begins after it.
    assert_eq!(problem(vec![Class { rt: line(9), ls: curve(100, 5, 0), ..class("a", "", 1) }]).field, "classes.0.ls.m2");
    assert_eq!(problem(vec![Class { ul: curve(100, 5, 0), ..class("a", "", 1) }]).field, "classes.0.ul.m2");
    assert_eq!(problem(vec![class("a", "b", 1)]).field, "classes.0.parent");
    let direct = HfscParams { default: Some("direct".into()), ..HfscParams::<DropTailParams>::default() };
    assert_eq!(direct.check(&link().into()).unwrap_err().field, "default");
    let over = HfscParams { classes: vec![Class { rt: curve(9000, 5, 10), ..class("a", "", 1) }], ..HfscParams::default() };
    assert!(over.check(&link().into()).is_ok() && over.remark(&link().into()).unwrap().contains("not guaranteed"));
    // Nothing for an hour, and then more than the link has.
    let later = Some(ServiceCurve { m1: Some(kbit(0)), d: Dur::from_secs(3600), m2: kbit(9000) });
    let over = HfscParams { classes: vec![Class { rt: later, ..class("a", "", 1) }], ..HfscParams::default() };
    assert!(over.remark(&link().into()).unwrap().contains("not guaranteed"));
    let unknown = HfscParams { classes: vec![class("calls", "", 1)], default: Some("cals".into()), ..HfscParams::default() };
    assert_eq!(unknown.check(&link().into()).unwrap_err().message, "no class is called `cals`: did you mean `calls`?");
    let unknown = HfscParams { default: Some("rest".into()), ..unknown };
    assert_eq!(unknown.check(&link().into()).unwrap_err().message, "no class is called `rest`: classes are calls");
}

/// Virtual times far apart: a class of 1 bit/s that had all of a fast link, and then one of the highest rate.
#[test]
fn shares_far_apart() {
    let slope = |bps| Some(ServiceCurve::line(Rate::from_bps(bps)));
    let classes = vec![Class { ls: slope(1), ..class("a", "", 0) }, Class { ls: slope(100_000_000_000_000), ..class("b", "", 1) }];
    let fast = LinkInfo { rate: Rate::from_mbps(10_000_000), delay: Dur::ZERO };
    let mut q = HfscParams { classes, ..HfscParams::default() }.build(&fast.into());
    let mut desk = Desk::new();
    for round in 0..3 {
        (0..40_000).for_each(|id| desk.put(&mut q, us(round), pkt(id, 0, 1_000_000_000)));
        assert_eq!(desk.flows(&mut q, us(round), 39_000).len(), 39_000);
        (40_000..40_100).for_each(|id| desk.put(&mut q, us(round), pkt(id, 1, 1500)));
        let sent = desk.flows(&mut q, us(round), 200);
        assert!(sent.iter().filter(|f| **f == 1).count() >= 99, "{sent:?}");
        desk.flows(&mut q, us(round), 100_000);
    }
}

/// The cost of a packet does not grow with the number of classes.
#[test]
fn a_packet_costs_the_same_among_many_classes() {
    let cost = |n: u32| {
        let classes = (0..n).map(|i| Class {
            select: format!("flow:f.{i}").as_str().into(),
            rt: line(1),
            ls: line(1 + u64::from(i) % 7),
            ul: line(if i % 2 == 0 { 8000 } else { 2 }),
            ..class(&format!("c{i}"), "", 0)
        });
        let p = HfscParams { classes: classes.collect(), ..HfscParams::default() };
        steps_per_packet(n, 6, |context| p.build(context))
    };
    let [few, many] = [cost(10), cost(2000)];
    assert!(many < 5.0 * few, "{few} and {many} steps");
}
