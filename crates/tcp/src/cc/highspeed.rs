//! HighSpeed TCP: growth and reduction that depend on the window, so that large windows do not require implausibly few losses.
//!
//! Source: RFC 3649 section 5: a response function w = (p / Low_P)^S Low_Window through (1e-3, 38) and (1e-7, 83000), and from it
//! b(w) and a(w) = w^2 p(w) 2 b(w) / (2 - b(w)). Up to 38 segments it is RFC 5681.
//!
//! Deviations:
//! - a(w) and b(w) come from the formulas, not from the rounded table of appendix B (Linux, ns-3), and are computed again once the window
//!   has grown by a segment.
//! - A timeout sets the threshold by b(w), too, as in Linux.
//!
//! RFC 3649 section 8 recommends limited slow start with it: `slow_start = "limited"`.

use super::CcConfig;
use super::window::{LossBased, Window, window_in};
use super::{AckSample, Algorithm, CcContext, CongestionEvent};
use crate::choices::len_bytes;
use fairlane_units::Len;

fairlane_units::params! {
    /// HighSpeed TCP (RFC 3649).
    pub struct HighSpeedParams {
        /// Window up to which the rules of RFC 5681 hold (Low_Window of RFC 3649 section 5).
        #[schemars(extend("x-min" = "2p"))]
        pub low_window: Len = Len::Packets(38),
        /// Window at the loss rate `high_p` (High_Window of RFC 3649 section 5).
        #[schemars(extend("x-min" = "3p"))]
        pub high_window: Len = Len::Packets(83_000),
        /// Loss rate at the high window (High_P of RFC 3649 section 5).
        #[schemars(range(min = 1e-12, max = 1e-4))]
        pub high_p: f64 = 1e-7,
        /// Share of the high window that a loss takes (High_Decrease of RFC 3649 section 5).
        #[schemars(range(min = 0.01, max = 0.5))]
        pub high_decrease: f64 = 0.1,
        /// Use steps, as the table of RFC 3649 appendix B: the growth rounded up to whole segments, and the decrease of the largest window with
        /// that growth (ns-3, Linux). Otherwise the response function.
        pub steps: bool = false,
    }
}

/// Loss rate at the low window (Low_P of RFC 3649 section 5).
const LOW_P: f64 = 1e-3;
/// Share of the low window that a loss takes.
const LOW_DECREASE: f64 = 0.5;
/// Bisections that locate the end of a step to the segment, and beyond.
const BISECTIONS: u32 = 40;

/// The response function.
#[derive(Clone, Debug, PartialEq)]
struct Response {
    low: f64,
    /// 1 / S of RFC 3649 section 5.
    exponent: f64,
    /// ln(High_Window) - ln(Low_Window).
    span: f64,
    high_decrease: f64,
    steps: bool,
}

impl Response {
    /// Loss rate at which the window is `w` on average.
    fn p(&self, w: f64) -> f64 {
        LOW_P * libm::pow(w / self.low, self.exponent)
    }

    /// The largest window with the growth of `w`, rounded up to whole segments.
    #[cold]
    fn step_of(&self, w: f64) -> f64 {
        let a = libm::ceil(self.smooth_a(w));
        let (mut below, mut above) = (w, w * 2.0 + self.low);
        for _ in 0..BISECTIONS {
            let middle = (below + above) / 2.0;
            if self.smooth_a(middle) <= a { below = middle } else { above = middle }
        }
        below
    }

    /// Share of a window `w` that a loss takes.
    fn b(&self, w: f64) -> f64 {
        if !self.steps || w <= self.low {
            return self.smooth_b(w);
        }
        // The table has two digits.
        libm::round(self.smooth_b(self.step_of(w)) * 100.0) / 100.0
    }

    fn smooth_b(&self, w: f64) -> f64 {
        if w <= self.low {
            return LOW_DECREASE;
        }
        ((self.high_decrease - LOW_DECREASE) * libm::log(w / self.low) / self.span + LOW_DECREASE).max(self.high_decrease / 10.0)
    }

    /// Segments added per round trip to a window `w`.
    fn a(&self, w: f64) -> f64 {
        let a = self.smooth_a(w);
        if self.steps { libm::ceil(a) } else { a }
    }

    fn smooth_a(&self, w: f64) -> f64 {
        if w <= self.low {
            return 1.0;
        }
        let b = self.smooth_b(w);
        (w * w * self.p(w) * 2.0 * b / (2.0 - b)).max(1.0)
    }
}

/// State of HighSpeed TCP.
#[derive(Clone, Debug, PartialEq)]
pub struct HighSpeed {
    w: Window,
    response: Response,
    /// Growth per round trip, computed for a window of `at`.
    a: f64,
    at: f64,
}

impl Algorithm for HighSpeedParams {
    type State = HighSpeed;
    fn build(&self, context: &CcContext<'_>) -> HighSpeed {
        HighSpeed::new(self, context.config)
    }
}

impl HighSpeed {
    /// Creates the state before the connection opens.
    pub fn new(p: &HighSpeedParams, config: &CcConfig) -> Self {
        let w = Window::new(config);
        let segments = |len| len_bytes(len, u64::from(config.mss())) as f64 / w.smss;
        let low = segments(p.low_window).max(1.0);
        let span = libm::log((segments(p.high_window) / low).max(1.001));
        let exponent = libm::log(p.high_p / LOW_P) / span;
        Self { w, response: Response { low, exponent, span, high_decrease: p.high_decrease, steps: p.steps }, a: 1.0, at: 0.0 }
    }
}

impl LossBased for HighSpeed {
    window_in!(w);

    fn increase(&mut self, s: &AckSample) {
        if self.w.unused(s) {
            return;
        }
        if let Some(n) = self.w.slow_start(s) {
            let whole = libm::floor(self.w.cwnd);
            if whole != self.at {
                self.at = whole;
                self.a = self.response.a(whole);
            }
            self.w.earn(n * self.a);
        }
    }

    fn decrease(&mut self, e: &CongestionEvent) -> f64 {
        let basis = self.w.basis(e);
        basis * (1.0 - self.response.b(basis))
    }

    fn variables(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("a", self.response.a(self.w.cwnd));
        out("b", self.response.b(self.w.cwnd));
    }
}
