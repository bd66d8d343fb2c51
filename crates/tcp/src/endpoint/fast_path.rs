//! Fast path of most packets: the next data in order, and an acknowledgment of new data while no loss is known.
//!
//! It is [`Tcp::on_segment`] without the cases that cannot occur here, with the same results. Other segments are handed on before any state
//! has changed.

use crate::cc::CongestionControl;
use crate::endpoint::Tcp;
use crate::sent::Sent;
use crate::state::Phase;
use fairlane_net::{Cx, Segment, TimerId, flag};

impl<C: CongestionControl> Tcp<C> {
    /// Handles a segment with data and ACK, and no option: the next in order, at an end that has nothing to send.
    #[inline(never)]
    pub(crate) fn on_next_data(&mut self, seg: &Segment, cx: &mut Cx<'_>) {
        let next = seg.seq == self.rcv.nxt && self.rcv.in_order() && u32::from(seg.payload) <= self.cfg.receive_window;
        if !next || seg.ack != self.una || self.data_end > self.nxt || !self.features.plain_acks {
            return self.on_segment(seg, cx);
        }
        self.update_window_fast(seg, seg.seq - 1);
        let payload = u64::from(seg.payload);
        cx.delivered += payload;
        if !self.rcv.take_next(payload, &self.cfg) {
            return self.schedule_delayed_ack(cx);
        }
        cx.timers.cancel(TimerId::DelAck);
        if cx.out.len() == cx.out.capacity() {
            // The list grows elsewhere, so that no register has to be saved across a call here.
            return self.send_ack(cx);
        }
        let mut ack = Segment::new(self.nxt, self.rcv.nxt, flag::ACK, 0);
        ack.wnd = self.cfg.receive_window;
        cx.send(ack, self.cfg.header_len, self.cfg.class);
        self.acks += 1;
        self.ack_scheduled = false;
        self.rcv.on_ack_sent_in_order();
    }

    /// Handles a segment with ACK alone: new data acknowledged, at a sender without losses.
    #[inline(never)]
    pub(crate) fn on_next_ack(&mut self, seg: &Segment, cx: &mut Cx<'_>) {
        let mut acked = seg.ack.wrapping_sub(self.una);
        if acked.wrapping_sub(1) >= self.nxt - self.una || seg.seq != self.rcv.nxt || self.phase != Phase::Open || !self.features.fast_path
        {
            return self.on_segment(seg, cx);
        }
        self.update_window_fast(seg, seg.seq);
        self.una = seg.ack;
        self.dupacks = 0;
        self.no_ack_since_rto = false;
        // One look whether it is there does for all.
        let tx = &mut *self.tx;
        tx.limited_bytes = 0;
        if seg.ack >= tx.round_end {
            tx.round += 1;
            tx.round_end = self.nxt;
        }
        if let Some(sent) = tx.board.pop(seg.ack, self.cfg.vegas_times_waiting) {
            cx.rtt = Some(cx.now - sent);
            self.rtt.sample_exact(sent, cx.now, &self.cfg);
        } else if self.cfg.backoff_ends_with_ack {
            self.rtt.end_backoff(&self.cfg);
        }
        let empty = self.tx.board.is_empty();
        if empty {
            // A FIN is the last to be acknowledged, and no data.
            acked -= u64::from(self.fin_sent);
        }
        if !empty || acked != 0 {
            self.call_on_ack(acked, 0, None, true, cx);
        }
        if empty {
            cx.timers.cancel(TimerId::Rto);
            self.transmit(u32::MAX, cx);
            if self.both_closed() {
                self.finish_close(cx);
            }
        } else {
            cx.timers.set(TimerId::Rto, cx.now + self.rtt.rto());
            self.transmit_full(cx);
        }
        self.check_finished(cx);
        if self.ack_scheduled {
            self.flush_ack(cx);
        }
    }

    /// Sends full segments like [`Self::transmit`] in the open phase with data in flight, while the windows and the data allow.
    #[inline(always)]
    fn transmit_full(&mut self, cx: &mut Cx<'_>) {
        if self.tx.board.has_pending() {
            return self.transmit(u32::MAX, cx);
        }
        let smss = u64::from(self.cfg.smss);
        let bound = self.edge.min(self.data_end);
        loop {
            let end = self.nxt + smss;
            // New data leaves no segment to retransmit.
            if end > bound {
                return self.transmit(u32::MAX, cx);
            }
            // Inflation and deflation belong to recovery. With something in flight this is more than one segment,
            // which is the least a window is.
            if !self.cc.allows(end - self.una) {
                self.cwnd_limited = true;
                return;
            }
            self.send_full(end, cx);
        }
    }

    #[inline(always)]
    fn send_full(&mut self, end: u64, cx: &mut Cx<'_>) {
        let smss = self.cfg.smss;
        let mut seg = Segment::new(self.nxt, self.rcv.nxt, flag::ACK, smss as u16);
        seg.wnd = self.cfg.receive_window;
        let tx = &mut *self.tx;
        tx.board.push(Sent { seq: self.nxt, at: cx.now, len: smss, flags: 0 });
        tx.last_sent = cx.now;
        tx.count.data_segments += 1;
        self.nxt = end;
        if self.ack_scheduled {
            self.piggyback_ack(seg.seq, cx);
        }
        cx.send(seg, self.cfg.full_len, self.cfg.class);
    }
}
