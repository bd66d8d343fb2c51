//! TCP Vegas: the window follows the number of queued packets, estimated from the round-trip time.
//!
//! Source: L. Brakmo, L. Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global Internet", IEEE JSAC 13(8), 1995. Once per round
//! trip it computes `diff = (expected - actual) * BaseRTT`, the packets in the queue, where `expected = window / BaseRTT` and `actual =
//! sent / RTT` (section 3.2): the window grows by one segment in the next round trip below `alpha`, and shrinks by one above `beta`. Slow
//! start doubles every other round trip and ends when `diff` exceeds `gamma` (section 3.3). Retransmission by a fine clock (section 3.1) is
//! the recovery scheme `vegas`; the window is cut only for segments sent after the last cut.
//!
//! Unspecified details follow the authors' own implementation, as described by U. Hengartner et al., "TCP Vegas Revisited", IEEE INFOCOM
//! 2000 section II: a loss takes a quarter of the window, the loss of a retransmission half; leaving slow start takes an eighth.
//!
//! Deviations: the increase of a round is spread over its acknowledgments, the decrease is made at once. The window is at least two
//! segments. Other readings are values of `reading`: `ns2` (Agent/TCP/Vegas of ns-2.35), `ns3` (TcpVegas of ns-3.37), `linux` (tcp_vegas.c
//! of 6.x).

use super::CcConfig;
use super::rtt_stats::{ENOUGH, queued, ratio};
use super::window::Window;
use super::{AckSample, Algorithm, CcContext, CongestionControl, CongestionEvent, CongestionKind, FineClock, RecoveryExit};
use crate::choices::Scheme;
use fairlane_units::{Dur, Time};

fairlane_units::params! {
    /// TCP Vegas (Brakmo and Peterson 1995).
    pub struct VegasParams {
        /// Segments in the queue below which the window grows (section 3.2: 2 of Vegas-2,4; ns-2: 1).
        #[schemars(range(min = 0.0, max = 1000.0))]
        pub alpha: f64 = 2.0,
        /// Segments in the queue above which the window shrinks (section 3.2: 4 of Vegas-2,4; ns-2: 3).
        #[schemars(range(min = 0.0, max = 1000.0))]
        pub beta: f64 = 4.0,
        /// Segments in the queue at which slow start ends (section 3.3: 1).
        #[schemars(range(min = 0.0, max = 1000.0))]
        pub gamma: f64 = 1.0,
        /// Reading of the details that the paper does not specify.
        pub reading: Reading = Reading::Paper,
    }

    /// Reading of the paper: the measurement, and how the window follows it.
    pub enum Reading {
        /// The paper: the round-trip time of one segment per round trip, fractions of segments, slow start doubles every other round trip.
        #[default]
        Paper,
        /// ns-2.35: the mean of the round trip's measurements, whole segments rounded to the nearest, growth only where the window was used up to two segments.
        Ns2,
        /// ns-3.37: the smallest smoothed round-trip time, whole segments rounded up, slow start doubles every round trip.
        Ns3,
        /// Linux: the smallest measurement of the round trip, whole segments rounded down, slow start doubles every round trip, a loss halves.
        Linux,
    }
}

/// Smallest window in segments, and the window after a timeout (Hengartner et al. 2000 section II).
const LEAST: f64 = 2.0;
/// Slow-start threshold once linear increase and decrease have begun: reached again by a timeout only.
const LINEAR: f64 = 2.0;
/// Share of the window that leaving slow start takes (Hengartner et al. 2000 section II).
const EXIT_CUT: f64 = 0.125;
/// Shares of the window that a loss takes, and that the loss of a retransmission takes (Hengartner et al. 2000 section II).
const LOSS_CUT: f64 = 0.25;
const AGAIN_CUT: f64 = 0.5;
/// Share of the window below which the threshold does not fall (Linux `tcp_current_ssthresh`, ns-3).
const FLOOR: f64 = 0.75;

/// The fine-grained retransmission timeout, in picoseconds: SRTT + 2 mdev, and a sixteenth more (the authors' implementation; not in the
/// paper).
#[derive(Clone, Debug, Default, PartialEq)]
struct Fine {
    srtt: f64,
    dev: f64,
    timeout: f64,
}

impl Fine {
    fn sample(&mut self, rtt: Dur) {
        let r = rtt.as_ps() as f64;
        if self.timeout == 0.0 {
            (self.srtt, self.dev) = (r, r / 4.0);
        }
        let off = r - self.srtt;
        self.srtt += off / 8.0;
        self.dev += (off.abs() - self.dev) / 4.0;
        self.timeout = (self.srtt + 2.0 * self.dev) * (17.0 / 16.0);
    }
}

/// State of TCP Vegas.
#[derive(Clone, Debug, PartialEq)]
pub struct Vegas {
    w: Window,
    p: VegasParams,
    /// BaseRTT: the smallest round-trip time; [`Dur::MAX`] before the first.
    base: Dur,
    /// First byte of the distinguished segment, where the round began, and its time.
    mark: u64,
    began: Time,
    /// Sum, number and minimum of the round's measurements.
    sum: Dur,
    count: u32,
    least: Dur,
    /// Segments that each segment acknowledged adds to the window in this round.
    up: f64,
    /// True if slow start doubles in this round trip; it compares at the end of the other.
    doubling: bool,
    fine: Fine,
    /// Time of the last cut, and the hole of a loss event.
    changed: Time,
    hole: (Time, bool),
    /// ns-2: window that the last cut left.
    remains: f64,
    /// ns-2: the window after the first round trip of data (`delay_growth_`), in segments; 0: past.
    opening: f64,
    /// Packets in the queue at the last comparison.
    diff: f64,
}

impl Algorithm for VegasParams {
    type State = Vegas;
    const SCHEME: Scheme = Scheme::Vegas;
    fn build(&self, context: &CcContext<'_>) -> Vegas {
        Vegas::new(self, context.config)
    }
}

impl Vegas {
    /// Creates the state before the connection opens.
    pub fn new(p: &VegasParams, config: &CcConfig) -> Self {
        Self {
            w: Window::new(config),
            p: p.clone(),
            base: Dur::MAX,
            mark: 0,
            began: Time::ZERO,
            sum: Dur::ZERO,
            count: 0,
            least: Dur::MAX,
            up: 0.0,
            doubling: true,
            fine: Fine::default(),
            changed: Time::ZERO,
            hole: (Time::ZERO, false),
            remains: 0.0,
            opening: 0.0,
            diff: 0.0,
        }
    }

    fn ns2(&self) -> bool {
        self.p.reading == Reading::Ns2
    }

    /// Packets in the queue: the data in flight, less the capacity of the path at the rate of the last round trip.
    fn queued(&mut self, s: &AckSample) -> Option<f64> {
        let now_out = s.in_flight as f64 / self.w.smss;
        let sent = (s.delivered + s.in_flight).saturating_sub(self.mark) as f64 / self.w.smss;
        if !self.ns2() {
            let rtt = s.rtt?;
            self.base = self.base.min(rtt);
            // The window is the data in flight, so that expected and actual refer to the same segments.
            return Some(queued(sent, self.base, rtt));
        }
        let mean = if self.count > 0 { Dur::from_ps(self.sum.as_ps() / u64::from(self.count)) } else { s.now.since(self.began) };
        if mean == Dur::ZERO {
            return None;
        }
        if mean < self.base || sent <= 1.0 {
            self.base = mean;
        }
        // The segment just acknowledged still counts as out.
        let diff = now_out + 1.0 - sent * ratio(self.base, mean);
        Some(libm::trunc(diff + 0.5))
    }

    /// Compares at the acknowledgment of the distinguished segment (section 3.2, section 3.3).
    fn compare(&mut self, s: &AckSample) {
        let Some(diff) = self.queued(s) else { return };
        self.diff = diff;
        if self.w.in_slow_start() {
            self.doubling = !self.doubling;
            self.up = 0.0;
            if !self.doubling {
                return;
            }
            if diff > self.p.gamma {
                self.w.ssthresh = LINEAR;
                self.w.cwnd = (self.w.cwnd * (1.0 - EXIT_CUT)).max(LEAST);
            } else {
                self.up = 1.0;
            }
        } else if diff > self.p.beta {
            self.w.cwnd = (self.w.cwnd - 1.0).max(LEAST);
            self.up = 0.0;
        } else {
            self.up = if diff < self.p.alpha { 1.0 / self.w.cwnd } else { 0.0 };
        }
    }

    /// Handles an acknowledgment as in the paper and ns-2.
    fn take(&mut self, s: &AckSample) {
        let before = s.delivered - s.acked.min(s.delivered);
        if self.opening != 0.0 && before as f64 >= self.w.smss {
            self.w.cwnd = self.opening;
            self.opening = 0.0;
        }
        if s.delivered > self.mark {
            self.compare(s);
            self.mark = s.delivered + s.in_flight;
            self.began = s.now;
            (self.sum, self.count) = (Dur::ZERO, 0);
        }
        // ns-2 tests if all but two segments of the window are in flight, with the one just acknowledged.
        let used = if self.ns2() { self.w.cwnd - s.in_flight as f64 / self.w.smss <= 3.0 } else { !self.w.unused(s) };
        if self.up > 0.0 && used {
            if self.up == 1.0 {
                // Beyond the threshold this round's growth is over.
                let _ = self.w.slow_start(s);
            } else {
                let n = self.w.byte_counting.map_or(1.0, |limit| (s.acked as f64 / self.w.smss).min(f64::from(limit)));
                self.w.cwnd += n * self.up;
            }
        }
        if let Some(rtt) = s.rtt {
            // ns-2's first packet, which stands for the SYN, does not count.
            if !(self.ns2() && before == 0) {
                self.sum += rtt;
                self.count += 1;
            }
            self.base = self.base.min(rtt);
            self.fine.sample(rtt);
        }
    }

    /// Handles an acknowledgment as in Linux and ns-3.
    fn take_least(&mut self, s: &AckSample) {
        let smoothed = self.p.reading == Reading::Ns3;
        if let Some(rtt) = s.rtt {
            let rtt = if smoothed { s.srtt } else { rtt };
            self.base = self.base.min(rtt);
            self.least = self.least.min(rtt);
            self.count += 1;
            self.fine.sample(rtt);
        }
        if smoothed && s.in_recovery {
            // After a timeout NewReno's growth, and a round trip of its own afterwards (TcpVegas::EnableVegas).
            if let Some(n) = self.w.slow_start(s) {
                self.w.add(n / self.w.cwnd);
            }
            (self.mark, self.count, self.least) = (s.delivered + s.in_flight, 0, Dur::MAX);
            return;
        }
        // Linux waits for data sent in the new round trip, ns-3 for the last of the old one.
        let over = s.delivered > self.mark || (smoothed && s.delivered == self.mark);
        if over && self.count >= ENOUGH {
            let whole = libm::trunc(self.w.cwnd);
            let target = libm::trunc(whole * ratio(self.base, self.least));
            let diff = if smoothed { whole - target } else { libm::trunc(whole * (ratio(self.least, self.base) - 1.0)) };
            self.diff = diff;
            if self.w.in_slow_start() && diff <= self.p.gamma {
                let _ = self.w.slow_start(s);
            } else if self.w.in_slow_start() {
                self.w.cwnd = whole.min(target + 1.0);
                self.w.ssthresh = self.low_threshold();
            } else if diff > self.p.beta {
                self.w.cwnd = whole - 1.0;
                self.w.ssthresh = self.low_threshold();
            } else if diff < self.p.alpha {
                self.w.cwnd = whole + 1.0;
            }
            self.w.cwnd = self.w.cwnd.max(LEAST);
            self.w.ssthresh = self.w.ssthresh.max(self.w.cwnd * FLOOR);
        } else if !self.w.unused(s)
            && (over || self.w.in_slow_start())
            && let Some(n) = self.w.slow_start(s)
            && over
        {
            // Too few measurements: Reno's growth.
            self.w.add(n / self.w.cwnd);
        }
        if over {
            self.mark = s.delivered + s.in_flight;
            (self.count, self.least) = (0, Dur::MAX);
        }
    }

    fn low_threshold(&self) -> f64 {
        self.w.ssthresh.min(self.w.cwnd - 1.0).max(LEAST)
    }

    /// Window that a loss leaves; `None`: no cut, as the segment was sent before the last one.
    fn left(&self, e: &CongestionEvent) -> Option<f64> {
        let basis = self.w.basis(e);
        match self.p.reading {
            Reading::Linux => return Some(basis / 2.0),
            Reading::Ns3 => return Some(self.low_threshold()),
            _ => {}
        }
        let (sent, again) = self.hole;
        if e.kind == CongestionKind::EcnEcho {
            return Some(basis * (1.0 - LOSS_CUT));
        }
        if sent <= self.changed {
            return None;
        }
        let cut = if again { AGAIN_CUT } else { LOSS_CUT };
        Some(if self.ns2() {
            let whole = libm::trunc(basis);
            if whole <= 3.0 {
                LEAST
            } else if again {
                libm::trunc(whole / 2.0)
            } else {
                whole - libm::trunc(whole / 4.0)
            }
        } else {
            basis * (1.0 - cut)
        })
    }
}

impl CongestionControl for Vegas {
    fn on_established(&mut self, now: Time, window: u64) {
        let window = (window as f64 / self.w.smss).max(1.0);
        self.w.cwnd = window;
        self.began = now;
        if self.ns2() {
            // ns-2's first packet stands for the SYN: one alone, and the initial window with the second acknowledgment.
            (self.w.cwnd, self.opening) = (1.0, window);
        }
    }

    fn on_ack(&mut self, s: &AckSample) {
        self.w.observe(s);
        match self.p.reading {
            Reading::Paper | Reading::Ns2 => self.take(s),
            Reading::Ns3 | Reading::Linux => self.take_least(s),
        }
    }

    fn on_congestion(&mut self, e: &CongestionEvent) {
        if let CongestionKind::Timeout { .. } | CongestionKind::FastRetransmitRestart = e.kind {
            let left = if self.p.reading == Reading::Ns3 { self.low_threshold() } else { self.w.basis(e) / 2.0 };
            self.w.cut(e, left);
            if matches!(self.p.reading, Reading::Paper | Reading::Ns2) {
                self.w.cwnd = LEAST;
            }
            // ns-2 does not cut for losses between the loss of its first packet and the next timeout.
            self.changed = if self.ns2() && self.base == Dur::MAX { Time::MAX } else { e.now };
            self.remains = 0.0;
            return;
        }
        // The clock is given more time, until the next measurement.
        self.fine.timeout *= if self.hole.1 { 2.0 } else { 1.125 };
        if let Some(left) = self.left(e) {
            if self.ns2() {
                self.w.cwnd = left.max(LEAST);
            } else {
                self.w.cut(e, left.max(LEAST));
            }
            self.changed = e.now;
            self.remains = self.w.cwnd;
        }
        if !self.ns2() {
            self.up = 0.0;
        }
    }

    fn fine_clock(&mut self) -> Option<&mut dyn FineClock> {
        Some(self)
    }

    fn on_recovery_exit(&mut self, e: &RecoveryExit) {
        if self.ns2() {
            return;
        }
        let bound = e.bound as f64 / self.w.smss;
        self.w.cwnd = (self.w.cwnd - e.deflated as f64 / self.w.smss).min(bound).max(1.0);
        if self.p.reading == Reading::Paper {
            // Linear increase and decrease from here on.
            self.w.ssthresh = LINEAR;
        }
        (self.sum, self.count, self.least) = (Dur::ZERO, 0, Dur::MAX);
    }

    fn on_idle_restart(&mut self, now: Time, window: u64) {
        self.w.cwnd = self.w.cwnd.min(window as f64 / self.w.smss).max(1.0);
        self.began = now;
        (self.sum, self.count, self.least) = (Dur::ZERO, 0, Dur::MAX);
        if self.p.reading == Reading::Linux {
            self.base = Dur::MAX;
        }
    }

    fn on_syn_loss(&mut self, ssthresh: u64) {
        self.w.ssthresh = super::window::segments(ssthresh, self.w.smss);
    }

    fn on_decay(&mut self, ssthresh: u64) {
        self.w.ssthresh = super::window::segments(ssthresh, self.w.smss);
    }

    fn settle(&mut self) {
        self.w.settle();
    }

    fn undo(&mut self) {
        self.w.undo();
    }

    fn cwnd(&self) -> u64 {
        (self.w.cwnd.max(1.0) * self.w.smss) as u64
    }

    fn ssthresh(&self) -> u64 {
        (self.w.ssthresh * self.w.smss) as u64
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("base_rtt", if self.base == Dur::MAX { 0.0 } else { self.base.as_secs_f64() });
        out("diff", self.diff);
    }
}

impl FineClock for Vegas {
    fn on_hole(&mut self, sent: Time, again: bool) {
        self.hole = (sent, again);
    }

    fn overdue(&self, sent: Time, now: Time) -> bool {
        self.fine.timeout > 0.0 && now.since(sent).as_ps() as f64 >= self.fine.timeout
    }

    fn answered(&self, sent: Time) -> bool {
        sent <= self.changed
    }

    fn inflate(&mut self, bytes: u64) {
        self.w.cwnd += bytes as f64 / self.w.smss;
    }

    fn deflate(&mut self) {
        self.w.cwnd = self.remains;
        self.w.ssthresh = LINEAR;
    }

    fn is_below_segment(&self) -> bool {
        self.w.cwnd < 1.0
    }
}
