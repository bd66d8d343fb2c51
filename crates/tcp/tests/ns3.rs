//! Differences of the sockets of ns-3.37, from `src/internet/model` of its sources. Whole runs of ns-3 are in
//! `tests/test_ns3_reference.py`.

use crate::helpers::{ms, with};
use crate::pair::{Pair, params};
use fairlane_net::{Class, Endpoint};
use fairlane_tcp::cc::Window;
use fairlane_tcp::{LossBasis, TcpConfig, resolve_params};
use fairlane_units::{Dur, Time};
use serde_json::{Value, json};

/// A flow of the preset with a window of 20 segments of 1000 bytes and a round trip of 100 ms.
fn flow(extra: Value, lost: &[u64]) -> Pair {
    let j = with(
        json!({ "preset": "ns3", "cc": "reno", "mss": "1000B", "ack_every": 1, "initial_window": "20p", "initial_ssthresh": "2p" }),
        &extra,
    );
    let mut p = Pair::delayed(&params(j), ms(50));
    p.drop_data(lost);
    p.start_endless();
    p
}

/// EnterRecovery leaves the timer alone, and ProcessAck calls NewAck(ack, m_isFirstPartialAck): of the partial acknowledgments only the first restarts it. Three
/// quarters of a window are lost and come back a few a round trip (PRR-CRB): with an RTO of 150 ms the timer goes off, though each round trip of 100 ms has its
/// partial acknowledgments.
#[test]
fn a_recovery_longer_than_the_timer_ends_in_a_timeout() {
    let lost: Vec<u64> = (20..35).collect();
    let timeouts = |recovery: &str, rto: &str| {
        let mut p = flow(json!({ "recovery": recovery, "prr": "crb", "rto_min": rto }), &lost);
        p.run_until(Time::ZERO + ms(900));
        let v = p.ends[0].view();
        assert!(v.fast_recoveries > 0, "{recovery} {rto}");
        v.timeouts
    };
    assert_eq!(timeouts("sack", "150ms"), 0);
    assert!(timeouts("ns3", "150ms") > 0);
    assert_eq!(timeouts("ns3", "1s"), 0);
}

/// EstimateRtt reads the echoed timestamp, in whole milliseconds, and the algorithm is given the smoothed value: a round trip of 100.6 ms measures 100 or 101.
#[test]
fn round_trips_are_read_off_the_timestamps() {
    let srtt = |extra: Value| {
        let j = with(json!({ "preset": "ns3", "cc": "reno", "mss": "1000B" }), &extra);
        let mut p = Pair::delayed(&params(j), Dur::from_us(50_300));
        p.start();
        p.write(0, 1000, false);
        p.run_until(Time::ZERO + ms(150));
        p.ends[0].view().srtt
    };
    assert_eq!(srtt(json!({})), ms(100));
    assert_eq!(srtt(json!({ "rtt_in_ticks": false })), Dur::from_us(100_600));
}

/// After each timeout in a row the threshold is recomputed, as SetSentListLost has cleared the mark that IsHeadRetransmitted asks for.
#[test]
fn each_timeout_cuts_again() {
    let lost: Vec<u64> = (20..200).collect();
    let mut p = flow(json!({}), &lost);
    p.run_until(Time::ZERO + ms(10_000));
    let v = p.ends[0].view();
    assert!(v.timeouts > 2, "{}", v.timeouts);
    assert_eq!(v.ssthresh, 2000);
}

/// Inheritance of the congestion controls: TcpNewReno's slow start counts an acknowledgment as one segment, and its GetSsThresh halves the
/// pipe. Those with a CongestionAvoidance of their own count all bytes acknowledged there, except where they add the same for each
/// acknowledgment. TcpLinuxReno (and TcpDctcp, derived from it) and TcpCubic count all, and cut the window.
#[test]
fn controls_inherit_what_they_do_in_ns3() {
    let one = Some(1);
    let all = Some(1000);
    for (cc, slow_start, avoidance, basis) in [
        ("newreno", one, false, LossBasis::Pipe),
        ("reno", all, false, LossBasis::Cwnd),
        ("TcpVegas", one, false, LossBasis::Cwnd),
        ("TcpVeno", one, false, LossBasis::Pipe),
        ("TcpWestwood", one, false, LossBasis::Cwnd),
        ("TcpBic", one, true, LossBasis::Cwnd),
        ("TcpCubic", all, false, LossBasis::Cwnd),
        ("TcpHybla", one, true, LossBasis::Pipe),
        ("TcpHighSpeed", one, true, LossBasis::Pipe),
        ("TcpHtcp", one, false, LossBasis::Pipe),
        ("TcpIllinois", one, true, LossBasis::Pipe),
        ("TcpYeah", one, false, LossBasis::Pipe),
        ("TcpScalable", one, true, LossBasis::Pipe),
        ("TcpLedbat", one, true, LossBasis::Pipe),
        ("TcpDctcp", all, false, LossBasis::Cwnd),
    ] {
        let p = resolve_params(json!({ "preset": "ns3", "cc": cc })).unwrap();
        assert_eq!((p.byte_counting, p.avoidance_counts_all, p.loss_basis), (slow_start, avoidance, basis), "{cc}");
    }
}

/// TcpLinuxReno::CongestionAvoidance: a window of 10 acknowledged segments adds one, and no part of one before; equation 3 of RFC 5681 adds a tenth each.
/// Also RFC 5681 section 3.1.
#[test]
fn linux_reno_grows_by_whole_segments() {
    let window = |extra: Value, at: u64| {
        let j = with(json!({ "initial_window": "10p" }), &extra);
        let mut p = flow(j, &[]);
        p.run_until(Time::ZERO + ms(at));
        p.ends[0].view().cwnd
    };
    assert_eq!([250, 350, 450].map(|at| window(json!({}), at)), [11_000, 12_000, 13_000]);
    let parts = window(json!({ "growth_unit": "fraction" }), 250);
    assert!((10_900..11_000).contains(&parts), "{parts}");
}

/// TcpNewReno::CongestionAvoidance adds `static_cast<uint32_t> (segment * segment / cwnd)`, worked out by hand for segments of 1000 bytes: 83 of 83.3 at
/// 12,000, then 82 (of 82.7) at 12,083, ... The twelfth acknowledgment leaves it 40 bytes short of a segment, which the thirteenth brings.
#[test]
fn newreno_grows_by_whole_bytes() {
    let config = |unit: &str| {
        let p = resolve_params(json!({ "preset": "ns3", "cc": "newreno", "mss": "1000B", "growth_unit": unit })).unwrap();
        TcpConfig::new(&p, Class(0)).unwrap()
    };
    let after = |unit: &str, cwnd: u64, acks: usize| {
        let mut w = Window::new(config(unit).congestion());
        w.cwnd = cwnd as f64 / 1000.0;
        (0..acks).for_each(|_| w.avoid(1.0));
        (w.cwnd * w.smss) as u64
    };
    let by_hand = |cwnd: u64, acks: usize| (0..acks).fold(cwnd, |w, _| w + (1_000_000 / w).max(1));
    assert_eq!(by_hand(12_000, 12), 12_960);
    for (cwnd, acks) in [(12_000, 1), (12_000, 12), (12_000, 13), (37_001, 500), (2_000_000, 3)] {
        assert_eq!(after("byte", cwnd, acks), by_hand(cwnd, acks), "{cwnd} {acks}");
    }
    assert_eq!(after("segment", 12_000, 12), 13_000);
    assert!((12_961..13_000).contains(&after("fraction", 12_000, 12)));
}

/// TcpHighSpeed::CongestionAvoidance and TcpIllinois count what is earned, and each window of it is a segment: at 40 segments and a growth of 2 the twentieth
/// acknowledgment brings the 41st, and the rest of the count waits. TcpScalable adds one for every min(cwnd, 50), and forgets the rest.
#[test]
fn fast_controls_grow_by_whole_segments() {
    let config = TcpConfig::new(&resolve_params(json!({ "preset": "ns3", "cc": "highspeed" })).unwrap(), Class(0)).unwrap();
    let mut w = Window::new(config.congestion());
    w.cwnd = 40.0;
    let after: Vec<f64> = (1..=41)
        .map(|_| {
            w.earn(2.0);
            w.cwnd
        })
        .collect();
    assert_eq!((after[18], after[19], after[39], after[40]), (40.0, 41.0, 41.0, 42.0));
    w.forget_count();
    w.cwnd = 400.0;
    let grew: Vec<usize> = (1..=120).filter(|_| w.step(1.0, 50.0)).collect();
    assert_eq!((grew, w.cwnd), (vec![50, 100], 402.0));
}
