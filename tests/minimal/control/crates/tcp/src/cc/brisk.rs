//! Minimal example: Reno that grows by several segments per round trip.

use super::window::{LossBased, Window, window_in};
use super::{AckSample, Algorithm, CcContext, CongestionEvent};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Reno in a hurry (nowhere published).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BriskParams {
    /// Growth in a round trip, in segments.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub increase: f64,
}

impl Default for BriskParams {
    fn default() -> Self {
        Self { increase: 4.0 }
    }
}

/// State of the minimal example.
#[derive(Clone, Debug, PartialEq)]
pub struct Brisk {
    w: Window,
    increase: f64,
}

impl Algorithm for BriskParams {
    type State = Brisk;
    fn build(&self, context: &CcContext<'_>) -> Brisk {
        Brisk { w: Window::new(context.config), increase: self.increase }
    }
}

impl LossBased for Brisk {
    window_in!(w);
    fn increase(&mut self, s: &AckSample) {
        if self.w.unused(s) {
            return;
        }
        if let Some(n) = self.w.slow_start(s) {
            self.w.cwnd += self.increase * n / self.w.cwnd;
        }
    }
    fn decrease(&mut self, e: &CongestionEvent) -> f64 {
        self.w.basis(e) / 2.0
    }
}
