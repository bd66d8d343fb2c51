//! TCP as in RFC 793: no congestion control.
//!
//! The receiver's window alone limits the data in flight, from the first segment on, and no loss changes that. Nagle (RFC 896) saw
//! congestion collapse with it; all other algorithms here are compared with it. Unless `rto_rule` is set, the timer is that of RFC 793 as
//! well, and it alone detects losses.

use super::{AckSample, Algorithm, CcContext, CongestionControl, CongestionEvent, RecoveryExit};
use crate::choices::Scheme;
use fairlane_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of TCP as in RFC 793: none beyond those of TCP itself, where `receive_window` and `window` limit it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rfc793Params {}

impl Algorithm for Rfc793Params {
    type State = Rfc793;
    const SCHEME: Scheme = Scheme::Timeout;

    fn build(&self, context: &CcContext<'_>) -> Rfc793 {
        Rfc793 { window: context.config.window.clamp(context.config.smss.into(), LARGEST) }
    }
}

/// The largest window that a receiver can offer (RFC 7323 section 2.3).
const LARGEST: u64 = 65_535 << 14;

/// A window that is never changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Rfc793 {
    window: u64,
}

impl CongestionControl for Rfc793 {
    fn on_established(&mut self, _: Time, _: u64) {}
    fn on_ack(&mut self, _: &AckSample) {}
    fn on_congestion(&mut self, _: &CongestionEvent) {}
    fn on_recovery_exit(&mut self, _: &RecoveryExit) {}
    fn on_idle_restart(&mut self, _: Time, _: u64) {}
    fn cwnd(&self) -> u64 {
        self.window
    }
    fn ssthresh(&self) -> u64 {
        u64::MAX
    }
}
