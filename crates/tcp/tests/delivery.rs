//! Whatever the path does, the bytes arrive once and in order, and no flow is left without a next step. Every algorithm that is registered is tried, with
//! every recovery scheme and preset.

use crate::pair::{Fate, Hop, Pair};
use fairlane_net::Endpoint;
use fairlane_tcp::{CcParams, Scheme, TcpParams, presets, resolve_params};
use fairlane_testkit::cases;
use fairlane_units::{Dur, Rate, Time};
use proptest::prelude::*;
use serde_json::{Value, json};

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        12 => Just(Fate::Pass),
        2 => Just(Fate::Drop),
        1 => Just(Fate::Mark),
        1 => Just(Fate::Twice),
        1 => (1..200_u64).prop_map(|ms| Fate::Late(Dur::from_ms(ms))),
    ]
}

fn names() -> Vec<&'static str> {
    CcParams::ALL.iter().map(|a| a.name).collect()
}

/// Combinable options: booleans in the order of their use.
fn endpoint(cc: &str, preset: &str, scheme: Option<&str>, more: &[bool], extra: &Value) -> TcpParams {
    let mut j = json!({ "preset": preset, "cc": cc });
    if let Some(s) = scheme {
        j["recovery"] = json!(s);
    }
    let selective = {
        // Some presets hold what needs SACK.
        let mut probe = j.clone();
        for field in ["rack", "tlp", "dsack_undo"] {
            probe[field] = json!(false);
        }
        (probe["prr"], probe["loss_basis"]) = (json!("off"), json!("smaller"));
        resolve_params(probe).unwrap().scheme()
    };
    let (exact, selective) = (selective == Scheme::Sack, matches!(selective, Scheme::Sack | Scheme::Fack | Scheme::Ns3));
    if !selective {
        j["loss_basis"] = json!("smaller");
    }
    let mut bits = more.iter().copied();
    let mut bit = || bits.next().unwrap_or(false);
    for field in ["frto", "new_cwv", "pacing", "cwnd_validation"] {
        if bit() {
            j[field] = json!(true);
        }
    }
    if bit() {
        (j["timestamps"], j["eifel"]) = (json!(true), json!(true));
    }
    for (field, may) in [("rack", exact), ("tlp", exact), ("dsack_undo", selective)] {
        if bit() || !may {
            j[field] = json!(may);
        }
    }
    if bit() || !exact {
        j["prr"] = json!(if exact { "rfc9937" } else { "off" });
    }
    if bit() {
        j["ecn"] = json!("classic");
    }
    for (k, v) in extra.as_object().unwrap() {
        j[k] = v.clone();
    }
    resolve_params(j).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(1500)))]
    #[test]
    fn all_bytes_in_order_and_no_deadlock(
        cc in prop::sample::select(names()),
        preset in prop::sample::select(presets().iter().map(|p| p.name.as_str()).collect::<Vec<_>>()),
        scheme in prop::option::weighted(0.3, prop::sample::select(vec!["tahoe", "reno", "newreno", "sack", "fack"])),
        more in prop::collection::vec(prop::bool::weighted(0.3), 10),
        bytes in 1..150_000_u64,
        back_bytes in prop_oneof![3 => Just(0_u64), 1 => 1..60_000_u64],
        window in prop_oneof![Just("1p"), Just("3p"), Just("20p"), Just("10000p"), Just("700B")],
        receive in prop_oneof![3 => Just(None), 1 => Just(Some("3000B")), 1 => Just(Some("100B"))],
        ack_every in 1..4_u32,
        forward in prop::collection::vec(fate(), 0..300),
        back in prop::collection::vec(fate(), 0..200),
        limit in 2..40_usize,
    ) {
        let mut extra = json!({ "window": window, "ack_every": ack_every });
        if let Some(r) = receive {
            extra["receive_window"] = json!(r);
        }
        let p = endpoint(cc, preset, scheme, &more, &extra);
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
        let (mut recoveries, mut sent, mut edge, mut forgiven) = ([0; 2], [0; 2], [0; 2], [(0, 0); 2]);
        while pair.now < end && pair.step() {
            for e in 0..2 {
                let v = pair.ends[e].view();
                prop_assert!(v.cwnd >= u64::from(v.mss));
                prop_assert!(pair.delivered[e] <= [back_bytes, bytes][e]);
                prop_assert!(v.acked <= pair.delivered[1 - e], "acknowledged before it was delivered");
                if let Err(broken) = pair.ends[e].audit() {
                    prop_assert!(false, "does not hold: {broken}");
                }
                let timers = pair.timers[e];
                prop_assert!(!pair.ends[e].waits_for_timer() || timers.next() != Time::MAX, "data in flight without a timer");
                // One reaction a round: what a recovery began with is acknowledged before the next begins, unless the timer went off between or the
                // last proved a mistake. Vegas judges each segment by its own clock (Brakmo 1995 section 3.1).
                let excuse = (v.timeouts, pair.ends[e].reductions_taken_back());
                if v.fast_recoveries != recoveries[e] {
                    prop_assert!(v.fast_recoveries == recoveries[e] + 1);
                    prop_assert!(v.acked >= edge[e] || excuse != forgiven[e] || cc == "vegas", "two recoveries of one window");
                    (recoveries[e], edge[e], forgiven[e]) = (v.fast_recoveries, sent[e], excuse);
                }
                sent[e] = v.data_bytes - v.retransmit_bytes;
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

/// RFC 7661 section 4.3: a window that is not what limits the sender does not grow. Algorithms that set a rate size their window by what they
/// measure of the path, used or not.
#[test]
fn no_growth_without_need() {
    for name in names() {
        if name.starts_with("bbr") {
            continue;
        }
        let p = endpoint(name, "rfc", None, &[], &json!({ "cwnd_validation": true, "idle_restart": "off" }));
        let mut pair = Pair::delayed(&p, Dur::from_ms(50));
        pair.keep_log = false;
        pair.start();
        pair.run(Dur::from_ms(300));
        let before = pair.ends[0].view().cwnd;
        for _ in 0..100 {
            pair.write(0, 2 * u64::from(p.mss.get() as u32), false);
            pair.run(Dur::from_ms(150));
        }
        let v = pair.ends[0].view();
        assert!(v.cwnd <= before, "{name}: {before} to {}", v.cwnd);
    }
}

/// `fack_lost_again_stops` waits for the timer, as ns-2 does. A duplicate of the first sending fills the hole and everything is acknowledged: no timer is left to
/// wait for, and the last byte must go out all the same. Found by the test above.
#[test]
fn fack_does_not_stand_still_with_nothing_outstanding() {
    let more = [true, false, false, false, false, false, false, false, false, false];
    let p = endpoint("bbr", "ns2", Some("fack"), &more, &json!({ "window": "20p", "ack_every": 2 }));
    let hop = || Hop::new(Rate::from_mbps(2), Dur::from_ms(15), 2);
    let mut pair = Pair::new(&p, vec![hop()], vec![hop()]);
    pair.script[0] = Box::new(|n, _| match n {
        1 => Fate::Twice,
        3 | 4 => Fate::Drop,
        9 => Fate::Late(Dur::from_ms(6)),
        _ => Fate::Pass,
    });
    pair.script[1] = Box::new(|n, _| if n == 3 { Fate::Twice } else { Fate::Pass });
    pair.start();
    pair.write(0, 8001, true);
    while pair.now < Time::ZERO + Dur::from_secs(100) && pair.step() {}
    assert_eq!(pair.delivered[1], 8001);
    assert!(pair.finished[0].is_some());
}
