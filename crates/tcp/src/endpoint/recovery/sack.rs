//! Recovery with selective acknowledgments (RFC 6675), SACK and D-SACK blocks of the peer (RFC 2018, RFC 2883).

use crate::cc::CongestionControl;
use crate::endpoint::Tcp;
use crate::state::Phase;
use fairlane_net::{Block, Cx, Segment};

impl<C: CongestionControl> Tcp<C> {
    /// Processes a D-SACK: the first block reports a duplicate if it lies below the cumulative acknowledgment or within the second block
    /// (RFC 2883 section 4). Returns true if it does.
    pub(crate) fn take_dsack(&mut self, seg: &Segment) -> bool {
        let first = seg.sack(0);
        let within = seg.sack_len() > 1 && {
            let second = seg.sack(1);
            second.start <= first.start && first.end <= second.end
        };
        let dsack = first.end <= seg.ack || within;
        self.tx.count.dsacks += u32::from(dsack);
        if let Some(rack) = self.ext.get_mut(|m| m.rack.as_mut())
            && dsack
            && self.tx.count.dsacks <= self.tx.count.retransmits
            && first.start < first.end
        {
            // Part of a segment counts as one segment. A block longer than everything retransmitted is false.
            let longest = u64::from(self.tx.count.retransmits) * u64::from(self.cfg.smss);
            rack.dsacked = (first.end - first.start).min(longest).next_multiple_of(u64::from(self.cfg.smss));
        }
        if dsack && self.ext.undo.is_some() && self.block_holds(first) {
            self.note_dsack(first);
        }
        dsack
    }

    /// True if a block covers data that was sent.
    fn block_holds(&self, block: Block) -> bool {
        block.start < block.end && block.end <= self.nxt
    }

    /// Processes the SACK blocks; returns the bytes newly covered.
    #[cold]
    pub(crate) fn take_sack(&mut self, seg: &Segment) -> u64 {
        let skip = usize::from(self.take_dsack(seg));
        if self.phase == Phase::Loss && self.cfg.timeout_distrusts_sack {
            // The block is ignored, but shows that a segment arrived.
            return (skip..seg.sack_len()).fold(0, |news, i| news | u64::from(self.tx.board.note_block(seg.sack(i))));
        }
        let mut newly = 0;
        // The newest block comes first: from the last to the first keeps the board's memory in that order.
        for i in (skip..seg.sack_len()).rev() {
            let block = seg.sack(i);
            if self.block_holds(block) {
                newly += self.tx.board.sack(block, self.cfg.ns3);
            }
        }
        newly
    }

    /// True if a hole counts as lost only after as many segments as recovery itself requires.
    fn strict(&self) -> bool {
        self.cfg.sack_lost_after >= self.cfg.dupthresh
    }

    pub(super) fn sack_dupack(&mut self, sacked: u64, cx: &mut Cx<'_>) {
        match self.phase {
            Phase::Recovery => {
                self.drain(1);
                self.find_lost(cx);
                self.prr_on_ack(false);
                self.transmit(self.cfg.max_burst, cx);
            }
            Phase::Open if self.rack_found_loss() => self.enter_sack(cx),
            Phase::Loss if self.rack_found_lost_retransmission() => self.enter_sack(cx),
            // RFC 6675 section 5: a duplicate acknowledgment is one that SACKs something new.
            _ if sacked == 0 => {}
            Phase::Loss => {
                self.dupacks += 1;
                self.grow_by_sack(sacked, cx);
                if self.cfg.timeout_forgets_sack {
                    if self.dupacks < self.cfg.dupthresh && !self.no_ack_since_rto {
                        self.send_limited(cx);
                    }
                } else {
                    self.transmit(self.cfg.max_burst, cx);
                }
            }
            Phase::Open => {
                self.dupacks += 1;
                if self.cfg.rack {
                    // SACKed data is not in flight: new data is sent while RACK waits (RFC 3042, without a limit of two).
                    self.prr_on_ack(false);
                    self.grow_by_sack(sacked, cx);
                    return self.transmit(self.cfg.max_burst, cx);
                }
                if self.strict() {
                    self.tx.board.find_lost(self.cfg.sack_lost_after, self.cfg.smss);
                }
                if self.dupacks >= self.cfg.dupthresh || self.tx.board.has_pending() {
                    if !self.cfg.sack_careful || self.una > self.tx.recover {
                        self.enter_sack(cx);
                    }
                } else if self.reducing() {
                    self.prr_on_ack(false);
                    self.transmit(self.cfg.max_burst, cx);
                } else {
                    self.send_limited(cx);
                }
            }
        }
    }

    /// Grows the window by SACKed data where the network reorders by more than the threshold of duplicates, as it is then no sign of a loss
    /// (Linux `tcp_may_raise_cwnd`).
    fn grow_by_sack(&mut self, sacked: u64, cx: &Cx<'_>) {
        let reorders = self.ext.rack.as_ref().is_some_and(|r| r.distance > self.cfg.dupthresh);
        if self.cfg.grow_by_delivered && reorders && !self.reducing() {
            self.grow(0, sacked, cx);
        }
    }

    /// Detects losses by count. With RACK they are detected already, and a retransmission may be among them.
    fn find_lost(&mut self, cx: &Cx<'_>) {
        if self.cfg.rack {
            self.rack_reduce_again(cx);
        } else {
            self.tx.board.find_lost(self.cfg.sack_lost_after, self.cfg.smss);
        }
    }

    /// Enters recovery (RFC 6675 section 5 step 4): reduces, retransmits the first hole, counts the data in flight.
    pub(crate) fn enter_sack(&mut self, cx: &mut Cx<'_>) {
        self.tx.pipe = self.tx.board.outstanding().saturating_sub(u64::from(self.cfg.dupthresh) * u64::from(self.cfg.smss));
        self.reduce(cx);
        self.enter(Phase::Recovery, cx);
        if !self.cfg.rack {
            self.tx.board.mark_head_lost();
            self.find_lost(cx);
        }
        if self.cc_ack_pending {
            self.pass_ack_to_cc(cx);
        }
        if self.reducing() {
            self.prr_enter();
            return self.transmit(self.cfg.max_burst, cx);
        }
        if let Some(first) = self.tx.board.first_pending() {
            let pipe = self.tx.pipe;
            self.resend(first, true, cx);
            // The count starts with the first retransmission in it: the segment it replaces has left.
            self.tx.pipe = pipe;
        }
        if !self.cfg.counted_pipe {
            self.transmit(self.cfg.max_burst, cx);
        }
    }

    /// Takes segments that left the network out of the counted pipe (Fall and Floyd 1996 section 5).
    fn drain(&mut self, segments: u64) {
        self.tx.pipe = self.tx.pipe.saturating_sub(segments * u64::from(self.cfg.smss));
    }

    pub(super) fn sack_recovery_ack(&mut self, acked: u64, sacked: u64, cx: &mut Cx<'_>) {
        if self.una >= self.tx.recover {
            self.leave_recovery(cx);
            if self.cfg.sack_grow_on_exit {
                self.grow(acked, sacked, cx);
            }
            // Losses since recovery began, and from here on, are a new event (RFC 6675 section 5).
            self.tx.recover = 0;
            if !self.cfg.rack {
                self.tx.board.clear_marks(self.cfg.progress_forgets_sack);
            } else if self.tx.board.lost != 0 {
                // Retransmitted already or not (Linux `tcp_time_to_recover`).
                return self.enter_sack(cx);
            }
        } else {
            // The retransmission and the segment it replaced both left.
            self.drain(2);
            self.find_lost(cx);
            self.prr_on_ack(true);
        }
        self.restart_timer(cx);
        self.transmit(self.cfg.max_burst, cx);
    }

    /// Sends by NextSeg rules 3 and 4 (RFC 6675 section 4), without a lost hole or new data to send.
    pub(crate) fn send_rule_3_or_4(&mut self, cx: &mut Cx<'_>) {
        let before = self.tx.count.retransmit_bytes;
        if let Some(i) = self.tx.board.first_unmarked() {
            self.resend(i, true, cx);
        } else if self.cfg.sack_rescue
            && !self.tx.rescue_sent
            && let Some(i) = self.tx.board.last_unsacked()
        {
            self.tx.rescue_sent = true;
            self.resend(i, true, cx);
        }
        if let Some(c) = self.ext.get_mut(|m| m.cwv.as_mut()) {
            c.exclude_retransmitted(self.tx.count.retransmit_bytes - before);
        }
    }
}
