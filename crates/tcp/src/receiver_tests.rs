use super::*;
use crate::{TcpParams, resolve_params};
use fairlane_net::{Class, flag};
use fairlane_testkit::cases;
use proptest::prelude::*;
use serde_json::json;

fn config(extra: serde_json::Value) -> std::sync::Arc<TcpConfig> {
    let mut p = json!({ "mss": "500B", "cc": "sack", "ack_every": 1 });
    for (k, v) in extra.as_object().unwrap() {
        p[k] = v.clone();
    }
    let p: TcpParams = resolve_params(p).unwrap();
    TcpConfig::new(&p, Class(0)).unwrap()
}

/// A segment arrives; ACK number and SACK blocks of the acknowledgment it would cause.
fn arrive(r: &mut Receiver, c: &TcpConfig, start: u64, end: u64) -> (u64, Vec<(u64, u64)>) {
    let mut seg = Segment::default();
    (seg.seq, seg.payload, seg.flags) = (start, (end - start) as u16, flag::ACK);
    r.on_data(&seg, Time::ZERO, c);
    let mut ack = Segment::default();
    ack.ack = r.nxt;
    if r.has_sack() {
        r.write_sack(&mut ack, c);
    }
    r.on_ack_sent();
    (ack.ack, (0..ack.sack_len()).map(|i| (ack.sack(i).start, ack.sack(i).end)).collect())
}

/// RFC 2018 section 4 case 1: the last four of eight segments are lost.
#[test]
fn rfc2018_case_1() {
    let (mut r, c) = (Receiver::starting_at(5000), config(json!({})));
    for i in 0..4 {
        assert_eq!(arrive(&mut r, &c, 5000 + 500 * i, 5500 + 500 * i), (5500 + 500 * i, vec![]));
    }
}

/// RFC 2018 section 4 case 2: the first of eight segments is lost.
/// Also RFC 2883 section 3; RFC 9293 section 3.10.7.4.
#[test]
fn rfc2018_case_2() {
    let (mut r, c) = (Receiver::starting_at(5000), config(json!({})));
    for i in 1..8 {
        assert_eq!(arrive(&mut r, &c, 5000 + 500 * i, 5500 + 500 * i), (5000, vec![(5500, 5500 + 500 * i)]));
    }
}

/// RFC 2018 section 4 case 3: every second segment is lost, then two of them arrive late.
/// Also RFC 2883 section 3.
#[test]
fn rfc2018_case_3() {
    let (mut r, c) = (Receiver::starting_at(5000), config(json!({})));
    assert_eq!(arrive(&mut r, &c, 5000, 5500), (5500, vec![]));
    assert_eq!(arrive(&mut r, &c, 6000, 6500), (5500, vec![(6000, 6500)]));
    assert_eq!(arrive(&mut r, &c, 7000, 7500), (5500, vec![(7000, 7500), (6000, 6500)]));
    assert_eq!(arrive(&mut r, &c, 8000, 8500), (5500, vec![(8000, 8500), (7000, 7500), (6000, 6500)]));
    assert_eq!(arrive(&mut r, &c, 6500, 7000), (5500, vec![(6000, 7500), (8000, 8500)]));
    assert_eq!(arrive(&mut r, &c, 5500, 6000), (7500, vec![(8000, 8500)]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(400)))]

    /// The rules of RFC 2018 section 4 and RFC 2883 section 4, word by word, over segments in any order, some of them twice: a duplicate first, and the block that it lies in;
    /// the block with the latest segment; those reported most recently.
    #[test]
    fn blocks_are_those_of_the_rules(order in prop::collection::vec((0..40_u64, 0..3_u64), 1..120)) {
        let (mut r, c) = (Receiver::starting_at(5000), config(json!({})));
        let (mut here, mut next, mut recent) = ([false; 64], 0, Vec::new());
        // Mostly in order, with holes.
        for (k, (n, way)) in order.into_iter().enumerate() {
            let n = if way == 0 { n } else { (k as u64 / 2 + n % 4).min(39) };
            let again = here[n as usize];
            here[n as usize] = true;
            let block = |here: &[bool; 64], of: u64| {
                let start = (0..=of).rev().take_while(|&i| here[i as usize]).last()?;
                Some((start, (of..).find(|&i| !here[i as usize])?))
            };
            if n > next {
                recent.retain(|&of| block(&here, of) != block(&here, n));
                recent.insert(0, n);
                recent.truncate(4);
            }
            next = (0..).find(|&i| !here[i as usize]).unwrap();
            let mut want = Vec::new();
            if again {
                want.push((n, n + 1));
            }
            let mut above = Vec::new();
            for of in again.then_some(n).into_iter().chain(recent.iter().copied()) {
                let b = block(&here, of).unwrap();
                if b.0 > next && !above.contains(&b) && want.len() + above.len() < 4 {
                    above.push(b);
                }
            }
            want.extend(above);
            let at = |n: u64| 5000 + 500 * n;
            let want = want.into_iter().map(|(from, to)| (at(from), at(to))).collect();
            prop_assert_eq!(arrive(&mut r, &c, at(n), at(n + 1)), (at(next), want));
        }
    }
}

/// The last hole repaired and the last duplicate reported, all is as at the start, and the next hole is reported as the first was.
#[test]
fn nothing_is_left_once_nothing_is_missing() {
    let (mut r, c) = (Receiver::starting_at(5000), config(json!({})));
    for base in [5000, 7000] {
        assert_eq!(arrive(&mut r, &c, base + 500, base + 1000), (base, vec![(base + 500, base + 1000)]));
        assert_eq!(arrive(&mut r, &c, base + 1500, base + 2000).1.len(), 2);
        assert!(!r.in_order());
        assert_eq!(arrive(&mut r, &c, base, base + 500), (base + 1000, vec![(base + 1500, base + 2000)]));
        assert!(!r.in_order());
        assert_eq!(arrive(&mut r, &c, base + 1000, base + 1500), (base + 2000, vec![]));
        assert!(r.in_order());
        // RFC 2883 section 4.1.1: a duplicate segment is reported in one acknowledgment.
        assert_eq!(arrive(&mut r, &c, base, base + 500), (base + 2000, vec![(base, base + 500)]));
        assert!(r.in_order());
    }
}

/// RFC 2018 section 3: no more blocks than fit; with timestamps three.
#[test]
fn rfc2018_number_of_blocks() {
    for (extra, most) in [(json!({}), 4), (json!({ "timestamps": true }), 3), (json!({ "sack_blocks": 2 }), 2)] {
        let (mut r, c) = (Receiver::starting_at(1000), config(extra));
        let mut blocks = vec![];
        for i in 1..8 {
            blocks = arrive(&mut r, &c, 1000 + 1000 * i, 1500 + 1000 * i).1;
        }
        assert_eq!(blocks.len(), most);
        assert_eq!(blocks[0], (8000, 8500));
    }
}

/// RFC 2883 section 4.1, example 1: a duplicate below the cumulative acknowledgment.
/// Also RFC 9768 section 3.1.1.
#[test]
fn rfc2883_duplicate_segment() {
    let (mut r, c) = (Receiver::starting_at(3000), config(json!({})));
    arrive(&mut r, &c, 3000, 3500);
    assert_eq!(arrive(&mut r, &c, 3500, 4000), (4000, vec![]));
    assert_eq!(arrive(&mut r, &c, 3000, 3500), (4000, vec![(3000, 3500)]));
    // Reported once only.
    assert_eq!(arrive(&mut r, &c, 4000, 4500), (4500, vec![]));
}

/// RFC 2883 section 4.1, examples 2 and 3: a duplicate while segments are missing; the block that holds it comes second.
#[test]
fn rfc2883_duplicate_out_of_order() {
    let (mut r, c) = (Receiver::starting_at(3000), config(json!({})));
    assert_eq!(arrive(&mut r, &c, 3000, 3500), (3500, vec![]));
    assert_eq!(arrive(&mut r, &c, 4000, 4500), (3500, vec![(4000, 4500)]));
    assert_eq!(arrive(&mut r, &c, 4500, 5000), (3500, vec![(4000, 5000)]));
    assert_eq!(arrive(&mut r, &c, 3000, 3500), (3500, vec![(3000, 3500), (4000, 5000)]));
    assert_eq!(arrive(&mut r, &c, 6000, 6500), (3500, vec![(6000, 6500), (4000, 5000)]));
    assert_eq!(arrive(&mut r, &c, 4500, 5000), (3500, vec![(4500, 5000), (4000, 5000), (6000, 6500)]));
}

/// RFC 2883 section 4.2: a segment of which part arrived before.
#[test]
fn rfc2883_partial_duplicate() {
    let (mut r, c) = (Receiver::starting_at(1000), config(json!({})));
    arrive(&mut r, &c, 2000, 2500);
    // 1000-1500 arrives again within 1000-2500, which fills the hole: all of it is acknowledged.
    assert_eq!(arrive(&mut r, &c, 1000, 2500), (2500, vec![(2000, 2500)]));
    assert_eq!(arrive(&mut r, &c, 2000, 3000), (3000, vec![(2000, 2500)]));
}

#[test]
fn dsack_can_be_off() {
    let (mut r, c) = (Receiver::starting_at(3000), config(json!({ "dsack": false })));
    arrive(&mut r, &c, 3000, 3500);
    assert_eq!(arrive(&mut r, &c, 3000, 3500), (3500, vec![]));
    arrive(&mut r, &c, 4000, 4500);
    assert_eq!(arrive(&mut r, &c, 4000, 4500), (3500, vec![(4000, 4500)]));
}

/// RFC 5681 section 4.2: every second full-sized segment at the latest; at once when out of order, duplicate or filling a hole.
/// Also RFC 5681 section 3.2.
#[test]
fn rfc5681_when_to_acknowledge() {
    let (mut r, c) = (Receiver::starting_at(1000), config(json!({ "ack_every": 2 })));
    let mut take = |start: u64, end: u64| {
        let mut seg = Segment::default();
        (seg.seq, seg.payload, seg.flags) = (start, (end - start) as u16, flag::ACK);
        r.on_data(&seg, Time::ZERO, &c);
        let due = r.due;
        if due == AckDue::Now {
            r.on_ack_sent();
        }
        due
    };
    assert_eq!(take(1000, 1500), AckDue::Later);
    assert_eq!(take(1500, 2000), AckDue::Now);
    assert_eq!(take(2000, 2500), AckDue::Later);
    assert_eq!(take(3000, 3500), AckDue::Now, "out of order");
    assert_eq!(take(2500, 3000), AckDue::Now, "fills the hole");
    assert_eq!(take(1000, 1500), AckDue::Now, "duplicate");
    // Two half segments make a full one, four make two.
    assert_eq!(
        [take(3500, 3750), take(3750, 4000), take(4000, 4250), take(4250, 4500)],
        [AckDue::Later, AckDue::Later, AckDue::Later, AckDue::Now]
    );
}

/// RFC 7323 section 4.3: the timestamp echoed is that of the segment that covers the last acknowledgment sent.
/// Also RFC 7323 section 3.2.
#[test]
fn rfc7323_ts_recent() {
    let (mut r, c) = (Receiver::starting_at(1000), config(json!({ "timestamps": true, "ack_every": 2 })));
    let mut take = |start: u64, ts: u32| {
        let mut seg = Segment::default();
        (seg.seq, seg.payload, seg.flags) = (start, 500, flag::ACK);
        seg.set_timestamps(ts, 0);
        r.on_data(&seg, Time::ZERO, &c);
        if r.due == AckDue::Now {
            r.on_ack_sent();
        }
        r.ts_recent
    };
    r_check(&mut take);
    fn r_check(take: &mut dyn FnMut(u64, u32) -> u32) {
        take(1000, 1);
        take(1500, 2);
        // The first of two delayed segments is echoed (case A), a segment after a hole is not (case B).
        assert_eq!(take(2000, 3), 3);
        assert_eq!(take(2500, 4), 3);
        assert_eq!(take(3500, 6), 3);
        assert_eq!(take(3000, 7), 7);
    }
}

/// Every second of 2 `n` segments is missing; then each missing one arrives, `stride` places behind the last, and all of the receiver is asked
/// for what each acknowledgment says.
fn fill_holes(n: usize, stride: usize) -> usize {
    let (mut r, c) = (Receiver::starting_at(0), config(json!({})));
    let segment = |i: usize| (500 * i as u64, 500 * (i as u64 + 1));
    let mut take = |i: usize| {
        let (start, end) = segment(i);
        arrive(&mut r, &c, start, end);
        r.starts_block(start, end, 2);
        r.out_of_order_bytes() + r.highest_received()
    };
    (0..n).for_each(|k| {
        take(2 * k + 1);
    });
    (0..n).for_each(|k| {
        take(2 * (k * stride % n));
    });
    assert_eq!((r.nxt, r.out_of_order_bytes()), (1000 * n as u64, 0));
    2 * n
}

/// The cost of an arrival does not depend on the number of holes, whether they are repaired from the front or anywhere.
#[test]
fn steps_per_segment_are_bounded() {
    for stride in [1, 611] {
        fairlane_testkit::growth::assert_logarithmic(&format!("receiver, stride {stride}"), 1000, |n| fill_holes(n, stride));
    }
}
