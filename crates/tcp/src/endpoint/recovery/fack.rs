//! FACK: the highest SACKed byte determines the data in flight.
//!
//! Source: M. Mathis and J. Mahdavi, "Forward Acknowledgment: Refining TCP Congestion Control", SIGCOMM 1996. Data below that byte
//! (snd.fack) that is not SACKed has left the network, so `awnd = snd.nxt - snd.fack + retran_data` is in flight, where `retran_data` was
//! retransmitted and is not acknowledged. Recovery begins when more than three segments lie between snd.una and snd.fack, or with the third
//! duplicate. Then holes, and after them new data, are sent while `awnd` is below the window. On the scoreboard, every hole below the
//! highest SACKed segment is lost at once, and `awnd` is [`pipe`](crate::scoreboard::Scoreboard::pipe).
//!
//! Differences of ns-2's `Agent/TCP/Fack` are five parameters: `fack_restart`, `fack_only_enters`, `fack_until_no_sack`,
//! `fack_lost_again_stops`, `fack_every_ack_restarts_timer`.
//!
//! Deviations: before recovery, limited transmit (RFC 3042) sends the new data that `awnd` would allow. A loss event begins with a
//! duplicate acknowledgment, never with one of new data, except with `fack_only_enters`.

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
            Phase::Open | Phase::Loss if self.cfg.fack_only_enters => self.fack_check_entry(0, cx),
            _ if sacked == 0 => {}
            Phase::Loss => {
                self.dupacks += 1;
                self.transmit(self.cfg.max_burst, cx);
            }
            Phase::Open => {
                self.dupacks += 1;
                if (self.dupacks >= self.cfg.dupthresh || self.fack_gap_exceeded()) && self.may_enter() {
                    self.enter_fack(cx);
                    self.transmit(self.cfg.max_burst, cx);
                } else {
                    self.send_limited(cx);
                }
            }
        }
    }

    /// True if more than `dupthresh` segments lie between snd.una and snd.fack.
    fn fack_gap_exceeded(&self) -> bool {
        self.tx.board.forward(self.una) - self.una > u64::from(self.cfg.dupthresh) * u64::from(self.cfg.smss)
    }

    /// Enters recovery if the gap is large enough, and has no other effect, for an acknowledgment of `acked` new bytes
    /// (`fack_only_enters`).
    #[cold]
    pub(crate) fn fack_check_entry(&mut self, acked: u64, cx: &mut Cx<'_>) {
        self.fack_timer(acked, cx);
        if self.fack_gap_exceeded() {
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
        self.ns2.overdamped = self.cfg.fack_overdamping && slow_start;
        if self.ns2.overdamped {
            // The window has doubled since the lost segment was sent: it is halved twice.
            let flight = self.tx.board.outstanding().saturating_sub(self.tx.limited_bytes);
            self.congestion(CongestionKind::FastRetransmit, cx);
            self.cc.on_congestion(&CongestionEvent { kind, now: cx.now, flight: flight / 2 });
        } else {
            self.congestion(kind, cx);
        }
        self.enter(Phase::Recovery, cx);
        self.tx.board.mark_head_lost();
        self.tx.board.find_lost(HOLE_AFTER, self.cfg.smss);
        if self.cfg.fack_rampdown {
            self.tx.inflation = u64::MAX;
            self.ramp_down();
        }
        if let Some(first) = self.tx.board.first_pending() {
            self.resend(first, true, cx);
        }
    }

    /// Handles an acknowledgment in recovery.
    pub(super) fn fack_recovery_ack(&mut self, acked: u64, sacked: u64, cx: &mut Cx<'_>) {
        self.tx.board.find_lost(HOLE_AFTER, self.cfg.smss);
        if self.cfg.fack_rampdown {
            self.ramp_down();
        }
        if self.cfg.fack_lost_again_stops {
            // With nothing outstanding no timer would end the stop (ns-2's agent would stand still forever).
            self.ns2.output_stopped = (self.ns2.output_stopped || self.tx.board.lost_again()) && !self.tx.board.is_empty();
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
            self.ns2.output_stopped = false;
            // Losses from here on are a new event.
            self.tx.recover = 0;
            self.tx.board.clear_marks(self.cfg.progress_forgets_sack);
        }
        self.fack_timer(acked, cx);
        self.transmit(self.cfg.max_burst, cx);
    }

    /// Lowers the inflation with snd.fack, so that the window shrinks gradually until the end of the event.
    fn ramp_down(&mut self) {
        let left = self.tx.recover.saturating_sub(self.tx.board.forward(self.una));
        self.tx.inflation = self.tx.inflation.min(if self.ns2.overdamped { left / 4 * 3 } else { left / 2 });
    }
}
