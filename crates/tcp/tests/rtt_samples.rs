//! Which segment measures the round-trip time (RFC 6298, RFC 7323 section 4.3, Linux `tcp_clean_rtx_queue`).

use fairlane_net::{Class, Cx, Endpoint, Segment, Timers, flag};
use fairlane_tcp::{Tcp, resolve_params};
use fairlane_units::{Dur, Time};
use serde_json::{Value, json};

/// Two segments go out 5 ms apart and one acknowledgment covers both, 45 ms after the second: SRTT and the smallest round-trip time in milliseconds.
fn delayed(tcp: Value) -> (u64, u64) {
    let p = resolve_params(tcp).unwrap();
    let (_, mut tcp) = Tcp::pair(&p, Class(0)).unwrap();
    let (mut out, mut timers) = (Vec::new(), Timers::default());
    let at = |ms| Time::ZERO + Dur::from_ms(ms);
    let segment = |ack: u64, flags: u8, echo: u32| {
        let mut s = Segment::new(u64::from(flags & flag::SYN == 0), ack, flags, 0);
        s.wnd = 1 << 20;
        s.set_timestamps(7, echo);
        s
    };
    tcp.on_packet(&segment(0, flag::SYN, 0), &mut Cx::new(at(1), &mut out, &mut timers));
    let answer = out[0].seg.timestamps().map_or(0, |t| t.0);
    // The handshake measures 100 ms.
    tcp.on_packet(&segment(1, flag::ACK, answer), &mut Cx::new(at(101), &mut out, &mut timers));
    for ms in [200, 205] {
        tcp.on_write(1000, false, &mut Cx::new(at(ms), &mut out, &mut timers));
    }
    let echo = out[1].seg.timestamps().map_or(0, |t| t.0);
    tcp.on_packet(&segment(2001, flag::ACK, echo), &mut Cx::new(at(250), &mut out, &mut timers));
    // SRTT = 7/8 of 100 ms and 1/8 of the new one.
    let new = tcp.view().srtt.as_ps() * 8 - 700 * Dur::from_ms(1).as_ps();
    (new / Dur::from_ms(1).as_ps(), tcp.info().min_rtt.unwrap().as_ps() / Dur::from_ms(1).as_ps())
}

/// RFC 7323 section 4.3: a delayed acknowledgment echoes the earliest segment it answers, so that SRTT holds the delay.
/// Also RFC 7323 section 3.2.
#[test]
fn rfc7323_section_4_3_delayed_acknowledgments_count() {
    assert_eq!(delayed(json!({ "mss": "1000B", "timestamps": true })), (50, 45));
}

/// Linux takes SRTT from the oldest segment, the smallest round-trip time from the newest, with timestamps and without.
#[test]
fn linux_times_the_oldest() {
    assert_eq!(delayed(json!({ "preset": "linux", "mss": "1000B" })), (50, 45));
    assert_eq!(delayed(json!({ "preset": "linux", "mss": "1000B", "timestamps": false, "eifel": false })), (50, 45));
}

/// RFC 6298 leaves the choice.
#[test]
fn without_timestamps_the_newest() {
    assert_eq!(delayed(json!({ "mss": "1000B" })), (45, 45));
}
