//! CUBIC: the window as a cubic function of the time since the last reduction, whatever the round-trip time.
//!
//! Source: RFC 9438; ABE for it: RFC 8511 section 3. Slow start is HyStart++ (RFC 9438 section 4.10, RFC 9406) unless
//! `slow_start` is set.
//!
//! Deviations:
//! - In the Reno-friendly region the window becomes W_est only if that is larger (section 4.3 always sets it).
//! - Growth of section 4.4 is per acknowledgment, as in the RFC, with `byte_counting = 1`; with more, as in the presets `ns3` and
//!   `linux`, it is per segment acknowledged, so that delayed acknowledgments do not slow it down.
//! - After an ECN mark with ABE fast convergence still takes the factor of losses (RFC 8511 does not mention W_max).
//!
//! Other implementations, as parameters: Linux 6.x (`net/ipv4/tcp_cubic.c`) and ns-3.37 (`TcpCubic`) count in whole segments (`whole_segments`), look
//! ahead by the smallest round-trip time instead of the smoothed one, and grow by at least 5 % per round trip before the first loss and after
//! a timeout (`first_growth`); W_est grows at the same rate to the end (`catch_up = false`); ns-3.37 has no Reno-friendly
//! region (`reno_friendly = false`). Linux also recomputes how fast it grows only when the window has changed or after 1/32 s (`hold`), looks ahead by the
//! smallest round-trip time of data since the last timeout, the first second of each stage left out, and lets an acknowledgment add several segments
//! (`tcp_cong_avoid_ai`). Of its arithmetic, K in steps of 1/1024 s and times in ticks are left out.

use super::CcConfig;
use super::window::{LossBased, Window, window_in};
use super::{AckSample, Algorithm, CcContext, CongestionEvent, CongestionKind};
use crate::choices::SlowStart;
use fairlane_units::{Dur, Time};

fairlane_units::params! {
    /// CUBIC (RFC 9438).
    pub struct CubicParams {
        /// Speed at which the window returns, in segments per cubic second (C of RFC 9438 section 5.1).
        #[schemars(range(min = 0.001, max = 1000.0))]
        pub c: f64 = 0.4,
        /// Share of the window that a loss leaves (beta_cubic of RFC 9438 section 4.6).
        #[schemars(range(min = 0.1, max = 0.99))]
        pub beta: f64 = 0.7,
        /// Share of the window that an ECN mark leaves with TCP's `abe` (beta_ecn of RFC 8511 section 3).
        #[schemars(range(min = 0.1, max = 0.99))]
        pub beta_ecn: f64 = 0.85,
        /// Keep the window at least as large as Reno's (RFC 9438 section 4.3).
        pub reno_friendly: bool = true,
        /// Let the estimate of Reno's window grow by a whole segment per round trip, from the last reduction on (RFC 9438 section 4.3; not in
        /// Linux).
        pub catch_up: bool = true,
        /// Lower the maximum further after a loss below the last maximum (RFC 9438 section 4.7).
        pub fast_convergence: bool = true,
        /// Least growth per round trip as a share of the window, while no maximum is known (Linux, ns-3: 0.05; none in RFC 9438).
        #[schemars(range(min = 0.0, max = 0.5))]
        pub first_growth: f64 = 0.0,
        /// Count window, target and growth in whole segments, and look ahead by the smallest round-trip time (Linux, ns-3). RFC 9438 section
        /// 4.2 uses fractions and the smoothed round-trip time.
        pub whole_segments: bool = false,
        /// Time for which the growth computed for a window is kept while the window stays unchanged (Linux: 1/32 s, which its clock makes 32
        /// ms), with `whole_segments`. `0s`: computed with each acknowledgment (RFC 9438).
        #[schemars(extend("x-max" = "1s"))]
        pub hold: Dur = Dur::ZERO,
    }
}

/// Most growth per round trip, as a share of the window (RFC 9438 section 4.2: target at most 1.5 cwnd).
const MOST: f64 = 0.5;
/// Acknowledgments for one more segment while the window is above its target, per segment of the window (Linux, ns-3).
const SLOWEST: f64 = 100.0;
/// Time after a cut in which round-trip times do not count for the minimum (Linux: HZ ticks).
const SETTLED: Dur = Dur::from_secs(1);
/// Seconds per picosecond: a multiplication is faster than a division for each acknowledgment.
const SECONDS: f64 = 1e-12;

/// State that the undo of a spurious reduction restores (RFC 9438 section 4.9).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Shape {
    /// Start of the current congestion avoidance stage (t_epoch), without its idle time.
    epoch: Option<Time>,
    /// Time from there to the plateau, in seconds (K of section 4.2).
    k: f64,
    /// The plateau: W_max in the cubic function.
    origin: f64,
    /// W_est of section 4.3.
    w_est: f64,
    /// Window before the latest reduction (cwnd_prior); 0: none.
    prior: f64,
    /// W_max for the next stage; 0: unknown, as before the first loss and after a timeout (sections 4.8 and 4.10).
    w_max: f64,
}

/// State of CUBIC.
#[derive(Clone, Debug, PartialEq)]
pub struct Cubic {
    w: Window,
    c: f64,
    /// alpha_cubic of section 4.3.
    alpha: f64,
    shape: Shape,
    /// Least growth per round trip, as a share of the window.
    least: f64,
    /// Time since which the application does not fill the window (section 5.8).
    paused: Option<Time>,
    whole: bool,
    catch_up: bool,
    friendly: bool,
    converge: bool,
    /// Acknowledgments counted towards the next segment, where these are whole.
    count: f64,
    /// Segments acknowledged for each segment of growth, the window and time of that computation, and how long it holds.
    every: f64,
    every_for: f64,
    every_at: Time,
    hold: Dur,
    /// Smallest round-trip time of data, where growth holds.
    least_rtt: Dur,
    first_growth: f64,
    beta: f64,
    beta_ecn: f64,
    /// Shape before the first cut that may prove spurious.
    before: Shape,
}

impl Algorithm for CubicParams {
    type State = Cubic;
    fn build(&self, context: &CcContext<'_>) -> Cubic {
        Cubic::new(self, context.config)
    }
}

impl Cubic {
    /// Creates the state before the connection opens.
    pub fn new(p: &CubicParams, config: &CcConfig) -> Self {
        Self {
            w: Window::with_slow_start(config, SlowStart::HystartPlusPlus),
            c: p.c,
            alpha: 3.0 * (1.0 - p.beta) / (1.0 + p.beta),
            shape: Shape::default(),
            least: 0.0,
            paused: None,
            whole: p.whole_segments,
            catch_up: p.catch_up,
            friendly: p.reno_friendly,
            converge: p.fast_convergence,
            count: 0.0,
            every: 0.0,
            every_for: 0.0,
            every_at: Time::ZERO,
            hold: p.hold,
            least_rtt: Dur::MAX,
            first_growth: p.first_growth,
            beta: p.beta,
            beta_ecn: if config.abe { p.beta_ecn } else { p.beta },
            before: Shape::default(),
        }
    }

    /// Begins a stage of congestion avoidance (section 4.2, equation 2).
    #[cold]
    fn begin(&mut self, now: Time) -> Time {
        let (s, cwnd) = (&mut self.shape, self.w.cwnd);
        if s.w_max > cwnd {
            s.origin = s.w_max;
            s.k = libm::cbrt((s.w_max - cwnd) / self.c);
        } else {
            // Sections 4.8 and 4.10: no maximum lies ahead.
            s.origin = cwnd;
            s.k = 0.0;
        }
        s.w_est = if self.friendly { cwnd } else { 0.0 };
        if s.prior == 0.0 {
            s.prior = cwnd;
        }
        s.epoch = Some(now);
        self.least = if s.w_max == 0.0 { self.first_growth } else { 0.0 };
        self.count = 0.0;
        now
    }

    /// Section 5.8: time that the application left the window unused is not part of t.
    #[cold]
    fn resume(&mut self, now: Time) {
        if let (Some(since), Some(epoch)) = (self.paused.take(), &mut self.shape.epoch) {
            *epoch += now.since(since);
        }
    }

    /// Grows the window in congestion avoidance by `n` segments.
    #[inline(always)]
    fn avoid(&mut self, n: f64, s: &AckSample) {
        if self.paused.is_some() {
            self.resume(s.now);
        }
        if self.whole && self.hold != Dur::ZERO {
            return self.hold_or_step(n, s);
        }
        let epoch = match self.shape.epoch {
            Some(epoch) => epoch,
            None => self.begin(s.now),
        };
        if self.whole {
            self.every = self.work_out(epoch, s);
            self.count += n;
            if self.count >= self.every {
                self.count -= self.every;
                self.w.cwnd += 1.0;
            }
            return;
        }
        let t = s.now.since(epoch).as_ps() as i64 as f64 * SECONDS - self.shape.k;
        let ahead = t + s.srtt.as_ps() as i64 as f64 * SECONDS;
        let inverse = 1.0 / self.w.cwnd;
        let friendly = self.estimate(s.acked as i64 as f64 / self.w.smss, inverse);
        let reno = self.c * t * t * t + self.shape.origin < friendly;
        let up = if reno { 0.0 } else { (self.c * ahead * ahead * ahead + self.shape.origin) * inverse - 1.0 };
        self.w.cwnd += n * if up < self.least { self.least } else { up.min(MOST) };
        if reno && self.w.cwnd < friendly {
            self.w.cwnd = friendly;
        }
    }

    /// Updates W_est by `acked` segments (section 4.3, equation 4).
    #[inline(always)]
    fn estimate(&mut self, acked: f64, inverse: f64) -> f64 {
        if self.friendly {
            let alpha = if self.catch_up && self.shape.w_est >= self.shape.prior { 1.0 } else { self.alpha };
            self.shape.w_est += alpha * acked * inverse;
        }
        self.shape.w_est
    }

    /// Grows as Linux `bictcp_update` and `tcp_cong_avoid_ai`.
    #[inline(never)]
    fn hold_or_step(&mut self, n: f64, s: &AckSample) {
        let cwnd = libm::floor(self.w.cwnd);
        if self.every_for != cwnd || s.now.since(self.every_at) >= self.hold {
            (self.every_for, self.every_at) = (cwnd, s.now);
            let epoch = match self.shape.epoch {
                Some(epoch) => epoch,
                None => self.begin(s.now),
            };
            self.every = self.work_out(epoch, s);
        } else {
            self.estimate(s.acked as f64 / self.w.smss, 1.0 / self.w.cwnd);
        }
        if self.count >= self.every {
            // Counted when growth was slower.
            self.count = 0.0;
            self.w.cwnd += 1.0;
        }
        self.count += n;
        let up = libm::floor(self.count / self.every);
        self.count -= up * self.every;
        self.w.cwnd += up;
    }

    /// Updates the smallest round-trip time of data (Linux `cubictcp_acked`).
    fn note_rtt(&mut self, s: &AckSample) {
        if let Some(rtt) = s.rtt
            && self.shape.epoch.is_none_or(|epoch| s.now.since(epoch) >= SETTLED)
        {
            self.least_rtt = self.least_rtt.min(rtt);
        }
    }

    /// Segments acknowledged for each segment of growth, in whole segments.
    #[inline(never)]
    fn work_out(&mut self, epoch: Time, s: &AckSample) -> f64 {
        let least = if self.hold == Dur::ZERO { s.min_rtt } else { self.least_rtt };
        let look = if least == Dur::MAX { Dur::ZERO } else { least };
        let ahead = s.now.since(epoch).as_secs_f64() + look.as_secs_f64() - self.shape.k;
        let friendly = libm::floor(self.estimate(s.acked as f64 / self.w.smss, 1.0 / self.w.cwnd));
        let cwnd = libm::floor(self.w.cwnd);
        let target = self.shape.origin + libm::trunc(self.c * ahead * ahead * ahead);
        let mut every = if target > cwnd { libm::floor(cwnd / (target - cwnd)) } else { SLOWEST * cwnd };
        if self.least > 0.0 {
            every = every.min(1.0 / self.least);
        }
        if friendly > cwnd {
            every = every.min(libm::floor(cwnd / (friendly - cwnd)));
        }
        every.max(1.0 / MOST)
    }
}

impl LossBased for Cubic {
    window_in!(w);

    #[inline(always)]
    fn increase(&mut self, s: &AckSample) {
        if self.hold != Dur::ZERO {
            self.note_rtt(s);
        }
        if self.w.unused(s) {
            self.paused = self.paused.or(Some(s.now));
            return;
        }
        if let Some(n) = self.w.slow_start(s) {
            self.avoid(n, s);
        }
    }

    fn decrease(&mut self, e: &CongestionEvent) -> f64 {
        if !self.w.may_undo() {
            self.before = self.shape;
        }
        let cwnd = self.w.cwnd.min(self.w.cap);
        if e.kind != (CongestionKind::Timeout { first: false }) {
            // Section 4.7, before the reduction of section 4.6.
            self.shape.w_max = if cwnd < self.shape.w_max && self.converge { cwnd * (1.0 + self.beta) / 2.0 } else { cwnd };
            self.shape.prior = cwnd;
        }
        if matches!(e.kind, CongestionKind::Timeout { .. } | CongestionKind::FastRetransmitRestart) {
            // Section 4.8: the stage after it has its plateau where it begins.
            self.shape.w_max = 0.0;
            self.least_rtt = Dur::MAX;
            self.every_for = 0.0;
        }
        self.shape.epoch = None;
        self.paused = None;
        self.w.basis(e) * if e.kind == CongestionKind::EcnEcho { self.beta_ecn } else { self.beta }
    }

    fn restarted(&mut self, _: Time) {
        // Slow start comes first; a new stage follows it.
        self.shape.epoch = None;
        self.paused = None;
    }

    fn undone(&mut self) {
        self.shape = self.before;
    }

    fn variables(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("w_max", self.shape.origin);
        out("w_est", self.shape.w_est);
        out("k", self.shape.k);
    }
}
