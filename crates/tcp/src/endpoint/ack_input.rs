//! Processing of acknowledgments (RFC 9293 section 3.10.7.4, RFC 5681).

use crate::cc::CongestionControl;
use crate::choices::Scheme;
use crate::endpoint::Tcp;
use crate::state::Phase;
use fairlane_net::{Cx, Segment, flag};

impl<C: CongestionControl> Tcp<C> {
    /// Processes the acknowledgment field (RFC 9293 section 3.10.7.4) and its options.
    pub(crate) fn on_ack(&mut self, seg: &Segment, cx: &mut Cx<'_>) {
        if seg.ack == self.una && seg.payload != 0 && seg.sack_len() == 0 {
            // Data with an old acknowledgment number.
            self.update_window(seg);
            if self.new_len() != 0 {
                self.transmit(self.cfg.max_burst, cx);
            }
            return;
        }
        if seg.ack < self.una {
            if seg.sack_len() > 0 && self.cfg.sack {
                if self.cfg.rack {
                    self.on_late_sack(seg, cx);
                } else {
                    self.take_dsack(seg);
                }
                if self.ext.undo.is_some() && self.check_dsack_undo() {
                    self.transmit(self.cfg.max_burst, cx);
                }
            }
            return;
        }
        let edge = self.edge;
        self.update_window(seg);
        self.snapshot_before_ack();
        let (sacked, fresh) = if self.cfg.sack && seg.sack_len() > 0 { self.take_sack_and_fin(seg) } else { (0, 0) };
        let acked = self.data_between(self.una, seg.ack);
        if self.ecn_on() {
            self.ecn_take_ack(seg, acked + fresh, cx);
        }
        let undone = self.ext.undo.is_some() && self.check_dsack_undo();
        self.cc_ack_pending = self.features.cc_every_ack && (acked != 0 || fresh != 0);
        if let Some(tx) = self.tx.own() {
            (tx.newly_acked, tx.newly_sacked) = (acked, fresh);
        }
        if seg.ack > self.una {
            self.on_new_ack(seg, sacked, cx);
        } else if (seg.payload == 0 && !seg.has(flag::FIN)) || (sacked != 0 && self.cfg.scheme == Scheme::Sack) {
            if self.ext.rack.is_some() {
                self.rack_on_ack(seg, cx);
            }
            // RFC 5681 section 2: a duplicate has no data, acknowledges no new data and does not move the window. One that SACKs new data may (RFC 6675 section 2).
            if !self.tx.board.is_empty() && (edge == self.edge || (sacked != 0 && self.cfg.scheme == Scheme::Sack)) && !undone {
                self.on_dupack(sacked, cx);
            } else {
                self.transmit(self.cfg.max_burst, cx);
            }
        }
        if self.cc_ack_pending {
            self.pass_ack_to_cc(cx);
        }
    }

    /// Records the state before an acknowledgment.
    fn snapshot_before_ack(&mut self) {
        self.clear_ack_log();
        if let Some(rack) = self.ext.get_mut(|m| m.rack.as_mut()) {
            rack.dsacked = 0;
        }
        // Without SACK each duplicate stands for a segment that arrived (Linux `tcp_add_reno_sack`).
        let stand_ins = if self.cfg.sack { 0 } else { u64::from(self.dupacks) * u64::from(self.cfg.smss) };
        let delivered = self.delivered();
        // An end that never sent has these at rest, and no state for them.
        if let Some(tx) = self.tx.own() {
            (tx.una_before, tx.delivered_before, tx.marked_before) = (self.una, delivered + stand_ins, tx.board.marked);
        }
    }

    /// Processes the SACK blocks of an acknowledgment that a later one overtook.
    #[cold]
    fn on_late_sack(&mut self, seg: &Segment, cx: &mut Cx<'_>) {
        self.snapshot_before_ack();
        let (sacked, fresh) = self.take_sack_and_fin(seg);
        self.cc_ack_pending = self.features.cc_every_ack && fresh != 0;
        (self.tx.newly_acked, self.tx.newly_sacked) = (0, fresh);
        self.rack_on_ack(seg, cx);
        if sacked != 0 {
            self.on_dupack(sacked, cx);
        }
        if self.cc_ack_pending {
            self.pass_ack_to_cc(cx);
        }
    }

    fn on_new_ack(&mut self, seg: &Segment, sacked: u64, cx: &mut Cx<'_>) {
        let acked = self.data_between(self.una, seg.ack);
        self.una = seg.ack;
        self.no_ack_since_rto = false;
        self.tx.limited_bytes = 0;
        self.tx.board.log_acked(seg.ack);
        let oldest = if self.cfg.rtt_from_oldest { self.tx.board.oldest_sent_once(seg.ack) } else { None };
        if self.cfg.ns3 {
            self.ns3_note_repaired(seg.ack);
        }
        let timed = self.tx.board.pop(seg.ack, self.cfg.vegas_times_waiting);
        self.measure_rtt(seg, timed, oldest, cx);
        if self.ext.cwv.is_some() {
            self.cwv_on_ack(cx.now);
        }
        if self.cfg.backoff_ends_with_ack {
            self.rtt.end_backoff(&self.cfg);
        }
        if seg.ack >= self.tx.round_end {
            self.tx.round += 1;
            self.tx.round_end = self.nxt;
        }
        if self.ext.rack.is_some() {
            self.rack_on_ack(seg, cx);
        }
        if self.ext.undo.is_some() && self.check_undo(seg, acked, sacked, cx) {
            return self.check_finished(cx);
        }
        match self.phase {
            _ if self.cfg.ns3 => self.ns3_ack(acked, sacked, cx),
            Phase::Open if self.rack_found_loss() => self.enter_sack(cx),
            Phase::Loss if self.rack_found_lost_retransmission() => self.enter_sack(cx),
            Phase::Open | Phase::Loss if self.cfg.fack_only_enters && seg.sack_len() != 0 => self.fack_check_entry(acked, cx),
            Phase::Open => {
                self.dupacks = 0;
                if self.cfg.progress_forgets_sack && self.tx.board.has_sacked() {
                    self.tx.board.clear_marks(true);
                }
                if !self.cwr_continues(cx) {
                    self.grow(acked, sacked, cx);
                }
                self.restart_timer(cx);
                self.transmit(self.cfg.max_burst, cx);
            }
            Phase::Recovery => self.on_recovery_ack(acked, sacked, cx),
            Phase::Loss if self.cfg.vegas_inflates_cwnd => self.on_recovery_ack(acked, sacked, cx),
            Phase::Loss => {
                self.dupacks = 0;
                if self.cfg.timeout_distrusts_sack {
                    self.tx.board.forget_blocks();
                }
                // The window grows from one segment as at the start (RFC 5681 section 3.1).
                self.grow(acked, sacked, cx);
                if self.una >= self.tx.recover {
                    self.phase = Phase::Open;
                    self.tx.inflation = 0;
                    self.rack_recovered();
                }
                self.restart_timer(cx);
                if self.phase == Phase::Open && self.rack_found_loss() {
                    self.enter_sack(cx);
                } else {
                    self.transmit(self.cfg.max_burst, cx);
                }
            }
        }
        if self.ext.rack.is_some() {
            self.tlp_schedule(cx);
        }
        self.check_finished(cx);
    }

    /// Reports the end of the flow once all data written is acknowledged.
    #[inline]
    pub(crate) fn check_finished(&mut self, cx: &mut Cx<'_>) {
        if self.report_completion && self.una >= self.data_end {
            self.report_completion = false;
            cx.finished = true;
        }
    }
}
