//! Slow start that ends before it overshoots.

use super::AckSample;
use crate::config::TcpConfig;
use crate::params::SlowStart;

/// State of HyStart++ (RFC 9406).
#[derive(Clone, Debug, PartialEq)]
pub struct HyStart {}

impl HyStart {
    /// What watches slow start; `None` for the standard one.
    pub fn new(kind: SlowStart, _: &TcpConfig) -> Option<Self> {
        (kind != SlowStart::Standard).then_some(Self {})
    }

    /// By how much the window grows instead of by `up` segments.
    pub fn on_ack(&mut self, up: f64, _cwnd: f64, _s: &AckSample) -> f64 {
        up
    }

    /// Whether slow start is to end.
    pub fn ended(&self) -> bool {
        false
    }

    /// The window was cut.
    pub fn on_congestion(&mut self) {}
}
