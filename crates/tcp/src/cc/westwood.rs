//! TCP Westwood+: after a loss the window is the measured bandwidth times the smallest round-trip time.
//!
//! Sources: S. Mascolo et al., "TCP Westwood: Bandwidth Estimation for Enhanced Transport over Wireless Links", MobiCom 2001; L. Grieco, S.
//! Mascolo, "Performance Evaluation and Comparison of Westwood+, New Reno, and Vegas TCP Congestion Control", ACM CCR 34(2), 2004, section
//! 2: once per round trip a sample `b = delivered / time`, smoothed as `B = 0.9 B + 0.1 b`; after a loss `ssthresh = max(2, B RTTmin)`, and
//! the window too, but one segment after a timeout. Growth is that of RFC 5681.
//!
//! Deviations: the filter begins with the first sample, not with zero, which would need some 20 round trips to fill (`from_zero`). Data
//! counts once, when it is acknowledged or SACKed, so duplicate acknowledgments without SACK blocks do not count until the hole is filled.
//! A loss never raises the window. Other readings are values: `filter = "tustin"` with `from_zero` is ns-3.37's, `filter = "cascade"` with
//! weight 7/8 and `interval = "50ms"` is that of Linux.

use super::CcConfig;
use super::window::{LossBased, Window, window_in};
use super::{AckSample, Algorithm, CcContext, CongestionEvent, CongestionKind, Wants};
use fairlane_units::{Dur, Time};

fairlane_units::params! {
    /// TCP Westwood+ (Grieco and Mascolo 2004).
    pub struct WestwoodParams {
        /// Weight of the old value in the filter (section 2.1: 0.9; Linux: 7/8).
        #[schemars(range(min = 0.0, max = 0.999))]
        pub weight: f64 = 0.9,
        /// Smoothing of the samples.
        pub filter: Filter = Filter::Single,
        /// Begin the filter at zero instead of with the first sample (ns-3).
        pub from_zero: bool = false,
        /// Shortest time of a sample, where the round trip is shorter (Linux: 50 ms).
        #[schemars(extend("x-max" = "10s"))]
        pub interval: Dur = Dur::ZERO,
        /// Take a sample with each acknowledgment, over the time since the last one: Westwood without the plus (Mascolo et al. 2001 section
        /// 2.2, equation 1; ns-3's default). Otherwise one per round trip.
        pub every_ack: bool = false,
    }

    /// The low-pass filter of the bandwidth.
    pub enum Filter {
        /// Each sample as it is: Westwood+ (Grieco and Mascolo 2004 section 2.1).
        #[default]
        Single,
        /// The mean of a sample and the previous one (Tustin's approximation, Mascolo et al. 2001 section 2.2; ns-3).
        Tustin,
        /// The filter of `single` applied twice (Linux).
        Cascade,
    }
}

/// Smallest threshold after a loss, in segments (Grieco and Mascolo 2004 section 2).
const LEAST: f64 = 2.0;

/// The smoothed bandwidth, in bytes per second.
#[derive(Clone, Debug, PartialEq)]
pub struct Bandwidth {
    filter: Filter,
    weight: f64,
    /// True before the first sample.
    fresh: bool,
    last: f64,
    inner: f64,
    /// The estimate.
    pub value: f64,
}

impl Bandwidth {
    /// Creates a filter without a sample.
    pub fn new(p: &WestwoodParams) -> Self {
        Self { filter: p.filter, weight: p.weight, fresh: !p.from_zero, last: 0.0, inner: 0.0, value: 0.0 }
    }

    /// Takes a sample.
    pub fn take(&mut self, sample: f64) {
        if self.fresh {
            self.fresh = false;
            (self.last, self.inner, self.value) = (sample, sample, sample);
            return;
        }
        let mix = |old: f64, new: f64| self.weight * old + (1.0 - self.weight) * new;
        match self.filter {
            Filter::Single => self.value = mix(self.value, sample),
            Filter::Tustin => self.value = mix(self.value, (sample + self.last) / 2.0),
            Filter::Cascade => {
                let inner = mix(self.inner, sample);
                self.value = mix(self.value, inner);
                self.inner = inner;
            }
        }
        self.last = sample;
    }
}

/// State of TCP Westwood+.
#[derive(Clone, Debug, PartialEq)]
pub struct Westwood {
    w: Window,
    bandwidth: Bandwidth,
    interval: Dur,
    every_ack: bool,
    /// Beginning of the current sample, and bytes delivered by then.
    since: Time,
    from: u64,
    least: Dur,
}

impl Algorithm for WestwoodParams {
    type State = Westwood;
    fn build(&self, context: &CcContext<'_>) -> Westwood {
        Westwood::new(self, context.config)
    }
}

impl Westwood {
    /// Creates the state before the connection opens.
    pub fn new(p: &WestwoodParams, config: &CcConfig) -> Self {
        Self {
            w: Window::new(config),
            bandwidth: Bandwidth::new(p),
            interval: p.interval,
            every_ack: p.every_ack,
            since: Time::ZERO,
            from: 0,
            least: Dur::MAX,
        }
    }

    fn measure(&mut self, s: &AckSample) {
        self.least = s.min_rtt;
        let span = s.now.since(self.since);
        let least = if self.every_ack { Dur::from_ps(1) } else { s.srtt.max(self.interval) };
        if s.srtt == Dur::ZERO || span < least {
            return;
        }
        self.bandwidth.take((s.delivered - self.from.min(s.delivered)) as f64 / span.as_secs_f64());
        (self.since, self.from) = (s.now, s.delivered);
    }
}

impl LossBased for Westwood {
    window_in!(w);
    fn wants(&self) -> Wants {
        // The bandwidth is also measured while losses are repaired.
        Wants { every_ack: true, ..Wants::default() }
    }
    fn increase(&mut self, s: &AckSample) {
        self.measure(s);
        if !s.may_grow || self.w.unused(s) {
            return;
        }
        if let Some(n) = self.w.slow_start(s) {
            self.w.add(n / self.w.cwnd);
        }
    }
    fn decrease(&mut self, e: &CongestionEvent) -> f64 {
        if self.bandwidth.value == 0.0 || self.least == Dur::MAX {
            return self.w.basis(e) / 2.0;
        }
        let pipe = (self.bandwidth.value * self.least.as_secs_f64() / self.w.smss).max(LEAST);
        match e.kind {
            CongestionKind::Timeout { .. } | CongestionKind::FastRetransmitRestart => pipe,
            CongestionKind::FastRetransmit | CongestionKind::EcnEcho => pipe.min(self.w.cwnd),
        }
    }
    fn restarted(&mut self, now: Time) {
        self.since = now;
    }
    fn variables(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("bandwidth", self.bandwidth.value * 8.0);
    }
}
