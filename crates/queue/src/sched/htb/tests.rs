use super::*;
use crate::sched::testing::{Desk, link, pkt, steps_per_packet, us};
use crate::{DropTailParams, TbfParams};
use fairlane_units::Dur;

type Params = HtbParams<DropTailParams>;

fn kbit(n: u64) -> Option<Rate> {
    Some(Rate::from_bps(n * 1000))
}

/// A class with rate and ceil in kbit/s; `select` is the code point of its packets, which is their flow's number.
fn class(name: &str, parent: &str, flow: u32, rate: u64, ceil: u64) -> HtbClassParams<DropTailParams> {
    HtbClassParams {
        name: name.into(),
        parent: (!parent.is_empty()).then(|| parent.into()),
        select: if flow < 64 { format!("dscp:{flow}").as_str().into() } else { "any".into() },
        queue: DropTailParams { limit: Len::Packets(1_000_000), ..DropTailParams::default() },
        rate: kbit(rate),
        ceil: kbit(ceil),
        burst: Bytes(1500),
        cburst: Bytes(1500),
        quantum: Some(Bytes(1500)),
        ..HtbClassParams::default()
    }
}

const INNER: u32 = 64;

/// Bits per second that each flow gets between two times, in kbit/s, where flow i sends at `offered[i]` kbit/s in packets of 500 bytes from the
/// start on.
fn shares<Q: Qdisc>(q: &mut Q, offered: &[u64], from: u64, to: u64) -> Vec<f64> {
    let mut desk = Desk::new();
    let (mut now, mut free) = (Time::ZERO, Time::ZERO);
    let gap = |i: usize| if offered[i] > 0 { Rate::from_bps(offered[i] * 1000).tx_time(500) } else { Dur::from_secs(1_000_000) };
    let mut next: Vec<Time> = (0..offered.len()).map(|i| Time::ZERO + gap(i)).collect();
    let (mut id, mut bytes) = (0, vec![0_u64; offered.len()]);
    let (from, end) = (Time::ZERO + Dur::from_secs(from), Time::ZERO + Dur::from_secs(to));
    while now < end {
        let arrival = next.iter().copied().min().unwrap_or(Time::MAX);
        let ready = if q.backlog().pkts > 0 { q.ready_at().unwrap_or(Time::ZERO).max(free).max(now) } else { Time::MAX };
        now = arrival.min(ready);
        if now == arrival {
            let i = next.iter().position(|&t| t == arrival).unwrap();
            desk.put(q, now, pkt(id, i as u32, 500));
            next[i] = now + gap(i);
            id += 1;
        }
        if now >= free
            && let Some(p) = desk.get(q, now)
        {
            free = now + link().rate.tx_time(u64::from(p.len));
            if now >= from {
                bytes[p.flow.0 as usize] += u64::from(p.len);
            }
        }
    }
    let secs = end.since(from).as_secs_f64();
    bytes.iter().map(|&b| b as f64 * 8.0 / 1000.0 / secs).collect()
}

fn close(got: &[f64], want: &[f64]) {
    assert!(got.iter().zip(want).all(|(g, w)| (g - w).abs() <= 0.02 * w.max(10.0)), "{got:?} against {want:?}");
}

/// "Sharing hierarchy" of the HTB user guide (Devera 2002): A's WWW has 30 kbit/s and A's mail 10 of A's 40, B has 60 of 100.
fn guide(quantum: [u64; 3]) -> Params {
    let mut classes = vec![
        class("link", "", INNER, 100, 100),
        class("a", "link", INNER, 40, 100),
        class("www", "a", 0, 30, 100),
        class("mail", "a", 1, 10, 100),
        class("b", "link", 2, 60, 100),
    ];
    for (i, q) in [2, 3, 4].into_iter().zip(quantum) {
        classes[i].quantum = Some(Bytes(q));
    }
    HtbParams { classes, ..HtbParams::default() }
}

fn run(p: &Params, offered: &[u64]) -> Vec<f64> {
    p.check(&link().into()).unwrap();
    shares(&mut p.build(&link().into()), offered, 20, 120)
}

/// With all sending 90 kbit/s each gets its rate; where one is silent, what it leaves goes to the one it has a parent with.
#[test]
fn the_guides_tree_shares_as_the_guide_says() {
    let p = guide([3000, 1000, 6000]);
    close(&run(&p, &[90, 90, 90]), &[30.0, 10.0, 60.0]);
    // A's WWW stops: its mail has all of A's rate first.
    close(&run(&p, &[0, 90, 90]), &[0.0, 40.0, 60.0]);
    close(&run(&p, &[90, 0, 90]), &[40.0, 0.0, 60.0]);
    // B stops: the excess of 60 goes to A's, in proportion to their quanta of 3 to 1.
    close(&run(&p, &[90, 90, 0]), &[75.0, 25.0, 0.0]);
    // Who sends less than its rate leaves the rest to the others.
    close(&run(&p, &[5, 90, 90]), &[5.0, 35.0, 60.0]);
    close(&run(&p, &[90, 90, 20]), &[60.0, 20.0, 20.0]);
}

/// The guide's "Rate ceiling": A has a ceil of 60 kbit/s, so that 40 of B's stay unused.
#[test]
fn nobody_goes_above_the_ceil() {
    let mut p = guide([3000, 1000, 6000]);
    p.classes[1].ceil = kbit(60);
    close(&run(&p, &[90, 90, 0]), &[45.0, 15.0, 0.0]);
    close(&run(&p, &[90, 90, 90]), &[30.0, 10.0, 60.0]);
    // And without a ceil that is higher, a leaf has its rate alone.
    p.classes[2].ceil = None;
    close(&run(&p, &[90, 0, 0]), &[30.0, 0.0, 0.0]);
}

/// The guide's "Prioritizing bandwidth share": the excess goes to the class of the better priority first; guarantees stay.
#[test]
fn priority_takes_the_excess() {
    let mut p = guide([1000, 1000, 1000]);
    p.classes[2].prio = 1;
    // Of B's 60 mail takes what it can use before WWW gets any.
    close(&run(&p, &[200, 200, 0]), &[30.0, 70.0, 0.0]);
    close(&run(&p, &[200, 50, 0]), &[50.0, 50.0, 0.0]);
    close(&run(&p, &[200, 200, 200]), &[30.0, 10.0, 60.0]);
    p.classes[2].prio = 0;
    close(&run(&p, &[200, 200, 0]), &[60.0, 40.0, 0.0]);
}

/// Against the fluid tree for drawn rates: guarantees up to each class's demand, then what is left in proportion to the quanta, up to the demand.
#[test]
fn shares_are_those_of_the_fluid() {
    let mut rng = fairlane_engine::Stream::new(1, "test", "htb", "");
    for _ in 0..12 {
        let n = 2 + rng.below(4) as usize;
        let rates: Vec<u64> = (0..n).map(|_| 20 + rng.below(100)).collect();
        let weights: Vec<u64> = (0..n).map(|_| 1 + rng.below(4)).collect();
        let offered: Vec<u64> = (0..n).map(|_| 10 + rng.below(400)).collect();
        let all = rates.iter().sum::<u64>() + rng.below(200);
        let mut classes = vec![class("link", "", INNER, all, all)];
        for i in 0..n {
            let quantum = Some(Bytes(weights[i] * 1000));
            classes.push(HtbClassParams { quantum, ..class(&format!("c{i}"), "link", i as u32, rates[i], all) });
        }
        let got = run(&HtbParams { classes, ..HtbParams::default() }, &offered);
        let mut want: Vec<f64> = (0..n).map(|i| rates[i].min(offered[i]) as f64).collect();
        for _ in 0..50 {
            let left = all as f64 - want.iter().sum::<f64>();
            let hungry: Vec<usize> = (0..n).filter(|&i| want[i] + 1e-9 < offered[i] as f64).collect();
            let total: f64 = hungry.iter().map(|&i| weights[i] as f64).sum();
            for i in hungry {
                want[i] = (want[i] + left.max(0.0) * weights[i] as f64 / total).min(offered[i] as f64);
            }
        }
        let sums = [got.iter().sum::<f64>(), want.iter().sum()];
        assert!((sums[0] - sums[1]).abs() < 0.01 * sums[1], "{sums:?}");
        assert!(got.iter().zip(&want).all(|(g, w)| (g - w).abs() < 0.04 * all as f64), "{got:?} against {want:?}");
    }
}

/// A burst leaves at once: the packet that overdraws the bucket still goes, and the next waits for what is missing (tokens may be in debt).
#[test]
fn a_burst_then_the_rate() {
    let one = HtbClassParams { burst: Bytes(3000), cburst: Bytes(3000), ..class("all", "", INNER, 800, 800) };
    let mut q = HtbParams { classes: vec![one], ..HtbParams::default() }.build(&link().into());
    let mut desk = Desk::new();
    (0..10).for_each(|id| desk.put(&mut q, us(0), pkt(id, 0, 1000)));
    // The bucket of 3000 bytes is empty after three, and it may send while it is not in debt.
    assert_eq!(desk.flows(&mut q, us(0), 9).len(), 4);
    // 1000 bytes of debt at 800 kbit/s are 10 ms.
    assert_eq!(q.ready_at(), Some(us(10_000)));
    assert!(desk.get(&mut q, us(9_999)).is_none());
    assert_eq!(desk.flows(&mut q, us(10_000), 9).len(), 1);
    assert_eq!(q.ready_at(), Some(us(20_000)));
    // A pause fills the bucket no further than its depth.
    assert_eq!(desk.flows(&mut q, us(9_000_000), 9).len(), 4);
}

/// Rates far apart, and buckets of a byte: the shares are those of the rates.
#[test]
fn slow_and_fast_links_with_tiny_bursts() {
    let tiny = |flow: u32, bps: u64| {
        let rate = Some(Rate::from_bps(bps));
        HtbClassParams { rate, ceil: rate, burst: Bytes(1), cburst: Bytes(1), ..class(&format!("c{flow}"), "", flow, 8, 8) }
    };
    for (bps, packets) in [(1_000, 20), (10_000_000_000, 20_000)] {
        let fast = LinkInfo { rate: Rate::from_bps(4 * bps), delay: Dur::ZERO };
        let p = HtbParams { classes: vec![tiny(0, bps), tiny(1, bps / 2)], ..HtbParams::default() };
        p.check(&fast.into()).unwrap();
        let (mut q, mut desk, mut now) = (p.build(&fast.into()), Desk::new(), us(0));
        (0..2 * packets).for_each(|id| desk.put(&mut q, now, pkt(id, id % 2, 1500)));
        let mut sent = [0_u64; 2];
        while sent[0] < u64::from(packets) {
            now = now.max(q.ready_at().unwrap_or(now));
            if let Some(p) = desk.get(&mut q, now) {
                sent[p.flow.0 as usize] += 1;
                now += fast.rate.tx_time(1500);
            }
        }
        let took = now.since(us(0)).as_secs_f64() * bps as f64 / 12_000.0;
        // The link may be busy with the other class when a bucket is out of debt, for a quarter of a packet's time.
        assert!((0.99 * f64::from(packets - 1)..1.25 * f64::from(packets)).contains(&took), "{took} packet times for {packets}");
        assert!(sent[1].abs_diff(u64::from(packets / 2)) <= u64::from(packets / 8), "{sent:?}");
    }
}

/// A packet that no class takes goes to the last one, to the one that is named, or past all of them.
#[test]
fn packets_without_a_class_have_a_default() {
    let tree = |default: Option<&str>| Params {
        classes: vec![class("a", "", 1, 8, 8), class("b", "", 2, 8, 8), class("c", "", 3, 8, 8)],
        default: default.map(str::to_owned),
        direct_limit: Len::Packets(2),
        ..HtbParams::default()
    };
    for (default, queue) in [(None, "class2_queue"), (Some("a"), "class0_queue")] {
        let p = tree(default);
        p.check(&link().into()).unwrap();
        let mut q = p.build(&link().into());
        Desk::new().put(&mut q, us(0), pkt(0, 9, 100));
        let mut found = vec![];
        q.gauges(&mut |name, value| found.extend((value > 0.0).then_some(name)));
        assert_eq!(found, [queue]);
    }
    let (mut q, mut desk) = (tree(Some("direct")).build(&link().into()), Desk::new());
    (0..6).for_each(|id| desk.put(&mut q, us(0), pkt(id, 2, 1000)));
    (10..13).for_each(|id| desk.put(&mut q, us(0), pkt(id, 9, 1000)));
    assert_eq!(desk.dropped(), [12]);
    assert_eq!(desk.flows(&mut q, us(0), 9), [9, 9, 2, 2]);
}

/// It holds each class to its ceil where DRR and PRIO would use the whole link, and lends where TBF would not.
#[test]
fn it_is_neither_a_token_bucket_nor_a_round_robin() {
    let p = guide([1500; 3]);
    let alone = run(&p, &[500, 0, 0]);
    close(&alone, &[100.0, 0.0, 0.0]);
    let inner = DropTailParams { limit: Len::Packets(1_000_000), ..DropTailParams::default() };
    let mut tbf = TbfParams { rate: kbit(30), burst: Bytes(1500), queue: Box::new(inner), ..TbfParams::default() }.build(&link().into());
    close(&shares(&mut tbf, &[500], 20, 120), &[30.0]);
}

#[test]
fn problems_say_where() {
    let problem = |p: Params| p.check(&link().into()).unwrap_err();
    let tree = |classes: Vec<HtbClassParams<DropTailParams>>| Params { classes, ..HtbParams::default() };
    for (p, field, word) in [
        (tree(vec![]), "classes", "no class"),
        (tree(vec![class("a", "x", 1, 8, 8)]), "classes.0.parent", "no class is called `x`"),
        (tree(vec![class("a", "", 1, 8, 8), class("a", "", 2, 8, 8)]), "classes.1.name", "before it"),
        (tree(vec![class("a", "b", 1, 8, 8), class("b", "a", 2, 8, 8)]), "classes.0.parent", "below itself"),
        (tree(vec![class("a", "", 1, 8, 8), class("b", "a", 2, 8, 8)]), "classes.0.match", "classes below it"),
        (tree(vec![class("a", "", INNER, 9, 8)]), "classes.0.ceil", "below the rate"),
        (tree((0..9).map(|i| class(&format!("{i}"), if i > 0 { "p" } else { "" }, INNER, 8, 8)).collect()), "classes.1.parent", "`p`"),
    ] {
        let got = problem(p);
        assert!(got.field == field && got.message.contains(word), "{got:?}");
    }
    let deep = |n: usize| {
        let name = |i: usize| format!("c{i}");
        tree((0..n).map(|i| class(&name(i), &if i > 0 { name(i - 1) } else { String::new() }, INNER, 8, 8)).collect())
    };
    assert!(deep(8).check(&link().into()).is_ok());
    assert_eq!(problem(deep(9)).field, "classes.8.parent");
    let default = |name: &str| Params { default: Some(name.into()), ..guide([1500; 3]) };
    assert!(problem(default("a")).message.contains("classes below it") && problem(default("x")).message.contains("no class"));
    let mut over = guide([1500; 3]);
    over.classes[4].rate = kbit(70);
    assert!(over.check(&link().into()).is_ok());
    assert!(over.remark(&link().into()).unwrap().contains("110kbit/s together"));
}

/// The cost of a packet does not grow with the number of classes.
#[test]
fn a_packet_costs_the_same_among_many_classes() {
    let cost = |n: u32| {
        let mut classes = vec![class("link", "", INNER, 8000, 8000)];
        classes.extend((0..n).map(|i| {
            let select = format!("flow:f.{i}").as_str().into();
            HtbClassParams { select, ..class(&format!("c{i}"), "link", 0, 10, 8000) }
        }));
        let p = HtbParams { classes, ..HtbParams::default() };
        steps_per_packet(n, 4, |context| p.build(context))
    };
    let [few, many] = [cost(10), cost(2000)];
    assert!(many < 3.0 * few, "{few} and {many} steps");
}

/// psched_l2t_ns: overhead, then mpu, then whole cells of ATM; 500 bytes are 544 with 44 of overhead, 12 cells, 636 bytes. Every class counts for itself.
#[test]
fn rates_count_the_link_layer() {
    use crate::{LinkLayer, LinkLayerKind};
    let atm = LinkLayer { overhead: Bytes(44), linklayer: LinkLayerKind::Atm, ..LinkLayer::default() };
    let padded = LinkLayer { overhead: Bytes(44), mpu: Bytes(1000), ..LinkLayer::default() };
    let frames = LinkLayer { overhead: Bytes(125), ..LinkLayer::default() };
    for (layer, share) in [(atm.clone(), 500.0 / 636.0), (padded, 0.5), (frames, 0.8), (LinkLayer::default(), 1.0)] {
        let one = HtbClassParams { link_layer: layer, ..class("all", "", INNER, 100, 100) };
        close(&run(&HtbParams { classes: vec![one], ..HtbParams::default() }, &[200]), &[100.0 * share]);
    }
    // Of two classes below one, the one with cells sends fewer bytes at the same rate; the class above counts bytes as they are.
    let mut classes = vec![class("link", "", INNER, 100, 100), class("a", "link", 0, 50, 50), class("b", "link", 1, 50, 50)];
    classes[1].link_layer = atm;
    close(&run(&HtbParams { classes, ..HtbParams::default() }, &[90, 90]), &[50.0 * 500.0 / 636.0, 50.0]);
}
