//! YeAH-TCP: Scalable TCP while the queue is short, Reno otherwise, with precautionary decongestion.
//!
//! Source: A. Baiocchi, A. Castellani, F. Vacirca, "YeAH-TCP: Yet Another Highspeed TCP", PFLDnet 2007, section 2. Once per round trip, with
//! the smallest RTT of it, `Q = cwnd (RTT - RTTbase) / RTT` and `L = (RTT - RTTbase) / RTTbase`: fast mode while `Q < Qmax` and `L < 1/phi`, else slow mode.
//! In slow mode, with `Q > Qmax` and the window above Reno's, the window loses Q. A loss takes `max(Q, cwnd/8)`, at most half, but half if
//! other flows fill the queue: if the mode was slow for more than rho round trips.
//!
//! Deviations: none known; where the paper only requires measurements in a round trip, three are required, as in Linux (tcp_yeah.c of 6.x). Below a hundred
//! segments the fast mode grows as Reno does, as in Linux and ns-3: Scalable TCP's own rule there is the legacy window.

use super::CcConfig;
use super::rtt_stats::{ENOUGH, RttStats, queued, ratio};
use super::window::{LEAST_SSTHRESH, LossBased, Window, window_in};
use super::{AckSample, Algorithm, CcContext, CongestionEvent, CongestionKind};
use fairlane_units::Time;

fairlane_units::params! {
    /// YeAH-TCP (Baiocchi, Castellani and Vacirca 2007).
    pub struct YeahParams {
        /// Packets in the queue above which the mode is slow (Qmax of section 2: 80).
        #[schemars(range(min = 0.0, max = 1e6))]
        pub alpha: f64 = 80.0,
        /// Divisor of the queue that precautionary decongestion takes from the window (section 2.1: 1).
        #[schemars(range(min = 1.0, max = 100.0))]
        pub gamma: f64 = 1.0,
        /// Shift of the window that a loss takes at least (section 2.2: 3, an eighth).
        #[schemars(range(min = 1, max = 16))]
        pub delta: u32 = 3,
        /// Precautionary decongestion takes at most the window shifted right by this (section 2.1: 1, half).
        #[schemars(range(min = 1, max = 16))]
        pub epsilon: u32 = 1,
        /// Divisor of the base RTT: a longer queueing delay counts as congestion (section 2: 1/8).
        #[schemars(range(min = 1.0, max = 1000.0))]
        pub phi: f64 = 8.0,
        /// Round trips of slow mode from which other flows are assumed to fill the queue (section 2.2: 16).
        #[schemars(range(min = 1))]
        pub rho: u32 = 16,
        /// Round trips of fast mode after which the estimate of Reno's window starts again (section 2.3: 50).
        #[schemars(range(min = 1))]
        pub zeta: u32 = 50,
        /// Growth for each segment acknowledged in fast mode, in segments (a of Scalable TCP: 0.01).
        #[schemars(range(min = 0.0001, max = 1.0))]
        pub increase: f64 = 0.01,
    }
}

/// Smallest estimate of Reno's window, in segments.
const LEAST: f64 = 2.0;

/// State of YeAH-TCP.
#[derive(Clone, Debug, PartialEq)]
pub struct Yeah {
    w: Window,
    p: YeahParams,
    delays: RttStats,
    /// Packets in the queue at the end of the last round trip.
    queue: f64,
    /// Estimate of the window of a Reno flow (cwnd_reno).
    reno: f64,
    /// Round trips in slow mode in a row (count_reno), and in fast mode since the last loss (count_fast).
    slow: u32,
    fast: u32,
}

impl Algorithm for YeahParams {
    type State = Yeah;
    fn build(&self, context: &CcContext<'_>) -> Yeah {
        Yeah::new(self, context.config)
    }
}

impl Yeah {
    /// Creates the state before the connection opens.
    pub fn new(p: &YeahParams, config: &CcConfig) -> Self {
        Self { w: Window::new(config), p: p.clone(), delays: RttStats::default(), queue: 0.0, reno: LEAST, slow: 0, fast: 0 }
    }

    /// Evaluates a round trip (section 2.1, section 2.3).
    fn judge(&mut self) {
        let (base, rtt) = (self.delays.base, self.delays.least);
        self.queue = queued(self.w.cwnd, base, rtt);
        let full = self.queue > self.p.alpha;
        if !full && ratio(rtt, base) - 1.0 <= 1.0 / self.p.phi {
            self.slow = 0;
            self.fast += 1;
            if self.fast > self.p.zeta {
                (self.reno, self.fast) = (LEAST, 0);
            }
            return;
        }
        if full && self.w.cwnd > self.reno {
            // Precautionary decongestion.
            let less = (self.queue / self.p.gamma).min(part(self.w.cwnd, self.p.epsilon));
            self.w.cwnd = (self.w.cwnd - less).max(self.reno).max(1.0);
            self.w.ssthresh = self.w.cwnd.max(LEAST_SSTHRESH);
        }
        self.reno = if self.reno <= LEAST { (self.w.cwnd / 2.0).max(LEAST) } else { self.reno + 1.0 };
        self.slow = self.slow.saturating_add(1);
    }
}

/// `window` shifted right.
fn part(window: f64, shift: u32) -> f64 {
    window / f64::from(1_u32 << shift.min(16))
}

impl LossBased for Yeah {
    window_in!(w);
    fn increase(&mut self, s: &AckSample) {
        if let Some(rtt) = s.rtt {
            self.delays.take(rtt);
        }
        if !self.w.unused(s)
            && let Some(n) = self.w.slow_start(s)
        {
            let reno = n / self.w.cwnd;
            self.w.add(if self.slow == 0 { reno.max(n * self.p.increase) } else { reno });
        }
        if self.delays.over(s) {
            if self.delays.count >= ENOUGH {
                self.judge();
            }
            self.delays.begin(s.round);
        }
    }
    fn decrease(&mut self, e: &CongestionEvent) -> f64 {
        let basis = self.w.basis(e);
        let half = basis / 2.0;
        self.fast = 0;
        self.reno = (self.reno / 2.0).max(LEAST);
        let alone = self.slow < self.p.rho && e.kind != CongestionKind::EcnEcho;
        basis - if alone { self.queue.min(half).max(part(basis, self.p.delta)) } else { half }
    }
    fn restarted(&mut self, _: Time) {
        self.delays = RttStats::default();
        (self.queue, self.reno, self.slow, self.fast) = (0.0, LEAST, 0, 0);
    }
    fn variables(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("queued", self.queue);
        out("slow_rounds", f64::from(self.slow));
    }
}
