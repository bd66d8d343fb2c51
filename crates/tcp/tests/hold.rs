//! A sender held by a flow controller at its node: no segment leaves, no data is lost, and a timer that expired counts at the release.

use crate::helpers::{at, ms, with};
use crate::pair::{Fate, Pair, params};
use fairlane_net::{Endpoint, flag};
use fairlane_tcp::CcParams;
use fairlane_units::Time;
use serde_json::{Value, json};

fn hold(p: &mut Pair, held: bool) {
    p.call(0, |e, cx| assert!(e.hold(held, cx)));
}

/// Segments of the sender that are not pure acknowledgments, since a time: ms and number of the segment.
fn sent(p: &Pair, since: Time) -> Vec<(u64, u64)> {
    let ours = p.log.iter().filter(|l| l.1 == 0 && l.0 >= since && (l.2.payload > 0 || l.2.has(flag::SYN | flag::FIN)));
    ours.map(|l| (l.0.as_ps() / 1_000_000_000, l.2.seq.saturating_sub(1) / 1000)).collect()
}

/// A window of 4 segments of 1000 bytes that does not grow, round trip 100 ms, no handshake.
fn four(extra: Value) -> Pair {
    let j = with(
        json!({ "cc": "tahoe", "mss": "1000B", "ack_every": 1, "initial_window": "4p", "window": "4p", "handshake": false,
        "idle_restart": "one", "rto_initial": "1s", "rto_min": "200ms" }),
        &extra,
    );
    Pair::delayed(&params(j), ms(50))
}

/// The window goes out, its acknowledgments come in while the flow is closed, and the flow resumes where it was: with one segment after a
/// pause longer than the RTO (RFC 5681 section 4.1), with the whole window after a short one.
#[test]
fn nothing_leaves_until_the_release() {
    for (pause, then) in [(120, 4), (2000, 1)] {
        let mut p = four(json!({}));
        p.run(ms(10));
        p.start_endless();
        hold(&mut p, true);
        p.run(ms(pause));
        assert_eq!(sent(&p, Time::ZERO).len(), 4);
        assert_eq!(p.ends[0].view().acked, 4000);
        hold(&mut p, false);
        let next: Vec<u64> = sent(&p, at(10 + pause)).iter().map(|s| s.1).collect();
        assert_eq!(next, (4..4 + then).collect::<Vec<_>>());
    }
}

/// The retransmission timer goes off after a second, the flow opens after three: the timeout counts then, and slow start begins with the
/// first segment again (RFC 5681 section 3.1, RFC 6298 section 5).
#[test]
fn a_timeout_waits_for_the_release() {
    let mut p = four(json!({}));
    p.drop_data(&[0, 1, 2, 3]);
    p.start_endless();
    hold(&mut p, true);
    p.run(ms(3000));
    assert_eq!((sent(&p, Time::ZERO).len(), p.ends[0].view().timeouts), (4, 0));
    hold(&mut p, false);
    assert_eq!(sent(&p, at(3000)), [(3000, 0)]);
    assert_eq!((p.ends[0].view().timeouts, p.ends[0].view().cwnd), (1, 1000));
    p.run(ms(150));
    assert_eq!(sent(&p, at(3001)), [(3100, 1), (3100, 2)]);
}

/// A timer that expired before the last acknowledgment came is no timeout any more.
#[test]
fn an_acknowledgment_takes_a_timeout_back() {
    let mut p = four(json!({}));
    p.script[1] = Box::new(|_, _| Fate::Late(ms(1500)));
    p.start_endless();
    hold(&mut p, true);
    p.run(ms(3000));
    hold(&mut p, false);
    assert_eq!((p.ends[0].view().timeouts, sent(&p, at(3000))[0]), (0, (3000, 4)));
}

/// Three duplicates come while the flow is closed: it enters recovery, and the retransmission goes first at the release.
#[test]
fn a_fast_retransmit_waits_for_the_release() {
    for cc in ["tahoe", "reno", "newreno", "sack", "vegas"] {
        let mut p = four(json!({ "cc": cc, "window": "8p", "initial_window": "8p", "limited_transmit": false }));
        p.drop_data(&[0]);
        p.start_endless();
        hold(&mut p, true);
        p.run(ms(200));
        let v = p.ends[0].view();
        assert_eq!((sent(&p, Time::ZERO).len(), v.fast_recoveries, v.retransmits), (8, 1, 0), "{cc}");
        hold(&mut p, false);
        assert_eq!(sent(&p, at(200))[0], (200, 0), "{cc}");
        p.run(ms(110));
        assert!(p.ends[0].view().acked >= 8000, "{cc}");
        assert_eq!(p.ends[0].view().timeouts, 0, "{cc}");
    }
}

/// The SYN is not sent before the flow opens, and a lost one not again before the next turn.
#[test]
fn the_connection_opens_with_the_flow() {
    let mut p = four(json!({ "handshake": true }));
    p.script[0] = Box::new(|n, _| if n == 0 { Fate::Drop } else { Fate::Pass });
    hold(&mut p, true);
    p.start();
    p.write(0, 5000, true);
    p.run(ms(500));
    assert!(p.log.is_empty());
    hold(&mut p, false);
    hold(&mut p, true);
    assert_eq!(sent(&p, Time::ZERO).len(), 1);
    p.run(ms(4500));
    assert_eq!(sent(&p, Time::ZERO).len(), 1);
    hold(&mut p, false);
    p.run(ms(1000));
    assert_eq!(p.delivered[1], 5000);
    assert!(p.finished[0].is_some());
}

/// A closed end is still a receiver: data of the peer is acknowledged.
#[test]
fn a_closed_end_acknowledges() {
    let mut p = four(json!({}));
    p.start();
    hold(&mut p, true);
    p.write(1, 20_000, false);
    p.run(ms(1000));
    assert_eq!(p.delivered[0], 20_000);
    assert!(p.log.iter().any(|l| l.1 == 0) && sent(&p, Time::ZERO).is_empty());
}

/// Every algorithm and every preset, held and released at random times, with losses of both kinds: no segment leaves while held, and all
/// data arrives.
#[test]
fn any_sender_stands_still_and_goes_on() {
    let names: Vec<&str> = CcParams::ALL.iter().map(|c| c.name).collect();
    let presets = ["ns2", "ns3", "linux"];
    for (k, (cc, preset)) in names.iter().flat_map(|c| presets.map(|p| (*c, p))).enumerate() {
        let mut p = Pair::dumbbell(&params(json!({ "cc": cc, "preset": preset })), 8);
        let mut n = k as u64;
        p.script[0] = Box::new(move |_, _| {
            n = n.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            if n >> 59 == 0 { Fate::Drop } else { Fate::Pass }
        });
        hold(&mut p, true);
        p.start();
        p.write(0, 400_000, true);
        let mut turns = 0_u64;
        while p.finished[0].is_none() && turns < 4000 {
            hold(&mut p, true);
            let (from, before) = (p.now, p.log.len());
            p.run(ms(37 + 400 * u64::from(turns.is_multiple_of(7))));
            let rest = &p.log[before..];
            assert!(rest.iter().all(|l| l.1 == 1 || (l.2.payload == 0 && !l.2.has(flag::SYN | flag::FIN))), "{cc} {preset} {from:?}");
            hold(&mut p, false);
            p.run(ms(11 + 97 * (turns % 3)));
            turns += 1;
        }
        assert_eq!(p.delivered[1], 400_000, "{cc} {preset} after {turns} turns");
        assert!(p.finished[0].is_some(), "{cc} {preset}");
    }
}
