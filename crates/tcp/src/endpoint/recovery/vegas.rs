//! Vegas: Reno with a fine clock that retransmits an overdue first hole before three duplicates have come (Brakmo and Peterson 1995 section
//! 3.1).

use crate::cc::{CongestionControl, CongestionKind};
use crate::endpoint::Tcp;
use crate::sent::KARN;
use crate::state::{FIRST, Phase};
use fairlane_net::{Cx, TimerId};
use fairlane_units::Time;
/// Acknowledgments after a retransmission that check for more overdue segments (Brakmo and Peterson 1995 section 3.1: the first and the
/// second).
const OVERDUE_CHECKS: u64 = 2;

impl<C: CongestionControl> Tcp<C> {
    /// Reports the first hole: true if it is overdue, true if it was retransmitted, and when it was last sent.
    fn is_head_overdue(&mut self, cx: &Cx<'_>) -> Option<(bool, bool, Time)> {
        let head = *self.tx.board.at(self.tx.board.first()?);
        let overdue = self.cc.fine_clock().is_some_and(|c| c.overdue(head.at, cx.now));
        Some((overdue, head.is(KARN), head.at))
    }

    /// True if the last cut left less than a segment: nothing is sent before the timer expires.
    fn window_below_segment(&mut self) -> bool {
        self.cfg.vegas_inflates_cwnd && self.cc.fine_clock().is_some_and(|c| c.is_below_segment())
    }

    fn set_overdue_checks(&mut self, checks: u8) {
        if let Some(v) = self.ext.get_mut(|m| m.vegas.as_mut()) {
            v.overdue_checks = checks;
        }
    }

    /// Inflates the window, or a separate sum (`vegas_inflates_cwnd`), for duplicates.
    fn inflate(&mut self, segments: u32) {
        let bytes = u64::from(segments) * u64::from(self.cfg.smss);
        match self.cc.fine_clock() {
            Some(clock) if self.cfg.vegas_inflates_cwnd => {
                clock.inflate(bytes);
                self.ns2.output_stopped &= clock.is_below_segment();
            }
            _ => self.tx.inflation += bytes,
        }
    }

    pub(super) fn vegas_dupack(&mut self, cx: &mut Cx<'_>) {
        let itself = self.cfg.vegas_inflates_cwnd;
        self.dupacks += 1;
        let Some((overdue, again, sent)) = self.is_head_overdue(cx) else { return };
        if overdue || self.dupacks == self.cfg.dupthresh {
            // After a timeout everything is retransmitted anyway: duplicates of that are not losses.
            if self.phase != Phase::Loss {
                self.set_overdue_checks((self.tx.board.outstanding() / u64::from(self.cfg.smss)).min(OVERDUE_CHECKS) as u8);
                let (before, cuts) = (self.cc.cwnd(), self.tx.count.cwnd_cuts);
                let answered = self.cc.fine_clock().is_some_and(|c| c.answered(sent));
                self.congestion(CongestionKind::FastRetransmit, cx);
                // A window inflated by duplicates may be larger after the cut.
                let cut = if itself { !answered } else { self.cc.cwnd() < before };
                if cut {
                    self.tx.inflation = 0;
                    self.inflate(self.dupacks);
                } else {
                    self.tx.count.cwnd_cuts = cuts;
                }
                if self.cfg.vegas_backs_off {
                    self.rtt.back_off(self.cfg.forget_rtt_after, &self.cfg);
                }
                self.enter(Phase::Recovery, cx);
                if let Some(first) = self.tx.board.first() {
                    self.resend(first, false, cx);
                }
                if !again {
                    self.dupacks = self.cfg.dupthresh;
                }
            }
        } else if self.dupacks > self.cfg.dupthresh {
            if self.phase == Phase::Recovery || itself {
                self.inflate(1);
            }
        } else {
            return self.send_limited(cx);
        }
        if self.dupacks >= self.cfg.dupthresh {
            self.transmit(self.cfg.max_burst, cx);
        }
    }

    /// Updates the table of `vegas_send_table`: the sending time and count of each segment, with an entry for each segment of `window`. An
    /// acknowledgment clears the entries from that of the first segment it covers up to that of the last: none, if the table wraps between
    /// them. A new segment in an entry that was not cleared counts as sent before.
    pub(crate) fn update_send_table(&mut self) {
        let smss = u64::from(self.cfg.smss);
        let places = self.cfg.window / smss;
        let (first, last) = ((self.tx.una_before - FIRST) / smss, (self.una - 1 - FIRST) / smss);
        if first % places <= last % places {
            return;
        }
        let end = |segment: u64| FIRST + (segment + places + 1) * smss;
        if let Some(v) = self.ext.get_mut(|m| m.vegas.as_mut()) {
            v.add_stale(end(first)..end(last) + 1);
        }
    }

    /// True if the table takes the next segment for overdue although it was never sent, because its entry is of an old segment. False if
    /// the current acknowledgment covered a hole a whole window earlier, whose entry it did not clear.
    fn table_marks_next_overdue(&self) -> bool {
        let smss = u64::from(self.cfg.smss);
        let kept = self.una + smss..self.una + self.cfg.window / smss * smss + 1;
        self.tx.board.is_empty()
            && self.ext.held.is_none()
            && self.new_len() == self.cfg.smss
            && self.fits(self.cfg.smss)
            && self.ext.vegas.as_ref().is_some_and(|v| v.newest_stale_differs(&kept))
    }

    /// Ends recovery with any acknowledgment of new data; if the next hole is overdue too, it belongs to the same event.
    pub(super) fn vegas_recovery_ack(&mut self, acked: u64, sacked: u64, cx: &mut Cx<'_>) {
        let itself = self.cfg.vegas_inflates_cwnd;
        let again = self.phase == Phase::Loss && self.una <= self.tx.recover;
        if itself && self.dupacks > self.cfg.dupthresh {
            self.cc.fine_clock().into_iter().for_each(|c| c.deflate());
        }
        self.leave_recovery(cx);
        self.grow(acked, sacked, cx);
        self.restart_timer(cx);
        let mut open = true;
        let checks = self.ext.vegas.as_ref().map_or(0, |v| v.overdue_checks);
        if checks > 0 {
            self.set_overdue_checks(checks - 1);
            if let (Some((true, ..)), Some(first)) = (self.is_head_overdue(cx), self.tx.board.first()) {
                open = false;
                self.resend(first, false, cx);
            } else if self.cfg.vegas_send_table && self.table_marks_next_overdue() {
                open = false;
                self.send_new(self.cfg.smss, cx);
                if let Some(first) = self.tx.board.first() {
                    self.resend(first, false, cx);
                }
            } else {
                self.set_overdue_checks(0);
            }
        }
        if !open {
            self.dupacks = self.cfg.dupthresh;
        }
        self.ns2.output_stopped = self.window_below_segment();
        if self.ns2.output_stopped && self.tx.board.is_empty() {
            cx.timers.set(TimerId::Rto, cx.now + self.rtt.rto());
        }
        self.phase = if again {
            Phase::Loss
        } else if open && !self.ns2.output_stopped {
            Phase::Open
        } else {
            Phase::Recovery
        };
        self.transmit(self.cfg.max_burst, cx);
    }
}
