//! One flow over the dumbbell of the ns-2 reference runs (C1), endpoints alone.

use crate::helpers::with;
use crate::pair::{Pair, params};
use fairlane_net::Endpoint;
use fairlane_units::{Dur, Time};
use serde_json::json;

struct Row {
    utilisation: f64,
    goodput: f64,
    queue: f64,
    drops: u64,
    rexmit: u64,
    timeouts: u64,
}

fn run(cc: &str, extra: serde_json::Value) -> Row {
    let p = with(json!({ "preset": "ns2", "cc": cc, "window": "10000p" }), &extra);
    let mut pair = Pair::dumbbell(&params(p), 49);
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
        rexmit: v.retransmits,
        timeouts: v.timeouts,
    }
}

/// Reference rows: utilisation, goodput Mbit/s, mean queue, drops, retransmissions, timeouts (ns-2.35).
#[test]
fn c1_rows_match_ns2() {
    #[rustfmt::skip]
    let rows = [
        ("tahoe", "", 0.93744, 9.0012, 24.72, 131, 236, 0),
        ("reno", "", 0.991137, 9.51776, 26.4078, 132, 234, 1),
        ("newreno", "", 0.991736, 9.52096, 26.4274, 132, 242, 1),
        ("fack", "", 0.991553, 9.52776, 26.4907, 150, 177, 1),
        ("sack", "", 0.993874, 9.5524, 26.5168, 133, 133, 0),
        ("tahoe", "60p", 0.940452, 9.03856, 24.7513, 26, 26, 0),
        ("reno", "60p", 0.996528, 9.57776, 26.4669, 28, 28, 0),
        ("newreno", "60p", 0.996528, 9.57776, 26.4669, 28, 28, 0),
        ("fack", "60p", 0.996295, 9.57552, 26.6072, 28, 28, 0),
        ("sack", "60p", 0.996528, 9.57776, 26.4617, 28, 28, 0),
    ];
    for (cc, ssthresh, utilisation, goodput, queue, drops, rexmit, timeouts) in rows {
        let extra = if ssthresh.is_empty() { json!({}) } else { json!({ "initial_ssthresh": ssthresh }) };
        let r = run(cc, extra);
        let near = |ours: f64, theirs: f64, part: f64| (ours - theirs).abs() <= part * theirs;
        assert!((r.utilisation - utilisation).abs() <= 0.005, "{cc}{ssthresh} utilisation {}", r.utilisation);
        assert!(near(r.goodput, goodput, 0.01), "{cc}{ssthresh} goodput {}", r.goodput);
        assert!(near(r.queue, queue, 0.05), "{cc}{ssthresh} queue {}", r.queue);
        assert!(near(r.drops as f64, f64::from(drops), 0.1), "{cc}{ssthresh} drops {}", r.drops);
        assert!(near(r.rexmit as f64, f64::from(rexmit), 0.1), "{cc}{ssthresh} retransmissions {}", r.rexmit);
        assert_eq!(r.timeouts, timeouts, "{cc}{ssthresh} timeouts");
    }
}
