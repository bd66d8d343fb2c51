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
    pub(crate) last_ce: bool,
    /// AccECN: ECN field of the SYN or SYN-ACK received.
    pub(crate) syn: Ecn,
    /// AccECN: true if the last step of the handshake, which reports it, is still to be sent.
    pub(crate) handshake_ack_due: bool,
    /// AccECN: true until the last step of the handshake.
    pub(crate) handshake_ack_expected: bool,
    /// AccECN: true if a marked SYN-ACK was counted.
    pub(crate) marked_answer_counted: bool,
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
}
