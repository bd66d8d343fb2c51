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
            // Data that acknowledges nothing new.
            self.take_window(seg);
            if self.new_len() != 0 {
                self.transmit(self.cfg.max_burst, cx);
            }
            return;
        }
        if seg.ack < self.una {
            if seg.sack_len() > 0 && self.cfg.sack {
                if self.cfg.rack {
                    self.take_late_sack(seg, cx);
                } else {
                    self.take_dsack(seg);
                }
                if self.more.doubt.is_some() && self.judge_dsack() {
                    self.transmit(self.cfg.max_burst, cx);
                }
            }
            return;
        }
        let edge = self.edge;
        self.take_window(seg);
        self.begin_ack();
        let (sacked, fresh) = if self.cfg.sack && seg.sack_len() > 0 { self.take_sack_and_fin(seg) } else { (0, 0) };
        let acked = self.data_between(self.una, seg.ack);
        if self.ecn_on() {
            self.ecn_take_ack(seg, acked + fresh, cx);
        }
        let taken_back = self.more.doubt.is_some() && self.judge_dsack();
        self.untold = self.hears_all && (acked != 0 || fresh != 0);
        if let Some(tx) = self.tx.own() {
            (tx.fresh_acked, tx.fresh_sacked) = (acked, fresh);
        }
        if seg.ack > self.una {
            self.on_new_ack(seg, sacked, cx);
        } else if (seg.payload == 0 && !seg.has(flag::FIN)) || (sacked != 0 && self.cfg.scheme == Scheme::Sack) {
            if self.more.rack.is_some() {
                self.rack_on_ack(seg, cx);
            }
            // RFC 5681 section 2: a duplicate acknowledges nothing, carries nothing and does not move the window. One that SACKs something new may (RFC 6675 section 2).
            if !self.tx.board.is_empty() && (edge == self.edge || (sacked != 0 && self.cfg.scheme == Scheme::Sack)) && !taken_back {
                self.on_dupack(sacked, cx);
            } else {
                self.transmit(self.cfg.max_burst, cx);
            }
        }
        if self.untold {
            self.tell(cx);
        }
    }

    /// Notes how things stand before an acknowledgment.
    fn begin_ack(&mut self) {
        self.open_diary();
        if let Some(rack) = self.more.part(|m| m.rack.as_mut()) {
            rack.fresh_again = 0;
        }
        // Without SACK each duplicate stands for a segment that arrived (Linux `tcp_add_reno_sack`).
        let stand_ins = if self.cfg.sack { 0 } else { u64::from(self.dupacks) * u64::from(self.cfg.smss) };
        let delivered = self.delivered();
        // An end that never sent has these at rest, and no state for them.
        if let Some(tx) = self.tx.own() {
            (tx.una_before, tx.delivered_before, tx.marked_before) = (self.una, delivered + stand_ins, tx.board.marked);
        }
    }

    /// An acknowledgment that was overtaken by a later one: what its SACK blocks say is news all the same.
    #[cold]
    fn take_late_sack(&mut self, seg: &Segment, cx: &mut Cx<'_>) {
        self.begin_ack();
        let (sacked, fresh) = self.take_sack_and_fin(seg);
        self.untold = self.hears_all && fresh != 0;
        (self.tx.fresh_acked, self.tx.fresh_sacked) = (0, fresh);
        self.rack_on_ack(seg, cx);
        if sacked != 0 {
            self.on_dupack(sacked, cx);
        }
        if self.untold {
            self.tell(cx);
        }
    }

    fn on_new_ack(&mut self, seg: &Segment, sacked: u64, cx: &mut Cx<'_>) {
        let acked = self.data_between(self.una, seg.ack);
        self.una = seg.ack;
        self.silent = false;
        self.tx.limited_bytes = 0;
        self.tx.board.note_acked(seg.ack);
        let oldest = if self.cfg.times_oldest { self.tx.board.oldest_fresh(seg.ack) } else { None };
        if self.cfg.ns3 {
            self.ns3_note_repaired(seg.ack);
        }
        let timed = self.tx.board.pop(seg.ack, self.cfg.vegas_times_waiting);
        self.measure(seg, timed, oldest, cx);
        if self.more.cwv.is_some() {
            self.cwv_on_ack(cx.now);
        }
        if self.cfg.backoff_ends_with_ack {
            self.rtt.end_backoff(&self.cfg);
        }
        if seg.ack >= self.tx.round_end {
            self.tx.round += 1;
            self.tx.round_end = self.nxt;
        }
        if self.more.rack.is_some() {
            self.rack_on_ack(seg, cx);
        }
        if self.more.doubt.is_some() && self.judge_new_ack(seg, acked, sacked, cx) {
            return self.check_finished(cx);
        }
        match self.phase {
            _ if self.cfg.ns3 => self.ns3_ack(acked, sacked, cx),
            Phase::Open if self.rack_found() => self.enter_sack(cx),
            Phase::Loss if self.rack_found_again() => self.enter_sack(cx),
            Phase::Open | Phase::Loss if self.cfg.fack_only_enters && seg.sack_len() != 0 => self.fack_gap(acked, cx),
            Phase::Open => {
                self.dupacks = 0;
                if self.cfg.progress_forgets_sack && self.tx.board.has_sacked() {
                    self.tx.board.clear_marks(true);
                }
                if !self.cwr_goes_on(cx) {
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
                    self.tx.board.unhear();
                }
                // The window grows from one segment as at the start (RFC 5681 section 3.1).
                self.grow(acked, sacked, cx);
                if self.una >= self.tx.recover {
                    self.phase = Phase::Open;
                    self.tx.inflation = 0;
                    self.rack_recovered();
                }
                self.restart_timer(cx);
                if self.phase == Phase::Open && self.rack_found() {
                    self.enter_sack(cx);
                } else {
                    self.transmit(self.cfg.max_burst, cx);
                }
            }
        }
        if self.more.rack.is_some() {
            self.tlp_schedule(cx);
        }
        self.check_finished(cx);
    }

    /// Reports the end of the flow once all it wrote is acknowledged.
    #[inline]
    pub(crate) fn check_finished(&mut self, cx: &mut Cx<'_>) {
        if self.report && self.una >= self.data_end {
            self.report = false;
            cx.finished = true;
        }
    }
}
