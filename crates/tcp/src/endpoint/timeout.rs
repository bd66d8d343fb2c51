//! Retransmission timeout and window probes (RFC 6298, RFC 9293 section 3.8.6.1).

use crate::cc::{CongestionControl, CongestionKind};
use crate::choices::{ExitWindow, Scheme};
use crate::endpoint::Tcp;
use crate::state::Phase;
use fairlane_net::{Cx, TimerId};

impl<C: CongestionControl> Tcp<C> {
    /// Restarts or stops the retransmission timer (RFC 6298 sections 5.2 and 5.3).
    #[inline(always)]
    pub(crate) fn restart_timer(&mut self, cx: &mut Cx<'_>) {
        if self.tx.board.is_empty() {
            cx.timers.cancel(TimerId::Rto);
        } else {
            cx.timers.set(TimerId::Rto, cx.now + self.rtt.rto());
        }
    }

    /// Handles a retransmission timeout (RFC 6298 sections 5.4 to 5.6, RFC 5681 section 3.1).
    pub(crate) fn on_timeout(&mut self, cx: &mut Cx<'_>) {
        if self.tx.board.is_empty() {
            if !(self.ns2.output_stopped && self.cfg.vegas_inflates_cwnd) {
                self.probe_window(cx);
                return;
            }
            // The window stopped the sender, not the application.
            self.tx.last_sent = cx.now;
        }
        if self.ext.rack.is_some() && self.tlp_fires_first(cx) {
            return;
        }
        self.tx.count.timeouts += 1;
        if self.tx.deflated > 0 && self.cfg.exit_window == ExitWindow::Keep {
            // The window keeps the deflation by partial acknowledgments.
            self.leave_recovery(cx);
        }
        self.congestion(CongestionKind::Timeout { first: self.rtt.backoffs() == 0 }, cx);
        self.prr_end();
        self.begin_frto(self.phase);
        self.no_ack_since_rto = true;
        self.ns2.output_stopped = false;
        if self.cfg.ns3 {
            self.ns3_timeout();
        }
        if !self.cfg.fack_until_no_sack || self.phase != Phase::Recovery {
            self.phase = Phase::Loss;
            self.tx.recover = self.nxt;
        }
        if self.cfg.scheme != Scheme::Tahoe {
            // In Tahoe late duplicates do not count from one again.
            self.dupacks = 0;
        }
        self.tx.inflation = 0;
        self.tx.deflated = 0;
        self.tx.limited_bytes = 0;
        self.tx.timed_end = 0;
        self.rtt.back_off(self.cfg.forget_rtt_after, &self.cfg);
        self.clear_ack_log();
        if self.cfg.rack {
            self.rack_timeout(cx);
            // One segment in addition to those still in flight (Linux), and the first one in any case.
            self.tx.inflation = self.tx.board.pipe();
        } else if self.cfg.scheme == Scheme::Timeout {
            let board = &mut self.tx.board;
            board.mark_lost_again(board.head);
        } else {
            self.tx.board.mark_all_lost(self.cfg.timeout_forgets_sack || !self.cfg.sack);
        }
        self.rate_lost(cx);
        self.restart_timer(cx);
        self.transmit(self.cfg.max_burst, cx);
    }

    /// Probes a closed window with one byte, or with an acknowledgment that requests another (RFC 9293 sections 3.8.6.1 and 3.10.7.4). A
    /// window too small for a segment gets the data it takes (section 3.8.6.2.1 (4): the timeout overrides).
    fn probe_window(&mut self, cx: &mut Cx<'_>) {
        let room = self.edge.saturating_sub(self.nxt);
        if room != 0 && room < u64::from(self.new_len()) {
            self.send_new(room as u32, cx);
        } else if self.new_len() != 0 {
            self.rtt.back_off(u32::MAX, &self.cfg);
            if self.cfg.empty_window_probes {
                self.send_empty_probe(cx);
                cx.timers.set(TimerId::Rto, cx.now + self.rtt.rto());
            } else {
                self.send_new(1, cx);
            }
        }
    }
}
