//! Whatever the path does, the bytes arrive once and in order, and no flow is left without a next step.

mod pair;

use fairlane_net::Endpoint;
use fairlane_units::{Dur, Rate, Time};
use pair::{Fate, Hop, Pair, params};
use proptest::prelude::*;
use serde_json::json;

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        12 => Just(Fate::Pass),
        2 => Just(Fate::Drop),
        1 => Just(Fate::Twice),
        1 => (1..200_u64).prop_map(|ms| Fate::Late(Dur::from_ms(ms))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn all_bytes_in_order_and_no_deadlock(
        cc in prop::sample::select(vec!["tahoe", "reno", "newreno", "sack", "bbr", "bbr3"]),
        preset in prop::sample::select(vec!["ns2", "ns3", "rfc", "linux"]),
        bytes in 1..150_000_u64,
        back_bytes in prop_oneof![3 => Just(0_u64), 1 => 1..60_000_u64],
        window in prop_oneof![Just("1p"), Just("3p"), Just("20p"), Just("10000p"), Just("700B")],
        receive in prop_oneof![3 => Just(None), 1 => Just(Some("3000B")), 1 => Just(Some("100B"))],
        ack_every in 1..4_u32,
        forward in prop::collection::vec(fate(), 0..300),
        back in prop::collection::vec(fate(), 0..200),
        limit in 2..40_usize,
    ) {
        let mut j = json!({ "preset": preset, "cc": cc, "window": window, "ack_every": ack_every });
        if let Some(r) = receive {
            j["receive_window"] = json!(r);
        }
        let p = params(j);
        let hop = || Hop::new(Rate::from_mbps(2), Dur::from_ms(15), limit);
        let mut pair = Pair::new(&p, vec![hop()], vec![hop()]);
        pair.keep_log = false;
        pair.script[0] = Box::new(move |n, _| forward.get(n as usize).copied().unwrap_or(Fate::Pass));
        pair.script[1] = Box::new(move |n, _| back.get(n as usize).copied().unwrap_or(Fate::Pass));
        pair.start();
        pair.write(0, bytes, true);
        if back_bytes > 0 {
            pair.write(1, back_bytes, true);
        }
        let end = Time::ZERO + Dur::from_secs(200_000);
        while pair.now < end && pair.step() {
            for e in 0..2 {
                let v = pair.ends[e].view();
                prop_assert!(v.cwnd >= u64::from(v.mss));
                prop_assert!(pair.delivered[e] <= [back_bytes, bytes][e]);
                prop_assert!(v.acked <= pair.delivered[1 - e], "acknowledged before it was delivered");
            }
            if pair.finished[0].is_none() {
                prop_assert!(pair.alive(), "unfinished and nothing to happen");
            }
        }
        prop_assert_eq!(pair.delivered, [back_bytes, bytes]);
        prop_assert!(pair.finished[0].is_some());
        prop_assert_eq!(pair.finished[1].is_some(), back_bytes > 0);
        prop_assert!(!pair.alive());
    }
}
