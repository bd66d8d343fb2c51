//! A sender that is held back by a control at its node ([`fairlane_net::Control`]).
//!
//! While held it sends no SYN, no data, no retransmission, no probe; what arrives is processed, and data of the peer is acknowledged. A
//! retransmission timer that goes off is put off to the release, where it counts as it would have (RFC 6298 section 5), unless new data was
//! acknowledged since.
//!
//! A held end is kept from the short ways by flags that are there anyway: `straight` off sends acknowledgments through [`Tcp::on_any`], and
//! `watched` on sends every round of output through [`Tcp::transmit_watched`]. Whoever is not held tests nothing more.

use crate::cc::CongestionControl;
use crate::endpoint::Tcp;
use crate::hold::Held;
use crate::state::State;
use fairlane_net::{Cx, TimerId};

impl<C: CongestionControl> Tcp<C> {
    /// Whether it is held.
    pub fn is_held(&self) -> bool {
        self.more.held.is_some()
    }

    /// The queue of its own device takes nothing.
    #[cold]
    pub fn block(&mut self) {
        self.hold_back();
        if let Some(held) = self.more.part(|m| m.held.as_mut()) {
            held.device = true;
        }
    }

    #[cold]
    pub(crate) fn hold_back(&mut self) {
        if self.more.held.is_none() {
            let (straight, watched) = (self.straight, self.watched);
            self.more.make().held =
                Some(Box::new(Held { straight, watched, opens: false, owes: None, probe: false, device: false, timeout: None }));
            (self.straight, self.watched) = (false, true);
        }
    }

    /// Takes up what was put off.
    #[cold]
    pub(crate) fn let_go(&mut self, cx: &mut Cx<'_>) {
        let Some(held) = self.more.part(|m| m.held.take()) else { return };
        (self.straight, self.watched) = (held.straight, held.watched);
        if held.opens {
            return self.open(cx);
        }
        match self.state {
            State::Established => {}
            State::SynSent | State::SynReceived if held.timeout.is_some() => return self.on_syn_timeout(cx),
            _ => return,
        }
        // With nothing in flight the timer was for probes of a closed window; an open one needs none.
        let in_force = !self.tx.board.is_empty() || self.edge <= self.nxt;
        if held.timeout == Some(self.una) && in_force {
            return self.on_timeout(cx);
        }
        if held.probe {
            self.on_probe(cx);
        }
        if held.owes == Some(self.una)
            && let Some(first) = self.tx.board.first_pending().or_else(|| self.tx.board.first())
        {
            self.resend(first, self.tx.board.has_pending(), cx);
        }
        self.transmit(self.cfg.max_burst, cx);
        if !self.tx.board.is_empty() && cx.timers.get(TimerId::Rto).is_none() {
            self.restart_timer(cx);
        }
    }

    /// A timer went off while held; whether it has to wait.
    #[cold]
    pub(crate) fn put_off(&mut self, id: TimerId) -> bool {
        let una = self.una;
        let Some(held) = self.more.part(|m| m.held.as_mut()) else { return false };
        match id {
            TimerId::Rto => held.timeout = Some(una),
            TimerId::Probe if held.device => return false,
            TimerId::Probe => held.probe = true,
            TimerId::Pace => {}
            TimerId::DelAck => return false,
        }
        true
    }

    /// The connection was to be opened while held; whether that has to wait.
    #[cold]
    pub(crate) fn put_off_opening(&mut self) -> bool {
        self.more.part(|m| m.held.as_mut()).is_some_and(|held| {
            held.opens = true;
            true
        })
    }

    /// A segment was to be sent again while held; whether that has to wait.
    #[inline]
    pub(crate) fn put_off_resend(&mut self) -> bool {
        let una = self.una;
        self.more.part(|m| m.held.as_mut()).is_some_and(|held| {
            held.owes = Some(una);
            true
        })
    }
}
