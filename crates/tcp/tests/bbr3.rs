//! BBR version 3 against its draft and against version 1: two endpoints and a bottleneck in memory.

use crate::pair::Fate;
use crate::pair::transfer::{changes, gauge, goodput, lossy, path, secs};
use fairlane_net::Endpoint;
use fairlane_units::Dur;
use serde_json::json;

const MSS: u64 = 1460;
const WIRE: f64 = 1500.0;
const STARTUP: f64 = 0.0;
const DRAIN: f64 = 1.0;
const DOWN: f64 = 2.0;
const CRUISE: f64 = 3.0;
const REFILL: f64 = 4.0;
const UP: f64 = 5.0;
const PROBE_RTT: f64 = 6.0;

/// Section 5.3.3 and the table of section 5.6.1: down, cruise, refill, up, in this order, with gains 0.9, 1, 1 and 1.25; only ProbeRTT, and
/// the refill after a probe that was cut short, break the order.
#[test]
fn draft_5_3_3_order_of_phases() {
    let mut p = path(json!("bbr3"), 10, 40, 200);
    let modes = changes(&mut p, "mode", secs(30));
    assert_eq!((modes[0].1, modes[1].1), (STARTUP, DRAIN));
    for w in modes[1..].windows(2) {
        let allowed: &[f64] = match w[0].1 {
            // Down may be over with the acknowledgment that ends Drain.
            DRAIN => &[DOWN, CRUISE],
            DOWN => &[CRUISE, REFILL, PROBE_RTT],
            CRUISE => &[REFILL, PROBE_RTT],
            REFILL => &[UP, PROBE_RTT],
            UP => &[DOWN, PROBE_RTT],
            PROBE_RTT => &[CRUISE],
            other => panic!("{other}"),
        };
        assert!(allowed.contains(&w[1].1), "{} after {}", w[1].1, w[0].1);
    }
    assert!(modes.iter().filter(|m| m.1 == UP).count() >= 8, "{modes:?}");
    let mut q = path(json!("bbr3"), 10, 40, 200);
    while q.now < secs(10) && q.step() {
        let gain = match gauge(&q, "mode") {
            STARTUP => 2.77,
            DRAIN => 0.5,
            DOWN => 0.9,
            UP => 1.25,
            _ => 1.0,
        };
        assert_eq!(gauge(&q, "pacing_gain"), gain);
    }
}

/// Section 5.3.3.8: on a long path the time from one probe to the next is 2 to 3 s, at random; on a short one as many rounds as Reno's window
/// has segments.
#[test]
fn draft_5_3_3_8_time_between_probes() {
    let waits = |mbps, rtt| {
        let mut p = path(json!({ "cc": { "bbr3": { "probe_rtt_interval": "1h" } } }), mbps, rtt, 4000);
        let modes = changes(&mut p, "mode", secs(40));
        let mut began = None;
        let mut waits = Vec::new();
        for m in modes {
            match m.1 {
                DOWN => began = Some(m.0),
                REFILL => waits.extend(began.take().map(|b| m.0.since(b).as_secs_f64())),
                _ => {}
            }
        }
        waits
    };
    let long = waits(50, 100);
    assert!(long.len() >= 5 && long.iter().all(|w| (2.0..3.15).contains(w)), "{long:?}");
    let spread = long.iter().fold(0.0_f64, |m, w| m.max(*w)) - long.iter().fold(9.0_f64, |m, w| m.min(*w));
    assert!(spread > 0.2, "{long:?}");
    // 2 Mbit/s over 60 ms: about ten segments, so ten rounds of 60 ms or a little more.
    let short = waits(2, 60);
    assert!(short.len() >= 10 && short.iter().all(|w| (0.4..1.0).contains(w)), "{short:?}");
}

/// Section 5.3.4: ProbeRTT comes 5 s after the last smaller round-trip time, and halves what is in flight, where version 1 waits 10 s and goes down
/// to four segments.
#[test]
fn draft_5_3_4_probe_rtt_every_5_s_at_half_the_bdp() {
    let mut p = path(json!("bbr3"), 20, 40, 500);
    let modes = changes(&mut p, "mode", secs(31));
    let entries: Vec<f64> = modes.iter().filter(|m| m.1 == PROBE_RTT).map(|m| m.0.as_secs_f64()).collect();
    assert!(entries.len() >= 4, "{entries:?}");
    for gap in entries.windows(2).map(|w| w[1] - w[0]) {
        assert!((5.0..=5.6).contains(&gap), "{entries:?}");
    }
    let at = modes.iter().rfind(|m| m.1 == PROBE_RTT).unwrap().0;
    let mut q = path(json!("bbr3"), 20, 40, 500);
    q.run_until(at + Dur::from_ms(150));
    assert_eq!(gauge(&q, "mode"), PROBE_RTT);
    let bdp = gauge(&q, "bandwidth") / 8.0 * gauge(&q, "min_rtt");
    let window = q.ends[0].view().cwnd as f64;
    assert!((window / bdp - 0.5).abs() < 0.02, "{window} {bdp}");
}

/// Section 5.3.4.2: the price of ProbeRTT is at most about 2 %; Cardwell's goal of full use of the path otherwise.
#[test]
fn draft_5_3_4_2_use_of_the_path() {
    let mut p = path(json!("bbr3"), 20, 40, 500);
    let rate = goodput(&mut p, 5, 35);
    let full = 20.0 * MSS as f64 / WIRE;
    assert!(rate > 0.96 * full, "{rate} of {full}");
}

/// Section 5.3.1.3: with a shallow buffer Startup ends by loss, and the volume that was safe is remembered: at least the BDP, and less than Startup
/// would have put there.
#[test]
fn draft_5_3_1_3_startup_ends_by_loss() {
    let bdp = 20e6 / 8.0 * 0.1 / WIRE;
    let mut p = path(json!("bbr3"), 20, 100, (bdp * 0.3) as usize);
    while gauge(&p, "mode") == STARTUP {
        p.step();
    }
    assert!(p.ends[0].view().fast_recoveries > 0);
    let long = gauge(&p, "inflight_longterm") / MSS as f64;
    assert!(long > 0.9 * bdp && long < 2.0 * bdp, "{long} {bdp}");
    let rate = goodput(&mut p, 10, 30);
    // A retransmission lost in a probe costs a timeout of a second without RACK.
    assert!(rate > 0.7 * 20.0, "{rate}");
}

/// Section 5.5.10: random loss below the threshold of 2 % costs little, loss well above it much; version 1 does not hear either.
#[test]
fn draft_5_5_10_loss_threshold() {
    let rate = |cc: &str, chance: f64| {
        let mut p = path(json!({ "cc": cc, "recovery": "sack" }), 20, 40, 500);
        lossy(&mut p, chance);
        goodput(&mut p, 10, 50) / (20.0 * MSS as f64 / WIRE)
    };
    let (low, high) = (rate("bbr3", 0.005), rate("bbr3", 0.08));
    assert!(low > 0.85 && high < 0.7 * low, "{high} {low}");
    assert!(rate("bbr", 0.08) > 0.85);
    assert!(rate("reno", 0.005) < 0.5 * low);
}

/// Section 1 of the draft, and Hock et al. 2017 for version 1: in a shallow buffer version 3 loses far less.
#[test]
fn shallow_buffer_loses_less_than_version_1() {
    let run = |cc: &str| {
        let bdp = 20e6 / 8.0 * 0.04 / WIRE;
        let mut p = path(json!({ "cc": cc }), 20, 40, (bdp * 0.2) as usize);
        p.run_until(secs(60));
        let v = p.ends[0].view();
        (v.retransmits as f64 / v.data_segments as f64, p.delivered[1] as f64 * 8.0 / 60e6)
    };
    let ((one, _), (three, rate)) = (run("bbr"), run("bbr3"));
    assert!(three < one / 2.0, "{three} {one}");
    assert!(rate > 0.85 * 20.0, "{rate}");
}

/// Section 5.5.10.3: losses while cruising cut the short-term bounds by 0.7 at most, not below what is delivered.
#[test]
fn draft_5_5_10_3_short_term_bounds() {
    let mut p = path(json!("bbr3"), 20, 40, 500);
    p.run_until(secs(3));
    // The beginning of a cruise.
    while gauge(&p, "mode") != DOWN {
        p.step();
    }
    while gauge(&p, "mode") != CRUISE {
        p.step();
    }
    let before = p.ends[0].view().cwnd as f64;
    let mut n = 0_u32;
    p.script[0] = Box::new(move |_, s| {
        n += u32::from(s.payload > 0);
        if s.payload > 0 && n < 20 && n.is_multiple_of(4) { Fate::Drop } else { Fate::Pass }
    });
    let bounds = {
        let until = p.now + Dur::from_ms(300);
        changes(&mut p, "inflight_shortterm", until)
    };
    let first = bounds.iter().find(|b| b.1 != 0.0).expect("a bound").1;
    assert!(first >= 0.69 * before, "{first} {before}");
    assert!(gauge(&p, "bandwidth_shortterm") > 0.0);
    // The next refill forgets them.
    while gauge(&p, "mode") != REFILL {
        p.step();
    }
    assert_eq!((gauge(&p, "bandwidth_shortterm"), gauge(&p, "inflight_shortterm")), (0.0, 0.0));
}

/// Section 5.5.10.2 by its own numbers: a flow that may lose 2 % learns that its hundredth packet is the third lost.
#[test]
fn draft_5_5_10_2_probe_goes_too_far() {
    let bdp = 20e6 / 8.0 * 0.04 / WIRE;
    let mut p = path(json!("bbr3"), 20, 40, (0.5 * bdp) as usize);
    p.run_until(secs(20));
    let bound = gauge(&p, "inflight_longterm") / MSS as f64;
    // What the path holds is BDP and buffer; the bound is near it, at least 0.7 BDP.
    assert!(bound > 0.7 * bdp && bound < 1.7 * bdp, "{bound} {bdp}");
    assert!(p.ends[0].view().cwnd as f64 <= bound * MSS as f64 * 1.05 + 4.0 * MSS as f64);
}

/// Sections 5.5.8.1, 5.6.3 and 5.6.4.2: three quanta, of two segments at least, may be in flight however short the path is, and two segments more when probing.
#[test]
fn draft_5_5_8_1_offload_budget() {
    let mut p = path(json!({ "preset": "rfc", "cc": "bbr3", "ack_every": 1 }), 10, 2, 200);
    p.run_until(secs(1));
    let mut least = u64::MAX;
    while p.now < secs(9) && p.step() {
        // 10 Mbit/s over 3.2 ms, a segment's transmission included, are less than three segments: twice that is below the budget.
        if gauge(&p, "mode") == CRUISE {
            least = least.min(p.ends[0].view().cwnd);
        }
    }
    assert_eq!(least, 6 * MSS);
}
