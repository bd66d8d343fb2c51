//! LEDBAT: a background flow that keeps the queueing delay at a target and yields to others.
//!
//! Source: RFC 6817 (2012), section 2.4.2: `cwnd += GAIN (TARGET - queueing delay) / TARGET * bytes_newly_acked * MSS / cwnd`, where the queueing delay is the least of the
//! last few delays less the least of the last ten minutes; never more than was in flight and ALLOWED_INCREASE; a loss takes half.
//!
//! The delay is one-way if TCP has timestamps (both ends of a flow have the same clock here; it counts in `timestamp_tick`, and includes the time an acknowledgment is
//! delayed), else, or with `delay = "rtt"`, the round trip, reverse path included; the RFC uses the one-way delay.
//!
//! Deviations: the initial window is TCP's, not 2 segments. Slow start is optional (`slow_start`); the RFC has none. The timeout is TCP's, not CTO.

use super::CcConfig;
use super::window::{LEAST_SSTHRESH, LossBased, Window, window_in};
use super::{AckSample, Algorithm, CcContext, CongestionEvent};
use fairlane_units::{Dur, Time};

fairlane_units::params! {
    /// LEDBAT (RFC 6817).
    pub struct LedbatParams {
        /// Target of the queueing delay (TARGET of section 2.5: at most 100 ms).
        #[schemars(extend("x-min" = "1us", "x-max" = "10s"))]
        pub target: Dur = Dur::from_ms(100),
        /// Segments added per round trip without a queue (GAIN of section 2.5: at most 1).
        #[schemars(range(min = 0.0, max = 100.0))]
        pub gain: f64 = 1.0,
        /// Minutes over which the smallest delay is kept (BASE_HISTORY of section 2.5: 10).
        #[schemars(range(min = 1, max = 1000))]
        pub base_history: u32 = 10,
        /// Number of latest delays whose minimum is the current delay, none older than a round trip (CURRENT_FILTER of section 2.5: 4).
        #[schemars(range(min = 1, max = 1000))]
        pub current_filter: u32 = 4,
        /// Segments by which the window may exceed the data in flight (ALLOWED_INCREASE of section 2.5: 1).
        #[schemars(range(min = 0.0, max = 1000.0))]
        pub allowed_increase: f64 = 1.0,
        /// Smallest window in segments (MIN_CWND of section 2.5: 2).
        #[schemars(range(min = 1.0, max = 1000.0))]
        pub min_window: f64 = 2.0,
        /// Begin a connection with slow start, until the queueing delay reaches the target (ns-3); the RFC does not specify it.
        pub slow_start: bool = false,
        /// Delay that is measured.
        pub delay: LedbatDelay = LedbatDelay::OneWay,
    }

    /// Delay that LEDBAT measures.
    pub enum LedbatDelay {
        /// One-way delay with timestamps, else the round-trip time.
        #[default]
        OneWay,
        /// Round-trip time.
        Rtt,
    }
}

/// The base delay rolls over once a minute (section 2.4.2, `update_base_delay`).
const MINUTE: u64 = 60;

/// Delays kept for the two minima.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// Minimum of each minute, the newest last in the order of `at`.
    base: Vec<Dur>,
    at: usize,
    minute: u64,
    /// Latest delays with their times.
    current: Vec<(Time, Dur)>,
    next: usize,
}

impl History {
    /// History before the first measurement.
    pub fn new(minutes: u32, samples: u32) -> Self {
        Self {
            base: vec![Dur::MAX; minutes.clamp(1, 1000) as usize],
            at: 0,
            minute: 0,
            current: vec![(Time::ZERO, Dur::MAX); samples.clamp(1, 1000) as usize],
            next: 0,
        }
    }

    /// Takes a delay (`update_base_delay` and `update_current_delay` of section 2.4.2).
    pub fn take(&mut self, now: Time, delay: Dur) {
        let minute = now.as_ps() / Dur::from_secs(MINUTE).as_ps();
        if minute != self.minute {
            self.minute = minute;
            self.at = (self.at + 1) % self.base.len();
            self.base[self.at] = delay;
        }
        self.base[self.at] = self.base[self.at].min(delay);
        self.current[self.next] = (now, delay);
        self.next = (self.next + 1) % self.current.len();
    }

    /// Queueing delay: FILTER(current_delays) - MIN(base_delays), with delays not older than `age` (section 2.5: a round trip).
    pub fn queueing(&self, now: Time, age: Dur) -> Dur {
        let base = self.base.iter().copied().min().unwrap_or(Dur::MAX);
        let young = self.current.iter().filter(|c| now.since(c.0) <= age);
        let current = young.map(|c| c.1).min().unwrap_or(base);
        if current == Dur::MAX { Dur::ZERO } else { current.saturating_sub(base) }
    }
}

/// State of LEDBAT.
#[derive(Clone, Debug, PartialEq)]
pub struct Ledbat {
    w: Window,
    p: LedbatParams,
    history: History,
    queueing: Dur,
    one_way: bool,
    /// Segments that segmentation offload may defer until they make a pair: they count as in flight.
    held: f64,
}

impl Algorithm for LedbatParams {
    type State = Ledbat;
    fn build(&self, context: &CcContext<'_>) -> Ledbat {
        Ledbat::new(self, context.config)
    }
}

impl Ledbat {
    /// Creates the state before the connection opens.
    pub fn new(p: &LedbatParams, config: &CcConfig) -> Self {
        let one_way = p.delay == LedbatDelay::OneWay && config.timestamps;
        let history = History::new(p.base_history, p.current_filter);
        Self { w: Window::new(config), p: p.clone(), history, queueing: Dur::ZERO, one_way, held: if config.tso { 1.0 } else { 0.0 } }
    }

    /// (TARGET - queueing delay) / TARGET.
    fn off_target(&self) -> f64 {
        1.0 - self.queueing.as_ps() as f64 / self.p.target.as_ps().max(1) as f64
    }
}

impl LossBased for Ledbat {
    window_in!(w);
    fn increase(&mut self, s: &AckSample) {
        if let Some(delay) = if self.one_way { s.one_way } else { s.rtt } {
            self.history.take(s.now, delay);
            self.queueing = self.history.queueing(s.now, s.srtt);
        }
        let off = self.off_target();
        let acked = s.acked as f64 / self.w.smss;
        if self.p.slow_start && off > 0.0 && self.w.in_slow_start() {
            let _ = self.w.slow_start(s);
        } else {
            if self.w.in_slow_start() {
                // Where the delay is at the target slow start is over.
                self.w.ssthresh = self.w.cwnd.max(LEAST_SSTHRESH);
            }
            self.w.cwnd += self.p.gain * off * acked / self.w.cwnd;
            // flightsize is that before the acknowledgment.
            let flight = (s.in_flight + s.acked) as f64 / self.w.smss;
            self.w.cwnd = self.w.cwnd.min(flight + self.held + self.p.allowed_increase);
        }
        self.w.cwnd = self.w.cwnd.max(self.p.min_window);
    }
    fn decrease(&mut self, e: &CongestionEvent) -> f64 {
        (self.w.basis(e) / 2.0).max(self.p.min_window).min(self.w.cwnd)
    }
    fn restarted(&mut self, _: Time) {
        self.queueing = Dur::ZERO;
    }
    fn variables(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("queueing_delay", self.queueing.as_secs_f64());
    }
}
