//! Model of the path: bandwidth, round-trip time, aggregation of acknowledgments, policers.

use super::{AckSample, Bbr, Mode, RateSample};
use fairlane_units::{Dur, Rate, Time};

/// Growth of the bandwidth that shows a pipe that is not full yet (BBRStartupFullBwThresh, draft-00 section 4.3.2.2).
const FULL_GROWTH: f64 = 1.25;
/// Rounds without that growth that show a full pipe (same section).
const FULL_ROUNDS: u32 = 3;
/// Rounds for which an extreme aggregation is remembered, at least; at most twice as many (Linux `bbr_extra_acked_win_rtts`).
const AGGREGATION_ROUNDS: u32 = 5;
/// Bytes in an epoch of aggregation after which a new one begins: 2^20 segments (Linux `bbr_ack_epoch_acked_reset_thresh`).
const AGGREGATION_SEGMENTS: u64 = 1 << 20;
/// Least rounds of an interval of long-term sampling; at most four times as many (Linux `bbr_lt_intvl_min_rtts`).
const POLICER_ROUNDS: u32 = 4;
/// Share of the data delivered that must be lost for an interval to look policed, in 256ths (Linux `bbr_lt_loss_thresh`: 50, about 20 %).
const POLICER_LOSS: u64 = 50;
/// Largest difference of the rates of two similar intervals: an eighth (Linux `bbr_lt_bw_ratio`) ...
const POLICER_RATIO: u64 = 8;
/// ... or by 4 kbit/s (Linux `bbr_lt_bw_diff`).
const POLICER_DIFFERENCE: u64 = 4000;
/// Rounds for which the policed rate is kept (Linux `bbr_lt_bw_max_rtts`).
const POLICER_KEEP: u32 = 48;
/// Shortest interval of a rate.
const POLICER_SHORTEST: Dur = Dur::from_ms(1);

/// Long-term sampling, which detects policers.
#[derive(Clone, Debug, Default)]
pub(super) struct Policer {
    sampling: bool,
    /// True if the estimate is the policed rate.
    pub(super) caught: bool,
    rounds: u32,
    rate: u64,
    since: Time,
    delivered: u64,
    lost: u64,
    /// Bytes deemed lost since the flow began.
    lost_now: u64,
}

impl Bbr {
    /// Bandwidth in force, in bits per second.
    pub(super) fn estimate(&self) -> u64 {
        if self.policer.caught { self.policer.rate } else { self.bandwidth.get() }
    }

    pub(super) fn update_model(&mut self, s: &AckSample, r: &RateSample) {
        self.policer.lost_now = s.lost;
        self.update_bandwidth(s, r);
        self.update_aggregation(r);
        self.update_phase(s, r);
        self.check_full(r);
        self.check_drain(s);
        self.update_min_rtt(s, r);
    }

    /// Updates the bandwidth (draft-00 sections 4.1.1.2 and 4.1.1.3).
    fn update_bandwidth(&mut self, s: &AckSample, r: &RateSample) {
        self.round_start = false;
        if r.newly_delivered != 0 {
            self.delivered = r.prior_delivered + r.delivered;
        }
        let rate = r.rate.as_bps();
        if rate == 0 {
            return;
        }
        if r.prior_delivered >= self.next_round {
            self.next_round = self.delivered;
            self.rounds += 1;
            self.round_start = true;
            self.conserving = false;
        }
        self.sample_policer(s.now, r.newly_lost != 0, r.app_limited);
        // A sample limited by the application counts only if it is above the estimate.
        if !r.app_limited || rate >= self.bandwidth.get() {
            self.bandwidth.update(self.rounds, rate);
        }
    }

    /// Updates the aggregation (Linux `bbr_update_ack_aggregation`).
    fn update_aggregation(&mut self, r: &RateSample) {
        if self.p.aggregation_gain == 0.0 || r.rate.as_bps() == 0 {
            return;
        }
        let bandwidth = Rate::from_bps(self.estimate());
        if self.round_start {
            self.aggregation.round(AGGREGATION_ROUNDS);
        }
        self.aggregation.delivered(self.now, bandwidth, r.newly_delivered, AGGREGATION_SEGMENTS * self.smss, self.cwnd);
    }

    /// Room for aggregation in the window.
    pub(super) fn aggregation_room(&self) -> u64 {
        if !self.full {
            return 0;
        }
        self.aggregation.room(Rate::from_bps(self.estimate()), self.p.aggregation_gain)
    }

    /// Checks if the pipe is full (draft-00 section 4.3.2.2).
    fn check_full(&mut self, r: &RateSample) {
        if self.full || !self.round_start || r.app_limited {
            return;
        }
        let now = self.bandwidth.get();
        if now as f64 >= self.full_bandwidth as f64 * FULL_GROWTH {
            self.full_bandwidth = now;
            self.full_rounds = 0;
            return;
        }
        self.full_rounds += 1;
        self.full = self.full_rounds >= FULL_ROUNDS;
    }

    /// Updates the minimum round-trip time (draft-00 sections 4.1.2.3 and 4.3.5).
    fn update_min_rtt(&mut self, s: &AckSample, r: &RateSample) {
        let expired = s.now.since(self.min_rtt_at) > self.p.min_rtt_window;
        let rtt = if self.p.smoothed_rtt && s.srtt != Dur::ZERO { Some(s.srtt) } else { s.rtt };
        if let Some(rtt) = rtt
            && (rtt <= self.min_rtt || expired)
        {
            self.min_rtt = rtt;
            self.min_rtt_at = s.now;
        }
        if expired && !self.idle && self.mode != Mode::ProbeRtt && self.p.probe_rtt_time != Dur::ZERO {
            self.save_window();
            self.mode = Mode::ProbeRtt;
            self.probe_rtt_done = None;
        }
        if self.mode == Mode::ProbeRtt {
            match self.probe_rtt_done {
                None if s.in_flight <= self.min_window => {
                    self.probe_rtt_done = Some(s.now + self.p.probe_rtt_time);
                    self.probe_rtt_round = false;
                    self.next_round = self.delivered;
                }
                None => {}
                Some(_) => {
                    self.probe_rtt_round |= self.round_start;
                    if self.probe_rtt_round {
                        self.check_probe_rtt_done();
                    }
                }
            }
        }
        if r.newly_delivered != 0 {
            self.idle = false;
        }
    }

    pub(super) fn reset_policer(&mut self) {
        self.policer.rate = 0;
        self.policer.caught = false;
        self.policer.sampling = false;
        self.reset_policer_interval(self.now);
    }

    fn reset_policer_interval(&mut self, now: Time) {
        let p = &mut self.policer;
        p.since = now;
        p.delivered = self.delivered;
        p.lost = p.lost_now;
        p.rounds = 0;
    }

    /// Detects a policer by long-term sampling (Linux `bbr_lt_bw_sampling`): two intervals in a row with many losses and the same rate.
    pub(super) fn sample_policer(&mut self, now: Time, losses: bool, app_limited: bool) {
        if !self.p.policer {
            return;
        }
        if self.policer.caught {
            if self.mode == Mode::ProbeBw && self.round_start {
                self.policer.rounds += 1;
                if self.policer.rounds >= POLICER_KEEP {
                    self.reset_policer();
                    self.enter_probe_bw();
                }
            }
            return;
        }
        if !self.policer.sampling {
            // The bucket is empty only when something is lost.
            if !losses {
                return;
            }
            self.reset_policer_interval(now);
            self.policer.sampling = true;
        }
        if app_limited {
            return self.reset_policer();
        }
        self.policer.rounds += u32::from(self.round_start);
        if self.policer.rounds < POLICER_ROUNDS {
            return;
        }
        if self.policer.rounds > 4 * POLICER_ROUNDS {
            return self.reset_policer();
        }
        if !losses {
            return;
        }
        let p = &self.policer;
        let (lost, delivered) = (p.lost_now - p.lost, self.delivered - p.delivered);
        let time = now.since(p.since);
        if delivered == 0 || lost * 256 < POLICER_LOSS * delivered || time < POLICER_SHORTEST {
            return;
        }
        self.policer_interval_done(crate::quantum::rate_of(delivered, time), now);
    }

    fn policer_interval_done(&mut self, rate: Rate, now: Time) {
        let (new, old) = (rate.as_bps(), self.policer.rate);
        let difference = new.abs_diff(old);
        if old != 0 && (difference <= old / POLICER_RATIO || difference <= POLICER_DIFFERENCE) {
            self.policer.rate = u64::midpoint(new, old);
            self.policer.caught = true;
            self.policer.rounds = 0;
            self.pacing_gain = 1.0;
            return;
        }
        self.policer.rate = new;
        self.reset_policer_interval(now);
    }
}
