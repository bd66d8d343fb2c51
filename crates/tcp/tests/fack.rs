//! FACK (Mathis and Mahdavi 1996): its use of the highest SACKed byte, and the differences from RFC 6675. `ns2_losses.rs` and
//! `ns2_dumbbell.rs` compare the ns-2 variant with ns-2.

use crate::helpers::{ms, with};
use crate::pair::{Fate, Hop, Pair, params};
use fairlane_net::Endpoint;
use fairlane_units::{Dur, Time};
use serde_json::{Value, json};

/// A window of 20 segments of 1000 bytes and a round trip of 100 ms; segments are 5 ms apart.
fn steady(cc: &str, extra: Value) -> Pair {
    let j = with(
        json!({ "cc": cc, "mss": "960B", "ack_every": 1, "initial_window": "20p", "initial_ssthresh": "2p", "rto_min": "1s" }),
        &extra,
    );
    let rate = fairlane_units::Rate::from_bps(1_600_000);
    let mut p = Pair::new(&params(j), vec![Hop::new(rate, ms(45), usize::MAX)], vec![Hop::delay(ms(50))]);
    p.drop_data(&[]);
    p
}

/// The published algorithm, ns-2's, and each of ns-2's choices alone.
fn variants() -> Vec<Value> {
    let names = ["fack_restart", "fack_only_enters", "fack_until_no_sack", "fack_lost_again_stops", "fack_every_ack_restarts_timer"];
    let on = |some: &[&str]| Value::Object(some.iter().map(|n| ((*n).to_owned(), json!(true))).collect());
    [on(&[]), on(&names)].into_iter().chain(names.map(|n| on(&[n]))).collect()
}

fn again(p: &Pair) -> Vec<u64> {
    p.log.iter().filter(|l| l.1 == 0 && l.2.retransmission()).map(|l| (l.2.seq - 1) / 960).collect()
}

/// Section 2.2: recovery begins when more than three segments lie between snd.una and snd.fack, also with a single
/// acknowledgment: those of the first three duplicates were lost.
#[test]
fn trigger_by_distance() {
    for one in variants() {
        let mut j = one.clone();
        j["cwnd_validation"] = json!(false);
        let mut p = steady("fack", j);
        p.drop_data(&[10]);
        let mut dups = 0;
        p.script[1] = Box::new(move |_, s| {
            dups += u32::from(s.sack_len() > 0);
            if s.sack_len() > 0 && dups <= 3 { Fate::Drop } else { Fate::Pass }
        });
        p.start_endless();
        p.run_until(Time::ZERO + ms(400));
        assert_eq!((again(&p), p.ends[0].view().fast_recoveries), (vec![10], 1), "{one}");
    }
}

/// A hole below snd.fack counts as lost: a segment that is only late is retransmitted during recovery. RFC 6675 section 4 (IsLost) waits
/// for three above it.
#[test]
fn a_hole_is_lost_at_once() {
    for (cc, expected) in [("fack", vec![10, 26]), ("sack", vec![10])] {
        let mut p = steady(cc, json!({}));
        let mut n = 0;
        p.script[0] = Box::new(move |_, s| {
            n += u64::from(s.payload != 0);
            match n {
                11 if s.payload != 0 => Fate::Drop,
                27 if s.payload != 0 => Fate::Late(ms(12)),
                _ => Fate::Pass,
            }
        });
        p.start_endless();
        p.run_until(Time::ZERO + ms(600));
        assert_eq!(again(&p), expected, "{cc}");
    }
}

/// Overdamping: slow start has doubled the window since the lost segment went out, so half of it is taken twice; in
/// congestion avoidance once.
#[test]
fn overdamping() {
    for (on, ssthresh, left) in [(true, None, 4), (false, None, 2), (true, Some("2p"), 2)] {
        let mut j = json!({ "fack_overdamping": on, "loss_basis": "cwnd", "initial_window": "4p" });
        if let Some(s) = ssthresh {
            j["initial_window"] = json!("20p");
            j["initial_ssthresh"] = json!(s);
        } else {
            j["initial_ssthresh"] = Value::Null;
        }
        let mut p = steady("fack", j);
        p.drop_data(&[40]);
        p.start_endless();
        let mut before = 0;
        while p.ends[0].view().fast_recoveries == 0 {
            before = p.ends[0].view().cwnd;
            p.step();
        }
        let v = p.ends[0].view();
        assert!((v.cwnd as f64 / before as f64 - 1.0 / f64::from(left)).abs() < 0.02, "{on} {ssthresh:?} {} {before}", v.cwnd);
        assert_eq!(v.cwnd_cuts, 1);
    }
}

/// Rampdown: the sender is not silent for half a round trip but sends one segment for two that arrive. A round trip later it has sent the
/// same amount.
#[test]
fn rampdown() {
    let sent = |on: bool| {
        let mut p = steady("fack", json!({ "fack_rampdown": on, "limited_transmit": false }));
        p.drop_data(&[10]);
        p.start_endless();
        while p.ends[0].view().fast_recoveries == 0 {
            p.step();
        }
        let cut = p.now;
        p.run_until(cut + ms(100));
        let at = |d: u64| p.log.iter().filter(|l| l.1 == 0 && l.0 > cut && l.0 <= cut + ms(d)).count() as i64;
        (at(45), at(100))
    };
    let (plain, ramped) = (sent(false), sent(true));
    assert!(plain.0 <= 2, "{plain:?}");
    assert!((4..=6).contains(&ramped.0), "{ramped:?}");
    assert!((plain.1 - ramped.1).abs() <= 2, "{plain:?} {ramped:?}");
}

/// Many holes in one window: repaired in one recovery, with one reduction, without the timer.
#[test]
fn many_holes() {
    for one in variants() {
        let mut p = steady("fack", one.clone());
        p.drop_data(&[40, 42, 43, 46, 50, 51, 52]);
        p.start_endless();
        p.run_until(Time::ZERO + Dur::from_secs(5));
        let v = p.ends[0].view();
        assert_eq!((v.fast_recoveries, v.cwnd_cuts, v.timeouts, v.retransmits), (1, 1, 0, 7), "{one}");
    }
}
