//! The preset `linux` compared with a current kernel, in scenarios like those of the kernel's own packet tests: a sender, and handwritten
//! acknowledgments.

use crate::helpers::with;
use fairlane_net::{Block, Class, Cx, Endpoint, Segment, TimerId, Timers, flag};
use fairlane_tcp::{AnyCc, Tcp, resolve_params};
use fairlane_units::{Dur, Time};
use serde_json::{Value, json};

const MSS: u64 = 1000;
/// Window advertised by the peer.
const WND: u32 = 1 << 20;

/// A sender that was connected to, at `now`; a round trip of the handshake of 100 ms.
struct Kernel {
    tcp: Tcp<AnyCc>,
    timers: Timers,
    now: Time,
}

impl Kernel {
    fn new(extra: Value) -> Self {
        let j = with(json!({ "preset": "linux", "cc": "cubic", "mss": "1000B", "timestamps": false, "eifel": false }), &extra);
        let (_, tcp) = Tcp::pair(&resolve_params(j).unwrap(), Class(0)).unwrap();
        let mut k = Self { tcp, timers: Timers::default(), now: Time::ZERO };
        k.call(|e, cx| e.start(cx));
        let mut syn = Segment::new(0, 0, flag::SYN, 0);
        syn.wnd = WND;
        k.call(|e, cx| e.on_packet(&syn, cx));
        k.wait(100);
        k.ack(0, &[]);
        k
    }

    /// Segments sent by a call: (segment number, true if retransmitted).
    fn call(&mut self, f: impl FnOnce(&mut Tcp<AnyCc>, &mut Cx<'_>)) -> Vec<(u64, bool)> {
        let mut out = Vec::new();
        let mut cx = Cx::new(self.now, &mut out, &mut self.timers);
        f(&mut self.tcp, &mut cx);
        out.iter().filter(|o| o.seg.payload != 0).map(|o| ((o.seg.seq - 1) / MSS, o.seg.retransmission())).collect()
    }

    fn write(&mut self, segments: u64) -> Vec<(u64, bool)> {
        self.call(|e, cx| e.on_write(segments * MSS, false, cx))
    }

    /// An acknowledgment of all below segment `next`, with SACK blocks of segments.
    fn ack(&mut self, next: u64, sack: &[(u64, u64)]) -> Vec<(u64, bool)> {
        let mut seg = Segment::new(1, 1 + next * MSS, flag::ACK, 0);
        seg.wnd = WND;
        for &(from, to) in sack {
            seg.add_sack(Block { start: 1 + from * MSS, end: 1 + to * MSS });
        }
        self.call(|e, cx| e.on_packet(&seg, cx))
    }

    /// Lets time pass; returns the segments sent by timers, with the time in ms since now.
    fn wait(&mut self, ms: u64) -> Vec<(u64, u64, bool)> {
        let (begun, end) = (self.now, self.now + Dur::from_ms(ms));
        let mut sent = Vec::new();
        while self.timers.next() <= end {
            self.now = self.timers.next();
            while let Some(id) = self.timers.take_due(self.now) {
                let at = self.now.since(begun).as_ps() / 1_000_000_000;
                sent.extend(self.call(|e, cx| e.on_timer(id, cx)).into_iter().map(|(n, again)| (at, n, again)));
            }
        }
        self.now = end;
        sent
    }

    fn cwnd(&self) -> u64 {
        self.tcp.view().cwnd / MSS
    }
}

fn new(numbers: std::ops::Range<u64>) -> Vec<(u64, bool)> {
    numbers.map(|n| (n, false)).collect()
}

fn again(n: u64) -> Vec<(u64, bool)> {
    vec![(n, true)]
}

/// One loss of ten: CUBIC leaves seven; from then on what is in flight is seven, and each delivery lets one segment out.
/// Also RFC 9937 sections 5 and 6.2.
#[test]
fn prr_conserves_packets_at_the_threshold() {
    let mut k = Kernel::new(json!({}));
    assert_eq!(k.write(10), new(0..10));
    k.wait(110);
    assert!(k.ack(0, &[(1, 2)]).is_empty());
    k.wait(10);
    assert!(k.ack(0, &[(1, 3)]).is_empty());
    k.wait(10);
    assert_eq!(k.ack(0, &[(1, 4)]), again(0));
    assert_eq!((k.cwnd(), k.tcp.view().ssthresh), (7, 7000));
    k.wait(10);
    assert!(k.write(7).is_empty());
    for i in 0..6 {
        k.wait(10);
        assert_eq!(k.ack(0, &[(1, 5 + i)]), new(10 + i..11 + i));
    }
    k.wait(20);
    assert_eq!(k.ack(10, &[]), new(16..17));
    assert_eq!((k.cwnd(), k.tcp.view().ssthresh), (7, 7000));
}

/// Six of ten are left when four are lost: what was delivered goes out and no more, until an acknowledgment makes progress; then two.
/// Also RFC 9937 section 6.2.
#[test]
fn prr_bounds_by_delivery_and_by_progress() {
    let mut k = Kernel::new(json!({}));
    assert_eq!(k.write(20), new(0..10));
    k.wait(10);
    assert_eq!(k.ack(0, &[(4, 5)]), new(10..11));
    k.wait(2);
    assert_eq!(k.ack(0, &[(4, 6)]), new(11..12));
    for i in 0..4 {
        k.wait(2);
        assert_eq!(k.ack(0, &[(4, 7 + i)]), again(i));
    }
    for i in 0..2 {
        k.wait(2);
        assert_eq!(k.ack(0, &[(4, 11 + i)]), new(12 + i..13 + i));
    }
    k.wait(10);
    assert_eq!(k.ack(1, &[(4, 12)]), new(14..16));
    k.wait(2);
    // The second retransmission was lost: what was sent after it arrived.
    assert_eq!(k.ack(1, &[(2, 12)]), [again(1), new(16..17)].concat());
    k.wait(2);
    assert_eq!(k.ack(1, &[(2, 13)]), new(17..18));
}

/// An acknowledgment that was overtaken still reports arrivals.
#[test]
fn late_sack_is_news() {
    let mut k = Kernel::new(json!({}));
    k.write(10);
    k.wait(10);
    k.ack(0, &[(1, 2)]);
    k.ack(0, &[(1, 3)]);
    assert_eq!(k.ack(0, &[(1, 3), (8, 9)]), again(0));
    k.wait(12);
    assert_eq!(k.ack(4, &[(8, 9)]), [again(4), again(5), again(6)].concat());
    assert!(k.write(10).is_empty());
    k.wait(2);
    assert_eq!(k.ack(3, &[(5, 7)]), [again(7), new(10..11)].concat());
}

/// Each SACKed segment lets a new one out, and the window grows by what is newly delivered: of the three acknowledged at once, two were before.
#[test]
fn limited_transmit_and_growth_by_delivery() {
    let mut k = Kernel::new(json!({}));
    assert_eq!(k.write(15), new(0..10));
    k.wait(110);
    assert_eq!(k.ack(0, &[(1, 2)]), new(10..11));
    k.wait(10);
    assert_eq!(k.ack(0, &[(1, 3)]), new(11..12));
    k.wait(10);
    assert_eq!(k.ack(3, &[]), new(12..14));
    assert_eq!(k.cwnd(), 11);
}

/// In slow start the window may grow to twice what was in flight; in the RFCs only while it was the limit.
#[test]
fn slow_start_while_half_the_window_is_used() {
    let run = |extra: Value| {
        let mut k = Kernel::new(extra);
        k.write(26);
        k.wait(100);
        k.ack(10, &[]);
        assert_eq!(k.cwnd(), 20);
        k.wait(100);
        k.ack(26, &[]);
        k.cwnd()
    };
    assert_eq!(run(json!({})), 36);
    assert_eq!(run(json!({ "cwnd_limited_by_round": false })), 20);
}

/// After idleness: half for each RTO, not below ten; the threshold keeps three quarters (RFC 2861 section 3).
#[test]
fn rfc2861_section_3_decay() {
    let run = |idle: u64| {
        let mut k = Kernel::new(json!({ "cc": "reno", "initial_ssthresh": "40p" }));
        k.write(140);
        for next in [10, 30, 70, 110, 140] {
            k.wait(100);
            k.ack(next, &[]);
        }
        let before = k.cwnd();
        assert!((40..=44).contains(&before), "{before}");
        // RTO: 100 ms and the floor of 200 ms.
        k.wait(idle);
        k.write(1);
        (k.cwnd(), k.tcp.view().ssthresh)
    };
    assert_eq!(run(290).0, run(250).0);
    let (half, ssthresh) = run(400);
    assert!((20..=22).contains(&half), "{half}");
    assert_eq!(ssthresh, 40_000);
    assert_eq!(run(700).0, 10);
    assert_eq!(run(7000).0, 10);
}

/// The tail: the probe goes out after two round trips and two ticks, its SACK begins fast recovery.
#[test]
fn tail_loss_probe() {
    let mut k = Kernel::new(json!({}));
    k.write(10);
    k.wait(100);
    k.ack(8, &[]);
    assert_eq!(k.wait(303), [(202, 9, true)]);
    assert_eq!(k.ack(8, &[(9, 10)]), again(8));
    assert_eq!(k.tcp.view().timeouts, 0);
}

/// A spurious timeout (F-RTO): window and threshold are restored.
#[test]
fn frto_takes_the_timeout_back() {
    let mut k = Kernel::new(json!({ "tlp": false }));
    k.write(20);
    let sent = k.wait(350);
    assert_eq!(sent, [(300, 0, true)]);
    // Acknowledgments of the originals, late.
    k.ack(2, &[]);
    k.ack(4, &[]);
    let v = k.tcp.view();
    assert_eq!((v.timeouts, v.retransmits), (1, 1));
    assert!(v.cwnd >= 10_000, "{}", v.cwnd);
    assert_eq!(v.ssthresh, u64::MAX);
}

/// The first sixteen acknowledgments are not delayed, then every second segment is acknowledged.
#[test]
fn quick_acks() {
    let (mut opener, _) =
        Tcp::pair(&resolve_params(json!({ "preset": "linux", "mss": "1000B", "timestamps": false, "eifel": false })).unwrap(), Class(0))
            .unwrap();
    let (mut out, mut timers) = (Vec::new(), Timers::default());
    let mut cx = Cx::new(Time::ZERO, &mut out, &mut timers);
    opener.start(&mut cx);
    let mut answer = Segment::new(0, 1, flag::SYN | flag::ACK, 0);
    answer.wnd = WND;
    opener.on_packet(&answer, &mut cx);
    let mut acks = Vec::new();
    for n in 0..24_u64 {
        let before = cx.out.len();
        let mut data = Segment::new(1 + n * MSS, 1, flag::ACK, MSS as u16);
        data.wnd = WND;
        opener.on_packet(&data, &mut cx);
        acks.push(cx.out.len() - before);
    }
    let quick = acks.iter().take_while(|&&a| a == 1).count();
    assert!((15..=16).contains(&quick), "{acks:?}");
    assert_eq!(acks[quick..quick + 6], [0, 1, 0, 1, 0, 1]);
    assert!(cx.timers.get(TimerId::DelAck).is_some() || acks.last() == Some(&1));
}

/// Linux without SACK: each duplicate stands for a segment, and an acknowledgment behind them delivers what none stood for, the hole at least
/// (`tcp_remove_reno_sacks`): of 2 segments behind two duplicates it makes 11 of 10, as this kernel does, and the next one 12.
#[test]
fn growth_without_sack_behind_duplicates() {
    let mut k = Kernel::new(json!({ "cc": "reno", "recovery": "newreno", "rack": false, "tlp": false, "prr": "off", "dsack_undo": false }));
    k.write(30);
    k.wait(100);
    k.ack(0, &[]);
    k.ack(0, &[]);
    assert_eq!(k.cwnd(), 10);
    k.ack(2, &[]);
    assert_eq!(k.cwnd(), 11);
    k.wait(10);
    k.ack(3, &[]);
    assert_eq!(k.cwnd(), 12);
    k.ack(7, &[]);
    assert_eq!(k.cwnd(), 16, "nothing stands for these");
}

/// Linux `tcp_may_raise_cwnd`: once reordering by more than three segments was seen, the window grows by what is SACKed, too. This kernel: 10, 11, 12 with the
/// SACK blocks, 15 and 16 with the acknowledgments.
#[test]
fn growth_by_sack_once_reordering_was_seen() {
    let mut k = Kernel::new(json!({ "cc": "reno" }));
    k.write(60);
    k.wait(100);
    k.ack(0, &[(4, 6)]);
    assert_eq!(k.cwnd(), 10);
    k.ack(0, &[(1, 2), (4, 6)]);
    assert_eq!((k.tcp.info().reordering, k.cwnd()), (5, 11));
    k.ack(0, &[(6, 7), (1, 2), (4, 6)]);
    assert_eq!(k.cwnd(), 12);
    k.ack(7, &[]);
    assert_eq!(k.cwnd(), 15);
    k.wait(1);
    k.ack(8, &[]);
    assert_eq!(k.cwnd(), 16);
}

/// Linux `tcp_clean_rtx_queue`: a segment that is acknowledged in part is not delivered yet. This kernel counts 0, 1, 2, 4 of four.
#[test]
fn delivered_counts_whole_segments() {
    let mut k = Kernel::new(json!({}));
    k.write(4);
    k.wait(100);
    let counts: Vec<_> = [500, 1000, 2500, 4000]
        .into_iter()
        .map(|bytes| {
            let mut seg = Segment::new(1, 1 + bytes, flag::ACK, 0);
            seg.wnd = WND;
            k.call(|e, cx| e.on_packet(&seg, cx));
            k.tcp.info().delivered.unwrap()
        })
        .collect();
    assert_eq!(counts, [0, 1, 2, 4]);
}
