//! Common part of the algorithms of RFC 5681's family: a window in segments with fractions, slow start, and the cut after a loss.
//!
//! Such an algorithm implements [`LossBased`]: the growth of the window in congestion avoidance, and its reduction by congestion.
//! [`Window`] does the rest.

use super::CcConfig;
use super::hystart::HyStart;
use super::{AckSample, CongestionControl, CongestionEvent, CongestionKind, MarkSample, RecoveryExit, SampleSource, Wants};
use crate::choices::{GrowthUnit, LossBasis, SlowStart};
use fairlane_units::{Rate, Time};

/// Unit of growth beyond the threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Fraction,
    Byte,
    Segment,
    /// Like `Segment`, but a cut clears the segments counted towards the next one (Linux `tcp_init_cwnd_reduction`, `tcp_enter_loss`; ns-3
    /// keeps them).
    SegmentAfresh,
}

/// [`Window::prior`] without a cut.
const NO_CUT: (f64, f64) = (0.0, 0.0);
/// Least threshold that a loss, or an early end of slow start, leaves (RFC 5681 equation 4).
pub(super) const LEAST_SSTHRESH: f64 = 2.0;

/// Congestion window and slow-start threshold, in segments with fractions, and the common rules of the family.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// Congestion window.
    pub cwnd: f64,
    /// Slow-start threshold; infinite while arbitrarily high.
    pub ssthresh: f64,
    /// Sender maximum segment size in bytes.
    pub smss: f64,
    /// `window` in segments: limits the base of a reduction.
    pub cap: f64,
    /// Most segments that an acknowledgment counts for; `None`: one each.
    pub byte_counting: Option<u32>,
    /// True if all segments acknowledged count beyond the threshold.
    all: bool,
    /// Unit of growth beyond the threshold, and segments acknowledged towards the next step.
    unit: Unit,
    count: u16,
    validate: bool,
    basis: LossBasis,
    whole: bool,
    cut_again: bool,
    /// Window, which is never zero, and threshold before the first cut that may prove spurious; zero: none.
    prior: (f64, f64),
    /// Early end of slow start.
    hystart: Option<Box<HyStart>>,
}

/// Converts bytes to segments; `u64::MAX` is infinite.
pub fn segments(bytes: u64, smss: f64) -> f64 {
    if bytes == u64::MAX { f64::INFINITY } else { bytes as f64 / smss }
}

impl Window {
    /// Creates the window before the connection opens; slow start as configured, or the standard one.
    pub fn new(config: &CcConfig) -> Self {
        Self::with_slow_start(config, SlowStart::Standard)
    }

    /// Creates a window whose default slow start is `own`.
    pub fn with_slow_start(config: &CcConfig, own: SlowStart) -> Self {
        let smss = f64::from(config.smss);
        Self {
            cwnd: 1.0,
            ssthresh: segments(config.initial_ssthresh, smss),
            smss,
            cap: segments(config.window, smss),
            byte_counting: config.byte_counting,
            all: config.avoidance_counts_all,
            unit: match config.growth_unit {
                GrowthUnit::Fraction => Unit::Fraction,
                GrowthUnit::Byte => Unit::Byte,
                GrowthUnit::Segment if config.grow_by_delivered => Unit::SegmentAfresh,
                GrowthUnit::Segment => Unit::Segment,
            },
            count: 0,
            validate: config.cwnd_validation,
            basis: config.loss_basis,
            whole: config.ssthresh_whole_segments,
            cut_again: config.timeout_cuts_again,
            prior: NO_CUT,
            hystart: HyStart::new(config.slow_start.unwrap_or(own), config).map(Box::new),
        }
    }

    /// Removes the early end of slow start, for an end that sends no data.
    #[must_use]
    pub fn without_hystart(mut self) -> Self {
        self.hystart = None;
        self
    }

    /// Lets congestion avoidance count all bytes acknowledged, whatever bounds slow start.
    #[must_use]
    pub fn counting_all(mut self) -> Self {
        self.all = true;
        self
    }

    /// True if slow start may end early.
    #[inline(always)]
    pub fn has_hystart(&self) -> bool {
        self.hystart.is_some()
    }

    /// True if this acknowledgment does not grow the window, because the window did not limit the sender (RFC 7661 section 4.3).
    #[inline(always)]
    pub fn unused(&self, s: &AckSample) -> bool {
        !s.cwnd_limited && self.validate
    }

    /// True below the slow-start threshold.
    #[inline(always)]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Grows the window below the threshold (RFC 5681 section 3.1, RFC 3465). Returns the segments acknowledged that are left for
    /// congestion avoidance; `None`: none.
    #[inline(always)]
    pub fn slow_start(&mut self, s: &AckSample) -> Option<f64> {
        self.slow_start_by(s, 1.0)
    }

    /// Grows the window below the threshold by `each` per segment acknowledged, see [`Self::slow_start`].
    #[inline(always)]
    pub fn slow_start_by(&mut self, s: &AckSample, each: f64) -> Option<f64> {
        let Some(limit) = self.byte_counting else {
            if self.cwnd < self.ssthresh {
                self.climb(each, s);
                return None;
            }
            return Some(1.0);
        };
        let mut n = s.acked as i64 as f64 / self.smss;
        let limit = f64::from(limit);
        n = if n < limit { n } else { limit };
        if self.cwnd < self.ssthresh {
            let up = (n * each).min(self.ssthresh - self.cwnd);
            self.climb(up, s);
            n -= up / each;
            // The acknowledgment of a retransmission after a timeout may cover a whole window that arrived long before. It does
            // not count beyond the threshold (RFC 3465 section 2.3 requires one segment at most).
            if n <= 0.0 || (s.in_recovery && n > 1.0) {
                return None;
            }
        } else if self.all {
            n = s.acked as i64 as f64 / self.smss;
        }
        Some(n)
    }

    /// Grows in congestion avoidance: a window of segments acknowledged adds one (RFC 5681 equation 3); `n` count.
    #[inline(always)]
    pub fn avoid(&mut self, n: f64) {
        match self.unit {
            Unit::Fraction => self.cwnd += n / self.cwnd,
            Unit::Byte => self.add_bytes(n / self.cwnd),
            Unit::Segment | Unit::SegmentAfresh => {
                self.step(n, libm::floor(self.cwnd).max(1.0));
            }
        }
    }

    /// Adds `n` segments per window acknowledged. With whole segments, each window earned adds one, and the rest is kept (ns-3
    /// TcpHighSpeed, TcpIllinois).
    #[inline]
    pub fn earn(&mut self, n: f64) {
        if !self.in_segments() {
            return self.add(n / self.cwnd);
        }
        let mut w = libm::floor(self.cwnd).max(1.0);
        let mut count = f64::from(self.count) + libm::floor(n);
        if count >= w {
            while count >= w {
                count -= w;
                w += 1.0;
            }
            self.cwnd = w;
        }
        self.count = count as u16;
    }

    /// Forgets the segments counted towards the next step.
    pub fn forget_count(&mut self) {
        self.count = 0;
    }

    /// True if growth is in whole segments.
    #[inline]
    pub fn in_segments(&self) -> bool {
        matches!(self.unit, Unit::Segment | Unit::SegmentAfresh)
    }

    /// Adds `up` segments beyond the threshold, or their whole bytes.
    #[inline]
    pub fn add(&mut self, up: f64) {
        if self.unit == Unit::Byte {
            return self.add_bytes(up);
        }
        self.cwnd += up;
    }

    /// Adds the whole bytes of `up` segments, at least one; the sum remains a whole number of bytes.
    #[inline(never)]
    fn add_bytes(&mut self, up: f64) {
        let bytes = libm::round(self.cwnd * self.smss) + libm::floor(up * self.smss).max(1.0);
        self.cwnd = bytes / self.smss;
        if self.cwnd * self.smss < bytes {
            // The quotient was rounded down: that many bytes must fit.
            self.cwnd = self.cwnd.next_up();
        }
    }

    /// Adds a segment for every `w` segments acknowledged; returns true if it does.
    #[inline(never)]
    pub fn step(&mut self, n: f64, w: f64) -> bool {
        let before = self.cwnd;
        let mut count = f64::from(self.count);
        if count >= w {
            // The window was cut since these were counted.
            count = 0.0;
            self.cwnd += 1.0;
        }
        count += n;
        let up = libm::floor(count / w);
        self.count = (count - up * w) as u16;
        self.cwnd += up;
        self.cwnd != before
    }

    #[inline(always)]
    fn climb(&mut self, up: f64, s: &AckSample) {
        match &mut self.hystart {
            None => self.cwnd += up,
            Some(watch) => {
                // A copy: the optimiser then builds no sample for a window without HyStart.
                let s = *s;
                self.cwnd += watch.on_ack(up, self.cwnd, &s).min(self.ssthresh - self.cwnd);
                if watch.ended() {
                    self.ssthresh = self.cwnd.max(LEAST_SSTHRESH);
                }
            }
        }
    }

    /// Passes an acknowledgment to the early end of slow start, before the window grows.
    #[inline]
    pub fn observe(&mut self, s: &AckSample) {
        if let Some(watch) = &mut self.hystart
            && self.cwnd < self.ssthresh
        {
            watch.observe(self.cwnd, s);
            if watch.ended() {
                self.ssthresh = self.cwnd.max(LEAST_SSTHRESH);
            }
        }
    }

    /// Base of the reduction in segments (RFC 5681 equation 4, or the preset's own choice).
    pub fn basis(&self, e: &CongestionEvent) -> f64 {
        let (flight, window) = (e.flight as f64 / self.smss, self.cwnd.min(self.cap));
        match self.basis {
            // A recovery of many holes lets it grow to several times the window. RFC 5681 equation 4 is a bound from above: a loss does not raise the window.
            LossBasis::Flight | LossBasis::Pipe => flight.min(self.cwnd),
            LossBasis::Cwnd => window,
            LossBasis::Smaller => flight.min(window),
        }
    }

    /// True if there was a cut that may prove spurious.
    pub fn may_undo(&self) -> bool {
        self.prior != NO_CUT
    }

    /// Cuts the window: the threshold becomes `target` segments; the window depends on the kind of event.
    pub fn cut(&mut self, e: &CongestionEvent, target: f64) {
        self.cut_above(e, target, 1.0);
    }

    /// Cuts as [`Self::cut`], but marks leave at least `least` segments: one, or a fraction of one where pacing delays the data. Below one
    /// it bounds the threshold, too.
    pub fn cut_above(&mut self, e: &CongestionEvent, target: f64, least: f64) {
        if self.unit == Unit::SegmentAfresh {
            self.count = 0;
        }
        if !self.may_undo() {
            self.prior = (self.cwnd, self.ssthresh);
        }
        // RFC 5681 section 3.1: the threshold is held when the same segment times out again.
        if self.cut_again || e.kind != (CongestionKind::Timeout { first: false }) {
            let fraction = e.kind == CongestionKind::EcnEcho && least < 1.0;
            self.ssthresh =
                if self.whole && !fraction { target as u64 as f64 } else { target }.max(if fraction { least } else { LEAST_SSTHRESH });
        }
        self.cwnd = match e.kind {
            // RFC 5681 section 3.1: the loss window is one full-sized segment.
            CongestionKind::Timeout { .. } | CongestionKind::FastRetransmitRestart => 1.0,
            CongestionKind::FastRetransmit if self.basis == LossBasis::Cwnd => target.max(1.0),
            CongestionKind::FastRetransmit => self.ssthresh,
            // Marks take the window down to one segment (RFC 3168 section 6.1.2), losses to two.
            CongestionKind::EcnEcho => target.max(least),
        };
        if let Some(watch) = &mut self.hystart {
            watch.on_congestion(matches!(e.kind, CongestionKind::Timeout { .. } | CongestionKind::FastRetransmitRestart));
        }
    }

    /// Makes the reductions permanent: the next one is a new event.
    pub fn settle(&mut self) {
        self.prior = NO_CUT;
    }

    /// Undoes the cuts since the last [`Self::settle`] (RFC 4015 section 3, RFC 3708).
    pub fn undo(&mut self) {
        if self.may_undo() {
            let (cwnd, ssthresh) = std::mem::replace(&mut self.prior, NO_CUT);
            self.cwnd = self.cwnd.max(cwnd);
            self.ssthresh = self.ssthresh.max(ssthresh);
            if let Some(watch) = &mut self.hystart
                && self.cwnd < self.ssthresh
            {
                watch.resume();
            }
        }
    }
}

/// Accessors of an `impl LossBased` for the field with the window.
macro_rules! window_in {
    ($field:ident) => {
        #[inline(always)]
        fn window(&self) -> &$crate::cc::Window {
            &self.$field
        }
        #[inline(always)]
        fn window_mut(&mut self) -> &mut $crate::cc::Window {
            &mut self.$field
        }
    };
}
pub(super) use window_in;

/// An algorithm that grows a window until congestion and then cuts it, like those of RFC 5681.
pub trait LossBased: Send {
    /// True if [`Self::increase`] reads only the fields that [`SampleSource::brief`] has, unless slow start may end early.
    const BRIEF: bool = false;
    /// The window.
    fn window(&self) -> &Window;
    /// The window.
    fn window_mut(&mut self) -> &mut Window;
    /// Handles new data acknowledged. The algorithm calls [`Window::slow_start`] itself.
    fn increase(&mut self, s: &AckSample);
    /// Returns the slow-start threshold after congestion, in segments; also the place to update the algorithm's state.
    fn decrease(&mut self, e: &CongestionEvent) -> f64;
    /// Resets the state of the path when the connection opens or data flows again after idleness.
    fn restarted(&mut self, now: Time) {
        let _ = now;
    }
    /// Handles the ECN feedback of an acknowledgment, see [`CongestionControl::on_marks`].
    fn marks(&mut self, m: &MarkSample) {
        let _ = m;
    }
    /// Restores the state after the last cut was undone; the window is restored already.
    fn undone(&mut self) {}
    /// Requirements on the sender.
    fn wants(&self) -> Wants {
        Wants::default()
    }
    /// Smallest window after marks, in segments.
    fn min_cwnd_after_mark(&self) -> f64 {
        1.0
    }
    /// Window in force, in segments.
    #[inline(always)]
    fn effective_cwnd(&self) -> f64 {
        self.window().cwnd
    }
    /// Slow start threshold in force, in segments.
    fn effective_ssthresh(&self) -> f64 {
        self.window().ssthresh
    }
    /// Pacing rate of the algorithm, if it has one.
    fn rate(&self) -> Option<Rate> {
        None
    }
    /// Reports internal variables for plots, by name.
    fn variables(&self, out: &mut dyn FnMut(&'static str, f64)) {
        let _ = out;
    }
}

#[inline(never)]
fn increase_by_all<T: LossBased>(algorithm: &mut T, s: &AckSample) {
    algorithm.window_mut().observe(s);
    algorithm.increase(s);
}

impl<T: LossBased> CongestionControl for T {
    fn on_established(&mut self, now: Time, window: u64) {
        let w = self.window_mut();
        w.cwnd = segments(window, w.smss).max(1.0);
        self.restarted(now);
    }

    #[inline(always)]
    fn on_ack(&mut self, s: &AckSample) {
        self.window_mut().observe(s);
        self.increase(s);
    }

    #[inline(always)]
    fn on_ack_with(&mut self, source: &impl SampleSource) {
        if T::BRIEF && !self.window().has_hystart() {
            self.increase(&source.brief());
        } else {
            increase_by_all(self, &source.sample());
        }
    }

    fn on_congestion(&mut self, e: &CongestionEvent) {
        let (target, least) = (self.decrease(e), self.min_cwnd_after_mark());
        self.window_mut().cut_above(e, target, least);
    }

    fn on_recovery_exit(&mut self, e: &RecoveryExit) {
        let w = self.window_mut();
        let from = if e.to_ssthresh { w.ssthresh } else { w.cwnd };
        w.cwnd = (from - e.deflated as f64 / w.smss).min(segments(e.bound, w.smss)).max(1.0);
    }

    fn on_idle_restart(&mut self, now: Time, window: u64) {
        let w = self.window_mut();
        w.cwnd = w.cwnd.min(segments(window, w.smss)).max(1.0);
        self.restarted(now);
    }

    fn on_syn_loss(&mut self, ssthresh: u64) {
        let w = self.window_mut();
        w.ssthresh = segments(ssthresh, w.smss);
    }

    fn on_decay(&mut self, ssthresh: u64) {
        self.on_syn_loss(ssthresh);
    }

    fn on_validation(&mut self, now: Time, window: u64, ssthresh: u64) {
        self.on_established(now, window);
        self.on_syn_loss(ssthresh);
    }

    fn on_marks(&mut self, m: &MarkSample) {
        self.marks(m);
    }

    fn settle(&mut self) {
        self.window_mut().settle();
    }

    fn undo(&mut self) {
        self.window_mut().undo();
        self.undone();
    }

    fn wants(&self) -> Wants {
        LossBased::wants(self)
    }

    #[inline]
    fn cwnd(&self) -> u64 {
        (self.effective_cwnd() * self.window().smss) as i64 as u64
    }

    #[inline]
    fn allows(&self, bytes: u64) -> bool {
        // A whole number is at most the whole part of the window where it is at most the window.
        bytes as i64 as f64 <= self.effective_cwnd() * self.window().smss
    }

    fn ssthresh(&self) -> u64 {
        (self.effective_ssthresh() * self.window().smss) as u64
    }

    #[inline]
    fn pacing_rate(&self) -> Option<Rate> {
        self.rate()
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.variables(out);
    }
}
