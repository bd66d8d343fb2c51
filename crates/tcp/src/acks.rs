//! What an end makes of data that arrives, and how it acknowledges.

use crate::cc::CongestionControl;
use crate::endpoint::Tcp;
use crate::receiver::AckDue;
use fairlane_net::{Cx, Segment, TimerId, flag};

impl<C: CongestionControl> Tcp<C> {
    #[inline]
    pub(crate) fn take_data(&mut self, seg: &Segment, cx: &mut Cx<'_>) {
        self.heard = true;
        if self.ecn_on() {
            self.ecn_take_data(seg, cx);
        }
        let limit = self.cfg.receive_window;
        let edge = self.rcv.nxt + u64::from(limit);
        let mut trimmed = Segment::default();
        let mut seg = seg;
        if limit != u32::MAX && seg.end() > edge {
            // RFC 9293 section 3.10.7.4: what is outside the window is not accepted but answered.
            if seg.seq >= edge {
                self.rcv.due = AckDue::Now;
                return;
            }
            trimmed.clone_from(seg);
            trimmed.payload = u64::from(seg.payload).min(edge - seg.seq) as u16;
            trimmed.flags &= !flag::FIN;
            seg = &trimmed;
        }
        cx.delivered += self.rcv.on_data(seg, &self.cfg);
        if self.cfg.quick_acks != 0 {
            self.rcv.heard_at = cx.now;
        }
        if self.ecn_on() && self.ecn.ack_now {
            self.ecn.ack_now = false;
            self.rcv.due = AckDue::Now;
        }
        if self.rcv.closed() && !self.closed && !self.report && !self.keeps_open {
            // The other end is done. One that has nothing to say closes as well (RFC 9293 section 3.6).
            self.closed = true;
            self.transmit(self.cfg.max_burst, cx);
        }
    }

    /// An acknowledgment must go out at the end of this call.
    pub(crate) fn owe_ack(&mut self) {
        self.heard = true;
        self.rcv.due = AckDue::Now;
    }

    #[inline(never)]
    pub(crate) fn send_ack(&mut self, cx: &mut Cx<'_>) {
        self.send_ack_at(self.nxt, cx);
    }

    /// An acknowledgment with a sequence number that lies below the peer's window: it must answer.
    #[cold]
    pub(crate) fn send_empty_probe(&mut self, cx: &mut Cx<'_>) {
        self.send_ack_at(self.una - 1, cx);
    }

    #[inline(always)]
    pub(crate) fn send_ack_at(&mut self, seq: u64, cx: &mut Cx<'_>) {
        let mut seg = Segment::default();
        (seg.seq, seg.ack) = (seq, self.rcv.nxt);
        (seg.wnd, seg.flags) = (self.cfg.receive_window, flag::ACK);
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
        self.count.acks += 1;
        self.heard = false;
        self.rcv.acknowledged();
        cx.timers.cancel(TimerId::DelAck);
        cx.send(seg, len, self.cfg.class);
    }

    #[inline(never)]
    pub(crate) fn acknowledge(&mut self, cx: &mut Cx<'_>) {
        if !self.heard {
            return;
        }
        match self.rcv.due {
            AckDue::No => {}
            AckDue::Now => self.send_ack(cx),
            AckDue::Later => {
                if cx.timers.get(TimerId::DelAck).is_none() {
                    cx.timers.set(TimerId::DelAck, cx.now + self.cfg.ack_delay);
                }
            }
        }
    }

    /// An acknowledgment may wait for more.
    #[cold]
    pub(crate) fn owe_later(&mut self, cx: &mut Cx<'_>) {
        self.heard = true;
        self.rcv.owe_later();
        self.acknowledge(cx);
    }
}
