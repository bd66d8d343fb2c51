//! Tahoe (Jacobson 1988): fast retransmit, then slow start from the hole on.

use crate::cc::{CongestionControl, CongestionKind};
use crate::endpoint::Tcp;
use crate::state::Phase;
use fairlane_net::Cx;

impl<C: CongestionControl> Tcp<C> {
    pub(super) fn tahoe_dupack(&mut self, cx: &mut Cx<'_>) {
        self.dupacks += 1;
        if self.dupacks < self.cfg.dupthresh {
            self.send_limited(cx);
        } else if self.dupacks == self.cfg.dupthresh && self.may_enter() {
            self.congestion(CongestionKind::FastRetransmitRestart, cx);
            self.enter(Phase::Loss, cx);
            self.tx.board.mark_all_lost(true);
            self.transmit(self.cfg.max_burst, cx);
        }
    }
}
