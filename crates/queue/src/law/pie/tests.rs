use super::*;
use crate::law::testing::{Bench, pkt};
use fairlane_net::Ecn;

const FULL: u64 = 50_000;

fn at(ms: u64) -> Time {
    Time::ZERO + Dur::from_secs(100) + Dur::from_ms(ms)
}

/// A PIE without a burst allowance whose packets have just waited `ms`.
fn waiting(p: &PieParams, ms: u64) -> Bench<Pie> {
    let mut b = Bench::new(Pie::new(&PieParams { control: PieControl { max_burst: Dur::ZERO, ..p.clone().control }, ..p.clone() }), 3);
    depart(&mut b, ms);
    b
}

fn depart(b: &mut Bench<Pie>, ms: u64) {
    let now = at(ms);
    b.dequeue(&pkt(1000, 0, Ecn::NotEct, at(0)), now, FULL);
}

fn arrive(b: &mut Bench<Pie>, ecn: Ecn) -> Verdict {
    b.enqueue(&pkt(1000, 0, ecn, at(0)), at(0), FULL)
}

fn drops(b: &mut Bench<Pie>, n: usize) -> usize {
    (0..n).filter(|_| arrive(b, Ecn::NotEct) != Verdict::Pass).count()
}

fn near(got: f64, want: f64) {
    assert!((got - want).abs() <= 1e-12 * want.abs().max(1e-9), "{got} {want}");
}

/// Section 4.2: alpha 1/8, beta 1 1/4, target 15 ms; the step is divided according to the probability before it.
#[test]
fn steps_follow_the_tuning_table() {
    // At 40 ms, before it 30 ms: 0.125 * 0.025 + 1.25 * 0.010 = 0.015625.
    let p = 0.015_625;
    for (prob, divisor) in [
        (0.0, 2048.0),
        (9e-7, 2048.0),
        (1e-6, 512.0),
        (9e-6, 512.0),
        (1e-5, 128.0),
        (1e-4, 32.0),
        (1e-3, 8.0),
        (9e-3, 8.0),
        (1e-2, 2.0),
        (9e-2, 2.0),
        (0.1, 1.0),
        (0.5, 1.0),
    ] {
        let mut b = waiting(&PieParams::default(), 40);
        (b.law.drop_prob, b.law.qdelay_old) = (prob, 0.030);
        assert_eq!(b.timer(at(40), FULL), Some(at(55)));
        near(b.law.drop_prob(), prob + p / divisor);
        near(b.law.qdelay_old, 0.040);
    }
}

/// A step from nothing at 30 ms, then a steady delay: only the integral part is left.
#[test]
fn two_updates_by_hand() {
    let mut b = waiting(&PieParams::default(), 30);
    b.timer(at(30), FULL);
    near(b.law.drop_prob(), (0.125 * 0.015 + 1.25 * 0.030) / 2048.0); // 1.92e-5
    let first = b.law.drop_prob();
    b.timer(at(45), FULL);
    near(b.law.drop_prob(), first + 0.125 * 0.015 / 128.0);
}

/// Section 5.5: from 10 % on in steps of at most 2 %; Linux adds 2 % above 250 ms.
#[test]
fn large_steps_are_capped() {
    let step = |p: &PieParams, prob: f64, ms| {
        let mut b = waiting(p, ms);
        b.law.drop_prob = prob;
        b.timer(at(ms), FULL);
        b.law.drop_prob() - prob
    };
    let (rfc, free) =
        (PieParams::default(), PieParams { control: PieControl { cap: false, ..PieControl::default() }, ..PieParams::default() });
    assert!((step(&rfc, 0.1, 100) - 0.02).abs() < 1e-12);
    // 0.125 * 0.085 + 1.25 * 0.1 = 0.135625
    assert!((step(&free, 0.1, 100) - 0.135_625).abs() < 1e-12);
    assert!((step(&rfc, 0.09, 100) - 0.067_812_5).abs() < 1e-12);
    let linux: PieParams = serde_json::from_str(PieParams::PRESETS[0].values).unwrap();
    assert!((step(&linux, 0.1, 251) - 0.04).abs() < 1e-12);
    assert!((step(&linux, 0.1, 250) - 0.02).abs() < 1e-12);
}

/// Section 4.2: without delay the probability decays by a fiftieth per update, in addition to the linear decrease.
#[test]
fn decays_without_congestion() {
    let mut b = waiting(&PieParams::default(), 0);
    b.law.drop_prob = 0.5;
    b.timer(at(15), FULL);
    near(b.law.drop_prob(), (0.5 - 0.125 * 0.015) * 0.98);
    // An empty queue has no delay, however long the last packet waited.
    depart(&mut b, 90);
    b.timer(at(30), 0);
    assert_eq!(b.law.qdelay_old, 0.0);
}

/// Section 4.4: nothing is dropped for 150 ms, ten updates, and then again after a time without congestion.
#[test]
fn bursts_are_allowed() {
    for (hold, grows) in [(false, true), (true, false)] {
        let mut b = Bench::new(Pie::new(&PieParams { control: PieControl { hold, ..PieControl::default() }, ..PieParams::default() }), 1);
        for n in 1..=10 {
            depart(&mut b, 200);
            assert_eq!(drops(&mut b, 100), 0, "{n}");
            b.timer(at(15 * n), FULL);
            assert_eq!(b.law.burst_allowance, Dur::from_ms(150 - 15 * n));
            assert_eq!(b.law.drop_prob() > 0.0, grows);
        }
        b.law.drop_prob = 0.5;
        assert!((400..600).contains(&drops(&mut b, 1000)));
        // Probability zero, and this delay and the one before under half the target.
        depart(&mut b, 7);
        b.law.drop_prob = 0.0;
        b.timer(at(165), FULL);
        assert_eq!(b.law.burst_allowance, Dur::ZERO);
        b.timer(at(180), FULL);
        assert_eq!(b.law.burst_allowance, Dur::from_ms(150));
    }
}

/// With `burst_reset` the allowance begins with an arrival and runs out in quiet too; another is granted after more than 1.5 s of quiet.
#[test]
fn allowance_from_the_first_packet() {
    let ns3: PieParams = serde_json::from_str(PieParams::PRESETS[1].values).unwrap();
    let mut b = Bench::new(Pie::new(&ns3), 1);
    assert_eq!(b.law.burst_allowance, Dur::ZERO);
    arrive(&mut b, Ecn::NotEct);
    assert_eq!(b.law.burst_allowance, Dur::from_ms(150));
    let mut granted = Vec::new();
    for n in 1..=120 {
        b.timer(at(15 * n), 0);
        arrive(&mut b, Ecn::NotEct);
        if b.law.burst_allowance == Dur::from_ms(150) {
            granted.push(n);
        }
    }
    // Ten updates of 15 ms use the allowance up; the tenth is the first quiet one, and 101 of them are more than 1.5 s.
    assert_eq!(granted, [110]);
}

/// Section 4.1: the cases in which nothing is dropped.
#[test]
fn safeguards() {
    let mut b = waiting(&PieParams::default(), 40);
    (b.law.drop_prob, b.law.qdelay_old) = (0.19, 0.0074);
    assert_eq!(drops(&mut b, 1000), 0);
    b.law.qdelay_old = 0.0076;
    assert!(drops(&mut b, 1000) > 100);
    (b.law.drop_prob, b.law.qdelay_old) = (0.2, 0.0);
    assert!(drops(&mut b, 1000) > 100);
    b.law.drop_prob = 1.0;
    assert_eq!(b.enqueue(&pkt(1000, 0, Ecn::NotEct, at(0)), at(0), 3000), Verdict::Pass);
    assert_eq!(b.enqueue(&pkt(1000, 0, Ecn::NotEct, at(0)), at(0), 3001), Verdict::Drop(DropReason::Early));
}

/// ns-3.37 `PieQueueDisc::DropEarly` with a limit in packets: two that wait are safe however long they are, a third is not.
#[test]
fn safe_backlog_in_packets() {
    let with = |safe| {
        let p = PieParams { control: PieControl { safe_backlog: Some(safe), ..PieControl::default() }, ..PieParams::default() };
        let mut b = waiting(&p, 40);
        b.law.drop_prob = 1.0;
        move |pkts, bytes| b.law.safe(Backlog { pkts, bytes }, 1000)
    };
    let packets = with(Len::Packets(2));
    assert_eq!([(2, 3004), (2, 18_000), (3, 192)].map(|(p, b)| packets(p, b)), [true, true, false]);
    let bytes = with(Len::Bytes(3000));
    assert_eq!([(50, 3000), (2, 3004)].map(|(p, b)| bytes(p, b)), [true, false]);
}

/// Section 5.4: at a probability of 1/20 gaps are at least 17 arrivals (0.85 / p) and at most 170 (8.5 / p).
#[test]
fn derandomized_gaps() {
    let mut b = waiting(&PieParams { control: PieControl { derandomize: true, ..PieControl::default() }, ..PieParams::default() }, 40);
    (b.law.drop_prob, b.law.qdelay_old) = (0.05, 0.04);
    let mut gaps = vec![0_u32];
    for _ in 0..100_000 {
        *gaps.last_mut().unwrap() += 1;
        if arrive(&mut b, Ecn::NotEct) != Verdict::Pass {
            gaps.push(0);
        }
    }
    gaps.pop();
    let (min, max) = (*gaps.iter().min().unwrap(), *gaps.iter().max().unwrap());
    assert!((17..=18).contains(&min) && (100..=171).contains(&max), "{min} {max}");
    // A random test from the 17th arrival on: 16 + 20 in the mean.
    let mean = f64::from(gaps.iter().sum::<u32>()) / gaps.len() as f64;
    assert!((mean - 36.0).abs() < 1.5, "{mean}");
}

/// Section 5.1: marks up to a probability of 10 %, drops above; tc's bytemode drops by length.
#[test]
fn marks_up_to_the_threshold() {
    let mut b = waiting(&PieParams { marks: PieMarks { ecn: true, ..PieMarks::default() }, ..PieParams::default() }, 40);
    b.law.qdelay_old = 0.04;
    let all = |b: &mut Bench<Pie>, ecn| (0..1000).map(|_| arrive(b, ecn)).filter(|v| *v != Verdict::Pass).collect::<Vec<_>>();
    b.law.drop_prob = 0.1;
    assert!(all(&mut b, Ecn::Ect0).iter().all(|v| *v == Verdict::Mark));
    assert!(all(&mut b, Ecn::NotEct).iter().all(|v| *v == Verdict::Drop(DropReason::Early)));
    b.law.drop_prob = 0.101;
    let v = all(&mut b, Ecn::Ect0);
    assert!(v.len() > 50 && v.iter().all(|v| *v == Verdict::Drop(DropReason::Early)));

    let mut b = waiting(
        &PieParams { control: PieControl { byte_mode: true, mean_packet: Bytes(1000), ..PieControl::default() }, ..PieParams::default() },
        40,
    );
    (b.law.drop_prob, b.law.qdelay_old) = (0.2, 0.04);
    let hit = |b: &mut Bench<Pie>, len| {
        (0..20_000).filter(|_| b.enqueue(&pkt(len, 0, Ecn::NotEct, at(0)), at(0), FULL) != Verdict::Pass).count() as f64 / 20_000.0
    };
    assert!((hit(&mut b, 1500) - 0.3).abs() < 0.02 && (hit(&mut b, 100) - 0.02).abs() < 0.005);
}

/// Section 5.2: at 10 Mbit/s 16,384 bytes take 13.1072 ms; a backlog of 40,000 then stands for 32 ms.
#[test]
fn departure_rate_gives_the_delay() {
    let p = PieParams {
        control: PieControl { estimate: DelayEstimate::DequeueRate, max_burst: Dur::ZERO, ..PieControl::default() },
        ..PieParams::default()
    };
    let mut b = Bench::new(Pie::new(&p), 1);
    for n in 0..100 {
        b.dequeue(&pkt(1000, 0, Ecn::NotEct, at(0)), at(0) + Dur::from_us(800 * n), 40_000);
    }
    assert!((b.law.avg_dq_time - 0.013_107_2).abs() < 1e-9, "{}", b.law.avg_dq_time);
    b.timer(at(100), 40_000);
    assert!((b.law.qdelay_old - 0.032).abs() < 1e-9);
    // A link twice as fast: the average moves by a quarter of the difference each time (DQ_THRESHOLD / 2^16).
    let before = b.law.avg_dq_time;
    let start = at(0) + Dur::from_us(800 * 100);
    for n in 0..200 {
        b.dequeue(&pkt(1000, 0, Ecn::NotEct, at(0)), start + Dur::from_us(400 * n), 40_000);
    }
    assert!(b.law.avg_dq_time < 0.55 * before && b.law.avg_dq_time > 0.5 * before);
    // A short queue is no measure.
    let short = b.law.avg_dq_time;
    b.law.measuring = None;
    for n in 0..200 {
        b.dequeue(&pkt(1000, 0, Ecn::NotEct, at(0)), start + Dur::from_ms(1000 + n), 15_000);
    }
    assert_eq!(b.law.avg_dq_time, short);
}

/// Section 5.3: rests until a third of the buffer is full, and again when nothing is left to do.
#[test]
fn rests_while_the_queue_is_short() {
    let mut b = waiting(&PieParams { start: Some(Len::Packets(60)), ..PieParams::default() }, 40);
    b.timer(at(0), 59_000);
    b.enqueue(&pkt(1000, 0, Ecn::NotEct, at(0)), at(0), 59_000);
    b.timer(at(15), 59_000);
    assert_eq!(b.law.drop_prob(), 0.0);
    b.enqueue(&pkt(1000, 0, Ecn::NotEct, at(0)), at(0), 60_000);
    b.timer(at(30), 60_000);
    assert!(b.law.active && b.law.drop_prob() > 0.0);
    (0..50).for_each(|n| {
        b.timer(at(45 + 15 * n), 0);
    });
    assert!(!b.law.active && b.law.drop_prob() == 0.0);
}

#[test]
fn impossible_values_are_refused() {
    let site = fairlane_net::LinkInfo { rate: fairlane_units::Rate::from_mbps(1), delay: Dur::ZERO }.into();
    for (p, field) in [
        (PieParams { control: PieControl { tupdate: Dur::ZERO, ..PieControl::default() }, ..PieParams::default() }, "tupdate"),
        (PieParams { control: PieControl { alpha: f64::NAN, ..PieControl::default() }, ..PieParams::default() }, "alpha"),
        (PieParams { limit: Len::Packets(0), ..PieParams::default() }, "limit"),
    ] {
        assert_eq!(p.check(&site).unwrap_err().field, field);
    }
    assert!(PieParams::default().check(&site).is_ok());
}
