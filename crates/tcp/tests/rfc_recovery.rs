//! Requirements of the RFCs on loss recovery that no other test covers.

use crate::arrivals::Host;
use crate::helpers::{at, ms, scripted, with};
use crate::pair::{Fate, Pair, params};
use fairlane_net::{Block, Endpoint, Segment, TimerId, flag};
use fairlane_tcp::resolve_params;
use fairlane_units::Dur;
use serde_json::{Value, json};

const ACK: u8 = flag::ACK;
const NOTHING: [u64; 0] = [];

/// A window of 20 segments of 1000 bytes that all leave at once, a round trip of 100 ms: segment n leaves at 100 ms * (1 + n / 20).
fn steady(cc: &str, extra: &Value, lost: &[u64]) -> Pair {
    let j = json!({ "cc": cc, "mss": "1000B", "ack_every": 1, "initial_window": "20p", "initial_ssthresh": "2p", "rto_min": "1s" });
    let mut p = Pair::delayed(&params(with(j, extra)), ms(50));
    p.drop_data(lost);
    p.start_endless();
    p
}

/// Data that left from `from` ms until before `until` ms: number of the segment, and whether it was sent before.
fn sent(p: &Pair, from: u64, until: u64) -> Vec<(u64, bool)> {
    let ours = p.log.iter().filter(|l| l.1 == 0 && l.2.payload != 0 && l.0 >= at(from) && l.0 < at(until));
    ours.map(|l| ((l.2.seq - 1) / 1000, l.2.retransmission())).collect()
}

/// An acknowledgment with SACK blocks.
fn sack(ack: u64, blocks: &[(u64, u64)]) -> Segment {
    let mut s = Segment::new(1, ack, ACK, 0);
    s.wnd = 60_000;
    for &(start, end) in blocks {
        s.add_sack(Block { start, end });
    }
    s
}

/// A sender with SACK whose peer takes 60000 bytes, the first `segments` of 1000 bytes out.
fn sender(extra: &Value, segments: u64) -> Host {
    let mut h = Host::open(&with(json!({ "cc": "sack", "initial_window": format!("{segments}p"), "rto_min": "1s" }), extra));
    h.give(1, 1, ACK, 0, 60_000);
    assert_eq!(h.write(1_000_000, false).len() as u64, segments);
    h
}

fn seqs(out: &[Segment]) -> Vec<u64> {
    out.iter().filter(|s| s.payload != 0).map(|s| s.seq).collect()
}

/// RFC 5681 section 3.2 steps 3 to 6: three duplicates retransmit and inflate by three segments, each further one by one, so that new data goes once the inflated
/// window exceeds what is out: 20 and the two of limited transmit against 10 + n after the n-th duplicate, so with the 13th; the first acknowledgment of new
/// data deflates to ssthresh.
#[test]
fn rfc5681_section_3_2_inflation() {
    for cc in ["reno", "newreno"] {
        let mut p = steady(cc, &json!({}), &[20]);
        p.run_until(at(350));
        // 21 to 39 bring 19 duplicates: two send 40 and 41, the third 20 again, the 13th to 19th one each.
        let mut expected: Vec<(u64, bool)> = vec![(40, false), (41, false), (20, true)];
        expected.extend((42..=48).map(|n| (n, false)));
        assert_eq!(sent(&p, 300, 350), expected, "{cc}");
        p.run_until(at(401));
        let v = p.ends[0].view();
        assert_eq!((v.ssthresh, v.fast_recoveries), (10_000, 1));
        assert!(v.cwnd <= 10_000 + 1000, "{cc} {}", v.cwnd);
    }
}

/// RFC 5681 section 3.2 step 1 and RFC 3042 section 2: with SACK a duplicate that tells nothing new releases nothing; the first two that do release new data, one
/// segment each, and the window is as it was.
#[test]
fn rfc3042_section_2_sack_needs_news() {
    let mut h = sender(&json!({}), 10);
    let window = h.end.view().cwnd;
    for _ in 0..5 {
        assert_eq!(seqs(&h.segment(&sack(1, &[]))), NOTHING);
    }
    assert_eq!(seqs(&h.segment(&sack(1, &[(2001, 3001)]))), [10_001]);
    assert_eq!(seqs(&h.segment(&sack(1, &[(2001, 3001)]))), NOTHING, "told before");
    assert_eq!(seqs(&h.segment(&sack(1, &[(2001, 4001)]))), [11_001]);
    assert_eq!((h.end.view().cwnd, h.end.view().fast_recoveries), (window, 0));
}

/// RFC 5681 section 4.3 and RFC 6675 section 5 (C): until what was lost is repaired, no more leaves in a round trip than half of what was out when the loss was
/// found; the window is ssthresh in the end and grows by congestion avoidance.
/// Also RFC 5681 section 3.
#[test]
fn rfc5681_section_4_3_half_of_the_flight() {
    let lost: Vec<u64> = (20..40).step_by(3).collect();
    for (cc, extra) in [("newreno", json!({})), ("sack", json!({})), ("sack", json!({ "prr": "rfc9937" })), ("fack", json!({}))] {
        let mut p = steady(cc, &extra, &lost);
        p.run_until(at(1200));
        for round in 3..10 {
            // The two of limited transmit went before the loss was found.
            let n = sent(&p, round * 100, round * 100 + 100).len() - if round == 3 { 2 } else { 0 };
            assert!(n <= 11 + round as usize - 3, "{cc} {extra}: {n} in round {round}");
        }
        let v = p.ends[0].view();
        assert_eq!((v.ssthresh, v.cwnd_cuts, v.timeouts), (10_000, 1, 0), "{cc} {extra}");
        assert!(v.cwnd < 20_000);
    }
}

/// RFC 5681 section 4.3: losses in two windows are two signals, and so is the loss of a retransmission: the window is lowered twice.
/// Also RFC 9438 section 4.6.
#[test]
fn rfc5681_section_4_3_two_signals() {
    for cc in ["reno", "newreno", "sack", "fack", "cubic"] {
        let mut p = steady(cc, &json!({}), &[20, 75]);
        p.run_until(at(3000));
        let v = p.ends[0].view();
        assert_eq!((v.cwnd_cuts, v.fast_recoveries, v.timeouts), (2, 2, 0), "{cc}");
    }
    for cc in ["reno", "newreno", "sack"] {
        let mut p = steady(cc, &json!({}), &[]);
        scripted(&mut p, |n, k| if n == 20 && k < 2 { Fate::Drop } else { Fate::Pass });
        p.run_until(at(1350));
        let v = p.ends[0].view();
        assert_eq!((v.cwnd_cuts, v.timeouts, v.cwnd < 10_000), (2, 1, true), "{cc}");
        assert!(v.ssthresh < 10_000, "{cc} {}", v.ssthresh);
    }
}

/// RFC 6582 section 3.2 step 4: a timeout ends fast recovery and notes how far had been sent: duplicates below that begin no other.
/// Also RFC 6582 section 4.
#[test]
fn rfc6582_section_3_2_after_a_timeout() {
    let mut h = Host::open(&json!({ "cc": "newreno", "initial_window": "20p", "rto_min": "1s" }));
    h.give(1, 1, ACK, 0, 60_000);
    assert_eq!(h.write(1_000_000, false).len(), 20);
    for _ in 0..4 {
        h.give(1, 1, ACK, 0, 60_000);
    }
    assert_eq!(h.end.view().fast_recoveries, 1);
    h.now = h.timers.get(TimerId::Rto).unwrap();
    h.call(|end, cx| end.on_timer(TimerId::Rto, cx));
    for _ in 0..5 {
        h.give(1, 1, ACK, 0, 60_000);
    }
    h.give(1, 5001, ACK, 0, 60_000);
    for _ in 0..5 {
        h.give(1, 5001, ACK, 0, 60_000);
    }
    let v = h.end.view();
    assert_eq!((v.fast_recoveries, v.timeouts, v.cwnd_cuts), (1, 1, 2));
}

/// RFC 6675 section 5: an acknowledgment of new data takes the count of duplicates back to none; small segments, so that only the count tells of a loss.
#[test]
fn rfc6675_section_5_the_count_of_duplicates() {
    let mut h = Host::open(&json!({ "cc": "sack", "initial_window": "20p" }));
    h.give(1, 1, ACK, 0, 60_000);
    for _ in 0..8 {
        h.write(10, false);
    }
    let mut recoveries = |s: &Segment| {
        h.segment(s);
        h.end.view().fast_recoveries
    };
    assert_eq!([recoveries(&sack(1, &[(21, 31)])), recoveries(&sack(1, &[(21, 41)]))], [0, 0]);
    assert_eq!(recoveries(&sack(11, &[(21, 41)])), 0, "new data");
    assert_eq!([recoveries(&sack(11, &[(21, 51)])), recoveries(&sack(11, &[(21, 61)]))], [0, 0], "two since");
    assert_eq!(recoveries(&sack(11, &[(21, 71)])), 1);
}

/// RFC 6675 section 5 step 2 with section 4, IsLost: what is lost by bytes begins recovery though there was one duplicate only. Step 4: RecoveryPoint is what was sent
/// till then; (A) recovery lasts until that is acknowledged, and what is SACKed above is kept then.
#[test]
fn rfc6675_section_5_recovery_point() {
    let mut h = sender(&json!({}), 10);
    assert_eq!(seqs(&h.segment(&sack(1, &[(1001, 4001)])))[0], 1);
    assert_eq!(h.end.info().ca_state, fairlane_tcp::CaState::Recovery);
    h.segment(&sack(9001, &[]));
    assert_eq!(h.end.info().ca_state, fairlane_tcp::CaState::Recovery, "all but the last");
    let next = h.end.info().nxt;
    h.write(0, false);
    let out = h.segment(&sack(10_001, &[]));
    assert_eq!(h.end.info().ca_state, fairlane_tcp::CaState::Open);
    assert!(seqs(&out).iter().all(|&s| s >= next), "nothing is sent again: {out:?}");

    let mut h = sender(&json!({}), 10);
    h.segment(&sack(1, &[(1001, 4001)]));
    let out = seqs(&h.segment(&sack(1, &[(1001, 9001)])));
    let new: Vec<u64> = out.into_iter().filter(|&s| s > 10_000).collect();
    assert!(new.len() >= 2, "{new:?}");
    // The last of what went out in recovery is SACKed while the first is missing: it is still known when recovery is over.
    h.segment(&sack(10_001, &[(new[1], new[1] + 1000)]));
    assert_eq!((h.end.info().ca_state, h.end.info().sacked), (fairlane_tcp::CaState::Disorder, 1));
}

/// RFC 6675 section 5.1: after a timeout no recovery begins before all that had been sent is acknowledged; what is SACKed meanwhile is not sent again.
#[test]
fn rfc6675_section_5_1_after_a_timeout() {
    let mut h = sender(&json!({}), 20);
    h.now = h.timers.get(TimerId::Rto).unwrap();
    assert_eq!(seqs(&h.call(|end, cx| end.on_timer(TimerId::Rto, cx))), [1]);
    let mut again = Vec::new();
    for n in 3..15 {
        again.extend(seqs(&h.segment(&sack(1, &[(3001, n * 1000 + 1001)]))));
    }
    again.extend(seqs(&h.segment(&sack(1001, &[(3001, 15_001)]))));
    again.extend(seqs(&h.segment(&sack(3001, &[(3001, 15_001)]))));
    again.extend(seqs(&h.segment(&sack(15_001, &[]))));
    let v = h.end.view();
    assert_eq!((v.timeouts, v.fast_recoveries, v.cwnd_cuts), (1, 0, 1));
    assert!(again.iter().all(|s| !(3001..15_001).contains(s)), "{again:?}");
    assert!(again.contains(&1001) && again.contains(&2001) && again.contains(&15_001), "{again:?}");
    // Above RecoveryPoint there may be another.
    h.segment(&sack(20_001, &[]));
    let from = h.end.info().una;
    let nxt = h.end.info().nxt;
    h.segment(&sack(from, &[(nxt - 3000, nxt)]));
    assert!(nxt - from < 4000 || h.end.view().fast_recoveries == 1);
}

/// RFC 6675 section 4, NextSeg: rule 2, new data within the receiver's window; rule 4, with nothing else to send the highest segment outstanding goes out again, once a
/// recovery; rule 5, then nothing.
/// Also RFC 6675 section 5.
#[test]
fn rfc6675_section_4_next_seg_in_recovery() {
    let mut h = Host::open(&json!({ "cc": "sack", "initial_window": "20p", "rto_min": "1s" }));
    h.give(1, 1, ACK, 0, 60_000);
    assert_eq!(h.write(10_000, false).len(), 10);
    let mut out = seqs(&h.segment(&sack(1, &[(1001, 4001)])));
    for n in 4..8 {
        out.extend(seqs(&h.segment(&sack(1, &[(1001, n * 1000 + 1001)]))));
    }
    // 1 is lost; 8001 and 9001 may fly: of these the highest, once.
    assert_eq!(out, [1, 9001]);
    assert_eq!(seqs(&h.segment(&sack(1, &[(1001, 8001)]))), NOTHING);

    // Rule 2 stops at the window of the receiver. An acknowledgment that SACKs is a duplicate though it moves the window (section 2).
    let mut h = sender(&json!({}), 10);
    let mut narrow = sack(1, &[(1001, 9001)]);
    narrow.wnd = 12_000;
    let out = seqs(&h.segment(&narrow));
    assert_eq!(out.iter().max(), Some(&11_001), "{out:?}");
}

/// RFC 2883 section 5: the first block is compared with the acknowledgment number of its segment, not with SND.UNA: an acknowledgment that was
/// overtaken does not.
#[test]
fn rfc2883_section_5_compared_within_the_packet() {
    for preset in ["rfc", "linux"] {
        let mut h = sender(&json!({ "preset": preset, "timestamps": false, "eifel": false, "pacing": false }), 10);
        h.segment(&sack(5001, &[]));
        h.segment(&sack(1001, &[(2001, 3001)]));
        assert_eq!(h.end.view().dsacks, 0, "{preset}: above its own number");
        h.segment(&sack(5001, &[(2001, 3001)]));
        assert_eq!(h.end.view().dsacks, 1, "{preset}");
        h.segment(&sack(2001, &[(1, 1001)]));
        assert_eq!(h.end.view().dsacks, 2, "{preset}: old, and below its own number");
    }
}

/// RFC 5682 sections 2.1 and 3.1: what neither acknowledges new data nor is a duplicate leaves F-RTO where it is: the next acknowledgment still brings two new
/// segments.
#[test]
fn rfc5682_section_2_1_ignores_the_rest() {
    for cc in ["newreno", "sack"] {
        let mut h = Host::open(&json!({ "cc": cc, "frto": true, "initial_window": "8p", "rto_min": "1s" }));
        h.give(1, 1, ACK, 0, 60_000);
        h.write(1_000_000, false);
        h.now = h.timers.get(TimerId::Rto).unwrap();
        h.call(|end, cx| end.on_timer(TimerId::Rto, cx));
        assert_eq!(h.give(1, 1, ACK, 0, 59_000), [], "{cc}: a window update");
        assert_eq!(h.give(1, 1, ACK, 100, 59_000).iter().filter(|s| s.3 != 0).count(), 0, "{cc}: data");
        let mut first = sack(1001, &[]);
        first.seq = 101;
        assert_eq!(seqs(&h.segment(&first)), [8001, 9001], "{cc}");
    }
}

/// RFC 5682 sections 2.1 and 3.1: a timeout during fast recovery is not doubted: the next acknowledgment brings what is lost.
#[test]
fn rfc5682_section_2_1_not_in_recovery() {
    let mut h = sender(&json!({ "frto": true }), 10);
    h.segment(&sack(1, &[(1001, 4001)]));
    assert_eq!(h.end.view().fast_recoveries, 1);
    h.now = h.timers.get(TimerId::Rto).unwrap();
    assert_eq!(seqs(&h.call(|end, cx| end.on_timer(TimerId::Rto, cx))), [1]);
    assert_eq!(seqs(&h.segment(&sack(4001, &[]))), [4001, 5001]);
}

/// RFC 5682 section 2.1, step 1: the timer goes off again while F-RTO waits: from step 1, and the conventional recovery, as RTO recovery had begun: the
/// next acknowledgment brings what is lost, no new data.
#[test]
fn rfc5682_section_2_1_the_timer_again() {
    let mut h = Host::open(&json!({ "cc": "newreno", "frto": true, "initial_window": "8p", "rto_min": "1s" }));
    h.give(1, 1, ACK, 0, 60_000);
    h.write(1_000_000, false);
    for _ in 0..2 {
        h.now = h.timers.get(TimerId::Rto).unwrap();
        h.timers.cancel(TimerId::Rto);
        assert_eq!(seqs(&h.call(|end, cx| end.on_timer(TimerId::Rto, cx))), [1]);
    }
    assert_eq!(seqs(&h.segment(&sack(1001, &[]))), [1001, 2001]);
}

fn rack(extra: &Value, script: impl FnMut(u64, u64) -> Fate + 'static) -> Pair {
    let j = json!({ "cc": "sack", "rack": true, "tlp": true, "mss": "1000B", "ack_every": 1, "initial_window": "20p", "rto_min": "1s", "fin": false });
    let mut p = Pair::delayed(&params(with(j, extra)), ms(50));
    scripted(&mut p, script);
    p
}

/// RFC 8985 section 7.2: without a round-trip time the probe waits for a second; one that would come later than the timer goes off at the timer's time.
#[test]
fn rfc8985_section_7_2_how_long_a_probe_waits() {
    // The first SYN and the first copy of the data are lost: nothing is measured, the timer is 3 s (RFC 6298 section 5.7).
    let mut p = rack(&json!({}), |_, _| Fate::Pass);
    let mut n = 0;
    p.script[0] = Box::new(move |_, s| {
        n += u32::from(s.payload != 0);
        if (s.has(flag::SYN) && !s.retransmission()) || (n == 1 && s.payload != 0) { Fate::Drop } else { Fate::Pass }
    });
    p.start();
    p.run_until(at(1200));
    p.write(0, 1000, false);
    p.run_until(at(5000));
    assert_eq!(sent(&p, 0, 2200), [(0, false)]);
    assert_eq!(sent(&p, 2200, 2201), [(0, true)], "after a second");

    // Two round trips and what the receiver may wait are 700 ms; the timer goes off 300 ms after sending.
    let mut p = rack(&json!({ "rto_min": "1ms", "tlp_ack_delay": "500ms" }), |_, k| if k == 0 { Fate::Drop } else { Fate::Pass });
    p.start();
    p.run_until(at(100));
    p.write(0, 1000, false);
    p.run_until(at(450));
    assert_eq!(sent(&p, 100, 450), [(0, false), (0, true)]);
    assert_eq!(sent(&p, 400, 401), [(0, true)]);
    assert_eq!(p.ends[0].view().timeouts, 0, "a probe, not a timeout");
}

/// RFC 8985 section 7.3: one probe at a time, and after it the retransmission timer, an RTO later, not another probe.
#[test]
fn rfc8985_section_7_3_then_the_timer() {
    let mut p = rack(&json!({}), |n, k| if n >= 8 && k < 2 { Fate::Drop } else { Fate::Pass });
    p.start();
    p.run_until(at(100));
    p.write(0, 10_000, false);
    p.run_until(at(5000));
    // Acknowledged at 200 ms, the probe at 400; an RTO of 1 s later the timer.
    let again: Vec<(u64, u64)> =
        p.log.iter().filter(|l| l.1 == 0 && l.2.retransmission()).map(|l| (l.0.as_ps() / 1_000_000_000, (l.2.seq - 1) / 1000)).collect();
    assert_eq!(again[..2], [(400, 9), (1400, 8)], "{again:?}");
}

/// RFC 8985 section 3.3.2 (3) and section 6.2 step 4: the reordering window never exceeds SRTT, however many D-SACKs there are: what is later than that is taken
/// for lost to the end.
#[test]
fn rfc8985_section_3_3_2_bound() {
    let run = |late: u64| {
        let mut p = rack(&json!({ "receive_window": "60000B" }), move |n, k| {
            if n >= 40 && n.is_multiple_of(15) && k == 0 { Fate::Late(ms(late)) } else { Fate::Pass }
        });
        p.start_endless();
        p.run(Dur::from_secs(12));
        let early = p.ends[0].view();
        p.run(Dur::from_secs(3));
        (early.dsacks, p.ends[0].view().retransmits - early.retransmits)
    };
    let (dsacks, later) = run(250);
    assert!(dsacks > 20 && later > 4, "{dsacks} {later}");
    assert_eq!(run(55).1, 0, "half a round trip is learnt");
}

/// RFC 9937 section 6.2 and section 7: below ssthresh, what PRR-CRB sends is no more than what was delivered, and a segment that is forced at the beginning; SafeACK
/// adds a segment for each acknowledgment that makes progress. Section 6.4: in the end the window is ssthresh.
/// Also RFC 8985 section 9.3.
#[test]
fn rfc9937_section_6_2_bounds() {
    for seed in 1..40_u64 {
        for prr in ["crb", "rfc9937"] {
            let mut x = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let mut p = rack(&json!({ "prr": prr, "initial_ssthresh": "2p", "receive_window": "60000B" }), move |n, k| {
                x ^= x << 13;
                x ^= x >> 7;
                x ^= x << 17;
                if k == 0 && (22..60).contains(&n) && x % 5 < 2 { Fate::Drop } else { Fate::Pass }
            });
            p.start_endless();
            let segments = |p: &Pair| p.ends[0].view().data_segments;
            let mut begun: Option<(u64, u64, u64)> = None;
            let (mut acks, mut seen) = (0, false);
            let (mut before, mut delivered) = (segments(&p), 0);
            for _ in 0..6000 {
                p.step();
                let (info, v) = (p.ends[0].info(), p.ends[0].view());
                let recovering = info.ca_state == fairlane_tcp::CaState::Recovery;
                if recovering && begun.is_none() {
                    begun = Some((before, delivered, info.una));
                    acks = 0;
                }
                delivered = info.delivered.unwrap();
                if let (Some((out, had, _)), true) = (begun, recovering) {
                    acks += 1;
                    let (out, had) = (segments(&p) - out, delivered - had);
                    let more = if prr == "crb" { 1 } else { 1 + acks };
                    assert!(out <= had + more, "{seed} {prr}: {out} for {had}");
                    assert!(v.in_flight <= v.ssthresh.max(20_000), "{seed} {prr}");
                    seen = true;
                } else if begun.take().is_some() && info.ca_state == fairlane_tcp::CaState::Open {
                    assert!(v.cwnd >= v.ssthresh && v.cwnd < v.ssthresh + 1000, "{seed} {prr}: {} {}", v.cwnd, v.ssthresh);
                }
                before = segments(&p);
            }
            assert!(seen, "{seed} {prr}");
        }
    }
}

/// RFC 8985 section 4 (1) and RFC 9937 section 6.2: without selective acknowledgments there is neither RACK nor PRR.
#[test]
fn rfc8985_section_4_needs_sack() {
    for what in [json!({ "rack": true }), json!({ "tlp": true }), json!({ "prr": "rfc9937" })] {
        assert!(resolve_params(with(json!({ "cc": "reno" }), &what)).is_err(), "{what}");
        assert!(resolve_params(with(json!({ "cc": "sack" }), &what)).is_ok(), "{what}");
    }
}
