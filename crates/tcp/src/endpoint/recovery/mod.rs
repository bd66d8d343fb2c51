//! Loss recovery: one file per scheme. All share the scoreboard and the output loop.

mod fack;
mod frto;
mod newreno;
mod ns3;
mod prr;
mod rack;
mod reno;
mod sack;
mod tahoe;
mod tlp;
mod undo;
mod vegas;

use crate::cc::{CongestionControl, CongestionKind, RecoveryExit};
use crate::choices::{ExitWindow, Scheme};
use crate::endpoint::Tcp;
use crate::state::Phase;
use fairlane_net::Cx;

impl<C: CongestionControl> Tcp<C> {
    /// Handles a duplicate acknowledgment, whose SACK blocks covered `sacked` new bytes.
    #[cold]
    pub(crate) fn on_dupack(&mut self, sacked: u64, cx: &mut Cx<'_>) {
        if self.ext.undo.is_some() && self.frto_dupack(cx) {
            return;
        }
        match self.cfg.scheme {
            Scheme::Tahoe => self.tahoe_dupack(cx),
            // RFC 793 has no duplicate acknowledgments.
            Scheme::Timeout => {}
            Scheme::Reno => self.reno_dupack(self.cfg.max_burst, cx),
            Scheme::Newreno => self.reno_dupack(self.cfg.max_burst.min(self.cfg.recovery_burst), cx),
            Scheme::Sack => self.sack_dupack(sacked, cx),
            Scheme::Fack => self.fack_dupack(sacked, cx),
            Scheme::Vegas => self.vegas_dupack(cx),
            Scheme::Ns3 => self.ns3_ack(0, sacked, cx),
        }
    }

    /// Handles new data acknowledged during fast recovery.
    #[cold]
    pub(crate) fn on_recovery_ack(&mut self, acked: u64, sacked: u64, cx: &mut Cx<'_>) {
        match self.cfg.scheme {
            Scheme::Sack => self.sack_recovery_ack(acked, sacked, cx),
            Scheme::Fack => self.fack_recovery_ack(acked, sacked, cx),
            Scheme::Vegas => self.vegas_recovery_ack(acked, sacked, cx),
            Scheme::Newreno if self.una < self.tx.recover => self.newreno_partial_ack(acked, cx),
            _ => self.reno_recovery_ack(acked, sacked, cx),
        }
    }

    /// RFC 6582 section 3.2 step 2: losses among data sent before the last event belong to that event.
    fn may_enter(&self) -> bool {
        !self.cfg.careful || self.una > self.tx.recover
    }

    /// Reports a loss to the algorithm, except while its answer to an ECN echo is being spread: that answers the same congestion, unless it
    /// was graded by the number of marks (RFC 8257 section 3.5).
    fn reduce(&mut self, cx: &Cx<'_>) {
        if self.reducing() && !self.ecn.graded {
            return;
        }
        let base = self.recover_fs();
        self.congestion(CongestionKind::FastRetransmit, cx);
        self.prr_begin(base);
    }

    /// Begins a loss event, to which all data sent so far belongs.
    fn enter(&mut self, phase: Phase, cx: &mut Cx<'_>) {
        self.tx.count.fast_recoveries += 1;
        self.phase = phase;
        self.tx.recover = self.nxt;
        self.tx.timed_end = 0;
        self.tx.partial_ack_seen = false;
        self.tx.rescue_sent = false;
        if self.ext.rack.is_some() {
            self.tlp_stop(cx);
        }
        self.restart_timer(cx);
    }

    /// Ends fast recovery (RFC 6582 section 3.2 step 3, RFC 5681 section 3.2 step 6).
    pub(crate) fn leave_recovery(&mut self, cx: &Cx<'_>) {
        let smss = u64::from(self.cfg.smss);
        let keep = self.cfg.exit_window == ExitWindow::Keep;
        let flight = self.cfg.exit_window == ExitWindow::Flight && !self.cfg.sack;
        self.cc.on_recovery_exit(&RecoveryExit {
            now: cx.now,
            bound: if flight { self.tx.board.outstanding().max(smss) + smss } else { u64::MAX },
            deflated: if keep { self.tx.deflated } else { 0 },
            to_ssthresh: !keep || self.reducing(),
        });
        if self.ext.cwv.is_some() {
            self.cwv_recovered(cx.now);
        }
        self.prr_end();
        self.rack_recovered();
        self.phase = Phase::Open;
        self.dupacks = 0;
        self.tx.inflation = 0;
        self.tx.deflated = 0;
    }

    /// Limited transmit (RFC 3042 section 2): one segment beyond the congestion window for each duplicate
    /// acknowledgment below the threshold.
    fn send_limited(&mut self, cx: &mut Cx<'_>) {
        if !self.cfg.limited_transmit || self.ext.held.is_some() {
            return;
        }
        let window = self.cc.cwnd() + u64::from(self.dupacks) * u64::from(self.cfg.smss);
        let flight = self.in_flight();
        if let Some(i) = self.tx.board.first_pending() {
            if flight + u64::from(self.cfg.smss) <= window {
                self.resend(i, true, cx);
            }
            return;
        }
        let len = self.new_len();
        let data = self.data_in(len);
        if len != 0 && flight + data <= window && self.fits(len) {
            self.send_new(len, cx);
            self.tx.limited_bytes += data;
        }
    }
}
