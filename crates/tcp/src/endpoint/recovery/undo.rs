//! Undo of spurious reductions: Eifel detection (RFC 3522), D-SACK (RFC 3708), and the response (RFC 4015).
//!
//! A loss event may prove spurious from its reduction on. The proof is one of:
//!
//! * an acknowledgment that echoes a timestamp from before the first retransmission: the original had arrived (RFC 3522 section 3.2);
//! * D-SACK reports of every retransmission: all originals had arrived (RFC 3708 section 2);
//! * new or never retransmitted data acknowledged after a timeout (F-RTO, `frto.rs`).
//!
//! Window and threshold return to their values before the first reduction of the event, if those are larger, and no segment counts as lost
//! any more.
//!
//! Deviations: the window is restored as it was, as Linux does, not to FlightSize plus the data acknowledged (RFC 4015 section 3.5) or by
//! slow start (RFC 3708 section 3): data that the spurious event delayed leaves with the acknowledgments that prove it. SRTT and RTTVAR are
//! not set from one sample (RFC 4015 section 3.3): the late acknowledgment is itself a measurement here. Timestamps are checked on every
//! acknowledgment of new data until the event is over, not on the first alone (RFC 3522 section 3.2 step 4), and D-SACK until the next
//! event begins; both as in Linux.

use crate::cc::{CongestionControl, CongestionKind};
use crate::endpoint::Tcp;
use crate::frto::Frto;
use crate::sent::KARN;
use crate::state::Phase;
use fairlane_net::{Block, Cx, Segment};
use fairlane_units::Time;

impl<C: CongestionControl> Tcp<C> {
    /// Reductions that proved spurious and were undone.
    pub fn reductions_taken_back(&self) -> u32 {
        self.ext.undo.as_ref().map_or(0, |d| d.undone)
    }

    /// Begins an event that may be undone, before its reduction. An ECN echo never proves spurious; reductions within a loss event belong
    /// to it.
    pub(crate) fn begin_undo(&mut self, kind: CongestionKind) {
        let Some(undo) = self.ext.get_mut(|m| m.undo.as_mut()) else { return };
        if kind != CongestionKind::EcnEcho && self.phase != Phase::Open && undo.since != 0 {
            return;
        }
        self.cc.settle();
        let since = if kind == CongestionKind::EcnEcho { 0 } else { self.una };
        let (out, smss) = (self.tx.board.resent, u64::from(self.cfg.smss));
        let resent = out != 0 || self.tx.board.first().is_some_and(|i| self.tx.board.at(i).is(KARN));
        undo.begin(since, out.div_ceil(smss) as u32, resent);
    }

    /// Sends new data within the window; lost segments wait for another acknowledgment. Returns true.
    fn send_new_only(&mut self, cx: &mut Cx<'_>) -> bool {
        if self.cc_ack_pending {
            self.pass_ack_to_cc(cx);
        }
        self.prr_on_ack(true);
        self.restart_timer(cx);
        let window = self.window();
        while self.ext.held.is_none() {
            let len = self.new_len();
            let data = self.data_in(len);
            if len == 0
                || (data != 0 && self.in_flight() + data > window)
                || !self.fits(len)
                || (self.features.paced && !self.pace_allows(cx))
            {
                break;
            }
            self.send_new(len, cx);
        }
        true
    }

    /// Counts a retransmission sent now, with its timestamp.
    pub(crate) fn note_resend(&mut self, now: Time) {
        let stamp = self.timestamp(now);
        if let Some(undo) = self.ext.get_mut(|m| m.undo.as_mut()) {
            undo.on_resend(stamp);
        }
    }

    /// Counts a D-SACK block.
    pub(crate) fn note_dsack(&mut self, block: Block) {
        if let Some(undo) = self.ext.get_mut(|m| m.undo.as_mut()) {
            undo.on_dsack(block, self.nxt, self.cfg.smss);
        }
    }

    /// Undoes the event if D-SACK has reported all its retransmissions; returns true if it did.
    #[cold]
    pub(crate) fn check_dsack_undo(&mut self) -> bool {
        let proved = self.cfg.dsack_undo && self.ext.undo.as_ref().is_some_and(|u| u.proved_by_dsack());
        if proved {
            self.undo_reductions();
        }
        proved
    }

    /// Checks if an acknowledgment of new data proves the event spurious; returns true if all sending is done.
    #[cold]
    pub(crate) fn check_undo(&mut self, seg: &Segment, acked: u64, sacked: u64, cx: &mut Cx<'_>) -> bool {
        let Some(undo) = &self.ext.undo else { return false };
        if self.phase == Phase::Open || undo.since == 0 {
            return false;
        }
        // RFC 3522 section 3.2 step 5, with the order of RFC 7323 section 4.2.
        let original = seg.timestamps().is_some_and(|(_, echo)| undo.proved_by_echo(echo));
        if original && self.cfg.eifel {
            if self.phase == Phase::Recovery && self.una < self.tx.recover {
                // A late segment filled the hole. While retransmissions are in flight no other follows, and the undo waits (Linux
                // `tcp_try_undo_partial`).
                self.note_reordering();
                if self.tx.board.resent != 0 {
                    return self.send_new_only(cx);
                }
            }
            self.undo_reductions();
            return false;
        }
        undo.frto != Frto::Off && self.frto_new_ack(acked, sacked, cx)
    }

    /// Restores the state before the event (RFC 4015 section 3).
    pub(super) fn undo_reductions(&mut self) {
        self.cc.undo();
        if self.phase != Phase::Open {
            self.prr_end();
            self.phase = Phase::Open;
            self.dupacks = 0;
            self.tx.inflation = 0;
            self.tx.deflated = 0;
            self.ns2.output_stopped = false;
            self.tx.board.clear_marks(false);
            if self.cfg.sack {
                self.tx.recover = 0;
            }
        }
        if let Some(undo) = self.ext.get_mut(|m| m.undo.as_mut()) {
            undo.finish();
        }
    }
}
