//! Vegas: Reno that asks a fine clock whether the first hole is overdue, before three duplicates have come
//! (Brakmo and Peterson 1995 section 3.1).

use crate::cc::{CongestionControl, CongestionKind};
use crate::endpoint::{FIRST, Phase, Tcp};
use crate::scoreboard::KARN;
use fairlane_net::{Cx, TimerId};
use fairlane_units::Time;

/// Acknowledgments after a retransmission that look for more overdue segments (Brakmo and Peterson 1995 section 3.1: the first and the second).
const WORRIED: u64 = 2;

impl<C: CongestionControl> Tcp<C> {
    /// Whether the first hole should have been acknowledged by now, and whether it was ever sent again.
    fn head_overdue(&self, cx: &Cx<'_>) -> Option<(bool, bool, Time)> {
        let head = self.board.at(self.board.first()?);
        Some((self.cc.overdue(head.at, cx.now), head.is(KARN), head.at))
    }

    /// Duplicates inflate the window; in ns-2 for good, until the next acknowledgment of new data that more than three of them precede.
    fn inflate(&mut self, segments: u32) {
        let bytes = u64::from(segments) * u64::from(self.cfg.smss);
        if self.cfg.vegas_ns2 {
            self.cc.inflate(bytes);
            self.halted &= self.cc.shut();
        } else {
            self.inflation += bytes;
        }
    }

    pub(super) fn vegas_dupack(&mut self, cx: &mut Cx<'_>) {
        let ns2 = self.cfg.vegas_ns2;
        self.dupacks += 1;
        let Some((overdue, again, sent)) = self.head_overdue(cx) else { return };
        if overdue || self.dupacks == self.cfg.dupthresh {
            // After a timeout everything is sent again anyway: duplicates of that are no losses.
            if self.phase != Phase::Loss {
                self.worried = (self.board.outstanding() / u64::from(self.cfg.smss)).min(WORRIED) as u8;
                let (before, cuts, answered) = (self.cc.cwnd(), self.count.cwnd_cuts, self.cc.answered(sent));
                self.congestion(CongestionKind::FastRetransmit, cx);
                let cut = if ns2 { !answered } else { self.cc.cwnd() < before };
                if cut {
                    self.inflation = 0;
                    self.inflate(self.dupacks);
                } else {
                    self.count.cwnd_cuts = cuts;
                }
                if ns2 {
                    self.rtt.back_off(self.cfg.forget_rtt_after, &self.cfg);
                }
                self.enter(Phase::Recovery, cx);
                if let Some(first) = self.board.first() {
                    self.resend(first, false, cx);
                }
                if !again {
                    self.dupacks = self.cfg.dupthresh;
                }
            }
        } else if self.dupacks > self.cfg.dupthresh {
            if self.phase == Phase::Recovery || ns2 {
                self.inflate(1);
            }
        } else {
            return self.send_limited(cx);
        }
        if self.dupacks >= self.cfg.dupthresh {
            self.transmit(self.cfg.max_burst, cx);
        }
    }

    /// ns-2's Vegas notes when each segment was sent, and how often, in a table with a place for each segment of `window`. An acknowledgment clears the
    /// places from that of the first segment it covers up to that of the last: none, if the table begins anew between them. What comes to lie in a
    /// place that was not cleared counts as sent before.
    pub(crate) fn forget_acked(&mut self) {
        let smss = u64::from(self.cfg.smss);
        let places = self.cfg.window / smss;
        let (first, last) = ((self.una_before - FIRST) / smss, (self.una - 1 - FIRST) / smss);
        if first % places <= last % places {
            return;
        }
        let end = |segment: u64| FIRST + (segment + places + 1) * smss;
        if let Some(ends) = self.unforgotten.as_deref_mut() {
            ends.swap(0, 1);
            ends[0] = end(first)..end(last) + 1;
        }
    }

    /// Whether ns-2 takes the next segment for overdue though it was never sent: its place tells of one sent long ago. Not so if the
    /// acknowledgment at hand was that of a hole a whole window earlier, and left its place as it was.
    fn next_looks_overdue(&self) -> bool {
        let smss = u64::from(self.cfg.smss);
        let kept = self.una + smss..self.una + self.cfg.window / smss * smss + 1;
        self.board.is_empty()
            && self.held.is_none()
            && self.new_len() == self.cfg.smss
            && self.fits(self.cfg.smss)
            && self.unforgotten.as_deref().is_some_and(|ends| ends[0] != kept)
    }

    /// Any acknowledgment of new data ends recovery; if the next hole is overdue too, it is of the same event.
    pub(super) fn vegas_recovery_ack(&mut self, acked: u64, sacked: u64, cx: &mut Cx<'_>) {
        let ns2 = self.cfg.vegas_ns2;
        let again = self.phase == Phase::Loss && self.una <= self.recover;
        if ns2 && self.dupacks > self.cfg.dupthresh {
            self.cc.deflate();
        }
        self.leave_recovery(cx);
        self.grow(acked, sacked, cx);
        self.restart_timer(cx);
        let mut open = true;
        if self.worried > 0 {
            self.worried -= 1;
            if let (Some((true, ..)), Some(first)) = (self.head_overdue(cx), self.board.first()) {
                open = false;
                self.resend(first, false, cx);
            } else if ns2 && self.next_looks_overdue() {
                open = false;
                self.send_new(self.cfg.smss, cx);
                if let Some(first) = self.board.first() {
                    self.resend(first, false, cx);
                }
            } else {
                self.worried = 0;
            }
        }
        if !open {
            self.dupacks = self.cfg.dupthresh;
        }
        // ns-2's window may be less than a segment: nothing goes out before the timer does.
        self.halted = ns2 && self.cc.shut();
        if self.halted && self.board.is_empty() {
            cx.timers.set(TimerId::Rto, cx.now + self.rtt.rto());
        }
        self.phase = if again {
            Phase::Loss
        } else if open && !self.halted {
            Phase::Open
        } else {
            Phase::Recovery
        };
        self.transmit(self.cfg.max_burst, cx);
    }
}
