use super::*;
use crate::law::testing::{Bench, pkt};
use fairlane_net::Ecn;

fn packet(flow: u32, len: u32) -> Packet {
    pkt(len, flow, Ecn::NotEct, Time::ZERO)
}

fn small() -> AfdParams {
    AfdParams { sampling: 1, shadow: 100, ..AfdParams::default() }
}

/// Two flows at 3:1 fill the sample in that proportion, in bytes, and the larger one loses what is above the share: 1 - m_fair / m_i.
#[test]
fn drops_what_is_above_the_fair_share() {
    let mut b = Bench::new(Afd::new(&small()), 1);
    for _ in 0..25 {
        (0..3).for_each(|_| {
            b.enqueue(&packet(0, 1000), Time::ZERO, 0);
        });
        b.enqueue(&packet(1, 1000), Time::ZERO, 0);
    }
    assert_eq!(
        (b.law.drop_prob(0, false), b.law.drop_prob(1, false)),
        (0.0, 0.0),
        "the share is the whole sample as long as the queue is short"
    );
    b.law.fair = 25.0;
    assert_eq!((b.law.drop_prob(0, false), b.law.drop_prob(1, false), b.law.drop_prob(2, false)), (1.0 - 25.0 / 75.0, 0.0, 0.0));
    let dropped = (0..30_000).filter(|_| b.enqueue(&packet(0, 1000), Time::ZERO, 0) != Verdict::Pass).count();
    // It alone arrives, so it soon has the whole sample: 1 - 25/100.
    assert!((0.74..0.76).contains(&(dropped as f64 / 30_000.0)), "{dropped}");
}

/// The sample counts bytes: packets of half the length and twice the number are the same share.
#[test]
fn bytes_count() {
    let mut b = Bench::new(Afd::new(&small()), 1);
    for _ in 0..20 {
        b.enqueue(&packet(0, 1000), Time::ZERO, 0);
        (0..2).for_each(|_| {
            b.enqueue(&packet(1, 500), Time::ZERO, 0);
        });
    }
    b.law.fair = 10.0;
    assert_eq!((b.law.drop_prob(0, false), b.law.drop_prob(1, false)), (0.5, 0.5));
    assert_eq!(b.law.drop_prob(0, true), 0.0, "its acknowledgements are another flow");
}

/// The sample never holds more than its size, and its sums are those of its members.
#[test]
fn a_full_sample_replaces_at_random() {
    let mut b = Bench::new(Afd::new(&small()), 3);
    for i in 0..5000 {
        b.enqueue(&packet(i % 7, 100 + i), Time::ZERO, 0);
        let law = &b.law;
        assert!(law.sample.len() <= 100);
        let sums = (0..7).map(|f| law.sample.iter().filter(|s| s.key == 2 * f).map(|s| u64::from(s.len)).sum::<u64>());
        assert!(sums.zip(0..7).all(|(sum, f)| law.matches.get(2 * f).is_none_or(|&m| m == sum)));
    }
    // After 50 times its size hardly anything of the first arrivals is left, and something of more than the last hundred: places are drawn.
    assert!(b.law.sample.iter().all(|s| s.len > 100 + 3000));
    assert!(b.law.sample.iter().any(|s| s.len < 100 + 4900));
}

/// One arrival in five on average.
#[test]
fn samples_one_in_s() {
    let mut b = Bench::new(Afd::new(&AfdParams { shadow: 100_000, ..AfdParams::default() }), 4);
    (0..100_000).for_each(|_| {
        b.enqueue(&packet(0, 1000), Time::ZERO, 0);
    });
    assert!((19_500..20_500).contains(&b.law.sample.len()), "{}", b.law.sample.len());
}

/// m_fair(t) = m_fair(t - 1) + alpha (q(t - 1) - q_target) - beta (q(t) - q_target) by hand, q_target 50 packets of 1000 bytes.
#[test]
fn the_share_follows_the_queue() {
    let mut b = Bench::new(Afd::new(&AfdParams::default()), 5);
    b.law.fair = 200.0;
    let every = Dur::from_us(6250);
    assert_eq!(b.timer(Time::ZERO, 60_000), Some(Time::ZERO + every));
    let first = 200.0 + 1.7 * -50.0 - 1.8 * 10.0;
    assert!((b.law.fair() - first).abs() < 1e-9);
    b.timer(Time::ZERO + every, 60_000);
    assert!((b.law.fair() - (first + 1.7 * 10.0 - 1.8 * 10.0)).abs() < 1e-9, "a queue that stays too long lowers it on and on");
    (0..10_000).for_each(|_| {
        b.timer(Time::ZERO, 500_000);
    });
    assert_eq!(b.law.fair(), 0.0);
    (0..10_000).for_each(|_| {
        b.timer(Time::ZERO, 0);
    });
    assert_eq!(b.law.fair(), 500.0);
}
