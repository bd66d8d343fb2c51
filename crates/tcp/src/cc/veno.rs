//! TCP Veno: a loss while the queue is short counts as a loss of the radio link.
//!
//! Source: C. Fu, S. Liew, "TCP Veno: TCP Enhancement for Transmission Over Wireless Access Networks", IEEE JSAC 21(2), 2003, section III:
//! `N = cwnd (RTT - BaseRTT) / RTT` packets are queued. Below `beta` the window grows as in RFC 5681 and a loss takes a fifth of it; from
//! `beta` on it grows with every other acknowledgment and a loss takes half.
//!
//! Deviations: growth with every other acknowledgment is half the growth with each. A timeout leaves half as threshold, whatever the queue
//! (section III-B describes fast retransmit only). `rtt = "last"` uses the last measurement, as Linux does.

use super::CcConfig;
use super::rtt_stats::{RttStats, queued};
use super::window::{LossBased, Window, window_in};
use super::{AckSample, Algorithm, CcContext, CongestionEvent, CongestionKind};
use fairlane_units::{Dur, Time};

fairlane_units::params! {
    /// TCP Veno (Fu and Liew 2003).
    pub struct VenoParams {
        /// Packets in the queue from which a loss counts as congestion (section III-B: 3).
        #[schemars(range(min = 0.0, max = 1000.0))]
        pub beta: f64 = 3.0,
        /// Share of the window that a loss leaves with fewer packets in the queue (section III-B: 4/5).
        #[schemars(range(min = 0.5, max = 1.0))]
        pub keep: f64 = 0.8,
        /// Round-trip time that estimates the queue.
        pub rtt: VenoRtt = VenoRtt::Smoothed,
        /// Slow growth down while the queue is long (section III-C). ns-3 restarts its count of a round trip's measurements with each
        /// acknowledgment, so that there are never enough of them.
        pub slows: bool = true,
    }

    /// Round-trip time that Veno uses.
    pub enum VenoRtt {
        /// The smoothed round-trip time (Fu and Liew 2003 section III-A).
        #[default]
        Smoothed,
        /// The last measurement (Linux).
        Last,
    }
}

/// Share of the window that a loss leaves while the queue is long, and growth there (RFC 5681 equation 4; Fu and Liew 2003 section III-B).
const HALF: f64 = 0.5;

/// State of TCP Veno.
#[derive(Clone, Debug, PartialEq)]
pub struct Veno {
    w: Window,
    p: VenoParams,
    delays: RttStats,
    /// Packets in the queue.
    n: f64,
}

impl Algorithm for VenoParams {
    type State = Veno;
    fn build(&self, context: &CcContext<'_>) -> Veno {
        Veno::new(self, context.config)
    }
}

impl Veno {
    /// Creates the state before the connection opens.
    pub fn new(p: &VenoParams, config: &CcConfig) -> Self {
        Self { w: Window::new(config), p: p.clone(), delays: RttStats::default(), n: 0.0 }
    }

    fn crowded(&self) -> bool {
        self.n >= self.p.beta
    }
}

impl LossBased for Veno {
    window_in!(w);
    fn increase(&mut self, s: &AckSample) {
        if let Some(rtt) = s.rtt {
            self.delays.take(rtt);
            let now = if self.p.rtt == VenoRtt::Smoothed { s.srtt.max(self.delays.base) } else { rtt };
            self.n = queued(self.w.cwnd, self.delays.base, now);
        }
        if self.w.unused(s) {
            return;
        }
        if let Some(n) = self.w.slow_start(s) {
            self.w.add(if self.p.slows && self.crowded() { n * HALF } else { n } / self.w.cwnd);
        }
    }
    fn decrease(&mut self, e: &CongestionEvent) -> f64 {
        let random = e.kind == CongestionKind::FastRetransmit && self.delays.base != Dur::MAX && !self.crowded();
        self.w.basis(e) * if random { self.p.keep } else { HALF }
    }
    fn restarted(&mut self, _: Time) {
        self.n = 0.0;
    }
    fn variables(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("queued", self.n);
    }
}
