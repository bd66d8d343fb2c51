//! The window of RFC 5681: slow start, congestion avoidance, half after a loss.
//!
//! Tahoe, Reno, NewReno and SACK share it; they differ in how they find and repair losses.

use super::{AckSample, CongestionControl, CongestionEvent, CongestionKind, RecoveryExit};
use crate::config::TcpConfig;
use crate::params::LossBasis;
use fairlane_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The window of RFC 5681 has no parameters beyond those of TCP itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RenoParams {}

/// Slow start, congestion avoidance and halving (RFC 5681 section 3.1).
///
/// Windows are kept in segments with fractions: congestion avoidance adds 1/cwnd an acknowledgment.
#[derive(Clone, Debug, PartialEq)]
pub struct Reno {
    cwnd: f64,
    ssthresh: f64,
    smss: f64,
    /// `window` in segments: bounds what a loss halves.
    cap: f64,
    /// Most segments an acknowledgment counts for; `None`: each counts for one.
    byte_counting: Option<f64>,
    validate: bool,
    basis: LossBasis,
    whole: bool,
    cut_again: bool,
}

impl Reno {
    /// The algorithm before the connection opens.
    pub fn new(_: &RenoParams, config: &TcpConfig) -> Self {
        let smss = f64::from(config.smss);
        Self {
            cwnd: 1.0,
            ssthresh: segments(config.initial_ssthresh, smss),
            smss,
            cap: segments(config.window, smss),
            byte_counting: config.byte_counting.map(f64::from),
            validate: config.cwnd_validation,
            basis: config.loss_basis,
            whole: config.ssthresh_whole_segments,
            cut_again: config.timeout_cuts_again,
        }
    }

    /// Congestion avoidance (RFC 5681 equation 3; per acknowledgment without byte counting).
    fn avoid(&mut self, segments: f64) {
        self.cwnd += segments / self.cwnd;
    }
}

fn segments(bytes: u64, smss: f64) -> f64 {
    if bytes == u64::MAX { f64::INFINITY } else { bytes as f64 / smss }
}

impl CongestionControl for Reno {
    fn on_established(&mut self, _: Time, window: u64) {
        self.cwnd = segments(window, self.smss).max(1.0);
    }

    #[inline(always)]
    fn on_ack(&mut self, s: &AckSample) {
        // RFC 7661 section 4.3: a window that was not used says nothing about the path.
        if !s.cwnd_limited && self.validate {
            return;
        }
        let Some(limit) = self.byte_counting else {
            if self.cwnd < self.ssthresh {
                self.cwnd += 1.0;
            } else {
                self.avoid(1.0);
            }
            return;
        };
        let mut n = s.acked as i64 as f64 / self.smss;
        n = if n < limit { n } else { limit };
        if self.cwnd < self.ssthresh {
            let up = n.min(self.ssthresh - self.cwnd);
            self.cwnd += up;
            n -= up;
            // The acknowledgment of a retransmission after a timeout may cover a whole window that arrived long before. It is no
            // news of the path: beyond the threshold it counts for nothing (RFC 3465 section 2.3 asks for one segment at most).
            if n <= 0.0 || (s.in_recovery && n > 1.0) {
                return;
            }
        }
        self.avoid(n);
    }

    fn on_congestion(&mut self, e: &CongestionEvent) {
        let (flight, window) = (e.flight as f64 / self.smss, self.cwnd.min(self.cap));
        let half = match self.basis {
            LossBasis::Flight => flight,
            LossBasis::Cwnd => window,
            LossBasis::Smaller => flight.min(window),
        } / 2.0;
        // RFC 5681 section 3.1: the threshold is held when the same segment times out again.
        if self.cut_again || e.kind != (CongestionKind::Timeout { first: false }) {
            self.ssthresh = if self.whole { half as u64 as f64 } else { half }.max(2.0);
        }
        self.cwnd = match e.kind {
            // RFC 5681 section 3.1: the loss window is one full-sized segment.
            CongestionKind::Timeout { .. } | CongestionKind::FastRetransmitRestart => 1.0,
            CongestionKind::FastRetransmit | CongestionKind::EcnEcho if self.basis == LossBasis::Cwnd => half.max(1.0),
            CongestionKind::FastRetransmit | CongestionKind::EcnEcho => self.ssthresh,
        };
    }

    fn on_recovery_exit(&mut self, e: &RecoveryExit) {
        if e.to_ssthresh {
            self.cwnd = self.ssthresh;
        }
        self.cwnd = (self.cwnd - e.deflated as f64 / self.smss).min(segments(e.bound, self.smss)).max(1.0);
    }

    fn on_idle_restart(&mut self, _: Time, window: u64) {
        self.cwnd = self.cwnd.min(segments(window, self.smss)).max(1.0);
    }

    fn on_syn_loss(&mut self, ssthresh: u64) {
        self.ssthresh = segments(ssthresh, self.smss);
    }

    #[inline]
    fn cwnd(&self) -> u64 {
        (self.cwnd * self.smss) as i64 as u64
    }

    #[inline]
    fn allows(&self, bytes: u64) -> bool {
        // A whole number is at most the whole part of the window where it is at most the window.
        bytes as i64 as f64 <= self.cwnd * self.smss
    }

    fn ssthresh(&self) -> u64 {
        (self.ssthresh * self.smss) as u64
    }
}
