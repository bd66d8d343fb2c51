//! A sender held by a flow controller at its node ([`fairlane_net::Control`]).
//!
//! While held it sends no SYN, data, retransmission or probe. It processes segments that arrive and acknowledges the peer's data. A
//! retransmission timeout is deferred to the release, where it takes effect (RFC 6298 section 5) unless new data was acknowledged in between.
//!
//! A hold clears the feature `fast_path`, so that acknowledgments take [`Tcp::on_segment`], and sets `output_hooks`, so that output takes
//! [`Tcp::transmit_with_hooks`]. An endpoint that is not held tests nothing in addition.

use super::Tcp;
use crate::cc::CongestionControl;
use crate::hold::DeferredActions;
use crate::state::State;
use fairlane_net::{Cx, TimerId};

impl<C: CongestionControl> Tcp<C> {
    /// True while a flow controller or a full device holds the sender.
    pub fn is_held(&self) -> bool {
        self.ext.held.is_some()
    }

    /// Holds the sender while the queue of its device is full.
    #[cold]
    pub fn block(&mut self) {
        self.start_hold();
        if let Some(held) = self.ext.get_mut(|m| m.held.as_mut()) {
            held.device = true;
        }
    }

    #[cold]
    pub(crate) fn start_hold(&mut self) {
        if self.ext.held.is_none() {
            self.ext.get_or_create().held = Some(Box::new(DeferredActions::new(self.features)));
            (self.features.fast_path, self.features.output_hooks) = (false, true);
        }
    }

    /// Ends the hold and makes up for the deferred actions.
    #[cold]
    pub(crate) fn release(&mut self, cx: &mut Cx<'_>) {
        let Some(held) = self.ext.get_mut(|m| m.held.take()) else { return };
        (self.features.fast_path, self.features.output_hooks) = (held.features.fast_path, held.features.output_hooks);
        if held.open {
            return self.open(cx);
        }
        match self.state {
            State::Established => {}
            State::SynSent | State::SynReceived if held.timeout.is_some() => return self.on_syn_timeout(cx),
            _ => return,
        }
        // With nothing in flight the timer is for probes of a closed window; an open window needs none.
        let in_force = !self.tx.board.is_empty() || self.edge <= self.nxt;
        if held.timeout == Some(self.una) && in_force {
            return self.on_timeout(cx);
        }
        if held.probe {
            self.on_probe(cx);
        }
        if held.resend == Some(self.una)
            && let Some(first) = self.tx.board.first_pending().or_else(|| self.tx.board.first())
        {
            self.resend(first, self.tx.board.has_pending(), cx);
        }
        self.transmit(self.cfg.max_burst, cx);
        if !self.tx.board.is_empty() && cx.timers.get(TimerId::Rto).is_none() {
            self.restart_timer(cx);
        }
    }

    /// Defers the action of a timer that expired; returns false if it is to be done now.
    #[cold]
    pub(crate) fn defer_timer(&mut self, id: TimerId) -> bool {
        let una = self.una;
        let Some(held) = self.ext.get_mut(|m| m.held.as_mut()) else { return false };
        match id {
            TimerId::Rto => held.timeout = Some(una),
            TimerId::Probe if held.device => return false,
            TimerId::Probe => held.probe = true,
            TimerId::Pace => {}
            TimerId::DelAck => return false,
        }
        true
    }

    /// Defers the opening of the connection; returns false if the sender is not held.
    #[cold]
    pub(crate) fn defer_opening(&mut self) -> bool {
        self.ext.get_mut(|m| m.held.as_mut()).is_some_and(|held| {
            held.open = true;
            true
        })
    }

    /// Defers a retransmission; returns false if the sender is not held.
    #[inline]
    pub(crate) fn defer_resend(&mut self) -> bool {
        let una = self.una;
        self.ext.get_mut(|m| m.held.as_mut()).is_some_and(|held| {
            held.resend = Some(una);
            true
        })
    }
}
