//! Opening a connection (RFC 9293 section 3.5).

use crate::cc::CongestionControl;
use crate::choices::EcnMode;
use crate::config::TcpConfig;
use crate::endpoint::Tcp;
use crate::state::{FIRST, State};
use fairlane_net::{Cx, Segment, TimerId, flag};
use fairlane_units::{Dur, Time};
use std::sync::Arc;

impl<C: CongestionControl> Tcp<C> {
    /// Adopts the options of the peer's SYN (RFC 9293 section 3.7.1, RFC 7323 sections 2.2 and 3.2, RFC 2018 section 2): new parameters and
    /// an algorithm made for them. Returns false, without effect, once data may flow.
    pub fn renegotiate(&mut self, cfg: Arc<TcpConfig>, cc: C) -> bool {
        if self.state == State::Established {
            return false;
        }
        let mut fresh = Self::new(cfg, cc, self.state);
        (fresh.timed_at, fresh.syn_lost, fresh.keeps_open) = (self.timed_at, self.syn_lost, self.keeps_open);
        (fresh.lifecycle, fresh.rcv.passive) = (self.lifecycle.clone(), self.rcv.passive);
        (fresh.data_end, fresh.closed, fresh.report_completion) = (self.data_end, self.closed, self.report_completion);
        fresh.ecn = self.ecn.clone();
        self.carry_fast_open(&mut fresh);
        fresh.rtt = self.rtt.clone();
        *self = fresh;
        true
    }

    /// Ends the quick acknowledgments of the start (Linux: TCP_QUICKACK of 0).
    pub fn delay_acks(&mut self) {
        if let Some(quick) = &mut self.rcv.quick {
            quick.set_interactive();
        }
    }

    /// Keeps this end open when the peer's FIN arrives (RFC 9293 section 3.6, case 2): the application closes it.
    pub fn keep_open(&mut self) {
        self.keeps_open = true;
    }

    #[cold]
    pub(crate) fn send_syn(&mut self, answer: bool, cx: &mut Cx<'_>) {
        let flags = flag::SYN | if answer { flag::ACK } else { 0 };
        let ack = if answer { self.rcv.nxt } else { 0 };
        let mut seg = Segment::default();
        (seg.ack, seg.wnd, seg.flags) = (ack, self.cfg.syn_window, flags);
        if self.cfg.timestamps {
            seg.set_timestamps(self.timestamp(cx.now), self.rcv.ts_recent);
        }
        if self.cfg.ecn != EcnMode::Off {
            self.ecn_write_syn(&mut seg, answer);
        }
        if self.syn_lost {
            seg.set_retransmission();
        }
        let more = if self.ext.fast_open.is_some() { self.fast_open_write(&mut seg, answer, cx.now) } else { 0 };
        cx.send(seg, self.cfg.syn_len + more, self.cfg.class);
        if self.state != State::Established {
            cx.timers.set(TimerId::Rto, cx.now + self.rtt.rto());
        }
    }

    #[cold]
    pub(crate) fn establish(&mut self, cx: &mut Cx<'_>) {
        self.state = State::Established;
        if let Some(quick) = &mut self.rcv.quick {
            quick.on_open(cx.now);
        }
        cx.timers.cancel(TimerId::Rto);
        if self.syn_lost
            && let Some(rto) = self.cfg.rto_after_syn_loss
        {
            self.rtt.restart(rto, &self.cfg);
        }
        if self.was_accepted_early() {
            // The window was opened with the SYN, and data may be out; RFC 5681 section 3.1 as below.
            if self.syn_lost {
                self.cc.on_idle_restart(cx.now, u64::from(self.cfg.smss));
            }
            return;
        }
        // RFC 5681 section 3.1: after a lost SYN the initial window is one segment.
        let window = if self.syn_counts_as_lost() { u64::from(self.cfg.smss) } else { self.cfg.initial_window };
        let srtt = self.rtt.srtt(&self.cfg);
        if srtt != Dur::ZERO {
            self.cc.on_first_rtt(cx.now, srtt);
        }
        self.cc.on_established(cx.now, window);
    }

    /// Handles a SYN or SYN-ACK.
    #[cold]
    pub(crate) fn on_syn(&mut self, seg: &Segment, cx: &mut Cx<'_>) {
        match self.state {
            State::Listen => {
                self.take_syn(seg);
                self.timed_at = cx.now;
                if self.ext.fast_open.is_some() {
                    self.fast_open_take_syn(seg, cx);
                }
                if self.cfg.handshake_ack {
                    self.state = State::SynReceived;
                } else {
                    // No third step is awaited; a lost answer is the opener's to find out.
                    self.establish(cx);
                }
                self.send_syn(true, cx);
                if self.is_early() {
                    self.transmit_before_established(cx);
                } else {
                    self.transmit(self.cfg.max_burst, cx);
                }
            }
            // Both ends opened, and this is the answer to our SYN (RFC 9293 section 3.5, figure 7).
            State::SynReceived if seg.has(flag::ACK) && (FIRST..=self.nxt).contains(&seg.ack) => self.on_syn_acked(seg, cx),
            State::SynReceived => {
                if self.ecn_on() {
                    self.ecn_take_syn_again(seg);
                }
                self.send_syn(true, cx);
            }
            State::SynSent if seg.has(flag::ACK) => {
                if !self.acks_syn_data(seg.ack) {
                    return;
                }
                self.take_syn(seg);
                if !self.syn_lost {
                    self.measure_handshake(cx.now);
                    cx.rtt = Some(cx.now.since(self.timed_at));
                }
                self.establish(cx);
                self.schedule_ack_now();
                if self.ext.fast_open.is_some() {
                    // Data sent now acknowledges as well.
                    self.fast_open_take_answer(seg, cx);
                } else if self.cfg.handshake_ack {
                    self.send_ack(cx);
                }
                self.transmit(self.cfg.max_burst, cx);
            }
            // Both ends open at once (RFC 9293 section 3.10.7.3); data of the peer's SYN is not taken.
            State::SynSent => {
                self.take_syn(seg);
                self.state = State::SynReceived;
                self.send_syn(true, cx);
            }
            // The answer to the SYN was lost, where no third step is awaited.
            State::Established => self.send_syn(true, cx),
            State::Closed | State::TimeWait | State::Over => {}
        }
    }

    /// Opens the connection at the end that answered a SYN, with the acknowledgment of its own.
    #[cold]
    pub(crate) fn on_syn_acked(&mut self, seg: &Segment, cx: &mut Cx<'_>) {
        if !self.syn_lost {
            self.measure_handshake(cx.now);
        }
        self.establish(cx);
        self.update_window(seg);
        self.fast_open_on_ack(seg.ack, cx);
        self.transmit(self.cfg.max_burst, cx);
    }

    fn take_syn(&mut self, seg: &Segment) {
        self.rcv.nxt = FIRST;
        self.window_seq = 0;
        self.update_window(seg);
        if self.cfg.ecn != EcnMode::Off {
            self.ecn_take_syn(seg, seg.has(flag::ACK));
        }
        if let Some((val, _)) = seg.timestamps() {
            self.rcv.ts_recent = val;
        }
    }

    /// Value of the timestamp clock (RFC 7323 section 5.4).
    pub(crate) fn timestamp(&self, now: Time) -> u32 {
        (now.as_ps() / self.cfg.timestamp_tick.as_ps()) as u32
    }

    #[cold]
    pub(crate) fn on_syn_timeout(&mut self, cx: &mut Cx<'_>) {
        self.syn_lost = true;
        self.rtt.back_off(u32::MAX, &self.cfg);
        if let Some(ssthresh) = self.cfg.syn_loss_ssthresh {
            self.cc.on_syn_loss(ssthresh);
        }
        self.send_syn(self.state == State::SynReceived, cx);
    }
}
