//! H-TCP: growth that depends on the time since the last loss, and a reduction that only drains the queue.
//!
//! Source: D. Leith, R. Shorten, "H-TCP: TCP Congestion Control for High Bandwidth-Delay Product Paths", draft-leith-tcp-htcp-06, 2008;
//! "H-TCP: TCP for high-speed and long-distance networks", PFLDnet 2004.
//!
//! Deviations:
//! - The throughput whose change turns the adaptive reduction off is the largest of any round trip since the last loss.
//! - RTT scaling (alpha in proportion to the smallest round-trip time over 100 ms, held between 1/10 and 2) is `rtt_scaling`, off by default;
//!   Linux (`net/ipv4/tcp_htcp.c`) has it on. Linux also lets the largest round-trip time fade by 5 % per loss instead of measuring it again.
//! - ns-3.37 adds alpha bytes per acknowledgment, not alpha segments per round trip, and does not bound beta; this is not reproduced.

use super::CcConfig;
use super::window::{LossBased, Window, window_in};
use super::{AckSample, Algorithm, CcContext, CongestionEvent, CongestionKind};
use fairlane_units::{Dur, Time};

fairlane_units::params! {
    /// H-TCP (draft-leith-tcp-htcp-06).
    pub struct HtcpParams {
        /// Time after a loss for which growth is Reno's (Delta_L of draft-leith-tcp-htcp-06).
        #[schemars(extend("x-max" = "100s"))]
        pub delta_l: Dur = Dur::from_secs(1),
        /// Change of the throughput between losses, as a share, above which a loss halves the window (Delta_B of draft-leith-tcp-htcp-06).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub throughput_ratio: f64 = 0.2,
        /// Smallest share of the window that a loss leaves (draft-leith-tcp-htcp-06).
        #[schemars(range(min = 0.1, max = 0.99))]
        pub beta_min: f64 = 0.5,
        /// Largest share of the window that a loss leaves (draft-leith-tcp-htcp-06).
        #[schemars(range(min = 0.1, max = 0.99))]
        pub beta_max: f64 = 0.8,
        /// Scale growth with the round-trip time, so that flows with different ones share evenly (Linux).
        pub rtt_scaling: bool = false,
        /// Add Reno's share of a segment and alpha in bytes with each acknowledgment, next to nothing (TcpHtcp of ns-3). Otherwise alpha
        /// segments per round trip.
        pub alpha_in_bytes: bool = false,
    }
}

/// Coefficients of alpha = 1 + 10 d + 0.25 d^2 with d = Delta - Delta_L in seconds (draft-leith-tcp-htcp-06).
const LINEAR: f64 = 10.0;
const SQUARE: f64 = 0.25;
/// Round-trip time at which the scale is 1 (Linux), in seconds.
const REFERENCE_RTT: f64 = 0.1;
/// Bounds of the scale (Linux).
const SCALE: (f64, f64) = (0.1, 2.0);

/// State that the undo of a spurious reduction restores.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Epoch {
    /// The last loss.
    since: Time,
    beta: f64,
    /// Largest round-trip time since then.
    rtt_max: Dur,
    /// Largest throughput since then and in the epoch before, in bytes per second; 0: unknown.
    rate: f64,
    last_rate: f64,
}

/// State of H-TCP.
#[derive(Clone, Debug, PartialEq)]
pub struct Htcp {
    w: Window,
    p: HtcpParams,
    epoch: Epoch,
    before: Epoch,
    rtt_min: Dur,
    /// Current round trip, bytes delivered before it, and its beginning.
    round: u64,
    delivered: u64,
    began: Time,
}

impl Algorithm for HtcpParams {
    type State = Htcp;
    fn build(&self, context: &CcContext<'_>) -> Htcp {
        Htcp::new(self, context.config)
    }
}

impl Htcp {
    /// Creates the state before the connection opens.
    pub fn new(p: &HtcpParams, config: &CcConfig) -> Self {
        let epoch = Epoch { since: Time::ZERO, beta: p.beta_min, rtt_max: Dur::ZERO, rate: 0.0, last_rate: 0.0 };
        Self { w: Window::new(config), p: p.clone(), epoch, before: epoch, rtt_min: Dur::MAX, round: 0, delivered: 0, began: Time::ZERO }
    }

    /// Segments added per round trip: 2 (1 - beta) alpha(Delta).
    fn alpha(&self, now: Time) -> f64 {
        let d = now.since(self.epoch.since).saturating_sub(self.p.delta_l).as_secs_f64();
        let mut alpha = 1.0 + LINEAR * d + SQUARE * d * d;
        if self.p.rtt_scaling && self.rtt_min != Dur::MAX {
            alpha = (alpha * (self.rtt_min.as_secs_f64() / REFERENCE_RTT).clamp(SCALE.0, SCALE.1)).max(1.0);
        }
        2.0 * (1.0 - self.epoch.beta) * alpha
    }

    /// Share of the window that this loss leaves.
    fn beta(&self) -> f64 {
        let (p, e) = (&self.p, &self.epoch);
        let steady = e.last_rate > 0.0 && (e.rate - e.last_rate).abs() <= p.throughput_ratio * e.last_rate;
        if !steady || e.rtt_max == Dur::ZERO || self.rtt_min == Dur::MAX {
            return p.beta_min;
        }
        (self.rtt_min.as_secs_f64() / e.rtt_max.as_secs_f64()).min(p.beta_max).max(p.beta_min)
    }

    fn measure(&mut self, s: &AckSample) {
        self.rtt_min = s.min_rtt;
        if let Some(rtt) = s.rtt
            && !s.in_recovery
        {
            self.epoch.rtt_max = self.epoch.rtt_max.max(rtt);
        }
        if s.round != self.round {
            let time = s.now.since(self.began).as_secs_f64();
            if self.round != 0 && time > 0.0 {
                self.epoch.rate = self.epoch.rate.max((s.delivered - self.delivered) as f64 / time);
            }
            (self.round, self.delivered, self.began) = (s.round, s.delivered, s.now);
        }
    }
}

impl LossBased for Htcp {
    window_in!(w);

    fn increase(&mut self, s: &AckSample) {
        self.measure(s);
        if self.w.unused(s) {
            return;
        }
        if let Some(n) = self.w.slow_start(s) {
            let alpha = self.alpha(s.now);
            self.w.add(if self.p.alpha_in_bytes { 1.0 / self.w.cwnd + alpha / self.w.smss } else { n * alpha / self.w.cwnd });
        }
    }

    fn decrease(&mut self, e: &CongestionEvent) -> f64 {
        if !self.w.may_undo() {
            self.before = self.epoch;
        }
        if e.kind == (CongestionKind::Timeout { first: false }) {
            return self.w.basis(e) * self.epoch.beta;
        }
        let beta = self.beta();
        self.epoch = Epoch { since: e.now, beta, rtt_max: Dur::ZERO, rate: 0.0, last_rate: self.epoch.rate };
        // Data delivered during recovery is not the throughput of a round trip.
        self.round = 0;
        self.w.basis(e) * beta
    }

    fn restarted(&mut self, now: Time) {
        self.epoch.since = now;
    }

    fn undone(&mut self) {
        self.epoch = self.before;
    }

    fn variables(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("beta", self.epoch.beta);
    }
}
