use super::*;
use crate::law::testing::{Bench, pkt};
use fairlane_net::Ecn;

fn link() -> LinkInfo {
    LinkInfo { rate: Rate::from_mbps(10), delay: Dur::ZERO }
}

fn at(ms: u64) -> Time {
    Time::ZERO + Dur::from_ms(ms)
}

fn packet(flow: u32) -> Packet {
    pkt(1000, flow, Ecn::NotEct, Time::ZERO)
}

fn bench(p: &SfbParams) -> Bench<Sfb> {
    Bench::new(Sfb::new(p, link()), 3)
}

fn arrive(b: &mut Bench<Sfb>, flow: u32) -> Verdict {
    b.enqueue(&packet(flow), at(0), 20_000)
}

fn bins_of(b: &Bench<Sfb>, flow: u32) -> Vec<usize> {
    (0..b.law.bins.salts.len()).map(|l| b.law.bins.at(l, &packet(flow))).collect()
}

/// A flow other than 0 that shares exactly these levels with flow 0.
fn sharing(b: &Bench<Sfb>, want: &[bool]) -> u32 {
    let own = bins_of(b, 0);
    (1..100_000).find(|&f| bins_of(b, f).iter().zip(&own).map(|(a, b)| a == b).eq(want.iter().copied())).unwrap()
}

/// Section 3: arrivals that find a bin above its size raise its probability by the increment, those that find it empty lower it.
#[test]
fn bins_learn_from_what_they_hold() {
    let p = SfbParams { bin_size: Some(Len::Packets(5)), freeze_time: Dur::ZERO, ..SfbParams::default() };
    let mut b = bench(&p);
    // The 7th arrival is the first to find more than 5.
    for n in 1..=10_i32 {
        arrive(&mut b, 0);
        let held = b.law.bins.bins[bins_of(&b, 0)[0]].held.pkts;
        assert!((b.law.p_min(&packet(0)) - 0.0025 * f64::from((n - 6).max(0))).abs() < 1e-12, "{n} {held}");
    }
    // Only its own bins, one a level, have learnt.
    assert_eq!(b.law.bins.bins.iter().filter(|x| x.p > 0.0).count(), 2);
    let p_before = b.law.p_min(&packet(0));
    for (i, x) in b.law.bins.bins.iter_mut().enumerate() {
        assert!(x.held.pkts == 0 || x.held.bytes == 1000 * u64::from(x.held.pkts), "{i}");
        x.held = Backlog::default();
    }
    for n in 1..=4 {
        assert_eq!(arrive(&mut b, 0), Verdict::Pass);
        b.dequeue(&packet(0), at(0), 0);
        assert!((b.law.p_min(&packet(0)) - (p_before - 0.00025 * f64::from(n))).abs() < 1e-12);
    }
}

/// A bin that has just changed is frozen, as in BLUE: of arrivals every millisecond each tenth counts.
#[test]
fn bins_freeze() {
    let mut b = bench(&SfbParams { bin_size: Some(Len::Packets(5)), ..SfbParams::default() });
    for ms in 0..106 {
        b.enqueue(&packet(0), at(ms), 20_000);
    }
    // From the 7th arrival on, at 6 ms: 6, 16, 26 ... 96 ms.
    assert!((b.law.p_min(&packet(0)) - 10.0 * 0.0025).abs() < 1e-12, "{}", b.law.p_min(&packet(0)));
}

/// Section 3: the smallest probability over the levels counts, so a flow suffers only if it shares all bins with an unresponsive one.
#[test]
fn the_mildest_level_decides() {
    let mut b = bench(&SfbParams::default());
    arrive(&mut b, 0);
    for (i, p) in bins_of(&b, 0).into_iter().zip([0.7, 0.4]) {
        b.law.bins.bins[i].p = p;
    }
    let half = sharing(&b, &[true, false]);
    let (none, all) = (sharing(&b, &[false, false]), sharing(&b, &[true, true]));
    for (flow, p) in [(0, 0.4), (all, 0.4), (half, 0.0), (none, 0.0)] {
        assert_eq!(b.law.p_min(&packet(flow)), p);
    }
    let hits = (0..20_000)
        .filter(|_| {
            let v = arrive(&mut b, all);
            if v == Verdict::Pass {
                b.dequeue(&packet(all), at(0), 0);
            }
            // What the arrival taught the bins is taken back.
            for (i, p) in bins_of(&b, 0).into_iter().zip([0.7, 0.4]) {
                b.law.bins.bins[i].p = p;
            }
            v == Verdict::Drop(DropReason::Early)
        })
        .count();
    assert!(hits.abs_diff(8000) < 300, "{hits}");
}

/// Section 3.1: at 1 in every bin a flow is in the penalty box: 1 % of 10 Mbit/s is 12.5 packets a second, after a burst of 15.
#[test]
fn penalty_box_limits_the_rate() {
    let mut b = bench(&SfbParams { ecn: true, ..SfbParams::default() });
    arrive(&mut b, 0);
    for i in bins_of(&b, 0) {
        b.law.bins.bins[i] = Bin { p: 1.0, held: Backlog { pkts: 9, bytes: 9000 }, ..Bin::default() };
    }
    let passed = (0..10_000_u64)
        .filter(|&ms| {
            let v = b.enqueue(&pkt(1000, 0, Ecn::Ect0, at(ms)), at(ms), 20_000);
            if v == Verdict::Pass {
                b.dequeue(&packet(0), at(ms), 0);
            }
            assert_ne!(v, Verdict::Mark);
            v == Verdict::Pass
        })
        .count();
    assert_eq!(passed, 15 + 124);
}

/// Linux: an arrival whose bins are all full is dropped, whatever the probability.
#[test]
fn full_bins_drop() {
    let linux: SfbParams = serde_json::from_str(SfbParams::PRESETS[0].values).unwrap();
    let mut b = bench(&SfbParams { increment: 0.0, ..linux });
    let passed = (0..60).filter(|_| arrive(&mut b, 0) == Verdict::Pass).count();
    assert_eq!(passed, 25);
    // Another flow shares some bins, not all.
    assert_eq!(arrive(&mut b, 1), Verdict::Pass);
}

/// Levels hash independently and evenly: of 2300 flows about 100 meet in each of 23 bins, and about 2300 / 23^2 share both with flow 0.
#[test]
fn hashes_spread_flows() {
    let mut b = bench(&SfbParams::default());
    arrive(&mut b, 0);
    let mut count = [0; 46];
    (0..2300).for_each(|f| bins_of(&b, f).into_iter().for_each(|i| count[i] += 1));
    let chi2: f64 = count.iter().map(|&n| f64::from(n - 100).powi(2) / 100.0).sum();
    // 99.9 % point of chi-square with 44 degrees of freedom: 78.7.
    assert!(chi2 < 78.7, "{chi2}");
    let own = bins_of(&b, 0);
    let twins = (1..52_901).filter(|&f| bins_of(&b, f) == own).count();
    assert!(twins.abs_diff(100) < 40, "{twins}");
    // Seeds decide: another stream, other bins.
    let mut other = Bench::new(Sfb::new(&SfbParams::default(), link()), 4);
    arrive(&mut other, 0);
    assert_ne!((0..40).map(|f| bins_of(&b, f)).collect::<Vec<_>>(), (0..40).map(|f| bins_of(&other, f)).collect::<Vec<_>>());
}

/// Section 3.2: new hashes come with bins that have learnt in parallel with the old ones and hold what the queue holds.
#[test]
fn moving_hashes() {
    let p = SfbParams {
        bin_size: Some(Len::Packets(3)),
        freeze_time: Dur::ZERO,
        rehash: Some(Dur::from_secs(10)),
        warmup: Dur::from_secs(2),
        ..SfbParams::default()
    };
    let mut b = bench(&p);
    let put = |b: &mut Bench<Sfb>, ms| {
        if b.enqueue(&packet(0), at(ms), 9000) == Verdict::Pass {
            b.queue.push_back(packet(0));
        }
    };
    (0..3).for_each(|_| put(&mut b, 0));
    let old = bins_of(&b, 0);
    (0..20).for_each(|_| put(&mut b, 7000));
    assert!(!b.law.warming);
    (0..20).for_each(|_| put(&mut b, 8000));
    assert!(b.law.warming && bins_of(&b, 0) == old);
    put(&mut b, 10_000);
    assert!(!b.law.warming);
    let new = bins_of(&b, 0);
    assert_ne!(new, old);
    // From the start of the warm-up every arrival found more than three: 21 increments.
    assert!((b.law.p_min(&packet(0)) - 21.0 * 0.0025).abs() < 1e-9, "{}", b.law.p_min(&packet(0)));
    for i in new {
        assert_eq!(b.law.bins.bins[i].held.pkts as usize, b.queue.len());
    }
    while let Some(p) = b.queue.pop_front() {
        b.dequeue(&p, at(10_001), 0);
    }
    assert!(b.law.bins.bins.iter().all(|x| x.held == Backlog::default()));
}

/// A packet without room leaves its bins as they were.
#[test]
fn overflow_is_not_held() {
    let mut b = bench(&SfbParams::default());
    arrive(&mut b, 0);
    let before: Vec<Backlog> = b.law.bins.bins.iter().map(|x| x.held).collect();
    arrive(&mut b, 0);
    b.overflow(&packet(0), at(0), 20_000);
    assert_eq!(before, b.law.bins.bins.iter().map(|x| x.held).collect::<Vec<_>>());
}

#[test]
fn automatic_sizes_and_refusals() {
    assert_eq!(SfbParams::default().bin_size(), Len::Packets(65)); // 1.5 * 1000 / 23
    assert_eq!(SfbParams { limit: Len::Bytes(10_000), ..SfbParams::default() }.bin_size(), Len::Bytes(1500));
    for (p, field) in [
        (SfbParams { levels: 0, ..SfbParams::default() }, "levels"),
        (SfbParams { bins: 70_000, ..SfbParams::default() }, "bins"),
        (SfbParams { decrement: -0.1, ..SfbParams::default() }, "decrement"),
        (SfbParams { rehash: Some(Dur::from_ms(1)), ..SfbParams::default() }, "rehash"),
    ] {
        assert_eq!(p.check(&link().into()).unwrap_err().field, field);
    }
    assert!(SfbParams::default().check(&link().into()).is_ok());
}
