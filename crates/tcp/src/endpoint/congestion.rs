//! Calls of the congestion control algorithm, and the window in force.

use crate::cc::{AckSample, CongestionControl, CongestionEvent, CongestionKind, RateSample, SampleSource};
use crate::choices::LossBasis;
use crate::config::TcpConfig;
use crate::ecn::LazyEcn;
use crate::endpoint::Tcp;
use crate::pacer::Pacer;
use crate::rate::RateSampler;
use crate::rtt::RttEstimator;
use crate::scoreboard::Scoreboard;
use crate::sent::KARN;
use crate::state::{FIRST, Phase};
use fairlane_net::Cx;
use fairlane_units::{Dur, Time};

/// An acknowledgment for the algorithm.
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
    ecn: &'a LazyEcn,
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
            in_recovery: self.phase != Phase::Open,
            may_grow: self.may_grow && (self.phase != Phase::Recovery || self.cfg.fack_restart) && !self.ecn.hold,
        }
    }
}

impl<C: CongestionControl> Tcp<C> {
    /// Passes the current acknowledgment to an algorithm that takes every one: after losses are detected, before data is sent.
    #[cold]
    pub(crate) fn pass_ack_to_cc(&mut self, cx: &mut Cx<'_>) {
        self.cc_ack_pending = false;
        let rate = self.take_rate(cx);
        let (acked, sacked) = (self.growth_bytes(self.tx.newly_acked), self.tx.newly_sacked);
        let may_grow = !self.reducing();
        self.call_on_ack(acked, sacked, rate, may_grow, cx);
        if self.rate.is_some() && self.cc.holds_back() {
            self.rate_app_limited();
        }
    }

    /// Bytes that an acknowledgment of `acked` counts for in growing the window.
    fn growth_bytes(&mut self, acked: u64) -> u64 {
        if self.cfg.cwnd_limited_by_round {
            // Twice the data in flight: the window may reach it in slow start.
            let reach = 2 * u64::from(self.tx.usage.max_packets_out) * u64::from(self.cfg.smss);
            self.cwnd_limited |= self.cc.cwnd() < self.cc.ssthresh().min(reach);
        }
        if let Some(c) = &self.ext.cwv {
            // RFC 7661 section 4.3: a validated window grows whatever limits the sender.
            self.cwnd_limited |= c.validated();
        }
        if self.cfg.grow_by_delivered { self.newly_delivered() } else { acked }
    }

    /// Grows the window for an acknowledgment.
    pub(crate) fn grow(&mut self, acked: u64, sacked: u64, cx: &Cx<'_>) {
        let sacked = sacked.min(self.tx.newly_sacked);
        if !self.features.cc_every_ack && !self.ecn.hold && (acked != 0 || sacked != 0) {
            let acked = self.growth_bytes(acked);
            self.call_on_ack(acked, sacked, None, true, cx);
        }
    }

    /// Calls the algorithm for an acknowledgment; the window may grow if `may_grow` and the phase allow it.
    #[inline(always)]
    pub(crate) fn call_on_ack(&mut self, acked: u64, sacked: u64, rate: Option<RateSample>, may_grow: bool, cx: &Cx<'_>) {
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
            pacer: &self.ext.pacer,
            board: &tx.board,
            estimator: &self.rtt,
            cfg: &self.cfg,
        });
    }

    /// Reports a loss event to the algorithm; the flight is the base of RFC 5681 equation 4.
    pub(crate) fn congestion(&mut self, kind: CongestionKind, cx: &Cx<'_>) {
        if self.ecn_on() && !self.cfg.ns3 {
            if self.ecn_answered(kind) {
                return;
            }
            self.ecn_cut();
        }
        if self.ext.undo.is_some() {
            self.begin_undo(kind);
        }
        let flight = match self.cfg.loss_basis {
            LossBasis::Pipe => self.tx.board.pipe(),
            _ => self.tx.board.outstanding().saturating_sub(self.tx.limited_bytes),
        };
        self.congestion_among(kind, flight, cx);
    }

    /// Reports a loss event with `flight` bytes in flight to the algorithm.
    pub(crate) fn congestion_among(&mut self, kind: CongestionKind, flight: u64, cx: &Cx<'_>) {
        self.tx.count.cwnd_cuts += 1;
        let used = if self.ext.cwv.is_some() { self.cwv_loss_flight(kind, flight, cx.now) } else { None };
        if let (Some(clock), Some(first)) = (self.cc.fine_clock(), self.tx.board.first()) {
            let hole = self.tx.board.at(first);
            clock.on_hole(hole.at, hole.is(KARN));
        }
        self.cc.on_congestion(&CongestionEvent { kind, now: cx.now, flight });
        if let Some(used) = used {
            self.cwv_cut(kind, used, cx.now);
        }
    }

    /// Bytes in flight, as the recovery scheme counts them.
    #[inline]
    pub(crate) fn in_flight(&self) -> u64 {
        match self.phase {
            Phase::Open if !(self.cfg.rack || self.reducing() || self.cfg.ns3) => self.tx.board.flight(),
            _ if !self.cfg.sack => self.tx.board.flight(),
            Phase::Recovery if self.cfg.counted_pipe => self.tx.pipe,
            _ => self.tx.board.pipe(),
        }
    }

    /// Congestion window with the inflation and deflation of recovery.
    #[inline]
    pub(crate) fn window(&self) -> u64 {
        if let Some(window) = self.prr_window() {
            return window;
        }
        self.cc.cwnd().saturating_sub(self.tx.deflated).max(u64::from(self.cfg.smss)) + self.tx.inflation
    }
}
