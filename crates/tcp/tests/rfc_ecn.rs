//! Requirements of RFC 3168 and RFC 9768 that no other test covers, on single ends with handwritten segments.

use crate::arrivals::Host;
use crate::helpers::with;
use fairlane_net::{Ecn, Endpoint, Segment, TimerId, flag};
use fairlane_units::Dur;
use serde_json::{Value, json};

const SYN: u8 = flag::SYN;
const ACK: u8 = flag::ACK;
const OFFER: u8 = flag::ECE | flag::CWR;

/// A segment with an ECN field and the three flags of ECN, AE first.
fn segment((seq, ack, flags, payload): (u64, u64, u8, u16), ecn: Ecn, ace: u8) -> Segment {
    let mut s = Segment::new(seq, ack, flags, payload);
    s.wnd = 60_000;
    s.set_ecn(ecn);
    s.set_ace(ace);
    s
}

fn host(ecn: &str, passive: bool) -> Host {
    Host::new(&json!({ "cc": "sack", "ecn": ecn, "initial_window": "20p" }), passive)
}

/// An end that was called, with the handshake done: ECN in use.
fn open(ecn: &str, extra: &Value) -> Host {
    let p = with(json!({ "cc": "sack", "ecn": ecn, "initial_window": "20p" }), extra);
    let mut h = Host::new(&p, true);
    let accurate = ecn == "accecn";
    h.segment(&segment((0, 0, SYN, 0), Ecn::NotEct, if accurate { 0b111 } else { 0b011 }));
    h.segment(&segment((1, 1, ACK, 0), Ecn::NotEct, if accurate { 0b010 } else { 0 }));
    assert_eq!(h.state(), "ESTABLISHED");
    h
}

/// RFC 3168 section 6.1.5: a mark on data outside of the window, before it or beyond, is not echoed; one on data within is.
#[test]
fn rfc3168_section_6_1_5_marks_outside_of_the_window() {
    let mut h = open("classic", &json!({}));
    h.segment(&segment((1, 1, ACK, 1000), Ecn::Ect0, 0));
    for seq in [1, 90_000] {
        let out = h.segment(&segment((seq, 1, ACK, 1000), Ecn::Ce, 0));
        assert!(out.len() == 1 && !out[0].has(flag::ECE), "{seq}");
    }
    assert_eq!(h.end.view().ce_received, 0);
    let out = h.segment(&segment((1001, 1, ACK, 1000), Ecn::Ce, 0));
    assert!(out[0].has(flag::ECE) && h.end.view().ce_received == 1);
}

/// RFC 3168 section 6.1.1: an end that wants no ECN clears both flags; each form of a SYN or SYN-ACK that is no offer, or no answer to one, leaves the connection
/// without ECN, and no SYN-ACK agrees to what was not offered.
/// Also RFC 9768 section 3.1.5.
#[test]
fn rfc3168_section_6_1_1_what_is_no_offer() {
    for flags in [0, flag::ECE, flag::CWR] {
        let mut h = host("classic", true);
        let out = h.segment(&segment((0, 0, SYN | flags, 0), Ecn::NotEct, flags >> 6));
        assert_eq!(out[0].flags, SYN | ACK, "{flags:08b}");
        h.give(1, 1, ACK, 0, 60_000);
        let out = h.call(|end, cx| end.on_write(5000, false, cx));
        assert!(out.len() == 5 && out.iter().all(|s| s.ecn() == Ecn::NotEct));
    }
    for flags in [0, flag::CWR, OFFER] {
        let mut h = host("classic", false);
        h.segment(&segment((0, 1, SYN | ACK | flags, 0), Ecn::NotEct, flags >> 6));
        let out = h.call(|end, cx| end.on_write(5000, false, cx));
        assert!(out.len() == 5 && out.iter().all(|s| s.ecn() == Ecn::NotEct), "{flags:08b}");
    }
    let mut h = host("off", true);
    let answer = h.segment(&segment((0, 0, SYN | OFFER, 0), Ecn::NotEct, 0b011))[0];
    assert_eq!((answer.flags, answer.ace()), (SYN | ACK, 0));
    let mut h = host("off", false);
    let offer = h.call(|end, cx| end.on_timer(TimerId::Rto, cx))[0];
    assert_eq!((offer.flags, offer.ace()), (SYN, 0));
}

/// RFC 3168 section 6.1.2: CWR is on the first new data after the cut, not on a retransmission; section 6.1.6: nor on a probe of a shut window, which is not ECT.
#[test]
fn rfc3168_section_6_1_6_no_cwr_on_a_probe() {
    let mut h = open("classic", &json!({ "rto_min": "1s" }));
    h.call(|end, cx| end.on_write(10_000, false, cx));
    // An echo cuts the window; before new data can go the peer shuts its own.
    let mut shut = segment((1, 10_001, ACK, 0), Ecn::NotEct, 0b001);
    shut.flags |= flag::ECE;
    shut.wnd = 0;
    h.segment(&shut);
    assert_eq!(h.end.view().ecn_cuts, 1);
    h.call(|end, cx| end.on_write(10_000, false, cx));
    h.now = h.timers.get(TimerId::Rto).unwrap();
    let probe = h.call(|end, cx| end.on_timer(TimerId::Rto, cx))[0];
    assert_eq!((probe.payload, probe.ecn(), probe.has(flag::CWR)), (1, Ecn::NotEct, false));
    let out = h.segment(&segment((1, 10_002, ACK, 0), Ecn::NotEct, 0));
    let cwr: Vec<bool> = out.iter().filter(|s| s.payload != 0).map(|s| s.has(flag::CWR)).collect();
    assert!(cwr[0] && cwr[1..].iter().all(|c| !c), "{cwr:?}");
}

/// RFC 9768 section 3.1.3: an answer with AE and ECE, reserved today, is AccECN to a client that asked for it. One that asked for RFC 3168 sees ECE alone.
#[test]
fn rfc9768_section_3_1_3_reserved_answer() {
    for (ecn, ace) in [("accecn", 5), ("classic", 0)] {
        let mut h = host(ecn, false);
        h.segment(&segment((0, 1, SYN | ACK, 0), Ecn::NotEct, 0b101));
        let out = h.call(|end, cx| end.on_write(2000, false, cx));
        assert!(out.iter().all(|s| s.ecn() == Ecn::Ect0 && s.ace() == ace), "{ecn} {:?}", out[0].ace());
    }
}

/// RFC 9768 section 3.1.5: a SYN that comes again does not change the mode; its answer reports the ECN field of the latest. One without offer is still answered as AccECN,
/// and from then on the server sends no ECT; it continues to report marks.
#[test]
fn rfc9768_section_3_1_5_syns_that_come_again() {
    let mut h = host("accecn", true);
    let mut answer = |ecn: Ecn, offer: u8| {
        let out = h.segment(&segment((0, 0, SYN, 0), ecn, offer));
        (out[0].flags & !(flag::ECE | flag::CWR), out[0].ace())
    };
    assert_eq!(answer(Ecn::NotEct, 0b111), (SYN | ACK, 0b010));
    assert_eq!(answer(Ecn::Ce, 0b111), (SYN | ACK, 0b110));
    assert_eq!(answer(Ecn::Ect0, 0b111), (SYN | ACK, 0b100));
    assert_eq!(answer(Ecn::NotEct, 0b000), (SYN | ACK, 0b010));
    h.segment(&segment((1, 1, ACK, 0), Ecn::NotEct, 0b010));
    let out = h.call(|end, cx| end.on_write(3000, false, cx));
    assert!(out.len() == 3 && out.iter().all(|s| s.ecn() == Ecn::NotEct && s.ace() == 5));
    assert_eq!(h.segment(&segment((1, 1, ACK, 500), Ecn::Ce, 5))[0].ace(), 6);

    // Without ECN from the first SYN on, a later offer is answered without.
    let mut h = host("accecn", true);
    assert_eq!(h.segment(&segment((0, 0, SYN, 0), Ecn::NotEct, 0))[0].ace(), 0);
    assert_eq!(h.segment(&segment((0, 0, SYN, 0), Ecn::NotEct, 0b111))[0].ace(), 0);
    h.segment(&segment((1, 1, ACK, 500), Ecn::Ect0, 0));
    let out = h.call(|end, cx| end.on_write(1000, false, cx));
    assert!(out.iter().all(|s| s.ecn() == Ecn::NotEct && s.ace() == 0), "ECT that arrives says nothing of the peer");
}

/// RFC 9768 sections 3.1.4.1 and 3.1.5: a SYN that is sent again offers AccECN again, never RFC 3168, with the same number.
/// Also RFC 9768 sections 3.1.1 and 3.1.3.
#[test]
fn rfc9768_section_3_1_4_1_the_offer_again() {
    let mut h = host("accecn", false);
    for _ in 0..3 {
        h.wait(Dur::from_secs(3));
        let out = h.call(|end, cx| end.on_timer(TimerId::Rto, cx));
        assert_eq!((out[0].flags & SYN, out[0].seq, out[0].ace(), out[0].ecn()), (SYN, 0, 0b111, Ecn::NotEct));
    }
}

/// RFC 9768 section 3.2.2.1: the acknowledgment of a SYN-ACK that comes again reports its ECN field, too, and r.cep counts one marked SYN-ACK however many there are
/// (section 3.2.2.2); section 3.2.2: on a SYN-ACK the flags are no counter, which would be far ahead here, nor do they change the mode (section 3.1.5).
#[test]
fn rfc9768_section_3_2_2_1_answers_that_come_again() {
    let mut h = host("accecn", false);
    let mut third = |ecn: Ecn, answer: u8| {
        let out = h.segment(&segment((0, 1, SYN | ACK, 0), ecn, answer));
        (out.len(), out[0].flags & !(flag::ECE | flag::CWR), out[0].ace())
    };
    assert_eq!(third(Ecn::NotEct, 0b100), (1, ACK, 0b010));
    assert_eq!(third(Ecn::Ce, 0b001), (1, ACK, 0b110));
    assert_eq!(third(Ecn::Ce, 0b001), (1, ACK, 0b110));
    assert_eq!(third(Ecn::Ect1, 0b000), (1, ACK, 0b011));
    let out = h.call(|end, cx| end.on_write(1000, false, cx));
    assert_eq!((out[0].payload, out[0].ace()), (1000, 6));
    assert_eq!(h.end.view().ecn_cuts, 0);
}

/// RFC 9768 section 3.2.2.1, table 4: what the server makes of the last step of the handshake. Zero: it sends no ECT and answers no marks, but reports those it
/// sees. A marked SYN-ACK counts for s.cep, so that the counter that follows tells of nothing new; all else begins at 5.
/// Also RFC 9768 sections 3.2.2.2, 3.2.2.3 and 3.2.2.4.
#[test]
fn rfc9768_section_3_2_2_1_table_4() {
    for (ace, capable, next, cut) in [
        (0b000, false, 0b111, false),
        (0b001, true, 5, false),
        (0b010, true, 5, false),
        (0b011, true, 6, true),
        (0b100, true, 5, false),
        (0b101, true, 5, false),
        (0b110, true, 6, false),
        (0b110, true, 7, true),
        (0b111, true, 6, true),
    ] {
        let mut h = host("accecn", true);
        h.segment(&segment((0, 0, SYN, 0), Ecn::NotEct, 0b111));
        h.segment(&segment((1, 1, ACK, 0), Ecn::NotEct, ace));
        assert_eq!(h.state(), "ESTABLISHED");
        let out = h.call(|end, cx| end.on_write(20_000, false, cx));
        assert!(out.iter().all(|s| s.ecn().capable() == capable), "{ace:03b}");
        h.segment(&segment((1, 2001, ACK, 0), Ecn::NotEct, next));
        assert_eq!(h.end.view().ecn_cuts == 1, cut, "{ace:03b} {next:03b}");
        assert_eq!(h.segment(&segment((1, 2001, ACK, 100), Ecn::Ce, next))[0].ace(), 6, "{ace:03b}");
    }
}

/// RFC 9768 section 3.2: r.cep counts each packet that is acceptable and marked, with data or without, sent again or not; not those outside of the window, nor SYNs. What
/// is reported is the latest count, also with data and with what is sent again; CWR tells nothing there (section 3.1.5).
/// Also RFC 9768 sections 3.2.2 and 3.2.2.2.
#[test]
fn rfc9768_section_3_2_what_counts() {
    let mut h = host("accecn", true);
    h.segment(&segment((0, 0, SYN, 0), Ecn::Ce, 0b111));
    h.segment(&segment((1, 1, ACK, 0), Ecn::NotEct, 0b010));
    let mut count = |s: Segment| {
        h.segment(&s);
        let out = h.call(|end, cx| end.on_write(1, false, cx));
        out[0].ace()
    };
    assert_eq!(count(segment((1, 1, ACK, 100), Ecn::Ce, 5)), 6, "data; the SYN counted for nothing");
    assert_eq!(count(segment((101, 1, ACK, 0), Ecn::Ce, 5)), 7, "an acknowledgment");
    assert_eq!(count(segment((201, 1, ACK, 100), Ecn::Ce, 5)), 0, "out of order; modulo 8");
    assert_eq!(count(segment((101, 1, ACK, 100), Ecn::Ce, 5)), 1, "what fills the hole");
    assert_eq!(count(segment((1, 1, ACK, 100), Ecn::Ce, 5)), 1, "seen before");
    assert_eq!(count(segment((90_000, 1, ACK, 100), Ecn::Ce, 5)), 1, "beyond the window");
    h.now = h.timers.get(TimerId::Rto).unwrap();
    let again = h.call(|end, cx| end.on_timer(TimerId::Rto, cx))[0];
    assert!(again.retransmission());
    assert_eq!(again.ace(), 1);
}

/// RFC 9768 section 3.2.2.5.2: a counter that rose by more than the packets newly acknowledged is believed; section 3.2.2.4: any first value but zero is taken as a
/// counter.
#[test]
fn rfc9768_section_3_2_2_5_2_more_marks_than_packets() {
    let mut h = open("accecn", &json!({ "cc": "dctcp" }));
    h.call(|end, cx| end.on_write(20_000, false, cx));
    h.segment(&segment((1, 1001, ACK, 0), Ecn::NotEct, 0));
    // Three marks for one segment: all of it was marked, and the count stands at eight.
    assert_eq!(h.end.view().ce_delivered, 1000);
    h.segment(&segment((1, 2001, ACK, 0), Ecn::NotEct, 0));
    assert_eq!(h.end.view().ce_delivered, 1000);
    h.segment(&segment((1, 3001, ACK, 0), Ecn::NotEct, 1));
    assert_eq!(h.end.view().ce_delivered, 2000);
}

/// RFC 9768 section 3.1.2: where both ends open, an end answers the other's SYN as one that was called would, and is in that mode.
#[test]
fn rfc9768_section_3_1_2_simultaneous_open() {
    for (offer, ecn, answer, ace) in
        [(0b111, Ecn::Ce, 0b110, 5), (0b111, Ecn::NotEct, 0b010, 5), (0b011, Ecn::NotEct, 0b001, 0), (0b000, Ecn::NotEct, 0b000, 0)]
    {
        let (mut opener, mut called) = (host("accecn", false), host("accecn", true));
        let syn = segment((0, 0, SYN, 0), ecn, offer);
        let (one, other) = (opener.segment(&syn)[0], called.segment(&syn)[0]);
        assert_eq!((one.flags, one.ace()), (other.flags, other.ace()), "{offer:03b}");
        assert_eq!(one.ace(), answer);
        opener.segment(&segment((1, 1, ACK, 0), Ecn::NotEct, 0b010));
        assert_eq!(opener.state(), "ESTABLISHED");
        let out = opener.call(|end, cx| end.on_write(1000, false, cx))[0];
        assert_eq!((out.ace(), out.ecn().capable()), (ace, offer != 0), "{offer:03b}");
    }
}

/// RFC 9768 section 3.2.2.2: the report of a marked SYN leaves s.cep at 5: the counter that follows tells of nothing new. Section 3.2.2.3: a field that changed on the way,
/// as here, leaves the mode as it is, and marks are reported.
#[test]
fn rfc9768_section_3_2_2_2_a_marked_syn() {
    let mut h = host("accecn", false);
    h.segment(&segment((0, 1, SYN | ACK, 0), Ecn::NotEct, 0b110));
    h.call(|end, cx| end.on_write(20_000, false, cx));
    h.segment(&segment((1, 2001, ACK, 0), Ecn::NotEct, 5));
    assert_eq!(h.end.view().ecn_cuts, 0);
    h.segment(&segment((1, 4001, ACK, 0), Ecn::NotEct, 6));
    assert_eq!(h.end.view().ecn_cuts, 1);
    assert_eq!(h.segment(&segment((1, 4001, ACK, 100), Ecn::Ce, 6))[0].ace(), 6);
}
