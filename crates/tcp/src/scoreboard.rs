//! The scoreboard: all segments sent and not yet cumulatively acknowledged, with running sums (RFC 6675 section 3).

mod ack_log;
pub(crate) mod audit;
mod bits;
mod fack;
mod fin;
mod loss_detection;
mod ns3;
mod rack;
mod sack;

use crate::ack_log::AckLog;
use crate::sent::{FIN, KARN, LOST, RESENT, SACKED, Sent};
use fairlane_engine::steps::step;
use fairlane_net::Block;
use fairlane_units::Time;

/// A ring of segments in order of sequence number. Indices increase without end; `index & mask` is the slot.
///
/// The sums count sequence space, so that a FIN is lost, SACKed and retransmitted like any segment. Only data fills a window (RFC 5681
/// section 2): [`Self::pipe`], [`Self::flight`], [`Self::outstanding`] and [`Self::sacked`] return data.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct Scoreboard {
    pub(crate) ring: Vec<Sent>,
    pub(crate) out: u64,
    pub(crate) head: u32,
    pub(crate) tail: u32,
    /// Segments lost and not yet retransmitted.
    pub(crate) pending: u32,
    /// Index below which no segment is to be retransmitted.
    pub(crate) next_lost: u32,
    /// Index below which every segment that is not SACKed is lost (IsLost of RFC 6675 section 4 is monotone).
    pub(crate) edge: u32,
    /// One past the highest SACKed segment.
    pub(crate) high: u32,
    /// Runs of SACKed segments at or above `edge`.
    pub(crate) runs: u32,
    /// Index below which RACK has judged all segments sent once.
    pub(crate) checked: u32,
    /// True if the last segment carries FIN.
    pub(crate) finished: bool,
    /// SACKed bytes at or above `edge`.
    pub(crate) above: u64,
    pub(crate) sacked: u64,
    pub(crate) lost: u64,
    pub(crate) resent: u64,
    /// Bytes ever deemed lost; a segment lost twice counts twice.
    pub(crate) marked: u64,
    /// Latest blocks received, to skip known ones; none before the first.
    pub(crate) seen: Option<Box<[Block; 4]>>,
    /// Sets of segments, if the ring is large.
    bits: Option<Box<bits::Bits>>,
    /// Changes by the current acknowledgment, if the log is enabled.
    pub(crate) log: Option<Box<AckLog>>,
}

/// True if index `a` comes before `b`; indices may wrap.
pub(crate) fn before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

impl Scoreboard {
    /// An empty scoreboard.
    pub(crate) const EMPTY: Self = Self {
        ring: Vec::new(),
        out: 0,
        head: 0,
        tail: 0,
        pending: 0,
        next_lost: 0,
        edge: 0,
        high: 0,
        runs: 0,
        checked: 0,
        finished: false,
        above: 0,
        sacked: 0,
        lost: 0,
        resent: 0,
        marked: 0,
        seen: None,
        bits: None,
        log: None,
    };
    #[inline]
    pub(crate) fn slot(&self, index: u32) -> usize {
        index as usize & (self.ring.len() - 1)
    }

    #[inline]
    pub(crate) fn at(&self, index: u32) -> &Sent {
        &self.ring[self.slot(index)]
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.head == self.tail
    }

    /// True if a segment is to be retransmitted.
    #[inline]
    pub(crate) fn has_pending(&self) -> bool {
        self.pending != 0
    }

    /// Bytes not cumulatively acknowledged.
    #[inline]
    pub(crate) fn outstanding(&self) -> u64 {
        self.out - self.fin_in(0)
    }

    /// Estimate of the bytes in the network: SetPipe of RFC 6675 section 4.
    #[inline]
    pub(crate) fn pipe(&self) -> u64 {
        if self.finished { self.pipe_before_fin() } else { self.out - self.sacked - self.lost + self.resent }
    }

    /// Bytes outstanding, without those to be retransmitted: FlightSize of a sender without SACK.
    #[inline]
    pub(crate) fn flight(&self) -> u64 {
        if self.finished { self.flight_before_fin() } else { (self.out + self.resent - self.lost).min(self.out) }
    }

    /// Bytes covered by SACK blocks.
    #[inline]
    pub(crate) fn sacked(&self) -> u64 {
        self.sacked - self.fin_in(SACKED)
    }

    /// True if data or a FIN is SACKed.
    #[inline]
    pub(crate) fn has_sacked(&self) -> bool {
        self.sacked != 0
    }

    /// Adds the next segment.
    #[inline(always)]
    pub(crate) fn push(&mut self, seg: Sent) {
        if (self.tail.wrapping_sub(self.head)) as usize == self.ring.len() {
            self.grow();
        }
        let slot = self.slot(self.tail);
        self.ring[slot] = seg;
        self.tail = self.tail.wrapping_add(1);
        self.out += u64::from(seg.len);
        self.finished |= seg.is(FIN);
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let mut bigger = vec![Sent::default(); (self.ring.len() * 2).max(8)];
        let mask = bigger.len() - 1;
        let mut i = self.head;
        while i != self.tail {
            bigger[i as usize & mask] = *self.at(i);
            i = i.wrapping_add(1);
        }
        step(bigger.len());
        self.ring = bigger;
        self.remake_bits();
    }

    /// Sending time of the first segment below `ack` that was sent once and is not SACKed.
    #[inline]
    pub(crate) fn oldest_sent_once(&self, ack: u64) -> Option<Time> {
        let mut i = self.head;
        while i != self.tail && self.at(i).seq < ack {
            if self.at(i).flags & (SACKED | KARN) == 0 {
                return Some(self.at(i).at);
            }
            i = i.wrapping_add(1);
        }
        None
    }

    /// Removes everything below `ack`; returns the sending time of the last segment that can be timed. `waiting`: the acknowledgment of a
    /// hole times the newest segment it covers, although that waited at the receiver (`vegas_times_waiting`).
    #[inline(always)]
    pub(crate) fn pop(&mut self, ack: u64, waiting: bool) -> Option<Time> {
        // Nearly always a segment or two without marks, the last of which ends at `ack`.
        let mut timed = None;
        while self.head != self.tail {
            let slot = self.slot(self.head);
            let s = &self.ring[slot];
            let (end, len) = (s.end(), u64::from(s.len));
            if s.flags & (SACKED | LOST | RESENT | KARN) != 0 || end > ack {
                break;
            }
            timed = Some(s.at);
            self.out -= len;
            self.head = self.head.wrapping_add(1);
            if end == ack {
                self.raise_indices();
                return timed;
            }
        }
        self.pop_marked(ack, waiting, timed)
    }

    /// Removes segments with marks, and a part of the last segment.
    #[cold]
    #[inline(never)]
    fn pop_marked(&mut self, ack: u64, waiting: bool, mut timed: Option<Time>) -> Option<Time> {
        let mut again = false;
        while self.head != self.tail {
            step(1);
            let slot = self.slot(self.head);
            let s = self.ring[slot];
            if s.end() > ack {
                if s.seq < ack {
                    self.shorten(slot, ack);
                }
                break;
            }
            if s.flags & (SACKED | KARN) == 0 {
                timed = Some(s.at);
            } else if waiting {
                timed = None;
            }
            again |= s.is(KARN);
            self.forget(s);
            self.out -= u64::from(s.len);
            self.head = self.head.wrapping_add(1);
        }
        self.raise_indices();
        // Data behind a hole waited at the receiver until the hole was repaired: its acknowledgment does not measure the path.
        if again && !waiting { None } else { timed }
    }

    /// Raises saved indices to the new head.
    #[inline(always)]
    fn raise_indices(&mut self) {
        for mark in [&mut self.next_lost, &mut self.edge, &mut self.high] {
            if before(*mark, self.head) {
                *mark = self.head;
            }
        }
    }

    /// Removes the head from all sums but `out`.
    fn forget(&mut self, s: Sent) {
        let len = u64::from(s.len);
        if s.is(SACKED) {
            self.sacked -= len;
            self.resent -= if s.is(RESENT) { len } else { 0 };
            self.set_sacked(self.head, false);
            if !before(self.head, self.edge) {
                self.leave_edge(self.head, len);
            }
        } else {
            self.unmark(self.head, s);
        }
    }

    /// Moves the edge past a SACKed segment.
    pub(crate) fn leave_edge(&mut self, index: u32, len: u64) {
        self.above -= len;
        let next = index.wrapping_add(1);
        if next == self.tail || !self.at(next).is(SACKED) {
            self.runs -= 1;
        }
    }

    /// Removes a segment that is not SACKed from `lost`, `pending` and `resent`.
    fn unmark(&mut self, i: u32, s: Sent) {
        let len = u64::from(s.len);
        if s.is(LOST) {
            self.lost -= len;
            if !s.is(RESENT) {
                self.set_pending(i, false);
            }
        }
        if s.is(RESENT) {
            self.resent -= len;
        }
    }

    /// Shortens the head, which is acknowledged in part.
    fn shorten(&mut self, slot: usize, ack: u64) {
        let s = self.ring[slot];
        let cut = ack - s.seq;
        self.ring[slot].seq = ack;
        self.ring[slot].len -= cut as u32;
        self.out -= cut;
        if s.is(SACKED) {
            self.sacked -= cut;
            self.resent -= if s.is(RESENT) { cut } else { 0 };
            if !before(self.head, self.edge) {
                self.above -= cut;
            }
            return;
        }
        self.lost -= if s.is(LOST) { cut } else { 0 };
        self.resent -= if s.is(RESENT) { cut } else { 0 };
    }

    /// Index of the first segment.
    pub(crate) fn first(&self) -> Option<u32> {
        (!self.is_empty()).then_some(self.head)
    }

    /// Marks the newest segment as retransmitted.
    pub(crate) fn mark_last_retransmitted(&mut self) {
        let slot = self.slot(self.tail.wrapping_sub(1));
        self.ring[slot].flags |= KARN;
    }

    /// Retransmits a segment. `count`: it is now in flight in addition to the first copy, unless that is lost.
    pub(crate) fn resend(&mut self, i: u32, now: Time, count: bool) -> Sent {
        let slot = self.slot(i);
        let s = &mut self.ring[slot];
        s.at = now;
        s.flags |= KARN;
        if count && !s.is(RESENT) {
            s.flags |= RESENT;
            self.resent += u64::from(s.len);
            if s.is(LOST) {
                self.set_pending(i, false);
            }
            if let Some(resent) = self.bits.as_mut().and_then(|bits| bits.resent.as_mut()) {
                resent.push_back((i, now));
            }
        }
        self.ring[slot]
    }
}

#[cfg(test)]
#[path = "scoreboard_tests.rs"]
mod tests;
