//! Recovery as in ns-3.37 with SACK: `TcpSocketBase` (DupAck, EnterRecovery, ProcessAck, EnterCwr), `TcpTxBuffer` and the two
//! `TcpRecoveryOps`.
//!
//! It is RFC 6675 with these differences, which decide how often a flow falls back to its timer and how much it sends during recovery:
//!
//! * Losses are detected by SACK blocks alone, in every state, and lost segments are sent whenever the window has room. Recovery begins
//!   with the third acknowledgment that SACKs data, unless the last loss event is not over, or, event or not, when the *second* segment is
//!   lost.
//! * A retransmission counts as in flight until it is acknowledged in order, also once it is SACKED: retransmissions block new data, and a
//!   retransmission that is lost ends in a timeout.
//! * A partial acknowledgment sends a segment whatever the window is, unless the new first segment was already retransmitted.
//! * Entering recovery does not restart the retransmission timer, and of all partial acknowledgments only the first does (RFC 6582 section
//!   3.2 step 3, "impatient"; RFC 6298 section 5.3 requires each): a recovery of more than an RTO ends in a timeout.
//! * After a timeout SACK blocks only report arrivals, until all data sent before it is acknowledged.
//! * An ECN echo begins a state CWR from any state; it lasts until more is acknowledged than was outstanding. The window does not grow in
//!   it, and no loss recovery begins. An echo during recovery replaces it, with a cut of its own (RFC 3168 section 6.1.2: one per window of
//!   data).

use crate::cc::{CongestionControl, CongestionKind, RecoveryExit};
use crate::endpoint::Tcp;
use crate::ns3_socket::Ns3Socket;
use crate::sent::RESENT;
use crate::state::Phase;
use fairlane_net::Cx;

impl<C: CongestionControl> Tcp<C> {
    /// Handles an acknowledgment of `acked` new bytes with SACK blocks that newly cover `sacked`.
    #[cold]
    pub(crate) fn ns3_ack(&mut self, acked: u64, sacked: u64, cx: &mut Cx<'_>) {
        if sacked != 0 {
            self.tx.board.find_lost(self.cfg.sack_lost_after, self.cfg.smss);
        }
        if self.lifecycle.ns3.cwr && self.una > self.tx.recover {
            self.lifecycle.ns3.cwr = false;
            self.leave_recovery(cx);
        }
        if std::mem::take(&mut self.lifecycle.ns3.echo) && acked != 0 && !self.lifecycle.ns3.cwr {
            self.ns3_enter_cwr(cx);
        }
        if sacked != 0 && self.phase != Phase::Loss {
            self.ns3_sacked(cx);
        }
        if acked != 0 {
            self.ns3_advance(acked, sacked, cx);
        }
        self.lifecycle.ns3.repaired = false;
        self.transmit(self.cfg.max_burst, cx);
    }

    /// Handles SACKed data: RFC 6675 section 5 as in DupAck.
    fn ns3_sacked(&mut self, cx: &mut Cx<'_>) {
        if self.phase == Phase::Recovery {
            return self.prr_on_ack(false);
        }
        self.dupacks += 1;
        if self.lifecycle.ns3.cwr {
            return;
        }
        self.lifecycle.ns3.disorder = true;
        let settled = !self.lifecycle.ns3.recover_active || self.una >= self.tx.recover;
        if (self.dupacks == self.cfg.dupthresh && settled) || self.tx.board.second_lost() {
            self.ns3_enter(cx);
        }
    }

    fn ns3_enter(&mut self, cx: &mut Cx<'_>) {
        self.tx.board.mark_head_lost();
        self.tx.count.fast_recoveries += 1;
        self.phase = Phase::Recovery;
        self.lifecycle.ns3.disorder = false;
        self.lifecycle.ns3.recover_active = true;
        self.tx.recover = self.nxt;
        self.tx.timed_end = 0;
        let base = self.recover_fs();
        self.congestion(CongestionKind::FastRetransmit, cx);
        self.prr_begin(base);
        self.prr_enter();
        self.ns3_resend(cx);
    }

    /// Sends a segment whatever the window is: the first lost one, else new data, else the first again (DoRetransmit).
    fn ns3_resend(&mut self, cx: &mut Cx<'_>) {
        if self.ext.held.is_some() {
            return;
        }
        let len = self.new_len();
        if let Some(lost) = self.tx.board.first_pending() {
            self.resend(lost, true, cx);
        } else if len != 0 && self.fits(len) {
            self.send_new(len, cx);
        } else if let Some(first) = self.tx.board.first() {
            self.resend(first, true, cx);
        }
    }

    /// Handles new data acknowledged (ProcessAck).
    fn ns3_advance(&mut self, acked: u64, sacked: u64, cx: &mut Cx<'_>) {
        let (below, smss) = (self.una < self.tx.recover, u64::from(self.cfg.smss));
        let news = sacked != 0;
        if !news {
            self.dupacks = 0;
        }
        match self.phase {
            Phase::Recovery if below => {
                if acked >= smss {
                    self.prr_on_ack(true);
                }
                if !self.tx.board.first().is_some_and(|first| self.tx.board.at(first).is(RESENT)) {
                    self.ns3_resend(cx);
                }
                if !std::mem::replace(&mut self.tx.partial_ack_seen, true) {
                    self.restart_timer(cx);
                }
                return;
            }
            Phase::Loss if below => {
                self.grow(acked, sacked, cx);
                return self.restart_timer(cx);
            }
            Phase::Open if self.lifecycle.ns3.cwr => {
                if acked >= smss {
                    self.prr_on_ack(true);
                }
                return self.restart_timer(cx);
            }
            Phase::Open => self.lifecycle.ns3.disorder &= news,
            Phase::Recovery => {
                self.tx.partial_ack_seen = false;
                self.leave_recovery(cx);
            }
            Phase::Loss => {
                self.tx.partial_ack_seen = false;
                self.phase = Phase::Open;
                self.tx.inflation = 0;
                let beyond = self.una - self.tx.recover;
                self.lifecycle.ns3.recover_active = false;
                self.grow(beyond, 0, cx);
                return self.restart_timer(cx);
            }
        }
        self.lifecycle.ns3.recover_active &= below;
        if !self.lifecycle.ns3.disorder {
            // The data that ended recovery counts in full, although it includes data from before recovery.
            self.grow(acked, sacked, cx);
            self.restart_timer(cx);
        }
    }

    /// Enters CA_CWR from any state.
    fn ns3_enter_cwr(&mut self, cx: &mut Cx<'_>) {
        let base = self.recover_fs();
        self.congestion(CongestionKind::EcnEcho, cx);
        self.cc.settle();
        self.ecn.cuts += 1;
        // The window becomes the threshold (TcpClassicRecovery); the reduction of `prr` comes down to it.
        self.cc.on_recovery_exit(&RecoveryExit { now: cx.now, bound: u64::MAX, deflated: 0, to_ssthresh: true });
        (self.phase, self.tx.recover) = (Phase::Open, self.nxt);
        (self.lifecycle.ns3.cwr, self.lifecycle.ns3.disorder) = (true, false);
        self.prr_begin(base);
        self.prr_enter();
    }

    /// Handles a retransmission timeout.
    pub(crate) fn ns3_timeout(&mut self) {
        self.lifecycle.ns3 = Ns3Socket { recover_active: true, ..Ns3Socket::default() };
    }

    /// Notes if an acknowledgment up to `ack` covers a repair, before it is processed.
    pub(crate) fn ns3_note_repaired(&mut self, ack: u64) {
        self.lifecycle.ns3.repaired = self.phase == Phase::Recovery && ack < self.tx.recover && self.tx.board.repaired_below(ack);
    }
}
