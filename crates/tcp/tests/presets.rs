//! Presets are data merged under the user's values; senseless values are refused with a field and a hint.

use fairlane_tcp::{CcParams, Preset, Prr, Scheme, Tcp, TcpParams, presets, resolve_params};
use serde_json::{Value, json};

#[test]
fn every_preset_reads_and_resolves_to_itself() {
    assert_eq!(presets().iter().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["modern", "rfc", "ns2", "ns3", "linux", "linux-6.12"]);
    for preset in presets() {
        assert!(!preset.doc.is_empty());
        let p = resolve_params(json!({ "preset": preset.name })).unwrap();
        let written = serde_json::to_value(&p).unwrap();
        for (key, value) in &preset.values {
            assert!(written.get(key).is_some(), "{key} is not a parameter");
            if value.is_null() {
                assert!(written[key].is_null());
            }
        }
        assert_eq!(resolve_params(written).unwrap(), p, "a resolved table resolves to itself");
    }
    assert_eq!(resolve_params(json!({})).unwrap(), TcpParams::default());
    assert_eq!(resolve_params(json!({ "preset": "modern" })).unwrap(), TcpParams::default());
}

/// The default is the common ground of current stacks; the strict text of the RFCs has a name.
#[test]
fn the_default_is_a_current_stack() {
    let ms = fairlane_units::Dur::from_ms;
    let p = resolve_params(json!("bbr3")).unwrap();
    assert_eq!((p.preset, p.scheme(), p.rack, p.tlp, p.prr), (Preset::Modern, Scheme::Sack, true, true, Prr::Rfc9937));
    // Linux `tcp_rtt_estimator` and FreeBSD `TCPT_RANGESET` both wait 200 ms beyond SRTT; delayed acknowledgments must come sooner.
    assert_eq!((p.rto_min, p.rto_granularity, p.ack_delay), (ms(200), ms(200), ms(40)));
    let p = resolve_params(json!({ "preset": "rfc", "cc": "bbr3" })).unwrap();
    assert_eq!((p.rack, p.tlp, p.prr, p.byte_counting), (false, false, Prr::Off, Some(1)));
    // RFC 6298 section 2.4: the minimum RTO is one second.
    assert_eq!(p.rto_min, ms(1000));
}

/// Algorithms with the name of a recovery scheme keep it: parameters that need SACK are off there, unless a user writes them, which is a
/// mistake.
#[test]
fn inherited_values_that_need_sack_are_off_without_it() {
    for (cc, scheme) in
        [("tahoe", Scheme::Tahoe), ("reno", Scheme::Reno), ("newreno", Scheme::Newreno), ("fack", Scheme::Fack), ("vegas", Scheme::Vegas)]
    {
        let p = resolve_params(json!(cc)).unwrap();
        assert_eq!((p.scheme(), p.rack, p.tlp, p.prr), (scheme, false, false, Prr::Off), "{cc}");
    }
    assert!(!resolve_params(json!({ "preset": "linux", "recovery": "newreno" })).unwrap().rack);
    // Another algorithm laid over a resolved table.
    let mut complete = serde_json::to_value(resolve_params(json!("cubic")).unwrap()).unwrap();
    complete["cc"] = json!("newreno");
    assert!(!resolve_params(complete).unwrap().rack);
    let mistake = resolve_params(json!({ "cc": "newreno", "rack": true })).unwrap_err();
    assert_eq!(mistake.field(), Some("rack"));
    assert!(mistake.to_string().contains("recovery = \"sack\""));
}

/// A preset that starts from another has its values, and for an algorithm those of both.
#[test]
fn an_older_linux_is_linux_but_for_its_hystart() {
    let of = |preset: &str, cc: &str| {
        let mut table = serde_json::to_value(resolve_params(json!({ "preset": preset, "cc": cc })).unwrap()).unwrap();
        table.as_object_mut().unwrap().remove("preset");
        table
    };
    for cc in CcParams::ALL {
        let (now, mut then) = (of("linux", cc.name), of("linux-6.12", cc.name));
        if cc.name == "cubic" {
            assert_eq!((&now["hystart_rounds"], &then["hystart_rounds"]), (&json!("always"), &json!("window")));
            then["hystart_rounds"] = json!("always");
        }
        assert_eq!(now, then, "{}", cc.name);
    }
}

#[test]
fn what_the_user_writes_wins() {
    let p = resolve_params(json!({ "preset": "ns2", "mss": "1460B", "window": "10000p" })).unwrap();
    assert_eq!((p.preset, p.mss.get(), p.rto_min), (Preset::Ns2, 1460, fairlane_units::Dur::from_ms(200)));
    let p = resolve_params(json!({ "preset": "ns2", "window": null })).unwrap();
    assert_eq!(p.window, None);
}

#[test]
fn algorithms_by_name_alias_and_table() {
    for (value, name, scheme) in [
        (json!("tahoe"), "tahoe", Scheme::Tahoe),
        (json!({ "cc": "Agent/TCP/Newreno" }), "newreno", Scheme::Newreno),
        (json!({ "cc": { "sack": {} } }), "sack", Scheme::Sack),
        (json!({ "cc": "reno", "recovery": "sack" }), "reno", Scheme::Sack),
        (json!({}), "cubic", Scheme::Sack),
        (json!({ "preset": "rfc" }), "newreno", Scheme::Newreno),
    ] {
        let p = resolve_params(value).unwrap();
        assert_eq!((p.cc.name(), p.scheme()), (name, scheme));
    }
    assert!(CcParams::ALL.len() >= 4);
    assert!(CcParams::ALL.iter().all(|a| !a.doc.is_empty()));
}

#[test]
fn errors_say_what_to_write() {
    let message = |v: Value| resolve_params(v).unwrap_err().to_string();
    assert!(message(json!({ "window": "0p" })).contains("window: a window of 0"));
    assert!(message(json!({ "window": 0 })).contains("bare number"));
    assert!(message(json!({ "receive_window": "0B" })).contains("receive_window"));
    assert!(message(json!({ "mss": "0B" })).contains("mss"));
    assert!(message(json!({ "mss": "100kB" })).contains("65000B"));
    assert!(message(json!({ "initial_window": "0p" })).contains("initial_window"));
    assert!(message(json!({ "initial_window": "ten" })).contains("rfc6928"));
    assert!(message(json!({ "initial_ssthresh": "0p" })).contains("initial_ssthresh"));
    assert!(message(json!({ "dupthresh": 0 })).contains("dupthresh"));
    assert!(message(json!({ "ack_every": -1 })).contains("-1"));
    assert!(message(json!({ "sack_blocks": 5 })).contains("sack_blocks"));
    assert!(message(json!({ "rto_min": "2min" })).contains("rto_max"));
    assert!(message(json!({ "rtt_tick": "0s" })).contains("rtt_tick"));
    assert!(message(json!({ "rto_min": -1 })).contains("negative"));
    assert!(message(json!({ "cc": "vega" })).contains("newreno"));
    assert!(message(json!({ "cc": { "reno": {}, "tahoe": {} } })).contains("two algorithms"));
    assert!(message(json!({ "cc": {} })).contains("empty"));
    assert!(message(json!({ "preset": "bsd" })).contains("rfc, ns2, ns3, linux"));
    assert!(message(json!({ "windw": "3p" })).contains("windw"));
    assert!(message(json!(7)).contains("newreno"));
    assert_eq!(resolve_params(json!({ "window": "0p" })).unwrap_err().field(), Some("window"));
}

#[test]
fn every_parameter_is_described_in_the_schema() {
    let schema = serde_json::to_value(schemars::schema_for!(TcpParams)).unwrap();
    let properties = schema["properties"].as_object().unwrap();
    let written = serde_json::to_value(TcpParams::default()).unwrap();
    assert_eq!(properties.len(), written.as_object().unwrap().len());
    for (name, property) in properties {
        assert!(property["description"].as_str().is_some_and(|d| d.len() > 10), "{name}");
    }
}

/// Endpoints are small, eleven cache lines: thousands of flows fit into a cache, and rings grow only with what is in flight.
#[test]
fn endpoints_are_small() {
    let size = size_of::<Tcp<fairlane_tcp::cc::reno::Reno>>();
    assert!(size <= 11 * 64, "{size}");
}
