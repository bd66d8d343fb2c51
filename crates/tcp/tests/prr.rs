//! Proportional rate reduction against the examples of RFC 6937 section 4 and the rules of RFC 9937.

use crate::helpers::{ms, with};
use crate::pair::{Fate, Pair, params};
use fairlane_net::{ENDLESS, Endpoint};
use fairlane_units::Time;
use serde_json::{Value, json};

/// A fixed window of 20 segments sent one each 5 ms, a round trip of 100 ms: the setting of the examples.
fn twenty(extra: Value, lost: &[u64]) -> Pair {
    let j = with(
        json!({ "cc": "sack", "mss": "1000B", "ack_every": 1, "initial_window": "20p", "initial_ssthresh": "2p", "sack_rescue": false, "fin": false,
        "rto_min": "1s", "receive_window": "60000B", "loss_basis": "cwnd" }),
        &extra,
    );
    let mut p = Pair::delayed(&params(j), ms(50));
    p.drop_data(lost);
    p.start();
    p.run(ms(100));
    for _ in 0..20 {
        p.write(0, 1000, false);
        p.run(ms(5));
    }
    p.write(0, ENDLESS, false);
    p
}

/// Segments released by each acknowledgment, from the one at `from` ms on, one each 5 ms: "N" new, "R" retransmitted, "-" none.
fn released(p: &Pair, from: u64, acks: usize) -> String {
    let mut slots = vec![String::new(); acks];
    for (at, dir, seg, _) in &p.log {
        let t = at.as_ps() / 1_000_000_000;
        if *dir == 0 && seg.payload != 0 && t >= from && ((t - from) / 5) < acks as u64 {
            slots[((t - from) / 5) as usize].push(if seg.retransmission() { 'R' } else { 'N' });
        }
    }
    slots.iter().map(|s| if s.is_empty() { "-" } else { s }).collect::<Vec<_>>().join(" ")
}

/// RFC 6937 section 4, first figure: of 20 segments the first is lost. RFC 6675 falls silent for half a round trip and then sends one for
/// each acknowledgment; PRR sends one for every other. (The figure halves 22 segments, limited transmit included; here it is 20, RFC 3042.)
/// Also RFC 9937 section 6.1.
#[test]
fn rfc6937_section_4_one_loss_of_twenty() {
    let silent = "N N R - - - - - - - - - N N N N N N N";
    // The last finds ten in flight, the threshold.
    let spread = "N N R - N - N - N - N - N - N - N - -";
    for (prr, expected) in [("off", silent), ("crb", spread), ("ssrb", spread), ("rfc9937", spread)] {
        let mut p = twenty(json!({ "prr": prr, "prr_base": "window" }), &[0]);
        p.run_until(Time::ZERO + ms(299));
        assert_eq!(released(&p, 205, 19), expected, "{prr}");
        p.run_until(Time::ZERO + ms(309));
        let v = p.ends[0].view();
        assert_eq!((v.fast_recoveries, v.cwnd_cuts, v.timeouts), (1, 1, 0), "{prr}");
        p.run_until(Time::ZERO + ms(330));
        assert_eq!(p.ends[0].view().ssthresh, 10_000, "{prr}");
        // At the end the window is the threshold, and that much is in flight (RFC 9937 section 6.2): no burst.
        assert!((10_000..11_200).contains(&p.ends[0].view().cwnd), "{prr} {}", p.ends[0].view().cwnd);
    }
}

/// RFC 6937 section 4, second figure: 15 of 20 segments are lost, 1 to 15. Little is left in flight. RFC 6675 answers with one burst up to
/// the threshold; the conservative bound (CRB) sends only what was delivered, the slow-start bound (SSRB) one more an acknowledgment.
/// Also RFC 9937 section 7.
#[test]
fn rfc6937_section_4_burst_of_losses() {
    let lost: Vec<u64> = (0..15).collect();
    let burst = |prr: &str| {
        let mut p = twenty(json!({ "prr": prr, "prr_base": "window" }), &lost);
        p.run_until(Time::ZERO + ms(299));
        released(&p, 275, 5)
    };
    assert_eq!(burst("off"), "N N RRRRRR R R");
    assert_eq!(burst("crb"), "N N R R R");
    assert_eq!(burst("ssrb"), "N N RR RR RR");
    // Nothing new is acknowledged yet, so this is no good progress: RFC 9937 is as careful as CRB.
    assert_eq!(burst("rfc9937"), "N N R R R");
}

/// RFC 9937 section 6.2: each acknowledgment of a retransmission that tells of no further loss (SafeACK) lets one segment more out, so what
/// is in flight grows as in slow start; with CRB it only keeps its size.
#[test]
fn rfc9937_safe_acks_catch_up() {
    let lost: Vec<u64> = (0..15).collect();
    let flight = |prr: &str| {
        let mut p = twenty(json!({ "prr": prr }), &lost);
        p.run_until(Time::ZERO + ms(410));
        p.ends[0].view().in_flight / 1000
    };
    let (crb, safe, ssrb) = (flight("crb"), flight("rfc9937"), flight("ssrb"));
    assert!(crb < safe && safe <= ssrb, "{crb} {safe} {ssrb}");
    assert!(ssrb <= 11, "never above the threshold: {ssrb}");
}

/// Whatever is lost, and with each bound: the window is never less than a segment, the threshold never less than two, and data continues.
/// `rfc_recovery.rs` tests the bounds of RFC 9937 section 6.2.
#[test]
fn any_loss_is_survived() {
    for seed in 1..60_u64 {
        let mut x = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        for prr in ["crb", "ssrb", "rfc9937"] {
            let mut p = twenty(json!({ "prr": prr }), &[]);
            p.script[0] = Box::new(move |n, s| {
                x ^= x << 13;
                x ^= x >> 7;
                x ^= x << 17;
                if s.payload != 0 && n > 22 && n < 60 && x % 5 == 0 { Fate::Drop } else { Fate::Pass }
            });
            let mut before = p.ends[0].view();
            for _ in 0..4000 {
                p.run(ms(1));
                let v = p.ends[0].view();
                assert!(v.cwnd >= 1000);
                if v.fast_recoveries > before.fast_recoveries {
                    assert!(v.ssthresh >= 2000, "{seed} {prr}");
                }
                before = v;
            }
            assert!(p.delivered[1] > 100_000, "{seed} {prr} {}", p.delivered[1]);
        }
    }
}
