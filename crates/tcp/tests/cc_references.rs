//! Loss-based congestion controls against single flows of ns-2.35 and ns-3.37, endpoints alone.

use crate::pair::{Hop, Pair, params};
use fairlane_net::Endpoint;
use fairlane_units::{Dur, Rate, Time};
use serde_json::json;

struct Row {
    utilisation: f64,
    goodput: f64,
    queue: f64,
    drops: u64,
    cuts: u64,
}

/// N1: 10 Mbit/s and 20 ms behind a queue of 50 and the one packet that ns-3's device holds, 1502 bytes on the wire.
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
    pair.start_endless();
    pair.run_until(Time::ZERO + Dur::from_secs(100));
    let v = pair.ends[0].view();
    let hop = &pair.hops[0][1];
    Row {
        utilisation: hop.bytes as f64 * 8.0 / 1e9,
        goodput: v.acked as f64 * 8.0 / 1e8,
        queue: hop.waited / 100.0,
        drops: hop.drops,
        cuts: v.cwnd_cuts,
    }
}

fn near(ours: f64, theirs: f64, part: f64) -> bool {
    (ours - theirs).abs() <= part * theirs
}

/// ns-2's Agent/TCP/Linux with cubic. Its losses and retransmissions are not compared: that agent leaves recovery with bursts of its
/// own making, some 30 packets lost a cycle.
#[test]
fn c1_cubic_matches_ns2() {
    let r = c1("cubic");
    assert!((r.utilisation - 0.997968).abs() <= 0.005, "utilisation {}", r.utilisation);
    assert!(near(r.goodput, 9.56592, 0.02), "goodput {}", r.goodput);
    assert!(near(r.queue, 41.3876, 0.05), "queue {}", r.queue);
}

/// ns-3.37's TcpCubic: goodput, mean queue (with the packet in the device) and loss events.
#[test]
fn n1_cubic_matches_ns3() {
    let r = n1("cubic");
    assert!((r.utilisation - 0.999011).abs() <= 0.005, "utilisation {}", r.utilisation);
    assert!(near(r.goodput, 9.62874, 0.01), "goodput {}", r.goodput);
    assert!(near(r.queue, 37.2644 + 0.99897, 0.05), "queue {}", r.queue);
    assert!(r.cuts.abs_diff(22) <= 1, "loss events {}", r.cuts);
    assert!(near(r.drops as f64, 36.0, 0.15), "drops {}", r.drops);
}
