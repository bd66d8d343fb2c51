//! BIC, H-TCP, Scalable TCP, HighSpeed TCP and Hybla against the equations and tables of their sources, and against Reno.

use crate::drive::{Drive, MSS, near};
use crate::helpers::ms;
use fairlane_tcp::cc::{CongestionControl, CongestionKind};
use fairlane_units::Dur;
use serde_json::{Value, json};

/// Congestion avoidance at a window of `at`, without a loss.
fn at(cc: Value, rtt: Dur, at: u64) -> Drive {
    let mut d = Drive::new(json!({ "cc": cc, "initial_ssthresh": "2p" }), rtt);
    let now = d.now;
    d.cc.on_established(now, at * MSS);
    d
}

/// After a loss at a window of `loss`.
fn after(cc: Value, rtt: Dur, loss: u64) -> Drive {
    Drive::after_loss(json!({ "cc": cc }), rtt, loss)
}

/// Segments that each of the next round trips adds.
fn steps(d: &mut Drive, rounds: usize) -> Vec<f64> {
    (0..rounds)
        .map(|_| {
            let before = d.cwnd();
            d.round_trip();
            d.cwnd() - before
        })
        .collect()
}

/// Average window where every 1/p-th segment is lost, once the cycle has settled.
fn average(cc: Value, rtt: Dur, p: f64, guess: u64) -> f64 {
    let mut d = after(cc, rtt, guess);
    let mut average = 0.0;
    for _ in 0..60 {
        let (start, from) = (d.now, d.acked);
        while ((d.acked - from) as f64) < 1.0 / p {
            d.ack();
        }
        average = (d.acked - from) as f64 * rtt.as_secs_f64() / (d.now - start).as_secs_f64();
        d.lose();
    }
    average
}

/// Xu 2004 section IV: far from the last maximum growth is linear, by Smax; then each round trip goes a part of the way; beyond it growth speeds up.
#[test]
fn bic_searches_for_the_last_maximum() {
    let mut d = after(json!("bic"), ms(50), 1000);
    assert!(near(d.cwnd(), 800.0, 1e-6), "beta 0.8");
    assert!(steps(&mut d, 7).iter().all(|&s| near(s, 16.0, 0.05)), "linear");
    while d.cwnd() < 960.0 {
        d.ack();
    }
    let far = 1000.0 - d.cwnd();
    d.round_trip();
    // A quarter of the way in one go is exp(-1/4) in as many goes as there are acknowledgments.
    assert!(near(1000.0 - d.cwnd(), far * (-0.25_f64).exp(), 0.05), "{far} {}", 1000.0 - d.cwnd());
    while d.cwnd() < 996.2 {
        d.ack();
    }
    assert!(steps(&mut d, 3).iter().all(|&s| near(s, 0.2, 0.05)), "4 segments in 20 round trips");
    while d.cwnd() < 1005.0 {
        d.ack();
    }
    let beyond = steps(&mut d, 12);
    assert!(beyond.windows(2).all(|w| w[1] >= w[0] - 0.05) && near(beyond[11], 16.0, 0.05), "{beyond:?}");
    // The search of the paper goes half of the way.
    let mut d = after(json!({ "bic": { "search": 2.0, "max_increment": 32.0, "beta": 0.875 } }), ms(50), 400);
    d.run(ms(50));
    let far = 400.0 - d.cwnd();
    d.round_trip();
    assert!(near(400.0 - d.cwnd(), far * (-0.5_f64).exp(), 0.1), "{far} {}", 400.0 - d.cwnd());
}

/// Xu 2004 section IV: below low_window it is Reno; fast convergence lets go of more when the maximum sinks; a timeout forgets it.
#[test]
fn bic_low_window_fast_convergence_and_timeout() {
    let mut d = after(json!("bic"), ms(50), 14);
    assert!(near(d.cwnd(), 7.0, 1e-6), "half");
    let low = steps(&mut d, 4);
    assert!(low.iter().all(|&s| (0.8..=1.0).contains(&s)), "{low:?}");
    let mut d = after(json!("bic"), ms(50), 1000);
    d.lose();
    assert!(near(d.gauge("w_max"), 800.0 * 1.8 / 2.0, 1e-6) && near(d.cwnd(), 640.0, 1e-6));
    d.event(CongestionKind::Timeout { first: true });
    assert!(d.gauge("w_max") == 0.0);
    d.cc.undo();
    assert!(near(d.gauge("w_max"), 720.0, 1e-6) && near(d.cwnd(), 640.0, 1e-6));
}

/// draft-leith-tcp-htcp-06: alpha = 1 up to Delta_L = 1 s, then 1 + 10 (Delta - Delta_L) + 0.25 (Delta - Delta_L)^2, times 2 (1 - beta).
#[test]
fn htcp_alpha_by_time() {
    let mut d = after(json!("htcp"), ms(20), 2000);
    let start = d.now;
    assert!(near(d.cwnd(), 1000.0, 1e-6), "beta 0.5 at first");
    for (delta, alpha) in [(0.5, 1.0), (0.9, 1.0), (2.0, 11.25), (3.0, 22.0), (5.0, 45.0)] {
        while (d.now - start).as_secs_f64() < delta - 0.01 {
            d.ack();
        }
        let step = steps(&mut d, 1)[0];
        assert!(near(step, alpha, 0.03), "Delta {delta}: {step} instead of {alpha}");
    }
    // Reno and H-TCP are the same in the first second, and not after it.
    let mut reno = after(json!("reno"), ms(20), 2000);
    reno.run(Dur::from_secs(5));
    assert!(reno.cwnd() < 1000.0 + 251.0 && d.cwnd() > 1000.0 + 2000.0, "{} {}", reno.cwnd(), d.cwnd());
}

/// draft-leith-tcp-htcp-06: what a loss leaves is RTTmin / RTTmax, held between 0.5 and 0.8, while throughput is steady within 20 %.
#[test]
fn htcp_beta_drains_the_queue() {
    for (rtt_max, steady, beta) in [(150, true, 100.0 / 150.0), (110, true, 0.8), (300, true, 0.5), (150, false, 0.5)] {
        let mut d = after(json!("htcp"), ms(100), 200);
        for epoch in 0..2 {
            d.rtt = ms(100);
            let top = if epoch == 1 && !steady { 300.0 } else { 200.0 };
            while d.cwnd() < top {
                d.ack();
            }
            d.rtt = ms(rtt_max);
            d.ack();
            if epoch == 1 {
                let before = d.cwnd();
                d.lose();
                assert!(near(d.cwnd() / before, beta, 0.01), "max {rtt_max} steady {steady}: {}", d.cwnd() / before);
            } else {
                d.lose();
            }
        }
    }
}

/// Linux: with RTT scaling the growth a second is the same for 50 ms and 150 ms, without it three times as much for the shorter.
#[test]
fn htcp_rtt_scaling() {
    let grown = |scaling: bool, rtt: u64| {
        let mut d = after(json!({ "htcp": { "rtt_scaling": scaling } }), ms(rtt), 1000);
        d.run(Dur::from_secs(6));
        d.cwnd() - 500.0
    };
    assert!(near(grown(false, 50), 3.0 * grown(false, 150), 0.1));
    assert!(near(grown(true, 50), grown(true, 150), 0.1));
}

/// Kelly 2003 section 3: recovery from a loss takes ln(1/(1-b)) / ln(1+a) = 13.4 round trips whatever the window; Reno's grows with it.
#[test]
fn scalable_recovers_in_the_same_time_at_any_window() {
    let rounds = |cc: &str, window: u64| {
        let mut d = after(json!(cc), ms(200), window);
        let start = d.now;
        while d.cwnd() < window as f64 {
            d.ack();
        }
        (d.now - start).as_secs_f64() / 0.2
    };
    let theory = (1.0_f64 / 0.875).ln() / 1.01_f64.ln();
    for window in [100, 1000, 10_000] {
        assert!(near(rounds("scalable", window), theory, 0.05), "{window}: {}", rounds("scalable", window));
    }
    assert!(near(rounds("reno", 100), 50.0, 0.05) && near(rounds("reno", 1000), 500.0, 0.05));
}

/// Kelly 2003 section 3.1: the average window is a/b / p, and up to 16 segments it is that of Reno.
#[test]
fn scalable_response_function() {
    for p in [1e-3, 1e-4] {
        let w = average(json!("scalable"), ms(100), p, (0.08 / p) as u64);
        assert!(near(w, 0.08 / p, 0.1), "p {p}: {w}");
    }
    let (s, r) = (average(json!("scalable"), ms(100), 0.015, 10), average(json!("reno"), ms(100), 0.015, 10));
    assert!(near(s, r, 1e-6), "{s} {r}");
}

/// RFC 3649 appendix B: a(w) and b(w), and section 5 for the high window.
#[test]
fn rfc3649_appendix_b() {
    #[rustfmt::skip]
    let table = [
        (38, 1.0, 0.50), (118, 2.0, 0.44), (221, 3.0, 0.41), (347, 4.0, 0.38), (495, 5.0, 0.37), (663, 6.0, 0.35), (851, 7.0, 0.34),
        (1058, 8.0, 0.33), (1284, 9.0, 0.32), (1529, 10.0, 0.31), (5036, 20.0, 0.25), (9991, 29.0, 0.21), (83000, 72.0, 0.10),
    ];
    for (w, a, b) in table {
        let d = at(json!("highspeed"), ms(100), w);
        // The table is made with p(w) = 0.078 / w^1.2, which is p(w) with rounded coefficients.
        assert!(near(d.gauge("a"), a, 0.025), "a({w}) = {} instead of {a}", d.gauge("a"));
        assert!((d.gauge("b") - b).abs() < 0.0051, "b({w}) = {} instead of {b}", d.gauge("b"));
        let mut d = d;
        d.lose();
        assert!(near(d.cwnd(), w as f64 * (1.0 - b), 0.01), "loss at {w}: {}", d.cwnd());
    }
}

/// RFC 3649 table 3: average window where every 1/p-th segment is lost; Reno needs far fewer losses for the same.
#[test]
fn rfc3649_table_3_response_function() {
    for (p, w) in [(1e-3, 38.0), (1e-4, 263.0), (1e-5, 1795.0)] {
        let ours = average(json!("highspeed"), ms(100), p, w as u64);
        assert!(near(ours, w, 0.12), "p {p}: {ours} instead of {w}");
    }
    assert!(near(average(json!("reno"), ms(100), 1e-4, 120), 120.0, 0.05), "RFC 3649 table 1");
}

/// RFC 3649 section 5: up to Low_Window = 38 segments it is Reno.
#[test]
fn rfc3649_section_5_low_window_is_reno() {
    let (mut h, mut r) = (after(json!("highspeed"), ms(100), 38), after(json!("reno"), ms(100), 38));
    while r.cwnd() < 37.9 {
        h.ack();
        r.ack();
        assert_eq!(h.cc.cwnd(), r.cc.cwnd());
    }
    h.run(Dur::from_secs(20));
    r.run(Dur::from_secs(20));
    assert!(h.cwnd() > r.cwnd() + 100.0, "{} {}", h.cwnd(), r.cwnd());
}

/// Caini 2004: rho = RTT / RTT0, at least 1; a segment adds 2^rho - 1 in slow start, rho^2 / cwnd in congestion avoidance.
#[test]
fn hybla_increments() {
    for (rtt, rho) in [(10, 1.0), (25, 1.0), (75, 3.0), (100, 4.0)] {
        let mut d = Drive::new(json!({ "cc": "hybla" }), ms(rtt));
        d.ack();
        assert!(near(d.gauge("rho"), rho, 1e-9));
        assert!(near(d.cwnd() - 10.0, 2.0_f64.powf(rho) - 1.0, 0.01), "rtt {rtt}: {}", d.cwnd());
        let mut d = at(json!("hybla"), ms(rtt), 200);
        let step = steps(&mut d, 1)[0];
        assert!(near(step, rho * rho, 0.05), "rtt {rtt}: {step}");
    }
}

/// Caini 2004: the rate grows by 1 / RTT0^2 segments a second squared on any path, Reno's by 1 / RTT^2.
#[test]
fn hybla_growth_does_not_depend_on_the_rtt() {
    let slope = |cc: &str, rtt: u64| {
        let mut d = at(json!(cc), ms(rtt), 200);
        d.ack();
        let (start, from) = (d.now, d.cwnd());
        d.run(Dur::from_secs(5));
        (d.cwnd() - from) / (rtt as f64 / 1000.0) / (d.now - start).as_secs_f64()
    };
    for rtt in [25, 100, 300] {
        assert!(near(slope("hybla", rtt), 1.0 / (0.025 * 0.025), 0.03), "rtt {rtt}: {}", slope("hybla", rtt));
    }
    assert!(near(slope("reno", 25), 144.0 * slope("reno", 300), 0.03), "Reno's share of a long path");
}
