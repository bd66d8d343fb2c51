//! RACK-TLP compared with RFC 8985: the examples of its section 3, the rules of sections 6 and 7, and other schemes in the same situation.

use crate::helpers::{again, ms, scripted, with};
use crate::pair::{Fate, Pair, params};
use fairlane_net::{ENDLESS, Endpoint};
use fairlane_units::{Dur, Time};
use serde_json::{Value, json};

fn flow(extra: Value) -> Pair {
    let j = with(
        json!({ "cc": "sack", "mss": "1000B", "ack_every": 1, "initial_window": "20p", "initial_ssthresh": "2p", "rto_min": "1s", "fin": false,
        "receive_window": "60000B" }),
        &extra,
    );
    Pair::delayed(&params(j), ms(50))
}

/// Twenty segments, one each 5 ms, from 100 ms on; then as much as the window takes. A round trip of 100 ms.
fn steady(extra: Value, script: impl FnMut(u64, u64) -> Fate + 'static) -> Pair {
    let mut p = flow(extra);
    scripted(&mut p, script);
    p.start();
    p.run(ms(100));
    for _ in 0..20 {
        p.write(0, 1000, false);
        p.run(ms(5));
    }
    p.write(0, ENDLESS, false);
    p
}

fn rack() -> Value {
    json!({ "rack": true, "tlp": true })
}

/// RFC 8985 sections 3.1 and 6.2: a lost retransmission is found by the first acknowledgment of something sent after it, a round trip later.
/// RFC 6675 has to wait for the timer (its section 5.1).
/// Also RFC 8985 sections 1, 3.3.2, 4 and 9.2.
#[test]
fn rfc8985_section_3_1_lost_retransmission() {
    let lost = |n: u64, k: u64| if n == 20 && k < 2 { Fate::Drop } else { Fate::Pass };
    let mut p = steady(json!({ "rack": true, "tlp": true, "prr": "rfc9937" }), lost);
    p.run(Dur::from_secs(4));
    let v = p.ends[0].view();
    assert_eq!((v.timeouts, v.retransmits, v.fast_recoveries), (0, 2, 1));
    let times = again(&p);
    let wait = times[1].0 - times[0].0;
    assert!((105..=115).contains(&wait), "{times:?}");

    let mut old = steady(json!({}), lost);
    old.run(Dur::from_secs(4));
    assert!(old.ends[0].view().timeouts >= 1);
    assert!(old.delivered[1] < p.delivered[1]);
}

/// A retransmission lost three times over is found three times.
/// Also RFC 8985 sections 4 and 9.2.
#[test]
fn rfc8985_section_6_2_lost_again_and_again() {
    let mut p = steady(rack(), |n, k| if n == 20 && k < 4 { Fate::Drop } else { Fate::Pass });
    p.run(Dur::from_secs(2));
    assert_eq!((p.ends[0].view().timeouts, p.ends[0].view().retransmits), (0, 4));
}

/// RFC 8985 section 9.3: without PRR each lost retransmission lowers the window again, as RFC 5681 section 4.3 wants; losses of one round trip do so once.
#[test]
fn rfc8985_section_9_3_a_lost_retransmission_is_a_signal() {
    let cuts = |prr: &str, lost: fn(u64, u64) -> bool| {
        let mut p = steady(json!({ "rack": true, "tlp": true, "prr": prr }), move |n, k| if lost(n, k) { Fate::Drop } else { Fate::Pass });
        p.run(Dur::from_secs(2));
        let v = p.ends[0].view();
        assert_eq!((v.timeouts, v.fast_recoveries), (0, 1), "{prr}");
        v.cwnd_cuts
    };
    assert_eq!(cuts("off", |n, k| n == 20 && k < 1), 1);
    assert_eq!(cuts("off", |n, k| n == 20 && k < 2), 2);
    assert_eq!(cuts("off", |n, k| n == 20 && k < 3), 3);
    assert_eq!(cuts("off", |n, k| (n == 20 || n == 22) && k < 2), 2);
    assert_eq!(cuts("rfc9937", |n, k| n == 20 && k < 2), 1);
}

/// RFC 8985 sections 3.2 and 7: the last segments of a transfer are lost. The probe after two round trips brings a SACK, and fast recovery
/// repairs the rest; without it the timer does, later.
/// Also RFC 8985 sections 3.3.2, 7.2 and 7.3.
#[test]
fn rfc8985_section_3_2_tail_loss() {
    let run = |extra: Value| {
        let mut p = flow(extra);
        scripted(&mut p, |n, k| if n >= 7 && k == 0 { Fate::Drop } else { Fate::Pass });
        p.start();
        p.run(ms(100));
        p.write(0, 10_000, true);
        p.run(Dur::from_secs(5));
        p
    };
    let p = run(rack());
    let v = p.ends[0].view();
    assert_eq!((v.timeouts, v.fast_recoveries), (0, 1));
    // Last acknowledgment at 200 ms: SRTT is 100 ms, so the probe, segment 9, leaves at 400 ms; its SACK at 500 ms sends 7 and 8.
    assert_eq!(again(&p), [(400, 9), (500, 7), (500, 8)]);
    let old = run(json!({}));
    assert_eq!(old.ends[0].view().timeouts, 1);
    assert!(p.finished[0].unwrap() < old.finished[0].unwrap());
}

/// RFC 8985 section 7.3: the probe is new data if there is some, whatever the congestion window says.
#[test]
fn rfc8985_section_7_3_probe_with_new_data() {
    let mut p = flow(json!({ "rack": true, "tlp": true, "initial_window": "4p" }));
    scripted(&mut p, |n, k| if n < 4 && k == 0 { Fate::Drop } else { Fate::Pass });
    p.start();
    p.run(ms(100));
    p.write(0, 100_000, true);
    p.run_until(Time::ZERO + ms(310));
    // SRTT from the handshake: two round trips after sending, segment 4 goes beyond the window of four.
    let data: Vec<_> =
        p.log.iter().filter(|l| l.1 == 0 && l.2.payload != 0).map(|l| (l.0.as_ps() / 1_000_000_000, (l.2.seq - 1) / 1000)).collect();
    assert_eq!(data, [(100, 0), (100, 1), (100, 2), (100, 3), (300, 4)]);
    p.run(Dur::from_secs(5));
    assert_eq!(p.ends[0].view().timeouts, 0);
    assert!(p.finished[0].is_some());
}

/// RFC 8985 section 7.2: with one segment in flight the probe also waits for a delayed acknowledgment.
#[test]
fn rfc8985_section_7_2_single_segment() {
    let mut p = flow(json!({ "rack": true, "tlp": true, "tlp_ack_delay": "150ms" }));
    scripted(&mut p, |n, k| if n == 0 && k == 0 { Fate::Drop } else { Fate::Pass });
    p.start();
    p.run(ms(100));
    p.write(0, 1000, false);
    p.run(Dur::from_secs(2));
    assert_eq!(again(&p), [(100 + 200 + 150, 0)]);
}

/// RFC 8985 section 7.4: a probe that alone repaired a loss tells of congestion; a probe whose original had arrived (D-SACK) does not.
/// Also RFC 8985 section 7.4.2.
#[test]
fn rfc8985_section_7_4_did_the_probe_repair_a_loss() {
    let run = |script: fn(u64, u64) -> Fate| {
        let mut p = flow(json!({ "rack": true, "tlp": true, "initial_ssthresh": null }));
        scripted(&mut p, script);
        p.start();
        p.run(ms(100));
        p.write(0, 10_000, false);
        p.run(ms(650));
        p.write(0, 5_000, false);
        p.run(ms(600));
        let v = p.ends[0].view();
        assert_eq!((v.timeouts, v.fast_recoveries), (0, 0));
        (again(&p).len(), v.cwnd_cuts)
    };
    assert_eq!(run(|n, k| if n == 9 && k == 0 { Fate::Drop } else { Fate::Pass }), (1, 1));
    assert_eq!(run(|n, k| if n == 9 && k == 0 { Fate::Late(ms(450)) } else { Fate::Pass }), (1, 0));
}

/// RFC 8985 section 6.2 step 4: once reordering was seen, it may take up to a quarter of the smallest round-trip time. Counting to three
/// takes it for a loss each time.
/// Also RFC 8985 section 3.3.2.
#[test]
fn rfc8985_section_3_3_reordering() {
    // Segment 25 is overtaken by one (which shows that there is reordering), then every tenth by four (22 ms of 100).
    let late = |n: u64, k: u64| match n {
        25 if k == 0 => Fate::Late(ms(6)),
        40.. if n.is_multiple_of(10) && k == 0 => Fate::Late(ms(22)),
        _ => Fate::Pass,
    };
    let mut p = steady(rack(), late);
    p.run(Dur::from_secs(3));
    let v = p.ends[0].view();
    assert_eq!((v.retransmits, v.fast_recoveries, v.timeouts), (0, 0, 0), "{:?}", again(&p));
    let mut old = steady(json!({}), late);
    old.run(Dur::from_secs(3));
    assert!(old.ends[0].view().fast_recoveries > 3);
    assert!(p.delivered[1] > old.delivered[1]);
}

/// RFC 8985 section 6.2 step 4: D-SACKs widen the window, by a quarter a round, up to the smoothed round-trip time; reordering by half a round
/// trip is taken for loss at first and then no more.
/// Also RFC 8985 sections 3.3.2 and 4.
#[test]
fn rfc8985_section_6_2_window_adapts_to_dsack() {
    let late = |n: u64, k: u64| match n {
        25 if k == 0 => Fate::Late(ms(6)),
        40.. if n.is_multiple_of(15) && k == 0 => Fate::Late(ms(55)),
        _ => Fate::Pass,
    };
    let mut p = steady(rack(), late);
    p.run(Dur::from_secs(4));
    let early = p.ends[0].view();
    assert!(early.retransmits > 0 && early.dsacks > 0);
    p.run(Dur::from_secs(4));
    let v = p.ends[0].view();
    assert_eq!(v.retransmits, early.retransmits, "{:?}", again(&p));
    assert_eq!(v.timeouts, 0);
}

/// RFC 8985 section 6.2: without reordering seen, three SACKed segments suffice, and fewer wait for a quarter of a round trip.
/// Also RFC 8985 section 3.3.2.
#[test]
fn rfc8985_section_6_2_two_sacks_and_a_wait() {
    let mut p = flow(json!({ "rack": true, "tlp": false }));
    scripted(&mut p, |n, k| if n == 0 && k == 0 { Fate::Drop } else { Fate::Pass });
    p.start();
    p.run(ms(100));
    p.write(0, 3000, true);
    p.run(Dur::from_secs(3));
    // Sent at 100, SACKed at 200: lost at 100 + RTT + RTT/4.
    assert_eq!(again(&p), [(225, 0)]);
    let mut old = flow(json!({}));
    scripted(&mut old, |n, k| if n == 0 && k == 0 { Fate::Drop } else { Fate::Pass });
    old.start();
    old.run(ms(100));
    old.write(0, 3000, true);
    old.run(Dur::from_secs(3));
    assert_eq!(old.ends[0].view().timeouts, 1);
}

/// RFC 8985 section 6.3: when the timer goes off, what was sent within the last round trip is not taken as lost, but as on its way.
#[test]
fn rfc8985_section_6_3_timeout_spares_what_is_young() {
    let run = |extra: Value| {
        let mut p = flow(extra);
        scripted(&mut p, |n, k| if n == 1 && k == 0 { Fate::Drop } else { Fate::Pass });
        p.start();
        p.run(ms(100));
        // The first segment measures the round-trip time; the second is lost.
        p.write(0, 1000, false);
        p.run(ms(200));
        p.write(0, 1000, false);
        p.run_until(Time::ZERO + ms(1295));
        p.write(0, 10_000, true);
        p.run_until(Time::ZERO + ms(1350));
        let v = p.ends[0].view();
        assert_eq!((v.timeouts, v.retransmits), (1, 1));
        p.run(Dur::from_secs(8));
        assert!(p.finished[0].is_some());
        v.in_flight
    };
    assert_eq!(run(json!({ "rack": true })), 11_000);
    assert_eq!(run(json!({})), 1000);
}

/// Whatever is lost, reordered or duplicated: everything arrives, and something is always awaited.
/// Also RFC 8985 section 9.3; RFC 9937 section 5.
#[test]
fn rack_tlp_prr_deliver_under_any_history() {
    for seed in 1..120_u64 {
        for prr in ["off", "rfc9937"] {
            let mut p = flow(
                json!({ "rack": true, "tlp": true, "prr": prr, "timestamps": seed % 2 == 0, "initial_ssthresh": null, "fin": true, "rto_min": "200ms" }),
            );
            let mut x = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let mut next = move || {
                x ^= x << 13;
                x ^= x >> 7;
                x ^= x << 17;
                x
            };
            let mut other = next;
            let fate = move |r: u64| match r % 40 {
                0..=2 => Fate::Drop,
                3 => Fate::Twice,
                4..=6 => Fate::Late(ms(r % 97)),
                _ => Fate::Pass,
            };
            p.script[0] = Box::new(move |_, _| fate(next()));
            p.script[1] = Box::new(move |_, _| fate(other() >> 7));
            p.start();
            p.write(0, 400_000, true);
            p.run(Dur::from_secs(120));
            assert_eq!(p.delivered[1], 400_000, "{seed} {prr}");
            assert!(p.finished[0].is_some(), "{seed} {prr}");
        }
    }
}
