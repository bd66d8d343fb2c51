//! State of the undo of spurious reductions (RFC 3522, RFC 3708, RFC 4015).

use crate::frto::Frto;
use fairlane_net::Block;

/// State of the latest loss event, as long as it may prove spurious.
#[derive(Clone, Debug, Default)]
pub(crate) struct UndoState {
    /// SND.UNA at its beginning; 0: no event may be undone.
    pub(crate) since: u64,
    /// Retransmissions of the event that no D-SACK has reported.
    unproved_retransmissions: u32,
    /// Timestamp of the first retransmission.
    first: Option<u32>,
    /// State of F-RTO.
    pub(crate) frto: Frto,
    /// SND.NXT at the timeout.
    pub(crate) high: u64,
    /// Reductions undone.
    pub(crate) undone: u32,
}

impl UndoState {
    /// Begins an event at SND.UNA `since`. The `outstanding` retransmissions of an earlier event belong to it, and so does their
    /// timestamp if a segment in flight was `resent` (Linux `tcp_init_undo`, `tcp_retrans_stamp_cleanup`).
    pub(crate) fn begin(&mut self, since: u64, outstanding: u32, resent: bool) {
        self.since = since;
        self.unproved_retransmissions = outstanding;
        if !resent {
            self.first = None;
        }
    }

    /// True if D-SACK has reported every retransmission (RFC 3708 section 2).
    pub(crate) fn proved_by_dsack(&self) -> bool {
        self.since != 0 && self.first.is_some() && self.unproved_retransmissions == 0
    }

    /// True if the echoed timestamp is older than the first retransmission (RFC 3522 section 3.2).
    pub(crate) fn proved_by_echo(&self, echo: u32) -> bool {
        self.first.is_some_and(|first| (echo.wrapping_sub(first) as i32) < 0)
    }

    /// Ends the event after its reductions were undone.
    pub(crate) fn finish(&mut self) {
        self.since = 0;
        self.frto = Frto::Off;
        self.undone += 1;
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 3708 section 2 and RFC 3522 section 3.2.
    #[test]
    fn every_duplicate_or_an_old_echo_proves_the_event_spurious() {
        let mut u = UndoState::default();
        u.begin(1000, 0, false);
        assert!(!u.proved_by_dsack() && !u.proved_by_echo(7));
        u.on_resend(7);
        u.on_resend(9);
        u.on_dsack(Block { start: 1000, end: 2000 }, 9000, 1000);
        assert!(!u.proved_by_dsack());
        u.on_dsack(Block { start: 8000, end: 9500 }, 9000, 1000);
        assert!(!u.proved_by_dsack(), "beyond what was sent");
        u.on_dsack(Block { start: 2000, end: 3000 }, 9000, 1000);
        assert!(u.proved_by_dsack());
        assert_eq!([6, 7, 8].map(|echo| u.proved_by_echo(echo)), [true, false, false]);
        u.finish();
        assert!(!u.proved_by_dsack());
        assert_eq!(u.undone, 1);
    }
}
