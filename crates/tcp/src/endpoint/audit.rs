//! Invariants of an endpoint between any two calls, for tests and fuzzing: sums counted again, marks in order.

use crate::cc::CongestionControl;
use crate::endpoint::Tcp;
use crate::scoreboard::audit::hold;
use crate::state::State;

impl<C: CongestionControl> Tcp<C> {
    /// Checks the invariants of both halves.
    ///
    /// # Errors
    /// The first one violated.
    #[doc(hidden)]
    pub fn audit(&self) -> Result<(), &'static str> {
        hold("cwnd is at least one segment", self.cc.cwnd() >= u64::from(self.cfg.smss) || self.state != State::Established)?;
        hold("SND.UNA is not above SND.NXT", self.una <= self.nxt)?;
        hold("SND.NXT is not above what was written and FIN", self.nxt <= self.data_end + u64::from(self.fin_sent))?;
        self.tx.board.audit(self.una, self.nxt, self.cfg.ns3)?;
        self.rcv.audit()
    }

    /// True if bytes are in flight that only the timers or the peer can advance.
    #[doc(hidden)]
    pub fn waits_for_timer(&self) -> bool {
        self.state == State::Established && !self.tx.board.is_empty()
    }
}
