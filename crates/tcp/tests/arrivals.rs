//! Reaction of an end to each segment that arrives (RFC 9293 section 3.10.7, RFC 5961, PAWS), tested on a single end with handwritten
//! segments.

use crate::helpers::with;
use crate::pair::params;
use fairlane_net::{Class, Cx, Endpoint, Segment, TimerId, Timers, flag};
use fairlane_tcp::{AnyCc, Ended, Tcp};
use fairlane_units::{Dur, Time};
use serde_json::{Value, json};

const SYN: u8 = flag::SYN;
const ACK: u8 = flag::ACK;
const FIN: u8 = flag::FIN;
const RST: u8 = flag::RST;

/// One end, its clock and its timers.
pub(super) struct Host {
    pub(super) end: Tcp<AnyCc>,
    pub(super) timers: Timers,
    pub(super) now: Time,
    pub(super) delivered: u64,
}

/// Flags, sequence number, acknowledgment and payload of a segment.
pub(super) type Seen = (u8, u64, u64, u16);

impl Host {
    pub(super) fn new(extra: &Value, passive: bool) -> Self {
        let j = with(json!({ "cc": "reno", "mss": "1000B", "receive_window": "10000B", "ack_every": 1 }), extra);
        let (a, b) = Tcp::pair(&params(j), Class(0)).unwrap();
        let mut host =
            Self { end: if passive { b } else { a }, timers: Timers::default(), now: Time::ZERO + Dur::from_secs(1), delivered: 0 };
        host.end.keep_open();
        host.call(|end, cx| end.start(cx));
        host
    }

    /// The end that was called, with the handshake done.
    pub(super) fn open(extra: &Value) -> Self {
        let mut host = Self::new(extra, true);
        host.give(0, 0, SYN, 0, 8000);
        host.give(1, 1, ACK, 0, 8000);
        assert_eq!(host.state(), "ESTABLISHED");
        host
    }

    /// Calls the end and returns the segments that it sends.
    pub(super) fn call(&mut self, f: impl FnOnce(&mut Tcp<AnyCc>, &mut Cx<'_>)) -> Vec<Segment> {
        let mut out = Vec::new();
        let mut cx = Cx::new(self.now, &mut out, &mut self.timers);
        f(&mut self.end, &mut cx);
        self.delivered += cx.delivered;
        out.iter().map(|o| o.seg).collect()
    }

    pub(super) fn segment(&mut self, seg: &Segment) -> Vec<Segment> {
        self.call(|end, cx| end.on_packet(seg, cx))
    }

    pub(super) fn give(&mut self, seq: u64, ack: u64, flags: u8, payload: u16, wnd: u32) -> Vec<Seen> {
        let mut seg = Segment::new(seq, ack, flags, payload);
        seg.wnd = wnd;
        self.segment(&seg).iter().map(|s| (s.flags, s.seq, s.ack, s.payload)).collect()
    }

    pub(super) fn stamped(&mut self, (seq, ack, flags, payload): (u64, u64, u8, u16), stamp: u32) -> Vec<Segment> {
        let mut seg = Segment::new(seq, ack, flags, payload);
        seg.wnd = 8000;
        seg.set_timestamps(stamp, 0);
        self.segment(&seg)
    }

    pub(super) fn write(&mut self, bytes: u64, fin: bool) -> Vec<Seen> {
        self.call(|end, cx| end.on_write(bytes, fin, cx)).iter().map(|s| (s.flags, s.seq, s.ack, s.payload)).collect()
    }

    pub(super) fn wait(&mut self, time: Dur) {
        self.now += time;
    }

    pub(super) fn state(&self) -> &'static str {
        self.end.info().state
    }
}

const NOTHING: [Seen; 0] = [];

/// RFC 9293 section 3.10.7.4, fifth: what acknowledges something not yet sent draws an acknowledgment, and nothing of it is taken: no data, no FIN, no window.
/// Also RFC 5961 section 5.2.
#[test]
fn rfc9293_an_acknowledgment_beyond_snd_nxt_takes_nothing() {
    for preset in ["rfc", "linux"] {
        let mut h = Host::open(&json!({ "preset": preset, "timestamps": false, "eifel": false }));
        let sent = h.write(3000, false);
        assert_eq!(sent.len(), 3);
        assert_eq!(h.give(1, 3002, ACK, 500, 9000), [(ACK, 3001, 1, 0)]);
        assert_eq!(h.give(1, 3002, ACK | FIN, 0, 9000), if preset == "rfc" { vec![(ACK, 3001, 1, 0)] } else { vec![] });
        assert_eq!((h.delivered, h.state(), h.end.info().una), (0, "ESTABLISHED", 1));
        // The window is what it was: 8000 bytes.
        assert_eq!(h.write(9000, false).iter().map(|s| s.1 + u64::from(s.3)).max(), Some(8001));
    }
}

/// The timestamp of such a segment is not echoed.
/// Also RFC 9293 section 3.10.7.4.
#[test]
fn rfc9293_an_acknowledgment_beyond_snd_nxt_leaves_no_timestamp() {
    let mut h = Host::new(&json!({ "timestamps": true }), true);
    h.stamped((0, 0, SYN, 0), 100);
    h.stamped((1, 1, ACK, 0), 110);
    h.stamped((1, 900, ACK, 10), 200);
    assert_eq!(h.stamped((1, 1, ACK, 10), 120)[0].timestamps().unwrap().1, 120);
}

/// RFC 9293 section 3.10.7.4, fifth: in SYN-RECEIVED an acknowledgment that is not of the SYN draws <SEQ=SEG.ACK><CTL=RST>.
/// Also RFC 9293 section 3.5.2.
#[test]
fn rfc9293_syn_received_resets_what_acknowledges_nothing_of_it() {
    for ack in [0, 2, 70_000] {
        let mut h = Host::new(&json!({}), true);
        assert_eq!(h.give(0, 0, SYN, 0, 8000), [(SYN | ACK, 0, 1, 0)]);
        assert_eq!(h.give(1, ack, ACK, 100, 8000), [(RST, ack, 0, 0)]);
        assert_eq!((h.state(), h.delivered), ("SYN-RECEIVED", 0));
        assert_eq!(h.give(1, 1, ACK, 100, 8000), [(ACK, 1, 101, 0)]);
    }
}

/// RFC 9293 section 3.10.7.3: in SYN-SENT, too; a RST is believed with a good acknowledgment alone.
/// Also RFC 5961 section 3.2; RFC 9293 sections 3.5.2 and 3.5.3.
#[test]
fn rfc9293_syn_sent() {
    let mut h = Host::new(&json!({}), false);
    assert_eq!(h.give(0, 5, SYN | ACK, 0, 8000), [(RST, 5, 0, 0)]);
    assert_eq!(h.give(0, 0, ACK, 0, 8000), [(RST, 0, 0, 0)]);
    assert_eq!(h.give(0, 5, RST | ACK, 0, 0), NOTHING);
    assert_eq!(h.give(0, 0, RST, 0, 0), NOTHING);
    assert_eq!(h.state(), "SYN-SENT");
    assert_eq!(h.give(0, 1, RST | ACK, 0, 0), NOTHING);
    assert_eq!((h.state(), h.end.info().ended, h.timers.next()), ("CLOSED", Ended::Refused, Time::MAX));
}

/// RFC 9293 section 3.5, figure 8 (MUST-10): both ends open at once.
/// Also RFC 9293 section 3.10.7.3.
#[test]
fn rfc9293_simultaneous_open() {
    let mut h = Host::new(&json!({}), false);
    assert_eq!(h.give(0, 0, SYN, 0, 8000), [(SYN | ACK, 0, 1, 0)]);
    assert_eq!(h.state(), "SYN-RECEIVED");
    h.give(0, 1, SYN | ACK, 0, 8000);
    assert_eq!(h.state(), "ESTABLISHED");
}

/// RFC 9293 section 3.10.7.2: LISTEN ignores RST, resets acknowledgments, drops the rest.
/// Also RFC 9293 section 3.5.2.
#[test]
fn rfc9293_listen() {
    let mut h = Host::new(&json!({}), true);
    assert_eq!(h.give(7, 0, RST, 0, 0), NOTHING);
    assert_eq!(h.give(7, 9, ACK, 100, 0), [(RST, 9, 0, 0)]);
    assert_eq!(h.give(7, 0, FIN, 0, 0), NOTHING);
    assert_eq!(h.state(), "LISTEN");
}

/// RFC 9293 section 3.10.7.4: RST in SYN-RECEIVED goes back to LISTEN where a SYN opened (MUST-11), and another peer may come.
/// Also RFC 9293 section 3.5.
#[test]
fn rfc9293_reset_in_syn_received() {
    let mut h = Host::new(&json!({}), true);
    h.give(0, 0, SYN, 0, 8000);
    assert_eq!(h.give(1, 0, RST, 0, 0), NOTHING);
    assert_eq!((h.state(), h.timers.next()), ("LISTEN", Time::MAX));
    assert_eq!(h.give(0, 0, SYN, 0, 8000), [(SYN | ACK, 0, 1, 0)]);
}

/// RFC 9293 section 3.10.7.3: the answer to the SYN sets the window, whatever was assumed before it.
#[test]
fn rfc9293_the_answer_to_the_syn_sets_the_window() {
    for preset in ["rfc", "linux"] {
        let mut h = Host::new(&json!({ "preset": preset, "timestamps": false, "eifel": false }), false);
        h.give(0, 1, SYN | ACK, 0, 2000);
        let sent: u64 = h.write(10_000, false).iter().map(|s| u64::from(s.3)).sum();
        assert_eq!(sent, 2000, "{preset}");
    }
}

/// RFC 5961 section 3.2: RST at RCV.NXT ends the connection, elsewhere in the window it draws a challenge ACK, outside nothing.
/// Also RFC 5961 sections 1.1 and 4.2; RFC 9293 sections 3.5.3, 3.6 and 3.10.7.4.
#[test]
fn rfc5961_reset() {
    let mut h = Host::open(&json!({}));
    h.write(1000, false);
    assert_eq!(h.give(10_001, 0, RST, 0, 0), NOTHING);
    assert_eq!(h.give(0, 0, RST, 0, 0), NOTHING);
    assert_eq!(h.give(2, 0, RST, 0, 0), [(ACK, 1001, 1, 0)]);
    assert_eq!(h.give(10_000, 0, RST | ACK, 0, 0), [(ACK, 1001, 1, 0)]);
    assert_eq!(h.state(), "ESTABLISHED");
    assert_eq!(h.give(1, 0, RST, 0, 0), NOTHING);
    assert_eq!((h.state(), h.end.info().ended, h.timers.next()), ("CLOSED", Ended::Reset, Time::MAX));
    assert_eq!(h.write(1000, false), NOTHING);
}

/// RFC 5961 section 4.2: a SYN draws a challenge ACK, whatever its sequence number.
/// Also RFC 5961 section 1.1; RFC 9293 section 3.10.7.4.
#[test]
fn rfc5961_syn() {
    let mut h = Host::open(&json!({}));
    for (seq, flags) in [(0, SYN), (1, SYN), (5000, SYN), (90_000, SYN), (0, SYN | ACK), (1, SYN | ACK)] {
        assert_eq!(h.give(seq, 1, flags, 0, 8000), [(ACK, 1, 1, 0)], "{seq}");
    }
    assert_eq!((h.state(), h.end.info().rcv_nxt), ("ESTABLISHED", 1));
}

/// RFC 5961 section 5.2: an acknowledgment is good from SND.UNA - MAX.SND.WND to SND.NXT; data that comes with another is dropped.
/// Also RFC 5961 section 1.1.
#[test]
fn rfc5961_blind_data() {
    let mut h = Host::open(&json!({ "initial_window": "30p" }));
    for n in 0..4 {
        h.write(5000, false);
        h.give(1, 5001 + 5000 * n, ACK, 0, 8000);
    }
    assert_eq!(h.end.info().una, 20_001);
    assert_eq!(h.give(1, 12_000, ACK, 100, 8000), [(ACK, 20_001, 1, 0)]);
    assert_eq!(h.delivered, 0);
    assert_eq!(h.give(1, 12_001, ACK, 100, 8000), [(ACK, 20_001, 101, 0)]);
    assert_eq!(h.delivered, 100);
}

/// RFC 5961 section 7: 10 challenge ACKs in 5 s; Linux one in 500 ms.
#[test]
fn rfc5961_challenge_acks_are_throttled() {
    for (preset, most, later) in [("rfc", 10, Dur::from_secs(5)), ("linux", 1, Dur::from_ms(500))] {
        let mut h = Host::open(&json!({ "preset": preset, "timestamps": false, "eifel": false }));
        let burst = |h: &mut Host| (0..30).map(|_| h.give(1, 1, SYN, 0, 0).len()).sum::<usize>();
        assert_eq!(burst(&mut h), most, "{preset}");
        h.wait(later - Dur::from_ps(1));
        assert_eq!(burst(&mut h), 0, "{preset}");
        h.wait(Dur::from_ps(1));
        assert_eq!(burst(&mut h), most, "{preset}");
    }
}

/// RFC 9293 section 3.10.7.4, first: what lies outside of the window is answered and nothing of it counts, not even its acknowledgment; a RST is not answered.
/// Also RFC 9293 section 3.4.
#[test]
fn rfc9293_outside_of_the_window() {
    let mut h = Host::open(&json!({}));
    assert_eq!(h.give(1, 1, ACK, 100, 8000), [(ACK, 1, 101, 0)]);
    h.write(1000, false);
    for (seq, payload) in [(0, 0), (100, 0), (1, 100), (10_101, 100), (10_102, 0), (1 << 63, 10)] {
        let out = h.give(seq, 1001, ACK, payload, 8000);
        assert_eq!(out, [(ACK, 1001, 101, 0)], "{seq}");
        assert_eq!((h.end.info().una, h.delivered), (1, 100), "{seq}");
    }
    assert_eq!(h.give(1, 1001, RST | ACK, 0, 0), NOTHING);
    // A part in the window is enough.
    assert_eq!(h.give(51, 1001, ACK, 100, 8000), [(ACK, 1001, 151, 0)]);
    assert_eq!((h.end.info().una, h.delivered), (1001, 150));
}

/// Linux: an empty segment that the last acknowledgment sent covers counts as long as no later one was sent, and answers to empty ones are
/// throttled.
#[test]
fn linux_outside_of_the_window() {
    let mut h = Host::open(&json!({ "preset": "linux", "timestamps": false, "eifel": false }));
    assert_eq!(h.give(0, 1, ACK, 0, 8000), [(ACK, 1, 1, 0)]);
    assert_eq!(h.give(0, 1, ACK, 0, 8000), NOTHING);
    h.wait(Dur::from_ms(500));
    assert_eq!(h.give(0, 1, ACK, 0, 8000), [(ACK, 1, 1, 0)]);
}

/// RFC 9293 section 3.10.7.4: a segment without ACK is dropped, as is text after a FIN.
#[test]
fn rfc9293_without_ack_and_after_the_fin() {
    let mut h = Host::open(&json!({}));
    assert_eq!(h.give(1, 0, 0, 100, 8000), NOTHING);
    assert_eq!(h.delivered, 0);
    assert_eq!(h.give(1, 1, ACK | FIN, 100, 8000), [(ACK, 1, 102, 0)]);
    h.give(102, 1, ACK, 100, 8000);
    assert_eq!((h.delivered, h.state(), h.end.info().rcv_nxt), (100, "CLOSE-WAIT", 102));
}

/// RFC 9293 section 3.10.7.4: SND.WL1. What comes with an older sequence number does not shrink the window; what comes with the same or a later one does.
#[test]
fn rfc9293_an_older_segment_does_not_shrink_the_window() {
    let sent = |preset: &str, last: (u64, u32)| {
        let mut h = Host::open(&json!({ "preset": preset, "timestamps": false, "eifel": false, "initial_window": "50p" }));
        // Sequence number 2001 comes first, with a window of 8000; the data before it is late.
        h.give(2001, 1, ACK, 1000, 8000);
        h.give(last.0, 1, ACK, 500, last.1);
        h.write(50_000, false).iter().map(|s| s.1 + u64::from(s.3)).max().unwrap() - 1
    };
    assert_eq!(sent("rfc", (1, 3000)), 8000);
    assert_eq!(sent("rfc", (2001, 3000)), 3000);
    assert_eq!(sent("rfc", (3001, 3000)), 3000);
    assert_eq!(sent("linux", (1, 3000)), 8000);
    // Linux: at the same number the wider one is the later one.
    assert_eq!(sent("linux", (2001, 3000)), 8000);
    assert_eq!(sent("linux", (2001, 9000)), 9000);
    assert_eq!(sent("linux", (3001, 3000)), 3000);
}

/// New data acknowledged by an older segment: RFC 9293 keeps SND.WND and counts it from the new SND.UNA, Linux takes the field.
#[test]
fn an_older_segment_that_acknowledges_more() {
    let edge = |preset: &str| {
        let mut h = Host::open(&json!({ "preset": preset, "timestamps": false, "eifel": false, "initial_window": "50p" }));
        h.write(2000, false);
        h.give(2001, 1, ACK, 1000, 8000);
        h.give(1, 2001, ACK, 500, 3000);
        h.write(50_000, false).iter().map(|s| s.1 + u64::from(s.3)).max().unwrap() - 1
    };
    assert_eq!((edge("rfc"), edge("linux")), (10_000, 5000));
}

/// RFC 9293 section 3.6, figure 12: the end that closes last is gone with the acknowledgment of its FIN, and refuses what comes then (section 3.10.7.1).
/// Also RFC 9293 sections 3.5.2 and 3.10.7.4.
#[test]
fn rfc9293_closed_answers_with_reset() {
    let mut h = Host::open(&json!({}));
    assert_eq!(h.give(1, 1, ACK | FIN, 0, 8000), [(ACK, 1, 2, 0)]);
    assert_eq!(h.state(), "CLOSE-WAIT");
    assert_eq!(h.write(0, true), [(ACK | FIN, 1, 2, 0)]);
    assert_eq!(h.state(), "LAST-ACK");
    assert_eq!(h.give(2, 2, ACK, 0, 8000), NOTHING);
    assert_eq!((h.state(), h.end.info().ended, h.timers.next()), ("CLOSED", Ended::No, Time::MAX));
    assert_eq!(h.give(2, 2, ACK, 0, 8000), [(RST, 2, 0, 0)]);
    assert_eq!(h.give(2, 0, SYN, 10, 8000), [(RST | ACK, 0, 13, 0)]);
    assert_eq!(h.give(2, 2, RST, 0, 0), NOTHING);
}

/// Figure 12 from the other side: FIN-WAIT-1, FIN-WAIT-2, TIME-WAIT for 2 MSL (MUST-13); a repeated FIN is acknowledged and restarts the wait.
/// Also RFC 9293 sections 3.6.1 and 3.10.7.4.
#[test]
fn rfc9293_time_wait() {
    let mut h = Host::open(&json!({}));
    assert_eq!(h.write(100, true), [(ACK | FIN, 1, 1, 100)]);
    assert_eq!(h.state(), "FIN-WAIT-1");
    h.give(1, 102, ACK, 0, 8000);
    assert_eq!(h.state(), "FIN-WAIT-2");
    // The peer may continue to write.
    assert_eq!(h.give(1, 102, ACK, 50, 8000), [(ACK, 102, 51, 0)]);
    assert_eq!(h.give(51, 102, ACK | FIN, 0, 8000), [(ACK, 102, 52, 0)]);
    assert_eq!((h.state(), h.delivered), ("TIME-WAIT", 50));
    h.wait(Dur::from_secs(239));
    assert_eq!(h.give(51, 102, ACK | FIN, 0, 8000), [(ACK, 102, 52, 0)]);
    h.wait(Dur::from_secs(239));
    assert_eq!(h.give(52, 102, ACK, 0, 8000), NOTHING);
    assert_eq!(h.give(53, 102, RST, 0, 8000), NOTHING);
    assert_eq!(h.give(40, 102, ACK, 10, 8000), [(ACK, 102, 52, 0)]);
    h.wait(Dur::from_secs(1));
    assert_eq!(h.give(51, 102, ACK | FIN, 0, 8000), [(RST, 102, 0, 0)]);
}

/// RFC 9293 section 3.6, figure 13: both ends close at once: CLOSING, then TIME-WAIT.
/// Also RFC 9293 section 3.10.7.4.
#[test]
fn rfc9293_simultaneous_close() {
    let mut h = Host::open(&json!({}));
    h.write(0, true);
    assert_eq!(h.give(1, 1, ACK | FIN, 0, 8000), [(ACK, 2, 2, 0)]);
    assert_eq!(h.state(), "CLOSING");
    assert_eq!(h.give(2, 2, ACK, 0, 8000), NOTHING);
    assert_eq!(h.state(), "TIME-WAIT");
    assert_eq!(h.give(2, 2, RST, 0, 8000), NOTHING);
    assert_eq!(h.state(), "CLOSED");
}

/// RFC 9293 section 3.10.5, RFC 7323 section 3.2: giving a connection up sends a RST with the timestamp that is due.
/// Also RFC 7323 section 5.2.
#[test]
fn rfc9293_abort() {
    let mut h = Host::new(&json!({ "timestamps": true }), true);
    h.stamped((0, 0, SYN, 0), 100);
    h.stamped((1, 1, ACK, 10), 110);
    h.write(500, false);
    let out = h.call(|end, cx| end.abort(cx));
    assert_eq!(out.len(), 1);
    assert_eq!((out[0].flags, out[0].seq, out[0].ack, out[0].timestamps()), (RST | ACK, 501, 11, Some((1000, 110))));
    assert_eq!((h.state(), h.end.info().ended, h.timers.get(TimerId::Rto)), ("CLOSED", Ended::Aborted, None));
}

/// Returns numbers, flags and payload of the segment with timestamp `stamp`; acknowledgment number and echo of the answer.
fn stamps(h: &mut Host, seq: u64, flags: u8, payload: u16, stamp: u32) -> Vec<(u64, u32)> {
    let out = h.stamped((seq, 1, flags, payload), stamp);
    out.iter().map(|s| (s.ack, s.timestamps().unwrap().1)).collect()
}

fn stamped_host(preset: &str, first: u32) -> Host {
    let mut h = Host::new(&json!({ "preset": preset, "timestamps": true }), true);
    h.stamped((0, 0, SYN, 0), first);
    h.stamped((1, 1, ACK, 0), first);
    assert_eq!(stamps(&mut h, 1, ACK, 1000, first.wrapping_add(20)), [(1001, first.wrapping_add(20))]);
    h
}

/// RFC 7323 section 5.3, R1: what is older than TS.Recent is acknowledged and dropped, also where 32 bits wrap; a RST needs no good timestamp (section 5.2); a
/// segment without one is dropped, and the connection continues (section 3.2).
#[test]
fn rfc7323_paws() {
    for first in [1000, u32::MAX - 9] {
        let mut h = stamped_host("rfc", first);
        let last = first.wrapping_add(20);
        assert_eq!(stamps(&mut h, 1001, ACK, 1000, last.wrapping_sub(1)), [(1001, last)]);
        assert_eq!(stamps(&mut h, 1001, ACK, 1000, last.wrapping_sub((1 << 31) - 1)), [(1001, last)]);
        assert_eq!(h.give(1001, 1, ACK, 1000, 8000), NOTHING);
        assert_eq!(h.delivered, 1000);
        assert_eq!(stamps(&mut h, 1001, ACK, 1000, last), [(2001, last)]);
        assert_eq!(h.stamped((2001, 1, RST, 0), first).len(), 0);
        assert_eq!(h.state(), "CLOSED");
    }
}

/// Linux: a segment one tick too old counts, as does one without a timestamp, and a duplicate acknowledgment that was overtaken. A
/// duplicate of data is reported (RFC 2883).
/// Also RFC 7323 section 3.2.
#[test]
fn linux_paws() {
    let mut h = stamped_host("linux", 1000);
    assert_eq!(stamps(&mut h, 1001, ACK, 1000, 1018), [(1001, 1020)]);
    assert_eq!(stamps(&mut h, 1001, ACK, 1000, 1019).len(), 1);
    assert_eq!((h.delivered, h.give(2001, 1, ACK, 1000, 8000).len(), h.delivered), (2000, 1, 3000));
    let out = h.stamped((1, 1, ACK, 1000), 1000);
    assert_eq!((out[0].ack, out[0].sack_len(), out[0].sack(0).start, out[0].sack(0).end), (3001, 1, 1, 1001));
    // The window field of this number was taken before: the acknowledgment repeats one, and may.
    h.stamped((3001, 1, ACK, 0), 1030);
    h.wait(Dur::from_secs(1));
    assert_eq!(h.stamped((3001, 1, ACK, 0), 1025).len(), 0);
    h.wait(Dur::from_secs(1));
    assert_eq!(h.stamped((3001, 1, ACK, 100), 1025).len(), 1);
    assert_eq!(h.delivered, 3000);
}

/// RFC 7323 section 5.5: after 24 days TS.Recent says nothing.
#[test]
fn rfc7323_paws_after_24_days() {
    for (days, acknowledged) in [(23, 1001), (25, 2001)] {
        let mut h = stamped_host("rfc", 1000);
        h.wait(Dur::from_secs(days * 86_400));
        assert_eq!(stamps(&mut h, 1001, ACK, 1000, 500)[0].0, acknowledged);
    }
}
