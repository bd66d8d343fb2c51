//! RACK loss detection on the scoreboard (RFC 8985 section 6.2).

use crate::ack_log::SegmentEvent;
use crate::rack::{Rack, sent_after};
use crate::scoreboard::{Scoreboard, before};
use crate::sent::{KARN, LOST, RESENT, SACKED};
use fairlane_units::{Dur, Time};

impl Scoreboard {
    /// Number of SACKed segments, up to `enough`.
    pub(crate) fn sacked_segments(&self, enough: u32) -> u32 {
        let (mut n, mut i) = (0, self.head);
        while self.sacked != 0 && n < enough && before(i, self.high) {
            n += u32::from(self.at(i).is(SACKED));
            i = i.wrapping_add(1);
        }
        n
    }

    /// Marks a segment as lost, also if it was retransmitted since it was deemed lost before.
    pub(crate) fn mark_lost_again(&mut self, i: u32) {
        let slot = self.slot(i);
        let s = self.ring[slot];
        if s.is(SACKED) || s.flags & (LOST | RESENT) == LOST {
            return;
        }
        if let Some(log) = &mut self.log {
            log.lost.push(SegmentEvent::new(i, &s));
        }
        let len = u64::from(s.len);
        if s.is(RESENT) {
            self.resent -= len;
        }
        if !s.is(LOST) {
            self.lost += len;
        }
        self.ring[slot].flags = s.flags & !RESENT | LOST;
        self.marked += len;
        self.pending += 1;
        if before(i, self.next_lost) {
            self.next_lost = i;
        }
    }

    /// Judges segments sent once; returns the longest wait of those that are not lost yet.
    pub(crate) fn rack_originals(&mut self, rack: &Rack, reo_wnd: Dur, now: Time) -> Dur {
        let mut i = if before(self.checked, self.head) { self.head } else { self.checked };
        let (mut wait, mut judged) = (Dur::ZERO, i);
        while i != self.tail {
            let s = *self.at(i);
            if s.flags & (SACKED | LOST | KARN) == 0 {
                if !sent_after((rack.xmit_ts, rack.end_seq), (s.at, s.end())) {
                    break;
                }
                let left = rack.remaining(s.at, reo_wnd, now);
                if left == Dur::ZERO {
                    self.mark_lost_again(i);
                } else {
                    wait = wait.max(left);
                }
            }
            i = i.wrapping_add(1);
            if wait == Dur::ZERO {
                judged = i;
            }
        }
        self.checked = judged;
        wait
    }

    /// Judges retransmissions; returns the longest wait.
    pub(crate) fn rack_again(&mut self, rack: &mut Rack, reo_wnd: Dur, now: Time) -> Dur {
        let gone = |board: &Self, (i, at): (u32, Time)| {
            before(i, board.head) || board.at(i).at != at || board.at(i).is(SACKED) || board.at(i).flags & (LOST | RESENT) == LOST
        };
        while rack.again.front().is_some_and(|&r| gone(self, r)) {
            rack.again.pop_front();
        }
        let mut wait = Dur::ZERO;
        for &(i, at) in &rack.again {
            if gone(self, (i, at)) {
                continue;
            }
            if !sent_after((rack.xmit_ts, rack.end_seq), (at, self.at(i).end())) {
                break;
            }
            let left = rack.remaining(at, reo_wnd, now);
            if left == Dur::ZERO {
                self.mark_lost_again(i);
            } else {
                wait = wait.max(left);
            }
        }
        wait
    }
}
