//! Acknowledgments and receive window of an endpoint with quick ACKs.

use crate::cc::CongestionControl;
use crate::endpoint::Tcp;
use crate::receiver::AckDue;
use fairlane_net::{Cx, Segment, flag};
use fairlane_units::Dur;

impl<C: CongestionControl> Tcp<C> {
    /// Updates quick acknowledgments and buffer for a received segment; `before` was RCV.NXT.
    #[inline(never)]
    pub(crate) fn quickack_on_data(&mut self, seg: &Segment, before: u64, cx: &Cx<'_>) {
        let Some(mut quick) = self.rcv.quick.take() else { return };
        let (nxt, payload, rto) = (self.rcv.nxt, u64::from(seg.payload), self.rtt.rto());
        let kept = if quick.buffer.is_some() { self.rcv.out_of_order_bytes() } else { 0 };
        if let Some(buffer) = &mut quick.buffer
            && let Some((_, echo)) = seg.timestamps()
        {
            let age = self.cfg.timestamp_tick * u64::from(self.timestamp(cx.now).wrapping_sub(echo));
            buffer.note_echo(echo, age, payload >= quick.mss);
        }
        if payload == 0 {
            // A FIN.
        } else if seg.end() <= before {
            quick.on_duplicate(&self.cfg);
        } else if seg.seq > before {
            if self.cfg.sack {
                quick.open(payload, kept.saturating_sub(payload), false);
            }
            if let Some(buffer) = &mut quick.buffer {
                buffer.fit_out_of_order(self.rcv.highest_received() - nxt);
            }
            let now = self.rcv.unacknowledged() > quick.mss || (quick.left != 0 && !quick.interactive);
            if !now && self.cfg.sack && self.cfg.sack_delay != Dur::ZERO && quick.compression.delays(nxt) {
                self.rcv.due = AckDue::Later;
            }
        } else {
            quick.on_next_data(payload, nxt, kept, rto, cx.now, &self.cfg);
            if let Some(buffer) = &mut quick.buffer {
                buffer.on_read(nxt, cx.now);
            }
            // More than a full segment, or in the quick mode (`__tcp_ack_snd_check`).
            let many = self.rcv.unacknowledged() > u64::from(self.cfg.ack_every - 1) * quick.mss;
            // An application that takes all there is has come to an end the sender marked (`tcp_cleanup_rbuf`).
            let taken = seg.has(flag::PSH) && !quick.interactive && self.rcv.out_of_order_bytes() == 0;
            if many || taken || (quick.left != 0 && !quick.interactive) {
                self.rcv.due = AckDue::Now;
            }
        }
        self.rcv.quick = Some(quick);
    }

    /// Window advertised by the segment that leaves now.
    #[inline]
    pub(crate) fn advertised_window(&mut self) -> u32 {
        if self.rcv.quick.is_some() { self.advertised_autotuned() } else { self.cfg.receive_window }
    }

    #[inline(never)]
    fn advertised_autotuned(&mut self) -> u32 {
        let (nxt, kept) = (self.rcv.nxt, self.rcv.out_of_order_bytes());
        match &mut self.rcv.quick {
            Some(quick) if quick.buffer.is_some() => {
                let mss = quick.mss;
                let (window, short) = quick.buffer.as_mut().map_or((0, false), |b| b.advertise(nxt, kept, mss));
                if short {
                    quick.left = 0;
                }
                window
            }
            _ => self.cfg.receive_window,
        }
    }

    /// One past the last byte that is accepted (RCV.NXT + RCV.WND); `u64::MAX` without a limit.
    pub(crate) fn receive_edge(&self) -> u64 {
        match self.rcv.quick.as_ref().and_then(|q| q.buffer.as_ref()) {
            Some(buffer) => buffer.edge().max(self.rcv.nxt),
            None if self.cfg.receive_window == u32::MAX => u64::MAX,
            None => self.rcv.nxt + u64::from(self.cfg.receive_window),
        }
    }

    /// Delay of an acknowledgment.
    pub(crate) fn ack_delay(&self) -> Dur {
        self.rcv.quick.as_ref().map_or(self.cfg.ack_delay, |q| q.ack_delay(self.rtt.srtt(&self.cfg), &self.cfg))
    }
}
