//! State of the undo of spurious reductions (RFC 3522, RFC 3708, RFC 4015).

use crate::frto::Frto;
use fairlane_net::Block;

/// State of the latest loss event, as long as it may prove spurious.
#[derive(Clone, Debug, Default)]
pub(crate) struct UndoState {
    /// SND.UNA at its beginning; 0: no event may be undone.
    pub(crate) since: u64,
    /// Retransmissions of the event that no D-SACK has reported.
    pub(crate) unproved_retransmissions: u32,
    /// Timestamp of the first retransmission.
    pub(crate) first: Option<u32>,
    /// State of F-RTO.
    pub(super) frto: Frto,
    /// SND.NXT at the timeout.
    pub(super) high: u64,
    /// Reductions undone.
    pub(crate) undone: u32,
}

impl UndoState {
    /// Counts a retransmission with timestamp `stamp`.
    pub(crate) fn on_resend(&mut self, stamp: u32) {
        self.unproved_retransmissions = self.unproved_retransmissions.saturating_add(1);
        self.first.get_or_insert(stamp);
    }

    /// Counts the duplicate that a D-SACK block reports (RFC 2883).
    pub(crate) fn on_dsack(&mut self, block: Block, nxt: u64, smss: u32) {
        if self.since != 0 && block.end > self.since && block.end <= nxt {
            let segments = (block.end - block.start).div_ceil(u64::from(smss));
            self.unproved_retransmissions = self.unproved_retransmissions.saturating_sub(segments.min(u64::from(u32::MAX)) as u32);
        }
    }
}
