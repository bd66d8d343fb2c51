//! RACK loss detection on the scoreboard (RFC 8985 section 6.2).

use crate::ack_log::SegmentEvent;
use crate::rack::{Rack, sent_after};
use crate::scoreboard::{Scoreboard, before};
use crate::sent::{KARN, LOST, RESENT, SACKED};
use fairlane_engine::steps::step;
use fairlane_units::{Dur, Time};

impl Scoreboard {
    /// Number of SACKed segments, up to `enough`.
    pub(crate) fn sacked_segments(&self, enough: u32) -> u32 {
        if let Some(n) = self.sacked_count() {
            return n.min(enough);
        }
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
        self.set_pending(i, true);
        if before(i, self.next_lost) {
            self.next_lost = i;
        }
    }

    /// Judges segments sent once; returns the longest wait of those that are not lost yet.
    pub(crate) fn rack_originals(&mut self, rack: &Rack, reo_wnd: Dur, now: Time) -> Dur {
        let mut i = if before(self.checked, self.head) { self.head } else { self.checked };
        if self.large().is_some() {
            return self.rack_many_originals(i, rack, reo_wnd, now);
        }
        let (mut wait, mut judged) = (Dur::ZERO, i);
        while i != self.tail {
            step(1);
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

    /// [`Self::rack_originals`] of a large ring. Segments sent before the latest one that arrived are listed once. They were sent in order, so
    /// the first are lost first, and the last one waits longest.
    fn rack_many_originals(&mut self, mut i: u32, rack: &Rack, reo_wnd: Dur, now: Time) -> Dur {
        let Some(mut waiting) = self.large().map(|bits| std::mem::take(&mut bits.waiting)) else { return Dur::ZERO };
        while i != self.tail {
            step(1);
            let s = self.at(i);
            if s.flags & (SACKED | LOST | KARN) == 0 {
                if !sent_after((rack.xmit_ts, rack.end_seq), (s.at, s.end())) {
                    break;
                }
                waiting.push_back(i);
            }
            i = i.wrapping_add(1);
        }
        self.checked = i;
        let waits = |board: &Self, i: u32| !before(i, board.head) && board.at(i).flags & (SACKED | LOST | KARN) == 0;
        while let Some(&i) = waiting.front() {
            step(1);
            if waits(self, i) {
                if rack.remaining(self.at(i).at, reo_wnd, now) != Dur::ZERO {
                    break;
                }
                self.mark_lost_again(i);
            }
            waiting.pop_front();
        }
        while waiting.back().is_some_and(|&i| !waits(self, i)) {
            step(1);
            waiting.pop_back();
        }
        let wait = waiting.back().map_or(Dur::ZERO, |&i| rack.remaining(self.at(i).at, reo_wnd, now));
        if let Some(bits) = self.large() {
            bits.waiting = waiting;
        }
        wait
    }

    /// Judges retransmissions; returns the longest wait.
    pub(crate) fn rack_again(&mut self, rack: &mut Rack, reo_wnd: Dur, now: Time) -> Dur {
        let gone = |board: &Self, (i, at): (u32, Time)| {
            before(i, board.head) || board.at(i).at != at || board.at(i).is(SACKED) || board.at(i).flags & (LOST | RESENT) == LOST
        };
        while rack.passed.front().is_some_and(|&r| gone(self, r)) {
            step(1);
            rack.passed.pop_front();
        }
        while let Some(&(i, at)) = rack.again.front() {
            step(1);
            if !gone(self, (i, at)) {
                if !sent_after((rack.xmit_ts, rack.end_seq), (at, self.at(i).end())) {
                    break;
                }
                rack.passed.push_back((i, at));
            }
            rack.again.pop_front();
        }
        // They left in order, so the first are lost first, and the last one waits longest.
        for &(i, at) in &rack.passed {
            step(1);
            if !gone(self, (i, at)) {
                if rack.remaining(at, reo_wnd, now) != Dur::ZERO {
                    break;
                }
                self.mark_lost_again(i);
            }
        }
        let arrived = |board: &Self, (i, at): (u32, Time)| before(i, board.head) || board.at(i).at != at || board.at(i).is(SACKED);
        while rack.passed.back().is_some_and(|&r| arrived(self, r)) {
            step(1);
            rack.passed.pop_back();
        }
        // Behind it only those that were lost just now.
        let last = rack.passed.iter().rev().inspect(|_| step(1)).find(|&&r| !gone(self, r));
        last.map_or(Dur::ZERO, |&(_, at)| rack.remaining(at, reo_wnd, now))
    }
}
