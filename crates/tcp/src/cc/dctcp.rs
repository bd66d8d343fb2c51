//! DCTCP: the window is cut in proportion to the share of marked data.
//!
//! Source: RFC 8257 section 3.3 (alpha, window), 3.5 (losses); M. Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010. The receiver's
//! part (section 3.2) is in `endpoint/ecn.rs`; the mode `dctcp` is implied by the algorithm. Growth and the answer to losses are Reno's;
//! growth counts all bytes acknowledged, as RFC 5681 section 3.1 recommends and Linux and ns-3 do, whatever bounds slow start.
//!
//! Deviations: section 3.3 counts acknowledged bytes; SACKed bytes are counted here when they are SACKed. Alpha is a fraction, not scaled
//! to integers (Linux: 1/1024). Linux and ns-3 hold the window for a round trip after a mark; RFC 3168 section 6.1.2 requires that only for
//! acknowledgments with ECE.

use super::CcConfig;
use super::window::{LossBased, Window, window_in};
use super::{AckSample, Algorithm, CcContext, CongestionEvent, CongestionKind, MarkSample, Wants};
use crate::cc::reno::BETA;
use crate::choices::EcnMode;
use fairlane_net::Ecn;
use fairlane_units::Time;

fairlane_units::params! {
    /// DCTCP (RFC 8257).
    pub struct DctcpParams {
        /// Weight of the newest window of data in alpha (g of RFC 8257 section 4.2, ns-3 `DctcpShiftG`; Linux: 2^-`dctcp_shift_g`).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub gain: f64 = 0.0625,
        /// Alpha before the first window of data (RFC 8257 section 4.2, ns-3 `DctcpAlphaOnInit`; Linux `dctcp_alpha_on_init`, 1024 of 1024).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub initial_alpha: f64 = 1.0,
    }
}

/// State of DCTCP.
#[derive(Clone, Debug, PartialEq)]
pub struct Dctcp {
    w: Window,
    gain: f64,
    /// Estimate of the share of bytes that are marked (`DCTCP.Alpha`).
    alpha: f64,
    /// End of the window of data that is being counted (`DCTCP.WindowEnd`).
    window_end: u64,
    /// Bytes acknowledged in it (`DCTCP.BytesAcked`).
    acked: u64,
    /// Marked bytes among them (`DCTCP.BytesMarked`).
    marked: u64,
}

impl Algorithm for DctcpParams {
    type State = Dctcp;
    const ECN: EcnMode = EcnMode::Dctcp;
    fn build(&self, context: &CcContext<'_>) -> Dctcp {
        Dctcp::new(self, context.config)
    }
}

impl Dctcp {
    /// Creates the state before the connection opens.
    pub fn new(p: &DctcpParams, config: &CcConfig) -> Self {
        Self { w: Window::new(config).counting_all(), gain: p.gain, alpha: p.initial_alpha, window_end: 0, acked: 0, marked: 0 }
    }

    /// Estimate of the share of bytes that are marked.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }
}

impl LossBased for Dctcp {
    window_in!(w);

    fn increase(&mut self, s: &AckSample) {
        if self.w.unused(s) {
            return;
        }
        if let Some(n) = self.w.slow_start(s) {
            self.w.avoid(n);
        }
    }

    /// Updates alpha (RFC 8257 section 3.3, steps 1 to 9).
    fn marks(&mut self, m: &MarkSample) {
        self.acked += m.delivered;
        self.marked += m.ce;
        if m.ack <= self.window_end || self.acked == 0 {
            return;
        }
        let share = self.marked as f64 / self.acked as f64;
        self.alpha = self.alpha * (1.0 - self.gain) + self.gain * share;
        self.window_end = m.next;
        (self.acked, self.marked) = (0, 0);
    }

    fn decrease(&mut self, e: &CongestionEvent) -> f64 {
        if e.kind == CongestionKind::EcnEcho {
            // RFC 8257 section 3.3: of the window, whatever is in flight.
            self.w.cwnd * (1.0 - self.alpha / 2.0)
        } else {
            self.w.basis(e) * BETA
        }
    }

    fn restarted(&mut self, _: Time) {
        (self.acked, self.marked) = (0, 0);
    }

    fn wants(&self) -> Wants {
        Wants { ect: Ecn::Ect0, grades_marks: true, ..Wants::default() }
    }

    fn variables(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("alpha", self.alpha);
    }
}
