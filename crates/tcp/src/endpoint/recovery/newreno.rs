//! NewReno: a partial acknowledgment shows the next hole (RFC 6582 section 3.2).

use crate::cc::CongestionControl;
use crate::endpoint::Tcp;
use fairlane_net::Cx;

impl<C: CongestionControl> Tcp<C> {
    pub(super) fn newreno_partial_ack(&mut self, acked: u64, cx: &mut Cx<'_>) {
        let smss = u64::from(self.cfg.smss);
        if self.cfg.partial_deflation {
            // Subtracts the bytes acknowledged, and adds a segment back if they are at least one. The excess over the inflation
            // is taken from the window itself.
            let back = if acked >= smss { smss } else { 0 };
            if self.tx.inflation > acked {
                self.tx.inflation = self.tx.inflation - acked + back;
            } else {
                self.tx.deflated += acked - self.tx.inflation;
                self.tx.inflation = back;
            }
        } else {
            self.tx.inflation = 0;
        }
        if !self.cfg.newreno_impatient || !self.tx.partial_ack_seen {
            self.restart_timer(cx);
        }
        self.tx.partial_ack_seen = true;
        if let Some(first) = self.tx.board.first() {
            self.resend(first, false, cx);
        }
        self.transmit(self.cfg.max_burst.min(self.cfg.recovery_burst), cx);
    }
}
