//! TCP Illinois: losses determine when the window is cut, delay determines by how much it changes.
//!
//! Source: S. Liu, T. Basar, R. Srikant, "TCP-Illinois: A Loss- and Delay-Based Congestion Control Algorithm for High-Speed Networks", Performance Evaluation
//! 65(6-7), 2008, section 3: `cwnd += alpha / cwnd` per acknowledgment, `cwnd -= beta cwnd` per loss. Both follow the mean queueing delay `da` of a round trip, as a part
//! of the largest one, `dm`: alpha falls from `alpha_max` (up to 0.01 dm) to `alpha_min` (at dm) along `k1 / (k2 + da)`, beta rises from `beta_min` (up to 0.1 dm)
//! to `beta_max` (from 0.8 dm on). Below `window_threshold` segments it is Reno.
//!
//! Deviations: none known. After a timeout alpha and beta are Reno's until the next round trip (section 4; Linux too).

use super::CcConfig;
use super::rtt_stats::RttStats;
use super::window::{LossBased, Window, window_in};
use super::{AckSample, Algorithm, CcContext, CongestionEvent, CongestionKind};
use fairlane_units::Time;

fairlane_units::params! {
    /// TCP Illinois (Liu, Basar and Srikant 2008).
    pub struct IllinoisParams {
        /// Growth per round trip with the longest queue, in segments (section 4: 0.3).
        #[schemars(range(min = 0.001, max = 1.0))]
        pub alpha_min: f64 = 0.3,
        /// Growth per round trip without a queue, in segments (section 4: 10).
        #[schemars(range(min = 1.0, max = 1000.0))]
        pub alpha_max: f64 = 10.0,
        /// Share of the window that a loss takes with a short queue (section 4: 0.125).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub beta_min: f64 = 0.125,
        /// Share of the window that a loss takes with a long queue (section 4: 0.5).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub beta_max: f64 = 0.5,
        /// Window in segments below which it is Reno (section 4: 15).
        #[schemars(range(min = 0.0, max = 1e6))]
        pub window_threshold: f64 = 15.0,
        /// Round trips without a queue after which alpha is `alpha_max` again (section 4: 5).
        #[schemars(range(min = 1))]
        pub theta: u32 = 5,
        /// Use alpha as a whole number of acknowledgments: below 1 the window does not grow (TcpIllinois of ns-3).
        pub whole_alpha: bool = false,
    }
}

/// Parts of the largest queueing delay: alpha begins to fall, beta begins to rise, beta is full (eta 1 to 3 of section 4).
const ETA: [f64; 3] = [0.01, 0.1, 0.8];
/// Reno's growth and decrease.
const RENO: (f64, f64) = (1.0, 0.5);

impl IllinoisParams {
    /// Growth at a mean queueing delay of `da` where the largest is `dm` (equation 3 of section 3).
    pub fn alpha(&self, da: f64, dm: f64) -> f64 {
        let d1 = ETA[0] * dm;
        if da <= d1 || self.alpha_max <= self.alpha_min {
            return self.alpha_max;
        }
        let k = (dm - d1) * self.alpha_min / (self.alpha_max - self.alpha_min);
        k * self.alpha_max / (k - d1 + da)
    }

    /// Share of the window that a loss takes there (equation 4 of section 3).
    pub fn beta(&self, da: f64, dm: f64) -> f64 {
        let (d2, d3) = (ETA[1] * dm, ETA[2] * dm);
        if da <= d2 {
            self.beta_min
        } else if da >= d3 {
            self.beta_max
        } else {
            self.beta_min + (self.beta_max - self.beta_min) * (da - d2) / (d3 - d2)
        }
    }
}

/// State of TCP Illinois.
#[derive(Clone, Debug, PartialEq)]
pub struct Illinois {
    w: Window,
    p: IllinoisParams,
    delays: RttStats,
    alpha: f64,
    beta: f64,
    /// True if there was a queue since alpha was last at its maximum, and the round trips without one since.
    above: bool,
    low: u32,
}

impl Algorithm for IllinoisParams {
    type State = Illinois;
    fn build(&self, context: &CcContext<'_>) -> Illinois {
        Illinois::new(self, context.config)
    }
}

impl Illinois {
    /// Creates the state before the connection opens.
    pub fn new(p: &IllinoisParams, config: &CcConfig) -> Self {
        let w = Window::new(config);
        Self { w, p: p.clone(), delays: RttStats::default(), alpha: p.alpha_max, beta: RENO.1, above: false, low: 0 }
    }

    fn adapt(&mut self) {
        if self.w.cwnd < self.p.window_threshold {
            (self.alpha, self.beta) = RENO;
            return;
        }
        let Some(mean) = self.delays.mean() else { return };
        let da = mean.saturating_sub(self.delays.base).as_secs_f64();
        let dm = self.delays.most.saturating_sub(self.delays.base).as_secs_f64();
        self.beta = self.p.beta(da, dm);
        if da > ETA[0] * dm {
            self.above = true;
            self.low = 0;
            self.alpha = self.p.alpha(da, dm);
            return;
        }
        // One round trip with a short queue does not raise alpha at once.
        self.low += 1;
        if !self.above || self.low >= self.p.theta {
            (self.above, self.low) = (false, 0);
            self.alpha = self.p.alpha_max;
        }
    }
}

impl LossBased for Illinois {
    window_in!(w);
    fn increase(&mut self, s: &AckSample) {
        if self.delays.over(s) {
            self.adapt();
            self.delays.begin(s.round);
        }
        if let Some(rtt) = s.rtt {
            self.delays.take(rtt);
        }
        if self.w.unused(s) {
            return;
        }
        if let Some(n) = self.w.slow_start(s) {
            let share = n * self.alpha;
            self.w.earn(if self.p.whole_alpha { libm::floor(share) } else { share });
        }
    }
    fn decrease(&mut self, e: &CongestionEvent) -> f64 {
        let beta = self.beta;
        if let CongestionKind::Timeout { .. } = e.kind {
            (self.alpha, self.beta) = RENO;
            (self.above, self.low) = (false, 0);
            self.delays.forget();
        }
        self.w.basis(e) * (1.0 - beta)
    }
    fn restarted(&mut self, _: Time) {
        self.delays.forget();
    }
    fn variables(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("alpha", self.alpha);
        out("beta", self.beta);
    }
}
