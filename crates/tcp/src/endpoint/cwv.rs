//! Congestion window validation of an endpoint (RFC 7661).

use crate::cc::{CongestionControl, CongestionKind};
use crate::endpoint::Tcp;
use crate::state::Phase;
use fairlane_units::{Dur, Time};
/// Round trips in the sampling period (section 4.2).
const SAMPLING_RTTS: u64 = 3;
/// Shortest sampling period (section 4.2).
const SAMPLING_LEAST: Dur = Dur::from_secs(1);

impl<C: CongestionControl> Tcp<C> {
    fn cwv_period(&self) -> Dur {
        (self.rtt.srtt(&self.cfg) * SAMPLING_RTTS).max(SAMPLING_LEAST)
    }

    /// Updates pipeACK for new data acknowledged.
    #[cold]
    pub(crate) fn cwv_on_ack(&mut self, now: Time) {
        if self.phase != Phase::Open {
            // There are no measurements during loss recovery (section 4.2).
            return;
        }
        let (period, cwnd, una, nxt) = (self.cwv_period(), self.cc.cwnd(), self.una, self.nxt);
        let Some(c) = self.ext.get_mut(|m| m.cwv.as_mut()) else { return };
        c.on_ack(now, una, nxt, cwnd, period);
        self.cwv_expire(now);
    }

    /// Updates the phase before data is sent with nothing in flight.
    #[cold]
    pub(crate) fn cwv_after_idle(&mut self, now: Time) {
        let (period, cwnd) = (self.cwv_period(), self.cc.cwnd());
        if let Some(c) = self.ext.get_mut(|m| m.cwv.as_mut()) {
            c.judge(now, cwnd, period);
        }
        self.cwv_expire(now);
    }

    /// Reduces the window after each non-validated period (section 4.4.3).
    fn cwv_expire(&mut self, now: Time) {
        let Some(c) = self.ext.get_mut(|m| m.cwv.as_mut()) else { return };
        for _ in 0..c.expired(now) {
            let cwnd = self.cc.cwnd();
            let left = (cwnd / 2).max(self.cfg.initial_window);
            if left >= cwnd {
                break;
            }
            self.cc.on_validation(now, left, self.cc.ssthresh().max(cwnd - cwnd / 4));
        }
    }

    /// Returns the flight that a loss in the non-validated phase is measured by (section 4.4.1); `None` otherwise. Called before the
    /// algorithm reduces its window.
    #[cold]
    pub(crate) fn cwv_loss_flight(&mut self, kind: CongestionKind, flight: u64, now: Time) -> Option<u64> {
        if kind == CongestionKind::EcnEcho && self.ecn.graded {
            return None;
        }
        let (period, first) = (self.cwv_period(), self.phase == Phase::Open);
        let c = self.ext.get_mut(|m| m.cwv.as_mut())?;
        c.on_congestion(now, period, first, flight)
    }

    /// Replaces the reduced window by one that follows from the part in use.
    #[cold]
    pub(crate) fn cwv_cut(&mut self, kind: CongestionKind, used: u64, now: Time) {
        let (smss, half) = (u64::from(self.cfg.smss), used / 2);
        let window = match kind {
            CongestionKind::Timeout { .. } | CongestionKind::FastRetransmitRestart => self.cc.cwnd(),
            CongestionKind::FastRetransmit | CongestionKind::EcnEcho => half.max(smss),
        };
        self.cc.on_validation(now, window, half.max(2 * smss));
        if let Some(c) = self.ext.get_mut(|m| m.cwv.as_mut())
            && kind == CongestionKind::FastRetransmit
        {
            c.begin_recovery(used, self.tx.count.retransmit_bytes);
        }
    }

    /// Sets the window after fast recovery, once the algorithm has set its own.
    #[cold]
    pub(crate) fn cwv_recovered(&mut self, now: Time) {
        let Some(c) = self.ext.get_mut(|m| m.cwv.as_mut()) else { return };
        if let Some((used, before)) = c.end_recovery(now, self.una, self.nxt) {
            let (smss, again) = (u64::from(self.cfg.smss), self.tx.count.retransmit_bytes - before);
            let window = (used.saturating_sub(again) / 2).max(smss);
            // Recovery may leave less, so as not to end in a burst (RFC 6582 section 3.2 step 3).
            self.cc.on_validation(now, window.min(self.cc.cwnd()), window.max(2 * smss));
        }
    }
}
