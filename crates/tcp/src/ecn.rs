//! Explicit congestion notification: what is negotiated, what the receiver reports, what the sender makes of it.

use crate::cc::CongestionControl;
use crate::endpoint::Tcp;
use crate::params::EcnMode;
use fairlane_net::{Cx, Segment};

/// State of ECN at one end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EcnState {
    /// What was negotiated; `Off` until then.
    pub(crate) mode: EcnMode,
    /// Bytes that the acknowledgment at hand reports as marked.
    pub(crate) newly_ce: u64,
}

impl Default for EcnState {
    fn default() -> Self {
        Self { mode: EcnMode::Off, newly_ce: 0 }
    }
}

impl<C: CongestionControl> Tcp<C> {
    /// Whether ECN is in use.
    #[inline]
    pub(crate) fn ecn_on(&self) -> bool {
        self.ecn.mode != EcnMode::Off
    }

    /// Writes the offer into a SYN, or the answer into a SYN-ACK.
    pub(crate) fn ecn_write_syn(&mut self, _seg: &mut Segment, _answer: bool) {}

    /// Reads the offer in a SYN, or the answer in a SYN-ACK.
    pub(crate) fn ecn_take_syn(&mut self, _seg: &Segment, _answer: bool) {}

    /// The connection is open without a handshake: both ends know what the other does.
    pub(crate) fn ecn_assume(&mut self) {
        self.ecn.mode = self.cfg.ecn;
    }

    /// Marks a segment on its way out. `again`: it is a retransmission.
    pub(crate) fn ecn_stamp(&mut self, _seg: &mut Segment, _again: bool) {}

    /// The ECN field of data that arrived, before it is taken in; may owe an acknowledgment.
    pub(crate) fn ecn_take_data(&mut self, _seg: &Segment, _cx: &mut Cx<'_>) {}

    /// Feedback in an acknowledgment that newly delivered `delivered` bytes, before anything is made of it.
    pub(crate) fn ecn_take_ack(&mut self, _seg: &Segment, _delivered: u64, _cx: &mut Cx<'_>) {}
}
