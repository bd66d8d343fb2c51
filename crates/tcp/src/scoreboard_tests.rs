use super::*;
use crate::rack::Rack;
use fairlane_testkit::cases;
use fairlane_testkit::growth::assert_logarithmic;
use fairlane_units::Dur;
use proptest::prelude::*;

const MSS: u32 = 100;

fn board(n: u64) -> Scoreboard {
    let mut b = Scoreboard::default();
    for i in 0..n {
        b.push(Sent { seq: 1 + i * 100, at: Time::from_ps(i), len: MSS, flags: 0 });
    }
    b
}

/// Segments `from..to`, counted from 0.
fn block(from: u64, to: u64) -> Block {
    Block { start: 1 + from * 100, end: 1 + to * 100 }
}

/// RFC 6675 section 4, IsLost: more than two full segments SACKed above, or three discontiguous runs.
#[test]
fn rfc6675_is_lost_by_bytes_and_by_runs() {
    let mut b = board(10);
    b.sack(block(1, 3), false);
    b.find_lost(3, MSS);
    assert!(!b.has_pending());
    b.sack(block(3, 4), false);
    b.find_lost(3, MSS);
    assert_eq!(b.first_pending(), Some(0));

    // Small segments: two bytes SACKed in each of three runs are enough, two runs are not.
    let mut b = Scoreboard::default();
    for i in 0..9 {
        b.push(Sent { seq: 1 + i * 2, at: Time::ZERO, len: 2, flags: 0 });
    }
    for (i, lost) in [(1, false), (3, false), (5, true)] {
        b.sack(Block { start: 1 + i * 2, end: 3 + i * 2 }, false);
        b.find_lost(3, MSS);
        assert_eq!(b.has_pending(), lost, "{i}");
    }
}

/// TcpTxBuffer of ns-3: Update leaves m_retrans as it is, so a retransmission that is SACKed counts until it is acknowledged in order.
#[test]
fn ns3_pipe_keeps_what_was_sent_again() {
    let pipes = |keeps: bool| {
        let mut b = board(10);
        b.sack(block(4, 7), keeps);
        b.sack(block(1, 2), keeps);
        b.find_lost(3, MSS);
        // 0, 2 and 3 are lost and retransmitted; that of 2 is SACKed, that of 0 is lost.
        while let Some(i) = b.first_pending() {
            b.resend(i, Time::ZERO, true);
        }
        let mut out = vec![b.pipe()];
        b.sack(block(2, 3), keeps);
        out.push(b.pipe());
        b.pop(301, false);
        out.push(b.pipe());
        b.mark_all_lost(false);
        out.push(b.pipe());
        out
    };
    assert_eq!(pipes(false), [600, 500, 400, 0]);
    assert_eq!(pipes(true), [600, 600, 400, 0]);
}

/// RFC 6675 section 4, SetPipe: SACKed does not count, lost does not, retransmitted counts again.
/// Also RFC 6675 section 5; RFC 9937 section 6.2.
#[test]
fn rfc6675_pipe() {
    let mut b = board(10);
    assert_eq!(b.pipe(), 1000);
    b.sack(block(4, 7), false);
    b.sack(block(1, 2), false);
    b.find_lost(3, MSS);
    // 0, 2 and 3 are lost; 1, 4, 5, 6 are SACKed; 7, 8, 9 fly.
    assert_eq!(b.pipe(), 300);
    let i = b.first_pending().unwrap();
    assert_eq!(b.resend(i, Time::ZERO, true).seq, 1);
    assert_eq!(b.pipe(), 400);
    let i = b.first_pending().unwrap();
    assert_eq!(b.resend(i, Time::ZERO, true).seq, 201);
    assert_eq!(b.pipe(), 500);
    // The retransmission of 0 arrives: 0 and 1 are acknowledged together.
    b.pop(201, false);
    assert_eq!(b.pipe(), 400);
    assert_eq!(b.outstanding(), 800);
}

/// RFC 6675 section 4, NextSeg rules 1, 3 and 4.
/// Also RFC 6675 section 5.
#[test]
fn rfc6675_next_seg() {
    let mut b = board(8);
    b.sack(block(1, 2), false);
    b.sack(block(3, 4), false);
    b.sack(block(5, 6), false);
    b.find_lost(3, MSS);
    assert_eq!(b.first_pending(), Some(0), "rule 1: below three runs");
    b.resend(0, Time::ZERO, true);
    assert_eq!(b.first_pending(), None);
    assert_eq!(b.first_unmarked(), Some(2), "rule 3: below the highest SACKed segment");
    b.resend(2, Time::ZERO, true);
    b.resend(4, Time::ZERO, true);
    assert_eq!(b.first_unmarked(), None);
    assert_eq!(b.last_unsacked(), Some(7), "rule 4: the highest one");
}

/// Karn's algorithm (RFC 6298 section 3): a retransmitted segment is not timed, nor data that waited behind it at the receiver.
/// Also RFC 9293 section 3.8.1.
#[test]
fn karn() {
    let mut b = board(3);
    b.resend(1, Time::from_ps(99), false);
    assert_eq!(b.pop(101, false), Some(Time::from_ps(0)));
    assert_eq!(b.pop(301, false), None);
    let mut b = board(1);
    b.resend(0, Time::from_ps(99), false);
    assert_eq!(b.pop(101, false), None);
}

/// A model without sums: the definitions of RFC 6675 section 4, segment by segment.
#[derive(Clone, Default)]
struct Model {
    segs: Vec<(u64, u8)>,
}

impl Model {
    fn is_lost(&self, i: usize, threshold: usize) -> bool {
        let above = &self.segs[i + 1..];
        let bytes = above.iter().filter(|s| s.1 & SACKED != 0).count();
        let runs = (0..above.len()).filter(|&k| above[k].1 & SACKED != 0 && (k == 0 || above[k - 1].1 & SACKED == 0)).count();
        bytes > threshold - 1 || runs >= threshold
    }
    fn pipe(&self) -> u64 {
        self.segs.iter().map(|s| if s.1 & SACKED != 0 { 0 } else { u64::from(s.1 & LOST == 0) + u64::from(s.1 & RESENT != 0) }).sum::<u64>()
            * 100
    }
}

#[derive(Clone, Debug)]
enum Operation {
    Push,
    Sack(u64, u64),
    Pop(u64),
    Resend,
    Timeout(bool),
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        6 => Just(Operation::Push),
        4 => (0..30_u64, 1..6_u64).prop_map(|(a, n)| Operation::Sack(a, n)),
        2 => (1..8_u64).prop_map(Operation::Pop),
        3 => Just(Operation::Resend),
        1 => any::<bool>().prop_map(Operation::Timeout),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(300)))]
    /// The sums kept up to date equal the definitions, whatever happens.
    /// Also RFC 6675 section 4; RFC 8985 section 4; RFC 9937 section 6.2.
    #[test]
    fn sums_equal_definitions(operations in prop::collection::vec(operation(), 1..200), threshold in 1..4_usize, large in any::<bool>()) {
        let mut b = Scoreboard::default();
        let mut m = Model::default();
        let mut next = 1;
        for _ in 0..if large { 150 } else { 0 } {
            b.push(Sent { seq: next, at: Time::ZERO, len: MSS, flags: 0 });
            m.segs.push((next, 0));
            next += 100;
        }
        for op in operations {
            let una = m.segs.first().map_or(next, |s| s.0);
            match op {
                Operation::Push => {
                    b.push(Sent { seq: next, at: Time::ZERO, len: MSS, flags: 0 });
                    m.segs.push((next, 0));
                    next += 100;
                }
                Operation::Sack(from, n) => {
                    let (start, end) = (una + from * 100, (una + (from + n) * 100).min(next));
                    if start < end {
                        b.sack(Block { start, end }, false);
                        for s in m.segs.iter_mut().filter(|s| s.0 >= start && s.0 < end && s.1 & SACKED == 0) {
                            s.1 = s.1 & !(LOST | RESENT) | SACKED;
                        }
                    }
                }
                Operation::Pop(n) => {
                    let ack = (una + n * 100).min(next);
                    b.pop(ack, false);
                    m.segs.retain(|s| s.0 >= ack);
                }
                Operation::Resend => {
                    let first = m.segs.iter().position(|s| s.1 & (LOST | RESENT) == LOST);
                    let got = b.first_pending();
                    prop_assert_eq!(got.map(|i| b.at(i).seq), first.map(|i| m.segs[i].0));
                    if let (Some(i), Some(k)) = (got, first) {
                        b.resend(i, Time::ZERO, true);
                        m.segs[k].1 |= RESENT;
                    }
                }
                Operation::Timeout(forget) => {
                    b.mark_all_lost(forget);
                    for s in &mut m.segs {
                        if s.1 & SACKED == 0 || forget {
                            s.1 = LOST;
                        }
                    }
                }
            }
            b.find_lost(threshold as u32, MSS);
            for i in 0..m.segs.len() {
                if m.segs[i].1 & SACKED == 0 && m.is_lost(i, threshold) {
                    m.segs[i].1 |= LOST;
                }
            }
            prop_assert_eq!(b.audit(m.segs.first().map_or(next, |s| s.0), next, false), Ok(()));
            let open = m.segs.iter().rposition(|s| s.1 & SACKED == 0);
            prop_assert_eq!(b.last_unsacked().map(|i| b.at(i).seq), open.map(|k| m.segs[k].0));
            let sacked = m.segs.iter().filter(|s| s.1 & SACKED != 0).count();
            prop_assert_eq!(b.sacked_segments(3) as usize, sacked.min(3));
            prop_assert_eq!(b.pipe(), m.pipe());
            prop_assert_eq!(b.outstanding(), m.segs.len() as u64 * 100);
            prop_assert_eq!(b.sacked(), m.segs.iter().filter(|s| s.1 & SACKED != 0).count() as u64 * 100);
            prop_assert_eq!(b.has_pending(), m.segs.iter().any(|s| s.1 & (LOST | RESENT) == LOST));
        }
    }
}

/// Every second of `n` segments is lost. SACK blocks arrive, and retransmissions leave; of these every second is lost again, so that marks go
/// back and forth over the board. All that an acknowledgment may ask is asked.
fn recover(n: usize, stride: usize) -> usize {
    let mut b = board(n as u64);
    let mut rack = Rack::default();
    (rack.rtt, rack.min_rtt) = (Dur::from_ps(n as u64), Dur::from_ps(n as u64));
    let ask = |b: &mut Scoreboard, rack: &mut Rack, now: u64| {
        let now = Time::from_ps(now);
        b.rack_originals(rack, Dur::from_ps(n as u64 / 4), now);
        b.rack_again(rack, Dur::from_ps(n as u64 / 4), now);
        b.find_lost(3, MSS);
        if let Some(i) = b.first_pending() {
            b.resend(i, now, true);
            rack.again.push_back((i, now));
        }
        if let Some(i) = b.first_unmarked() {
            b.resend(i, now, true);
        }
        b.last_unsacked();
        b.sacked_segments(3);
        b.second_lost();
        b.lost_again();
    };
    let mut now = n as u64;
    for k in (1..n as u64).step_by(2) {
        now += 2;
        b.sack(block(k, k + 1), false);
        (rack.xmit_ts, rack.end_seq) = (Time::from_ps(k), 1 + (k + 1) * 100);
        ask(&mut b, &mut rack, now);
    }
    for k in 0..n / 4 {
        now += 2;
        let i = (4 * (k * stride % (n / 4))) as u64;
        // With the SACKed segments on either side.
        b.sack(block(i.saturating_sub(1), i + 2), false);
        (rack.xmit_ts, rack.end_seq) = (b.at(i as u32).at.max(rack.xmit_ts), 1 + (i + 1) * 100);
        if k % 2 == 0 {
            b.mark_lost_again((i as u32 + 2) % n as u32);
        }
        ask(&mut b, &mut rack, now);
    }
    b.pop(1 + n as u64 * 100, false);
    assert!(b.is_empty());
    2 * n
}

#[test]
fn steps_per_acknowledgment_are_bounded() {
    for stride in [1, 611] {
        assert_logarithmic(&format!("scoreboard, stride {stride}"), 1000, |n| recover(n, stride));
    }
}
