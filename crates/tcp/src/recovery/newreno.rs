//! NewReno: a partial acknowledgment shows the next hole (RFC 6582 section 3.2).

use crate::cc::CongestionControl;
use crate::endpoint::Tcp;
use fairlane_net::Cx;

impl<C: CongestionControl> Tcp<C> {
    pub(super) fn newreno_partial_ack(&mut self, acked: u64, cx: &mut Cx<'_>) {
        let smss = u64::from(self.cfg.smss);
        if self.cfg.partial_deflation {
            // Less what was acknowledged, and one segment more if that was at least one. What exceeds the inflation
            // comes out of the window itself.
            let back = if acked >= smss { smss } else { 0 };
            if self.inflation > acked {
                self.inflation = self.inflation - acked + back;
            } else {
                self.deflated += acked - self.inflation;
                self.inflation = back;
            }
        } else {
            self.inflation = 0;
        }
        if !self.cfg.impatient || !self.partial_seen {
            self.restart_timer(cx);
        }
        self.partial_seen = true;
        if let Some(first) = self.board.first() {
            self.resend(first, false, cx);
        }
        self.transmit(self.cfg.max_burst.min(self.cfg.recovery_burst), cx);
    }
}
