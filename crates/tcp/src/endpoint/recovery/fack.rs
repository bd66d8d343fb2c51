//! FACK: the forward-most byte that a SACK block covers tells what is still in flight.
//!
//! Source: M. Mathis and J. Mahdavi, "Forward Acknowledgment: Refining TCP Congestion Control", SIGCOMM 1996. What lies below that byte
//! (snd.fack) and is not SACKed has left the network, so `awnd = snd.nxt - snd.fack + retran_data` is in flight, where `retran_data`
//! is what was retransmitted and not acknowledged. Recovery begins when more than three segments lie between snd.una and snd.fack, or with the third
//! duplicate; then holes, after them new data, go out while `awnd` is below the window. On the scoreboard: every hole below the highest SACKed
//! segment is lost at once, and `awnd` is [`pipe`](crate::scoreboard::Scoreboard::pipe).
//!
//! What ns-2's `Agent/TCP/Fack` does otherwise is in five parameters: `fack_restart`, `fack_only_enters`, `fack_until_no_sack`, `fack_lost_again_stops`,
//! `fack_every_ack_restarts_timer`.
//!
//! Deviations: before recovery new data goes out by limited transmit (RFC 3042), which sends what `awnd` would allow; a loss event
//! begins with a duplicate acknowledgment, never with one of new data, except with `fack_only_enters`.

use crate::cc::{CongestionControl, CongestionEvent, CongestionKind};
use crate::endpoint::Tcp;
use crate::state::Phase;
use fairlane_net::Cx;
/// One SACKed segment above a hole shows that the hole left the network.
const HOLE_AFTER: u32 = 1;

impl<C: CongestionControl> Tcp<C> {
    pub(super) fn fack_dupack(&mut self, sacked: u64, cx: &mut Cx<'_>) {
        match self.phase {
            Phase::Recovery => self.fack_recovery_ack(0, sacked, cx),
            Phase::Open | Phase::Loss if self.cfg.fack_only_enters => self.fack_gap(0, cx),
            _ if sacked == 0 => {}
            Phase::Loss => {
                self.dupacks += 1;
                self.transmit(self.cfg.max_burst, cx);
            }
            Phase::Open => {
                self.dupacks += 1;
                if (self.dupacks >= self.cfg.dupthresh || self.fack_beyond()) && self.may_enter() {
                    self.enter_fack(cx);
                    self.transmit(self.cfg.max_burst, cx);
                } else {
                    self.send_limited(cx);
                }
            }
        }
    }

    /// Whether more than `dupthresh` segments lie between snd.una and snd.fack.
    fn fack_beyond(&self) -> bool {
        self.tx.board.forward(self.una) - self.una > u64::from(self.cfg.dupthresh) * u64::from(self.cfg.smss)
    }

    /// `fack_only_enters`: nothing but the start of recovery comes of this acknowledgment of `acked` new bytes.
    #[cold]
    pub(crate) fn fack_gap(&mut self, acked: u64, cx: &mut Cx<'_>) {
        self.fack_timer(acked, cx);
        if self.fack_beyond() {
            self.enter_fack(cx);
        }
    }

    fn fack_timer(&mut self, acked: u64, cx: &mut Cx<'_>) {
        if acked != 0 || self.cfg.fack_every_ack_restarts_timer {
            self.restart_timer(cx);
        }
    }

    /// Reduces the window and sends the first hole.
    fn enter_fack(&mut self, cx: &mut Cx<'_>) {
        let kind = if self.cfg.fack_restart { CongestionKind::FastRetransmitRestart } else { CongestionKind::FastRetransmit };
        let slow_start = self.cc.cwnd() <= self.cc.ssthresh();
        self.steep = self.cfg.fack_overdamping && slow_start;
        if self.steep {
            // The window has doubled since the lost segment went out: half of what is left once more.
            let flight = self.tx.board.outstanding().saturating_sub(self.tx.limited_bytes);
            self.congestion(CongestionKind::FastRetransmit, cx);
            self.cc.on_congestion(&CongestionEvent { kind, now: cx.now, flight: flight / 2 });
        } else {
            self.congestion(kind, cx);
        }
        self.enter(Phase::Recovery, cx);
        self.tx.board.head_lost();
        self.tx.board.find_lost(HOLE_AFTER, self.cfg.smss);
        if self.cfg.fack_rampdown {
            self.tx.inflation = u64::MAX;
            self.ramp_down();
        }
        if let Some(first) = self.tx.board.first_pending() {
            self.resend(first, true, cx);
        }
    }

    /// Any acknowledgment in recovery.
    pub(super) fn fack_recovery_ack(&mut self, acked: u64, sacked: u64, cx: &mut Cx<'_>) {
        self.tx.board.find_lost(HOLE_AFTER, self.cfg.smss);
        if self.cfg.fack_rampdown {
            self.ramp_down();
        }
        if self.cfg.fack_lost_again_stops {
            // With nothing outstanding no timer would go off and end the stop (ns-2's agent would stand still for good).
            self.halted = (self.halted || self.tx.board.lost_again()) && !self.tx.board.is_empty();
        }
        if self.cfg.fack_restart {
            self.grow(acked, sacked, cx);
        }
        let over = if self.cfg.fack_until_no_sack {
            self.una > self.tx.recover && !self.tx.board.has_sacked()
        } else {
            self.una >= self.tx.recover
        };
        if over {
            self.leave_recovery(cx);
            self.halted = false;
            // What is lost from here on is a new event.
            self.tx.recover = 0;
            self.tx.board.clear_marks(self.cfg.progress_forgets_sack);
        }
        self.fack_timer(acked, cx);
        self.transmit(self.cfg.max_burst, cx);
    }

    /// What was taken from the window comes out of it as snd.fack moves on to the end of the event, and not at once.
    fn ramp_down(&mut self) {
        let left = self.tx.recover.saturating_sub(self.tx.board.forward(self.una));
        self.tx.inflation = self.tx.inflation.min(if self.steep { left / 4 * 3 } else { left / 2 });
    }
}
