//! Proportional rate reduction (RFC 9937; RFC 6937 for its two bounds).
//!
//! The reduction of the window is spread over the recovery. While more than the slow-start threshold is in flight, the sender may send the
//! threshold's share of the data delivered; below it, as much as was delivered, and one segment more in good progress. The window is the
//! estimate of the data in flight at the acknowledgment plus that count, and the threshold itself at the end.
//!
//! Deviations: the count is kept in bytes and rounded up to whole segments (the figures of RFC 6937 section 4 count segments;
//! `prr_whole_segments`). RecoverFS can also be the window (Linux) or the pipe (ns-3), see `prr_base`. Outside recovery the answer to an ECN
//! echo is spread as well, as in Linux's state CWR.

use crate::cc::CongestionControl;
use crate::choices::PrrBase;
use crate::endpoint::Tcp;
use crate::prr::{PrrAck, PrrRule, PrrState};
use crate::state::Phase;
use fairlane_net::Cx;

impl<C: CongestionControl> Tcp<C> {
    /// Window while a reduction is spread, at least one segment.
    #[inline]
    pub(crate) fn prr_window(&self) -> Option<u64> {
        self.ext.prr.as_ref().and_then(|r| r.window()).map(|window| window.max(self.cfg.smss.into()))
    }

    /// True while a reduction is spread.
    #[inline]
    pub(crate) fn reducing(&self) -> bool {
        self.prr_window().is_some()
    }

    /// Bytes delivered by the current acknowledgment, in order or not (DeliveredData).
    pub(crate) fn newly_delivered(&self) -> u64 {
        let once = self.delivered().saturating_sub(self.tx.delivered_before);
        if !self.cfg.grow_by_delivered {
            return once;
        }
        // The hole itself was not delivered before, whatever stood for the rest (Linux `tcp_remove_reno_sacks`). Duplicates count as delivered.
        let hole = self.data_between(self.tx.una_before, self.una).min(self.cfg.smss.into());
        if self.cfg.sack { once + self.ext.rack.as_ref().map_or(0, |r| r.dsacked) } else { once.max(hole) }
    }

    /// RecoverFS; valid before [`Self::congestion`] cuts the window.
    pub(crate) fn recover_fs(&self) -> u64 {
        match self.cfg.prr_base {
            // Data SACKed before this acknowledgment will not be delivered again (RFC 9937 section 6.2).
            PrrBase::Flight => self.tx.board.outstanding() - self.tx.board.sacked() + self.newly_delivered(),
            PrrBase::Window => self.cc.cwnd(),
            PrrBase::Pipe => self.tx.board.pipe(),
            PrrBase::Outstanding => self.tx.board.outstanding(),
        }
    }

    /// Starts the reduction of fast recovery, once the threshold is set.
    pub(crate) fn prr_begin(&mut self, base: u64) {
        if let Some(r) = self.ext.get_mut(|m| m.prr.as_mut()) {
            **r = PrrState::for_loss(base);
        }
    }

    /// Spreads the cut for an ECN echo over the round trip, except without `prr` and during another reduction. `base` is
    /// [`Self::recover_fs`] before the cut.
    pub(crate) fn prr_begin_cwr(&mut self, base: u64) {
        if self.reducing() || self.phase != Phase::Open {
            return;
        }
        let (end, window) = (self.nxt, self.tx.board.pipe());
        if let Some(r) = self.ext.get_mut(|m| m.prr.as_mut()) {
            **r = PrrState::for_echo(base, end, window);
        }
    }

    /// Ends the reduction.
    pub(crate) fn prr_end(&mut self) {
        if let Some(r) = self.ext.get_mut(|m| m.prr.as_mut()) {
            r.stop();
        }
    }

    /// Counts `bytes` sent, new or retransmitted.
    pub(crate) fn prr_sent(&mut self, bytes: u64) {
        if let Some(r) = self.ext.get_mut(|m| m.prr.as_mut()) {
            r.on_sent(bytes);
        }
    }

    /// Sets the window on entering recovery. After a timer, one segment counts as delivered (Linux).
    pub(crate) fn prr_enter(&mut self) {
        let delivered = self.newly_delivered();
        let safe = self.una > self.tx.una_before && self.tx.board.marked == self.tx.marked_before;
        self.prr_update(if delivered == 0 { u64::from(self.cfg.smss) } else { delivered }, safe);
    }

    /// Sets the window once losses are marked (RFC 9937 section 6.2). `advanced`: true if SND.UNA is.
    pub(crate) fn prr_on_ack(&mut self, advanced: bool) {
        let delivered = self.newly_delivered();
        if self.reducing() && delivered != 0 {
            self.prr_update(delivered, advanced && self.tx.board.marked == self.tx.marked_before);
        }
    }

    fn prr_update(&mut self, delivered: u64, safe: bool) {
        // An algorithm without a threshold sets its target with its window.
        let target = if self.cc.ssthresh() == u64::MAX { self.cc.cwnd() } else { self.cc.ssthresh() };
        let repaired = self.lifecycle.ns3.repaired;
        let ack = PrrAck { delivered, safe, repaired, flight: self.tx.board.pipe(), target };
        let rule = PrrRule { bound: self.cfg.prr, whole: self.cfg.prr_whole_segments, smss: self.cfg.smss.into() };
        if let Some(r) = self.ext.get_mut(|m| m.prr.as_mut()) {
            r.on_ack(&ack, rule);
        }
    }

    /// Handles new data acknowledged outside recovery; returns true while the answer to an ECN echo is spread.
    pub(crate) fn cwr_continues(&mut self, cx: &Cx<'_>) -> bool {
        let Some(end) = self.ext.prr.as_ref().and_then(|r| r.echo_end()) else { return false };
        if self.phase != Phase::Open {
            return false;
        }
        if self.una > end {
            // Data sent after the echo arrived (Linux: CWR has to reach the receiver).
            self.leave_recovery(cx);
            return false;
        }
        self.prr_on_ack(true);
        true
    }
}
