//! RACK: loss detection by time (RFC 8985 section 6).
//!
//! A segment is lost if one sent later has arrived, and the time to wait for reordering is over. That holds for retransmissions as for
//! originals, so a lost retransmission is detected again without a timeout. The tail loss probe of the same RFC is in `tlp.rs`.
//!
//! Originals leave in order of sequence, so one index on the scoreboard (`checked`) separates those already judged; retransmissions are
//! listed in the order they left. An acknowledgment examines only segments that may have become lost, and of those that wait the first
//! and the last.
//!
//! Deviations: a D-SACK for a loss probe does not widen the reordering window (it does not report reordering; as Linux). A retransmission
//! lost during recovery from a timeout begins a fast recovery, with a reduction (as Linux; RFC 8985 section 6.2 leaves congestion control
//! to others). One lost during fast recovery lowers the window again, once per round trip, where there is no PRR (section 9.3).
//! `timer_slack` lengthens the wait (Linux: two ticks of its clock).

use crate::cc::{CongestionControl, CongestionKind};
use crate::choices::Prr;
use crate::endpoint::Tcp;
use crate::rack::{ProbeTimer, Rack, sent_after};
use crate::sent::{KARN, RESENT};
use crate::state::Phase;
use fairlane_net::{Cx, Segment, TimerId};
use fairlane_units::{Dur, Time};
impl<C: CongestionControl> Tcp<C> {
    /// Runs steps 1 to 5 of RFC 8985 section 6.2 and the loss probe's part, after the scoreboard and before any other reaction.
    #[cold]
    pub(crate) fn rack_on_ack(&mut self, seg: &Segment, cx: &mut Cx<'_>) {
        let Some(mut rack) = self.ext.get_mut(|m| m.rack.take()) else { return };
        let dsack = self.tx.count.dsacks != rack.dsacks;
        // A duplicate was delivered, too.
        rack.delivered += u64::from(self.tx.count.dsacks - rack.dsacks);
        rack.dsacks = self.tx.count.dsacks;
        if self.cfg.rack {
            self.rack_take_delivered(&mut rack, seg, cx.now);
            if self.cfg.rtt_of_sacked && self.una == self.tx.una_before {
                self.measure_sacked(cx.now);
            }
        }
        let of_probe = dsack && rack.probe_again && rack.probe_end != 0 && seg.sack(0).end == rack.probe_end;
        rack.on_round(self.una, self.nxt, dsack && !of_probe);
        if rack.probe_end != 0 && seg.ack >= rack.probe_end {
            self.tlp_take_ack(&mut rack, seg, of_probe, cx);
        }
        self.ext.get_or_create().rack = Some(rack);
        if self.cfg.rack {
            self.rack_detect_and_arm(cx);
        }
    }

    /// Steps 1 to 3: round-trip time, latest sent segment that arrived, reordering.
    fn rack_take_delivered(&self, rack: &mut Rack, seg: &Segment, now: Time) {
        let Some(log) = &self.tx.board.log else { return };
        let echo = seg.timestamps().filter(|_| self.cfg.timestamps && self.cfg.rack_echo).map(|(_, echo)| echo);
        let known = rack.fack;
        let mut low = u64::MAX;
        // A segment counts once it is there as a whole.
        rack.delivered += log.delivered.len() as u64 - u64::from(log.part);
        for n in &log.delivered {
            let again = n.flags & KARN != 0;
            let rtt = now.since(n.at);
            rack.fack = rack.fack.max(n.end);
            if again {
                // An acknowledgment too early, or of an earlier copy, is not of the retransmission.
                let earlier = echo.is_some_and(|e| (e.wrapping_sub(self.timestamp(n.at)) as i32) < 0);
                if earlier || rtt < rack.min_rtt {
                    continue;
                }
            } else {
                rack.min_rtt = rack.min_rtt.min(rtt);
                if n.end < known {
                    low = low.min(n.end - u64::from(n.len));
                }
            }
            rack.rtt = rtt;
            if sent_after((n.at, n.end), (rack.xmit_ts, rack.end_seq)) {
                (rack.xmit_ts, rack.end_seq) = (n.at, n.end);
            }
        }
        if low != u64::MAX {
            rack.reordered(rack.fack - low, self.cfg.smss);
        }
    }

    /// Records that the segments now acknowledged were overtaken by SACKed ones.
    pub(crate) fn note_reordering(&mut self) {
        let before = self.tx.una_before;
        if let Some(rack) = self.ext.get_mut(|m| m.rack.as_mut())
            && self.tx.board.has_sacked()
            && rack.fack > before
        {
            rack.reordered(rack.fack - before, self.cfg.smss);
        }
    }

    /// Measures by the segments newly SACKed and sent once: that sent first.
    fn measure_sacked(&mut self, now: Time) {
        let Some(log) = &self.tx.board.log else { return };
        if let Some(sent) = log.delivered.iter().filter(|n| n.flags & KARN == 0).map(|n| n.at).min() {
            self.rtt.sample(sent, now, &self.cfg);
        }
    }

    /// Step 4: reordering window (RACK_update_reo_wnd).
    fn reo_wnd(&self, rack: &Rack) -> Dur {
        if !rack.reordering_seen && (self.phase != Phase::Open || self.tx.board.sacked_segments(self.cfg.dupthresh) >= self.cfg.dupthresh) {
            return Dur::ZERO;
        }
        rack.reo_wnd(self.rtt.srtt(&self.cfg))
    }

    /// Step 5: marks losses and sets the timer for the rest (RACK_detect_loss_and_arm_timer).
    fn rack_detect_and_arm(&mut self, cx: &mut Cx<'_>) {
        let Some(mut rack) = self.ext.get_mut(|m| m.rack.take()) else { return };
        let wait = if rack.xmit_ts == Time::ZERO && rack.end_seq == 0 {
            Dur::ZERO
        } else {
            let reo_wnd = self.reo_wnd(&rack);
            self.tx.board.rack_originals(&rack, reo_wnd, cx.now).max(self.tx.board.rack_again(&mut rack, reo_wnd, cx.now))
        };
        if wait != Dur::ZERO {
            rack.awaited = ProbeTimer::Reordering;
            cx.timers.set(TimerId::Probe, cx.now + wait + self.cfg.timer_slack);
        } else if rack.awaited == ProbeTimer::Reordering {
            rack.awaited = ProbeTimer::Nothing;
            cx.timers.cancel(TimerId::Probe);
        }
        self.ext.get_or_create().rack = Some(rack);
    }

    /// True if RACK marked a segment that is to be retransmitted.
    pub(crate) fn rack_found_loss(&self) -> bool {
        self.cfg.rack && self.tx.board.has_pending()
    }

    /// True if the current acknowledgment showed the loss of a retransmission.
    pub(crate) fn rack_found_lost_retransmission(&self) -> bool {
        self.cfg.rack && self.tx.board.log.as_ref().is_some_and(|d| d.lost.iter().any(|n| n.flags & RESENT != 0))
    }

    /// Reduces the window for the loss of a retransmission, without PRR (section 9.3, RFC 5681 section 4.3).
    pub(crate) fn rack_reduce_again(&mut self, cx: &Cx<'_>) {
        let srtt = self.rtt.srtt(&self.cfg);
        if self.cfg.prr != Prr::Off || !self.rack_found_lost_retransmission() {
            return;
        }
        if let Some(rack) = self.ext.get_mut(|m| m.rack.as_mut())
            && cx.now.since(rack.lowered) >= srtt
        {
            rack.lowered = cx.now;
            self.congestion(CongestionKind::FastRetransmit, cx);
        }
    }

    /// Lists a retransmission.
    pub(crate) fn rack_resent(&mut self, index: u32, now: Time) {
        if let Some(rack) = self.ext.get_mut(|m| m.rack.as_mut()) {
            rack.again.push_back((index, now));
        }
    }

    /// Ends a recovery, fast or after a timeout (step 4).
    pub(crate) fn rack_recovered(&mut self) {
        if let Some(rack) = self.ext.get_mut(|m| m.rack.as_mut()) {
            rack.on_recovered();
        }
    }

    /// Handles the end of the reordering window (RACK_reo_timeout_recovery).
    pub(crate) fn on_reordering_timeout(&mut self, cx: &mut Cx<'_>) {
        self.clear_ack_log();
        if let Some(rack) = self.ext.get_mut(|m| m.rack.as_mut()) {
            rack.dsacked = 0;
        }
        (self.tx.una_before, self.tx.delivered_before, self.tx.marked_before) = (self.una, self.delivered(), self.tx.board.marked);
        self.rack_detect_and_arm(cx);
        self.cc_ack_pending = self.features.cc_every_ack && self.tx.board.marked != self.tx.marked_before;
        if self.tx.board.marked != self.tx.marked_before && self.phase == Phase::Open {
            self.enter_sack(cx);
        } else {
            self.transmit(self.cfg.max_burst, cx);
        }
    }

    /// Marks losses at a retransmission timeout (RFC 8985 section 6.3): the first segment, and all whose reordering wait is over. Segments
    /// sent just now are still in flight.
    pub(crate) fn rack_timeout(&mut self, cx: &mut Cx<'_>) {
        let Some(mut rack) = self.ext.get_mut(|m| m.rack.take()) else { return };
        (rack.probe_end, rack.awaited) = (0, ProbeTimer::Nothing);
        cx.timers.cancel(TimerId::Probe);
        self.tx.board.judge_again();
        let mut i = self.tx.board.head;
        while i != self.tx.board.tail {
            if i == self.tx.board.head || rack.remaining(self.tx.board.at(i).at, Dur::ZERO, cx.now) == Dur::ZERO {
                self.tx.board.mark_lost_again(i);
            }
            i = i.wrapping_add(1);
        }
        self.ext.get_or_create().rack = Some(rack);
    }
}
