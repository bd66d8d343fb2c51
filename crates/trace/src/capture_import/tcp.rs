//! Analysis of captured TCP connections: retransmissions and round-trip times.
//!
//! The rules are those of Wireshark's manual for its analysis of sequence numbers ("TCP Analysis"), so counts can be compared; tests/test_import.py
//! compares them.

use crate::capture_file::Headers;
use fairlane_net::flag;
use std::collections::VecDeque;

/// Most unacknowledged segments remembered per direction.
const WAITING: usize = 4096;
/// Longest time after the highest sequence number in which a lower segment counts as out of order, if the handshake's round-trip time is unknown.
const OUT_OF_ORDER: i128 = 3_000_000;
/// Longest time from the last duplicate acknowledgment to a fast retransmission.
const FAST: i128 = 20_000_000;

/// Analysis of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct SegmentAnalysis {
    /// True for retransmitted data, SYN or FIN.
    pub(super) again: bool,
    /// True for late data that was not retransmitted.
    pub(super) late: bool,
    /// Nanoseconds from a segment sent once to this acknowledgment of it.
    pub(super) rtt: Option<i128>,
}

#[derive(Clone, Copy, Debug)]
struct Waits {
    next: u32,
    time: i128,
    /// True if sent once, so its acknowledgment measures the round-trip time.
    once: bool,
}

/// One direction of a connection.
#[derive(Debug, Default)]
struct Half {
    first: Option<u32>,
    /// End of the highest byte seen, as in the header, and unwrapped.
    next: Option<u32>,
    whole: u64,
    next_time: i128,
    ack: Option<u32>,
    ack_time: i128,
    repeated: u32,
    window: u32,
    scale: Option<u8>,
    waits: VecDeque<Waits>,
}

/// A connection.
#[derive(Debug, Default)]
pub(super) struct Connection {
    halves: [Half; 2],
    /// Round-trip time of the handshake.
    first_rtt: Option<i128>,
    syn_time: Option<i128>,
}

/// True if `a` precedes `b` in sequence numbers that wrap.
const fn before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

impl Connection {
    /// True for a SYN that starts another connection between the same ends.
    pub(super) fn is_other(&self, way: usize, f: &Headers) -> bool {
        f.flags & (flag::SYN | flag::ACK) == flag::SYN && self.halves[way].first.is_some_and(|first| first != f.seq)
    }

    /// Unwrapped sequence and acknowledgment numbers of a segment, each counted from the first of its direction.
    pub(super) fn numbers(&self, way: usize, f: &Headers) -> (u64, u64) {
        let of = |half: &Half, seq: u32| match (half.first, half.next) {
            (_, Some(next)) => half.whole.saturating_add_signed(i64::from(seq.wrapping_sub(next) as i32)),
            (Some(first), None) => u64::from(seq.wrapping_sub(first)),
            (None, None) => 0,
        };
        (of(&self.halves[way], f.seq), if f.flags & flag::ACK == 0 { 0 } else { of(&self.halves[1 - way], f.ack) })
    }

    /// Receive window of a segment in bytes; unscaled for a connection older than the capture, whose scale is unknown.
    pub(super) fn window(&self, way: usize, f: &Headers) -> u64 {
        let shift = if f.flags & flag::SYN != 0 { 0 } else { self.shift(way) };
        u64::from(f.window) << shift
    }

    fn shift(&self, way: usize) -> u32 {
        // Both ends must offer the option (RFC 7323 section 2.2).
        let both = self.halves.iter().all(|h| h.scale.is_some());
        if both { self.halves[way].scale.unwrap_or(0).min(14).into() } else { 0 }
    }

    /// Analyses the next segment, in direction `way`.
    pub(super) fn take(&mut self, way: usize, f: &Headers, time: i128) -> SegmentAnalysis {
        let mut analysis = SegmentAnalysis::default();
        let syn_or_fin = f.flags & (flag::SYN | flag::FIN) != 0;
        let length = f.payload;
        let end = f.seq.wrapping_add(length).wrapping_add(u32::from(syn_or_fin));
        if f.scale.is_some() {
            self.halves[way].scale = f.scale;
        }
        let window = self.window(way, f) as u32;
        let first_rtt = self.first_rtt;
        let (halves, other) = self.halves.split_at_mut(1);
        let (fwd, rev) = if way == 0 { (&mut halves[0], &mut other[0]) } else { (&mut other[0], &mut halves[0]) };
        let first = *fwd.first.get_or_insert(f.seq);
        if f.flags & flag::ACK != 0 {
            // A connection older than the capture starts here.
            rev.first.get_or_insert(f.ack);
        }
        if let Some(next) = fwd.next {
            let plain = f.flags & (flag::SYN | flag::FIN | flag::RST) == 0;
            let probe = length == 1 && f.seq == next && rev.window == 0 && rev.ack.is_some();
            let alive = length <= 1 && f.seq == next.wrapping_sub(1) && plain && !probe;
            let duplicate = length == 0 && f.window != 0 && window == fwd.window && f.seq == next && Some(f.ack) == fwd.ack && plain;
            if duplicate && !alive {
                fwd.repeated += 1;
            }
            if Some(f.ack) != fwd.ack {
                fwd.repeated = 0;
            }
            if (length > 0 || syn_or_fin) && !alive && !probe && before(f.seq, next) {
                let acked = rev.ack.is_some_and(|ack| !before(ack, f.seq.wrapping_add(length)));
                let fast = rev.repeated >= 2 && rev.ack == Some(f.seq) && time - rev.ack_time < FAST;
                let soon = time - fwd.next_time < first_rtt.unwrap_or(OUT_OF_ORDER);
                if (length > 0 && acked) || fast || !(soon && next != end) {
                    analysis.again = true;
                } else {
                    analysis.late = true;
                }
            }
            if probe {
                return self.done(way, f, time, window, analysis);
            }
        } else {
            (fwd.next, fwd.next_time) = (Some(f.seq), time);
            fwd.whole = u64::from(f.seq.wrapping_sub(first));
        }
        let next = fwd.next.unwrap_or(f.seq);
        if before(next, end) {
            fwd.whole += u64::from(end.wrapping_sub(next));
            (fwd.next, fwd.next_time) = (Some(end), time);
        }
        if (length > 0 || syn_or_fin) && f.flags & flag::RST == 0 {
            if analysis.again || analysis.late {
                for waits in fwd.waits.iter_mut().filter(|w| before(f.seq, w.next) && !before(end, w.next)) {
                    waits.once = false;
                }
            } else {
                if fwd.waits.len() == WAITING {
                    fwd.waits.pop_front();
                }
                fwd.waits.push_back(Waits { next: end, time, once: true });
            }
        }
        self.done(way, f, time, window, analysis)
    }

    /// Records the acknowledgment and window of a segment.
    fn done(&mut self, way: usize, f: &Headers, time: i128, window: u32, mut analysis: SegmentAnalysis) -> SegmentAnalysis {
        if f.flags & flag::SYN != 0 && f.flags & flag::ACK == 0 {
            self.syn_time = Some(time);
        } else if self.first_rtt.is_none() && f.flags & flag::ACK != 0 && f.flags & flag::SYN == 0 {
            // From the SYN to the acknowledgment that completes the handshake.
            self.first_rtt = self.syn_time.map(|begun| time - begun).filter(|rtt| *rtt > 0);
        }
        let (halves, other) = self.halves.split_at_mut(1);
        let (fwd, rev) = if way == 0 { (&mut halves[0], &mut other[0]) } else { (&mut other[0], &mut halves[0]) };
        if f.flags & flag::ACK != 0 {
            while let Some(&waits) = rev.waits.front().filter(|w| !before(f.ack, w.next)) {
                analysis.rtt = (waits.next == f.ack && waits.once).then_some(time - waits.time);
                rev.waits.pop_front();
            }
            (fwd.ack, fwd.ack_time) = (Some(f.ack), time);
        }
        fwd.window = window;
        analysis
    }
}
