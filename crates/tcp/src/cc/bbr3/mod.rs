//! BBR version 3: the model of version 1, with bounds on rate and volume that losses and marks lower.
//!
//! Sources: draft-ietf-ccwg-bbr-06 (July 2026), whose sections are cited; for ECN, which the draft leaves out, version 3 of Google's Linux
//! branch (`net/ipv4/tcp_bbr.c`, November 2023). Rate samples are those of `rate.rs` (section 4.1 of the draft).
//!
//! Deviations: six acknowledgments that report losses stand for six discontiguous lost ranges in STARTUP (section 5.3.1.3), as in Linux;
//! the burst is the pacer's (`pacing_segments`, `pacing_burst`), while the least volume reckons with the quantum of section 5.6.3; after a timeout the
//! window is a segment, to which the sender adds what is still in flight (section 5.6.4.4 has the sum as the window); the maximum of aggregation is kept in two halves of five rounds
//! each, as in Linux (section 5.5.9). ECN: used only with exact feedback (DCTCP's or AccECN) and a short round-trip time; marks do not bring
//! the next probe forward (`bbr_ecn_reprobe_gain`).
//!
//! The files: `model.rs` has the model of the path, `probe.rs` the phases of ProbeBW, `control.rs` the other states, rate and window.

mod control;
mod model;
mod probe;

use super::ack_aggregation::AckAggregation;
use super::{
    AckSample, Algorithm, CcContext, CongestionControl, CongestionEvent, CongestionKind, LostSample, RateSample, RecoveryExit, Wants,
};
use crate::cc::CcConfig;
use crate::choices::{EcnMode, len_bytes};
use fairlane_engine::Stream;
use fairlane_units::{Dur, Len, Rate, Time};
use model::Marks;

/// No bound.
pub(super) const INFINITE: u64 = u64::MAX;

fairlane_units::params! {
    /// BBR version 3 (draft-ietf-ccwg-bbr-06).
    pub struct Bbr3Params {
        /// Gain of the rate in Startup, `4 ln 2` (StartupPacingGain, draft section 5.3.1).
        #[schemars(range(min = 1.0, max = 10.0))]
        pub startup_gain: f64 = 2.77,
        /// Gain of the rate in Drain (DrainPacingGain, draft section 5.3.2: 0.5; Linux and drafts before -05: 0.35).
        #[schemars(range(min = 0.05, max = 1.0))]
        pub drain_gain: f64 = 0.5,
        /// Gain of the window but for probing, which has a quarter more (DefaultCwndGain, draft section 2.5).
        #[schemars(range(min = 1.0, max = 10.0))]
        pub cwnd_gain: f64 = 2.0,
        /// Share of a round's data whose loss ends probing (LossThresh, draft section 5.5.10).
        #[schemars(range(min = 0.0, max = 0.5))]
        pub loss_threshold: f64 = 0.02,
        /// Share of the bounds that is left after a round with losses (Beta, draft section 5.5.10).
        #[schemars(range(min = 0.1, max = 1.0))]
        pub beta: f64 = 0.7,
        /// Share of the volume left to other flows when not probing (Headroom, draft section 5.3.3).
        #[schemars(range(min = 0.0, max = 0.9))]
        pub headroom: f64 = 0.15,
        /// Time over which the smallest round-trip time is kept (MinRTTFilterLen, draft section 5.5.7.2).
        #[schemars(extend("x-min" = "1ms", "x-max" = "1h"))]
        pub min_rtt_window: Dur = Dur::from_secs(10),
        /// Time without a smaller round-trip time after which ProbeRTT measures it again (ProbeRTTInterval, draft section 5.3.4).
        #[schemars(extend("x-min" = "1ms", "x-max" = "1h"))]
        pub probe_rtt_interval: Dur = Dur::from_secs(5),
        /// Time spent in ProbeRTT (ProbeRTTDuration, draft section 5.3.4).
        #[schemars(extend("x-max" = "10s"))]
        pub probe_rtt_time: Dur = Dur::from_ms(200),
        /// Smallest window (MinPipeCwnd, draft section 5.6.4.3).
        #[schemars(extend("x-min" = "1p"))]
        pub min_window: Len = Len::Packets(4),
        /// Share by which pacing stays below the bandwidth (PacingMarginPercent, draft section 5.6.2).
        #[schemars(range(min = 0.0, max = 0.5))]
        pub pacing_margin: f64 = 0.01,
        /// React to marks where ECN is in use with exact feedback (Linux).
        pub ecn: bool = true,
        /// Longest minimum round-trip time at which `ecn` applies (Linux `bbr_ecn_max_rtt_us`). Unset: any.
        #[schemars(extend("x-min" = "1us"))]
        pub ecn_max_rtt: Option<Dur> = Some(Dur::from_ms(5)),
        /// Share of marked data that ends probing (Linux `bbr_ecn_thresh`).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub ecn_threshold: f64 = 0.5,
        /// Share of the average mark ratio by which a round with marks cuts the volume (Linux `bbr_ecn_factor`).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub ecn_factor: f64 = 1.0 / 3.0,
    }
}

/// States (draft section 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Searches for the bandwidth, doubling.
    Startup,
    /// Drains the queue of Startup.
    Drain,
    /// Slower than the path, until there is headroom.
    Down,
    /// At the rate of the path.
    Cruise,
    /// Fills the path for a round before probing.
    Refill,
    /// Probes for more.
    Up,
    /// Empties the path to measure its round-trip time.
    ProbeRtt,
}

impl State {
    pub(super) fn probe_bw(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }
}

/// Relation of acknowledgments to probing (draft section 5.3.3.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// State that the undo of a spurious loss restores (draft section 5.5.11).
#[derive(Clone, Copy, Debug, Default)]
struct Undo {
    state: Option<State>,
    bw_short: u64,
    inflight_short: u64,
    inflight_long: u64,
}

/// State of BBR version 3. Volumes are bytes, bandwidths bit/s; `INFINITE` stands for no bound.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    p: Bbr3Params,
    smss: u64,
    initial_window: u64,
    min_window: u64,
    selective: bool,
    exact_marks: bool,
    random: Stream,

    state: State,
    cwnd: u64,
    ssthresh: u64,
    pacing_rate: Rate,
    seen_rtt: bool,
    now: Time,

    // Rounds (section 5.5.1).
    rounds: u64,
    round_start: bool,
    next_round: u64,
    delivered: u64,
    // Rate (sections 5.5.2 to 5.5.6): the largest of the last cycle and of this one.
    max_bw: [u64; 2],
    bw_short: u64,
    bw_latest: u64,
    // Volume.
    inflight_long: u64,
    inflight_short: u64,
    inflight_latest: u64,
    aggregation: AckAggregation,
    marks: Marks,
    // Losses (section 5.5.10).
    loss_round_start: bool,
    next_loss_round: u64,
    loss_in_round: bool,
    loss_events: u32,
    undo: Undo,
    prior_window: u64,
    repairing: bool,
    // Full pipe (section 5.3.1.2).
    full_bw: u64,
    full_rounds: u32,
    full_now: bool,
    full: bool,
    drain_round: u64,
    // ProbeBW (section 5.3.3).
    ack_phase: AckPhase,
    cycle_began: Time,
    rounds_since_probe: u64,
    probe_wait: Dur,
    probe_sample: bool,
    up_rounds: u32,
    up_acked: u64,
    up_step: u64,
    too_high: bool,
    precautionary: bool,
    // Round-trip time (sections 5.3.4 and 5.5.7).
    min_rtt: Dur,
    min_rtt_at: Time,
    probe_min: Dur,
    probe_min_at: Time,
    probe_rtt_done: Option<Time>,
    probe_rtt_round: bool,
    idle: bool,
    starved: bool,
}

impl Algorithm for Bbr3Params {
    type State = Bbr3;
    fn build(&self, context: &CcContext<'_>) -> Bbr3 {
        Bbr3::new(self, context.config)
    }
}

impl Bbr3 {
    /// Creates the state before the connection opens.
    pub fn new(p: &Bbr3Params, config: &CcConfig) -> Self {
        let smss = u64::from(config.mss());
        Self {
            smss,
            initial_window: config.initial_window,
            min_window: len_bytes(p.min_window, smss).max(smss),
            selective: config.sack,
            exact_marks: p.ecn && matches!(config.ecn, EcnMode::Dctcp | EcnMode::Accecn),
            random: Stream::new(0, "cc", "", "bbr3"),
            state: State::Startup,
            cwnd: config.initial_window,
            ssthresh: u64::MAX,
            pacing_rate: Rate::from_bps(0),
            seen_rtt: false,
            now: Time::ZERO,
            rounds: 0,
            round_start: false,
            next_round: 0,
            delivered: 0,
            max_bw: [0; 2],
            bw_short: INFINITE,
            bw_latest: 0,
            inflight_long: INFINITE,
            inflight_short: INFINITE,
            inflight_latest: 0,
            aggregation: AckAggregation::default(),
            marks: Marks::default(),
            loss_round_start: false,
            next_loss_round: 0,
            loss_in_round: false,
            loss_events: 0,
            undo: Undo::default(),
            prior_window: 0,
            repairing: false,
            full_bw: 0,
            full_rounds: 0,
            full_now: false,
            full: false,
            drain_round: 0,
            ack_phase: AckPhase::Init,
            cycle_began: Time::ZERO,
            rounds_since_probe: 0,
            probe_wait: Dur::ZERO,
            probe_sample: false,
            up_rounds: 0,
            up_acked: 0,
            up_step: INFINITE,
            too_high: false,
            precautionary: false,
            min_rtt: Dur::MAX,
            min_rtt_at: Time::ZERO,
            probe_min: Dur::MAX,
            probe_min_at: Time::ZERO,
            probe_rtt_done: None,
            probe_rtt_round: false,
            idle: false,
            starved: false,
            p: p.clone(),
        }
    }
}

impl CongestionControl for Bbr3 {
    fn seed(&mut self, seed: u64) {
        self.random = Stream::new(seed, "cc", "", "bbr3");
    }

    fn on_first_rtt(&mut self, now: Time, rtt: Dur) {
        (self.min_rtt, self.min_rtt_at) = (rtt, now);
        (self.probe_min, self.probe_min_at) = (rtt, now);
    }

    fn on_established(&mut self, now: Time, window: u64) {
        self.cwnd = window;
        self.min_rtt_at = now;
        self.probe_min_at = now;
        self.aggregation.restart(now);
        self.first_pacing_rate(if self.min_rtt == Dur::MAX { Dur::ZERO } else { self.min_rtt });
    }

    fn on_ack(&mut self, s: &AckSample) {
        self.now = s.now;
        let none = RateSample::default();
        let r = s.rate.as_ref().unwrap_or(&none);
        self.update_model(s, r);
        self.set_pacing_rate(self.pacing_gain(), s.srtt);
        self.set_window(r);
        self.advance_latest(r);
        self.starved = s.app_limited;
    }

    /// Handles a congestion event (draft section 5.6.4.4).
    fn on_congestion(&mut self, e: &CongestionEvent) {
        match e.kind {
            // Marks come with the acknowledgments, exactly or not at all.
            CongestionKind::EcnEcho => {}
            CongestionKind::FastRetransmit => self.save_upon_loss(),
            CongestionKind::FastRetransmitRestart | CongestionKind::Timeout { .. } => {
                self.save_upon_loss();
                self.cwnd = self.smss;
            }
        }
        self.repairing |= e.kind != CongestionKind::EcnEcho;
    }

    /// The acknowledgment itself restores the window.
    fn on_recovery_exit(&mut self, _: &RecoveryExit) {}

    /// The estimated rate paces the data instead (draft section 5.4.2).
    fn on_idle_restart(&mut self, _: Time, _: u64) {}

    fn on_sent(&mut self, now: Time, bytes: u64, in_flight: u64) {
        if in_flight <= bytes && self.starved {
            self.now = now;
            self.restart_from_idle();
        }
    }

    fn on_lost(&mut self, l: &LostSample) {
        self.handle_lost(l);
    }

    fn settle(&mut self) {
        self.undo = Undo::default();
    }

    fn undo(&mut self) {
        self.handle_spurious();
    }

    fn wants(&self) -> Wants {
        Wants { rate: true, every_ack: true, pacing: true, owns_recovery: true, ..Wants::default() }
    }

    fn holds_back(&self) -> bool {
        self.state == State::ProbeRtt
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
        let bound = |v: u64| if v == INFINITE { 0.0 } else { v as f64 };
        out("bandwidth", self.max_bandwidth() as f64);
        out("bandwidth_shortterm", bound(self.bw_short));
        out("inflight_longterm", bound(self.inflight_long));
        out("inflight_shortterm", bound(self.inflight_short));
        out("min_rtt", if self.min_rtt == Dur::MAX { 0.0 } else { self.min_rtt.as_secs_f64() });
        out("pacing_gain", self.pacing_gain());
        out("mode", f64::from(self.state as u8));
        out("round", self.rounds as f64);
    }
}
