//! Acknowledgments of an endpoint that compresses SACKs.

use crate::cc::CongestionControl;
use crate::endpoint::Tcp;
use crate::receiver::AckDue;
use fairlane_net::{Cx, Segment, TimerId};
use fairlane_units::Dur;
/// Blocks that an acknowledgment is expected to have (`TCP_SACK_BLOCKS_EXPECTED`).
const BLOCKS: usize = 2;
/// The wait is at most the round-trip time over this.
const SHARE: u64 = 20;
/// How much later than asked for the timer may be, and is (`tcp_comp_sack_slack_ns`).
const SLACK: Dur = Dur::from_us(100);

impl<C: CongestionControl> Tcp<C> {
    /// Whether what waits is told before a segment beyond the hole is taken in: one that would be a third block of its own (`tcp_sack_new_ofo_skb`).
    #[inline]
    pub(crate) fn tells_first(&self, seg: &Segment) -> bool {
        self.rcv.quick.as_ref().is_some_and(|q| q.compressor.waits()) && self.rcv.apart(seg.seq, seg.end(), BLOCKS)
    }

    /// What waits is told, and then a segment beyond the hole taken in, which is not acknowledged for its own sake.
    #[cold]
    pub(crate) fn take_after_telling(&mut self, seg: &Segment, cx: &mut Cx<'_>) {
        self.send_ack(cx);
        let before = self.rcv.nxt;
        let compressor = self.rcv.quick.as_ref().map(|q| q.compressor);
        self.rcv.on_data(seg, cx.now, &self.cfg);
        self.note_arrival(seg, before, cx);
        if let (Some(quick), Some(compressor)) = (&mut self.rcv.quick, compressor) {
            quick.compressor = compressor;
        }
        (self.rcv.due, self.heard) = (AckDue::No, false);
    }

    /// Whether the acknowledgment that is owed is a compressed one; its time is set then.
    pub(crate) fn compressed(&self, cx: &mut Cx<'_>) -> bool {
        if !self.rcv.quick.as_ref().is_some_and(|q| q.compressor.waits()) {
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
