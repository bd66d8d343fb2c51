//! State of explicit congestion notification at one end of a connection.

use crate::choices::EcnMode;
use fairlane_net::Ecn;
use std::ops::{Deref, DerefMut};
/// Initial value of the packet counters of AccECN (RFC 9768 section 3.2.1), which distinguishes a counter from a zeroed field.
const FIRST_CEP: u64 = 5;
/// Average of the packets per acknowledgment: unit, weight of the old value, and the limit of a long one.
const PER_ACK_UNIT: u32 = 64;
const PER_ACK_WEIGHT: u32 = 64;
const LONG_ACK: u32 = 4;

/// Marked packets that make an acknowledgment due (n of RFC 9768 section 3.2.2.5.1).
const ACK_MARKS: u8 = 2;

/// Values of the three-bit field of AccECN.
const ACE_RANGE: u64 = 8;

/// State of ECN at one end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EcnState {
    /// Negotiated mode; `Off` before.
    pub(crate) mode: EcnMode,
    /// Bytes that the current acknowledgment reports as marked.
    pub(crate) newly_ce: u64,
    /// True if the current acknowledgment reports congestion: the window does not grow with it (RFC 3168 section 6.1.2).
    pub(crate) hold: bool,
    /// True if the algorithm grades its cut by the number of marks.
    pub(crate) graded: bool,
    /// Receiver: true if outgoing segments carry ECE (`DCTCP.CE` of RFC 8257 section 3.2).
    pub(crate) echo: bool,
    /// Receiver: true if the current data is to be acknowledged at once.
    pub(crate) ack_now: bool,
    /// Sender: true if the next new data carries CWR.
    pub(crate) cwr_due: bool,
    /// Sender: true if the last cut was for a mark.
    pub(crate) cut_for_mark: bool,
    /// Sender: SND.NXT at the last cut.
    pub(crate) cut_end: u64,
    /// AccECN receiver: CE packets received (r.cep).
    pub(crate) r_cep: u64,
    /// AccECN sender: CE packets that the peer reported (s.cep).
    pub(crate) s_cep: u64,
    /// AccECN sender: packets per acknowledgment, smoothed (64ths of one); 0: no acknowledgment yet.
    packets_per_ack: u32,
    /// AccECN receiver: marks since the last acknowledgment, and true if the newest packet was marked.
    pub(crate) unreported: u8,
    last_ce: bool,
    /// AccECN: ECN field of the SYN or SYN-ACK received.
    pub(crate) syn: Ecn,
    /// AccECN: true if the last step of the handshake, which reports it, is still to be sent.
    pub(crate) handshake_ack_due: bool,
    /// AccECN: true until the last step of the handshake.
    pub(crate) handshake_ack_expected: bool,
    /// AccECN: true if a marked SYN-ACK was counted.
    marked_answer_counted: bool,
    /// AccECN: true if the peer's feedback is ignored.
    pub(crate) feedback_disabled: bool,
    /// Bytes reported as marked since the connection began.
    pub(crate) delivered_ce: u64,
    /// CE-marked data packets received.
    pub(crate) ce_received: u64,
    /// Reductions for marks.
    pub(crate) cuts: u32,
}

impl EcnState {
    const fn new(graded: bool) -> Self {
        Self {
            mode: EcnMode::Off,
            newly_ce: 0,
            hold: false,
            graded,
            echo: false,
            ack_now: false,
            cwr_due: false,
            cut_for_mark: false,
            cut_end: 0,
            r_cep: FIRST_CEP,
            s_cep: FIRST_CEP,
            packets_per_ack: 0,
            unreported: 0,
            last_ce: false,
            syn: Ecn::NotEct,
            handshake_ack_due: false,
            handshake_ack_expected: false,
            marked_answer_counted: false,
            feedback_disabled: false,
            delivered_ce: 0,
            ce_received: 0,
            cuts: 0,
        }
    }
}

/// State of ends that do not use ECN.
static NONE: EcnState = EcnState::new(false);

/// [`EcnState`], allocated by the first change.
#[derive(Clone, Debug)]
pub(crate) struct LazyEcn(Option<Box<EcnState>>);

impl LazyEcn {
    pub(crate) fn new(graded: bool) -> Self {
        Self(graded.then(|| Box::new(EcnState::new(true))))
    }

    /// True if ECN was negotiated.
    #[inline]
    pub(crate) fn in_use(&self) -> bool {
        self.0.as_ref().is_some_and(|e| e.mode != EcnMode::Off)
    }
}

impl Deref for LazyEcn {
    type Target = EcnState;
    #[inline]
    fn deref(&self) -> &EcnState {
        self.0.as_deref().unwrap_or(&NONE)
    }
}

impl DerefMut for LazyEcn {
    fn deref_mut(&mut self) -> &mut EcnState {
        self.0.get_or_insert_with(|| Box::new(EcnState::new(false)))
    }
}

impl EcnState {
    /// Counts the packets of an acknowledgment; returns true if acknowledgments cover more than four on average (Linux `pkts_acked_ewma`,
    /// `ACK_COMP_THRESH`).
    pub(crate) fn acks_cover_many(&mut self, packets: u64) -> bool {
        let packets = packets.min(u64::from(u16::MAX)) as u32 * PER_ACK_UNIT;
        self.packets_per_ack =
            if self.packets_per_ack == 0 { packets } else { (self.packets_per_ack * (PER_ACK_WEIGHT - 1) + packets) / PER_ACK_WEIGHT };
        self.packets_per_ack > LONG_ACK * PER_ACK_UNIT
    }
    /// Counts a marked SYN-ACK in r.cep, at most one (RFC 9768 section 3.2.2.2).
    pub(crate) fn count_marked_answer(&mut self, arrived: Ecn) {
        if arrived == Ecn::Ce && !self.marked_answer_counted {
            self.marked_answer_counted = true;
            self.r_cep += 1;
        }
    }

    /// Counts a data packet at an AccECN receiver. An acknowledgment is due for the first mark after unmarked data, and for every
    /// second mark (RFC 9768 section 3.2.2.5.1).
    pub(crate) fn accecn_on_data(&mut self, ce: bool) {
        self.r_cep += u64::from(ce);
        self.unreported = self.unreported.saturating_add(u8::from(ce));
        self.ack_now = ce && (!self.last_ce || self.unreported >= ACK_MARKS);
        self.last_ce = ce;
    }

    /// Packets that the field newly reports as marked (RFC 9768 section 3.2.2.5 and appendix A.2): the smallest number that fits. If so
    /// many packets were covered that the field may have wrapped in lost acknowledgments, the largest number that fits. Where
    /// acknowledgments usually cover many packets, a long one does not indicate lost ones: the receiver reports each second mark at once
    /// (section 3.2.2.5.1).
    pub(crate) fn accecn_marks(&mut self, ace: u8, delivered: u64, smss: u32) -> u64 {
        // An acknowledgment without new data may be an old one.
        if delivered == 0 || self.feedback_disabled {
            return 0;
        }
        let packets = delivered.div_ceil(u64::from(smss));
        let least = (u64::from(ace) + ACE_RANGE - self.s_cep % ACE_RANGE) % ACE_RANGE;
        let long = self.acks_cover_many(packets);
        let marked = if packets >= ACE_RANGE && !long { packets - (packets - least) % ACE_RANGE } else { least };
        self.s_cep += marked;
        marked
    }

    /// True if a cut for a mark has already answered a loss at `una` (RFC 3168 section 6.1.2).
    pub(crate) fn answered(&self, una: u64) -> bool {
        self.cut_for_mark && !self.graded && una < self.cut_end
    }

    /// Records a cut of the window, with `nxt` as the next new sequence number.
    pub(crate) fn on_cut(&mut self, nxt: u64) {
        self.cut_for_mark = false;
        self.cut_end = nxt;
        self.cwr_due = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9768 appendix A.2: the three-bit field wraps; a long acknowledgment may hide a whole turn of it.
    #[test]
    fn the_accecn_field_wraps() {
        let mut e = EcnState::new(false);
        let marks = |e: &mut EcnState, ace: u64, packets: u64| e.accecn_marks((ace % 8) as u8, packets * 1000, 1000);
        assert_eq!(marks(&mut e, 5, 2), 0);
        assert_eq!(marks(&mut e, 7, 2), 2);
        assert_eq!(marks(&mut e, 8, 2), 1);
        // Ten packets: one mark or nine.
        assert_eq!(marks(&mut e, 9, 10), 9);
        assert_eq!(marks(&mut e, 9 + 8, 0), 0);
    }

    /// RFC 9768 section 3.2.2.5.1: the first mark after unmarked data and every second one are acknowledged at once.
    #[test]
    fn marks_are_acknowledged_at_once() {
        let mut e = EcnState::new(false);
        let due: Vec<bool> = [true, false, false, true, true]
            .into_iter()
            .map(|ce| {
                e.accecn_on_data(ce);
                if e.ack_now {
                    e.unreported = 0;
                }
                e.ack_now
            })
            .collect();
        assert_eq!(due, [true, false, false, true, false]);
        e.accecn_on_data(true);
        assert!(e.ack_now);
    }

    /// RFC 3168 section 6.1.2: a loss among the data in flight at a cut for a mark belongs to the same event.
    #[test]
    fn a_cut_for_a_mark_answers_a_loss() {
        let mut e = EcnState::new(false);
        e.on_cut(5000);
        assert!(!e.answered(4000));
        e.cut_for_mark = true;
        assert_eq!([4999, 5000].map(|una| e.answered(una)), [true, false]);
    }
}
