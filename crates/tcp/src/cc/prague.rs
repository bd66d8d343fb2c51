//! Prague: DCTCP made fit for the Internet, for queues with low-latency marking (L4S, RFC 9330).
//!
//! Source: draft-briscoe-iccrg-prague-congestion-control-04 (the section numbers below) and the reference implementation for Linux 6.18
//! (`net/ipv4/tcp_prague.c` version 0.7), where the draft does not specify values. It fulfils RFC 9331 section 4: ECT(1) on every packet,
//! feedback that counts marks (AccECN, RFC 9768), pacing, an answer to losses like Reno's, little dependence on the round-trip time.
//!
//! - Alpha as in DCTCP (section 2.4.2), but updated once per *virtual* round trip: the measured one, at least `target_rtt`. It starts at 0; the first mark
//!   halves the window.
//! - A mark takes `alpha / 2` of the window, at most once per window of data and virtual round trip (section 2.4.3).
//! - Each segment acknowledged without a mark adds its share of one segment per virtual round trip, in the rounds with marks as well
//!   (section 2.4.4). In round trips shorter than that it is `(srtt / target_rtt)^2` of a segment, so that rates become
//!   equal; this begins some rounds after slow start.
//! - A loss halves the window (section 2.4.1). Without feedback that counts marks, echoes halve it as well (section 2.4.5).
//! - The window is a fraction, by which segments are paced. The data in flight is limited to that rounded up, at least two segments; marks take the fraction down to
//!   100 kbit/s, so that pacing holds back what two segments in flight would be too much for (Linux `prague_frac_cwnd_to_snd_cwnd`, `MINIMUM_RATE`).
//!
//! Deviations: segments do not become smaller where two are in flight, nor does the rate take the place of the window there; the rate does not swing by 3 % over
//! each round trip; no detection of a classic queue's marks. Up to version 0.6 of the implementation, with which most published measurements were made,
//! `transition` was 500.

use super::CcConfig;
use super::window::{LossBased, Window, window_in};
use super::{AckSample, Algorithm, CcContext, CongestionEvent, CongestionKind, MarkSample, Wants};
use crate::cc::reno::BETA;
use crate::choices::EcnMode;
use fairlane_net::Ecn;
use fairlane_units::{Dur, Rate, Time};

fairlane_units::params! {
    /// Prague for L4S (draft-briscoe-iccrg-prague-congestion-control-04).
    pub struct PragueParams {
        /// Weight of the newest round in alpha (g of section 2.4.2; Linux 2^-`PRAGUE_SHIFT_G`).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub gain: f64 = 0.0625,
        /// Shortest round trip that counts as it is (RTT_VIRT_MIN of section 2.4.4; Linux `prague_rtt_target`, 25 ms). `0s`: growth depends on
        /// the round-trip time as Reno's does.
        #[schemars(extend("x-max" = "1s"))]
        pub target_rtt: Dur = Dur::from_ms(25),
        /// Rounds after slow start before `target_rtt` applies (Linux `prague_rtt_transition`: 4 since version 0.7, 500 before).
        pub transition: u32 = 4,
        /// Pacing rate in slow start below half the threshold, as a multiple of `cwnd / SRTT` (Linux: 2); later it is 1.
        #[schemars(range(min = 1.0, max = 10.0))]
        pub slow_start_rate: f64 = 2.0,
    }
}

/// Smallest rate after marks, in bit/s (Linux `MINIMUM_RATE`).
const LEAST_RATE: f64 = 100e3;
/// Least number of segments in flight beyond slow start (Linux `MIN_CWND_RTT`).
const LEAST_IN_FLIGHT: f64 = 2.0;

/// State of Prague.
#[derive(Clone, Debug, PartialEq)]
pub struct Prague {
    w: Window,
    p: PragueParams,
    /// Estimate of the share of bytes that are marked.
    alpha: f64,
    /// True if a mark was reported: there is a queue on the path that marks.
    saw_ce: bool,
    /// True if the first mark is still to be answered.
    first: bool,
    /// End of the window of data being counted, and the bytes acknowledged and marked in it.
    window_end: u64,
    acked: u64,
    marked: u64,
    updated: Time,
    reduced: Time,
    /// Rounds since slow start.
    rounds: u32,
    srtt: Dur,
}

impl Algorithm for PragueParams {
    type State = Prague;
    const ECN: EcnMode = EcnMode::Accecn;
    fn build(&self, context: &CcContext<'_>) -> Prague {
        Prague::new(self, context.config)
    }
}

impl Prague {
    /// Creates the state before the connection opens.
    pub fn new(p: &PragueParams, config: &CcConfig) -> Self {
        Self {
            w: Window::new(config).counting_all(),
            p: p.clone(),
            alpha: 0.0,
            saw_ce: false,
            first: false,
            window_end: 0,
            acked: 0,
            marked: 0,
            updated: Time::ZERO,
            reduced: Time::ZERO,
            rounds: 0,
            srtt: Dur::ZERO,
        }
    }

    /// True if short round trips count as `target_rtt`.
    fn independent(&self) -> bool {
        self.rounds >= self.p.transition && !self.w.in_slow_start()
    }

    /// Growth per round trip, in segments.
    fn growth(&self) -> f64 {
        if !self.independent() || self.srtt >= self.p.target_rtt || self.srtt == Dur::ZERO {
            return 1.0;
        }
        let share = self.srtt.as_secs_f64() / self.p.target_rtt.as_secs_f64();
        share * share
    }
}

impl LossBased for Prague {
    window_in!(w);

    fn increase(&mut self, s: &AckSample) {
        self.srtt = s.srtt;
        if self.w.unused(s) {
            return;
        }
        let unmarked = AckSample { acked: s.acked.saturating_sub(s.ce_bytes), ..*s };
        if let Some(n) = self.w.slow_start(&unmarked) {
            self.w.cwnd += n * self.growth() / self.w.cwnd;
        }
    }

    fn marks(&mut self, m: &MarkSample) {
        self.acked += m.delivered;
        self.marked += m.ce;
        if m.ce != 0 && !self.saw_ce {
            self.saw_ce = true;
            self.first = true;
        }
        let short = self.independent() && m.now.since(self.updated) < self.p.target_rtt;
        if m.ack <= self.window_end || self.acked == 0 || short {
            return;
        }
        if self.saw_ce {
            self.alpha += self.p.gain * (self.marked as f64 / self.acked as f64 - self.alpha);
            self.updated = m.now;
        }
        self.window_end = m.next;
        (self.acked, self.marked) = (0, 0);
        if !self.w.in_slow_start() {
            self.rounds = self.rounds.saturating_add(1);
        }
    }

    fn decrease(&mut self, e: &CongestionEvent) -> f64 {
        if e.kind != CongestionKind::EcnEcho {
            return self.w.basis(e) * BETA;
        }
        if !self.saw_ce {
            // An echo without a count: the feedback of RFC 3168.
            return self.w.basis(e) * BETA;
        }
        if std::mem::take(&mut self.first) {
            self.reduced = e.now;
            return self.w.cwnd * BETA;
        }
        if self.independent() && e.now.since(self.reduced) < self.p.target_rtt {
            return self.w.cwnd;
        }
        self.reduced = e.now;
        self.w.cwnd * (1.0 - self.alpha / 2.0)
    }

    fn min_cwnd_after_mark(&self) -> f64 {
        // Without a count of marks the answer is that of RFC 3168.
        if !self.saw_ce || self.srtt == Dur::ZERO { 1.0 } else { (LEAST_RATE * self.srtt.as_secs_f64() / (self.w.smss * 8.0)).min(1.0) }
    }

    fn effective_cwnd(&self) -> f64 {
        let whole = libm::ceil(self.w.cwnd);
        if self.w.in_slow_start() { whole } else { whole.max(LEAST_IN_FLIGHT) }
    }

    fn effective_ssthresh(&self) -> f64 {
        // The fraction only tells slow start from what follows; a sender sees whole segments (Linux `prague_enter_cwr`).
        self.w.ssthresh.max(LEAST_IN_FLIGHT)
    }

    fn restarted(&mut self, _: Time) {
        (self.acked, self.marked) = (0, 0);
    }

    fn wants(&self) -> Wants {
        Wants { ect: Ecn::Ect1, grades_marks: true, pacing: true, ..Wants::default() }
    }

    fn rate(&self) -> Option<Rate> {
        if self.srtt == Dur::ZERO {
            return None;
        }
        let factor = if self.w.cwnd < self.w.ssthresh / 2.0 { self.p.slow_start_rate } else { 1.0 };
        let bits = self.w.cwnd * self.w.smss * 8.0 * factor / self.srtt.as_secs_f64();
        Some(Rate::from_bps((bits as u64).max(1)))
    }

    fn variables(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("alpha", self.alpha);
    }
}
