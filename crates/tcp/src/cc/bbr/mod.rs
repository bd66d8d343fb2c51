//! BBR version 1: a model of the path, its bandwidth and its round-trip time, sets the pacing rate and the window.
//!
//! Sources: draft-cardwell-iccrg-bbr-congestion-control-00 (July 2017); N. Cardwell, Y. Cheng, C. S. Gunn, S. Hassas Yeganeh, V. Jacobson,
//! "BBR: Congestion-Based Congestion Control", ACM Queue 14(5), 2016; and Linux 6.x `net/ipv4/tcp_bbr.c` for later additions: room for
//! aggregated acknowledgments, detection of policers, a margin of 1 % below the estimated bandwidth. Rate samples are those of `rate.rs`.
//!
//! Deviations from Linux: times are exact, not in jiffies; the quantum is the pacer's (`pacing_segments`, `pacing_burst`), also below 1.2 Mbit/s; the policed
//! rate is compared as a rate, without rounding to packets. Two more are parameters: windows are bytes unless `whole_segments`, and the data
//! "in the network" is the pipe unless `at_departure`.
//!
//! The files: `model.rs` has the model of the path, `control.rs` the control by it.

mod control;
mod model;

use super::ack_aggregation::AckAggregation;
use super::windowed_max::WindowedMax;
use super::{AckSample, Algorithm, CcContext, CongestionControl, CongestionEvent, CongestionKind, RateSample, RecoveryExit, Wants};
use crate::cc::CcConfig;
use crate::choices::len_bytes;
use crate::quantum::Quantum;
use fairlane_engine::Stream;
use fairlane_units::{Dur, Len, Rate, Time};
use model::Policer;

fairlane_units::params! {
    /// BBR version 1 (draft-cardwell-iccrg-bbr-congestion-control-00, Linux 6.x).
    pub struct BbrParams {
        /// Gain of rate and window in STARTUP: `2 / ln 2` doubles the delivery rate each round (draft section 4.3.2; Linux 2885/1000).
        #[schemars(range(min = 1.0, max = 10.0))]
        pub startup_gain: f64 = 2.885,
        /// Gain of the window in PROBE_BW (draft section 4.2.3.2).
        #[schemars(range(min = 1.0, max = 10.0))]
        pub cwnd_gain: f64 = 2.0,
        /// Rounds over which the bandwidth maximum is kept (BtlBwFilterLen, draft section 4.1.1.3).
        #[schemars(range(min = 1, max = 1000))]
        pub bandwidth_rounds: u32 = 10,
        /// Time over which the smallest round-trip time is kept, and after which PROBE_RTT measures it again (RTpropFilterLen, draft section
        /// 4.1.2.3).
        #[schemars(extend("x-min" = "1ms", "x-max" = "1h"))]
        pub min_rtt_window: Dur = Dur::from_secs(10),
        /// Time spent in PROBE_RTT (ProbeRTTDuration, draft section 4.3.5).
        #[schemars(extend("x-max" = "10s"))]
        pub probe_rtt_time: Dur = Dur::from_ms(200),
        /// Smallest window, also that of PROBE_RTT (BBRMinPipeCwnd, draft section 4.2.3.1).
        #[schemars(extend("x-min" = "1p"))]
        pub min_window: Len = Len::Packets(4),
        /// Share by which pacing stays below the estimated bandwidth, so that queues drain (Linux 1 %; draft-00: 0).
        #[schemars(range(min = 0.0, max = 0.5))]
        pub pacing_margin: f64 = 0.01,
        /// Share of the largest aggregation of acknowledgments added to the window (Linux 1; draft-00: 0).
        #[schemars(range(min = 0.0, max = 10.0))]
        pub aggregation_gain: f64 = 1.0,
        /// Detect policers, and keep to their rate for 48 rounds ("long-term" bandwidth of Linux; draft-00 has none).
        pub policer: bool = true,
        /// Use a whole, even number of segments as window, to the benefit of delayed acknowledgments (Linux).
        pub even_window: bool = true,
        /// Count the window, the expected delivery and aggregation in whole segments (Linux).
        pub whole_segments: bool = false,
        /// Let phases use the data in flight when pacing releases the next burst, instead of the data in flight now (Linux
        /// `bbr_packets_in_net_at_edt`).
        pub at_departure: bool = false,
        /// Use smoothed round-trip times (ns-3.37).
        pub smoothed_rtt: bool = false,
        /// First phase of the gain cycle in PROBE_BW: 0, or 2 to 7. Unset: a random one of these (draft section 4.3.4.3).
        #[schemars(range(min = 0, max = 7))]
        pub first_phase: Option<u32> = None,
    }
}

/// Mode of the state machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Searches for the bandwidth, doubling.
    Startup,
    /// Drains the queue of STARTUP.
    Drain,
    /// Cycles around the bandwidth.
    ProbeBw,
    /// Empties the path to measure its round-trip time.
    ProbeRtt,
}

/// Phase of loss recovery, as far as BBR distinguishes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
enum Repair {
    Open,
    Recovery,
    Loss,
}

/// State of BBR. Windows are bytes.
#[derive(Clone, Debug)]
pub struct Bbr {
    p: BbrParams,
    smss: u64,
    initial_window: u64,
    min_window: u64,
    /// Burst that the pacer lets out at once.
    quantum: Quantum,
    random: Stream,

    mode: Mode,
    pacing_gain: f64,
    cwnd_gain: f64,
    cwnd: u64,
    ssthresh: u64,
    pacing_rate: Rate,
    /// True if a round-trip time was measured and gave the first pacing rate.
    seen_rtt: bool,
    now: Time,

    // The model.
    bandwidth: WindowedMax,
    rounds: u64,
    round_start: bool,
    next_round: u64,
    delivered: u64,
    min_rtt: Dur,
    min_rtt_at: Time,
    aggregation: AckAggregation,
    policer: Policer,

    // STARTUP: whether the pipe is full.
    full: bool,
    full_bandwidth: u64,
    full_rounds: u32,
    // PROBE_BW.
    phase: usize,
    phase_began: Time,
    // PROBE_RTT.
    probe_rtt_done: Option<Time>,
    probe_rtt_round: bool,
    // Losses and idleness.
    prior_window: u64,
    conserving: bool,
    repair: Repair,
    /// Phase that the last loss led to.
    last_loss: Repair,
    idle: bool,
    /// True if the sender was out of data at the last acknowledgment.
    starved: bool,
}

impl Algorithm for BbrParams {
    type State = Bbr;
    fn build(&self, context: &CcContext<'_>) -> Bbr {
        Bbr::new(self, context.config)
    }
}

impl Bbr {
    /// Creates the state before the connection opens.
    pub fn new(p: &BbrParams, config: &CcConfig) -> Self {
        let smss = u64::from(config.mss());
        Self {
            smss,
            initial_window: config.initial_window,
            min_window: len_bytes(p.min_window, smss).max(smss),
            quantum: config.quantum,
            random: Stream::new(0, "cc", "", "bbr"),
            mode: Mode::Startup,
            pacing_gain: p.startup_gain,
            cwnd_gain: p.startup_gain,
            cwnd: config.initial_window,
            ssthresh: u64::MAX,
            pacing_rate: Rate::from_bps(0),
            seen_rtt: false,
            now: Time::ZERO,
            bandwidth: WindowedMax::new(p.bandwidth_rounds.into()),
            rounds: 0,
            round_start: false,
            next_round: 0,
            delivered: 0,
            min_rtt: Dur::MAX,
            min_rtt_at: Time::ZERO,
            aggregation: AckAggregation::in_units(if p.whole_segments { smss } else { 0 }),
            policer: Policer::default(),
            full: false,
            full_bandwidth: 0,
            full_rounds: 0,
            phase: 0,
            phase_began: Time::ZERO,
            probe_rtt_done: None,
            probe_rtt_round: false,
            prior_window: 0,
            conserving: false,
            repair: Repair::Open,
            last_loss: Repair::Open,
            idle: false,
            starved: false,
            p: p.clone(),
        }
    }

    /// Saves the last good window, to restore after losses and PROBE_RTT (draft section 4.2.3.4).
    fn save_window(&mut self) {
        let good = self.repair == Repair::Open && self.mode != Mode::ProbeRtt;
        self.prior_window = if good { self.cwnd } else { self.prior_window.max(self.cwnd) };
    }

    fn restore_window(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_window);
    }
}

impl CongestionControl for Bbr {
    fn seed(&mut self, seed: u64) {
        self.random = Stream::new(seed, "cc", "", "bbr");
    }

    fn on_first_rtt(&mut self, now: Time, rtt: Dur) {
        (self.min_rtt, self.min_rtt_at) = (rtt, now);
    }

    fn on_established(&mut self, now: Time, window: u64) {
        self.cwnd = window;
        self.min_rtt_at = now;
        self.aggregation.restart(now);
        self.first_pacing_rate(if self.min_rtt == Dur::MAX { Dur::ZERO } else { self.min_rtt });
    }

    fn on_ack(&mut self, s: &AckSample) {
        self.now = s.now;
        let none = RateSample::default();
        let r = s.rate.as_ref().unwrap_or(&none);
        self.update_model(s, r);
        self.update_gains();
        self.set_pacing_rate(self.pacing_gain, s.srtt);
        self.set_window(s, r);
        self.starved = s.app_limited;
    }

    fn on_congestion(&mut self, e: &CongestionEvent) {
        match e.kind {
            // Version 1 has no ear for ECN.
            CongestionKind::EcnEcho => {}
            CongestionKind::FastRetransmit => {
                self.save_window();
                self.last_loss = Repair::Recovery;
            }
            CongestionKind::FastRetransmitRestart | CongestionKind::Timeout { .. } => {
                // Nothing is known to be in flight (draft section 4.2.3.4): one segment, and a round ends.
                self.save_window();
                self.cwnd = self.smss;
                (self.repair, self.last_loss) = (Repair::Loss, Repair::Loss);
                self.full_bandwidth = 0;
                self.round_start = true;
                self.sample_policer(e.now, true, false);
            }
        }
    }

    /// The acknowledgment itself restores the window.
    fn on_recovery_exit(&mut self, _: &RecoveryExit) {}

    /// The estimated rate paces the data after idleness (draft section 4.3.4.4): no smaller window is needed.
    fn on_idle_restart(&mut self, _: Time, _: u64) {}

    fn on_sent(&mut self, now: Time, bytes: u64, in_flight: u64) {
        if in_flight <= bytes && self.starved {
            self.now = now;
            self.restart_from_idle();
        }
    }

    /// Linux `bbr_undo_cwnd`: the pipe may not have been full.
    fn undo(&mut self) {
        self.full_bandwidth = 0;
        self.full_rounds = 0;
        self.reset_policer();
    }

    fn wants(&self) -> Wants {
        Wants { rate: true, every_ack: true, pacing: true, owns_recovery: true, ..Wants::default() }
    }

    fn holds_back(&self) -> bool {
        self.mode == Mode::ProbeRtt
    }

    fn cwnd(&self) -> u64 {
        self.cwnd
    }

    fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(self.pacing_rate)
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("bandwidth", self.estimate() as f64);
        out("min_rtt", if self.min_rtt == Dur::MAX { 0.0 } else { self.min_rtt.as_secs_f64() });
        out("pacing_gain", self.pacing_gain);
        out("cwnd_gain", self.cwnd_gain);
        out("mode", f64::from(self.mode as u8));
        out("round", self.rounds as f64);
    }
}
