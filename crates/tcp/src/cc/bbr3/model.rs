//! Model of the path (draft-ietf-ccwg-bbr-06 section 5.5): rounds, rate, volume, aggregation, losses and marks.

use super::{AckSample, Bbr3, INFINITE, LostSample, RateSample, State, Undo};
use fairlane_units::Rate;

/// Growth that shows a pipe that is not full yet (section 5.3.1.2).
const FULL_GROWTH: f64 = 1.25;
/// Rounds without that growth that show a full pipe (section 5.3.1.2).
const FULL_ROUNDS: u32 = 3;
/// Losses in a round of recovery that end Startup (BBRStartupFullLossCnt, section 5.3.1.3).
const FULL_LOSSES: u32 = 6;
/// Rounds for which an extreme aggregation is remembered, at least, once the pipe was full; at most twice as many (Linux
/// `bbr_extra_acked_win_rtts`; ExtraAckedFilterLen of section 5.5.9 is 10).
const AGGREGATION_ROUNDS: u32 = 5;
/// Weight of a round's mark ratio in the average (Linux `bbr_ecn_alpha_gain`).
const MARK_GAIN: f64 = 1.0 / 16.0;
/// Rounds of many marks that end Startup (Linux `bbr_full_ecn_cnt`).
const FULL_MARKS: u32 = 2;

/// CE marks.
#[derive(Clone, Debug)]
pub(super) struct Marks {
    heard: bool,
    /// Average share of marked data (alpha of RFC 8257 section 3.3).
    alpha: f64,
    in_round: bool,
    delivered: u64,
    marked: u64,
    rounds: u32,
}

impl Default for Marks {
    fn default() -> Self {
        // At the start marks count in full (Linux `bbr_ecn_alpha_init`).
        Self { heard: false, alpha: 1.0, in_round: false, delivered: 0, marked: 0, rounds: 0 }
    }
}

fn scaled(v: u64, by: f64) -> u64 {
    if v == INFINITE { INFINITE } else { (v as f64 * by) as u64 }
}

impl Bbr3 {
    pub(super) fn max_bandwidth(&self) -> u64 {
        self.max_bw[0].max(self.max_bw[1])
    }

    /// BoundBWForModel (section 5.5.10.3).
    pub(super) fn bandwidth(&self) -> u64 {
        self.max_bandwidth().min(self.bw_short)
    }

    /// Updates the model (section 5.2.3).
    pub(super) fn update_model(&mut self, s: &AckSample, r: &RateSample) {
        if r.newly_delivered != 0 {
            self.delivered = r.prior_delivered + r.delivered;
        }
        if self.repairing && !s.in_recovery {
            self.repairing = false;
            self.restore_window();
        }
        self.round_start = false;
        self.loss_round_start = false;
        if r.rate.as_bps() != 0 {
            self.update_round(r);
            self.update_marks(s);
            self.update_latest(r);
            self.update_congestion(r);
            self.update_aggregation(r);
            self.check_full(r);
            self.check_startup_loss(s, r);
        }
        self.check_startup_done();
        self.check_drain(s);
        self.update_cycle(s, r);
        self.update_min_rtt(s);
        self.check_probe_rtt(s, r);
    }

    /// Updates the round (section 5.5.1).
    fn update_round(&mut self, r: &RateSample) {
        if r.prior_delivered >= self.next_round {
            self.start_round();
            self.rounds += 1;
            self.rounds_since_probe += 1;
            self.round_start = true;
        }
    }

    pub(super) fn start_round(&mut self) {
        self.next_round = self.delivered;
    }

    /// UpdateLatestDeliverySignals (section 5.5.10.3).
    fn update_latest(&mut self, r: &RateSample) {
        self.bw_latest = self.bw_latest.max(r.rate.as_bps());
        self.inflight_latest = self.inflight_latest.max(r.delivered);
        if r.prior_delivered >= self.next_loss_round {
            self.next_loss_round = self.delivered;
            self.loss_round_start = true;
        }
    }

    /// AdvanceLatestDeliverySignals (section 5.5.10.3).
    pub(super) fn advance_latest(&mut self, r: &RateSample) {
        if self.loss_round_start {
            self.bw_latest = r.rate.as_bps();
            self.inflight_latest = r.delivered;
        }
    }

    /// UpdateMaxBw and UpdateCongestionSignals (sections 5.5.5 and 5.5.10.3).
    fn update_congestion(&mut self, r: &RateSample) {
        let rate = r.rate.as_bps();
        if !r.app_limited || rate >= self.max_bandwidth() {
            self.max_bw[1] = self.max_bw[1].max(rate);
        }
        if self.loss_round_start {
            self.adapt_lower_bounds();
            self.loss_in_round = false;
            self.marks.in_round = false;
        }
    }

    /// AdvanceMaxBwFilter (section 5.5.6); a cycle without a sample does not count.
    pub(super) fn advance_max_bandwidth(&mut self) {
        if self.max_bw[1] != 0 {
            self.max_bw = [self.max_bw[1], 0];
        }
    }

    /// AdaptLowerBoundsFromCongestion (section 5.5.10.3); marks as in Linux `bbr_adapt_lower_bounds`.
    fn adapt_lower_bounds(&mut self) {
        if matches!(self.state, State::Startup | State::Refill | State::Up) {
            return;
        }
        let mut by_marks = INFINITE;
        if self.marks.in_round || self.loss_in_round {
            if self.inflight_short == INFINITE {
                self.inflight_short = self.cwnd;
            }
            if self.marks.in_round {
                by_marks = scaled(self.inflight_short, 1.0 - self.marks.alpha * self.p.ecn_factor);
            }
        }
        if self.loss_in_round {
            if self.bw_short == INFINITE {
                self.bw_short = self.max_bandwidth();
            }
            self.bw_short = self.bw_latest.max(scaled(self.bw_short, self.p.beta)).max(1);
            self.inflight_short = self.inflight_latest.max(scaled(self.inflight_short, self.p.beta));
        }
        self.inflight_short = self.inflight_short.min(by_marks);
    }

    /// ResetShortTermModel (section 5.5.10.3).
    pub(super) fn reset_short_term(&mut self) {
        (self.bw_short, self.inflight_short) = (INFINITE, INFINITE);
    }

    /// ResetCongestionSignals (section 5.5.10.3).
    pub(super) fn reset_congestion(&mut self) {
        self.loss_in_round = false;
        self.marks.in_round = false;
        self.bw_latest = 0;
        self.inflight_latest = 0;
    }

    /// Updates the aggregation (section 5.5.9).
    fn update_aggregation(&mut self, r: &RateSample) {
        let bandwidth = Rate::from_bps(self.bandwidth());
        if self.round_start {
            self.aggregation.round(if self.full { AGGREGATION_ROUNDS } else { 1 });
        }
        self.aggregation.delivered(self.now, bandwidth, r.newly_delivered, u64::MAX, self.cwnd);
    }

    pub(super) fn aggregation_room(&self) -> u64 {
        self.aggregation.room(Rate::from_bps(self.bandwidth()), 1.0)
    }

    /// CheckFullBWReached (section 5.3.1.2).
    fn check_full(&mut self, r: &RateSample) {
        if self.full_now || !self.round_start || r.app_limited {
            return;
        }
        if r.rate.as_bps() as f64 >= self.full_bw as f64 * FULL_GROWTH {
            self.restart_full(r);
            return;
        }
        self.full_rounds += 1;
        self.full_now = self.full_rounds >= FULL_ROUNDS;
        self.full |= self.full_now;
    }

    /// ResetFullBW (section 5.3.1.2), with the sample as the new base.
    pub(super) fn restart_full(&mut self, r: &RateSample) {
        self.full_bw = r.rate.as_bps();
        self.full_rounds = 0;
        self.full_now = false;
    }

    /// CheckStartupHighLoss (section 5.3.1.3).
    fn check_startup_loss(&mut self, s: &AckSample, r: &RateSample) {
        if self.full {
            return;
        }
        self.loss_events += u32::from(r.newly_lost != 0);
        let many = if self.selective { self.loss_events >= FULL_LOSSES } else { self.loss_events != 0 };
        if self.loss_round_start {
            if s.in_recovery && many && self.loss_too_high(r.lost, r.tx_in_flight) {
                self.undo.state = Some(State::Startup);
                self.pipe_is_full();
            }
            self.loss_events = 0;
        }
    }

    fn pipe_is_full(&mut self) {
        self.full = true;
        self.inflight_long = self.inflight(self.max_bandwidth(), 1.0).max(self.inflight_latest);
    }

    /// Updates the average share of marked data once per round (Linux `bbr_update_ecn_alpha`).
    fn update_marks(&mut self, s: &AckSample) {
        if !self.exact_marks {
            return;
        }
        self.marks.heard |= self.p.ecn_max_rtt.is_none_or(|most| self.min_rtt <= most);
        self.marks.marked += s.ce_bytes;
        self.marks.in_round |= self.marks.heard && s.ce_bytes != 0;
        if !self.round_start || self.delivered == self.marks.delivered {
            return;
        }
        let share = self.marks.marked as f64 / (self.delivered - self.marks.delivered) as f64;
        let m = &mut self.marks;
        m.alpha = ((1.0 - MARK_GAIN) * m.alpha + MARK_GAIN * share).min(1.0);
        (m.delivered, m.marked) = (self.delivered, 0);
        if self.full || !m.heard {
            return;
        }
        m.rounds = if share >= self.p.ecn_threshold { m.rounds + 1 } else { 0 };
        if m.rounds >= FULL_MARKS {
            self.pipe_is_full();
        }
    }

    pub(super) fn marks_too_high(&self, r: &RateSample) -> bool {
        self.marks.heard && r.delivered_ce as f64 > r.delivered as f64 * self.p.ecn_threshold
    }

    /// IsInflightTooHigh (section 5.5.10.2).
    pub(super) fn loss_too_high(&self, lost: u64, tx_in_flight: u64) -> bool {
        lost as f64 > tx_in_flight as f64 * self.p.loss_threshold || (lost > 0 && !self.selective)
    }

    /// NoteLoss and HandleLostPacket (section 5.5.10.2).
    pub(super) fn handle_lost(&mut self, l: &LostSample) {
        self.now = l.now;
        if !self.loss_in_round {
            self.next_loss_round = self.delivered;
            self.save_upon_loss();
        }
        self.loss_in_round = true;
        if !self.probe_sample || !self.loss_too_high(l.lost, l.tx_in_flight) {
            return;
        }
        // InflightAtLoss: the part of the segment at which the losses became too many.
        let (before, lost) = (l.tx_in_flight.saturating_sub(l.bytes) as f64, l.lost.saturating_sub(l.bytes) as f64);
        let prefix = (self.p.loss_threshold * before - lost) / (1.0 - self.p.loss_threshold);
        self.handle_too_high((before + prefix.max(0.0)) as u64, l.app_limited);
    }

    /// SaveStateUponLoss and SaveCwnd (sections 5.5.11.1 and 5.6.4.4).
    pub(super) fn save_upon_loss(&mut self) {
        self.save_window();
        self.undo = Undo { state: None, bw_short: self.bw_short, inflight_short: self.inflight_short, inflight_long: self.inflight_long };
    }

    /// HandleSpuriousLossDetection (section 5.5.11.2).
    pub(super) fn handle_spurious(&mut self) {
        self.restore_window();
        self.loss_in_round = false;
        (self.full_bw, self.full_rounds, self.full_now) = (0, 0, false);
        self.bw_short = self.bw_short.max(self.undo.bw_short);
        self.inflight_short = self.inflight_short.max(self.undo.inflight_short);
        self.inflight_long = self.inflight_long.max(self.undo.inflight_long);
        match self.undo.state.take() {
            Some(State::Startup) if self.state != State::Startup => {
                self.full = false;
                if self.state != State::ProbeRtt {
                    self.state = State::Startup;
                }
            }
            Some(State::Up) if self.state != State::Up && self.state != State::ProbeRtt => self.start_refill(),
            _ => {}
        }
    }
}
