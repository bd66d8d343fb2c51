//! Requirements of the RFCs on a receiver that no other test covers.

use crate::arrivals::Host;
use crate::helpers::with;
use fairlane_net::{Endpoint, Segment, TimerId, flag};
use fairlane_units::Dur;
use serde_json::{Value, json};

const ACK: u8 = flag::ACK;
const RST: u8 = flag::RST;

/// Numbers without pattern that are the same everywhere.
fn numbers(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut x = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move |n| {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x % n
    }
}

/// RFC 5681 section 4.2: whatever arrives, one segment is never answered by more than one acknowledgment; RFC 9293 section 3.8.6 (SHLD-14), RFC 7323 section 2.4: the
/// right edge that is offered never moves to the left, and what ends at the farthest edge ever offered is taken in. Section 3.8.6.2.2 (MUST-39): what is offered is never a
/// silly window: less than a segment, or less than half of the largest, is offered as none.
/// Also RFC 9293 section 3.8.6.2.2.
#[test]
fn rfc5681_section_4_2_one_acknowledgment_and_the_edge() {
    for (preset, extra) in
        [("rfc", json!({})), ("linux", json!({ "timestamps": false, "eifel": false, "receive_window": null, "receive_buffer": "64KiB" }))]
    {
        for seed in 1..60 {
            let p = with(json!({ "preset": preset, "cc": "sack", "ack_every": 2 }), &extra);
            let mut h = Host::open(&p);
            let mut draw = numbers(seed);
            let (mut edge, mut widest) = (0, 0);
            for _ in 0..300 {
                let nxt = h.end.info().rcv_nxt;
                let seq = match draw(5) {
                    0 => nxt + 1000 * draw(6),
                    1 => nxt.saturating_sub(1000 * draw(4)).max(1),
                    _ => nxt,
                };
                let mut seg = Segment::new(seq, 1, ACK, 1 + draw(1000) as u16);
                seg.wnd = 8000;
                h.wait(Dur::from_ms(draw(3)));
                let out = h.segment(&seg);
                assert!(out.len() <= 1, "{preset} {seed}: {}", out.len());
                for s in out {
                    assert!(s.ack + u64::from(s.wnd) >= edge, "{preset} {seed}: {} after {edge}", s.ack + u64::from(s.wnd));
                    (edge, widest) = (s.ack + u64::from(s.wnd), widest.max(s.wnd));
                    assert!(s.wnd == 0 || s.wnd >= 1000.min(widest / 2), "{preset} {seed}: {}", s.wnd);
                }
            }
            let before = h.end.info().rcv_nxt;
            if edge > before + 60_000 {
                continue;
            }
            h.give(before, 1, ACK, (edge - before) as u16, 8000);
            assert_eq!(h.end.info().rcv_nxt, edge, "{preset} {seed}");
        }
    }
}

fn stamped(extra: &Value) -> Host {
    let p = with(json!({ "timestamps": true }), extra);
    let mut h = Host::new(&p, true);
    h.stamped((0, 0, flag::SYN, 0), 100);
    h.stamped((1, 1, ACK, 0), 110);
    assert_eq!(h.state(), "ESTABLISHED");
    h
}

/// RFC 7323 section 3.2: an option that was not negotiated is passed over, and the segment counts.
#[test]
fn rfc7323_section_3_2_not_negotiated() {
    let mut h = Host::open(&json!({}));
    let out = h.stamped((1, 1, ACK, 100), 5);
    assert_eq!((out.len(), out[0].ack, out[0].timestamps()), (1, 101, None));
    assert_eq!(h.stamped((101, 1, ACK, 100), 4)[0].ack, 201, "older: there is no PAWS");
}

/// RFC 7323 section 5.2: a RST leaves the state as it is: one that draws a challenge ACK sets no TS.Recent. A RST that answers a segment with a timestamp has
/// one, which echoes it and says nothing of its own; one that an application asks for has the usual one.
/// Also RFC 7323 section 3.2.
#[test]
fn rfc7323_section_5_2_resets() {
    let mut h = stamped(&json!({}));
    let out = h.stamped((50, 0, RST, 0), 5000);
    assert_eq!((out[0].flags, out[0].timestamps().unwrap().1, h.end.info().ts_recent), (ACK, 110, 110));

    let mut h = Host::new(&json!({ "timestamps": true }), true);
    let out = h.stamped((7, 9, ACK, 100), 4711);
    assert_eq!((out[0].flags, out[0].seq, out[0].timestamps()), (RST, 9, Some((0, 4711))));
    let out = h.give(7, 9, ACK, 100, 0);
    assert_eq!(out, [(RST, 9, 0, 0)]);
    // Linux answers without.
    let mut h = Host::new(&json!({ "preset": "linux" }), true);
    assert_eq!(h.stamped((7, 9, ACK, 100), 4711)[0].timestamps(), None);
}

/// RFC 7323 section 5.3: a timestamp is looked at when a segment arrives, not again when what was missing before it comes, however far TS.Recent is by then; PAWS comes
/// before the sequence number: an old duplicate beyond the window leaves no trace.
#[test]
fn rfc7323_section_5_3_once_and_first() {
    let mut h = stamped(&json!({}));
    assert_eq!(h.stamped((1001, 1, ACK, 1000), 120)[0].ack, 1);
    let out = h.stamped((1, 1, ACK, 1000), 500);
    assert_eq!((out[0].ack, h.delivered), (2001, 2000));
    // TS.Recent is 500; the segment of 120 was delivered.
    assert_eq!(h.end.info().ts_recent, 500);
    for (seq, stamp) in [(90_000, 400), (90_000, 600), (2001, 400)] {
        let out = h.stamped((seq, 1, ACK, 1000), stamp);
        assert_eq!((out.len(), out[0].ack, h.end.info().ts_recent), (1, 2001, 500), "{seq} {stamp}");
    }
}

/// RFC 7323 section 5.2: TS.Recent never goes back, whatever the order segments come in.
#[test]
fn rfc7323_section_5_2_never_older() {
    for seed in 1..40 {
        let mut h = stamped(&json!({}));
        let mut draw = numbers(seed);
        let mut last = 110;
        for n in 0..100 {
            let seq = (h.end.info().rcv_nxt + 1000 * draw(4)).saturating_sub(1000 * draw(3)).max(1);
            h.stamped((seq, 1, ACK, 1000), 110 + n + draw(30) as u32);
            let now = h.end.info().ts_recent;
            assert!(now >= last, "{seed}: {now} after {last}");
            last = now;
        }
    }
}

/// RFC 9293 section 3.4 (MUST-66): a RST that is next ends the connection though the window is shut: all that was offered has come, and nothing more was offered yet.
#[test]
fn rfc9293_section_3_4_a_reset_at_a_shut_window() {
    for preset in ["rfc", "linux"] {
        let mut h =
            Host::open(&json!({ "preset": preset, "timestamps": false, "eifel": false, "receive_window": null, "receive_buffer": "8KiB",
            "quick_acks": 0, "ack_every": 1000, "ack_delay": "500ms" }));
        let mut edge = 0;
        for _ in 0..20 {
            let nxt = h.end.info().rcv_nxt;
            if let Some(s) = h.segment(&data(nxt, 10)).first() {
                edge = s.ack + u64::from(s.wnd);
                break;
            }
            h.wait(Dur::from_secs(1));
            edge = h.call(|end, cx| end.on_timer(TimerId::DelAck, cx)).first().map_or(edge, |s| s.ack + u64::from(s.wnd));
        }
        let nxt = h.end.info().rcv_nxt;
        assert!(edge > nxt, "{preset}");
        h.segment(&data(nxt, edge - nxt));
        let shut = h.end.info().rcv_nxt;
        assert_eq!(h.give(shut, 0, RST, 0, 0), []);
        assert_eq!(h.state(), "CLOSED", "{preset}");
    }
}

fn data(seq: u64, bytes: u64) -> Segment {
    let mut s = Segment::new(seq, 1, ACK, bytes as u16);
    s.wnd = 8000;
    s
}

/// RFC 9293 section 3.5.3 (SHLD-2): a RST may have data, which is not delivered.
#[test]
fn rfc9293_section_3_5_3_a_reset_with_data() {
    let mut h = Host::open(&json!({}));
    assert_eq!(h.give(1, 0, RST, 100, 0), []);
    assert_eq!((h.state(), h.delivered), ("CLOSED", 0));
}
