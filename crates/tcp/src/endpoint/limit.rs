//! Limit that keeps a connection from sending more, read by observers after each call.

use crate::cc::CongestionControl;
use crate::endpoint::Tcp;
use crate::state::{Phase, State};
use fairlane_net::{Limit, TimerId, Timers};

impl<C: CongestionControl> Tcp<C> {
    /// The tightest limit, see [`Limit`]. Of equal ones the most lasting: that of the sender, then the receiver, then the congestion
    /// window.
    pub(crate) fn current_limit(&self, timers: &Timers) -> Limit {
        match self.state {
            State::Closed | State::Listen | State::SynSent | State::SynReceived => return Limit::Handshake,
            State::TimeWait | State::Over => return Limit::Nothing,
            State::Established => {}
        }
        if self.ext.held.is_some() {
            return Limit::Control;
        }
        if self.closed && self.una >= self.data_end && self.tx.board.is_empty() {
            return Limit::Nothing;
        }
        let (pending, len) = (self.tx.board.has_pending(), u64::from(self.new_len()));
        if !pending && len == 0 {
            return Limit::Application;
        }
        let (window, flight) = (self.window(), self.in_flight());
        let room = window.saturating_sub(flight);
        if pending {
            let full = flight + u64::from(self.cfg.smss) > window;
            return if !full && self.waits_for_pacing(timers) { Limit::Pacing } else { Limit::Recovery };
        }
        let data = self.data_in(self.new_len());
        let bounds = [
            (self.cfg.window.saturating_sub(self.nxt - self.una), data, Limit::SendBuffer),
            (self.edge.saturating_sub(self.nxt), len, Limit::Receiver),
            (room, data, self.window_limit()),
        ];
        let tightest = bounds.into_iter().filter(|(room, need, _)| room < need).min_by_key(|(room, ..)| *room);
        match tightest {
            Some((.., limit)) => limit,
            None if self.waits_for_pacing(timers) => Limit::Pacing,
            None => self.window_limit(),
        }
    }

    fn waits_for_pacing(&self, timers: &Timers) -> bool {
        self.features.paced && timers.get(TimerId::Pace).is_some()
    }

    fn window_limit(&self) -> Limit {
        if self.phase != Phase::Open || self.reducing() {
            Limit::Recovery
        } else if self.cc.cwnd() < self.cc.ssthresh() {
            Limit::SlowStart
        } else {
            Limit::Avoidance
        }
    }
}
