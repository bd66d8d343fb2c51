//! Accurate ECN feedback against the tables and rules of RFC 9768.

use crate::helpers::{at, ms, with};
use crate::pair::{Fate, Hop, Pair, params};
use fairlane_net::{Ecn, Endpoint, Segment, flag};
use serde_json::{Value, json};

fn tcp(ecn: &str) -> fairlane_tcp::TcpParams {
    params(json!({ "cc": "sack", "ecn": ecn, "mss": "1000B", "ecn_plus": true }))
}

fn between(a: &str, b: &str) -> Pair {
    let mut p = Pair::between(&tcp(a), &tcp(b), vec![Hop::delay(ms(50))], vec![Hop::delay(ms(50))]);
    p.start();
    p.write(0, 20_000, false);
    p
}

/// Gives the first segment of a direction that ECN field.
fn arrive(p: &mut Pair, end: usize, ecn: Ecn) {
    let i = p.log.iter().position(|l| l.1 == 1 - end).unwrap();
    let mut seg = p.log[i].2;
    seg.set_ecn(ecn);
    p.call(end, |e, cx| e.on_packet(&seg, cx));
}

/// Section 3.1.1, table 2: offer and answer, and what each end makes of the other. The answer is read as AE, CWR, ECE.
/// Also RFC 9768 sections 3.1.2, 3.1.3 and 3.1.5.
#[test]
fn rfc9768_table2_negotiation() {
    // (A, B, field of the SYN, field of the SYN-ACK; ECN in the data, AccECN in it)
    let rows = [
        ("accecn", "accecn", 0b111, 0b100, true, true),
        ("accecn", "classic", 0b111, 0b001, true, false),
        ("classic", "accecn", 0b011, 0b001, true, false),
        ("accecn", "off", 0b111, 0b000, false, false),
        ("off", "accecn", 0b000, 0b000, false, false),
        ("classic", "classic", 0b011, 0b001, true, false),
    ];
    for (a, b, syn, answer, ecn, accurate) in rows {
        let mut p = between(a, b);
        p.run_until(at(600));
        assert_eq!((p.log[0].2.ace(), p.log[1].2.ace()), (syn, answer), "{a} {b}");
        let data: Vec<Segment> = p.log.iter().filter(|l| l.2.payload > 0).map(|l| l.2).collect();
        assert_eq!(data.len(), 20);
        assert!(data.iter().all(|s| s.ecn().capable() == ecn), "{a} {b}");
        // Counters start at 5 (section 3.2.1).
        assert!(data.iter().all(|s| s.ace() == if accurate { 5 } else { 0 }), "{a} {b}");
    }
}

/// Section 3.1.1, table 2, first block, and section 3.2.2.1, table 3: the SYN's ECN field comes back in the SYN-ACK, the SYN-ACK's in the last step.
/// Also RFC 9768 sections 3.1.3 and 3.1.5.
#[test]
fn rfc9768_handshake_encoding() {
    for (ecn, ace) in [(Ecn::NotEct, 0b010), (Ecn::Ect1, 0b011), (Ecn::Ect0, 0b100), (Ecn::Ce, 0b110)] {
        let mut p = between("accecn", "accecn");
        arrive(&mut p, 1, ecn);
        let answer = p.log.iter().find(|l| l.1 == 1).unwrap().2;
        assert_eq!((answer.flags & !(flag::ECE | flag::CWR), answer.ace()), (flag::SYN | flag::ACK, ace));

        arrive(&mut p, 0, ecn);
        let third = p.log.iter().filter(|l| l.1 == 0).nth(1).unwrap().2;
        assert_eq!((third.flags & !(flag::ECE | flag::CWR), third.payload, third.ace()), (flag::ACK, 0, ace));
        // r.cep counts a marked SYN-ACK.
        let data = p.log.iter().find(|l| l.2.payload > 0).unwrap().2;
        assert_eq!(data.ace(), if ecn == Ecn::Ce { 6 } else { 5 });
    }
}

/// Section 3.1.2: what is not yet defined is answered as AccECN; 0b111 in an answer is the offer thrown back, 0b101 is reserved and AccECN (section 3.1.3).
#[test]
fn rfc9768_undefined_fields() {
    for (syn, answer) in [(0b001, 0b010), (0b010, 0b010), (0b100, 0b010), (0b101, 0b010), (0b110, 0b010), (0b111, 0b010), (0b011, 0b001)] {
        let mut p = Pair::delayed(&tcp("accecn"), ms(50));
        p.start();
        let mut seg = Segment::new(0, 0, flag::SYN, 0);
        seg.set_ace(syn);
        p.call(1, |e, cx| e.on_packet(&seg, cx));
        assert_eq!(p.log.iter().find(|l| l.1 == 1).unwrap().2.ace(), answer, "{syn:03b}");
    }
    for (answer, ecn, ace) in [(0b111, false, 0), (0b000, false, 0), (0b101, true, 5), (0b001, true, 0), (0b010, true, 5), (0b110, true, 5)]
    {
        let mut p = between("accecn", "off");
        let mut seg = Segment::new(0, 1, flag::SYN | flag::ACK, 0);
        (seg.wnd, _) = (65_535, seg.set_ace(answer));
        p.call(0, |e, cx| e.on_packet(&seg, cx));
        let data = p.log.iter().find(|l| l.2.payload > 0).unwrap().2;
        assert_eq!((data.ecn().capable(), data.ace()), (ecn, ace), "{answer:03b}");
    }
}

/// A flow whose window stays at 20 segments whatever is marked.
fn flow(extra: &Value) -> Pair {
    let j = with(
        json!({ "cc": "dctcp", "ecn": "accecn", "mss": "1000B", "ack_every": 2, "initial_window": "20p", "initial_ssthresh": "2p" }),
        extra,
    );
    let mut p = Pair::delayed(&params(j), ms(50));
    p.start_endless();
    p
}

/// Section 3.2.2.5.1: an acknowledgment with the first mark after none and with every second mark; the field counts modulo 8.
/// Also RFC 9768 section 3.2.2.2.
#[test]
fn rfc9768_acknowledgments_and_wrap() {
    let mut p = flow(&json!({}));
    p.mark_data(&[0, 3, 4, 5, 6, 7, 8, 9, 10, 11], &[]);
    p.run_until(at(199));
    let acks: Vec<(u64, u8)> =
        p.log.iter().filter(|l| l.1 == 1 && !l.2.has(flag::SYN)).map(|l| ((l.2.ack - 1) / 1000, l.2.ace())).collect();
    // The first mark at once; 1 and 2 unmarked as usual; 3 at once (a change); then each second mark.
    assert_eq!(acks[..7], [(1, 6), (3, 6), (4, 7), (6, 1), (8, 3), (10, 5), (12, 7)]);
    assert_eq!(p.ends[1].view().ce_received, 10);
}

/// Every mark is reported once, whatever becomes of the acknowledgments, as long as fewer than 8 packets go unreported between two that arrive (section
/// 3.2.2.5); beyond that the estimate errs towards more marks, not fewer.
/// Also RFC 9768 sections 3.2.2.5.2 and 3.2.3.2.3.
#[test]
fn rfc9768_lost_acknowledgments() {
    for lost in [0, 2, 4] {
        let mut p = flow(&json!({}));
        let marked: Vec<u64> = (0..400).filter(|n| n % 5 == 1).collect();
        p.mark_data(&marked, &[]);
        // Of each `lost + 1` acknowledgments one arrives.
        p.script[1] = Box::new(move |n, s| if s.has(flag::SYN) || n % (lost + 1) == 0 { Fate::Pass } else { Fate::Drop });
        p.run_until(at(4000));
        let (told, seen) = (p.ends[0].view().ce_delivered, p.ends[1].view().ce_received * 1000);
        if lost < 4 {
            assert!(told <= seen && seen - told <= 4000, "{lost}: {told} {seen}");
        } else {
            assert!(told + 4000 >= seen, "{told} {seen}");
        }
    }
}
