//! TCP without congestion control as in RFC 793, and its differences from all later algorithms.

use crate::helpers::ms;
use crate::pair::{Hop, Pair, params};
use fairlane_net::Endpoint;
use fairlane_tcp::{Scheme, TcpParams};
use fairlane_units::{Dur, Rate};
use serde_json::json;

const MSS: u64 = 1000;

fn old() -> TcpParams {
    params(json!({ "cc": "rfc793", "mss": "1000B", "ack_every": 1, "receive_window": "20kB", "rto_min": "1s" }))
}

/// Section 3.7, managing the window: all that the receiver's window takes goes out at once, without slow start, and no loss makes it less.
#[test]
fn the_window_is_the_receivers() {
    assert_eq!(old().scheme(), Scheme::Timeout);
    let mut p = Pair::delayed(&old(), ms(50));
    p.start();
    p.run(ms(101));
    p.write(0, 100 * MSS, false);
    assert_eq!(p.ends[0].view().in_flight, 20 * MSS);
    let mut lossy = Pair::delayed(&old(), ms(50));
    lossy.drop_data(&[3]);
    lossy.start();
    lossy.write(0, 100 * MSS, false);
    lossy.run(Dur::from_secs(30));
    let v = lossy.ends[0].view();
    assert_eq!((v.acked, v.ssthresh), (100 * MSS, u64::MAX));
    assert!(v.cwnd >= 20 * MSS);
}

/// Section 3.7: the timer alone sends again, and of the queue only what is at its front; Reno's third duplicate does not wait for it.
#[test]
fn only_the_timer_sends_again_and_only_the_first() {
    let run = |p: &TcpParams| {
        let mut p = Pair::delayed(p, ms(50));
        p.drop_data(&[3]);
        p.start();
        p.write(0, 100 * MSS, false);
        p.run(Dur::from_secs(30));
        let v = p.ends[0].view();
        (v.retransmits, v.timeouts, v.fast_recoveries)
    };
    assert_eq!(run(&old()), (1, 1, 0), "19 segments after the hole wait at the receiver, and are not sent again");
    assert_eq!(run(&params(json!({ "cc": "reno", "mss": "1000B", "ack_every": 1, "receive_window": "20kB" }))), (1, 0, 1));
}

/// Section 3.7: RTO = BETA * SRTT with BETA = 2 and SRTT = 7/8 SRTT + 1/8 RTT; a steady round trip of 800 ms gives 1.6 s where RFC 6298 comes down to 801 ms.
#[test]
fn the_timeout_is_twice_the_round_trip() {
    let rto = |rule: &str| {
        let p =
            params(json!({ "cc": "rfc793", "rto_rule": rule, "mss": "1000B", "ack_every": 1, "receive_window": "2kB", "rto_min": "1us" }));
        let mut p = Pair::delayed(&p, ms(400));
        p.start();
        p.write(0, 200 * MSS, false);
        p.run(Dur::from_secs(70));
        assert_eq!(p.ends[0].view().acked, 2 * MSS * ((70_000 - 800) / 800));
        p.ends[0].view().rto
    };
    assert_eq!(rto("rfc793"), ms(1600));
    assert_eq!(rto("rfc6298"), ms(801));
}

/// RFC 896, congestion collapse: behind a queue that is too short for their windows senders without congestion control send most of what they send
/// in vain, and get less through than Reno does.
#[test]
fn without_control_a_short_queue_is_wasted() {
    let run = |cc: &str| {
        let p = params(json!({ "cc": cc, "mss": "1000B", "ack_every": 1, "receive_window": "60kB" }));
        let mut p = Pair::new(&p, vec![Hop::new(Rate::from_mbps(1), ms(20), 10)], vec![Hop::delay(ms(20))]);
        p.start();
        p.write(0, 1 << 30, false);
        p.run(Dur::from_secs(60));
        p.ends[0].view().acked
    };
    let (none, reno) = (run("rfc793"), run("newreno"));
    assert!(reno > 7_000_000 && none * 2 < reno, "{none} {reno}");
}
