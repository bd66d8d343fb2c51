//! Explicit congestion notification: negotiation, the receiver's feedback, and the sender's reaction.
//!
//! Sources: RFC 3168 (classic), RFC 8257 section 3 (feedback of DCTCP), RFC 9768 (AccECN).
//!
//! The sender reduces at most once per window of data (RFC 3168 section 6.1.2): after a cut it waits for the acknowledgment of data sent
//! later. A loss among the data in flight at a cut for a mark belongs to the same event, unless the cut was graded by the number of marks
//! (RFC 8257 section 3.5).
//!
//! Deviations: a retransmitted SYN still offers ECN (RFC 3168 section 6.1.1.1 permits to give up). At the smallest window the sender does
//! not slow down further by waiting for the retransmission timer (section 6.1.2). Of AccECN these are missing: the option with byte
//! counters (RFC 9768 section 3.2.3), the checks for middleboxes that change the ECN field (section 3.2.2.4), and acknowledgments of marked
//! acknowledgments (section 3.2.2.5.1); marks count in packets, as full-sized segments.

use crate::cc::{CongestionControl, CongestionKind, MarkSample};
use crate::choices::EcnMode;
use crate::endpoint::Tcp;
use crate::state::Phase;
use fairlane_net::{Cx, Ecn, Segment, flag};

/// ACE field of a SYN-ACK, or of the last step of the handshake, by the ECN field of the SYN or SYN-ACK received (RFC 9768 section 3.1.1
/// table 2, section 3.2.2.1 table 3).
const fn handshake_ace(arrived: Ecn) -> u8 {
    match arrived {
        Ecn::NotEct => 0b010,
        Ecn::Ect1 => 0b011,
        Ecn::Ect0 => 0b100,
        Ecn::Ce => 0b110,
    }
}

impl<C: CongestionControl> Tcp<C> {
    /// True if ECN is in use.
    #[inline]
    pub(crate) fn ecn_on(&self) -> bool {
        self.ecn.in_use()
    }

    /// Writes the offer into a SYN, or the answer into a SYN-ACK (RFC 3168 section 6.1.1, RFC 9768 section 3.1).
    pub(crate) fn ecn_write_syn(&mut self, seg: &mut Segment, answer: bool) {
        if !answer {
            seg.set_ace(if self.cfg.ecn == EcnMode::Accecn { 0b111 } else { 0b011 });
        } else if self.ecn.mode == EcnMode::Accecn {
            seg.set_ace(handshake_ace(self.ecn.syn));
        } else if self.ecn_on() {
            seg.flags |= flag::ECE;
        }
        self.ecn_stamp_control(seg);
    }

    /// Reads the offer in a SYN, or the answer in a SYN-ACK (RFC 3168 section 6.1.1, RFC 9768 section 3.1.2).
    pub(crate) fn ecn_take_syn(&mut self, seg: &Segment, answer: bool) {
        let accurate = self.cfg.ecn == EcnMode::Accecn;
        // Without AccECN on both ends the fallback is RFC 3168.
        let classic = if accurate { EcnMode::Classic } else { self.cfg.ecn };
        self.ecn.mode = match (answer, seg.ace()) {
            // Neither; to an offer without AE both flags belong (0b001 and 0b010 of a peer without AccECN are no offer of RFC 3168).
            (_, 0b000) => EcnMode::Off,
            (false, 0b011) => classic,
            (false, ace) if !accurate => {
                if ace & 0b011 == 0b011 {
                    classic
                } else {
                    EcnMode::Off
                }
            }
            // RFC 9768 section 3.1.3: any other value is AccECN, in an answer as well, for future use.
            (false, _) => EcnMode::Accecn,
            // The offer thrown back, with AE or without.
            (true, 0b111) => EcnMode::Off,
            (true, 0b001) => classic,
            (true, _) if accurate => EcnMode::Accecn,
            // Without AccECN the AE bit is ignored.
            (true, 0b101) => classic,
            (true, _) => EcnMode::Off,
        };
        if self.ecn.mode == EcnMode::Accecn {
            self.ecn.syn = seg.ecn();
            self.ecn.handshake_ack_due = answer;
            self.ecn.handshake_ack_expected = !answer && self.cfg.handshake_ack;
            if answer {
                self.ecn.count_marked_answer(seg.ecn());
            }
        }
    }

    /// Handles a retransmitted SYN: the SYN-ACK reports the ECN field of the latest one, and a server whose peer may have fallen back to no
    /// ECN sends no ECT (RFC 9768 section 3.1.5).
    pub(crate) fn ecn_take_syn_again(&mut self, seg: &Segment) {
        if self.ecn.mode == EcnMode::Accecn && !seg.has(flag::ACK) {
            self.ecn.syn = seg.ecn();
            if seg.ace() == 0 {
                self.ect = Ecn::NotEct;
            }
        }
    }

    /// Handles a retransmitted SYN-ACK that is about to be acknowledged: with its ECN field, as the first was (RFC 9768 section 3.2.2.1).
    pub(crate) fn ecn_take_answer_again(&mut self, seg: &Segment) {
        if self.ecn.mode == EcnMode::Accecn && seg.has(flag::ACK) && !self.rcv.passive {
            self.ecn.syn = seg.ecn();
            self.ecn.handshake_ack_due = true;
            self.ecn.count_marked_answer(seg.ecn());
        }
    }

    /// Sets the mode of a connection without a handshake, on both ends alike.
    pub(crate) fn ecn_assume(&mut self) {
        if self.cfg.ecn != EcnMode::Off {
            self.ecn.mode = self.cfg.ecn;
        }
    }

    /// Sets the ECN fields of an outgoing segment. `again`: it is a retransmission.
    pub(crate) fn ecn_stamp(&mut self, seg: &mut Segment, again: bool) {
        // RFC 3168: no ECT on retransmissions (6.1.5), pure acknowledgments (6.1.4), window probes (6.1.6).
        let new = seg.payload != 0 && !again && seg.seq < self.edge;
        if new || (again && self.cfg.ecn_resent) {
            seg.set_ecn(self.ect);
        } else {
            self.ecn_stamp_control(seg);
        }
        if self.ecn.mode == EcnMode::Accecn {
            return self.accecn_stamp(seg);
        }
        if new && self.ecn.cwr_due {
            // On the first new data after a cut of whatever cause (section 6.1.2).
            self.ecn.cwr_due = false;
            seg.flags |= flag::CWR;
            if self.cfg.ns3 {
                self.ecn.cut_end = seg.seq;
            }
        }
        if self.ecn.echo {
            seg.flags |= flag::ECE;
        }
    }

    /// Sets ECT on a segment that RFC 3168 sends without it, with `ecn_plus` or L4S (RFC 9331 section 4.1).
    fn ecn_stamp_control(&self, seg: &mut Segment) {
        if self.cfg.ecn_plus || self.ect == Ecn::Ect1 {
            seg.set_ecn(self.ect);
        }
    }

    /// Writes the counter into a segment (RFC 9768 section 3.2.2), or in the last step of the handshake the ECN field of the SYN-ACK
    /// (section 3.2.2.1).
    fn accecn_stamp(&mut self, seg: &mut Segment) {
        let third = std::mem::take(&mut self.ecn.handshake_ack_due) && seg.payload == 0 && seg.sack_len() == 0;
        seg.set_ace(if third { handshake_ace(self.ecn.syn) } else { self.ecn.r_cep as u8 });
        self.ecn.unreported = 0;
    }

    /// Reads the ECN field of a segment without data, and the last step of the handshake (RFC 9768 sections 3.2.2.1 and 3.2.2.2).
    pub(crate) fn ecn_take_control(&mut self, seg: &Segment) {
        if self.ecn.mode != EcnMode::Accecn {
            return;
        }
        if seg.payload == 0 && seg.ecn() == Ecn::Ce {
            self.ecn.r_cep += 1;
        }
        let third = std::mem::take(&mut self.ecn.handshake_ack_expected) && seg.payload == 0 && seg.sack_len() == 0;
        if third && seg.ace() == 0 {
            // Zeroed on the way, or a peer without ECN (section 3.2.2.1 table 4, note 1): neither ECT nor answers any more, but marks are reported on.
            self.ecn.feedback_disabled = true;
            self.ect = Ecn::NotEct;
        }
        self.ecn.s_cep += u64::from(third && seg.ace() == handshake_ace(Ecn::Ce));
    }

    /// Reads the ECN field of data before it is received; may schedule an acknowledgment.
    pub(crate) fn ecn_take_data(&mut self, seg: &Segment, cx: &mut Cx<'_>) {
        // RFC 3168 section 6.1.5: marks on segments outside of the window are ignored.
        if seg.end() <= self.rcv.nxt || seg.end() > self.receive_edge() {
            return;
        }
        let ce = seg.ecn() == Ecn::Ce && seg.payload != 0;
        self.ecn.ce_received += u64::from(ce);
        match self.ecn.mode {
            EcnMode::Dctcp => self.dctcp_on_data(ce, cx),
            EcnMode::Accecn => self.ecn.accecn_on_data(ce),
            // RFC 3168 section 6.1.3: CWR ends the echo; a mark on the same packet begins another.
            _ => self.ecn.echo = (self.ecn.echo && !seg.has(flag::CWR)) || ce,
        }
    }

    /// Feedback of DCTCP (RFC 8257 section 3.2, as in the kernel): a delayed acknowledgment leaves with the old state, and the packet that
    /// changed the state is acknowledged at once with the new one.
    fn dctcp_on_data(&mut self, ce: bool, cx: &mut Cx<'_>) {
        if ce == self.ecn.echo {
            return;
        }
        if self.rcv.ack_pending() {
            self.send_ack(cx);
            self.ack_scheduled = true;
        }
        self.ecn.echo = ce;
        self.ecn.ack_now = true;
    }

    /// Processes the feedback in an acknowledgment that covers `news` bytes for the first time, in order or by SACK blocks, before any
    /// other processing.
    pub(crate) fn ecn_take_ack(&mut self, seg: &Segment, news: u64, cx: &mut Cx<'_>) {
        let delivered = news.saturating_sub(self.tx.board.sacked_below(seg.ack));
        let accurate = self.ecn.mode == EcnMode::Accecn;
        let (echo, ce) = if accurate {
            let packets = self.ecn.accecn_marks(seg.ace(), delivered, self.cfg.smss);
            (packets != 0, (packets * u64::from(self.cfg.smss)).min(delivered))
        } else {
            let echo = seg.has(flag::ECE);
            (echo, if echo && self.ecn.mode == EcnMode::Dctcp { delivered } else { 0 })
        };
        self.ecn.newly_ce = ce;
        self.ecn.delivered_ce += ce;
        self.ecn.hold = echo && !(accurate && self.ecn.graded);
        if self.ecn.graded {
            self.cc.on_marks(&MarkSample { now: cx.now, delivered, ce, ack: seg.ack, next: self.nxt });
        }
        if self.cfg.ns3 {
            // CWR answers every echo that acknowledges something sent after the last CWR, cut or not.
            self.lifecycle.ns3.echo = echo;
            self.ecn.cwr_due = echo && (self.ecn.cwr_due || (seg.ack > self.una && seg.ack > self.ecn.cut_end));
        } else if echo {
            self.ecn_react(seg.ack, cx);
        }
    }

    /// Reduces the window once per window of data, and not during loss recovery (RFC 3168 section 6.1.2).
    fn ecn_react(&mut self, ack: u64, cx: &mut Cx<'_>) {
        // An acknowledgment of no more than was in flight at the last cut predates its CWR.
        if self.phase != Phase::Open || ack <= self.ecn.cut_end {
            return;
        }
        let base = self.recover_fs();
        self.congestion(CongestionKind::EcnEcho, cx);
        if self.ecn.hold {
            // The window of an algorithm that grows between marks is cut at once.
            self.prr_begin_cwr(base);
        }
        // Congestion was not imagined, whatever becomes of a loss.
        self.cc.settle();
        self.ecn.cut_for_mark = true;
        self.ecn.cuts += 1;
    }

    /// True if a cut for a mark has already answered this loss (RFC 3168 section 6.1.2).
    pub(crate) fn ecn_answered(&self, kind: CongestionKind) -> bool {
        kind == CongestionKind::FastRetransmit && self.ecn.answered(self.una)
    }

    /// Records a cut of the window for any reason (RFC 3168 section 6.1.2).
    pub(crate) fn ecn_cut(&mut self) {
        let nxt = self.nxt;
        self.ecn.on_cut(nxt);
    }
}
