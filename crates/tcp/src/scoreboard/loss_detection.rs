//! Loss detection and the choice of the next segment: IsLost and NextSeg of RFC 6675 section 4.

use crate::ack_log::SegmentEvent;
use crate::scoreboard::{Scoreboard, before};
use crate::sent::{LOST, RESENT, SACKED, Sent};
use fairlane_engine::steps::step;

impl Scoreboard {
    /// Marks all outstanding data as lost, and divides it again into segments of at most `smss` bytes.
    pub(crate) fn resegment(&mut self, smss: u32) {
        let Some(first) = self.first() else { return };
        let Sent { mut seq, at, len, flags } = *self.at(first);
        let end = seq + u64::from(len);
        (self.tail, self.out) = (self.head, 0);
        while seq < end {
            let len = (end - seq).min(u64::from(smss)) as u32;
            self.push(Sent { seq, at, len, flags });
            seq += u64::from(len);
        }
        self.mark_all_lost(false);
    }
}

impl Scoreboard {
    /// Marks lost segments: holes with at least `segments` discontiguous SACKed runs, or more than `segments - 1` full segments SACKed,
    /// above them (IsLost of RFC 6675 section 4).
    pub(crate) fn find_lost(&mut self, segments: u32, smss: u32) {
        let bytes = u64::from(segments - 1) * u64::from(smss);
        while before(self.edge, self.high) {
            step(1);
            let i = self.edge;
            let s = *self.at(i);
            if s.is(SACKED) {
                self.leave_edge(i, u64::from(s.len));
            } else if self.above > bytes || self.runs >= segments {
                self.mark_lost(i);
            } else {
                break;
            }
            self.edge = i.wrapping_add(1);
        }
    }

    fn mark_lost(&mut self, i: u32) {
        let slot = self.slot(i);
        let s = &mut self.ring[slot];
        if s.flags & (SACKED | LOST) == 0 {
            if let Some(log) = &mut self.log {
                log.lost.push(SegmentEvent::new(i, s));
            }
            s.flags |= LOST;
            self.lost += u64::from(s.len);
            self.marked += u64::from(s.len);
            if s.flags & RESENT == 0 {
                self.set_pending(i, true);
                if before(i, self.next_lost) {
                    self.next_lost = i;
                }
            }
        }
    }

    /// Marks the first segment as lost.
    pub(crate) fn mark_head_lost(&mut self) {
        if !self.is_empty() {
            self.mark_lost(self.head);
        }
    }

    /// Marks all segments that are not SACKed as lost, none in flight: after a timeout. `forget`: SACKed ones as well.
    pub(crate) fn mark_all_lost(&mut self, forget: bool) {
        let (mut lost, mut sacked, mut pending) = (0, 0, 0);
        let mut i = self.head;
        while i != self.tail {
            let slot = self.slot(i);
            let s = &mut self.ring[slot];
            if s.is(SACKED) && !forget {
                s.flags &= !RESENT;
                sacked += u64::from(s.len);
            } else {
                if let Some(log) = &mut self.log
                    && (!s.is(LOST) || s.is(RESENT))
                {
                    log.lost.push(SegmentEvent::new(i, s));
                }
                s.flags = s.flags & !(SACKED | RESENT) | LOST;
                lost += u64::from(s.len);
                pending += 1;
            }
            step(1);
            i = i.wrapping_add(1);
        }
        (self.lost, self.sacked, self.pending, self.resent) = (lost, sacked, pending, 0);
        (self.above, self.runs) = (0, 0);
        self.next_lost = self.head;
        self.edge = self.tail;
        if forget {
            self.high = self.head;
            self.seen = None;
        }
        self.remake_bits();
    }

    /// Clears the marks of lost segments when recovery is over, with `forget` also those of SACKed ones.
    pub(crate) fn clear_marks(&mut self, forget: bool) {
        let (mut sacked, mut runs, mut was) = (0, 0, false);
        let mut i = self.head;
        while i != self.tail {
            let slot = self.slot(i);
            let s = &mut self.ring[slot];
            s.flags &= !(LOST | RESENT | if forget { SACKED } else { 0 });
            let is = s.is(SACKED);
            sacked += if is { u64::from(s.len) } else { 0 };
            runs += u32::from(is && !was);
            was = is;
            step(1);
            i = i.wrapping_add(1);
        }
        (self.lost, self.pending, self.resent) = (0, 0, 0);
        (self.sacked, self.above, self.runs) = (sacked, sacked, runs);
        self.edge = self.head;
        self.next_lost = self.head;
        self.judge_again();
        if forget {
            self.high = self.head;
            self.seen = None;
        }
        self.remake_bits();
    }

    /// NextSeg rule 1 (RFC 6675 section 4): the first segment that is lost and not retransmitted.
    pub(crate) fn first_pending(&mut self) -> Option<u32> {
        if self.pending == 0 {
            return None;
        }
        if let Some(first) = self.next_pending() {
            return Some(first);
        }
        while self.next_lost != self.tail {
            let s = self.at(self.next_lost);
            if s.flags & (LOST | RESENT) == LOST {
                return Some(self.next_lost);
            }
            self.next_lost = self.next_lost.wrapping_add(1);
        }
        None
    }

    /// NextSeg rule 3: the first segment below the highest SACKed one that is not lost, SACKed or retransmitted.
    pub(crate) fn first_unmarked(&mut self) -> Option<u32> {
        let mut i = self.unmarked_from(None);
        while before(i, self.high) && self.at(i).flags & (SACKED | LOST | RESENT) != 0 {
            step(1);
            i = i.wrapping_add(1);
        }
        self.unmarked_from(Some(i));
        before(i, self.high).then_some(i)
    }

    /// NextSeg rule 4: the last segment that is not SACKED.
    pub(crate) fn last_unsacked(&self) -> Option<u32> {
        if !self.is_empty()
            && let Some(last) = self.last_open()
        {
            return Some(last);
        }
        let mut i = self.tail;
        while i != self.head {
            i = i.wrapping_sub(1);
            step(1);
            if !self.at(i).is(SACKED) {
                return Some(i);
            }
        }
        None
    }
}
