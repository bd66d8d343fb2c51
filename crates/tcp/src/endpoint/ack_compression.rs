//! Acknowledgments of an endpoint that compresses SACKs.

use crate::cc::CongestionControl;
use crate::endpoint::Tcp;
use crate::receiver::AckDue;
use fairlane_net::{Cx, Segment, TimerId};
use fairlane_units::Dur;
/// Blocks expected in an acknowledgment (`TCP_SACK_BLOCKS_EXPECTED`).
const BLOCKS: usize = 2;
/// Divisor of the round-trip time for the longest delay.
const SHARE: u64 = 20;
/// Slack of the timer, which is used up (`tcp_comp_sack_slack_ns`).
const SLACK: Dur = Dur::from_us(100);

impl<C: CongestionControl> Tcp<C> {
    /// True if delayed acknowledgments leave before a segment beyond the hole is received: one that would be a third block of its own
    /// (`tcp_sack_new_ofo_skb`).
    #[inline]
    pub(crate) fn acks_before(&self, seg: &Segment) -> bool {
        self.rcv.quick.as_ref().is_some_and(|q| q.compression.is_delaying()) && self.rcv.starts_block(seg.seq, seg.end(), BLOCKS)
    }

    /// Sends the delayed acknowledgment, then receives a segment beyond the hole, which is not acknowledged by itself.
    #[cold]
    pub(crate) fn ack_then_receive(&mut self, seg: &Segment, cx: &mut Cx<'_>) {
        self.send_ack(cx);
        let before = self.rcv.nxt;
        let compression = self.rcv.quick.as_ref().map(|q| q.compression);
        self.rcv.on_data(seg, cx.now, &self.cfg);
        self.quickack_on_data(seg, before, cx);
        if let (Some(quick), Some(compression)) = (&mut self.rcv.quick, compression) {
            quick.compression = compression;
        }
        (self.rcv.due, self.ack_scheduled) = (AckDue::No, false);
    }

    /// Sets the time of a compressed acknowledgment; returns false if none is delayed.
    pub(crate) fn schedule_compressed_ack(&self, cx: &mut Cx<'_>) -> bool {
        if !self.rcv.quick.as_ref().is_some_and(|q| q.compression.is_delaying()) {
            return false;
        }
        let srtt = self.rtt.srtt(&self.cfg);
        let share = if srtt == Dur::ZERO { Dur::MAX } else { Dur::from_ps(srtt.as_ps() / SHARE) };
        let at = cx.now + self.cfg.sack_delay.min(share) + SLACK;
        if cx.timers.get(TimerId::DelAck).is_none_or(|t| t > at) {
            cx.timers.set(TimerId::DelAck, at);
        }
        true
    }
}
