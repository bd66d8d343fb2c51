//! The sending half: acknowledgments in, segments out.

use crate::cc::{AckSample, CongestionControl, CongestionEvent, CongestionKind, RateSample, SampleSource};
use crate::choices::{ExitWindow, LossBasis, Scheme};
use crate::config::TcpConfig;
use crate::ecn::OwnEcn;
use crate::endpoint::{FIRST, Phase, Tcp};
use crate::pacing::Pacer;
use crate::rate::RateSampler;
use crate::rtt::RttEstimator;
use crate::scoreboard::{KARN, Scoreboard};
use fairlane_net::{Cx, Segment, TimerId, flag};
use fairlane_units::{Dur, Time};

/// What ns-3 takes no ticks at all for.
const LEAST_TICKS: Dur = Dur::from_us(1);

/// An acknowledgment on its way to the algorithm.
struct Ack<'a> {
    now: Time,
    acked: u64,
    sacked: u64,
    rtt: Option<Dur>,
    una: u64,
    nxt: u64,
    fin_sent: bool,
    round: u64,
    cwnd_limited: bool,
    phase: Phase,
    may_grow: bool,
    ecn: &'a OwnEcn,
    sampler: &'a Option<Box<RateSampler>>,
    rate: Option<RateSample>,
    pacer: &'a Pacer,
    board: &'a Scoreboard,
    estimator: &'a RttEstimator,
    cfg: &'a TcpConfig,
}

impl SampleSource for Ack<'_> {
    #[inline(always)]
    fn brief(&self) -> AckSample {
        AckSample { acked: self.acked, cwnd_limited: self.cwnd_limited, in_recovery: self.phase != Phase::Open, ..AckSample::default() }
    }

    #[inline(always)]
    fn sample(&self) -> AckSample {
        let (srtt, smoothed) = (self.estimator.srtt(self.cfg), self.cfg.rtt_smoothed);
        AckSample {
            now: self.now,
            acked: self.acked,
            sacked: self.sacked,
            in_flight: if self.cfg.sack { self.board.pipe() } else { self.board.flight() },
            delivered: self.una - u64::from(self.fin_sent && self.una == self.nxt) - FIRST + self.board.sacked(),
            rtt: if smoothed { (srtt != Dur::ZERO).then_some(srtt) } else { self.rtt },
            srtt,
            min_rtt: self.estimator.min(),
            one_way: self.estimator.one_way(),
            rate: self.rate,
            lost: self.sampler.as_ref().map_or(0, |r| r.lost),
            round: self.round,
            cwnd_limited: self.cwnd_limited,
            paced_ahead: self.pacer.ahead(self.now),
            app_limited: !self.cwnd_limited,
            ce_bytes: self.ecn.newly_ce,
            reordering: false,
            in_recovery: self.phase != Phase::Open,
            may_grow: self.may_grow && (self.phase != Phase::Recovery || self.cfg.fack_restart) && !self.ecn.hold,
        }
    }
}

impl<C: CongestionControl> Tcp<C> {
    /// Processes the acknowledgment field (RFC 9293 section 3.10.7.4) and its options.
    pub(crate) fn on_ack(&mut self, seg: &Segment, cx: &mut Cx<'_>) {
        if seg.ack == self.una && seg.payload != 0 && seg.sack_len() == 0 {
            // Data that acknowledges nothing new.
            self.take_window(seg);
            if self.new_len() != 0 {
                self.transmit(self.cfg.max_burst, cx);
            }
            return;
        }
        if seg.ack < self.una {
            if seg.sack_len() > 0 && self.cfg.sack {
                if self.cfg.rack {
                    self.take_late_sack(seg, cx);
                } else {
                    self.take_dsack(seg);
                }
                if self.more.doubt.is_some() && self.judge_dsack() {
                    self.transmit(self.cfg.max_burst, cx);
                }
            }
            return;
        }
        let edge = self.edge;
        self.take_window(seg);
        self.begin_ack();
        let (sacked, fresh) = if self.cfg.sack && seg.sack_len() > 0 { self.take_sack_and_fin(seg) } else { (0, 0) };
        let acked = self.data_between(self.una, seg.ack);
        if self.ecn_on() {
            self.ecn_take_ack(seg, acked + fresh, cx);
        }
        let taken_back = self.more.doubt.is_some() && self.judge_dsack();
        self.untold = self.hears_all && (acked != 0 || fresh != 0);
        if let Some(tx) = self.tx.own() {
            (tx.fresh_acked, tx.fresh_sacked) = (acked, fresh);
        }
        if seg.ack > self.una {
            self.on_new_ack(seg, sacked, cx);
        } else if (seg.payload == 0 && !seg.has(flag::FIN)) || (sacked != 0 && self.cfg.scheme == Scheme::Sack) {
            if self.more.rack.is_some() {
                self.rack_on_ack(seg, cx);
            }
            // RFC 5681 section 2: a duplicate acknowledges nothing, carries nothing and does not move the window. One that SACKs something new may (RFC 6675 section 2).
            if !self.tx.board.is_empty() && (edge == self.edge || (sacked != 0 && self.cfg.scheme == Scheme::Sack)) && !taken_back {
                self.on_dupack(sacked, cx);
            } else {
                self.transmit(self.cfg.max_burst, cx);
            }
        }
        if self.untold {
            self.tell(cx);
        }
    }

    /// Notes how things stand before an acknowledgment.
    fn begin_ack(&mut self) {
        self.open_diary();
        if let Some(rack) = self.more.part(|m| m.rack.as_mut()) {
            rack.fresh_again = 0;
        }
        // Without SACK each duplicate stands for a segment that arrived (Linux `tcp_add_reno_sack`).
        let stand_ins = if self.cfg.sack { 0 } else { u64::from(self.dupacks) * u64::from(self.cfg.smss) };
        let delivered = self.delivered();
        // An end that never sent has these at rest, and no state for them.
        if let Some(tx) = self.tx.own() {
            (tx.una_before, tx.delivered_before, tx.marked_before) = (self.una, delivered + stand_ins, tx.board.marked);
        }
    }

    /// An acknowledgment that was overtaken by a later one: what its SACK blocks say is news all the same.
    #[cold]
    fn take_late_sack(&mut self, seg: &Segment, cx: &mut Cx<'_>) {
        self.begin_ack();
        let (sacked, fresh) = self.take_sack_and_fin(seg);
        self.untold = self.hears_all && fresh != 0;
        (self.tx.fresh_acked, self.tx.fresh_sacked) = (0, fresh);
        self.rack_on_ack(seg, cx);
        if sacked != 0 {
            self.on_dupack(sacked, cx);
        }
        if self.untold {
            self.tell(cx);
        }
    }

    /// An algorithm that hears of every acknowledgment hears of the one at hand: once losses are found, before anything goes out.
    #[cold]
    pub(crate) fn tell(&mut self, cx: &mut Cx<'_>) {
        self.untold = false;
        let rate = self.take_rate(cx);
        let (acked, sacked) = (self.counted(self.tx.fresh_acked), self.tx.fresh_sacked);
        let may_grow = !self.reducing();
        self.hand_on(acked, sacked, rate, may_grow, cx);
        if self.rate.is_some() && self.cc.holds_back() {
            self.rate_app_limited();
        }
    }

    fn on_new_ack(&mut self, seg: &Segment, sacked: u64, cx: &mut Cx<'_>) {
        let acked = self.data_between(self.una, seg.ack);
        self.una = seg.ack;
        self.silent = false;
        self.tx.limited_bytes = 0;
        self.tx.board.note_acked(seg.ack);
        let oldest = if self.cfg.times_oldest { self.tx.board.oldest_fresh(seg.ack) } else { None };
        if self.cfg.ns3 {
            self.ns3_note_repaired(seg.ack);
        }
        let timed = self.tx.board.pop(seg.ack, self.cfg.vegas_times_waiting);
        self.measure(seg, timed, oldest, cx);
        if self.more.cwv.is_some() {
            self.cwv_on_ack(cx.now);
        }
        if self.cfg.backoff_ends_with_ack {
            self.rtt.end_backoff(&self.cfg);
        }
        if seg.ack >= self.tx.round_end {
            self.tx.round += 1;
            self.tx.round_end = self.nxt;
        }
        if self.more.rack.is_some() {
            self.rack_on_ack(seg, cx);
        }
        if self.more.doubt.is_some() && self.judge_new_ack(seg, acked, sacked, cx) {
            return self.check_finished(cx);
        }
        match self.phase {
            _ if self.cfg.ns3 => self.ns3_ack(acked, sacked, cx),
            Phase::Open if self.rack_found() => self.enter_sack(cx),
            Phase::Loss if self.rack_found_again() => self.enter_sack(cx),
            Phase::Open | Phase::Loss if self.cfg.fack_only_enters && seg.sack_len() != 0 => self.fack_gap(acked, cx),
            Phase::Open => {
                self.dupacks = 0;
                if self.cfg.progress_forgets_sack && self.tx.board.has_sacked() {
                    self.tx.board.clear_marks(true);
                }
                if !self.cwr_goes_on(cx) {
                    self.grow(acked, sacked, cx);
                }
                self.restart_timer(cx);
                self.transmit(self.cfg.max_burst, cx);
            }
            Phase::Recovery => self.on_recovery_ack(acked, sacked, cx),
            Phase::Loss if self.cfg.vegas_inflates_cwnd => self.on_recovery_ack(acked, sacked, cx),
            Phase::Loss => {
                self.dupacks = 0;
                if self.cfg.timeout_distrusts_sack {
                    self.tx.board.unhear();
                }
                // The window grows from one segment as at the start (RFC 5681 section 3.1).
                self.grow(acked, sacked, cx);
                if self.una >= self.tx.recover {
                    self.phase = Phase::Open;
                    self.tx.inflation = 0;
                    self.rack_recovered();
                }
                self.restart_timer(cx);
                if self.phase == Phase::Open && self.rack_found() {
                    self.enter_sack(cx);
                } else {
                    self.transmit(self.cfg.max_burst, cx);
                }
            }
        }
        if self.more.rack.is_some() {
            self.tlp_schedule(cx);
        }
        self.check_finished(cx);
    }

    /// Round-trip time of what is acknowledged (RFC 6298 sections 3 and 4): that of the newest segment tells of the path. SRTT may have to hold what an
    /// acknowledgment was held back, too; then it is that of the oldest.
    fn measure(&mut self, seg: &Segment, timed: Option<Time>, oldest: Option<Time>, cx: &mut Cx<'_>) {
        if let Some(sent) = timed {
            cx.rtt = Some(cx.now.since(sent));
            if self.cfg.rtt_every && !self.cfg.timestamps {
                self.rtt.sample(oldest.unwrap_or(sent), cx.now, &self.cfg);
                self.rtt.note_least(cx.now.since(sent));
            }
        }
        if !self.cfg.rtt_every {
            if self.timing && seg.ack >= self.tx.timed_end {
                self.timing = false;
                if !self.cfg.timestamps {
                    self.rtt.sample(self.timed_at, cx.now, &self.cfg);
                }
            }
            if self.cfg.vegas_send_table {
                self.forget_acked();
            }
        }
        if let Some((value, echo)) = seg.timestamps()
            && self.cfg.timestamps
        {
            self.rtt.note_one_way(self.cfg.timestamp_tick * u64::from(value.wrapping_sub(echo)));
            // RFC 7323 section 4.1: also of segments that were retransmitted.
            // Where the segment itself can be timed that is exact; the echo counts in ticks of the timestamp clock.
            match timed {
                _ if self.cfg.rtt_in_ticks => self.measure_in_ticks(timed.is_some(), echo, cx.now),
                Some(sent) => {
                    self.rtt.sample(oldest.unwrap_or(sent), cx.now, &self.cfg);
                    self.rtt.note_least(cx.now.since(sent));
                }
                None => {
                    let ticks = self.timestamp(cx.now).wrapping_sub(echo);
                    self.rtt.sample_span(self.cfg.timestamp_tick * u64::from(ticks), &self.cfg);
                }
            }
        }
    }

    /// SYN and SYN-ACK took a round trip (RFC 6298 section 3).
    #[cold]
    pub(crate) fn measure_handshake(&mut self, now: Time) {
        if self.cfg.rtt_in_ticks {
            return self.measure_in_ticks(true, self.timestamp(self.timed_at), now);
        }
        self.rtt.sample(self.timed_at, now, &self.cfg);
    }

    /// The echo tells the round-trip time of what was sent once; none is nothing at all.
    #[cold]
    fn measure_in_ticks(&mut self, once: bool, echo: u32, now: Time) {
        if once {
            let ticks = self.cfg.timestamp_tick * u64::from(self.timestamp(now).wrapping_sub(echo));
            let ticks = ticks.max(LEAST_TICKS);
            if self.cfg.rtt_smoothed { self.rtt.sample_smoothed(ticks, &self.cfg) } else { self.rtt.sample_span(ticks, &self.cfg) }
        }
    }

    /// What an acknowledgment that covers `acked` counts for in growing the window.
    fn counted(&mut self, acked: u64) -> u64 {
        if self.cfg.cwnd_limited_by_round {
            // Twice what was in flight: the window may reach it in slow start.
            let reach = 2 * u64::from(self.most_out) * u64::from(self.cfg.smss);
            self.cwnd_limited |= self.cc.cwnd() < self.cc.ssthresh().min(reach);
        }
        if let Some(c) = &self.more.cwv {
            // RFC 7661 section 4.3: what is validated grows whoever limits the sender.
            self.cwnd_limited |= c.validated();
        }
        if self.cfg.grow_by_delivered { self.newly_delivered() } else { acked }
    }

    /// Lets the window grow.
    pub(crate) fn grow(&mut self, acked: u64, sacked: u64, cx: &Cx<'_>) {
        let sacked = sacked.min(self.tx.fresh_sacked);
        if !self.hears_all && !self.ecn.hold && (acked != 0 || sacked != 0) {
            let acked = self.counted(acked);
            self.hand_on(acked, sacked, None, true, cx);
        }
    }

    /// Tells the algorithm of an acknowledgment; it may grow the window if this and the phase say so.
    #[inline(always)]
    pub(crate) fn hand_on(&mut self, acked: u64, sacked: u64, rate: Option<RateSample>, may_grow: bool, cx: &Cx<'_>) {
        let tx = &*self.tx;
        let (una, nxt, fin_sent, round) = (self.una, self.nxt, self.fin_sent, tx.round);
        let (cwnd_limited, phase) = (self.cwnd_limited, self.phase);
        let (now, rtt) = (cx.now, cx.rtt);
        self.cc.on_ack_with(&Ack {
            now,
            acked,
            sacked,
            rtt,
            una,
            nxt,
            fin_sent,
            round,
            cwnd_limited,
            phase,
            may_grow,
            ecn: &self.ecn,
            sampler: &self.rate,
            rate,
            pacer: &self.more.pacer,
            board: &tx.board,
            estimator: &self.rtt,
            cfg: &self.cfg,
        });
    }

    /// RFC 6298 sections 5.2 and 5.3.
    #[inline(always)]
    pub(crate) fn restart_timer(&mut self, cx: &mut Cx<'_>) {
        if self.tx.board.is_empty() {
            cx.timers.cancel(TimerId::Rto);
        } else {
            cx.timers.set(TimerId::Rto, cx.now + self.rtt.rto());
        }
    }

    /// Tells the algorithm of a loss event; the flight is what RFC 5681 equation 4 halves.
    pub(crate) fn congestion(&mut self, kind: CongestionKind, cx: &Cx<'_>) {
        if self.ecn_on() && !self.cfg.ns3 {
            if self.ecn_answered(kind) {
                return;
            }
            self.ecn_cut();
        }
        if self.more.doubt.is_some() {
            self.begin_doubt(kind);
        }
        let flight = match self.cfg.loss_basis {
            LossBasis::Pipe => self.tx.board.pipe(),
            _ => self.tx.board.outstanding().saturating_sub(self.tx.limited_bytes),
        };
        self.congestion_among(kind, flight, cx);
    }

    /// The same where `flight` was in flight.
    pub(crate) fn congestion_among(&mut self, kind: CongestionKind, flight: u64, cx: &Cx<'_>) {
        self.tx.count.cwnd_cuts += 1;
        let used = if self.more.cwv.is_some() { self.cwv_used(kind, flight, cx.now) } else { None };
        if let (Some(clock), Some(first)) = (self.cc.fine_clock(), self.tx.board.first()) {
            let hole = self.tx.board.at(first);
            clock.on_hole(hole.at, hole.is(KARN));
        }
        self.cc.on_congestion(&CongestionEvent { kind, now: cx.now, flight });
        if let Some(used) = used {
            self.cwv_cut(kind, used, cx.now);
        }
    }

    /// RFC 6298 sections 5.4 to 5.6, RFC 5681 section 3.1.
    pub(crate) fn on_timeout(&mut self, cx: &mut Cx<'_>) {
        if self.tx.board.is_empty() {
            if !(self.halted && self.cfg.vegas_inflates_cwnd) {
                self.probe_window(cx);
                return;
            }
            // It was the window that let nothing out, not the application.
            self.tx.last_sent = cx.now;
        }
        if self.more.rack.is_some() && self.tlp_instead(cx) {
            return;
        }
        self.tx.count.timeouts += 1;
        if self.tx.deflated > 0 && self.cfg.exit_window == ExitWindow::Keep {
            // The window is what partial acknowledgments left of it.
            self.leave_recovery(cx);
        }
        self.congestion(CongestionKind::Timeout { first: self.rtt.backoffs() == 0 }, cx);
        self.end_prr();
        self.begin_frto(self.phase);
        self.silent = true;
        self.halted = false;
        if self.cfg.ns3 {
            self.ns3_timeout();
        }
        if !self.cfg.fack_until_no_sack || self.phase != Phase::Recovery {
            self.phase = Phase::Loss;
            self.tx.recover = self.nxt;
        }
        if self.cfg.scheme != Scheme::Tahoe {
            // In Tahoe late duplicates do not count from one again.
            self.dupacks = 0;
        }
        self.tx.inflation = 0;
        self.tx.deflated = 0;
        self.tx.limited_bytes = 0;
        self.timing = false;
        self.rtt.back_off(self.cfg.forget_rtt_after, &self.cfg);
        self.open_diary();
        if self.cfg.rack {
            self.rack_timeout(cx);
            // One segment besides what is still on its way (Linux), and the first one whatever else is.
            self.tx.inflation = self.tx.board.pipe();
        } else if self.cfg.scheme == Scheme::Timeout {
            let board = &mut self.tx.board;
            board.lose(board.head);
        } else {
            self.tx.board.all_lost(self.cfg.timeout_forgets_sack || !self.cfg.sack);
        }
        self.rate_lost(cx);
        self.restart_timer(cx);
        self.transmit(self.cfg.max_burst, cx);
    }

    /// RFC 9293 section 3.8.6.1: against a closed window one byte, or an acknowledgment that asks for another (RFC 9293 section 3.10.7.4). Against one
    /// that is too small for its own sake, what it takes (section 3.8.6.2.1 (4): the timeout overrides).
    fn probe_window(&mut self, cx: &mut Cx<'_>) {
        let room = self.edge.saturating_sub(self.nxt);
        if room != 0 && room < u64::from(self.new_len()) {
            self.send_new(room as u32, cx);
        } else if self.new_len() != 0 {
            self.rtt.back_off(u32::MAX, &self.cfg);
            if self.cfg.empty_window_probes {
                self.send_empty_probe(cx);
                cx.timers.set(TimerId::Rto, cx.now + self.rtt.rto());
            } else {
                self.send_new(1, cx);
            }
        }
    }

    /// Bytes in flight as the scheme counts them.
    #[inline]
    pub(crate) fn in_flight(&self) -> u64 {
        match self.phase {
            Phase::Open if !(self.cfg.rack || self.reducing() || self.cfg.ns3) => self.tx.board.flight(),
            _ if !self.cfg.sack => self.tx.board.flight(),
            Phase::Recovery if self.cfg.counted_pipe => self.tx.pipe,
            _ => self.tx.board.pipe(),
        }
    }

    /// Congestion window with what recovery adds and takes.
    #[inline]
    pub(crate) fn window(&self) -> u64 {
        if let Some(window) = self.reduced_window() {
            return window;
        }
        self.cc.cwnd().saturating_sub(self.tx.deflated).max(u64::from(self.cfg.smss)) + self.tx.inflation
    }

    /// Reports the end of the flow once all it wrote is acknowledged.
    #[inline]
    pub(crate) fn check_finished(&mut self, cx: &mut Cx<'_>) {
        if self.report && self.una >= self.data_end {
            self.report = false;
            cx.finished = true;
        }
    }
}
