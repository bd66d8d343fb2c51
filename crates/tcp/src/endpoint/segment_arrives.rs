//! Checks of arriving segments (RFC 9293 section 3.10.7, RFC 5961, PAWS of RFC 7323 section 5).
//!
//! The order is that of section 3.10.7.4: timestamp, sequence number, RST, SYN, ACK. A segment that fails one check does not reach the
//! next. Acknowledgments in answer to such segments are throttled (RFC 5961 section 7). A regular segment passes [`Tcp::is_regular`] alone.

use crate::cc::CongestionControl;
use crate::choices::{OldSegments, Paws};
use crate::endpoint::Tcp;
use crate::lifecycle::Ended;
use crate::receiver::AckDue;
use crate::state::{FARTHEST, FIRST, State};
use fairlane_net::{Cx, Segment, TimerId, flag};
use fairlane_units::Dur;
/// Age from which a timestamp is invalid (RFC 7323 section 5.5).
const OUTDATED: Dur = Dur::from_secs(24 * 86_400);

impl<C: CongestionControl> Tcp<C> {
    /// True if a segment of an open connection passes all checks.
    #[inline]
    pub(crate) fn is_regular(&self, seg: &Segment) -> bool {
        (seg.seq == self.rcv.nxt || (self.rcv.nxt..self.receive_edge()).contains(&seg.seq))
            && seg.seq <= FARTHEST
            && seg.flags & (flag::SYN | flag::RST | flag::ACK) == flag::ACK
            && seg.ack.wrapping_sub(self.una) <= self.nxt - self.una
            && (!self.cfg.timestamps || seg.timestamps().is_some_and(|(value, _)| value.wrapping_sub(self.rcv.ts_recent) as i32 >= 0))
    }

    /// Checks an irregular segment of an open connection and answers it if required; returns true if it is to be processed.
    #[cold]
    #[inline(never)]
    pub(crate) fn check_irregular(&mut self, seg: &Segment, cx: &mut Cx<'_>) -> bool {
        let (rst, syn) = (seg.has(flag::RST), seg.has(flag::SYN));
        if seg.seq > FARTHEST || seg.ack > FARTHEST {
            // Numbers that no connection reaches: answered like a segment outside of the window.
            if !rst {
                self.challenge_ack(cx);
            }
            return false;
        }
        if !rst && !syn && self.cfg.timestamps && !self.passes_paws(seg, cx) {
            return false;
        }
        if !self.acceptable(seg) {
            if syn && !rst && self.rcv.passive && !self.cfg.handshake_ack && seg.seq + 1 == FIRST {
                self.on_syn(seg, cx);
            } else if syn && !rst {
                self.challenge_ack(cx);
                if self.ecn_on() && self.rcv.due == AckDue::Now {
                    self.ecn_take_answer_again(seg);
                }
            } else if !rst {
                self.answer_unacceptable(seg, cx);
            }
            return false;
        }
        if rst {
            // RFC 5961 section 3.2: only a RST with exactly the next number ends the connection. Timestamps do not matter (RFC 7323 section 5.2).
            if seg.seq == self.rcv.nxt {
                self.terminate(Ended::Reset, cx);
            } else {
                self.challenge_ack(cx);
            }
            return false;
        }
        if syn {
            // RFC 5961 section 4.2.
            self.challenge_ack(cx);
            return false;
        }
        if !seg.has(flag::ACK) {
            return false;
        }
        // RFC 9293 section 3.10.7.4, RFC 5961 section 5.2.
        if seg.ack > self.nxt || self.una.saturating_sub(seg.ack) > self.max_peer_window() {
            self.challenge_ack(cx);
            return false;
        }
        true
    }

    /// Acceptability test of RFC 9293 section 3.4. An empty segment at the right edge is accepted, as with a closed window: otherwise two
    /// ends that have filled each other's window with lost data would answer each other's acknowledgments forever.
    fn acceptable(&self, seg: &Segment) -> bool {
        let nxt = self.rcv.nxt;
        let edge = self.receive_edge();
        if self.cfg.old_segments == OldSegments::Linux {
            return seg.end() >= self.rcv.last_ack() && seg.seq <= edge;
        }
        let window = nxt..edge;
        if seg.end() != seg.seq {
            window.contains(&seg.seq) || window.contains(&(seg.end() - 1))
        } else {
            // A RST counts where the window is shut, too (section 3.4), not at the edge of one that is open.
            window.contains(&seg.seq) || (seg.seq == edge && (!seg.has(flag::RST) || edge == nxt))
        }
    }

    /// Checks PAWS (RFC 7323 section 5.3, R1), and answers a segment that came late.
    fn passes_paws(&mut self, seg: &Segment, cx: &mut Cx<'_>) -> bool {
        let paws = self.cfg.paws;
        let Some((value, _)) = seg.timestamps() else {
            // RFC 7323 section 3.2: silently dropped.
            return paws != Paws::Rfc;
        };
        let behind = self.rcv.ts_recent.wrapping_sub(value) as i32;
        if behind <= 0 || paws == Paws::Off || self.rcv.ts_recent == 0 {
            return true;
        }
        if cx.now.since(self.rcv.ts_at) > OUTDATED {
            self.rcv.ts_recent = 0;
            return true;
        }
        if paws == Paws::Linux && (behind <= 1 || self.is_overtaken(seg, behind)) {
            return true;
        }
        self.answer_unacceptable(seg, cx);
        false
    }

    /// True for a pure acknowledgment that a later one overtook within the RTO (Linux `tcp_disordered_ack`): it may be a duplicate that
    /// counts.
    fn is_overtaken(&self, seg: &Segment, behind: i32) -> bool {
        let wait = Dur::from_ps(self.rtt.rto().as_ps() / 1000 * 1200);
        seg.payload == 0
            && seg.seq == self.rcv.nxt
            && seg.ack == self.una
            && !self.window_is_newer(seg)
            && self.cfg.timestamp_tick * u64::from(behind.unsigned_abs()) <= wait
    }

    /// Answers a segment that is not acceptable with an acknowledgment (RFC 9293 section 3.10.7.4), which reports a duplicate (RFC 2883).
    fn answer_unacceptable(&mut self, seg: &Segment, cx: &mut Cx<'_>) {
        let empty = seg.end() == seg.seq;
        if empty && self.cfg.old_segments == OldSegments::Linux {
            return self.challenge_ack(cx);
        }
        if !empty && seg.seq < self.rcv.nxt {
            self.rcv.note_duplicate(seg.seq, seg.end());
            if seg.payload != 0
                && let Some(quick) = &mut self.rcv.quick
            {
                quick.on_duplicate(&self.cfg);
            }
        }
        self.schedule_ack_now();
    }

    /// Schedules a challenge ACK within its rate limit (RFC 5961 section 7).
    fn challenge_ack(&mut self, cx: &mut Cx<'_>) {
        if self.lifecycle.challenges.take(cx.now, self.cfg.challenge_acks, self.cfg.challenge_interval) {
            self.schedule_ack_now();
        }
    }

    /// Handles a segment without an open connection; returns true if it opened one and is to be processed.
    #[cold]
    #[inline(never)]
    pub(crate) fn on_segment_unopened(&mut self, seg: &Segment, cx: &mut Cx<'_>) -> bool {
        if seg.seq > FARTHEST || seg.ack > FARTHEST {
            return false;
        }
        let (rst, syn, ack) = (seg.has(flag::RST), seg.has(flag::SYN), seg.has(flag::ACK));
        match self.state {
            State::Established => return true,
            State::TimeWait if cx.now.since(self.lifecycle.time_wait_since) < self.cfg.time_wait => self.in_time_wait(seg, cx),
            _ if rst && self.state != State::SynSent && self.state != State::SynReceived => {}
            State::Closed | State::Over | State::TimeWait => self.send_reset(seg, cx),
            State::Listen if ack => self.send_reset(seg, cx),
            State::Listen if syn => self.on_syn(seg, cx),
            State::Listen => {}
            State::SynSent => {
                let good = ack && (FIRST..=self.nxt).contains(&seg.ack);
                if ack && !good {
                    if !rst {
                        self.send_reset(seg, cx);
                    }
                } else if rst {
                    if good {
                        self.terminate(Ended::Refused, cx);
                    }
                } else if syn {
                    self.on_syn(seg, cx);
                }
            }
            State::SynReceived => return self.on_handshake_ack(seg, cx),
        }
        false
    }

    /// Handles a segment in SYN-RECEIVED, as a rule the third of the handshake; returns true if data may flow now.
    fn on_handshake_ack(&mut self, seg: &Segment, cx: &mut Cx<'_>) -> bool {
        let (rst, syn, ack) = (seg.has(flag::RST), seg.has(flag::SYN), seg.has(flag::ACK));
        if syn && !rst && seg.seq + 1 == FIRST {
            // The same SYN: its answer was lost. With an acknowledgment it is the answer to ours, both ends having opened (RFC 9293 figure 7).
            self.on_syn(seg, cx);
            return false;
        }
        if !rst && !syn && self.cfg.timestamps && !self.passes_paws(seg, cx) {
            return false;
        }
        if !self.acceptable(seg) {
            if !rst {
                self.answer_unacceptable(seg, cx);
            }
            return false;
        }
        if rst && seg.seq != self.rcv.nxt {
            self.challenge_ack(cx);
        } else if rst && self.is_early() {
            // The application has the connection already (RFC 7413 section 4.2.2).
            self.terminate(Ended::Reset, cx);
        } else if rst && !self.rcv.passive {
            self.terminate(Ended::Refused, cx);
        } else if rst || (syn && self.rcv.passive) {
            // Back to LISTEN, with the data written in the meantime.
            cx.timers.cancel(TimerId::Rto);
            (self.state, self.syn_lost) = (State::Listen, false);
        } else if syn {
            self.challenge_ack(cx);
        } else if ack && !(FIRST..=self.nxt).contains(&seg.ack) {
            self.send_reset(seg, cx);
        } else if ack {
            self.on_syn_acked(seg, cx);
            return true;
        }
        false
    }

    /// Handles a segment in TIME-WAIT (RFC 9293 section 3.10.7.4): all but an empty acknowledgment in the window is answered, and a FIN,
    /// possibly the peer's, restarts the wait.
    fn in_time_wait(&mut self, seg: &Segment, cx: &mut Cx<'_>) {
        let empty = seg.end() == seg.seq;
        if seg.has(flag::RST) {
            if seg.seq == self.rcv.nxt {
                self.state = State::Over;
            }
        } else if !empty {
            self.schedule_ack_now();
        } else if !self.acceptable(seg) || seg.ack > self.nxt {
            self.answer_unacceptable(seg, cx);
        }
        if seg.has(flag::FIN) {
            self.lifecycle.time_wait_since = cx.now;
        }
    }

    /// Handles the peer's FIN, once everything before it arrived.
    #[cold]
    pub(crate) fn on_peer_fin(&mut self, cx: &mut Cx<'_>) {
        self.lifecycle.peer_closed_first |= !self.fin_sent;
        if !self.closed && !self.report_completion && !self.keeps_open {
            // An end without data closes as well (RFC 9293 section 3.6).
            self.closed = true;
            self.transmit(self.cfg.max_burst, cx);
        }
    }

    /// True if both ends closed, and each knows that the other did.
    #[inline]
    pub(crate) fn both_closed(&self) -> bool {
        self.fin_sent && self.una == self.nxt && self.rcv.closed()
    }

    /// Enters CLOSED at the end that closed last, TIME-WAIT at the other (RFC 9293 section 3.6).
    #[cold]
    pub(crate) fn finish_close(&mut self, cx: &mut Cx<'_>) {
        if self.state == State::Established {
            self.state = if self.lifecycle.peer_closed_first { State::Over } else { State::TimeWait };
            self.lifecycle.time_wait_since = cx.now;
            for id in [TimerId::Rto, TimerId::Pace, TimerId::Probe] {
                cx.timers.cancel(id);
            }
        }
    }

    /// Ends the connection without closing.
    fn terminate(&mut self, why: Ended, cx: &mut Cx<'_>) {
        (self.state, self.lifecycle.ended) = (State::Over, why);
        (self.ack_scheduled, self.report_completion, self.closed) = (false, false, true);
        TimerId::ALL.into_iter().for_each(|id| cx.timers.cancel(id));
    }

    /// Aborts the connection (ABORT, RFC 9293 section 3.10.5) with a RST to the peer, which carries a timestamp (RFC 7323 section 3.2).
    pub fn abort(&mut self, cx: &mut Cx<'_>) {
        if matches!(self.state, State::Established | State::SynReceived) {
            let mut seg = Segment::new(self.nxt, self.rcv.nxt, flag::RST | flag::ACK, 0);
            seg.wnd = self.advertised_window();
            if self.cfg.timestamps {
                seg.set_timestamps(self.timestamp(cx.now), self.rcv.ts_recent);
            }
            cx.send(seg, self.cfg.wire_len(0, 0), self.cfg.class);
        }
        self.terminate(Ended::Aborted, cx);
    }

    /// Sends the RST that answers a segment without a connection (RFC 9293 section 3.10.7.1). Its only option is the timestamp that it
    /// echoes, with no value of its own (RFC 7323 section 5.2); Linux sends none.
    fn send_reset(&mut self, seg: &Segment, cx: &mut Cx<'_>) {
        let mut answer = if seg.has(flag::ACK) {
            Segment::new(seg.ack, 0, flag::RST, 0)
        } else {
            Segment::new(0, seg.seq.saturating_add(seg.end() - seg.seq), flag::RST | flag::ACK, 0)
        };
        let mut len = self.cfg.header.get() as u32;
        if let Some((value, _)) = seg.timestamps()
            && self.cfg.timestamps
            && self.cfg.paws == Paws::Rfc
        {
            answer.set_timestamps(0, value);
            len = self.cfg.wire_len(0, 0);
        }
        cx.send(answer, len, self.cfg.class);
    }

    /// Updates SND.WND, SND.WL1 and SND.WL2 (RFC 9293 section 3.10.7.4). WL2 is not stored: a segment that comes here acknowledges as much
    /// as any before.
    #[inline]
    pub(crate) fn update_window(&mut self, seg: &Segment) {
        if seg.wnd == u32::MAX {
            self.edge = u64::MAX;
        } else {
            self.update_limited_window(seg);
        }
    }

    /// Updates the send window by an acknowledgment of new data or by the next data. With no older sequence number and no wider window it
    /// moves the edge, whatever `old_segments` is.
    #[inline(always)]
    pub(crate) fn update_window_fast(&mut self, seg: &Segment, from: u64) {
        if from >= self.window_seq && seg.wnd <= self.max_window {
            self.edge = seg.ack + u64::from(seg.wnd);
            self.window_seq = seg.seq;
        } else {
            self.update_window(seg);
        }
    }

    #[inline(never)]
    fn update_limited_window(&mut self, seg: &Segment) {
        if self.edge == u64::MAX || self.window_is_newer(seg) {
            self.edge = self.una.max(seg.ack) + u64::from(seg.wnd);
            self.window_seq = seg.seq;
            self.max_window = self.max_window.max(seg.wnd);
        } else if self.edge != u64::MAX {
            // SND.WND is counted from SND.UNA.
            self.edge += seg.ack.saturating_sub(self.una);
        }
    }

    /// True if the window of a segment is the latest.
    #[inline]
    fn window_is_newer(&self, seg: &Segment) -> bool {
        if self.cfg.old_segments == OldSegments::Linux {
            // `tcp_may_update_window`: a sender does not shrink its window, so the wider of two is the later one.
            let wider = seg.wnd == 0 || self.una + u64::from(seg.wnd) > self.edge;
            seg.ack > self.una || seg.seq > self.window_seq || (seg.seq == self.window_seq && wider)
        } else {
            seg.seq >= self.window_seq
        }
    }

    /// Largest window of the peer (MAX.SND.WND of RFC 5961 section 5.2, Max(SND.WND) of RFC 9293 section 3.8.6.2.1).
    pub(crate) fn max_peer_window(&self) -> u64 {
        if self.edge == u64::MAX { u64::MAX } else { u64::from(self.max_window).max(self.edge.saturating_sub(self.una)) }
    }
}
