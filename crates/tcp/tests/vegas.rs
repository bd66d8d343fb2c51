//! TCP Vegas against ns-2.35, ns-3.37 and the paper (Brakmo and Peterson 1995).

mod pair;

use fairlane_net::{ENDLESS, Endpoint};
use fairlane_units::{Dur, Time};
use pair::{Pair, params};
use serde_json::{Value, json};

fn dumbbell(p: Value, limit: usize) -> Pair {
    let mut pair = Pair::dumbbell(&params(p), limit);
    pair.keep_log = false;
    pair.start();
    pair.write(0, ENDLESS, false);
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
