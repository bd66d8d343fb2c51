//! DCTCP compared with RFC 8257 and the analysis of Alizadeh et al. 2010, and Prague with its changes.

use crate::helpers::{at, ms, with};
use crate::pair::{Fate, Hop, Pair, params};
use fairlane_net::{Ecn, Endpoint, Segment, flag};
use fairlane_tcp::CongestionControl;
use fairlane_units::{Dur, Rate, Time};
use serde_json::{Value, json};

fn flow(extra: &Value) -> Pair {
    let j = with(json!({ "cc": "dctcp", "mss": "1000B", "ack_every": 2, "initial_window": "20p", "initial_ssthresh": "2p" }), extra);
    let mut p = Pair::delayed(&params(j), ms(50));
    p.start_endless();
    p
}

fn gauge(p: &Pair, wanted: &str) -> f64 {
    let mut out = f64::NAN;
    p.ends[0].cc().gauges(&mut |name, value| {
        if name == wanted {
            out = value;
        }
    });
    out
}

fn alpha(p: &Pair) -> f64 {
    gauge(p, "alpha")
}

/// Section 3.2: an acknowledgment goes out at each change of the marks, and no acknowledgment covers marked and unmarked data.
#[test]
fn rfc8257_receiver() {
    let mut p = flow(&json!({}));
    p.mark_data(&[3, 4, 5, 6, 9], &[]);
    p.run_until(at(199));
    let acks: Vec<(u64, bool)> =
        p.log.iter().filter(|l| l.1 == 1 && !l.2.has(flag::SYN)).map(|l| ((l.2.ack - 1) / 1000, l.2.has(flag::ECE))).collect();
    assert_eq!(
        acks[..10],
        [(2, false), (3, false), (4, true), (6, true), (7, true), (8, false), (9, false), (10, true), (11, false), (13, false)]
    );
}

/// Section 3.2 and 3.3: what the sender hears of is exactly what was marked, with delayed acknowledgments and with losses of data.
#[test]
fn rfc8257_no_mark_is_lost_or_counted_twice() {
    for every in [1, 2, 3] {
        for (k, seed) in [7_u64, 11, 13].into_iter().enumerate() {
            let mut p = flow(&json!({ "ack_every": every }));
            let marked: Vec<u64> = (0..3000).filter(|n| n * n % seed < 3).collect();
            let dropped: Vec<u64> = (0..3000).filter(|n| n % 251 == 17 + k as u64).collect();
            p.mark_data(&marked, &dropped);
            p.write(0, 0, false);
            p.run_until(at(12_000));
            let seen: u64 = p.ends[1].view().ce_received * 1000;
            let told = p.ends[0].view().ce_delivered;
            // What is on its way back, or waits for an acknowledgment.
            assert!(seen > 50_000 && told <= seen && seen - told <= p.ends[0].view().in_flight, "{every} {seed}: {told} of {seen}");
        }
    }
}

/// Section 3.3, steps 4 to 8 with g = 1/16: alpha decays by 15/16 a window of unmarked data and returns by 1/16 of what is missing.
#[test]
fn rfc8257_alpha() {
    let run = |marked: &[u64], until: u64| {
        let mut p = flow(&json!({ "ack_every": 1 }));
        p.mark_data(marked, &[]);
        p.run_until(at(until));
        alpha(&p)
    };
    // The first acknowledgment ends the first, empty window; then one update a round trip.
    for rounds in 1..=5_u64 {
        let expected = (15.0_f64 / 16.0).powi(rounds as i32);
        assert!((run(&[], 150 + 100 * rounds) - expected).abs() < 1e-12, "{rounds}");
    }
    // Segments 20 to 39 are marked. A window ends with the first acknowledgment of what was sent after it began (step 5): 1 of 20 is marked in the one that
    // ends at 300 ms, 19 of 20 in the next.
    let second: Vec<u64> = (20..40).collect();
    let first = (15.0_f64 / 16.0).powi(2) + 1.0 / 20.0 / 16.0;
    assert!((run(&second, 350) - first).abs() < 1e-12);
    assert!((run(&second, 450) - (first * 15.0 / 16.0 + 19.0 / 20.0 / 16.0)).abs() < 1e-12);
}

/// Section 3.3, step 9: a mark takes alpha / 2 of the window, once a window; section 3.5: a loss takes half of it whatever alpha is, also in a
/// window that a mark has cut.
#[test]
fn rfc8257_cuts() {
    let run = |initial: f64, marked: &[u64], dropped: &[u64]| {
        let mut p = flow(&json!({ "cc": { "dctcp": { "initial_alpha": initial, "gain": 0.0 } }, "ack_every": 1 }));
        p.mark_data(marked, dropped);
        p.run_until(at(301));
        p.ends[0].view()
    };
    for (alpha, left) in [(1.0, 0.5), (0.5, 0.75), (0.1, 0.95)] {
        let v = run(alpha, &[20, 24, 30], &[]);
        assert_eq!((v.ecn_cuts, v.cwnd_cuts), (1, 1));
        let kept = v.ssthresh as f64 / 1e3 / 20.97;
        assert!((kept - left).abs() < 0.01, "{alpha}: {kept}");
    }
    let v = run(0.1, &[20], &[22]);
    assert_eq!((v.ecn_cuts, v.cwnd_cuts, v.fast_recoveries), (1, 2, 1));
    assert!((9_000..=10_500).contains(&v.ssthresh), "{v:?}");
}

/// One flow through 100 Mbit/s and 10 ms with a step from `k` packets on; windows in segments and backlog over the last 4 s.
fn step_queue(cc: &Value, k: usize, seconds: u64) -> (Pair, Vec<f64>, Vec<usize>) {
    let j =
        json!({ "cc": cc, "ecn": if cc == "sack" { "classic" } else { "dctcp" }, "mss": "1460B", "ack_every": 1, "initial_window": "10p" });
    let bottleneck = Hop::marking(Rate::from_mbps(100), ms(5), 1000, k);
    let mut p = Pair::new(&params(j), vec![bottleneck], vec![Hop::delay(ms(5))]);
    p.keep_log = false;
    p.start_endless();
    let (mut windows, mut backlog) = (Vec::new(), Vec::new());
    while p.now < Time::ZERO + Dur::from_secs(seconds) {
        let now = p.now + Dur::from_us(100);
        p.run_until(now);
        if now > Time::ZERO + Dur::from_secs(seconds - 4) {
            windows.push(p.ends[0].view().cwnd as f64 / 1460.0);
            backlog.push(p.hops[0][0].waiting(now));
        }
    }
    (p, windows, backlog)
}

fn span(v: &[f64]) -> f64 {
    v.iter().copied().fold(f64::MIN, f64::max) - v.iter().copied().fold(f64::MAX, f64::min)
}

/// Alizadeh et al. 2010 section 3.3, equations 6 to 11: in steady state `alpha = sqrt(2 / W*)` with `W* = (C RTT + K) / N`, and the queue swings by
/// `A = sqrt(2 N (C RTT + K)) / 2` below `K + N`.
#[test]
fn alizadeh_amplitude() {
    // 100 Mbit/s of 1500-byte packets over 10 ms are 83.3 packets.
    for k in [20, 40, 65] {
        let (p, windows, backlog) = step_queue(&json!("dctcp"), k, 12);
        let w = 83.3 + k as f64;
        let (a, q) = ((2.0 / w).sqrt(), (2.0 * w).sqrt() / 2.0);
        let (alpha, swing) = (alpha(&p), span(&windows));
        let (low, high) = (*backlog.iter().min().unwrap() as f64, *backlog.iter().max().unwrap() as f64);
        assert!((alpha / a - 1.0).abs() < 0.25, "K {k}: alpha {alpha} {a}");
        assert!((swing / q - 1.0).abs() < 0.25, "K {k}: swing {swing} {q}");
        assert!((high - (k as f64 + 1.0)).abs() <= 2.0 && (high - low - q).abs() <= 2.5, "K {k}: queue {low} to {high}");
        assert_eq!(p.hops[0][0].drops + p.ends[0].view().retransmits, 0);
    }
}

/// Reno with ECN at the same threshold halves, so its window swings by half of `C RTT + K`, and with a small K the link runs dry.
#[test]
fn reno_with_ecn_halves_where_dctcp_does_not() {
    let (dctcp, wd, _) = step_queue(&json!("dctcp"), 20, 12);
    let (reno, wr, _) = step_queue(&json!("sack"), 20, 12);
    assert!(span(&wr) > 0.45 * 103.0 && span(&wd) < 0.12 * 103.0, "{} {}", span(&wr), span(&wd));
    let (d, r) = (dctcp.ends[0].view(), reno.ends[0].view());
    assert!(d.acked as f64 > 1.02 * r.acked as f64, "{} {}", d.acked, r.acked);
    assert_eq!((d.retransmits, r.retransmits, r.fast_recoveries), (0, 0, 0));
    assert_eq!(r.ecn_cuts, r.cwnd_cuts);
}

/// Prague: ECT(1) on every packet (RFC 9331 section 4.1), AccECN, no bursts: segments are spread over the round trip.
#[test]
fn prague_is_l4s() {
    let mut p = flow(&json!({ "cc": "prague" }));
    p.run_until(at(1000));
    assert!(p.log.iter().all(|l| l.2.ecn() == Ecn::Ect1));
    assert_eq!(p.log[0].2.ace(), 0b111);
    let times: Vec<Time> = p.log.iter().filter(|l| l.1 == 0 && l.2.payload > 0 && l.0 > at(500)).map(|l| l.0).collect();
    let gap = times.windows(2).map(|w| w[1] - w[0]).min().unwrap();
    assert!(gap > ms(3), "{gap}");
}

/// Section 2.4.4 of the draft: growth continues in rounds with marks, in proportion to what was not marked; DCTCP's stops with ECE.
#[test]
fn prague_grows_between_marks() {
    let run = |marked: &[u64], until: u64| {
        let mut p = flow(&json!({ "cc": { "prague": { "gain": 0.0 } }, "ack_every": 1 }));
        p.mark_data(marked, &[]);
        p.run_until(at(until));
        p.ends[0].view()
    };
    // With alpha held at 0 nothing is cut but the first half.
    let every_fifth: Vec<u64> = (20..2000).filter(|n| n % 5 == 0).collect();
    let (a, b) = (run(&every_fifth, 1000).cwnd as f64, run(&every_fifth, 3000).cwnd as f64);
    let rounds = 20.0;
    assert!(((b - a) / 1e3 - 0.8 * rounds).abs() < 2.0, "{a} {b}");
}

/// Section 2.4.4: below 25 ms growth is `(RTT / 25 ms)^2` of a segment a round trip, from the fifth round on.
#[test]
fn prague_short_round_trips() {
    for (delay, per_second) in [(5_u64, 0.16 * 100.0), (10, 0.64 * 50.0), (50, 10.0)] {
        let j = json!({ "cc": "prague", "mss": "1000B", "ack_every": 1, "initial_window": "20p", "initial_ssthresh": "2p" });
        let mut p = Pair::delayed(&params(j), ms(delay));
        p.keep_log = false;
        p.start_endless();
        p.run_until(at(2000));
        let before = p.ends[0].view().cwnd as f64;
        p.run_until(at(4000));
        let growth = (p.ends[0].view().cwnd as f64 - before) / 1e3 / 2.0;
        assert!((growth / per_second - 1.0).abs() < 0.1, "{delay}: {growth} {per_second}");
    }
}

/// Section 2.4.1: a loss halves the window; the first mark does as well; later ones take alpha / 2.
#[test]
fn prague_reductions() {
    let run = |marked: &[u64], dropped: &[u64], until: u64| {
        let mut p = flow(&json!({ "cc": "prague", "ack_every": 1 }));
        p.mark_data(marked, dropped);
        p.run_until(at(until));
        (p.ends[0].view(), alpha(&p))
    };
    let (loss, _) = run(&[], &[20], 330);
    assert!((9_500..=11_000).contains(&loss.ssthresh), "{loss:?}");
    let (first, _) = run(&[20], &[], 330);
    assert!((9_500..=11_000).contains(&first.ssthresh), "{first:?}");
    // One of about ten marked: alpha becomes at most a tenth of 1/16, its half is taken.
    let (second, alpha) = run(&[20, 80], &[], 1000);
    assert_eq!(second.ecn_cuts, 2);
    assert!(alpha < 0.02 && second.ssthresh > 10_000, "{alpha} {second:?}");
}

/// Section 2.4.5: where the peer reports with ECE alone, Prague answers as Reno does.
#[test]
fn prague_falls_back() {
    let p = |ecn: &str| {
        params(json!({ "cc": "prague", "ecn": ecn, "mss": "1000B", "initial_window": "20p", "initial_ssthresh": "2p", "ack_every": 1 }))
    };
    let mut pair = Pair::between(&p("accecn"), &p("classic"), vec![Hop::delay(ms(50))], vec![Hop::delay(ms(50))]);
    pair.mark_data(&[20, 80], &[]);
    pair.start_endless();
    pair.run_until(at(330));
    let first = pair.ends[0].view();
    assert!((9_500..=11_000).contains(&first.ssthresh), "{first:?}");
    pair.run_until(at(1200));
    let second = pair.ends[0].view();
    assert_eq!(second.ecn_cuts, 2);
    assert!(second.ssthresh < 9_000, "{second:?}");
}

/// Data arrives once and in order, and no flow stalls, under marks, losses, duplicates and delays in both directions.
#[test]
fn any_history_is_survived() {
    for (cc, ecn) in
        [("newreno", "classic"), ("sack", "classic"), ("dctcp", "dctcp"), ("dctcp", "accecn"), ("prague", "accecn"), ("cubic", "accecn")]
    {
        for seed in 0..12_u64 {
            let j = json!({ "cc": cc, "ecn": ecn, "mss": "1000B", "ecn_plus": seed % 2 == 0 });
            let mut p = Pair::delayed(&params(j), ms(20));
            for dir in 0..2 {
                let mut x = seed * 2 + dir as u64 + 1;
                p.script[dir] = Box::new(move |_, _: &Segment| {
                    x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    match (x >> 33) % 20 {
                        0 => Fate::Drop,
                        1 => Fate::Twice,
                        2 => Fate::Late(ms((x >> 40) % 60)),
                        3..=8 => Fate::Mark,
                        _ => Fate::Pass,
                    }
                });
            }
            p.start();
            p.write(0, 200_000, true);
            let mut guard = 0;
            while p.step() {
                guard += 1;
                assert!(p.ends[0].view().cwnd >= 1000 && guard < 200_000, "{cc} {ecn} {seed}");
            }
            assert_eq!(p.delivered[1], 200_000, "{cc} {ecn} {seed}");
            assert!(p.finished[0].is_some());
        }
    }
}
