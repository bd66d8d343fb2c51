use super::*;
use crate::law::testing::{Bench, pkt};

use crate::sched::testing::{self, Desk, link, us};
use fairlane_net::{Ecn, Qdisc};

const FULL: u64 = 200_000;

fn at(ms: u64) -> Time {
    Time::ZERO + Dur::from_secs(100) + Dur::from_ms(ms)
}

/// MSR 10 Mbit/s, a burst of 30 kB at a peak of 50 Mbit/s, a buffer of 240 kB.
fn params() -> DocsisPieParams {
    let (msr, peak_rate) = (Some(Rate::from_mbps(10)), Some(Rate::from_mbps(50)));
    DocsisPieParams { msr, peak_rate, burst: Bytes(30_000), limit: Some(Len::Bytes(240_000)), ..DocsisPieParams::default() }
}

fn bench(p: &DocsisPieParams) -> Bench<DocsisPie> {
    Bench::new(DocsisPie::new(p, p.rates(Rate::from_mbps(100)), p.limit(Rate::from_mbps(100))), 3)
}

fn near(got: f64, want: f64) {
    assert!((got - want).abs() <= 1e-9 * want.abs().max(1e-6), "{got} {want}");
}

fn drops(b: &mut Bench<DocsisPie>, n: usize, len: u32) -> usize {
    (0..n).filter(|_| b.enqueue(&pkt(len, 0, Ecn::Ect0, at(0)), at(0), FULL) == Verdict::Drop(DropReason::Early)).count()
}

/// RFC 8034 section 4.2: what the tokens cover leaves at the peak rate, the rest at MSR. Tokens that were taken come back with MSR.
#[test]
fn the_delay_is_predicted_from_the_tokens() {
    let mut b = bench(&params());
    b.timer(at(0), 20_000);
    near(b.law.qdelay_old, 20_000.0 * 8.0 / 50e6);
    b.timer(at(16), 80_000);
    near(b.law.qdelay_old, 50_000.0 * 8.0 / 10e6 + 30_000.0 * 8.0 / 50e6);
    // 25000 bytes leave at 16 ms; 8 ms bring 10000: 15000 tokens.
    (0..25).for_each(|_| assert_eq!(b.dequeue(&pkt(1000, 0, Ecn::NotEct, at(0)), at(16), FULL), Verdict::Pass));
    b.timer(at(24), 80_000);
    near(b.law.qdelay_old, 65_000.0 * 8.0 / 10e6 + 15_000.0 * 8.0 / 50e6);
}

/// A = 0.25 and B = 2.5 per second, target 10 ms: from 30 ms to 44.8 ms 0.25 * 0.0348 + 2.5 * 0.0148 = 0.0457. It is divided as in RFC 8033, and from 10 %
/// on multiplied by 2, 8 and 32, but grows by 2 % at most; at most 0.85 of a packet of 64 bytes.
#[test]
fn steps_follow_the_probability() {
    let step = |prob: f64, old: f64, bytes| {
        let mut b = bench(&params());
        (b.law.drop_prob, b.law.qdelay_old) = (prob, old);
        b.timer(at(0), bytes);
        b.law.drop_prob() - prob
    };
    for (prob, divisor) in [(0.0, 2048.0), (5e-6, 512.0), (5e-5, 128.0), (5e-4, 32.0), (5e-3, 8.0), (0.05, 2.0)] {
        near(step(prob, 0.030, 80_000), 0.0457 / divisor);
    }
    for prob in [0.1, 2.0, 10.0] {
        near(step(prob, 0.030, 80_000), 0.02);
    }
    // Down from 30 ms to 8 ms (30000 tokens in 4.8 ms, 4000 bytes in 3.2): 0.25 * -0.002 + 2.5 * -0.022 = -0.0555.
    for (prob, factor) in [(0.5, 2.0), (2.0, 8.0), (11.0, 32.0)] {
        near(step(prob, 0.030, 34_000), -0.0555 * factor);
    }
    // Below 5 ms twice: 2 % of what is left; above 200 ms 2 % more. 330000 bytes: 244.8 ms.
    near(step(0.5, 0.0048, 30_000), (0.5 - 0.25 * 0.0052 * 2.0) * 0.98 - 0.5);
    near(step(0.5, 0.2448, 330_000), 0.04);
    near(step(13.59, 0.2448, 330_000), 0.85 * 1024.0 / 64.0 - 13.59);
}

/// Nothing is dropped until a third of the buffer is full. The first drop then begins 142 ms without one; another third counts after more than 1 s of quiet.
#[test]
fn a_burst_passes_after_the_first_drop() {
    let mut b = bench(&params());
    (b.law.drop_prob, b.law.qdelay_old) = (0.5, 0.1);
    for bytes in [0, 40_000, 79_999] {
        (0..100).for_each(|_| assert_eq!(b.enqueue(&pkt(1000, 0, Ecn::NotEct, at(0)), at(0), bytes), Verdict::Pass));
    }
    assert_eq!(b.law.burst, Burst::None);
    assert_eq!(drops(&mut b, 100, 1024), 1);
    assert_eq!((b.law.burst, b.law.allowance), (Burst::Protecting, Dur::from_ms(142)));
    // 142 ms end at the ninth update, until which the probability is zero.
    for n in 1..=9 {
        b.timer(at(16 * n), FULL);
        assert_eq!((b.law.drop_prob(), drops(&mut b, 50, 1024)), (0.0, 0), "{n}");
    }
    assert_eq!(b.law.allowance, Dur::ZERO);
    b.law.drop_prob = 0.5;
    // One of the two packets up to the sum of 0.85 passes, and then each second is dropped: a third.
    assert!((300..370).contains(&drops(&mut b, 1000, 1024)), "no second allowance");
    // Quiet: two updates without delay set it back to waiting for a drop, 63 more to no burst at all.
    b.law.drop_prob = 0.0;
    let mut states = vec![];
    for n in 10..90 {
        b.timer(at(16 * n), 0);
        states.push(b.law.burst);
    }
    let first = |wanted| states.iter().position(|s| *s == wanted);
    assert_eq!(first(Burst::Protecting), Some(0));
    let (again, none) = (first(Burst::In).unwrap(), first(Burst::None).unwrap());
    assert!(none - again == 63 && again <= 2, "{again} {none}");
}

/// Longer packets are dropped in proportion; the sum of the probabilities forbids drops below 0.85 and forces one from 8.5 on.
#[test]
fn drops_follow_the_length_and_no_luck_lasts() {
    let share = |len, prob| {
        let mut b = bench(&params());
        (b.law.burst, b.law.drop_prob, b.law.qdelay_old) = (Burst::Protecting, prob, 0.1);
        drops(&mut b, 20_000, len) as f64 / 20_000.0
    };
    // After a drop 0.85 / p packets pass, and then each is dropped with p: 1 / (0.85 / p + 1 / p) of all.
    for (len, prob) in [(1024, 0.02), (512, 0.02), (128, 0.08)] {
        let p = prob * f64::from(len) / 1024.0;
        let want = p / 1.85;
        assert!((share(len, prob) / want - 1.0).abs() < 0.12, "{len} {prob}: {} {want}", share(len, prob));
    }
    // A quiet queue, and one of two packets, is left alone.
    let mut b = bench(&params());
    (b.law.burst, b.law.drop_prob, b.law.accu_prob) = (Burst::Protecting, 0.5, 5.0);
    b.law.qdelay_old = 0.1;
    assert_eq!(b.enqueue(&pkt(1000, 0, Ecn::NotEct, at(0)), at(0), 2048), Verdict::Pass);
    (b.law.drop_prob, b.law.qdelay_old) = (0.19, 0.0049);
    assert_eq!(drops(&mut b, 100, 1000), 0);
}

/// The burst leaves at the peak rate, the rest at MSR: 1 Mbit/s, 8 us a byte, with 3044 bytes at first.
#[test]
fn the_bucket_shapes() {
    let p = DocsisPieParams { msr: Some(Rate::from_mbps(1)), limit: Some(Len::Bytes(60_000)), ..DocsisPieParams::default() };
    p.check(&link().into()).unwrap();
    let (mut q, mut desk) = (p.build(&link().into()), Desk::new());
    (0..5).for_each(|i| desk.put(&mut q, us(0), testing::pkt(i, 0, 1000)));
    let times: Vec<Time> = (0..5)
        .map(|_| {
            let t = q.ready_at().unwrap();
            assert!(desk.get(&mut q, t).is_some());
            t
        })
        .collect();
    assert_eq!(times, [0, 0, 0, 956 * 8, 1956 * 8].map(us));
    // 2 Mbit/s, 4 us a byte, with a bucket of 1522: the second packet of the burst needs 478 bytes more.
    let p = DocsisPieParams { peak_rate: Some(Rate::from_mbps(2)), ..p };
    let (mut q, mut desk) = (p.build(&link().into()), Desk::new());
    (0..3).for_each(|i| desk.put(&mut q, us(0), testing::pkt(i, 0, 1000)));
    assert!(desk.get(&mut q, us(0)).is_some());
    assert_eq!(q.ready_at(), Some(us(478 * 4)));
    for (p, field) in [
        (DocsisPieParams { burst: Bytes(1500), ..params() }, "burst"),
        (DocsisPieParams { peak_rate: Some(Rate::from_mbps(9)), ..params() }, "peak_rate"),
        (DocsisPieParams { limit: Some(Len::Bytes(0)), ..params() }, "limit"),
    ] {
        assert_eq!(p.check(&link().into()).unwrap_err().field, field);
    }
}
