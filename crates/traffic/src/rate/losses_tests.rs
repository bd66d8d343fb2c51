use super::*;

const R: Dur = Dur::from_ms(100);
/// A rate of 10 packets of 1000 bytes a round trip.
const AROUND: Surroundings = Surroundings { rtt: R, size: 1000.0, target: 100_000.0 };

fn ms(n: u64) -> Time {
    Time::ZERO + Dur::from_ms(n)
}

/// Arrivals (number, millisecond); what is left out is missing. Returns the record and the numbers at which an event was found.
fn fed(arrivals: &[(u64, u64)]) -> (Losses, Vec<u64>) {
    let mut l = Losses::new(false);
    let found = arrivals.iter().filter(|a| l.arrive(a.0, ms(a.1), false, &AROUND).events > 0).map(|a| a.0).collect();
    (l, found)
}

/// A packet every 10 ms, without those in `missing`.
fn spaced(n: u64, missing: &[u64]) -> Vec<(u64, u64)> {
    (1..=n).filter(|k| !missing.contains(k)).map(|k| (k, 10 * k)).collect()
}

#[test]
fn section_5_1_three_later_arrivals_make_a_loss() {
    assert!(fed(&spaced(12, &[10])).1.is_empty());
    assert_eq!(fed(&spaced(13, &[10])).1, [13]);
    // Reordering by up to two packets is none.
    let (l, found) = fed(&[(1, 10), (3, 30), (4, 40), (2, 45), (7, 50), (5, 55), (6, 60), (8, 80), (9, 90), (10, 100)]);
    assert_eq!((found.len(), l.rate()), (0, 0.0));
}

#[test]
fn section_5_2_losses_of_one_round_trip_are_one_event() {
    // Lost at 100 and 200 ms: 100 ms apart, the same event; at 210 ms: the next.
    assert_eq!(fed(&spaced(40, &[10, 20])).0.events, 1);
    assert_eq!(fed(&spaced(40, &[10, 21])).0.events, 2);
    assert_eq!(fed(&spaced(40, &[10, 15, 20, 21, 31])).0.events, 2);
}

/// S_before = 1 at 0 ms, S_after = 101 at 1000 ms: packet k of the hole was lost at 10 (k - 1) ms. The first, 2, at 10 ms; to 110 ms belongs 12; the
/// next event begins with 13 at 120 ms, then 24 at 230 ms: every 11 packets, ten events up to 100.
#[test]
fn section_5_2_times_within_a_hole_are_interpolated() {
    let (l, _) = fed(&[(1, 0), (101, 1000), (102, 1010), (103, 1020)]);
    assert_eq!(l.events, 9);
    let event = l.event.unwrap();
    assert_eq!((event.number, event.time), (90, ms(890)));
    assert_eq!(event.packets, 11);
    assert_eq!(l.before.1.mean(1.0).map(|m| m > 10.0), Some(true));
}

/// Section 5.3: intervals run from the first loss of one event to that of the next; I_0 ends with the highest packet.
#[test]
fn section_5_3_lengths() {
    let (l, _) = fed(&spaced(200, &[50, 80, 140]));
    // First interval for 10 packets a round trip: p = 0.01217: 0.09008 + 0.00991 = 0.1; 1/p = 82.15. Then 30 and 60; I_0 = 200 - 140 + 1 = 61.
    let first = AROUND.first_interval();
    assert!((first - 82.15).abs() < 0.05, "{first}");
    let closed = (60.0 + 30.0 + first) / 3.0;
    let with = (61.0 + 60.0 + 30.0) / 3.0;
    assert!((1.0 / l.rate() - closed.max(with)).abs() < 1e-9);
}

/// Section 6.3.1: without a receive rate the target is half a packet a round trip, p = 0.2064.
#[test]
fn section_6_3_1_the_loss_of_the_first_packet() {
    let mut l = Losses::new(true);
    let around = Surroundings { target: 0.0, ..AROUND };
    let found: Vec<u64> = [2, 3, 4].iter().map(|&n| l.arrive(n, ms(10 * n), false, &around).events).collect();
    assert_eq!(found, [0, 0, 1]);
    assert!((l.rate() - 0.2064).abs() < 0.0001, "{}", l.rate());
}

#[test]
fn section_5_2_marks_are_losses_at_once() {
    let mut l = Losses::new(false);
    let events = |l: &mut Losses, n: u64, marked| l.arrive(n, ms(10 * n), marked, &AROUND).events;
    assert_eq!([1, 2, 3].map(|n| events(&mut l, n, false)), [0; 3]);
    assert_eq!(events(&mut l, 4, true), 1);
    // Up to a round trip later marks belong to it.
    assert_eq!((5..=14).map(|n| events(&mut l, n, true)).sum::<u64>(), 0);
    assert_eq!(events(&mut l, 15, true), 1);
}

#[test]
fn copies_tell_nothing() {
    let mut l = Losses::new(false);
    for n in [1, 2, 2, 2, 2, 2, 4, 4, 4, 4, 5, 5, 5] {
        let news = l.arrive(n, ms(10 * n), false, &AROUND);
        assert_eq!(news.events, 0, "{n}");
    }
    assert!(!l.arrive(4, ms(70), true, &AROUND).fresh);
}

/// Section 5.1: a packet that comes later than three others fills its hole: with it the event goes.
#[test]
fn late_packets_take_the_last_event_back() {
    let (mut l, _) = fed(&spaced(60, &[20, 50, 51]));
    let two = l.rate();
    assert!(l.arrive(50, ms(700), false, &AROUND).fresh);
    assert_eq!(l.rate(), two);
    assert!(l.arrive(51, ms(700), false, &AROUND).fresh);
    let (one, _) = fed(&spaced(60, &[20]));
    assert_eq!(l.rate(), one.rate());
    // The one before stays.
    l.arrive(20, ms(710), false, &AROUND);
    assert_eq!(l.rate(), one.rate());
    let (mut only, _) = fed(&spaced(30, &[20]));
    only.arrive(20, ms(400), false, &AROUND);
    assert_eq!(only.rate(), 0.0);
}

/// A hole of thousands of packets and many round trips is gone through in steps of a round trip.
#[test]
fn long_silences() {
    let (l, _) = fed(&[(1, 0), (2, 10), (5_000_000, 60_000), (5_000_001, 60_010), (5_000_002, 60_020)]);
    assert!((594..=600).contains(&l.events), "{}", l.events);
}
