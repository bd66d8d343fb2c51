//! Scalable TCP: growth in proportion to the window, so that recovery takes the same number of round trips at any rate.
//!
//! Source: T. Kelly, "Scalable TCP: Improving Performance in Highspeed Wide Area Networks", ACM CCR 33(2), 2003, section 3:
//! `cwnd += a` for each segment acknowledged, `cwnd -= b cwnd` for each loss event, a = 0.01, b = 0.125; below a legacy window of
//! 16 segments the rules of RFC 5681 hold.
//!
//! Deviations: none. Linux (`net/ipv4/tcp_scalable.c`) grows by one segment for each min(cwnd, 100) acknowledged and always loses an eighth:
//! in these words a legacy window of 100 segments with `legacy_decrease = 0.125`. ns-3.37 has 50 and 0.02 there. Both are in the presets.

use super::CcConfig;
use super::window::{LossBased, Window, window_in};
use super::{AckSample, Algorithm, CcContext, CongestionEvent};
use crate::choices::len_bytes;
use fairlane_units::Len;

fairlane_units::params! {
    /// Scalable TCP (Kelly 2003).
    pub struct ScalableParams {
        /// Growth for each segment acknowledged, in segments (a of Kelly 2003 section 3).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub increase: f64 = 0.01,
        /// Share of the window that a loss event takes (b of Kelly 2003 section 3).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub decrease: f64 = 0.125,
        /// Window up to which the rules of RFC 5681 hold (lwnd of Kelly 2003 section 3.1).
        pub legacy_window: Len = Len::Packets(16),
        /// Share of the window that a loss event takes up to there (RFC 5681 equation 4; Linux, ns-3: 0.125).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub legacy_decrease: f64 = 0.5,
    }
}

/// State of Scalable TCP.
#[derive(Clone, Debug, PartialEq)]
pub struct Scalable {
    w: Window,
    increase: f64,
    decrease: f64,
    legacy: f64,
    legacy_decrease: f64,
}

impl Algorithm for ScalableParams {
    type State = Scalable;
    fn build(&self, context: &CcContext<'_>) -> Scalable {
        Scalable::new(self, context.config)
    }
}

impl Scalable {
    /// Creates the state before the connection opens.
    pub fn new(p: &ScalableParams, config: &CcConfig) -> Self {
        let w = Window::new(config);
        let legacy = len_bytes(p.legacy_window, u64::from(config.mss())) as f64 / w.smss;
        Self { w, increase: p.increase, decrease: p.decrease, legacy, legacy_decrease: p.legacy_decrease }
    }
}

impl LossBased for Scalable {
    window_in!(w);
    fn increase(&mut self, s: &AckSample) {
        if self.w.unused(s) {
            return;
        }
        if let Some(n) = self.w.slow_start(s) {
            if self.w.in_segments() {
                // ns-3 TcpScalable: a segment for a window of them, at most 1 / increase; the remainder is lost.
                let every = libm::floor(self.w.cwnd.min(1.0 / self.increase)).max(1.0);
                if self.w.step(n, every) {
                    self.w.forget_count();
                }
                return;
            }
            self.w.cwnd += if self.w.cwnd <= self.legacy { n / self.w.cwnd } else { n * self.increase };
        }
    }
    fn decrease(&mut self, e: &CongestionEvent) -> f64 {
        let share = if self.w.cwnd <= self.legacy { self.legacy_decrease } else { self.decrease };
        self.w.basis(e) * (1.0 - share)
    }
}
