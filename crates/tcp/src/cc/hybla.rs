//! Hybla: growth as if the round-trip time were that of a short path, for satellites.
//!
//! Source: C. Caini, R. Firrincieli, "TCP Hybla: a TCP enhancement for heterogeneous networks", International Journal of Satellite Communications
//! and Networking 22(5), 2004: rho = max(RTT / RTT0, 1), RTT0 = 25 ms; a segment acknowledged adds 2^rho - 1 in slow start
//! and rho^2 / cwnd in congestion avoidance. Reductions are Reno's.
//!
//! Deviations:
//! - rho comes from the smallest round-trip time, as in Linux (`net/ipv4/tcp_hybla.c`): the flow's own queue does not make it faster.
//! - The initial window is that of `initial_window`, and the initial slow-start threshold that of `initial_ssthresh`, not multiplied by rho.
//! - An acknowledgment adds in slow start at most 65535 segments, the bound of the window in Linux.
//! - Packet spacing, which the paper recommends, and timestamps are the parameters `pacing` and `timestamps` of TCP.

use super::CcConfig;
use super::window::{LossBased, Window, window_in};
use super::{AckSample, Algorithm, CcContext, CongestionEvent, CongestionKind};
use fairlane_units::Dur;

fairlane_units::params! {
    /// Hybla (Caini and Firrincieli 2004).
    pub struct HyblaParams {
        /// Round-trip time of the reference connection (RTT0 of Caini 2004: 25 ms; ns-3: 50 ms).
        #[schemars(extend("x-min" = "1ms", "x-max" = "10s"))]
        pub rtt0: Dur = Dur::from_ms(25),
    }
}

/// Largest rho whose power of two is taken: 2^16 - 1 segments (snd_cwnd_clamp of Linux).
const RHO_MOST: f64 = 16.0;

/// State of Hybla.
#[derive(Clone, Debug, PartialEq)]
pub struct Hybla {
    w: Window,
    rtt0: Dur,
    beta_ecn: f64,
    /// Round-trip time that rho comes from.
    rtt: Dur,
    rho: f64,
    /// 2^rho - 1.
    up: f64,
    /// Part of the next segment that is earned, where growth is in whole segments (ns-3 TcpHybla).
    part: f64,
}

impl Algorithm for HyblaParams {
    type State = Hybla;
    fn build(&self, context: &CcContext<'_>) -> Hybla {
        Hybla::new(self, context.config)
    }
}

impl Hybla {
    /// Creates the state before the connection opens.
    pub fn new(p: &HyblaParams, config: &CcConfig) -> Self {
        let beta_ecn = if config.abe { super::reno::BETA_ECN } else { super::reno::BETA };
        Self { w: Window::new(config), rtt0: p.rtt0.max(Dur::from_us(1)), beta_ecn, rtt: Dur::ZERO, rho: 1.0, up: 1.0, part: 0.0 }
    }

    #[cold]
    fn measure(&mut self, rtt: Dur) {
        self.rtt = rtt;
        if rtt != Dur::MAX {
            self.rho = (rtt.as_secs_f64() / self.rtt0.as_secs_f64()).max(1.0);
            self.up = libm::exp2(self.rho.min(RHO_MOST)) - 1.0;
        }
    }
}

impl LossBased for Hybla {
    window_in!(w);

    fn increase(&mut self, s: &AckSample) {
        if s.min_rtt != self.rtt {
            self.measure(s.min_rtt);
        }
        if self.w.unused(s) {
            return;
        }
        if let Some(n) = self.w.slow_start_by(s, self.up) {
            let square = self.rho * self.rho;
            if self.w.in_segments() {
                self.part += n * square / libm::floor(self.w.cwnd);
                let whole = libm::floor(self.part);
                self.part -= whole;
                self.w.cwnd += whole;
            } else {
                self.w.cwnd += n * square / self.w.cwnd;
            }
        }
    }

    fn decrease(&mut self, e: &CongestionEvent) -> f64 {
        self.w.basis(e) * if e.kind == CongestionKind::EcnEcho { self.beta_ecn } else { super::reno::BETA }
    }

    fn variables(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("rho", self.rho);
    }
}
