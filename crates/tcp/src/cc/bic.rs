//! BIC: binary search for the window at the last loss.
//!
//! Source: L. Xu, K. Harfoush, I. Rhee, "Binary Increase Congestion Control for Fast Long-Distance Networks", IEEE INFOCOM 2004, section IV, with
//! the constants of Linux (`net/ipv4/tcp_bic.c`), where it was the default before CUBIC.
//!
//! Deviations:
//! - From the paper, all as in Linux: a step goes a quarter of the way to the last maximum, not half (`search`); near the maximum, on both
//!   sides, growth is `search / smooth_part` segments per round trip instead of a minimum step; a loss leaves 0.8 of the window, not 7/8; at most 16
//!   segments per round trip, not 32; beyond the maximum growth is proportional to the distance from it, where the paper doubles it each round trip.
//! - From Linux: windows have fractions, and `byte_counting` counts the segments of a delayed acknowledgment.
//! - ns-3.37 takes `beta` instead of `(1 + beta) / 2` of the window for fast convergence; this is not reproduced.

use super::CcConfig;
use super::window::{LossBased, Window, window_in};
use super::{AckSample, Algorithm, CcContext, CongestionEvent, CongestionKind};
use crate::choices::len_bytes;
use fairlane_units::Len;

fairlane_units::params! {
    /// BIC (Xu, Harfoush and Rhee 2004).
    pub struct BicParams {
        /// Window up to which the rules of RFC 5681 hold (low_window of Xu 2004 section IV).
        pub low_window: Len = Len::Packets(14),
        /// Most segments added per round trip (Smax of Xu 2004 section IV: 32; Linux: 16).
        #[schemars(range(min = 0.1, max = 10000.0))]
        pub max_increment: f64 = 16.0,
        /// Share of the window that a loss leaves (Xu 2004 section IV: 0.875; Linux: 819/1024).
        #[schemars(range(min = 0.1, max = 0.99))]
        pub beta: f64 = 0.8,
        /// Part of the way to the last maximum per round trip: 1/4 (Linux, BICTCP_B), 1/2 (Xu 2004 section IV).
        #[schemars(range(min = 1.1, max = 100.0))]
        pub search: f64 = 4.0,
        /// Round trips for the last `search` segments before the maximum, and the first beyond it (Linux: 20; ns-3: 5).
        #[schemars(range(min = 1.0, max = 1000.0))]
        pub smooth_part: f64 = 20.0,
        /// Lower the maximum further after a loss below the last maximum (Xu 2004 section IV).
        pub fast_convergence: bool = true,
        /// Least growth per round trip as a share of the window, while no maximum is known (Linux, ns-3).
        #[schemars(range(min = 0.0, max = 0.5))]
        pub first_growth: f64 = 0.05,
        /// After a loss below the last maximum, use the reduced window as the next maximum, and keep it through a timeout (TcpBic of ns-3).
        /// Otherwise the maximum is half way to it (Xu 2004 section IV), and a timeout forgets it (Linux).
        pub low_maximum: bool = false,
        /// Count segments acknowledged in whole numbers, and add one to the window when there are more than the growth requires (TcpBic of
        /// ns-3). Otherwise each adds its share.
        pub whole_segments: bool = false,
    }
}

/// State of BIC.
#[derive(Clone, Debug, PartialEq)]
pub struct Bic {
    w: Window,
    p: BicParams,
    low: f64,
    /// Window of the last loss (max_win); 0: none yet, or forgotten after a timeout.
    w_max: f64,
    before: f64,
    /// Segments acknowledged since the window grew, where these are counted.
    count: f64,
}

impl Algorithm for BicParams {
    type State = Bic;
    fn build(&self, context: &CcContext<'_>) -> Bic {
        Bic::new(self, context.config)
    }
}

impl Bic {
    /// Creates the state before the connection opens.
    pub fn new(p: &BicParams, config: &CcConfig) -> Self {
        let w = Window::new(config);
        let low = len_bytes(p.low_window, u64::from(config.mss())) as f64 / w.smss;
        Self { w, p: p.clone(), low, w_max: 0.0, before: 0.0, count: 0.0 }
    }

    /// Segments added per round trip.
    fn growth(&self) -> f64 {
        let (p, cwnd) = (&self.p, self.w.cwnd);
        if cwnd < self.low || (cwnd <= self.low && !p.whole_segments) {
            return 1.0;
        }
        let smooth = p.search / p.smooth_part;
        let far = (cwnd - self.w_max).abs();
        let step = if cwnd < self.w_max {
            // Binary search towards the maximum.
            let step = far / p.search;
            if step <= 1.0 { smooth } else { step }
        } else if far < p.search {
            smooth
        } else {
            // Probing beyond it.
            far / (p.search - 1.0)
        };
        let step = step.min(p.max_increment);
        if self.w_max == 0.0 { step.max(p.first_growth * cwnd) } else { step }
    }
}

impl Bic {
    /// Grows by a whole segment: `TcpBic::IncreaseWindow` and `Update` of ns-3.
    fn step(&mut self, n: f64) {
        let fraction = self.w.cwnd - libm::floor(self.w.cwnd);
        self.w.cwnd -= fraction;
        let mut every = libm::floor(self.w.cwnd / self.growth()).max(1.0);
        if self.w_max == 0.0 {
            every = every.min(libm::floor(1.0 / self.p.first_growth.max(1e-9)));
        }
        self.count += n;
        if self.count > every {
            self.count = 0.0;
            self.w.cwnd += 1.0;
        }
        self.w.cwnd += fraction;
    }
}

impl LossBased for Bic {
    window_in!(w);

    fn increase(&mut self, s: &AckSample) {
        if self.w.unused(s) {
            return;
        }
        if let Some(n) = self.w.slow_start(s) {
            if self.p.whole_segments {
                return self.step(n);
            }
            self.w.cwnd += n * self.growth() / self.w.cwnd;
        }
    }

    fn decrease(&mut self, e: &CongestionEvent) -> f64 {
        if !self.w.may_undo() {
            self.before = self.w_max;
        }
        let cwnd = self.w.cwnd.min(self.w.cap);
        self.w_max = match e.kind {
            // The path has changed, or the estimate is useless (Linux).
            CongestionKind::Timeout { .. } if !self.p.low_maximum => 0.0,
            _ if cwnd < self.w_max && self.p.fast_convergence && self.p.low_maximum => libm::floor(cwnd * self.p.beta),
            _ if cwnd < self.w_max && self.p.fast_convergence => cwnd * (1.0 + self.p.beta) / 2.0,
            _ => cwnd,
        };
        self.w.basis(e) * if cwnd <= self.low { 0.5 } else { self.p.beta }
    }

    fn undone(&mut self) {
        self.w_max = self.before;
    }

    fn variables(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("w_max", self.w_max);
    }
}
