//! The other states, and the pacing rate and window in all of them (draft-ietf-ccwg-bbr-06 sections 5.3.2, 5.3.4, 5.4 and 5.6).

use super::{AckPhase, AckSample, Bbr3, INFINITE, RateSample, State};
use fairlane_units::{Dur, Rate};

/// Upper limit of a window: 1 Tbit/s over two hours.
const MOST: u64 = 1 << 50;

/// Gains of the rate when probing and after it (section 5.6.1).
const UP_GAIN: f64 = 1.25;
const DOWN_GAIN: f64 = 0.9;
/// Addition to the gain of the window while probing (section 5.6.1: 2.25 instead of 2).
const UP_CWND_MORE: f64 = 0.25;
/// Gain of the window in ProbeRTT (ProbeRTTCwndGain, section 5.3.4).
const PROBE_RTT_GAIN: f64 = 0.5;
/// Rounds in Drain, at most (section 5.3.2).
const DRAIN_ROUNDS: u64 = 3;
/// Time, most bytes and least segments of a burst (C.send_quantum, section 5.6.3).
const QUANTUM_TIME: Dur = Dur::from_ms(1);
const QUANTUM_MOST: u64 = 64 * 1024;
const QUANTUM_SEGMENTS: u64 = 2;
/// Quanta in the hosts (section 5.5.8.1).
const QUANTA: u64 = 3;
/// Additional segments when probing, for small windows (section 5.6.4.2).
const UP_SEGMENTS: u64 = 2;
/// Round-trip time before a measurement (section 5.6.2).
const NOMINAL_RTT: Dur = Dur::from_ms(1);

impl Bbr3 {
    pub(super) fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => self.p.startup_gain,
            State::Drain => self.p.drain_gain,
            State::Down => DOWN_GAIN,
            State::Up => UP_GAIN,
            State::Cruise | State::Refill | State::ProbeRtt => 1.0,
        }
    }

    fn window_gain(&self) -> f64 {
        match self.state {
            State::Up => self.p.cwnd_gain + UP_CWND_MORE,
            State::ProbeRtt => PROBE_RTT_GAIN,
            _ => self.p.cwnd_gain,
        }
    }

    /// InitPacingRate (section 5.6.2).
    pub(super) fn first_pacing_rate(&mut self, rtt: Dur) {
        self.seen_rtt = rtt != Dur::ZERO;
        let nominal = crate::quantum::rate_of(self.cwnd, if self.seen_rtt { rtt } else { NOMINAL_RTT });
        self.pacing_rate = self.paced(nominal.as_bps(), self.p.startup_gain);
    }

    fn paced(&self, bandwidth: u64, gain: f64) -> Rate {
        Rate::from_bps(((bandwidth as f64 * gain * (1.0 - self.p.pacing_margin)) as u64).max(1))
    }

    /// Sets the pacing rate (section 5.6.2).
    pub(super) fn set_pacing_rate(&mut self, gain: f64, srtt: Dur) {
        if !self.seen_rtt && srtt != Dur::ZERO {
            self.first_pacing_rate(srtt);
        }
        let rate = self.paced(self.bandwidth(), gain);
        if self.full || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// BDPMultiple (section 5.6.4.2).
    pub(super) fn bdp(&self, bandwidth: u64, gain: f64) -> u64 {
        if self.min_rtt == Dur::MAX {
            return self.initial_window;
        }
        // Forged timestamps may claim any round trip.
        ((bandwidth as f64 / 8.0 * self.min_rtt.as_secs_f64() * gain) as u64).min(MOST)
    }

    /// SetSendQuantum (section 5.6.3).
    fn send_quantum(&self) -> u64 {
        self.pacing_rate.bytes_in(QUANTUM_TIME).min(QUANTUM_MOST).max(QUANTUM_SEGMENTS * self.smss)
    }

    /// QuantizationBudget (section 5.6.4.2).
    fn budget(&self, volume: u64) -> u64 {
        let volume = volume.max(QUANTA * self.send_quantum()).max(self.min_window);
        if self.state == State::Up { volume + UP_SEGMENTS * self.smss } else { volume }
    }

    /// Inflight (section 5.6.4.2).
    pub(super) fn inflight(&self, bandwidth: u64, gain: f64) -> u64 {
        self.budget(self.bdp(bandwidth, gain))
    }

    /// CheckStartupDone and EnterDrain (sections 5.3.1.1 and 5.3.2).
    pub(super) fn check_startup_done(&mut self) {
        if self.state == State::Startup && self.full {
            self.state = State::Drain;
            self.drain_round = self.rounds;
            self.ssthresh = self.inflight(self.max_bandwidth(), 1.0);
            // Losses of Startup are no reason to slow down in Drain (Linux).
            self.reset_congestion();
        }
    }

    /// CheckDrainDone (section 5.3.2).
    pub(super) fn check_drain(&mut self, s: &AckSample) {
        if self.state == State::Drain
            && (s.in_flight <= self.inflight(self.max_bandwidth(), 1.0) || self.rounds > self.drain_round + DRAIN_ROUNDS)
        {
            self.start_down();
        }
    }

    /// UpdateMinRTT (section 5.3.4.3).
    pub(super) fn update_min_rtt(&mut self, s: &AckSample) {
        let expired = s.now.since(self.probe_min_at) > self.p.probe_rtt_interval;
        if let Some(rtt) = s.rtt
            && (rtt < self.probe_min || expired)
        {
            self.probe_min = rtt;
            self.probe_min_at = s.now;
        }
        if self.probe_min < self.min_rtt || s.now.since(self.min_rtt_at) > self.p.min_rtt_window {
            self.min_rtt = self.probe_min;
            self.min_rtt_at = self.probe_min_at;
        }
        if expired && self.state != State::ProbeRtt && !self.idle && self.p.probe_rtt_time != Dur::ZERO {
            self.state = State::ProbeRtt;
            self.save_window();
            self.probe_rtt_done = None;
            self.ack_phase = AckPhase::ProbeStopping;
            self.start_round();
        }
    }

    /// CheckProbeRTT and HandleProbeRTT (section 5.3.4.3).
    pub(super) fn check_probe_rtt(&mut self, s: &AckSample, r: &RateSample) {
        if self.state == State::ProbeRtt {
            match self.probe_rtt_done {
                None if s.in_flight <= self.probe_rtt_window() => {
                    self.probe_rtt_done = Some(s.now + self.p.probe_rtt_time);
                    self.probe_rtt_round = false;
                    self.start_round();
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

    /// CheckProbeRTTDone and ExitProbeRTT (sections 5.3.4.3 and 5.3.4.4).
    fn check_probe_rtt_done(&mut self) {
        if self.probe_rtt_done.is_some_and(|done| self.now > done) {
            self.probe_min_at = self.now;
            self.restore_window();
            self.reset_short_term();
            if self.full {
                self.start_down();
                self.start_cruise();
            } else {
                self.state = State::Startup;
            }
        }
    }

    /// HandleRestartFromIdle (section 5.4.1).
    pub(super) fn restart_from_idle(&mut self) {
        self.idle = true;
        self.aggregation.restart(self.now);
        if self.state.probe_bw() {
            self.set_pacing_rate(1.0, Dur::ZERO);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done();
        }
    }

    /// SaveCwnd (section 5.6.4.4).
    pub(super) fn save_window(&mut self) {
        let good = !self.repairing && self.state != State::ProbeRtt;
        self.prior_window = if good { self.cwnd } else { self.prior_window.max(self.cwnd) };
    }

    /// RestoreCwnd (section 5.6.4.4).
    pub(super) fn restore_window(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_window);
    }

    /// ProbeRTTCwnd (section 5.6.4.5).
    fn probe_rtt_window(&self) -> u64 {
        self.bdp(self.bandwidth(), PROBE_RTT_GAIN).max(self.min_window)
    }

    /// SetCwnd (section 5.6.4.6) and BoundCwndForModel (section 5.6.4.7).
    pub(super) fn set_window(&mut self, r: &RateSample) {
        let most = self.budget(self.bdp(self.bandwidth(), self.window_gain()) + self.aggregation_room());
        if r.newly_delivered != 0 {
            if self.full {
                self.cwnd = (self.cwnd + r.newly_delivered).min(most);
            } else if self.cwnd < most || self.delivered < self.initial_window {
                self.cwnd += r.newly_delivered;
            }
            self.cwnd = self.cwnd.max(self.min_window);
        }
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_window());
        }
        let bound = match self.state {
            State::Startup | State::Drain => INFINITE,
            State::Down | State::Refill | State::Up => self.inflight_long,
            State::Cruise | State::ProbeRtt => self.with_headroom(),
        };
        self.cwnd = self.cwnd.min(bound.min(self.inflight_short).max(self.min_window));
    }
}
