//! Reno: fast retransmit and fast recovery (RFC 5681 section 3.2).

use crate::cc::{CongestionControl, CongestionKind};
use crate::endpoint::Tcp;
use crate::state::Phase;
use fairlane_net::Cx;

impl<C: CongestionControl> Tcp<C> {
    /// Handles a duplicate acknowledgment; NewReno limits the burst.
    pub(super) fn reno_dupack(&mut self, burst: u32, cx: &mut Cx<'_>) {
        let smss = u64::from(self.cfg.smss);
        self.dupacks += 1;
        if self.dupacks < self.cfg.dupthresh {
            return self.send_limited(cx);
        }
        if self.dupacks == self.cfg.dupthresh {
            if self.may_enter() {
                // Steps 2 and 3: the first hole is retransmitted, and the window is inflated by the segments that have left the network.
                self.congestion(CongestionKind::FastRetransmit, cx);
                self.enter(Phase::Recovery, cx);
                self.tx.inflation = u64::from(self.cfg.dupthresh) * smss;
                if let Some(first) = self.tx.board.first() {
                    self.resend(first, false, cx);
                }
            }
        } else if self.phase == Phase::Recovery {
            // Step 4: another segment has left the network.
            self.tx.inflation += smss;
        }
        self.transmit(burst, cx);
    }

    /// Step 6: the first acknowledgment of new data ends recovery; for NewReno, the one that covers `recover`.
    pub(super) fn reno_recovery_ack(&mut self, acked: u64, sacked: u64, cx: &mut Cx<'_>) {
        self.leave_recovery(cx);
        if self.cfg.grow_on_exit {
            self.grow(acked, sacked, cx);
        }
        self.restart_timer(cx);
        self.transmit(self.cfg.max_burst, cx);
    }
}
