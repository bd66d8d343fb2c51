//! SACK blocks on the scoreboard.

use crate::ack_log::SegmentEvent;
use crate::scoreboard::{Scoreboard, before};
use crate::sent::{COUNTED, LOST, RESENT, SACKED, Sent};
use fairlane_engine::steps::{log_step, step};
use fairlane_net::Block;

impl Scoreboard {
    /// Bytes below `ack` that were SACKed before.
    pub(crate) fn sacked_below(&self, ack: u64) -> u64 {
        let (mut bytes, mut i) = (0, self.head);
        while self.has_sacked() && i != self.tail && self.at(i).seq < ack {
            step(1);
            let s = self.at(i);
            bytes += if s.is(SACKED) { s.data() } else { 0 };
            i = i.wrapping_add(1);
        }
        bytes
    }
}

impl Scoreboard {
    /// Index of the first segment that ends above `seq`, among `head..tail`.
    fn find(&self, seq: u64) -> u32 {
        let (mut lo, mut hi) = (0, self.tail.wrapping_sub(self.head));
        log_step(hi as usize);
        // A new block mostly follows the highest SACKed segment.
        let known = self.high.wrapping_sub(self.head);
        if known < hi && self.at(self.high).seq <= seq {
            if self.at(self.high).end() > seq {
                return self.high;
            }
            lo = known + 1;
        }
        while lo < hi {
            let mid = lo + (hi - lo) / 2;
            if self.at(self.head.wrapping_add(mid)).end() <= seq {
                lo = mid + 1;
            } else {
                hi = mid;
            }
        }
        self.head.wrapping_add(lo)
    }

    /// Marks segments that a SACK block covers; returns the bytes newly covered. `keeps`: retransmissions count until they are acknowledged
    /// in order (ns-3).
    pub(crate) fn sack(&mut self, block: Block, keeps: bool) -> u64 {
        let mut from = block.start;
        let seen = self.seen.get_or_insert_default();
        if let Some(b) = seen.iter_mut().find(|b| b.start == block.start && b.end != 0) {
            let known = b.end;
            b.end = known.max(block.end);
            if block.end <= known {
                return 0;
            }
            from = known;
        } else {
            seen.rotate_right(1);
            seen[0] = block;
        }
        if self.is_empty() || block.end <= self.at(self.head).seq {
            return 0;
        }
        let mut newly = 0;
        let mut i = self.find(from);
        while i != self.tail {
            let s = *self.at(i);
            if s.end() > block.end {
                break;
            }
            step(1);
            if s.seq >= block.start && !s.is(SACKED) {
                newly += u64::from(s.len);
                self.mark_sacked(i, s, keeps);
            }
            i = self.next_open(i.wrapping_add(1));
        }
        newly
    }

    /// Remembers a block without marking segments; returns true if it is new since [`Self::forget_blocks`].
    pub(crate) fn note_block(&mut self, block: Block) -> bool {
        let seen = self.seen.get_or_insert_default();
        if seen.iter().any(|b| b.start <= block.start && block.end <= b.end) {
            return false;
        }
        seen.rotate_right(1);
        seen[0] = block;
        true
    }

    /// Forgets the blocks received.
    pub(crate) fn forget_blocks(&mut self) {
        self.seen = None;
    }

    fn mark_sacked(&mut self, i: u32, s: Sent, keeps: bool) {
        let len = u64::from(s.len);
        if let Some(log) = &mut self.log
            && !s.is(COUNTED)
        {
            log.delivered.push(SegmentEvent::new(i, &s));
        }
        self.unmark(i, s);
        let kept = if keeps { s.flags & RESENT } else { 0 };
        self.resent += if kept == 0 { 0 } else { len };
        let slot = self.slot(i);
        self.ring[slot].flags = s.flags & !(LOST | RESENT) | kept | SACKED | COUNTED;
        self.sacked += len;
        self.set_sacked(i, true);
        let next = i.wrapping_add(1);
        if before(self.high, next) {
            self.high = next;
        }
        if !before(i, self.edge) {
            self.above += len;
            let left = i != self.edge && self.at(i.wrapping_sub(1)).is(SACKED);
            let right = next != self.tail && self.at(next).is(SACKED);
            self.runs += 1;
            self.runs -= u32::from(left) + u32::from(right);
        }
    }
}
