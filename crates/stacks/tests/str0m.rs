//! str0m over a path with a delay, and losses that a test chooses.

#![cfg(feature = "str0m")]

use fairlane_net::{ENDLESS, Endpoint, Limit};
use fairlane_stacks::Str0mParams;
use fairlane_units::{Dur, Rate, Time};
use pair::{Pair, STREAMS, ms, same_bytes};

mod pair;

fn params() -> Str0mParams {
    Str0mParams { start: Rate::from_mbps(1), most: Rate::from_mbps(2), ..Str0mParams::default() }
}

fn call(params: &Str0mParams, seed: u64) -> Pair {
    let mut p = Pair::of(params, seed, STREAMS);
    p.write(ENDLESS, false);
    p
}

fn target(p: &Pair) -> f64 {
    let mut rate = 0.0;
    p.ends[0].gauges(&mut |name, value| {
        if name == "target_rate" {
            rate = value;
        }
    });
    rate
}

/// A path without a limit: congestion control reaches the most that the encoder makes, and so does the picture. Every byte is the same again, on
/// another thread, too.
#[test]
fn a_call_reaches_its_largest_rate_and_the_same_seed_is_the_same_bytes() {
    same_bytes(|seed| {
        let mut p = call(&params(), seed);
        p.run(ms(19));
        assert_eq!((p.connection(), p.ends[0].limit(&p.timers[0])), ("handshake", Limit::Handshake));
        p.run(Dur::from_secs(2));
        assert_eq!(p.connection(), "established");
        p.run(Dur::from_secs(10));
        assert!(target(&p) >= 2e6, "{}", target(&p));
        let before = p.delivered[1];
        p.run(Dur::from_secs(20));
        let rate = (p.delivered[1] - before) as f64 * 8.0 / 10.0;
        assert!((rate / 2e6 - 1.0).abs() < 0.05, "{rate}");
        let view = p.ends[0].view();
        assert!(view.srtt >= ms(40) && view.srtt < ms(150), "{:?}", view.srtt);
        assert_eq!((p.ends[0].failure(), p.ends[1].failure()), (None, None));
        p.print
    });
}

/// RFC 4585, RFC 4588: what is lost is asked for and sent again, so every frame arrives.
#[test]
fn lost_packets_are_sent_again() {
    let mut p = call(&Str0mParams { deviation: 0.0, ..params() }, 1);
    p.run(Dur::from_secs(5));
    let (before, again) = (p.delivered[1], p.ends[0].view().retransmits);
    p.lost = |end, n| end == 0 && n % 50 == 0;
    p.run(Dur::from_secs(15));
    let again = p.ends[0].view().retransmits - again;
    let rate = (p.delivered[1] - before) as f64 * 8.0 / 10.0;
    assert!(again > 20, "{again}");
    // 2 % lost is below the 2 to 10 % at which Google congestion control holds its rate.
    assert!(rate > 1.5e6, "{rate}");
}

/// RFC 7675: an end whose peer is silent gives up; a call that is closed sends no more.
#[test]
fn a_silent_peer_is_a_failure_and_a_closed_call_is_silent() {
    let mut p = call(&params(), 1);
    p.run(Dur::from_secs(90));
    assert_eq!((p.ends[0].failure(), p.ends[1].failure()), (None, None));
    p.lost = |_, _| true;
    p.run(Dur::from_secs(150));
    assert!(p.ends[0].failure().is_some_and(|f| f.contains("RFC 7675")), "{:?}", p.ends[0].failure());

    let mut p = call(&params(), 1);
    p.run(Dur::from_secs(3));
    p.call(0, |e, cx| e.on_stop(cx));
    p.run(Dur::from_secs(4));
    let sent = p.sent;
    p.run(Dur::from_secs(60));
    assert_eq!((p.sent, p.ends[0].failure(), p.ends[1].failure()), (sent, None, None));
    assert!(p.timers.iter().all(|t| t.next() == Time::MAX), "timers are left: {:?}", p.timers);
}
