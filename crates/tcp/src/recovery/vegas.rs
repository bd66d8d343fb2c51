//! Vegas: Reno that asks a fine clock whether the first hole is overdue, before three duplicates have come
//! (Brakmo and Peterson 1995 section 3.1).

use crate::cc::{CongestionControl, CongestionKind};
use crate::endpoint::{Phase, Tcp};
use crate::scoreboard::KARN;
use fairlane_net::Cx;

/// Acknowledgments after a retransmission that look for more overdue segments (Brakmo and Peterson 1995 section 3.1: the first and the second).
const WORRIED: u64 = 2;

impl<C: CongestionControl> Tcp<C> {
    /// Whether the first hole should have been acknowledged by now, and whether it was ever sent again.
    fn head_overdue(&self, cx: &Cx<'_>) -> Option<(bool, bool)> {
        let head = self.board.at(self.board.first()?);
        Some((self.cc.overdue(head.at, cx.now), head.is(KARN)))
    }

    pub(super) fn vegas_dupack(&mut self, cx: &mut Cx<'_>) {
        let smss = u64::from(self.cfg.smss);
        self.dupacks += 1;
        let Some((overdue, again)) = self.head_overdue(cx) else { return };
        if overdue || self.dupacks == self.cfg.dupthresh {
            // After a timeout everything is sent again anyway: duplicates of that are no losses.
            if self.phase != Phase::Loss {
                self.worried = (self.board.outstanding() / smss).min(WORRIED) as u8;
                let (before, cuts) = (self.cc.cwnd(), self.count.cwnd_cuts);
                self.congestion(CongestionKind::FastRetransmit, cx);
                if self.cc.cwnd() < before {
                    self.inflation = u64::from(self.dupacks) * smss;
                } else {
                    self.count.cwnd_cuts = cuts;
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
            if self.phase == Phase::Recovery {
                self.inflation += smss;
            }
        } else {
            return self.send_limited(cx);
        }
        if self.dupacks >= self.cfg.dupthresh {
            self.transmit(self.cfg.max_burst, cx);
        }
    }

    /// Any acknowledgment of new data ends recovery; if the next hole is overdue too, it is of the same event.
    pub(super) fn vegas_recovery_ack(&mut self, acked: u64, sacked: u64, cx: &mut Cx<'_>) {
        self.leave_recovery(cx);
        self.grow(acked, sacked, cx);
        self.restart_timer(cx);
        if self.worried > 0 {
            self.worried -= 1;
            if let (Some((true, _)), Some(first)) = (self.head_overdue(cx), self.board.first()) {
                self.phase = Phase::Recovery;
                self.dupacks = self.cfg.dupthresh;
                self.resend(first, false, cx);
            } else {
                self.worried = 0;
            }
        }
        self.transmit(self.cfg.max_burst, cx);
    }
}
