//! Explicit congestion notification against the rules of RFC 3168 and RFC 8257.

use crate::helpers::{at, ms, with};
use crate::pair::{Hop, Pair, params};
use fairlane_net::{Ecn, Endpoint, Segment, flag};
use fairlane_units::{Dur, Time};
use serde_json::{Value, json};

/// A flow with a window of 20 segments of 1000 bytes and a round trip of 100 ms, in congestion avoidance from the start. Data segment n of the
/// first window leaves at 100 ms, of the second at 200 ms; those listed are marked.
fn steady(extra: &Value, marked: &[u64]) -> Pair {
    let j = json!({ "cc": "newreno", "ecn": "classic", "mss": "1000B", "ack_every": 1, "initial_window": "20p", "initial_ssthresh": "2p" });
    let mut p = Pair::delayed(&params(with(j, extra)), ms(50));
    p.mark_data(marked, &[]);
    p.start_endless();
    p
}

fn data(p: &Pair) -> Vec<Segment> {
    p.log.iter().filter(|l| l.1 == 0 && l.2.payload > 0).map(|l| l.2).collect()
}

fn acks(p: &Pair) -> Vec<(Time, Segment)> {
    p.log.iter().filter(|l| l.1 == 1).map(|l| (l.0, l.2)).collect()
}

fn number(s: &Segment) -> u64 {
    (s.seq - 1) / 1000
}

const OFFER: u8 = flag::ECE | flag::CWR;

/// RFC 3168 section 6.1.1: SYN with ECE and CWR, SYN-ACK with ECE, neither with ECT; section 5: ECT(0) on data, 6.1.4: none on pure
/// acknowledgments.
/// Also RFC 3168 sections 5.2, 6.1.2 and 6.1.4; RFC 9293 section 3.8.2.
#[test]
fn rfc3168_negotiation() {
    let p = {
        let mut p = steady(&json!({}), &[]);
        p.run_until(at(400));
        p
    };
    assert_eq!((p.log[0].2.flags, p.log[0].2.ecn()), (flag::SYN | OFFER, Ecn::NotEct));
    assert_eq!((p.log[1].2.flags, p.log[1].2.ecn()), (flag::SYN | flag::ACK | flag::ECE, Ecn::NotEct));
    assert!(data(&p).len() > 50 && data(&p).iter().all(|s| s.ecn() == Ecn::Ect0 && s.flags == flag::ACK));
    assert!(p.log.iter().skip(2).filter(|l| l.2.payload == 0).all(|l| l.2.ecn() == Ecn::NotEct && l.2.flags == flag::ACK));
}

/// Section 6.1.1: only what both ends want is used, and an offer thrown back is none.
#[test]
fn rfc3168_needs_both_ends() {
    let run = |a: &str, b: &str| {
        let p = |ecn: &str| params(json!({ "cc": "newreno", "ecn": ecn }));
        let mut pair = Pair::between(&p(a), &p(b), vec![Hop::delay(ms(50))], vec![Hop::delay(ms(50))]);
        pair.start();
        pair.write(0, 100_000, true);
        pair.run(Dur::from_secs(5));
        assert_eq!(pair.delivered[1], 100_000);
        data(&pair).iter().all(|s| s.ecn() == Ecn::Ect0)
    };
    assert!(run("classic", "classic"));
    assert!(!run("classic", "off"));
    assert!(!run("off", "classic"));

    let mut p = Pair::delayed(&params(json!({ "cc": "newreno", "ecn": "classic" })), ms(50));
    p.start();
    let mut back = Segment::new(0, 1, flag::SYN | flag::ACK | OFFER, 0);
    back.wnd = 65_535;
    p.call(0, |e, cx| e.on_packet(&back, cx));
    p.write(0, 5000, false);
    assert!(data(&p).iter().all(|s| s.ecn() == Ecn::NotEct));
}

/// Without a handshake both ends use ECN.
#[test]
fn ecn_without_handshake() {
    let mut p = steady(&json!({ "handshake": false }), &[5]);
    p.run_until(at(350));
    assert_eq!(p.ends[0].view().ecn_cuts, 1);
}

/// Section 6.1.3: ECE on every acknowledgment from the mark on until CWR arrives; section 6.1.2: the window halves once, CWR is on the first new data
/// after it.
/// Also RFC 3168 sections 5 and 6.1.1.
#[test]
fn rfc3168_echo_until_cwr() {
    let mut p = steady(&json!({}), &[20]);
    p.run_until(at(301));
    // Marked at 200 ms, echoed from 250 on, heard at 300: after 19 acknowledgments more the window is nearly 21.
    let v = p.ends[0].view();
    assert_eq!((v.ecn_cuts, v.cwnd_cuts, v.fast_recoveries, v.retransmits), (1, 1, 0, 0));
    assert!((10_000..=10_600).contains(&v.ssthresh), "{v:?}");
    p.run_until(at(700));
    let cwr: Vec<u64> = data(&p).iter().filter(|s| s.has(flag::CWR)).map(number).collect();
    // 40 segments were sent before the cut.
    assert_eq!(cwr, [40]);
    let echo: Vec<u64> = acks(&p).iter().filter(|a| a.1.has(flag::ECE) && !a.1.has(flag::SYN)).map(|a| (a.1.ack - 1) / 1000).collect();
    assert_eq!(echo, (21..=40).collect::<Vec<_>>());
    assert_eq!(p.ends[0].view().ecn_cuts, 1);
    assert_eq!(p.ends[1].view().ce_received, 1);
}

/// Section 6.1.2: an acknowledgment with ECE does not grow the window, in slow start as well.
#[test]
fn rfc3168_no_growth_on_echo() {
    let mut p = steady(&json!({ "initial_window": "10p", "initial_ssthresh": null }), &[10]);
    p.run_until(at(399));
    let cut = p.ends[0].view();
    assert_eq!((cut.ecn_cuts, cut.cwnd), (1, cut.ssthresh));
    // All of the second window comes back with ECE.
    assert_eq!(cut.ssthresh, 10_000);
}

/// Section 6.1.2: one cut a window however many marks; the next window may be cut again.
#[test]
fn rfc3168_one_cut_a_window() {
    let all: Vec<u64> = (20..40).collect();
    let mut p = steady(&json!({}), &all);
    p.run_until(at(390));
    assert_eq!(p.ends[0].view().ecn_cuts, 1);
    p.run_until(at(1000));
    assert_eq!(p.ends[0].view().ecn_cuts, 1, "what was in flight at the cut belongs to it");

    let every: Vec<u64> = (20..2000).collect();
    let mut p = steady(&json!({}), &every);
    p.run_until(at(2050));
    // A cut at 300 ms, one each time the data sent after the last is acknowledged.
    let (cuts, rounds) = (p.ends[0].view().ecn_cuts, (2050 - 300) / 100 + 1);
    assert!((rounds / 2..=rounds).contains(&cuts), "{cuts}");
    assert!(p.ends[0].view().cwnd >= 1000);
}

/// Section 6.1.2: a loss in the window that a mark has cut is repaired without a second cut, and the other way round; a loss later cuts.
#[test]
fn rfc3168_loss_and_mark_in_one_window() {
    for cc in ["reno", "newreno", "sack"] {
        let run = |marked: &[u64], dropped: &[u64]| {
            let mut p = steady(&json!({ "cc": cc }), &[]);
            p.mark_data(marked, dropped);
            p.run_until(at(950));
            let v = p.ends[0].view();
            assert_eq!(v.timeouts, 0, "{cc}");
            (v.ecn_cuts, v.cwnd_cuts, v.fast_recoveries, v.retransmits)
        };
        assert_eq!(run(&[20], &[]), (1, 1, 0, 0), "{cc}");
        assert_eq!(run(&[], &[22]), (0, 1, 1, 1), "{cc}");
        assert_eq!(run(&[20], &[22]), (1, 1, 1, 1), "{cc}: mark first");
        assert_eq!(run(&[30], &[22]), (0, 1, 1, 1), "{cc}: loss first");
        assert_eq!(run(&[20], &[55]), (1, 2, 1, 1), "{cc}: another window");
    }
}

/// Section 6.1.5: no ECT on retransmissions; section 6.1.2: CWR after a cut for a loss as well, on new data.
#[test]
fn rfc3168_retransmissions_are_not_ect() {
    for cc in ["newreno", "sack"] {
        let mut p = steady(&json!({ "cc": cc }), &[]);
        p.mark_data(&[], &[20]);
        p.run_until(at(900));
        let (again, new): (Vec<_>, Vec<_>) = data(&p).into_iter().partition(Segment::retransmission);
        assert_eq!(again.len(), 1);
        assert_eq!((again[0].ecn(), again[0].has(flag::CWR)), (Ecn::NotEct, false));
        assert!(new.iter().all(|s| s.ecn() == Ecn::Ect0));
        assert_eq!(new.iter().filter(|s| s.has(flag::CWR)).count(), 1);
    }
    let mut p = steady(&json!({ "ecn_plus": true }), &[]);
    p.mark_data(&[], &[20]);
    p.run_until(at(900));
    assert!(p.log.iter().all(|l| l.2.ecn() == Ecn::Ect0), "ECN++");
}

/// RFC 8511 section 3: with ABE a mark leaves 0.8 of the window, a loss half.
/// Also RFC 3168 section 5.
#[test]
fn rfc8511_abe() {
    for (abe, marked, dropped, left) in [(false, 20, 1000, 0.5), (true, 20, 1000, 0.8), (true, 1000, 20, 0.5)] {
        let mut p = steady(&json!({ "abe": abe }), &[]);
        p.mark_data(&[marked], &[dropped]);
        p.run_until(at(301));
        let share = p.ends[0].view().ssthresh as f64 / 1e3 / 20.5;
        assert!((share - left).abs() < 0.03, "{abe} {share}");
    }
}

/// Section 6.1.6: a window probe is not ECT.
/// Also RFC 3168 section 5.2.
#[test]
fn rfc3168_window_probes() {
    let mut p = Pair::delayed(&params(json!({ "cc": "newreno", "ecn": "classic", "mss": "1000B" })), ms(10));
    p.start();
    p.run(ms(100));
    let mut shut = Segment::new(1, 1, flag::ACK, 0);
    shut.wnd = 0;
    p.call(0, |e, cx| e.on_packet(&shut, cx));
    p.write(0, 5000, true);
    p.run(Dur::from_secs(30));
    assert_eq!((data(&p)[0].payload, data(&p)[0].ecn()), (1, Ecn::NotEct));
    assert_eq!(data(&p)[1].ecn(), Ecn::Ect0);
    assert_eq!(p.delivered[1], 5000);
}
