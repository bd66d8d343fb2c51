//! Receivers that acknowledge each segment, each second one as nearly all do, and many at once (receive offload, thinned acknowledgments).
//! Growth, cut and start of every control, and the share of marks, depend on the data, not on the acknowledgments.

use crate::helpers::with;
use crate::pair::transfer::gauge;
use crate::pair::{Fate, Hop, Pair, params};
use fairlane_net::{ENDLESS, Endpoint};
use fairlane_units::{Dur, Rate, Time};
use serde_json::{Value, json};

/// Segments that one acknowledgment covers.
const EVERY: [u32; 4] = [1, 2, 8, 16];

/// All that grow a window between losses.
const WINDOWS: [&str; 16] = [
    "newreno",
    "sack",
    "cubic",
    "dctcp",
    "prague",
    "bic",
    "highspeed",
    "htcp",
    "hybla",
    "illinois",
    "scalable",
    "veno",
    "westwood",
    "yeah",
    "vegas",
    "ledbat",
];

fn secs(n: u64) -> Time {
    Time::ZERO + Dur::from_secs(n)
}

/// A sender over a path that only delays, 100 ms in all, with a receiver that holds an acknowledgment back for a millisecond at most.
fn path(preset: &str, cc: &str, every: u32, extra: &Value) -> Pair {
    let p = with(
        json!({
            "preset": preset, "cc": cc, "mss": "1000B", "initial_window": "20p", "initial_ssthresh": "20p", "ack_every": every,
            "ack_delay": "1ms", "quick_acks": 0, "receive_window": null, "receive_buffer": null,
        }),
        extra,
    );
    let mut p = Pair::delayed(&params(p), Dur::from_ms(50));
    p.keep_log = false;
    p.start();
    p
}

/// Segments that congestion avoidance adds a round trip, over 50 of them.
fn growth(preset: &str, cc: &str, every: u32, extra: &Value) -> f64 {
    let mut p = path(preset, cc, every, extra);
    p.write(0, ENDLESS, false);
    p.run_until(secs(3));
    let before = p.ends[0].view().cwnd;
    p.run_until(secs(8));
    (p.ends[0].view().cwnd as f64 - before as f64) / 50_000.0
}

/// Linux counts the segments that are newly acknowledged (`tcp_cong_avoid`, `prague_update_cwnd`), so no control of the preset depends on the receiver.
#[test]
fn linux_grows_by_what_is_acknowledged() {
    for cc in WINDOWS {
        let each = growth("linux", cc, 1, &json!({}));
        for every in EVERY {
            let g = growth("linux", cc, every, &json!({}));
            // HighSpeed's table has a step where the window of this test ends.
            let part = if cc == "highspeed" { 0.25 } else { 0.05 };
            assert!((g / each - 1.0).abs() < part, "{cc}: {g} with an acknowledgment for {every}, {each} with one for each");
        }
        if ["newreno", "sack", "dctcp", "prague", "scalable", "veno", "westwood", "yeah", "vegas", "ledbat"].contains(&cc) {
            assert!((each - 1.0).abs() < 0.03, "{cc}: {each} segments a round trip");
        }
    }
}

/// RFC 8257 section 3.3 and the draft of Prague, section 2.4.4: a segment a round trip, whatever the receiver does, as RFC 5681 section 3.1 recommends (it counts the bytes
/// acknowledged). RFC 6817 section 2.4.2 counts bytes, too.
#[test]
fn dctcp_and_prague_add_a_segment_a_round_trip() {
    for preset in ["rfc", "linux", "ns3"] {
        for cc in ["dctcp", "prague"] {
            for every in EVERY {
                let g = growth(preset, cc, every, &json!({}));
                assert!((g - 1.0).abs() < 0.05, "{preset} {cc}: {g} segments a round trip with an acknowledgment for {every}");
            }
        }
    }
    for every in EVERY {
        let g = growth("rfc", "ledbat", every, &json!({}));
        // At times what is in flight and ALLOWED_INCREASE bound it.
        assert!((g - 1.0).abs() < 0.1, "ledbat: {g} segments a round trip with an acknowledgment for {every}");
    }
}

/// RFC 5681 section 3.1: equation 3 for each acknowledgment, or, as it recommends, a segment for each window of bytes acknowledged.
#[test]
fn reno_by_the_letter_of_equation_3_and_by_bytes() {
    for every in [1, 2] {
        let g = growth("rfc", "newreno", every, &json!({ "ack_delay": "200ms", "avoidance_counts_all": false }));
        assert!((g * f64::from(every) - 1.0).abs() < 0.03, "{g} with an acknowledgment for {every}");
    }
    for every in EVERY {
        let g = growth("rfc", "newreno", every, &json!({ "avoidance_counts_all": true }));
        assert!((g - 1.0).abs() < 0.03, "{g} with an acknowledgment for {every}");
    }
}

/// The share of the window that a loss leaves depends on the control alone, not on the receiver.
#[test]
fn a_loss_leaves_the_same_share() {
    for cc in WINDOWS {
        let share = |every: u32| {
            let mut p = path("linux", cc, every, &json!({}));
            p.drop_data(&[400]);
            p.write(0, ENDLESS, false);
            let mut before = 0;
            while p.ends[0].view().cwnd_cuts == 0 {
                before = p.ends[0].view().cwnd;
                assert!(p.step());
            }
            p.ends[0].view().ssthresh as f64 / before as f64
        };
        // Westwood's share is its estimate of the rate, which acknowledgments that come together change.
        if cc == "westwood" {
            continue;
        }
        let each = share(1);
        for every in EVERY {
            // A segment of the forty or so at the loss.
            assert!((share(every) - each).abs() < 0.025, "{cc} {every}: {} and {each}", share(every));
        }
    }
}

/// Slow start: RFC 5681 equation 2 counts one segment for an acknowledgment, so the window grows by 1 + 1/d a round trip where one acknowledgment covers d; Linux doubles it.
#[test]
fn slow_start_by_acknowledgments_or_by_segments() {
    let start = |preset: &str, cc: &str, every: u32| {
        let mut p = path(preset, cc, every, &json!({ "initial_window": "16p", "initial_ssthresh": null }));
        p.write(0, ENDLESS, false);
        p.run_until(Time::ZERO + Dur::from_ms(500));
        p.ends[0].view().cwnd as f64 / 1000.0
    };
    for cc in ["newreno", "sack", "dctcp", "highspeed", "htcp", "scalable", "veno", "westwood", "yeah", "bic"] {
        for every in EVERY {
            assert_eq!(start("linux", cc, every), 16.0 * 2_f64.powi(4), "{cc} {every}");
        }
        for every in [1, 2] {
            assert_eq!(start("rfc", cc, every), 16.0 * (1.0 + 1.0 / f64::from(every)).powi(4), "{cc} {every}");
        }
    }
    // Spaced over the round trip, so that the last of four has not all arrived.
    let each = start("linux", "prague", 1);
    for every in EVERY {
        assert!((start("linux", "prague", every) / each - 1.0).abs() < 0.02, "{every}");
    }
    // BBR fills a path in the same time.
    for cc in ["bbr", "bbr3"] {
        let filled = |every: u32| {
            let tcp =
                json!({ "preset": "linux", "cc": cc, "mss": "1000B", "ack_every": every, "ack_delay": "1ms", "receive_buffer": null });
            let hop = Hop::new(Rate::from_mbps(50), Dur::from_ms(50), 1000);
            let mut p = Pair::new(&params(tcp), vec![hop], vec![Hop::delay(Dur::from_ms(50))]);
            p.keep_log = false;
            p.start_endless();
            p.run_until(secs(2));
            p.delivered[1] as f64
        };
        let each = filled(1);
        for every in EVERY {
            assert!((filled(every) / each - 1.0).abs() < 0.1, "{cc} {every}: {} and {each}", filled(every));
        }
    }
}

/// Where each fifth or twentieth segment is marked, alpha comes to that share, and each mark is counted once: RFC 8257 section 3.2 and RFC 9768 section 3.2.2.5.1 have the receiver
/// tell of marks at once. Section 3.2.2.5.2 of the latter: the sender takes the safest *likely* case; an acknowledgment of many segments is no sign of lost ones where all
/// are (Linux `pkts_acked_ewma`).
#[test]
fn marks_are_counted_once_and_shares_are_right() {
    for cc in ["dctcp", "prague"] {
        for share in [5_u64, 20] {
            for every in EVERY {
                let mut p = path("rfc", cc, every, &json!({}));
                let mut n = 0;
                p.script[0] = Box::new(move |_, s| {
                    n += u64::from(s.payload != 0);
                    if s.payload != 0 && n.is_multiple_of(share) { Fate::Mark } else { Fate::Pass }
                });
                p.write(0, ENDLESS, false);
                p.run_until(secs(20));
                let (told, seen) = (p.ends[0].view().ce_delivered / 1000, p.ends[1].view().ce_received);
                assert!(seen > 100 && told <= seen && told + 4 >= seen, "{cc} {share} {every}: {told} of {seen}");
                let alpha = gauge(&p, "alpha") * share as f64;
                assert!((alpha - 1.0).abs() < 0.1, "{cc} {share} {every}: {alpha} of the share");
            }
        }
    }
}

/// A path without marks leaves alpha at rest and the window alone, however many segments an acknowledgment covers.
#[test]
fn no_marks_no_cuts() {
    for preset in ["rfc", "linux"] {
        for every in EVERY {
            let mut p = path(preset, "prague", every, &json!({}));
            p.write(0, ENDLESS, false);
            p.run_until(secs(5));
            let v = p.ends[0].view();
            assert_eq!((v.ce_delivered, v.ecn_cuts, v.cwnd_cuts), (0, 0, 0), "{preset} {every}");
        }
    }
}
