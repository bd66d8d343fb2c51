//! TCP Fast Open (RFC 7413), two endpoints in memory: requests, cookies, data in the SYN, and the ways back to a plain handshake.

use crate::helpers::{ms, with};
use crate::pair::{Fate, Pair, params};
use fairlane_net::{Cookie, Endpoint, FastOpen, Segment, flag};
use fairlane_tcp::TcpParams;
use fairlane_units::{Dur, Time};
use serde_json::{Value, json};

const SYN: u8 = flag::SYN;
const ACK: u8 = flag::ACK;
/// Room for data in a SYN: a segment less the longest options.
const ROOM: u64 = 1460 - 40;

fn fast_open(more: Value) -> TcpParams {
    let table = with(json!({ "cc": "sack", "ack_every": 1, "fast_open": "cookie" }), &more);
    params(table)
}

fn option(byte: u8) -> FastOpen {
    FastOpen { cookie: Cookie::new(&[byte; 8]).unwrap(), experimental: false }
}

/// 10 ms each way; the server demands a cookie, and the client has the cookie `has`.
fn pair(p: &TcpParams, has: Option<FastOpen>) -> Pair {
    let mut pair = Pair::delayed(p, ms(10));
    pair.ends[1].set_cookie(option(7));
    if let Some(cookie) = has {
        pair.ends[0].set_cookie(cookie);
    }
    pair.start();
    pair
}

/// Time in ms, direction, flags, sequence and acknowledgment number, payload, length on the wire.
fn lines(p: &Pair) -> Vec<(u64, usize, u8, u64, u64, u16, u32)> {
    p.log.iter().map(|(t, d, s, len)| (t.as_ps() / 1_000_000_000, *d, s.flags, s.seq, s.ack, s.payload, *len)).collect()
}

fn syn(p: &Pair, n: usize) -> &Segment {
    &p.log.iter().filter(|l| l.1 == 0 && l.2.flags & SYN != 0).nth(n).unwrap().2
}

/// RFC 7413 section 3 "requesting a Fast Open cookie": the SYN asks, the SYN-ACK brings a cookie, data follows after the handshake.
#[test]
fn section_3_a_client_without_a_cookie_asks_for_one() {
    let mut p = pair(&fast_open(json!({})), None);
    p.write(0, 1000, true);
    p.run(Dur::from_secs(2));
    let expected = [
        (0, 0, SYN, 0, 0, 0, 52 + 4),
        (10, 1, SYN | ACK, 0, 1, 0, 52 + 12),
        (20, 0, ACK | flag::FIN, 1, 1, 1000, 1040),
        (30, 1, ACK | flag::FIN, 1, 1002, 0, 40),
        (40, 0, ACK, 1002, 2, 0, 40),
    ];
    assert_eq!(lines(&p), expected);
    assert_eq!(syn(&p, 0).fast_open(), Some(FastOpen::default()));
    assert_eq!(p.ends[0].new_cookie(), Some(option(7)));
    assert!(!p.ends[0].syn_data_acked() && !p.ends[1].syn_data_acked());
}

/// RFC 7413 section 3 "performing TCP Fast Open": data in the SYN arrives after half a round trip, the answer to it after one, before the handshake is over.
#[test]
fn section_3_data_in_the_syn_and_its_answer_save_a_round_trip() {
    let mut p = pair(&fast_open(json!({})), Some(option(7)));
    p.write(0, 1000, false);
    p.run_until(Time::ZERO + ms(10));
    assert_eq!(p.delivered, [0, 1000]);
    assert!(p.ends[1].is_early());
    p.write(1, 5000, false);
    p.run_until(Time::ZERO + ms(20));
    // The answer is there when the handshake of an ordinary connection would be over.
    assert_eq!(p.delivered, [5000, 1000]);
    p.run(Dur::from_secs(2));
    let expected = [
        (0, 0, SYN, 0, 0, 1000, 52 + 12 + 1000),
        (10, 1, SYN | ACK, 0, 1001, 0, 52),
        (10, 1, ACK, 1, 1001, 1460, 1500),
        (10, 1, ACK, 1461, 1001, 1460, 1500),
        (10, 1, ACK, 2921, 1001, 1460, 1500),
        (10, 1, ACK, 4381, 1001, 620, 660),
        (20, 0, ACK, 1001, 1, 0, 40),
        (20, 0, ACK, 1001, 1461, 0, 40),
        (20, 0, ACK, 1001, 2921, 0, 40),
        (20, 0, ACK, 1001, 4381, 0, 40),
    ];
    assert_eq!(lines(&p)[..10], expected);
    assert!(p.ends[0].syn_data_acked() && p.ends[1].syn_data_acked() && p.ends[1].established());
    assert_eq!((p.ends[0].view().acked, p.ends[1].view().acked), (1000, 5000));
    assert_eq!((p.ends[0].view().retransmits, p.ends[1].view().retransmits), (0, 0));
}

/// RFC 7413 section 4.2.1: the data of a SYN fits one segment less the room of options, whatever options there are; the rest follows with the SYN-ACK.
#[test]
fn section_4_2_1_a_syn_holds_a_segment_less_the_options() {
    for stamps in [false, true] {
        // Timestamps take 12 bytes of each segment, so that the MSS option says 1460 either way.
        let mss = if stamps { "1448B" } else { "1460B" };
        let mut p = pair(&fast_open(json!({ "mss": mss, "timestamps": stamps })), Some(option(7)));
        p.write(0, 10_000, true);
        p.run(Dur::from_secs(2));
        assert_eq!(u64::from(syn(&p, 0).payload), ROOM, "{stamps}");
        assert_eq!(p.log[2].0, Time::ZERO + ms(20));
        assert_eq!((p.log[2].2.seq, p.log[2].2.payload), (1 + ROOM, if stamps { 1448 } else { 1460 }));
        assert_eq!((p.delivered[1], p.ends[0].view().retransmits), (10_000, 0));
    }
    // Another MSS that the server announced before.
    let mut p = Pair::delayed(&fast_open(json!({})), ms(10));
    p.ends[1].set_cookie(option(7));
    p.ends[0].set_cookie(option(7));
    p.ends[0].limit_syn_data(900);
    p.start();
    p.write(0, 2000, false);
    assert_eq!(p.log[0].2.payload, 900);
    // A segment that has no room for data after the options.
    let mut p = pair(&fast_open(json!({ "mss": "40B" })), Some(option(7)));
    p.write(0, 100, true);
    p.run(Dur::from_secs(2));
    assert_eq!((p.log[0].2.payload, p.delivered[1]), (0, 100));
}

/// RFC 7413 section 4.2.2: a cookie that is not right (it expired) leaves the SYN alone acknowledged and brings the right one; the data goes out again at once,
/// as a retransmission that is no sign of congestion.
#[test]
fn section_4_2_2_a_wrong_cookie_costs_what_it_would_have_saved() {
    for preset in ["rfc", "linux"] {
        let mut p = pair(&fast_open(json!({ "preset": preset, "mss": "1460B", "timestamps": false, "eifel": false })), Some(option(9)));
        p.write(0, 5000, true);
        p.run_until(Time::ZERO + ms(20));
        assert_eq!((p.log[1].2.ack, p.log[1].2.fast_open()), (1, Some(option(7))), "{preset}");
        assert_eq!((p.ends[0].new_cookie(), p.ends[0].syn_data_acked()), (Some(option(7)), false));
        let again: Vec<_> = p.log[2..].iter().map(|l| (l.2.seq, l.2.payload, l.2.retransmission())).collect();
        assert_eq!(again[..2], [(1, ROOM as u16, true), (1 + ROOM, 1460, false)], "{preset}");
        p.run(Dur::from_secs(5));
        let v = p.ends[0].view();
        assert_eq!((p.delivered[1], v.retransmits, v.retransmit_bytes, v.timeouts, v.cwnd_cuts), (5000, 1, ROOM, 0, 0), "{preset}");
        assert_eq!(v.data_bytes, 5000 + ROOM);
        assert!(p.finished[0].is_some() && !p.alive());
    }
}

/// A server without Fast Open ignores the option: the connection opens as usual.
#[test]
fn a_server_without_fast_open_takes_neither_option_nor_data() {
    for has in [None, Some(option(7))] {
        let mut p = Pair::between(
            &fast_open(json!({})),
            &fast_open(json!({ "fast_open": "off" })),
            vec![crate::pair::Hop::delay(ms(10))],
            vec![crate::pair::Hop::delay(ms(10))],
        );
        if let Some(cookie) = has {
            p.ends[0].set_cookie(cookie);
        }
        p.start();
        p.write(0, 3000, true);
        p.run(Dur::from_secs(2));
        assert_eq!((p.log[1].2.ack, p.log[1].2.fast_open(), p.delivered[1]), (1, None, 3000));
        assert_eq!(p.ends[0].new_cookie(), None);
        assert_eq!(p.finished[0], Some(Time::ZERO + ms(40)));
    }
}

/// RFC 7413 section 4.2.1: a SYN that goes out again has neither cookie nor data, and what it carried follows the handshake (sections 2.3 and 3.1 of RFC 6298: no
/// measurement of what went out twice).
#[test]
fn section_4_2_1_a_syn_sent_again_is_plain() {
    for lost in ["syn", "answer"] {
        let mut p = pair(&fast_open(json!({})), Some(option(7)));
        p.script[usize::from(lost == "answer")] = Box::new(|n, _| if n == 0 { Fate::Drop } else { Fate::Pass });
        p.write(0, 1200, true);
        p.run(Dur::from_secs(10));
        let first = syn(&p, 0);
        assert_eq!((first.payload, first.fast_open()), (1200, Some(option(7))));
        let again = syn(&p, 1);
        assert_eq!((again.payload, again.fast_open(), again.retransmission()), (0, None, true), "{lost}");
        assert_eq!(p.delivered[1], 1200, "{lost}");
        // The server that has the data says so in each answer.
        assert_eq!(p.ends[0].syn_data_acked(), lost == "answer");
        assert_eq!(p.ends[0].view().retransmits, u64::from(lost == "syn"));
        assert!(p.finished[0].is_some() && !p.alive(), "{lost}");
        assert!(p.rtts.iter().all(|r| *r <= ms(1000)));
    }
}

/// The SYN's round trip is measured as usual, whether its data was accepted or not (RFC 6298 section 3).
#[test]
fn the_syn_with_data_is_timed() {
    for cookie in [option(7), option(9)] {
        let mut p = pair(&fast_open(json!({})), Some(cookie));
        p.write(0, 1000, false);
        p.run_until(Time::ZERO + ms(20));
        assert_eq!(p.rtts, [ms(20)]);
        assert_eq!(p.ends[0].view().srtt, ms(20));
    }
}

/// Without cookies data is in the very first SYN (RFC 7413 section 2.1 tells when that is safe); an empty one opens as ever.
#[test]
fn without_cookies_the_first_syn_has_data() {
    let mut p = pair(&fast_open(json!({ "fast_open": "no_cookie" })), None);
    p.write(0, 1000, true);
    p.run_until(Time::ZERO + ms(10));
    assert_eq!((syn(&p, 0).fast_open(), p.delivered[1], p.log[0].3), (None, 1000, 52 + 1000));
    p.run(Dur::from_secs(2));
    assert_eq!(p.log[1].2.fast_open(), None);
    assert!(p.finished[0].is_some());
    let mut p = pair(&fast_open(json!({ "fast_open": "no_cookie" })), None);
    p.write(0, 0, false);
    p.run_until(Time::ZERO + ms(10));
    assert!(!p.ends[1].is_early());
    p.write(0, 2000, true);
    p.run(Dur::from_secs(2));
    assert_eq!(p.delivered[1], 2000);
}

/// Both ends open at once with data in their SYNs (RFC 7413 section 4.2: as in RFC 9293 section 3.5, figure 7): the data of neither SYN is taken, and both
/// arrive.
#[test]
fn simultaneous_open_with_data_on_both_sides() {
    let p = fast_open(json!({}));
    let end = || fairlane_tcp::Tcp::pair(&p, fairlane_net::Class(0)).unwrap().0;
    let hop = || vec![crate::pair::Hop::delay(ms(10))];
    let mut p = Pair::of(end(), end(), hop(), hop());
    for e in &mut p.ends {
        e.set_cookie(option(7));
    }
    p.start();
    p.write(0, 3000, true);
    p.write(1, 2000, true);
    p.run(Dur::from_secs(10));
    let answers: Vec<_> = p.log.iter().filter(|l| l.2.flags == SYN | ACK).map(|l| (l.2.ack, l.2.payload)).collect();
    assert_eq!(answers, [(1, 0), (1, 0)]);
    assert_eq!(p.delivered, [2000, 3000]);
    assert!(!p.alive());
}

/// RFC 9293 section 3.10.7.3: an answer to what was not sent does not open the connection.
#[test]
fn an_answer_beyond_what_was_sent_opens_nothing() {
    let mut p = pair(&fast_open(json!({})), Some(option(7)));
    p.write(0, 100, false);
    for ack in [0, 102, 100_101] {
        let mut bad = Segment::new(0, ack, SYN | ACK, 0);
        bad.wnd = 65_535;
        p.call(0, |e, cx| e.on_packet(&bad, cx));
        assert!(!p.ends[0].established(), "{ack}");
    }
    // One that covers part of the data leaves the rest to be sent again.
    let mut part = Segment::new(0, 41, SYN | ACK, 0);
    part.wnd = 65_535;
    p.call(0, |e, cx| e.on_packet(&part, cx));
    let last = p.log.last().unwrap().2;
    assert_eq!((last.seq, last.payload, last.retransmission()), (41, 60, true));
}

/// The answer to the SYN may have data and FIN of its own (RFC 9293 section 3.4).
#[test]
fn data_in_the_answer_is_taken() {
    let mut p = pair(&fast_open(json!({})), Some(option(7)));
    p.write(0, 100, false);
    let mut answer = Segment::new(0, 101, SYN | ACK | flag::FIN, 500);
    answer.wnd = 65_535;
    p.call(0, |e, cx| e.on_packet(&answer, cx));
    assert_eq!(p.delivered[0], 500);
    assert_eq!(p.log.last().unwrap().2.ack, 502);
}

/// Whatever is lost, everything arrives once and both ends close, under all presets with a three-way handshake, with and without ECN.
#[test]
fn everything_arrives_whatever_is_lost() {
    for preset in ["rfc", "ns3", "linux"] {
        for ecn in ["off", "classic", "accecn"] {
            for lost in 0..8_u64 {
                for cookie in [None, Some(option(7)), Some(option(9))] {
                    for dir in [0, 1] {
                        let mut p = pair(&fast_open(json!({ "preset": preset, "ecn": ecn })), cookie);
                        p.script[dir] = Box::new(move |n, _| if n == lost { Fate::Drop } else { Fate::Pass });
                        p.write(0, 20_000, true);
                        while p.step() {
                            for e in &p.ends {
                                assert_eq!(e.audit(), Ok(()), "{preset} {ecn} {lost} {dir}");
                            }
                        }
                        assert_eq!(p.delivered, [0, 20_000], "{preset} {ecn} {lost} {dir}");
                        assert!(p.finished[0].is_some() && !p.alive(), "{preset} {ecn} {lost} {dir}");
                    }
                }
            }
        }
    }
}

/// Options of a SYN fit the 40 bytes that a TCP header has for them (RFC 9293 section 3.1): MSS, timestamps, SACK permitted, window scale and a cookie of 16 bytes.
#[test]
fn the_longest_cookie_fits() {
    let cookie = Cookie::new(&[1; 16]).unwrap();
    for (experimental, size) in [(false, 18_u32), (true, 20)] {
        let option = FastOpen { cookie, experimental };
        assert_eq!(option.size(), size);
        assert_eq!(4 + 12 + 4 + option.size().next_multiple_of(4), 40);
    }
}

/// RFC 7413 section 4.2.2: the application of the server has the connection before the handshake ends; a RST ends it, it does not go back to LISTEN.
#[test]
fn section_4_2_2_a_reset_before_the_handshake_ends() {
    let mut p = pair(&fast_open(json!({})), Some(option(7)));
    p.write(0, 100, false);
    p.run(ms(15));
    assert!(p.ends[1].is_early());
    let (timers, now) = (&mut fairlane_net::Timers::default(), Time::ZERO + ms(16));
    let mut out = Vec::new();
    p.ends[1].on_packet(&Segment::new(101, 0, flag::RST, 0), &mut fairlane_net::Cx::new(now, &mut out, timers));
    assert_eq!((p.ends[1].info().state, out.len()), ("CLOSED", 0));
}
