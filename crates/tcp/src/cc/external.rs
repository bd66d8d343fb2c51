//! Window and pacing rate from outside: an agent sets them while the connection runs.
//!
//! Source: A. Narayan, F. Cangialosi, D. Raghavan, P. Goyal, S. Narayana, R. Mittal, M. Alizadeh and H. Balakrishnan, "Restructuring
//! Endpoint Congestion Control", SIGCOMM 2018: the sender enforces the window and the rate that a program outside of it has set last, and
//! reports what it measures. Recovery of losses stays with the sender.
//!
//! Deviations: the first window is that of the parameters, not the initial window of TCP. A loss, a timeout or a mark changes nothing.

use super::{AckSample, Algorithm, CcContext, CongestionControl, CongestionEvent, RecoveryExit, Wants};
use crate::choices::len_bytes;
use crate::config::TcpConfig;
use fairlane_units::{Len, Rate, Time};

fairlane_units::params! {
    /// A window and a pacing rate that are set from outside (Narayan et al. 2018).
    pub struct ExternalParams {
        /// Congestion window; it may change while the connection runs.
        #[schemars(extend("x-min" = "1p"))]
        pub window: Len = Len::Packets(10),
        /// Pacing rate of the payload; it may change while the connection runs. 0bit/s: the window alone limits the sender.
        pub pacing_rate: Rate = UNSET,
    }
}

impl ExternalParams {
    /// Window in bytes on a connection, one segment at least.
    pub fn window_on(&self, config: &TcpConfig) -> u64 {
        let mss = u64::from(config.congestion().mss());
        len_bytes(self.window, mss).max(mss)
    }
}

impl Algorithm for ExternalParams {
    type State = External;
    fn build(&self, context: &CcContext<'_>) -> External {
        let mss = u64::from(context.config.mss());
        External { window: len_bytes(self.window, mss).max(mss), least: mss, rate: self.pacing_rate }
    }
}

/// The rate that stands for no pacing.
const UNSET: Rate = Rate::from_bps(0);
/// The rate without pacing: a segment takes no time.
const UNPACED: Rate = Rate::from_bps(u64::MAX);

/// Window and rate that were set last.
#[derive(Clone, Debug, PartialEq)]
pub struct External {
    window: u64,
    least: u64,
    rate: Rate,
}

impl CongestionControl for External {
    fn on_established(&mut self, _: Time, _: u64) {}
    fn on_ack(&mut self, _: &AckSample) {}
    fn on_congestion(&mut self, _: &CongestionEvent) {}
    fn on_recovery_exit(&mut self, _: &RecoveryExit) {}
    fn on_idle_restart(&mut self, _: Time, _: u64) {}
    fn wants(&self) -> Wants {
        Wants { pacing: true, owns_recovery: true, ..Wants::default() }
    }
    fn cwnd(&self) -> u64 {
        self.window
    }
    fn ssthresh(&self) -> u64 {
        u64::MAX
    }
    fn pacing_rate(&self) -> Option<Rate> {
        Some(if self.rate == UNSET { UNPACED } else { self.rate })
    }
    fn set_window(&mut self, window: u64, rate: Rate) -> bool {
        let next = Self { window: window.max(self.least), least: self.least, rate };
        let differs = next != *self;
        *self = next;
        differs
    }
    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("external_pacing_rate", self.rate.as_bps() as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TcpParams;
    use crate::cc::{CcParams, CongestionKind};
    use fairlane_net::Class;

    fn built(p: ExternalParams) -> (External, u64) {
        let params = TcpParams { cc: CcParams::External(p.clone()), ..TcpParams::default() };
        let config = TcpConfig::new(&params, Class::default()).expect("valid");
        let mss = u64::from(config.congestion().mss());
        (p.build(&CcContext::of(config.congestion())), mss)
    }

    /// Narayan et al. 2018 section 2: the window and the rate are those that were set last, whatever happens on the path.
    #[test]
    fn only_what_is_set_changes_window_and_rate() {
        let (mut cc, mss) = built(ExternalParams { window: Len::Packets(7), pacing_rate: UNSET });
        cc.on_established(Time::ZERO, 10 * mss);
        assert_eq!(cc.cwnd(), 7 * mss);
        for kind in [CongestionKind::FastRetransmit, CongestionKind::Timeout { first: true }, CongestionKind::EcnEcho] {
            cc.on_congestion(&CongestionEvent { kind, now: Time::ZERO, flight: 7 * mss });
        }
        cc.on_ack(&AckSample { acked: mss, may_grow: true, cwnd_limited: true, ..AckSample::default() });
        assert_eq!(cc.cwnd(), 7 * mss);
        let rate = Rate::from_bps(5_000_000);
        assert!(cc.set_window(20 * mss, rate));
        assert_eq!((cc.cwnd(), cc.pacing_rate()), (20 * mss, Some(rate)));
        assert!(!cc.set_window(20 * mss, rate), "nothing changes");
    }

    #[test]
    fn the_window_has_a_segment_at_least() {
        let (mut cc, mss) = built(ExternalParams { window: Len::Bytes(1), pacing_rate: UNSET });
        assert_eq!(cc.cwnd(), mss);
        cc.set_window(0, UNSET);
        assert_eq!(cc.cwnd(), mss);
    }
}
