//! TCP as RFC 793 has it: no congestion control.
//!
//! What the receiver's window takes may be in flight, from the first segment on, and no loss changes that. It is what Nagle (RFC 896) saw
//! congestion collapse with, and what all other algorithms here are measured against.
//! Its timer is that of RFC 793, too, unless `rto_rule` says otherwise, and its losses are found by that timer alone.

use super::{AckSample, Algorithm, CcSite, CongestionControl, CongestionEvent, RecoveryExit};
use crate::choices::Scheme;
use fairlane_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The TCP of RFC 793 has no parameters beyond those of TCP itself: `receive_window` and `window` are what bounds it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rfc793Params {}

impl Algorithm for Rfc793Params {
    type State = Rfc793;
    const SCHEME: Scheme = Scheme::Timeout;

    fn build(&self, site: &CcSite<'_>) -> Rfc793 {
        Rfc793 { window: site.config.window.clamp(site.config.smss.into(), LARGEST) }
    }
}

/// The largest window that a receiver can offer (RFC 7323 section 2.3).
const LARGEST: u64 = 65_535 << 14;

/// A window that nothing changes.
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
