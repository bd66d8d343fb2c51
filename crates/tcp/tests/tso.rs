//! Segmentation offload and related functions as in Linux 6.18: `tcp_write_xmit`, `tcp_tso_should_defer`, `tcp_cleanup_rbuf`,
//! `tcp_sack_new_ofo_skb`, `tcp_try_undo_partial`. One end alone; the segments of the other end are handwritten.

use crate::helpers::with;
use fairlane_net::{Block, Class, Cx, ENDLESS, Endpoint, Segment, Timers, flag};
use fairlane_tcp::{AnyCc, Tcp, resolve_params};
use fairlane_units::{Dur, Time};
use serde_json::{Value, json};

const MSS: u64 = 1000;

struct End {
    tcp: Tcp<AnyCc>,
    timers: Timers,
}

impl End {
    /// Ten segments of 1000 bytes in congestion avoidance, a round trip of 100 ms.
    fn new(passive: bool, extra: Value) -> Self {
        let table = with(json!({ "preset": "linux", "cc": "reno", "mss": "1000B", "initial_ssthresh": "2p" }), &extra);
        let (active, other) = Tcp::pair(&resolve_params(table).unwrap(), Class(0)).unwrap();
        let mut end = Self { tcp: if passive { other } else { active }, timers: Timers::default() };
        let (mine, theirs) = if passive { (flag::SYN, flag::ACK) } else { (flag::SYN | flag::ACK, 0) };
        end.call(0, |tcp, cx| tcp.start(cx));
        end.arrive(100_000, Segment::new(0, u64::from(!passive), mine, 0), 0);
        if passive {
            end.arrive(100_000, Segment::new(1, 1, theirs, 0), 100);
        }
        end
    }

    fn call(&mut self, us: u64, f: impl FnOnce(&mut Tcp<AnyCc>, &mut Cx<'_>)) -> Vec<Segment> {
        let mut out = Vec::new();
        f(&mut self.tcp, &mut Cx::new(Time::ZERO + Dur::from_us(us), &mut out, &mut self.timers));
        out.into_iter().map(|o| o.seg).collect()
    }

    fn arrive(&mut self, us: u64, mut seg: Segment, echo: u32) -> Vec<Segment> {
        seg.wnd = 1 << 20;
        seg.set_timestamps(1 + us as u32 / 1000, echo);
        self.call(us, |tcp, cx| tcp.on_packet(&seg, cx))
    }

    /// Delivers an acknowledgment up to a segment, with SACK blocks in segments; returns the segments sent: number, PSH.
    fn ack(&mut self, us: u64, segments: u64, sack: &[(u64, u64)], echo: u32) -> Vec<(u64, bool)> {
        let mut seg = Segment::new(1, 1 + segments * MSS, flag::ACK, 0);
        for &(start, end) in sack {
            assert!(seg.add_sack(Block { start: 1 + start * MSS, end: 1 + end * MSS }));
        }
        sent(&self.arrive(us, seg, echo))
    }

    /// Delivers the data of a segment; returns the acknowledgments sent: up to which segment, SACK blocks.
    fn data(&mut self, us: u64, n: u64, push: bool) -> Vec<(u64, Vec<(u64, u64)>)> {
        let flags = flag::ACK | if push { flag::PSH } else { 0 };
        let out = self.arrive(us, Segment::new(1 + n * MSS, 1, flags, MSS as u16), 100);
        let blocks = |s: &Segment| (0..s.sack_len()).map(|i| (s.sack(i).start / MSS, s.sack(i).end / MSS)).collect();
        out.iter().map(|s| (s.ack / MSS, blocks(s))).collect()
    }
}

fn sent(out: &[Segment]) -> Vec<(u64, bool)> {
    out.iter().filter(|s| s.payload != 0).map(|s| (s.seq / MSS, s.has(flag::PSH))).collect()
}

/// `tcp_write_xmit`: bursts of two, the second with PSH. `tcp_tso_should_defer`: one that has room for a single segment waits for a pair, unless nothing went out for a
/// millisecond; what waits still counts as limited by the window.
#[test]
fn an_odd_segment_waits_for_a_pair() {
    let mut end = End::new(false, json!({}));
    let first = end.call(100_000, |tcp, cx| tcp.on_write(ENDLESS, false, cx));
    assert_eq!(sent(&first), (0..10).map(|n| (n, n % 2 == 1)).collect::<Vec<_>>());
    assert_eq!(end.ack(200_000, 1, &[], 100), [(10, false)]);
    assert_eq!(end.ack(200_200, 3, &[], 100), [(11, false), (12, true)]);
    assert_eq!(end.ack(200_400, 4, &[], 100), []);
    assert_eq!(end.ack(200_600, 5, &[], 100), [(13, false), (14, true)]);
    assert_eq!(end.ack(200_800, 6, &[], 100), []);
    assert_eq!(sent(&end.call(200_900, |tcp, cx| tcp.push(cx))), [(15, false)]);
    // Ten acknowledged: a whole segment more, not a part of it with each.
    assert_eq!(end.tcp.view().cwnd, 10 * MSS);
    end.ack(202_000, 10, &[], 100);
    assert_eq!(end.tcp.view().cwnd, 11 * MSS);
}

/// `tcp_tso_should_defer` of Linux 6.18: an acknowledgment is expected a smoothed round-trip time after the oldest segment in flight left. One that is more than a
/// millisecond off is not waited for.
#[test]
fn an_acknowledgment_that_is_far_off_is_not_waited_for() {
    let mut end = End::new(false, json!({}));
    end.call(100_000, |tcp, cx| tcp.on_write(ENDLESS, false, cx));
    end.ack(200_000, 1, &[], 100);
    end.ack(200_200, 3, &[], 100);
    assert_eq!(end.ack(200_400, 10, &[], 100).len(), 8, "11 to 20");
    // Segments 11 and 12 left at 200.2 ms, and what follows at 200.4 ms; the first that goes comes after a pause.
    assert_eq!(end.ack(295_000, 11, &[], 100), [(21, false)]);
    assert_eq!(end.ack(295_200, 12, &[], 100), [(22, false)], "the next acknowledgment is 4 ms off");
    assert_eq!(end.ack(299_200, 13, &[], 100), [(23, false)]);
    assert_eq!(end.ack(299_400, 14, &[], 100), []);
}

/// The end of a piece of the send queue is not deferred, nor is any segment without offload.
#[test]
fn the_end_of_a_piece_does_not_wait() {
    for (extra, sent) in [(json!({}), 2), (json!({ "tso_piece": "13000B" }), 3), (json!({ "tso": false }), 3)] {
        let mut end = End::new(false, extra);
        end.call(100_000, |tcp, cx| tcp.on_write(ENDLESS, false, cx));
        assert_eq!(end.ack(200_000, 3, &[], 100).len(), sent);
    }
}

/// `tcp_cleanup_rbuf`: an application that has read up to a PSH is done, and the data is acknowledged at once; else every second segment is
/// acknowledged.
#[test]
fn psh_is_acknowledged_at_once() {
    let mut end = End::new(true, json!({ "quick_acks": 1, "receive_buffer": null }));
    assert_eq!(end.data(200_000, 0, false).len(), 1, "a quick one");
    assert_eq!(end.data(201_000, 1, false).len(), 0);
    assert_eq!(end.data(202_000, 2, false).len(), 1);
    assert_eq!(end.data(203_000, 3, true).len(), 1);
    // Not while data is missing before what was read.
    assert_eq!(end.data(204_000, 5, false).len(), 1);
    assert_eq!(end.data(205_000, 4, true).len(), 1);
}

/// `tcp_sack_new_ofo_skb`: a delayed acknowledgment leaves before a third block begins, and the segment that begins it has no
/// acknowledgment of its own.
#[test]
fn what_waits_is_told_before_a_third_block() {
    let mut end = End::new(true, json!({ "quick_acks": 1, "receive_buffer": null }));
    end.data(200_000, 0, false);
    for n in [2, 4, 6] {
        assert_eq!(end.data(200_000 + n, n, false).len(), 1);
    }
    assert_eq!(end.data(200_010, 7, false).len(), 0, "it continues the last block, and waits");
    assert_eq!(end.data(200_020, 10, false), [(1, vec![(6, 8), (4, 5), (2, 3)])]);
    assert_eq!(end.data(200_030, 12, false).len(), 0, "nothing waited");
}

/// `tcp_try_undo_partial`: a hole that a late original filled takes nothing back while retransmissions are out; `tcp_try_undo_recovery` does at the end.
#[test]
fn a_partial_acknowledgment_undoes_nothing_while_retransmissions_are_out() {
    let mut end = End::new(false, json!({}));
    end.call(100_000, |tcp, cx| tcp.on_write(ENDLESS, false, cx));
    for (us, sack) in [(200_000, (1, 2)), (202_000, (1, 3)), (204_000, (1, 4))] {
        end.ack(us, 0, &[sack], 100);
    }
    for n in 6..=10 {
        end.ack(200_000 + 1000 * n, 0, &[(5, n), (1, 4)], 100);
    }
    assert_eq!(end.tcp.info().retrans, 2, "segments 0 and 4");
    end.ack(212_000, 4, &[(5, 10)], 100);
    assert_eq!((end.tcp.view().ssthresh, end.tcp.reductions_taken_back()), (5 * MSS, 0));
    // Ten, and two that went out for the first SACKs.
    end.ack(214_000, 12, &[], 100);
    assert_eq!(end.tcp.reductions_taken_back(), 1);
    assert!(end.tcp.view().cwnd >= 10 * MSS);
}
