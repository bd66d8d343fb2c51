//! F-RTO: after a timeout new data is sent first, and the acknowledgments that follow show if the timeout was spurious (RFC 5682).
//!
//! Without SACK the basic algorithm (section 2.1) decides: two acknowledgments in a row that advance the window. With SACK (section 3.1) an
//! acknowledgment of data that was never retransmitted does.
//!
//! Deviations: with SACK such data counts from the first acknowledgment on, also if that is a duplicate, and F-RTO starts again when the
//! timer expires for the same segment again, both as in Linux; without SACK it does not (section 2.1 step 1).

use crate::cc::CongestionControl;
use crate::endpoint::Tcp;
use crate::frto::Frto;
use crate::sent::KARN;
use crate::state::Phase;
use fairlane_net::Cx;
/// New segments sent in step 2.
const PROBES: u32 = 2;

impl<C: CongestionControl> Tcp<C> {
    /// Step 1: handles the timeout; `before` is the phase before it.
    pub(crate) fn begin_frto(&mut self, before: Phase) {
        let on = self.cfg.frto && (before == Phase::Open || (self.cfg.sack && before == Phase::Loss && self.no_ack_since_rto));
        if let Some(undo) = self.ext.get_mut(|m| m.undo.as_mut()) {
            undo.frto = if on { Frto::First } else { Frto::Off };
            undo.high = self.nxt;
        }
    }

    /// True if the current acknowledgment delivered data that was sent before the timeout and never again.
    fn delivered_original(&self) -> bool {
        let high = self.ext.undo.as_ref().map_or(0, |d| d.high);
        self.tx.board.log.as_ref().is_some_and(|d| d.delivered.iter().any(|n| n.flags & KARN == 0 && n.end <= high))
    }

    /// Handles new data acknowledged; returns true if all sending is done.
    pub(super) fn frto_new_ack(&mut self, acked: u64, sacked: u64, cx: &mut Cx<'_>) -> bool {
        let Some(undo) = &self.ext.undo else { return false };
        let (step, high) = (undo.frto, undo.high);
        let spurious = if self.cfg.sack { self.delivered_original() } else { step == Frto::Second };
        if spurious {
            // Step 3b.
            self.undo_reductions();
            return false;
        }
        let len = self.new_len();
        if step == Frto::First && self.una < high && len != 0 && self.fits(len) {
            // Step 2b.
            self.set_frto(Frto::Second);
            self.grow(acked, sacked, cx);
            self.restart_timer(cx);
            self.frto_probe(cx);
            return true;
        }
        self.set_frto(Frto::Off);
        false
    }

    fn frto_probe(&mut self, cx: &mut Cx<'_>) {
        if self.cc_ack_pending {
            self.pass_ack_to_cc(cx);
        }
        if self.ext.held.is_some() {
            return;
        }
        for _ in 0..PROBES {
            let len = self.new_len();
            if len == 0 || !self.fits(len) {
                break;
            }
            self.send_new(len, cx);
        }
    }

    /// Handles a duplicate acknowledgment; returns true if all sending is done.
    #[cold]
    pub(super) fn frto_dupack(&mut self, cx: &mut Cx<'_>) -> bool {
        let step = self.ext.undo.as_ref().map_or(Frto::Off, |d| d.frto);
        if step == Frto::Off || self.phase != Phase::Loss {
            return false;
        }
        if self.cfg.sack && self.delivered_original() {
            self.undo_reductions();
        } else if step == Frto::Second {
            // Step 3a: the loss was real.
            self.set_frto(Frto::Off);
        } else {
            // Step 2a; with SACK the first acknowledgment that counts is still to come.
            if !self.cfg.sack {
                self.set_frto(Frto::Off);
            }
            return false;
        }
        self.transmit(self.cfg.max_burst, cx);
        true
    }

    fn set_frto(&mut self, step: Frto) {
        if let Some(undo) = self.ext.get_mut(|m| m.undo.as_mut()) {
            undo.frto = step;
        }
    }
}
