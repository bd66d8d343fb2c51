//! Delivery rate sampling of an endpoint.

use crate::cc::{CongestionControl, RateSample};
use crate::endpoint::Tcp;
use fairlane_net::Cx;
use fairlane_units::Time;

impl<C: CongestionControl> Tcp<C> {
    /// Stamps a segment sent, new or retransmitted.
    #[cold]
    pub(crate) fn rate_sent(&mut self, index: u32, len: u64, now: Time) {
        let in_flight = self.in_flight();
        if let Some(rate) = &mut self.rate {
            rate.on_sent(index, len, in_flight, now, &self.tx.board);
        }
    }

    /// Marks the data in flight as application-limited (draft section 4.1.2.4): its samples may be too low.
    pub(crate) fn rate_app_limited(&mut self) {
        let in_flight = self.in_flight();
        if let Some(rate) = &mut self.rate {
            rate.set_app_limited(in_flight);
        }
    }

    /// Passes each lost segment of the log to the algorithm.
    pub(crate) fn rate_lost(&mut self, cx: &Cx<'_>) {
        let (Some(rate), Some(log)) = (&mut self.rate, &self.tx.board.log) else { return };
        for n in log.lost.iter().filter(|n| n.data() != 0) {
            self.cc.on_lost(&rate.on_lost(n, cx.now));
        }
    }

    /// Passes lost segments to the algorithm and returns the rate sample of the acknowledgment.
    pub(crate) fn take_rate(&mut self, cx: &Cx<'_>) -> Option<RateSample> {
        self.rate_lost(cx);
        let (Some(rate), Some(log)) = (&mut self.rate, &self.tx.board.log) else { return None };
        rate.sample(log, self.ecn.newly_ce, self.rtt.min(), cx.now)
    }

    /// Clears the log for the next acknowledgment.
    #[inline]
    pub(crate) fn clear_ack_log(&mut self) {
        if let Some(log) = &mut self.tx.board.log {
            log.clear();
        }
    }
}
