//! The window of RFC 5681: slow start, congestion avoidance, half after a loss.
//!
//! Tahoe, Reno, NewReno and SACK share it; they differ in loss detection and recovery.

use super::CcConfig;
use super::window::{LossBased, Window, window_in};
use super::{AckSample, CongestionEvent, CongestionKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of Reno: none beyond those of TCP itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RenoParams {}

/// Share of the window that a loss leaves (RFC 5681 equation 4).
pub const BETA: f64 = 0.5;
/// Share of the window that an ECN mark leaves (beta_ecn of RFC 8511 section 3 for Reno).
pub const BETA_ECN: f64 = 0.8;

/// Slow start, congestion avoidance and halving (RFC 5681 section 3.1).
///
/// Windows are in segments with fractions: congestion avoidance adds 1/cwnd per acknowledgment.
#[derive(Clone, Debug, PartialEq)]
pub struct Reno {
    w: Window,
    beta_ecn: f64,
}

impl Reno {
    /// Creates the state before the connection opens.
    pub fn new(_: &RenoParams, config: &CcConfig) -> Self {
        Self { w: Window::new(config), beta_ecn: if config.abe { BETA_ECN } else { BETA } }
    }
}

impl Reno {
    /// Placeholder at an end that sends no data.
    pub(crate) fn idle(config: &CcConfig) -> Self {
        Self { w: Window::new(config).without_hystart(), beta_ecn: BETA }
    }
}

impl LossBased for Reno {
    window_in!(w);
    const BRIEF: bool = true;

    #[inline(always)]
    fn increase(&mut self, s: &AckSample) {
        if self.w.unused(s) {
            return;
        }
        if let Some(n) = self.w.slow_start(s) {
            // RFC 5681 equation 3; per acknowledgment without byte counting.
            self.w.avoid(n);
        }
    }

    fn decrease(&mut self, e: &CongestionEvent) -> f64 {
        let beta = if e.kind == CongestionKind::EcnEcho { self.beta_ecn } else { BETA };
        self.w.basis(e) * beta
    }
}
