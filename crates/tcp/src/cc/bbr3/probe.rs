//! ProbeBW (draft-ietf-ccwg-bbr-06 section 5.3.3): down, cruise, refill, up.

use super::{AckPhase, AckSample, Bbr3, INFINITE, RateSample, State};
use fairlane_units::Dur;

/// Least time between two probes (T_bbr of section 5.3.3.8.2) ...
const WAIT: Dur = Dur::from_secs(2);
/// Largest random addition to the wait.
const WAIT_MORE: Dur = Dur::from_secs(1);
/// Most rounds between two probes (T_reno of section 5.3.3.8.2), less 0 or 1 at random.
const WAIT_ROUNDS: u64 = 63;
/// Number of random values for the rounds taken away.
const WAIT_ROUNDS_CHANCE: u64 = 2;
/// Most doublings of the growth of the volume (section 5.3.3.9).
const UP_ROUNDS: u32 = 30;

impl Bbr3 {
    pub(super) fn start_down(&mut self) {
        self.reset_congestion();
        self.up_step = INFINITE;
        // PickProbeWait.
        self.rounds_since_probe = self.random.below(WAIT_ROUNDS_CHANCE);
        self.probe_wait = WAIT + Dur::from_ps(self.random.below(WAIT_MORE.as_ps()));
        self.cycle_began = self.now;
        self.ack_phase = AckPhase::ProbeStopping;
        self.start_round();
        self.state = State::Down;
    }

    pub(super) fn start_cruise(&mut self) {
        self.state = State::Cruise;
    }

    pub(super) fn start_refill(&mut self) {
        self.reset_short_term();
        self.up_rounds = 0;
        self.up_acked = 0;
        self.precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.start_round();
        self.state = State::Refill;
    }

    fn start_up(&mut self, r: &RateSample) {
        self.ack_phase = AckPhase::ProbeStarting;
        self.start_round();
        self.restart_full(r);
        self.state = State::Up;
        self.raise_slope();
    }

    /// UpdateProbeBWCyclePhase.
    pub(super) fn update_cycle(&mut self, s: &AckSample, r: &RateSample) {
        if !self.full || self.adapt_long_term(s, r) || !self.state.probe_bw() {
            return;
        }
        let state = self.state;
        match state {
            State::Down => {
                if self.time_to_probe() {
                    self.start_refill();
                } else if s.in_flight <= self.with_headroom() && s.in_flight <= self.inflight(self.max_bandwidth(), 1.0) {
                    self.start_cruise();
                }
            }
            State::Cruise if self.time_to_probe() => self.start_refill(),
            State::Refill if self.round_start => {
                self.probe_sample = true;
                self.start_up(r);
            }
            State::Up if self.time_to_go_down(s, r) => {
                self.too_high = false;
                self.start_down();
            }
            _ => {}
        }
    }

    /// IsTimeToProbeBW: by the clock, or when Reno would have probed.
    fn time_to_probe(&self) -> bool {
        let reno = (self.target_inflight() / self.smss).min(WAIT_ROUNDS);
        self.now.since(self.cycle_began) > self.probe_wait || self.rounds_since_probe >= reno
    }

    /// TargetInflight.
    pub(super) fn target_inflight(&self) -> u64 {
        self.bdp(self.bandwidth(), 1.0).min(self.cwnd)
    }

    /// True if the window was full when this acknowledgment came (C.is_cwnd_limited).
    fn window_full(&self, s: &AckSample, r: &RateSample) -> bool {
        s.in_flight + r.newly_delivered + r.newly_lost + self.smss > self.cwnd
    }

    /// IsTimeToGoDown.
    fn time_to_go_down(&mut self, s: &AckSample, r: &RateSample) -> bool {
        if self.too_high && s.in_flight >= self.inflight_long {
            self.precautionary = true;
            return true;
        }
        if self.cwnd >= self.inflight_long && self.window_full(s, r) {
            // The bound holds the rate back: no plateau shows.
            self.restart_full(r);
            return false;
        }
        self.full_now
    }

    /// InflightWithHeadroom.
    pub(super) fn with_headroom(&self) -> u64 {
        if self.inflight_long == INFINITE {
            return INFINITE;
        }
        let room = ((self.inflight_long as f64 * self.p.headroom) as u64).max(self.smss);
        self.inflight_long.saturating_sub(room).max(self.min_window)
    }

    /// RaiseInflightLongtermSlope.
    fn raise_slope(&mut self) {
        let growth = 1_u64 << self.up_rounds.min(UP_ROUNDS);
        self.up_rounds = (self.up_rounds + 1).min(UP_ROUNDS);
        self.up_step = (self.cwnd / growth).max(self.smss);
    }

    /// ProbeInflightLongtermUpward.
    fn probe_upward(&mut self, s: &AckSample, r: &RateSample) {
        if self.cwnd < self.inflight_long || !self.window_full(s, r) {
            return;
        }
        self.up_acked += r.newly_delivered;
        if self.up_acked >= self.up_step {
            let steps = self.up_acked / self.up_step;
            self.up_acked -= steps * self.up_step;
            self.inflight_long += steps * self.smss;
        }
        if self.round_start {
            self.raise_slope();
        }
    }

    /// AdaptLongTermModel. Returns true if it changed the state.
    fn adapt_long_term(&mut self, s: &AckSample, r: &RateSample) -> bool {
        if self.round_start && self.ack_phase == AckPhase::ProbeStarting {
            self.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.round_start && self.ack_phase == AckPhase::ProbeStopping {
            self.probe_sample = false;
            self.ack_phase = AckPhase::Init;
            if self.state.probe_bw() && !r.app_limited {
                self.advance_max_bandwidth();
            }
            if self.state.probe_bw() && self.precautionary && !self.too_high {
                self.start_refill();
                return true;
            }
        }
        if self.marks_too_high(r) {
            if self.probe_sample {
                self.handle_too_high(r.tx_in_flight, r.app_limited);
            }
        } else if !self.loss_too_high(r.lost, r.tx_in_flight) && self.inflight_long != INFINITE {
            self.inflight_long = self.inflight_long.max(r.tx_in_flight);
            if self.state == State::Up {
                self.probe_upward(s, r);
            }
        }
        false
    }

    /// HandleInflightTooHigh (section 5.5.10.2).
    pub(super) fn handle_too_high(&mut self, tx_in_flight: u64, app_limited: bool) {
        self.too_high = true;
        self.probe_sample = false;
        if !app_limited {
            self.inflight_long = tx_in_flight.max((self.target_inflight() as f64 * self.p.beta) as u64);
        }
        if self.state == State::Up {
            self.undo.state = Some(State::Up);
            self.start_down();
        }
    }
}
