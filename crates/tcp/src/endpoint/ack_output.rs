//! Reception of data, and output of acknowledgments.

use crate::cc::CongestionControl;
use crate::endpoint::Tcp;
use crate::receiver::AckDue;
use fairlane_net::{Cx, Segment, TimerId, flag};

impl<C: CongestionControl> Tcp<C> {
    #[inline]
    pub(crate) fn receive_data(&mut self, seg: &Segment, cx: &mut Cx<'_>) {
        self.ack_scheduled = true;
        if self.ecn_on() {
            self.ecn_take_data(seg, cx);
        }
        let edge = self.receive_edge();
        let mut trimmed = Segment::default();
        let mut seg = seg;
        if seg.end() > edge {
            // RFC 9293 section 3.10.7.4: a segment outside the window is not accepted but answered.
            if seg.seq >= edge {
                self.rcv.due = AckDue::Now;
                return;
            }
            trimmed.clone_from(seg);
            trimmed.payload = u64::from(seg.payload).min(edge - seg.seq) as u16;
            trimmed.flags &= !flag::FIN;
            seg = &trimmed;
        }
        let before = self.rcv.nxt;
        if seg.seq > before && self.acks_before(seg) {
            return self.ack_then_receive(seg, cx);
        }
        cx.delivered += self.rcv.on_data(seg, cx.now, &self.cfg);
        if self.rcv.quick.is_some() {
            self.quickack_on_data(seg, before, cx);
        }
        if self.ecn_on() && self.ecn.ack_now {
            self.ecn.ack_now = false;
            self.rcv.due = AckDue::Now;
        }
        if self.rcv.closed() {
            self.on_peer_fin(cx);
        }
    }

    /// Schedules an acknowledgment for the end of this call.
    pub(crate) fn schedule_ack_now(&mut self) {
        self.ack_scheduled = true;
        self.rcv.due = AckDue::Now;
    }

    #[inline(never)]
    pub(crate) fn send_ack(&mut self, cx: &mut Cx<'_>) {
        self.send_ack_at(self.nxt, cx);
    }

    /// Sends an acknowledgment with a sequence number below the peer's window, which the peer must answer.
    #[cold]
    pub(crate) fn send_empty_probe(&mut self, cx: &mut Cx<'_>) {
        self.send_ack_at(self.una - 1, cx);
    }

    #[inline(always)]
    pub(crate) fn send_ack_at(&mut self, seq: u64, cx: &mut Cx<'_>) {
        let mut seg = Segment::default();
        (seg.seq, seg.ack) = (seq, self.rcv.nxt);
        (seg.wnd, seg.flags) = (self.advertised_window(), flag::ACK);
        if self.cfg.timestamps {
            seg.set_timestamps(self.timestamp(cx.now), self.rcv.ts_recent);
        }
        if self.cfg.sack && self.rcv.has_sack() {
            self.rcv.write_sack(&mut seg, &self.cfg);
        }
        if self.ecn_on() {
            self.ecn_stamp(&mut seg, false);
        }
        let len = self.cfg.wire_len(0, seg.sack_len() as u32);
        self.acks += 1;
        self.ack_scheduled = false;
        self.ack_sent(cx);
        cx.send(seg, len, self.cfg.class);
    }

    #[inline(never)]
    pub(crate) fn flush_ack(&mut self, cx: &mut Cx<'_>) {
        if !self.ack_scheduled {
            return;
        }
        match self.rcv.due {
            AckDue::No => {}
            AckDue::Now => self.send_ack(cx),
            AckDue::Later if self.rcv.quick.is_some() && self.schedule_compressed_ack(cx) => {}
            AckDue::Later => {
                let wait = if self.rcv.quick.is_some() { self.ack_delay() } else { self.cfg.ack_delay };
                match cx.timers.get(TimerId::DelAck) {
                    None => cx.timers.set(TimerId::DelAck, cx.now + wait),
                    // The wait is nearly over.
                    Some(at) if self.rcv.quick.is_some() && at <= cx.now + wait / 4 => self.send_ack(cx),
                    Some(at) if at > cx.now + wait => cx.timers.set(TimerId::DelAck, cx.now + wait),
                    Some(_) => {}
                }
            }
        }
    }

    /// Notes that an outgoing segment acknowledges everything received in order.
    #[inline]
    pub(crate) fn ack_sent(&mut self, cx: &mut Cx<'_>) {
        if self.rcv.ack_pending()
            && let Some(quick) = &mut self.rcv.quick
        {
            quick.on_ack_sent(self.cfg.ack_delay);
        }
        self.rcv.on_ack_sent();
        cx.timers.cancel(TimerId::DelAck);
    }

    /// Schedules an acknowledgment that may wait for more data.
    #[cold]
    pub(crate) fn schedule_delayed_ack(&mut self, cx: &mut Cx<'_>) {
        self.ack_scheduled = true;
        self.rcv.schedule_delayed_ack();
        self.flush_ack(cx);
    }
}
