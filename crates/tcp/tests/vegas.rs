//! TCP Vegas against ns-2.35, ns-3.37 and the paper (Brakmo and Peterson 1995).

use crate::helpers::ms;
use crate::pair::{Hop, Pair, params};
use fairlane_net::Endpoint;
use fairlane_units::{Dur, Rate, Time};
use serde_json::{Value, json};

fn dumbbell(p: Value, limit: usize) -> Pair {
    let mut pair = Pair::dumbbell(&params(p), limit);
    pair.keep_log = false;
    pair.start_endless();
    pair
}

fn cwnd(p: &Pair) -> f64 {
    let v = p.ends[0].view();
    v.cwnd as f64 / f64::from(v.mss)
}

/// Case C1 of ns-2.35, one flow: utilisation 0.990808, goodput 9.90368 Mbit/s, mean queue 2.69945 packets, no retransmission.
#[test]
fn ns2_c1_row() {
    let mut p = dumbbell(json!({ "preset": "ns2", "cc": "vegas", "window": "10000p" }), 49);
    p.run_until(Time::ZERO + Dur::from_secs(100));
    let v = p.ends[0].view();
    let hop = &p.hops[0][1];
    assert!((hop.bytes as f64 * 8.0 / 1e9 - 0.990808).abs() < 0.001, "{}", hop.bytes);
    assert!((v.acked as f64 * 8.0 / 1e8 - 9.90368).abs() < 0.01, "{}", v.acked);
    assert!((hop.waited / 100.0 - 2.69945).abs() < 0.05, "{}", hop.waited);
    assert_eq!((v.retransmits, v.timeouts, hop.drops), (0, 0, 0));
}

/// Its window, every 0.1 s and packets of the same run: slow start doubles every other round trip, ends with an eighth less, then one packet a round trip.
#[test]
fn ns2_c1_window() {
    let ns2 = [
        (0.0, 1.0),
        (0.1, 3.0),
        (0.2, 6.0),
        (0.3, 12.0),
        (0.4, 24.0),
        (0.5, 21.1905),
        (0.6, 23.6516),
        (0.7, 25.8396),
        (1.0, 31.9916),
        (1.5, 42.8737),
        (2.0, 53.8237),
        (2.5, 59.3525),
        (9.0, 59.3525),
    ];
    let mut p = dumbbell(json!({ "preset": "ns2", "cc": "vegas", "window": "10000p" }), 49);
    for (at, theirs) in ns2 {
        p.run_until(Time::ZERO + Dur::from_secs_f64(at));
        assert!((cwnd(&p) - theirs).abs() < 0.005, "{at} s: {} {theirs}", cwnd(&p));
    }
}

/// Case N1 of ns-3.37 (TcpVegas): goodput 9.62642 Mbit/s, utilisation 0.998771, no retransmission, and next to no queue: 0.0044 packets in the queue disc
/// and 0.139 in the device's own place below it, since whole segments are rounded up: the window rests with one or two of its packets in the queue.
#[test]
fn ns3_n1_row() {
    let j = json!({ "preset": "ns3", "cc": "vegas", "mss": "1448B", "header": "42B", "receive_window": "8MiB", "ack_every": 1 });
    let mut p = dumbbell(j, 51);
    p.run_until(Time::ZERO + Dur::from_secs(100));
    let v = p.ends[0].view();
    let hop = &p.hops[0][1];
    assert!((v.acked as f64 * 8.0 / 1e8 - 9.62642).abs() < 0.01, "{}", v.acked);
    assert!((hop.bytes as f64 * 8.0 / 1e9 - 0.998771).abs() < 0.001, "{}", hop.bytes);
    assert!((hop.waited / 100.0 - 0.1436).abs() < 0.1, "{}", hop.waited);
    assert_eq!((v.retransmits, v.timeouts, hop.drops), (0, 0, 0));
}

/// A flow with a fixed window over a link that takes a segment of 1000 bytes in 25 ms, 100 ms there and back; the segments listed are lost.
fn slow(cc: &str, window: &str, lost: &[u64]) -> Pair {
    let j = json!({ "cc": cc, "mss": "1000B", "ack_every": 1, "window": window, "initial_window": window, "limited_transmit": false });
    let half = Dur::from_ms(50);
    let mut p = Pair::new(&params(j), vec![Hop::new(Rate::from_bps(332_800), half, usize::MAX)], vec![Hop::delay(half)]);
    p.drop_data(lost);
    p.start_endless();
    p
}

/// Brakmo and Peterson 1995 section 3.1: a window of three brings two duplicates at most. Reno waits for its timer, Vegas retransmits on the first
/// duplicate, 150 ms after the segment was sent, where round trips take 125.
#[test]
fn first_duplicate_retransmits_what_is_overdue() {
    let mut vegas = slow("vegas", "3p", &[30]);
    vegas.run(Dur::from_secs(20));
    let v = vegas.ends[0].view();
    assert_eq!((v.timeouts, v.fast_recoveries, v.retransmits), (0, 1, 1));
    let sent = vegas.log.iter().filter(|l| l.1 == 0 && l.2.seq == 30_001).map(|l| l.0).collect::<Vec<_>>();
    let waited = (sent[1] - sent[0]).as_secs_f64();
    assert!((0.13..0.16).contains(&waited), "{waited}");
    let mut reno = slow("reno", "3p", &[30]);
    reno.run(Dur::from_secs(20));
    assert_eq!(reno.ends[0].view().timeouts, 1);
}

/// The second hole of a window is retransmitted with the acknowledgment of the first, and the window is cut once, by a quarter.
#[test]
fn one_cut_for_losses_of_one_window() {
    let mut p = slow("vegas", "8p", &[60, 61]);
    p.run(Dur::from_secs(8));
    let before = cwnd(&p);
    let mut least = before;
    while p.now < Time::ZERO + Dur::from_secs(30) {
        p.step();
        least = least.min(cwnd(&p));
    }
    let v = p.ends[0].view();
    assert_eq!((v.timeouts, v.retransmits, v.cwnd_cuts), (0, 2, 1));
    assert!(least >= 0.75 * 8.0 - 1.0, "{least} of {before}");
}

/// Window and timer during recovery with one of ns-2's choices: the largest window, and the RTO relative to the one before.
fn repaired(choice: Value) -> (f64, f64) {
    let mut j =
        json!({ "cc": "vegas", "mss": "1000B", "ack_every": 1, "window": "20p", "initial_window": "12p", "limited_transmit": false });
    j.as_object_mut().unwrap().extend(choice.as_object().unwrap().clone());
    let mut p = Pair::new(&params(j), vec![Hop::new(Rate::from_bps(332_800), ms(50), usize::MAX)], vec![Hop::delay(ms(50))]);
    p.drop_data(&[60]);
    p.start_endless();
    let mut rto = p.ends[0].view().rto;
    while p.ends[0].view().fast_recoveries == 0 {
        rto = p.ends[0].view().rto;
        p.step();
    }
    let later = p.ends[0].view().rto;
    let mut most = 0.0_f64;
    let una = p.ends[0].view().acked;
    while p.ends[0].view().acked == una {
        most = most.max(cwnd(&p));
        p.step();
    }
    (most, later.as_secs_f64() / rto.as_secs_f64())
}

/// ns-2's tcp-vegas.cc: `++cwnd_` for each duplicate beyond the third, `reset_rtx_timer(1)` after a fast retransmission; the paper has neither.
#[test]
fn what_ns2_does_after_duplicates_is_a_parameter_each() {
    let plain = repaired(json!({}));
    let inflated = repaired(json!({ "vegas_inflates_cwnd": true }));
    let backed_off = repaired(json!({ "vegas_backs_off": true }));
    assert!(inflated.0 >= plain.0 + 3.0 && backed_off.0 == plain.0, "{plain:?} {inflated:?} {backed_off:?}");
    assert!(plain.1 == 1.0 && inflated.1 == 1.0 && (backed_off.1 - 2.0).abs() < 0.01, "{plain:?} {inflated:?} {backed_off:?}");
}

/// Any of ns-2's choices without the others, and all mixtures of them, still deliver everything.
#[test]
fn every_mixture_of_choices_delivers() {
    for mask in 0..16 {
        let on = |bit: u32| mask >> bit & 1 == 1;
        let j = json!({
            "cc": "vegas", "mss": "1000B", "ack_every": 1, "window": "8p", "initial_window": "8p",
            "vegas_inflates_cwnd": on(0), "vegas_backs_off": on(1), "vegas_times_waiting": on(2), "vegas_send_table": on(3),
        });
        let mut p = Pair::new(&params(j), vec![Hop::new(Rate::from_bps(332_800), ms(50), usize::MAX)], vec![Hop::delay(ms(50))]);
        p.drop_data(&[30, 31, 45, 60, 62, 64, 66]);
        p.start();
        p.write(0, 200_000, true);
        p.run(Dur::from_secs(120));
        assert_eq!(p.ends[0].view().acked, 200_000, "{mask:04b}");
    }
}
