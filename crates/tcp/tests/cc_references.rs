//! Loss-based congestion controls against single flows of ns-2.35 and ns-3.37, endpoints alone.

mod pair;

use fairlane_net::{ENDLESS, Endpoint};
use fairlane_units::{Dur, Rate, Time};
use pair::{Hop, Pair, params};
use serde_json::json;

struct Row {
    utilisation: f64,
    goodput: f64,
    queue: f64,
    drops: u64,
    rexmit: u64,
    cuts: u64,
}

/// N1: 10 Mbit/s and 20 ms behind a queue of 50 and the one packet that ns-3's device holds, 1502 byte on the wire.
fn n1(cc: &str) -> Row {
    let p = json!({
        "preset": "ns3", "cc": cc, "mss": "1448B", "receive_window": "8MiB", "ack_every": 1, "header": "42B",
    });
    let access = || Hop::new(Rate::from_mbps(100), Dur::from_ms(1), usize::MAX);
    let middle = |limit| Hop::new(Rate::from_mbps(10), Dur::from_ms(20), limit);
    measure(Pair::new(&params(p), vec![access(), middle(51), access()], vec![access(), middle(usize::MAX), access()]))
}

/// C1 of ns-2: DropTail 50 holds 49.
fn c1(cc: &str) -> Row {
    measure(Pair::dumbbell(&params(json!({ "preset": "ns2", "cc": cc, "window": "10000p" })), 49))
}

fn measure(mut pair: Pair) -> Row {
    pair.keep_log = false;
    pair.start();
    pair.write(0, ENDLESS, false);
    pair.run_until(Time::ZERO + Dur::from_secs(100));
    let v = pair.ends[0].view();
    let hop = &pair.hops[0][1];
    Row {
        utilisation: hop.bytes as f64 * 8.0 / 1e9,
        goodput: v.acked as f64 * 8.0 / 1e8,
        queue: hop.waited / 100.0,
        drops: hop.drops,
        rexmit: v.retransmits,
        cuts: v.cwnd_cuts,
    }
}

#[test]
fn show() {
    for cc in ["cubic", "reno", "scalable"] {
        let r = n1(cc);
        println!("n1 {cc} {} {} q {} d {} rx {} cuts {}", r.utilisation, r.goodput, r.queue, r.drops, r.rexmit, r.cuts);
        let r = c1(cc);
        println!("c1 {cc} {} {} q {} d {} rx {} cuts {}", r.utilisation, r.goodput, r.queue, r.drops, r.rexmit, r.cuts);
    }
}
