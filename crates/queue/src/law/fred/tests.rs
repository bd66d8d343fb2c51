use super::*;
use crate::law::testing::{Bench, pkt};
use fairlane_net::Ecn;
use fairlane_units::{Rate, Time};

fn link() -> LinkInfo {
    LinkInfo { rate: Rate::from_mbps(10), delay: Dur::ZERO }
}

fn thresholds(min: u64, max: u64) -> FredParams {
    FredParams { min: Some(Len::Packets(min)), max: Some(Len::Packets(max)), ..FredParams::default() }
}

/// A FRED with this average, and flows that hold so many packets.
fn bench(p: &FredParams, avg: f64, flows: &[u32]) -> Bench<Fred> {
    let mut b = Bench::new(Fred::new(p, link()), 2);
    for (f, &n) in flows.iter().enumerate() {
        (0..n).for_each(|_| b.law.book(&packet(f as u32)));
    }
    b.law.average = Average::new(0.0);
    b.law.average.value = avg;
    b
}

fn packet(flow: u32) -> Packet {
    pkt(1000, flow, Ecn::NotEct, Time::ZERO)
}

/// Verdict on one more packet of a flow, on a copy of the state.
fn verdict(b: &Bench<Fred>, flow: u32) -> Verdict {
    let mut c = Bench { law: b.law.clone(), rng: b.rng.clone(), queue: b.queue.clone() };
    c.enqueue(&packet(flow), Time::ZERO, 20_000)
}

/// Figure 7: min_th is the smaller of a quarter of the buffer and a round trip's worth (125 packets of 1000 B at 10 Mbit/s in 100 ms).
#[test]
fn automatic_thresholds() {
    let th = |limit, rtt| FredParams { limit: Len::Packets(limit), rtt: Dur::from_ms(rtt), ..FredParams::default() }.thresholds(link());
    assert_eq!(th(1000, 100), (125.0, 250.0));
    assert_eq!(th(100, 100), (25.0, 50.0));
    assert_eq!(th(1000, 40), (50.0, 100.0));
}

/// avgcq = avg / Nactive, at least 1; flows are active while they have packets.
#[test]
fn accounts_follow_the_queue() {
    let mut b = bench(&thresholds(20, 40), 30.0, &[8, 4, 0]);
    assert_eq!((b.law.active, b.law.avg_per_flow()), (2, 15.0));
    (0..4).for_each(|_| {
        b.dequeue(&packet(1), Time::ZERO, 8000);
    });
    assert_eq!((b.law.active, b.law.avg_per_flow()), (1, 30.0));
    b.law.average.value = 0.5;
    assert_eq!(b.law.avg_per_flow(), 1.0);
    // A packet without room is not on the account.
    b.law.average.value = 5.0;
    assert_eq!(b.enqueue(&packet(2), Time::ZERO, 8000), Verdict::Pass);
    assert_eq!(b.law.active, 2);
    b.overflow(&packet(2), Time::ZERO, 8000);
    assert_eq!(b.law.active, 1);
}

/// Most packets of one flow: min_th, however short the queue is in the mean.
#[test]
fn a_flow_holds_at_most_min_th() {
    let b = bench(&thresholds(20, 40), 5.0, &[19, 20]);
    assert_eq!((verdict(&b, 0), verdict(&b, 1)), (Verdict::Pass, Verdict::Drop(DropReason::Forced)));
}

/// Each refusal is a strike; with more than one a flow may hold no more than the mean of the others, until it has none left.
#[test]
fn strikes_bring_a_flow_down_to_the_mean() {
    let mut b = bench(&thresholds(20, 40), 6.0, &[20, 1]);
    for _ in 0..2 {
        assert_eq!(b.enqueue(&packet(0), Time::ZERO, 21_000), Verdict::Drop(DropReason::Forced));
    }
    // avgcq is 3: it drains to 3 packets before it gets another in.
    (0..17).for_each(|_| {
        b.dequeue(&packet(0), Time::ZERO, 4000);
    });
    assert_eq!(b.law.accounts[0], Account { qlen: 3, strike: 2 });
    assert_eq!(verdict(&b, 0), Verdict::Drop(DropReason::Forced));
    b.dequeue(&packet(0), Time::ZERO, 3000);
    assert_eq!(verdict(&b, 0), Verdict::Pass);
    (0..2).for_each(|_| {
        b.dequeue(&packet(0), Time::ZERO, 3000);
    });
    assert_eq!(b.law.accounts[0], Account::default());
}

/// Between the thresholds only flows that hold max(minq, avgcq) meet RED's probability; with it the gaps are uniform up to 1 / p_b.
#[test]
fn fragile_flows_are_spared() {
    // Ten flows, avg 30: avgcq 3, minq 4.
    let b = bench(&thresholds(20, 40), 30.0, &[4, 3, 5, 1, 1, 1, 1, 1, 1, 1]);
    let mut c = Bench { law: b.law.clone(), rng: b.rng.clone(), queue: b.queue.clone() };
    let (mut gaps, mut gap) = (vec![], 0);
    for _ in 0..100_000 {
        gap += 1;
        let v = c.enqueue(&packet(0), Time::ZERO, 20_000);
        match v {
            Verdict::Pass => c.law.unbook(&packet(0)),
            v => {
                assert_eq!(v, Verdict::Drop(DropReason::Early));
                gaps.push(std::mem::take(&mut gap));
            }
        }
        assert_eq!(verdict(&c, 1), Verdict::Pass);
    }
    // p_b = 0.02 * 10 / 20 = 0.01: from 1 to 100, 50.5 in the mean.
    let mean = f64::from(gaps.iter().sum::<u32>()) / gaps.len() as f64;
    assert!(gaps.iter().all(|g| (1..=100).contains(g)) && (mean - 50.5).abs() < 2.0, "{mean}");
    // With avgcq above minq the mean decides: two flows, 15 each.
    let b = bench(&FredParams { max_p: 1.0, ..thresholds(20, 40) }, 39.999_999, &[14, 19]);
    let hits = |flow| {
        let mut c = Bench { law: b.law.clone(), rng: b.rng.clone(), queue: b.queue.clone() };
        (0..50).filter(|_| c.enqueue(&packet(flow), Time::ZERO, 20_000) != Verdict::Pass).count()
    };
    assert_eq!(hits(0), 44); // the first six fill it up to 20 = avgcq = min_th
    assert_eq!(hits(1), 49);
}

/// Section 5.2: above max_th two packets of each flow, and no more than twice the mean; without it nothing at all.
#[test]
fn crowds_get_two_packets_each() {
    let b = bench(&thresholds(20, 40), 45.0, &[1, 2, 0]);
    assert_eq!((verdict(&b, 0), verdict(&b, 2), verdict(&b, 1)), (Verdict::Pass, Verdict::Pass, Verdict::Drop(DropReason::Forced)));
    let b = bench(&FredParams { many_flows: false, ..thresholds(20, 40) }, 45.0, &[1, 2, 0]);
    assert_eq!(verdict(&b, 2), Verdict::Drop(DropReason::Forced));
}

/// The average takes in arrivals and departures: after one of each at a queue of 10, avg = 10 (1 - (1 - w)^2).
#[test]
fn average_counts_both_ways() {
    let mut b = Bench::new(Fred::new(&thresholds(200, 400), link()), 1);
    b.enqueue(&packet(0), Time::ZERO, 9000);
    b.dequeue(&packet(0), Time::ZERO, 10_000);
    assert!((b.law.avg() - 10.0 * (1.0 - 0.998_f64.powi(2))).abs() < 1e-12, "{}", b.law.avg());
}

#[test]
fn impossible_values_are_refused() {
    for (p, field) in [(thresholds(9, 3), "max"), (FredParams { max_p: 2.0, ..FredParams::default() }, "max_p")] {
        assert_eq!(p.check(&link().into()).unwrap_err().field, field);
    }
    assert!(FredParams::default().check(&link().into()).is_ok());
}
