//! Control by the model: modes, gains, the pacing rate and the window.

use super::{AckSample, Bbr, Mode, RateSample, Repair};
use fairlane_units::{Dur, Rate};

/// Upper limit of a window: 1 Tbit/s over two hours.
const MOST: u64 = 1 << 50;
/// Gains of the rate in the phases of PROBE_BW: up, drain, and six to cruise (draft-00 section 4.3.4.2).
pub(super) const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Phases that PROBE_BW may begin with: all but the second (draft-00 section 4.3.4.3).
const FIRST_PHASES: u64 = 7;
/// Quanta in the hosts in addition to the data in the path (draft-00 section 4.2.3.2).
const QUANTA: u64 = 3;
/// Additional segments in the phase that probes upwards, for small windows (Linux `bbr_quantization_budget`).
const UP_SEGMENTS: u64 = 2;
/// Round-trip time for the first pacing rate before a measurement (draft-00 section 4.2.1).
const NOMINAL_RTT: Dur = Dur::from_ms(1);

impl Bbr {
    /// Sets the first pacing rate: the window over the round-trip time, with the gain of STARTUP (draft-00 section 4.2.1).
    pub(super) fn first_pacing_rate(&mut self, rtt: Dur) {
        self.seen_rtt = rtt != Dur::ZERO;
        let rtt = if self.seen_rtt { rtt } else { NOMINAL_RTT };
        let nominal = crate::quantum::rate_of(self.cwnd, rtt);
        self.pacing_rate = self.paced(nominal.as_bps(), self.p.startup_gain);
    }

    fn paced(&self, bandwidth: u64, gain: f64) -> Rate {
        Rate::from_bps(((bandwidth as f64 * gain * (1.0 - self.p.pacing_margin)) as u64).max(1))
    }

    /// Sets the pacing rate, which only rises in STARTUP (draft-00 section 4.2.1).
    pub(super) fn set_pacing_rate(&mut self, gain: f64, srtt: Dur) {
        if !self.seen_rtt && srtt != Dur::ZERO {
            self.first_pacing_rate(srtt);
        }
        let rate = self.paced(self.estimate(), gain);
        if self.full || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// Bandwidth-delay product times a gain; the initial window before the first measurement.
    fn bdp(&self, bandwidth: u64, gain: f64) -> u64 {
        if self.min_rtt == Dur::MAX {
            return self.initial_window;
        }
        // Forged timestamps may claim any round trip.
        let bytes = ((bandwidth as f64 / 8.0 * self.min_rtt.as_secs_f64() * gain) as u64).min(MOST);
        // Rounded up "to avoid a negative feedback loop" (Linux `bbr_bdp`).
        if self.p.whole_segments { bytes.div_ceil(self.smss) * self.smss } else { bytes }
    }

    /// Adds the data in the hosts (draft-00 section 4.2.3.2).
    fn budget(&self, window: u64) -> u64 {
        let mut window = window + QUANTA * self.quantum.at(self.pacing_rate);
        if self.p.even_window {
            window = window.div_ceil(2 * self.smss) * 2 * self.smss;
        }
        if self.mode == Mode::ProbeBw && self.phase == 0 {
            window += UP_SEGMENTS * self.smss;
        }
        window
    }

    fn target(&self, gain: f64) -> u64 {
        self.budget(self.bdp(self.bandwidth.get(), gain))
    }

    /// Part of `flight` in the network when pacing releases the next burst, plus that burst where the flight is to grow (Linux
    /// `bbr_packets_in_net_at_edt`).
    fn in_network(&self, s: &AckSample, flight: u64) -> u64 {
        if !self.p.at_departure {
            return flight;
        }
        let burst = if self.pacing_gain > 1.0 { self.quantum.at(self.pacing_rate) } else { 0 };
        let delivered = Rate::from_bps(self.estimate()).bytes_in(s.paced_ahead) / self.smss * self.smss;
        (flight + burst).saturating_sub(delivered)
    }

    /// Advances the phase (draft-00 section 4.3.4.3): each lasts the minimum round-trip time; the upward one until the flight has grown,
    /// unless a segment is lost; the draining one no longer than there is a queue.
    pub(super) fn update_phase(&mut self, s: &AckSample, r: &RateSample) {
        if self.mode != Mode::ProbeBw {
            return;
        }
        let long = s.now.since(self.phase_began) > self.min_rtt;
        let before = self.in_network(s, s.in_flight + r.newly_delivered + r.newly_lost);
        let next = if self.pacing_gain > 1.0 {
            long && (r.newly_lost != 0 || before >= self.target(self.pacing_gain))
        } else if self.pacing_gain < 1.0 {
            long || before <= self.target(1.0)
        } else {
            long
        };
        if next {
            self.next_phase();
        }
    }

    fn next_phase(&mut self) {
        self.phase = (self.phase + 1) % CYCLE.len();
        self.phase_began = self.now;
    }

    pub(super) fn enter_probe_bw(&mut self) {
        self.mode = Mode::ProbeBw;
        self.phase = match self.p.first_phase {
            Some(phase) => (phase as usize + CYCLE.len() - 1) % CYCLE.len(),
            // One of the last seven; the next follows at once.
            None => CYCLE.len() - 1 - self.random.below(FIRST_PHASES) as usize,
        };
        self.next_phase();
    }

    /// Enters and leaves DRAIN (draft-00 section 4.3.3).
    pub(super) fn check_drain(&mut self, s: &AckSample) {
        if self.mode == Mode::Startup && self.full {
            self.mode = Mode::Drain;
            self.ssthresh = self.target(1.0);
        }
        if self.mode == Mode::Drain && self.in_network(s, s.in_flight) <= self.target(1.0) {
            self.enter_probe_bw();
        }
    }

    pub(super) fn check_probe_rtt_done(&mut self) {
        if self.probe_rtt_done.is_some_and(|done| self.now > done) {
            self.min_rtt_at = self.now;
            self.restore_window();
            if self.full {
                self.enter_probe_bw();
            } else {
                self.mode = Mode::Startup;
            }
        }
    }

    /// Restarts from idleness at the estimated rate, without a burst (draft-00 section 4.3.4.4).
    pub(super) fn restart_from_idle(&mut self) {
        self.idle = true;
        self.aggregation.restart(self.now);
        if self.mode == Mode::ProbeBw {
            self.set_pacing_rate(1.0, Dur::ZERO);
        } else if self.mode == Mode::ProbeRtt {
            self.check_probe_rtt_done();
        }
    }

    pub(super) fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (self.p.startup_gain, self.p.startup_gain),
            Mode::Drain => (1.0 / self.p.startup_gain, self.p.startup_gain),
            Mode::ProbeBw if self.policer.caught => (1.0, self.p.cwnd_gain),
            Mode::ProbeBw => (CYCLE[self.phase % CYCLE.len()], self.p.cwnd_gain),
            Mode::ProbeRtt => (1.0, 1.0),
        };
    }

    /// Adjusts the window during recovery (draft-00 section 4.2.3.4): in the first round one packet is sent for each that left, later at
    /// most two; after recovery the window is restored. Returns true if packets are conserved.
    fn repair_window(&mut self, s: &AckSample, r: &RateSample) -> bool {
        if r.newly_lost != 0 {
            self.cwnd = self.cwnd.saturating_sub(r.newly_lost).max(self.smss);
        }
        let repair = if s.in_recovery { self.last_loss } else { Repair::Open };
        if repair == Repair::Recovery && self.repair != Repair::Recovery {
            self.conserving = true;
            self.next_round = self.delivered;
            self.cwnd = s.in_flight + r.newly_delivered;
        } else if self.repair != Repair::Open && repair == Repair::Open {
            self.restore_window();
            self.conserving = false;
        }
        self.repair = repair;
        if self.conserving {
            self.cwnd = self.cwnd.max(s.in_flight + r.newly_delivered);
        }
        self.conserving
    }

    /// Sets the window (draft-00 section 4.2.3).
    pub(super) fn set_window(&mut self, s: &AckSample, r: &RateSample) {
        // Events that only report losses, such as a timer, change nothing (Linux `bbr_set_cwnd`).
        if r.newly_delivered != 0 && !self.repair_window(s, r) {
            let target = self.budget(self.bdp(self.estimate(), self.cwnd_gain) + self.aggregation_room());
            if self.full {
                self.cwnd = (self.cwnd + r.newly_delivered).min(target);
            } else if self.cwnd < target || self.delivered < self.initial_window {
                self.cwnd += r.newly_delivered;
            }
            self.cwnd = self.cwnd.max(self.min_window);
        }
        if self.mode == Mode::ProbeRtt {
            self.cwnd = self.cwnd.min(self.min_window);
        }
        self.cwnd = self.cwnd.max(self.smss);
    }
}
