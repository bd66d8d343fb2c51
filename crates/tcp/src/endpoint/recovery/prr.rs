//! Proportional rate reduction (RFC 9937; RFC 6937 for its two bounds).
//!
//! The reduction of the window is spread over the recovery: while more is in flight than the slow-start threshold, what may go out is the
//! threshold's share of what was delivered; below it, what was delivered, and in good progress one segment more. What may be in flight is
//! the estimate at the acknowledgment plus that count, and the threshold itself at the end.
//!
//! Deviations: the count is kept in bytes and rounded up to whole segments (the figures of RFC 6937 section 4 count segments;
//! `prr_whole_segments`). RecoverFS can also be the window (Linux) or the pipe (ns-3), see `prr_base`. Outside recovery it spreads the answer
//! to an ECN echo, as Linux does in its state CWR.

use crate::cc::CongestionControl;
use crate::choices::{Prr, PrrBase};
use crate::endpoint::Tcp;
use crate::prr::{Reducer, Reduction};
use crate::state::Phase;
use fairlane_net::Cx;

impl<C: CongestionControl> Tcp<C> {
    /// The window while a reduction is spread: one segment at least, as any window.
    #[inline]
    pub(crate) fn reduced_window(&self) -> Option<u64> {
        self.more.prr.as_ref().filter(|r| r.kind != Reduction::None).map(|r| r.window.max(self.cfg.smss.into()))
    }

    /// Whether a reduction is being spread.
    #[inline]
    pub(crate) fn reducing(&self) -> bool {
        self.reduced_window().is_some()
    }

    /// Bytes that the acknowledgment at hand delivered, in order or not (DeliveredData).
    pub(crate) fn newly_delivered(&self) -> u64 {
        let once = self.delivered().saturating_sub(self.tx.delivered_before);
        if !self.cfg.grow_by_delivered {
            return once;
        }
        // The hole itself was not delivered before, whatever stood for the rest (Linux `tcp_remove_reno_sacks`). What arrived a second time was delivered, too.
        let hole = self.data_between(self.tx.una_before, self.una).min(self.cfg.smss.into());
        if self.cfg.sack { once + self.more.rack.as_ref().map_or(0, |r| r.fresh_again) } else { once.max(hole) }
    }

    /// RecoverFS as the window is cut: to be asked for before [`Self::congestion`].
    pub(crate) fn recover_flight(&self) -> u64 {
        match self.cfg.prr_base {
            // What was SACKed before this acknowledgment will not be delivered again (RFC 9937 section 6.2).
            PrrBase::Flight => self.tx.board.outstanding() - self.tx.board.sacked() + self.newly_delivered(),
            PrrBase::Window => self.cc.cwnd(),
            PrrBase::Pipe => self.tx.board.pipe(),
            PrrBase::Outstanding => self.tx.board.outstanding(),
        }
    }

    /// Fast recovery begins; the threshold is set.
    pub(crate) fn begin_prr(&mut self, base: u64) {
        if let Some(r) = self.more.part(|m| m.prr.as_mut()) {
            **r = Reducer { kind: Reduction::Loss, base: base.max(1), ..Reducer::default() };
        }
    }

    /// The window was cut for the ECN echo in the acknowledgment at hand, before anything else was made of it; [`Self::recover_flight`]
    /// was `base` before the cut. The cut is spread over the round trip. Does nothing without `prr`, nor during another reduction.
    pub(crate) fn begin_cwr(&mut self, base: u64) {
        if self.reducing() || self.phase != Phase::Open {
            return;
        }
        let (end, window) = (self.nxt, self.tx.board.pipe());
        if let Some(r) = self.more.part(|m| m.prr.as_mut()) {
            **r = Reducer { kind: Reduction::Echo, base: base.max(1), end, window, ..Reducer::default() };
        }
    }

    /// Recovery is over, or its cause was a mistake.
    pub(crate) fn end_prr(&mut self) {
        if let Some(r) = self.more.part(|m| m.prr.as_mut()) {
            r.kind = Reduction::None;
        }
    }

    /// `bytes` go out, new or again.
    pub(crate) fn prr_sent(&mut self, bytes: u64) {
        if let Some(r) = self.more.part(|m| m.prr.as_mut()) {
            r.out += bytes;
        }
    }

    /// Recovery begins with the acknowledgment at hand, or with a timer: then as if a segment had been delivered (Linux).
    pub(crate) fn prr_begins(&mut self) {
        let delivered = self.newly_delivered();
        let safe = self.una > self.tx.una_before && self.tx.board.marked == self.tx.marked_before;
        self.spread(if delivered == 0 { u64::from(self.cfg.smss) } else { delivered }, safe);
    }

    /// What may be in flight now that losses are marked (RFC 9937 section 6.2); `advanced`: SND.UNA is.
    pub(crate) fn prr_on_ack(&mut self, advanced: bool) {
        let delivered = self.newly_delivered();
        if self.reducing() && delivered != 0 {
            self.spread(delivered, advanced && self.tx.board.marked == self.tx.marked_before);
        }
    }

    /// The window after `delivered` bytes; `safe`: the acknowledgment makes progress and tells of no further loss (SafeACK).
    pub(crate) fn spread(&mut self, delivered: u64, safe: bool) {
        let smss = u64::from(self.cfg.smss);
        let flight = self.tx.board.pipe();
        // An algorithm without threshold says with its window what is left.
        let target = if self.cc.ssthresh() == u64::MAX { self.cc.cwnd() } else { self.cc.ssthresh() };
        let (bound, whole) = (self.cfg.prr, self.cfg.prr_whole_segments);
        let repaired = self.standing.socket.repaired;
        let Some(r) = self.more.part(|m| m.prr.as_mut()) else { return };
        r.delivered += delivered;
        let mut count = if flight > target {
            let product = u128::from(r.delivered) * u128::from(target);
            // ns-3 multiplies in 32 bits: with windows of more than 45 segments of 1448 bytes the share starts again from nothing.
            let product = if bound == Prr::Ns3 { product & u128::from(u32::MAX) } else { product };
            let share = product.div_ceil(u128::from(r.base)) as u64;
            let count = share.saturating_sub(r.out);
            if whole { count.next_multiple_of(smss) } else { count }
        } else {
            let debt = r.delivered.saturating_sub(r.out);
            let limit = match bound {
                Prr::Crb => debt,
                Prr::Ssrb => debt.max(delivered) + smss,
                Prr::Ns3 if !repaired => delivered,
                // What went out beyond what was delivered is taken off first.
                Prr::Ns3 if r.out > r.delivered => (r.delivered + smss).saturating_sub(r.out),
                Prr::Ns3 => debt.max(delivered) + smss,
                Prr::Rfc9937 | Prr::Off => debt.max(delivered) + if safe { smss } else { 0 },
            };
            limit.min(target - flight)
        };
        if r.out == 0 {
            // The first retransmission goes whatever the count says.
            count = count.max(smss);
        }
        r.window = flight + count;
    }

    /// New data was acknowledged outside recovery while the answer to an ECN echo is spread. Whether it still is.
    pub(crate) fn cwr_goes_on(&mut self, cx: &Cx<'_>) -> bool {
        let Some(r) = &self.more.prr else { return false };
        if r.kind != Reduction::Echo || self.phase != Phase::Open {
            return false;
        }
        if self.una > r.end {
            // Something sent after the echo arrived (Linux: CWR has to reach the receiver).
            self.leave_recovery(cx);
            return false;
        }
        self.prr_on_ack(true);
        true
    }
}
