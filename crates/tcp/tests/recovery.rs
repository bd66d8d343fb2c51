//! Loss recovery of each scheme compared with the RFCs, for one loss and for several.

use crate::helpers::{again, ms, with};
use crate::pair::{Pair, params};
use fairlane_net::Endpoint;
use fairlane_units::{Dur, Time};
use serde_json::{Value, json};

/// A flow with a fixed window of 20 segments of 1000 bytes and a round trip of 100 ms. Segment n leaves at about 100 ms * (1 + n / 20).
fn steady(cc: &str, extra: Value, lost: &[u64]) -> Pair {
    let j = with(
        json!({ "cc": cc, "mss": "1000B", "ack_every": 1, "initial_window": "20p", "initial_ssthresh": "2p", "rto_min": "1s" }),
        &extra,
    );
    let mut p = Pair::delayed(&params(j), ms(50));
    p.drop_data(lost);
    p.start_endless();
    p
}

fn cwnd(p: &Pair) -> f64 {
    p.ends[0].view().cwnd as f64 / 1e3
}

/// RFC 5681 section 3.1, equation 2: slow start adds a segment an acknowledgment, so the window doubles each round trip;
/// equation 3: congestion avoidance adds about one segment a round trip.
/// Also RFC 9293 section 3.8.2.
#[test]
fn rfc5681_growth() {
    let j = json!({ "cc": "reno", "mss": "1000B", "ack_every": 1, "initial_window": "2p", "initial_ssthresh": "16p" });
    let mut p = Pair::delayed(&params(j), ms(50));
    p.start_endless();
    for expected in [2.0, 4.0, 8.0, 16.0, 17.0, 18.0] {
        p.run(ms(100));
        assert!((cwnd(&p) - expected).abs() < 0.15, "{} {expected}", cwnd(&p));
    }
}

/// RFC 5681 section 3.2: one loss: retransmitted on the third duplicate, window halved, no timeout. Tahoe starts from one segment.
/// Also RFC 5681 section 3.1; RFC 6582 section 3.2.
#[test]
fn one_loss() {
    for cc in ["tahoe", "reno", "newreno", "sack"] {
        let mut p = steady(cc, json!({}), &[20]);
        p.run_until(Time::ZERO + ms(301));
        assert_eq!(again(&p), [(300, 20)], "{cc}");
        let v = p.ends[0].view();
        assert_eq!((v.fast_recoveries, v.cwnd_cuts, v.timeouts), (1, 1, 0));
        // FlightSize is 20 segments: the two of limited transmit (RFC 3042 section 2) do not count.
        assert_eq!(v.ssthresh, 10_000, "{cc}");
        assert_eq!(v.cwnd, if cc == "tahoe" { 1000 } else { 10_000 }, "{cc}");
        p.run_until(Time::ZERO + ms(401));
        if cc == "tahoe" {
            assert!(cwnd(&p) <= 2.0, "{}", cwnd(&p));
        } else {
            assert!((10.0..=11.0).contains(&cwnd(&p)), "{cc} {}", cwnd(&p));
        }
        p.run(Dur::from_secs(5));
        assert_eq!(p.ends[0].view().timeouts, 0, "{cc}");
    }
}

/// Fall and Floyd 1996: with several losses in a window Reno needs a timeout, NewReno repairs one hole a round trip,
/// SACK all in about one.
/// Also RFC 6582 section 3.2.
#[test]
fn three_losses() {
    let lost = [20, 24, 28];
    let mut reno = steady("reno", json!({}), &lost);
    reno.run(Dur::from_secs(4));
    assert!(reno.ends[0].view().timeouts >= 1);

    let mut newreno = steady("newreno", json!({}), &lost);
    newreno.run(Dur::from_secs(4));
    assert_eq!(again(&newreno), [(300, 20), (400, 24), (500, 28)]);
    assert_eq!((newreno.ends[0].view().timeouts, newreno.ends[0].view().cwnd_cuts), (0, 1));

    let mut sack = steady("sack", json!({}), &lost);
    sack.run(Dur::from_secs(4));
    let times = again(&sack);
    assert_eq!(times.iter().map(|t| t.1).collect::<Vec<_>>(), lost);
    assert!(times.iter().all(|t| t.0 < 400), "{times:?}");
    assert_eq!((sack.ends[0].view().timeouts, sack.ends[0].view().cwnd_cuts), (0, 1));

    let delivered = [&reno, &newreno, &sack].map(|p| p.delivered[1]);
    assert!(delivered[0] < delivered[1] && delivered[1] < delivered[2], "{delivered:?}");
}

/// RFC 3042 section 2: a new segment for each of the first two duplicates; without it a window of three cannot recover.
#[test]
fn rfc3042_limited_transmit() {
    let run = |limited: bool, lost: &[u64]| {
        let mut p =
            steady("reno", json!({ "limited_transmit": limited, "initial_window": "3p", "byte_counting": null, "window": "3p" }), lost);
        p.run(Dur::from_secs(4));
        p.ends[0].view()
    };
    assert_eq!(run(false, &[3]).timeouts, 1, "two duplicates only");
    let mut p = steady("reno", json!({ "initial_window": "4p" }), &[4]);
    p.run(Dur::from_secs(4));
    let v = p.ends[0].view();
    assert_eq!((v.timeouts, v.fast_recoveries), (0, 1));
}

/// RFC 3042 section 2: what goes out with the first two duplicates is new data, a segment each; the window stays as it is, and what is out exceeds it by two
/// segments at most. They bring the third duplicate, where a window of three segments could not.
/// Also RFC 5681 section 3.2.
#[test]
fn rfc3042_section_2_two_new_segments() {
    for (limited, new, ends) in [(true, vec![6, 7], (0, 1)), (false, vec![], (1, 0))] {
        let mut p = steady("newreno", json!({ "limited_transmit": limited, "initial_window": "3p" }), &[3]);
        p.run_until(Time::ZERO + ms(299));
        let (before, window) = (p.log.len(), p.ends[0].view().cwnd);
        assert_eq!(window / 1000, 3);
        p.run_until(Time::ZERO + ms(350));
        let v = p.ends[0].view();
        let out = p.log[before..].iter().filter(|l| l.1 == 0 && l.2.payload != 0);
        let out: Vec<_> = out.map(|l| (l.2.retransmission(), (l.2.seq - 1) / 1000)).collect();
        assert_eq!(out, new.iter().map(|&n| (false, n)).collect::<Vec<_>>());
        assert_eq!(v.cwnd, window);
        assert!(v.in_flight <= window + 2000);
        p.run(Dur::from_secs(4));
        let v = p.ends[0].view();
        assert_eq!((v.timeouts, v.fast_recoveries), ends);
    }
}

/// RFC 6582 section 3.2 step 3: a partial acknowledgment retransmits the next hole and takes what it covers out of the window.
#[test]
fn rfc6582_partial_ack() {
    let mut p = steady("newreno", json!({}), &[20, 30]);
    p.run_until(Time::ZERO + ms(399));
    assert_eq!(again(&p), [(300, 20)]);
    let before = p.ends[0].view().in_flight;
    p.run_until(Time::ZERO + ms(400));
    assert_eq!(again(&p), [(300, 20), (400, 30)]);
    assert!(p.ends[0].view().in_flight < before);
    // Option 1 of the full acknowledgment: no more than a segment above what is in flight.
    p.run_until(Time::ZERO + ms(501));
    let v = p.ends[0].view();
    assert!(v.cwnd <= 10_500 + 1000, "{}", v.cwnd);
    p.run(Dur::from_secs(3));
    assert_eq!(p.ends[0].view().timeouts, 0);
}

/// RFC 3782 section 4: the impatient variant, which RFC 6582 section 3.2 step 3 asks for, times out when the holes take longer than the RTO; slow but steady does not.
#[test]
fn rfc6582_impatient_or_steady() {
    let lost: Vec<u64> = (20..40).step_by(2).collect();
    let run = |timer: &str| {
        let mut p = steady("newreno", json!({ "newreno_timer": timer, "rto_min": "300ms", "rto_granularity": "200ms" }), &lost);
        p.run(Dur::from_secs(5));
        p.ends[0].view()
    };
    assert_eq!(run("slow_but_steady").timeouts, 0);
    assert!(run("impatient").timeouts >= 1);
}

/// RFC 6582 section 3.2 step 2: losses of the same window do not halve twice; without the check Reno does (its section 1).
#[test]
fn rfc6582_careful() {
    let cuts = |careful: bool| {
        let mut p = steady("reno", json!({ "careful": careful }), &[20, 27]);
        p.run(ms(900));
        p.ends[0].view().cwnd_cuts
    };
    assert_eq!(cuts(true), 1);
    assert_eq!(cuts(false), 2);
}

/// RFC 6675 section 5: never more in flight than the window during recovery, and no more than one reduction.
#[test]
fn rfc6675_pipe_bounds_recovery() {
    let lost: Vec<u64> = (20..40).step_by(3).collect();
    let mut p = steady("sack", json!({}), &lost);
    let mut recovering = false;
    while p.now < Time::ZERO + Dur::from_secs(2) {
        p.step();
        let v = p.ends[0].view();
        recovering |= v.fast_recoveries > 0;
        if recovering {
            // Until a round trip is over what was out before counts as in flight.
            let most = if p.now < Time::ZERO + ms(400) { 21_000 } else { v.cwnd };
            assert!(v.in_flight <= most, "{} {}", v.in_flight, v.cwnd);
        }
    }
    let v = p.ends[0].view();
    assert_eq!((v.cwnd_cuts, v.timeouts, v.retransmits), (1, 0, lost.len() as u64));
}

/// RFC 6675 section 5.1: a lost retransmission is left to the timer, which starts over with what is not SACKed.
/// Also RFC 6675 section 6.
#[test]
fn rfc6675_lost_retransmission() {
    // 20 is lost, and again as the segment sent on the third duplicate: number 42 of those sent.
    let mut p = steady("sack", json!({ "dsack": true }), &[20, 42]);
    p.run(Dur::from_secs(5));
    let v = p.ends[0].view();
    assert_eq!(v.timeouts, 1);
    let first: Vec<u64> = again(&p).iter().map(|r| r.1).take(2).collect();
    assert_eq!(first, [20, 20]);
    assert_eq!(v.dsacks, 0, "nothing that was SACKed is sent again");
    assert!(p.delivered[1] > 50_000);
}

/// RFC 2883 and RFC 3042: reordering by less than three segments causes no retransmission; a needless one is reported.
#[test]
fn reordering_and_dsack() {
    let late = |by: u64| {
        let mut p = steady("sack", json!({ "window": "20p" }), &[]);
        // Segments 1 ms apart, so that lateness is a number of places.
        p.hops[0] = vec![crate::pair::Hop::new(fairlane_units::Rate::from_bps(8_320_000), ms(50), usize::MAX)];
        p.script[0] = Box::new(move |n, _| if n == 30 { crate::pair::Fate::Late(ms(by)) } else { crate::pair::Fate::Pass });
        p.run(Dur::from_secs(2));
        p.ends[0].view()
    };
    let v = late(90);
    assert!(v.retransmits >= 1 && v.dsacks >= 1, "{v:?}");
    let v = late(0);
    assert_eq!((v.retransmits, v.dsacks), (0, 0));
}

/// RFC 5681 section 3.1 and RFC 6298 section 5: a timeout restarts from one segment, doubles the RTO, and holds ssthresh
/// when the same segment times out again.
/// Also RFC 9293 section 3.8.2.
#[test]
fn timeouts() {
    // All 20 of the second flight are lost, and the first retransmission.
    let lost: Vec<u64> = (20..41).collect();
    let mut p = steady("newreno", json!({ "window": "20p" }), &lost);
    p.run_until(Time::ZERO + ms(6000));
    let v = p.ends[0].view();
    assert_eq!(v.timeouts, 2);
    let times: Vec<u64> = again(&p).iter().map(|r| r.0).take(2).collect();
    assert_eq!(times, [1200, 3200]);
    assert_eq!(v.ssthresh, 10_000);
    assert!(p.delivered[1] > 40_000);
    let mut p = steady("newreno", json!({ "window": "20p", "timeout_cuts_again": true }), &lost);
    p.run_until(Time::ZERO + ms(3300));
    assert_eq!(p.ends[0].view().ssthresh, 2_000, "the window is one segment by then, the threshold at least two");
}

/// The acknowledgment that ends SACK recovery covers a window; counted again, as ns-3 does, it adds what it covers over the
/// window: 20 segments and the two of limited transmit, less what came before, to a window of 10.
#[test]
fn growth_on_leaving_sack_recovery() {
    let at_exit = |extra: Value| {
        let mut p = steady("sack", extra, &[20]);
        while p.ends[0].view().fast_recoveries == 0 {
            assert!(p.step());
        }
        let during = cwnd(&p);
        while cwnd(&p) == during {
            assert!(p.step());
        }
        (during, cwnd(&p))
    };
    let (during, after) = at_exit(json!({ "byte_counting": 1000, "loss_basis": "cwnd" }));
    assert!(after < during + 0.2, "{during} {after}: one acknowledgment adds one in {during}");
    let (during, after) = at_exit(json!({ "byte_counting": 1000, "loss_basis": "cwnd", "sack_grow_on_exit": true }));
    assert!(after > during + 1.9 && after < during + 2.3, "{during} {after}");
}

/// RFC 3465 section 2.3: after a timeout an acknowledgment may cover much that SACK reported long before; slow start ends at the
/// threshold all the same, however many segments one acknowledgment may count for.
#[test]
fn slow_start_after_a_timeout_ends_at_the_threshold() {
    // The first retransmission of segment 20 is lost too.
    let lost = [20, 40];
    let mut p = steady("sack", json!({ "byte_counting": 1000, "loss_basis": "cwnd", "limited_transmit": false }), &lost);
    while p.ends[0].view().timeouts == 0 {
        assert!(p.step() && cwnd(&p) < 100.0);
    }
    let (mut jumps, mut before) = (0, cwnd(&p));
    for _ in 0..200 {
        p.step();
        let (now, threshold) = (cwnd(&p), p.ends[0].view().ssthresh as f64 / 1e3);
        if before < threshold {
            assert!(now <= threshold, "{before} {now} {threshold}");
            jumps += usize::from(now > before + 1.5);
        }
        before = now;
    }
    assert!(jumps > 0, "no acknowledgment covered several segments");
}

/// Windows are never below one segment, whatever happens.
#[test]
fn cwnd_is_at_least_one_segment() {
    for cc in ["tahoe", "reno", "newreno", "sack"] {
        for preset in ["ns2", "ns3", "rfc", "linux"] {
            let lost: Vec<u64> = (10..400).filter(|n| n % 7 < 2).collect();
            let mut p = Pair::delayed(&params(json!({ "preset": preset, "cc": cc, "mss": "1000B" })), ms(20));
            p.drop_data(&lost);
            p.start();
            p.write(0, 400_000, true);
            while p.step() {
                assert!(p.ends[0].view().cwnd >= 1000);
            }
            assert_eq!(p.delivered[1], 400_000, "{cc} {preset}");
            assert!(p.finished[0].is_some());
        }
    }
}

/// A NewReno recovery of many holes must not leave a threshold far above what the path holds: after a slow start into
/// a queue of 25 segments the flow settles, with few timeouts.
#[test]
fn overshoot_settles() {
    let j = json!({ "cc": "newreno", "mss": "1000B" });
    let mut p = Pair::dumbbell(&params(j), 25);
    p.keep_log = false;
    p.start_endless();
    p.run_until(Time::ZERO + Dur::from_secs(50));
    let v = p.ends[0].view();
    assert!(v.timeouts <= 2, "{v:?}");
    assert!(v.acked as f64 * 8.0 / 50.0 > 0.85 * 10e6 * 1000.0 / 1040.0, "{v:?}");
}
