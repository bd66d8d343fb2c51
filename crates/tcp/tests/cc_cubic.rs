//! CUBIC against the equations and tables of RFC 9438.

use crate::drive::{Drive, near};
use crate::helpers::ms;
use fairlane_tcp::cc::{CongestionControl, CongestionKind};
use fairlane_units::Dur;
use serde_json::{Value, json};

const C: f64 = 0.4;
const BETA: f64 = 0.7;

/// CUBIC in standard slow start, with some of its parameters.
fn cubic(own: Value) -> Value {
    json!({ "cc": { "cubic": own }, "slow_start": "standard" })
}

/// Section 4.2, equations 1 and 2: after a loss at 1000 segments the window is C (t - K)^3 + W_max.
/// Also RFC 9438 section 5.1.
#[test]
fn section_4_2_window_follows_the_cubic() {
    let rtt = ms(10);
    let mut d = Drive::after_loss(cubic(json!({ "reno_friendly": false })), rtt, 1000);
    assert!(near(d.cwnd(), 700.0, 1e-6), "section 4.6: {}", d.cwnd());
    d.ack();
    let start = d.now;
    let k = (300.0 / C).cbrt();
    assert!(near(k, 9.0856, 1e-4) && near(d.gauge("k"), k, 1e-4), "K {}", d.gauge("k"));
    for seconds in [1.0, 3.0, 6.0, 9.0, 12.0, 15.0, 18.0_f64] {
        while (d.now - start).as_secs_f64() < seconds {
            d.ack();
        }
        let t = (d.now - start).as_secs_f64();
        let expect = C * (t - k).powi(3) + 1000.0;
        // Each acknowledgment takes the window 1/cwnd of the way to where it should be a round trip later.
        let slope = 3.0 * C * (t - k).powi(2) * rtt.as_secs_f64();
        assert!((d.cwnd() - expect).abs() <= slope + 0.5, "t {t}: {} instead of {expect}", d.cwnd());
    }
}

/// Sections 4.4 and 4.5: growth slows down until W_max and speeds up after it; Reno's is even.
#[test]
fn sections_4_4_and_4_5_concave_then_convex() {
    let steps = |tcp: Value| {
        let mut d = Drive::after_loss(tcp, ms(20), 500);
        let mut last = d.cwnd();
        (0..14)
            .map(|_| {
                d.run(Dur::from_secs(1));
                let step = d.cwnd() - last;
                last = d.cwnd();
                step
            })
            .collect::<Vec<f64>>()
    };
    let grown = steps(cubic(json!({ "reno_friendly": false })));
    let k = (150.0 / C).cbrt();
    let plateau = k as usize;
    assert!(grown[..plateau].windows(2).all(|w| w[1] < w[0]), "concave until {k}: {grown:?}");
    assert!(grown[plateau + 1..].windows(2).all(|w| w[1] > w[0]), "convex after {k}: {grown:?}");
    let reno = steps(json!({ "cc": "reno" }));
    assert!(reno.windows(2).all(|w| (w[1] - w[0]).abs() < 0.5), "{reno:?}");
}

/// Section 4.2: at most 1.5 times the window a round trip.
#[test]
fn section_4_2_growth_is_bound() {
    let mut d = Drive::after_loss(cubic(json!({ "c": 1000.0, "reno_friendly": false })), ms(1000), 100);
    let growth: Vec<f64> = (0..8)
        .map(|_| {
            let before = d.cwnd();
            d.round_trip();
            d.cwnd() / before
        })
        .collect();
    // Each of n acknowledgments adds at most 1/2.
    assert!(growth.iter().all(|&g| g < 1.51) && growth.iter().any(|&g| g > 1.45), "{growth:?}");
}

/// Section 4.3: at small windows and round-trip times W_est rules: alpha = 3 (1 - beta) / (1 + beta) segments a round trip up to the
/// window before the loss, one beyond it.
#[test]
fn section_4_3_reno_friendly_region() {
    let mut d = Drive::after_loss(cubic(json!({})), ms(5), 40);
    d.ack();
    let alpha = 3.0 * (1.0 - BETA) / (1.0 + BETA);
    let slope = |d: &mut Drive, rounds: u32| {
        let before = d.cwnd();
        let start = d.now;
        while d.now < start + ms(5) * u64::from(rounds) {
            d.ack();
        }
        (d.cwnd() - before) / f64::from(rounds)
    };
    let first = slope(&mut d, 15);
    assert!(near(first, alpha, 0.05), "alpha {first} instead of {alpha}");
    while d.cwnd() < 40.5 {
        d.ack();
    }
    let second = slope(&mut d, 10);
    assert!(near(second, 1.0, 0.05), "alpha {second} instead of 1");
    // Linux holds the first pace.
    let mut d = Drive::after_loss(cubic(json!({ "catch_up": false })), ms(5), 40);
    d.run(ms(5 * 40));
    let later = slope(&mut d, 10);
    assert!(near(later, alpha, 0.1), "{later}");
    // Without the region the cubic is slow there.
    let mut d = Drive::after_loss(cubic(json!({ "reno_friendly": false })), ms(5), 40);
    let bare = slope(&mut d, 15);
    assert!(bare < 0.2 * alpha, "{bare}");
}

/// Sections 4.6 and 4.7: what is left of the window, and W_max with and without fast convergence.
#[test]
fn sections_4_6_and_4_7_decrease_and_fast_convergence() {
    for (fast, w_max) in [(true, 80.0 * (1.0 + BETA) / 2.0), (false, 80.0)] {
        let mut d = Drive::after_loss(cubic(json!({ "fast_convergence": fast, "reno_friendly": false })), ms(50), 100);
        assert!(near(d.cwnd(), 70.0, 1e-6));
        while d.cwnd() < 80.0 {
            d.ack();
        }
        d.lose();
        assert!(near(d.cwnd(), 56.0, 0.01), "{}", d.cwnd());
        d.ack();
        assert!(near(d.gauge("w_max"), w_max, 0.01), "W_max {} instead of {w_max}", d.gauge("w_max"));
    }
    // A loss leaves two segments, marks leave one (section 4.6).
    let mut d = Drive::after_loss(cubic(json!({})), ms(50), 4);
    for _ in 0..4 {
        d.lose();
    }
    assert!(near(d.cwnd(), 2.0, 1e-9), "{}", d.cwnd());
    for _ in 0..4 {
        d.event(CongestionKind::EcnEcho);
    }
    assert!(near(d.cwnd(), 1.0, 1e-9) && near(d.ssthresh(), 2.0, 1e-9), "{} {}", d.cwnd(), d.ssthresh());
}

/// RFC 8511 section 3: with ABE a mark leaves 0.85 of the window, a loss 0.7.
#[test]
fn rfc8511_mark_takes_less_than_a_loss() {
    for (abe, left) in [(false, 70.0), (true, 85.0)] {
        let mut p = cubic(json!({}));
        p["abe"] = json!(abe);
        let mut d = Drive::new(p, ms(50));
        let now = d.now;
        d.cc.on_established(now, 100 * crate::drive::MSS);
        d.event(CongestionKind::EcnEcho);
        assert!(near(d.cwnd(), left, 1e-6), "abe {abe}: {}", d.cwnd());
    }
}

/// Section 4.8: a timeout leaves one segment and the threshold at beta of the window; the stage after it has its plateau at its start.
#[test]
fn section_4_8_timeout() {
    let mut d = Drive::after_loss(cubic(json!({ "reno_friendly": false })), ms(100), 100);
    d.run(Dur::from_secs(1));
    let before = d.cwnd();
    d.time_out();
    assert!(near(d.cwnd(), 1.0, 1e-9) && near(d.ssthresh(), BETA * before, 1e-3));
    while d.cwnd() < d.ssthresh() {
        d.ack();
    }
    let (start, from) = (d.now, d.cwnd());
    d.run(Dur::from_secs(4));
    let t = (d.now - start).as_secs_f64();
    assert!(near(d.gauge("k") + 1.0, 1.0, 1e-9));
    assert!((d.cwnd() - from - C * t.powi(3)).abs() < 3.0 * C * t * t * 0.1 + 0.5, "{} from {from}", d.cwnd());
}

/// RFC 9438 section 4.8: after a timeout the Reno-friendly region begins at the window of that time: with short round trips, where the cubic is slower, the
/// window grows by alpha a round trip from there, up to the window before, then by one.
#[test]
fn rfc9438_section_4_8_w_est_after_a_timeout() {
    let mut d = Drive::after_loss(cubic(json!({})), ms(5), 100);
    d.run(Dur::from_secs(1));
    d.time_out();
    while d.cwnd() < d.ssthresh() {
        d.ack();
    }
    let from = d.cwnd();
    for _ in 0..10 {
        d.round_trip();
    }
    let alpha = 3.0 * (1.0 - BETA) / (1.0 + BETA);
    assert!(near((d.cwnd() - from) / 10.0, alpha, 0.15), "{} from {from}", d.cwnd());
}

/// Section 4.9: a reduction that was a mistake gives back window, threshold and the place on the cubic.
#[test]
fn section_4_9_undo() {
    let mut d = Drive::after_loss(cubic(json!({ "reno_friendly": false })), ms(20), 500);
    let mut twin = Drive::after_loss(cubic(json!({ "reno_friendly": false })), ms(20), 500);
    d.run(Dur::from_secs(3));
    twin.run(Dur::from_secs(3));
    d.event(CongestionKind::Timeout { first: true });
    d.event(CongestionKind::Timeout { first: false });
    d.cc.undo();
    assert_eq!(d.cc.cwnd(), twin.cc.cwnd());
    d.run(Dur::from_secs(5));
    twin.run(Dur::from_secs(5));
    assert!(near(d.cwnd(), twin.cwnd(), 1e-9), "{} {}", d.cwnd(), twin.cwnd());
}

/// Section 5.8: time in which the application did not fill the window is no time of the cubic.
/// Also RFC 9438 sections 4.2 and 4.6.
#[test]
fn section_5_8_application_limited() {
    let mut d = Drive::after_loss(cubic(json!({})), ms(20), 500);
    d.run(Dur::from_secs(2));
    let before = d.cwnd();
    d.app_limited = true;
    d.run(Dur::from_secs(60));
    assert!(near(d.cwnd(), before, 1e-9), "no growth unused");
    d.app_limited = false;
    let mut twin = Drive::after_loss(cubic(json!({})), ms(20), 500);
    twin.run(Dur::from_secs(2));
    d.run(Dur::from_secs(2));
    twin.run(Dur::from_secs(2));
    assert!(near(d.cwnd(), twin.cwnd(), 0.002), "{} {}", d.cwnd(), twin.cwnd());
}

/// Round-trip time in ms, p, and for three values of C the average window.
type Row = (u64, f64, [(f64, f64); 3]);

/// Section 5.1.1, tables 1 and 2: average window where every 1/p-th segment is lost, for 0.1 s and 0.01 s.
#[test]
fn tables_1_and_2_average_window() {
    #[rustfmt::skip]
    let table: [Row; 6] = [
        (100, 1e-3, [(0.04, 38.0), (0.4, 38.0), (4.0, 59.0)]),
        (100, 1e-4, [(0.04, 120.0), (0.4, 187.0), (4.0, 333.0)]),
        (100, 1e-5, [(0.04, 593.0), (0.4, 1054.0), (4.0, 1874.0)]),
        (100, 1e-6, [(0.04, 3332.0), (0.4, 5926.0), (4.0, 10538.0)]),
        (10, 1e-4, [(0.04, 120.0), (0.4, 120.0), (4.0, 120.0)]),
        (10, 1e-5, [(0.04, 379.0), (0.4, 379.0), (4.0, 379.0)]),
    ];
    for (rtt, p, row) in table {
        for (c, expect) in row {
            let mut d = Drive::after_loss(cubic(json!({ "c": c })), ms(rtt), expect as u64);
            let mut average = 0.0;
            // The cycle settles, then one is measured.
            for _ in 0..6 {
                let (start, from) = (d.now, d.acked);
                while ((d.acked - from) as f64) < 1.0 / p {
                    d.ack();
                }
                average = (d.acked - from) as f64 * ms(rtt).as_secs_f64() / (d.now - start).as_secs_f64();
                d.lose();
            }
            // The formulas take small windows for continuous, and leave out how the two regions blend where they meet.
            assert!(near(average, expect, 0.12), "rtt {rtt} p {p} C {c}: {average} instead of {expect}");
        }
    }
}

/// Linux `bictcp_update`: as long as the window stays the same, its growth is recomputed only after HZ / 32 ticks; and the smallest round-trip time that
/// CUBIC looks ahead by is not measured in the first second of a stage (`cubictcp_acked`).
#[test]
fn linux_holds_its_growth() {
    // After a loss at 300 the cubic rises by 3 C K^2 = 44 segments a second at first: by 4.4, whole ones 5, in the round trip of 100 ms to come, so one for each
    // 210 / 5 = 42 acknowledged; 32 ms later by 6, and one for each 35.
    let growth = |hold: &str, apart: u64| {
        let p = cubic(json!({ "whole_segments": true, "catch_up": false, "hold": hold }));
        let mut d = Drive::after_loss(p, ms(100), 300);
        let before = d.cwnd();
        d.now += ms(1);
        d.ack_now();
        let mut n = 1;
        d.now += ms(apart);
        while d.cwnd() == before && n < 1000 {
            d.ack_now();
            n += 1;
        }
        n
    };
    assert_eq!([growth("32ms", 0), growth("32ms", 31), growth("32ms", 32), growth("0s", 31)], [42, 42, 35, 35]);
}
