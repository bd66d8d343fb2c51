//! Tail loss probe (RFC 8985 section 7): without acknowledgments for some time, one segment requests one, so that fast recovery repairs a
//! loss at the end of a flight, not the retransmission timer.
//!
//! Deviations: `timer_slack` lengthens the wait where more than one segment is in flight (Linux: two ticks of its clock). A probe that
//! repaired a single loss cuts the window at once to the threshold, as Linux does, from the data in flight before.

use crate::cc::{CongestionControl, CongestionKind};
use crate::endpoint::Tcp;
use crate::rack::{ProbeTimer, Rack};
use crate::state::Phase;
use fairlane_net::{Cx, Segment, TimerId};
use fairlane_units::Dur;
/// Wait for a probe before the first round-trip time is known (RFC 8985 section 7.2).
const FIRST_WAIT: Dur = Dur::from_secs(1);

impl<C: CongestionControl> Tcp<C> {
    /// Schedules a probe (section 7.2): after new data was sent, and after new data was acknowledged. Not in recovery, nor while data is
    /// SACKed.
    #[cold]
    pub(crate) fn tlp_schedule(&mut self, cx: &mut Cx<'_>) {
        let Some(rack) = self.ext.get_mut(|m| m.rack.as_mut()) else { return };
        let open = self.phase == Phase::Open && !self.tx.board.has_sacked();
        if !self.cfg.tlp || !open || rack.awaited == ProbeTimer::Reordering {
            return;
        }
        if self.tx.board.is_empty() {
            return self.tlp_stop(cx);
        }
        let srtt = self.rtt.srtt(&self.cfg);
        let wait = if srtt == Dur::ZERO {
            FIRST_WAIT
        } else if self.tx.board.tail.wrapping_sub(self.tx.board.head) == 1 {
            // The receiver may hold the acknowledgment of a single segment back.
            srtt * 2 + self.cfg.tlp_ack_delay
        } else {
            srtt * 2 + self.cfg.timer_slack
        };
        let due = cx.now + wait;
        rack.awaited = ProbeTimer::Probe;
        cx.timers.set(TimerId::Probe, cx.timers.get(TimerId::Rto).map_or(due, |rto| due.min(rto)));
    }

    /// Cancels the probe: nothing is in flight, or recovery begins.
    #[cold]
    pub(crate) fn tlp_stop(&mut self, cx: &mut Cx<'_>) {
        let Some(rack) = self.ext.get_mut(|m| m.rack.as_mut()) else { return };
        if rack.awaited == ProbeTimer::Probe {
            rack.awaited = ProbeTimer::Nothing;
            cx.timers.cancel(TimerId::Probe);
        }
        if self.phase != Phase::Open {
            rack.probe_end = 0;
        }
    }

    /// Handles the timer of RACK and of the probe.
    pub(crate) fn on_probe(&mut self, cx: &mut Cx<'_>) {
        let Some(rack) = self.ext.get_mut(|m| m.rack.as_mut()) else { return };
        match std::mem::take(&mut rack.awaited) {
            ProbeTimer::Nothing => {}
            ProbeTimer::Reordering => self.on_reordering_timeout(cx),
            ProbeTimer::Probe => self.tlp_probe(cx),
        }
    }

    /// Sends a probe that is due when the retransmission timer expires: the probe has priority (section 7.2). Returns true if there was
    /// one.
    pub(crate) fn tlp_fires_first(&mut self, cx: &mut Cx<'_>) -> bool {
        let due = self.ext.rack.as_ref().is_some_and(|r| r.awaited == ProbeTimer::Probe)
            && cx.timers.get(TimerId::Probe).is_some_and(|t| t <= cx.now);
        if due {
            cx.timers.cancel(TimerId::Probe);
            self.on_probe(cx);
        }
        due
    }

    /// Sends the probe (TLP_send_probe, section 7.3): new data whatever the congestion window is, or the last segment again.
    fn tlp_probe(&mut self, cx: &mut Cx<'_>) {
        if self.tx.board.is_empty() {
            return;
        }
        // One at a time.
        if self.ext.rack.as_ref().is_some_and(|r| r.probe_end == 0) {
            let len = self.new_len();
            let fresh = len != 0 && self.fits(len);
            if fresh {
                self.send_new(len, cx);
            } else if let Some(last) = self.tx.board.last_unsacked() {
                self.resend(last, true, cx);
            }
            let end = self.nxt;
            if let Some(rack) = self.ext.get_mut(|m| m.rack.as_mut()) {
                (rack.probe_end, rack.probe_again) = (end, !fresh);
            }
        }
        // In any case the next timer is the retransmission timer (section 7.3).
        self.restart_timer(cx);
    }

    /// Handles an acknowledgment at or beyond the probe (TLP_process_ack, section 7.4.2).
    pub(crate) fn tlp_take_ack(&mut self, rack: &mut Rack, seg: &Segment, of_probe: bool, cx: &Cx<'_>) {
        if !rack.probe_again || of_probe {
            // New data arrived, or both copies did.
            rack.probe_end = 0;
        } else if seg.ack > rack.probe_end {
            // The probe alone arrived: it repaired a loss, which is a sign of congestion.
            rack.probe_end = 0;
            self.congestion_among(CongestionKind::FastRetransmit, self.tx.newly_acked + self.tx.board.outstanding(), cx);
            self.cc.settle();
        } else if self.una == self.tx.una_before && seg.sack_len() == 0 && seg.payload == 0 {
            // A duplicate: both copies arrived.
            rack.probe_end = 0;
        }
    }
}
