//! Explicit congestion notification: what is negotiated, what the receiver reports, what the sender makes of it.
//!
//! Sources: RFC 3168 (classic), RFC 8257 section 3 (feedback of DCTCP).
//!
//! The sender reduces at most once a window of data (RFC 3168 section 6.1.2): after a cut it waits for the acknowledgment of something sent
//! later. A loss among what was in flight at a cut for a mark belongs to the same event, except where the cut was graded by the number
//! of marks (RFC 8257 section 3.5).
//!
//! Deviations: a SYN that is sent again still offers ECN (RFC 3168 section 6.1.1.1 permits to give up); at the smallest window the sender does not
//! slow down further by waiting for the retransmission timer (section 6.1.2).

use crate::cc::{CongestionControl, CongestionKind, MarkSample};
use crate::endpoint::{Phase, Tcp};
use crate::params::EcnMode;
use crate::scoreboard::{SACKED, Scoreboard};
use fairlane_net::{Cx, Ecn, Segment, flag};

/// ECN flags of a SYN that offers ECN (RFC 3168 section 6.1.1).
const OFFER: u8 = flag::ECE | flag::CWR;

/// State of ECN at one end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EcnState {
    /// What was negotiated; `Off` until then.
    pub(crate) mode: EcnMode,
    /// Bytes that the acknowledgment at hand reports as marked.
    pub(crate) newly_ce: u64,
    /// The acknowledgment at hand tells of congestion: the window is not to grow with it (RFC 3168 section 6.1.2).
    pub(crate) hold: bool,
    /// The algorithm grades its cut by the number of marks.
    pub(crate) graded: bool,
    /// Receiver: ECE goes into what is sent (`DCTCP.CE` of RFC 8257 section 3.2).
    echo: bool,
    /// Receiver: the data at hand is to be acknowledged at once.
    pub(crate) ack_now: bool,
    /// Sender: CWR goes into the next new data.
    cwr_due: bool,
    /// Sender: the last cut was for a mark.
    for_mark: bool,
    /// Sender: SND.NXT at the last cut.
    cut_end: u64,
    /// Data packets with CE that arrived.
    pub(crate) ce_received: u64,
    /// Cuts for marks.
    pub(crate) cuts: u32,
}

impl EcnState {
    pub(crate) fn new(graded: bool) -> Self {
        Self {
            mode: EcnMode::Off,
            newly_ce: 0,
            hold: false,
            graded,
            echo: false,
            ack_now: false,
            cwr_due: false,
            for_mark: false,
            cut_end: 0,
            ce_received: 0,
            cuts: 0,
        }
    }
}

impl<C: CongestionControl> Tcp<C> {
    /// Whether ECN is in use.
    #[inline]
    pub(crate) fn ecn_on(&self) -> bool {
        self.ecn.mode != EcnMode::Off
    }

    /// Writes the offer into a SYN, or the answer into a SYN-ACK (RFC 3168 section 6.1.1).
    pub(crate) fn ecn_write_syn(&mut self, seg: &mut Segment, answer: bool) {
        if !answer {
            seg.flags |= OFFER;
        } else if self.ecn_on() {
            seg.flags |= flag::ECE;
        }
        self.ecn_stamp_control(seg);
    }

    /// Reads the offer in a SYN, or the answer in a SYN-ACK.
    pub(crate) fn ecn_take_syn(&mut self, seg: &Segment, answer: bool) {
        // RFC 3168 section 6.1.1: an answer with both flags is no answer, but the offer thrown back.
        let agreed = seg.flags & OFFER == if answer { flag::ECE } else { OFFER };
        self.ecn.mode = if agreed { self.cfg.ecn } else { EcnMode::Off };
    }

    /// The connection is open without a handshake: both ends know what the other does.
    pub(crate) fn ecn_assume(&mut self) {
        self.ecn.mode = self.cfg.ecn;
    }

    /// Marks a segment on its way out. `again`: it is a retransmission.
    pub(crate) fn ecn_stamp(&mut self, seg: &mut Segment, again: bool) {
        // RFC 3168: no ECT on retransmissions (6.1.5), pure acknowledgments (6.1.4), window probes (6.1.6).
        if seg.payload != 0 && !again && seg.seq < self.edge {
            seg.set_ecn(self.ect);
            if self.ecn.cwr_due {
                // On the first new data after a cut of whatever cause (section 6.1.2).
                self.ecn.cwr_due = false;
                seg.flags |= flag::CWR;
            }
        } else {
            self.ecn_stamp_control(seg);
        }
        if self.ecn.echo {
            seg.flags |= flag::ECE;
        }
    }

    /// Whether what RFC 3168 leaves without ECT carries it as well.
    fn ecn_stamp_control(&self, seg: &mut Segment) {
        if self.cfg.ecn_plus {
            seg.set_ecn(self.ect);
        }
    }

    /// The ECN field of data that arrived, before it is taken in; may owe an acknowledgment.
    pub(crate) fn ecn_take_data(&mut self, seg: &Segment, cx: &mut Cx<'_>) {
        let limit = self.cfg.receive_window;
        // RFC 3168 section 6.1.5: marks on what lies outside of the window are not believed.
        if seg.end() <= self.rcv.nxt || (limit != u32::MAX && seg.end() > self.rcv.nxt + u64::from(limit)) {
            return;
        }
        let ce = seg.ecn() == Ecn::Ce;
        self.ecn.ce_received += u64::from(ce);
        match self.ecn.mode {
            EcnMode::Dctcp => self.dctcp_feedback(ce, cx),
            _ => {
                // RFC 3168 section 6.1.3: CWR ends the echo; a mark on the same packet begins another.
                self.ecn.echo = (self.ecn.echo && !seg.has(flag::CWR)) || ce;
            }
        }
    }

    /// RFC 8257 section 3.2, as the kernel reads it: what a delayed acknowledgment covers is reported with the old state, the packet that
    /// changed the state at once with the new one.
    fn dctcp_feedback(&mut self, ce: bool, cx: &mut Cx<'_>) {
        if ce == self.ecn.echo {
            return;
        }
        if self.rcv.owes() {
            self.send_ack(cx);
        }
        self.ecn.echo = ce;
        self.ecn.ack_now = true;
    }

    /// Feedback in an acknowledgment whose SACK blocks newly cover `sacked` bytes, before anything is made of it.
    pub(crate) fn ecn_take_ack(&mut self, seg: &Segment, sacked: u64, cx: &mut Cx<'_>) {
        let delivered = (seg.ack - self.una + sacked).saturating_sub(self.board.sacked_below(seg.ack));
        let echo = seg.has(flag::ECE);
        self.ecn.newly_ce = if echo && self.ecn.mode == EcnMode::Dctcp { delivered } else { 0 };
        self.ecn.hold = echo;
        if self.ecn.graded {
            self.cc.on_marks(&MarkSample { now: cx.now, delivered, ce: self.ecn.newly_ce, ack: seg.ack, next: self.nxt });
        }
        if echo {
            self.ecn_react(seg.ack, cx);
        }
    }

    /// RFC 3168 section 6.1.2: one cut a window of data, none while losses are repaired.
    fn ecn_react(&mut self, ack: u64, cx: &mut Cx<'_>) {
        // What acknowledges no more than was in flight at the last cut cannot know of its CWR.
        if self.phase != Phase::Open || ack <= self.ecn.cut_end {
            return;
        }
        let base = self.recover_flight();
        self.congestion(CongestionKind::EcnEcho, cx);
        self.begin_cwr(base);
        // Congestion was not imagined, whatever becomes of a loss.
        self.cc.settle();
        self.ecn.for_mark = true;
        self.ecn.cuts += 1;
    }

    /// Whether a cut for a mark has answered this loss already (RFC 3168 section 6.1.2).
    pub(crate) fn ecn_answered(&self, kind: CongestionKind) -> bool {
        kind == CongestionKind::FastRetransmit && self.ecn.for_mark && !self.ecn.graded && self.una < self.ecn.cut_end
    }

    /// The window was cut, for whatever reason (RFC 3168 section 6.1.2).
    pub(crate) fn ecn_cut(&mut self) {
        self.ecn.for_mark = false;
        self.ecn.cut_end = self.nxt;
        self.ecn.cwr_due = true;
    }
}

impl Scoreboard {
    /// Bytes below `ack` that were SACKed: news no more.
    fn sacked_below(&self, ack: u64) -> u64 {
        let (mut bytes, mut i) = (0, self.head);
        while self.sacked() != 0 && i != self.tail && self.at(i).seq < ack {
            let s = self.at(i);
            bytes += if s.is(SACKED) { u64::from(s.len) } else { 0 };
            i = i.wrapping_add(1);
        }
        bytes
    }
}
