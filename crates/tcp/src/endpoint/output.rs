//! Output of new data and retransmissions, within the windows.

use crate::cc::CongestionControl;
use crate::choices::IdleRestart;
use crate::endpoint::Tcp;
use crate::receiver::AckDue;
use crate::sent::{FIN, PUSH, Sent};
use crate::state::{Phase, State};
use fairlane_net::{Cx, Segment, TimerId, flag};
use fairlane_units::Time;

impl<C: CongestionControl> Tcp<C> {
    /// Sends within the windows, at most `burst` segments: lost segments first, then new data.
    #[inline(never)]
    pub(crate) fn transmit(&mut self, burst: u32, cx: &mut Cx<'_>) {
        if self.features.output_hooks {
            return self.transmit_with_hooks(burst, cx);
        }
        // The usual case, in three comparisons: no loss is known, and there is more data than window.
        if self.phase == Phase::Open
            && burst == u32::MAX
            && !self.features.paced
            && !self.cc_ack_pending
            && !self.tx.board.has_pending()
            && !self.tx.board.is_empty()
        {
            let smss = self.cfg.smss;
            let cwnd = self.una + self.window();
            let limit = cwnd.min(self.edge).min(self.data_end).min(self.una.saturating_add(self.cfg.window));
            while self.nxt + u64::from(smss) <= limit {
                self.send_new(smss, cx);
            }
            if limit < self.data_end {
                self.cwnd_limited = limit == cwnd;
                return;
            }
        }
        self.transmit_loop(burst, cx);
    }

    /// Sends within the windows while an option acts on output: SACKed data may not count as in flight, and new data schedules a loss
    /// probe.
    fn transmit_with_hooks(&mut self, burst: u32, cx: &mut Cx<'_>) {
        if self.ext.held.is_some() {
            if self.rate.is_some() {
                self.rate_app_limited();
            }
            return;
        }
        let before = self.nxt;
        self.transmit_loop(burst, cx);
        if self.cfg.cwnd_limited_by_round {
            // Linux tests if more fits into the window, not if there is more.
            let active = self.nxt != before || self.new_len() != 0;
            let limited = self.burst.deferred || (active && self.in_flight() + u64::from(self.cfg.smss) > self.window());
            if limited || self.nxt != before {
                let packets_out = self.tx.board.tail.wrapping_sub(self.tx.board.head);
                let (una, nxt) = (self.una, self.nxt);
                self.tx.usage.update(una, nxt, packets_out, limited);
            }
            self.cwnd_limited = self.tx.usage.limited;
        }
        if self.nxt != before && self.ext.rack.is_some() {
            self.tlp_schedule(cx);
        }
    }

    fn transmit_loop(&mut self, mut burst: u32, cx: &mut Cx<'_>) {
        if (self.state != State::Established && !self.is_early()) || self.ns2.output_stopped {
            return;
        }
        if self.cc_ack_pending {
            self.pass_ack_to_cc(cx);
        }
        if self.tx.board.is_empty() {
            if self.cfg.empty_window_probes && cx.timers.get(TimerId::Rto).is_some() && self.edge > self.nxt {
                // The window opens: the back-off was that of probes (Linux `tcp_ack_probe`).
                self.rtt.end_backoff(&self.cfg);
            }
            self.after_idle(cx);
        }
        let window = self.window();
        self.cwnd_limited = false;
        (self.burst.left, self.burst.deferred) = (0, false);
        while burst > 0 {
            if self.features.paced && self.burst.left == 0 && (self.tx.board.has_pending() || self.new_len() != 0) && !self.pace_allows(cx)
            {
                // The pacer holds the data back on behalf of the window: the application would send more.
                self.cwnd_limited = true;
                break;
            }
            let flight = self.in_flight();
            if self.tx.board.has_pending() {
                let Some(i) = self.tx.board.first_pending() else { break };
                if flight + u64::from(self.cfg.smss) > window {
                    self.cwnd_limited = true;
                    break;
                }
                self.resend(i, true, cx);
            } else {
                let len = self.new_len();
                let data = self.data_in(len);
                if data != 0 && flight + data > window {
                    self.cwnd_limited = true;
                    break;
                }
                if len == 0 || !self.fits(len) {
                    let piece = self.piece(len);
                    if len == 0 && flight < window && self.rate.is_some() {
                        self.rate_app_limited();
                    }
                    if piece != 0 {
                        self.send_new(piece, cx);
                    } else if self.phase == Phase::Recovery
                        && self.cfg.sack
                        && !self.cfg.rack
                        && flight + u64::from(self.cfg.smss) <= window
                    {
                        self.send_rule_3_or_4(cx);
                    }
                    break;
                }
                if self.cfg.tso && data != 0 && !self.tso_allows(window - flight, cx.now) {
                    self.cwnd_limited = true;
                    break;
                }
                self.send_new(len, cx);
            }
            burst -= 1;
        }
        if burst == 0 {
            self.cwnd_limited = true;
        }
        if self.tx.board.is_empty() && self.new_len() != 0 && cx.timers.get(TimerId::Rto).is_none() {
            // The peer's window is shut: RFC 9293 section 3.8.6.1.
            cx.timers.set(TimerId::Rto, cx.now + self.rtt.rto());
        }
    }

    /// Restarts or validates the window after idleness (RFC 5681 section 4.1, or RFC 7661 instead).
    fn after_idle(&mut self, cx: &Cx<'_>) {
        if self.ext.cwv.is_some() {
            if self.new_len() != 0 {
                self.cwv_after_idle(cx.now);
            }
            return;
        }
        if self.tx.last_sent.as_ps() != 0 && self.new_len() != 0 && cx.now.since(self.tx.last_sent) > self.rtt.rto() {
            let smss = u64::from(self.cfg.smss);
            match self.cfg.idle_restart {
                IdleRestart::Off => {}
                IdleRestart::Initial => self.cc.on_idle_restart(cx.now, self.cfg.initial_window),
                IdleRestart::One => self.cc.on_idle_restart(cx.now, smss),
                IdleRestart::Decay => {
                    let (window, was) = (self.decayed(cx), self.cc.cwnd());
                    self.cc.on_decay(self.cc.ssthresh().max(was - was / 4));
                    self.cc.on_idle_restart(cx.now, window);
                }
            }
        }
    }

    /// Window after idleness: halved for each RTO, not below the initial one (RFC 2861 section 3).
    fn decayed(&self, cx: &Cx<'_>) -> u64 {
        let rtos = cx.now.since(self.tx.last_sent).as_ps() / self.rtt.rto().as_ps().max(1);
        (self.cc.cwnd() >> rtos.min(63)).max(self.cfg.initial_window.min(self.cc.cwnd()))
    }

    /// Sequence space of the next new segment: a full one or the rest, FIN included; 0: none.
    #[inline]
    pub(crate) fn new_len(&self) -> u32 {
        let rest = self.data_end.saturating_sub(self.nxt);
        if rest > u64::from(self.cfg.smss) {
            return self.cfg.smss;
        }
        // FIN rides on the last data, or goes alone.
        rest as u32 + u32::from(self.closed && self.cfg.fin && !self.fin_sent)
    }

    /// Size of a segment that the windows admit in part. It is sent only with nothing in flight, and of the peer's window only if it is
    /// half of the largest one offered (RFC 9293 section 3.8.6.2.1). A smaller piece waits for the timer, which overrides.
    fn piece(&self, len: u32) -> u32 {
        if !self.tx.board.is_empty() {
            return 0;
        }
        let (room, len) = (self.edge.saturating_sub(self.nxt), u64::from(len).min(self.cfg.window));
        if room >= len || 2 * room >= self.max_peer_window() { room.min(len) as u32 } else { 0 }
    }

    /// True if the peer's window and `window` admit `len` more.
    #[inline]
    pub(crate) fn fits(&self, len: u32) -> bool {
        let end = self.nxt + u64::from(len);
        end <= self.edge && end.min(self.data_end).saturating_sub(self.una) <= self.cfg.window
    }

    /// Sends new data.
    pub(crate) fn send_new(&mut self, len: u32, cx: &mut Cx<'_>) {
        let end = self.nxt + u64::from(len);
        let fin = end > self.data_end;
        let push = self.cfg.tso && len > u32::from(fin) && (self.burst.ends() || end >= self.data_end);
        let s = Sent { seq: self.nxt, at: cx.now, len, flags: if fin { FIN } else { 0 } | if push { PUSH } else { 0 } };
        if self.tx.board.is_empty() {
            cx.timers.set(TimerId::Rto, cx.now + self.rtt.rto());
        }
        self.tx.board.push(s);
        self.nxt = end;
        self.fin_sent |= fin;
        if !self.cfg.rtt_every {
            self.time_new(end, cx.now);
        }
        self.tx.pipe += s.data();
        if self.ext.prr.is_some() {
            self.prr_sent(s.data());
        }
        if self.rate.is_some() {
            self.rate_sent(self.tx.board.tail.wrapping_sub(1), s.data(), cx.now);
        }
        self.emit(&s, false, cx);
    }

    /// Times a new segment, one at a time.
    fn time_new(&mut self, end: u64, now: Time) {
        if self.tx.timed_end == 0 {
            (self.tx.timed_end, self.timed_at) = (end, now);
        }
        if self.ext.vegas.as_ref().is_some_and(|v| v.is_stale(end)) {
            self.tx.board.mark_last_retransmitted();
        }
    }

    /// Retransmits a segment. `count`: it adds to the data in flight.
    #[inline(never)]
    pub(crate) fn resend(&mut self, index: u32, count: bool, cx: &mut Cx<'_>) {
        if self.defer_resend() {
            return;
        }
        let s = self.tx.board.resend(index, cx.now, count);
        if count {
            self.tx.pipe += s.data();
        }
        if self.ext.prr.is_some() {
            self.prr_sent(s.data());
        }
        if self.ext.undo.is_some() {
            self.note_resend(cx.now);
        }
        if self.ext.rack.is_some() {
            self.rack_resent(index, cx.now);
        }
        self.tx.count.retransmits += u32::from(s.data() != 0);
        self.tx.count.retransmit_bytes += s.data();
        if self.rate.is_some() {
            self.rate_sent(index, s.data(), cx.now);
        }
        self.emit(&s, true, cx);
    }

    fn emit(&mut self, s: &Sent, again: bool, cx: &mut Cx<'_>) {
        let fin = s.is(FIN);
        let payload = s.len - u32::from(fin);
        let mut seg = Segment::default();
        (seg.seq, seg.ack) = (s.seq, self.rcv.nxt);
        (seg.wnd, seg.payload) = (self.advertised_window(), payload as u16);
        seg.flags = flag::ACK | if fin { flag::FIN } else { 0 } | if s.is(PUSH) { flag::PSH } else { 0 };
        if again {
            seg.set_retransmission();
        }
        if self.cfg.timestamps {
            seg.set_timestamps(self.timestamp(cx.now), self.rcv.ts_recent);
        }
        if self.ecn_on() {
            self.ecn_stamp(&mut seg, again);
        }
        if self.ack_scheduled {
            self.piggyback_ack(if again { self.nxt } else { s.seq }, cx);
        }
        if self.features.paced {
            self.pace_sent(u64::from(payload), cx.now);
        }
        self.tx.count.data_segments += u64::from(payload != 0);
        self.tx.last_sent = cx.now;
        if let Some(quick) = &mut self.rcv.quick {
            quick.on_data_sent(cx.now);
        }
        cx.send(seg, self.cfg.wire_len(payload, 0), self.cfg.class);
        if self.features.cc_every_ack {
            self.cc.on_sent(cx.now, u64::from(payload), self.in_flight());
        }
    }

    /// Lets a segment with data acknowledge, too. A pure acknowledgment goes first if it reports more: a duplicate, or SACK blocks. It has
    /// the sequence number `seq`: behind data with the same acknowledgment number it would count as a duplicate (RFC 5681 section 2).
    #[cold]
    #[inline(never)]
    pub(crate) fn piggyback_ack(&mut self, seq: u64, cx: &mut Cx<'_>) {
        if !self.rcv.has_sack() {
            self.ack_scheduled = false;
            self.ack_sent(cx);
        } else if self.rcv.due == AckDue::Now {
            self.send_ack_at(seq, cx);
        }
    }
}
