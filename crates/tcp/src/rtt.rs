//! Round-trip time estimation and the retransmission timeout (RFC 6298).

use crate::config::TcpConfig;
use fairlane_units::{Dur, Time};

/// SRTT, RTTVAR and RTO, in ticks of the measuring clock.
///
/// SRTT is kept times 8 and RTTVAR times 4, the reciprocals of alpha and beta (Jacobson 1988, appendix A).
#[derive(Clone, Debug, PartialEq)]
pub struct RttEstimator {
    srtt8: u64,
    var4: u64,
    min: u64,
    /// One-way delay by the last timestamps; `u64::MAX` without.
    one_way: u64,
    /// RTO before back-off.
    base: Dur,
    /// RTO in force.
    rto: Dur,
    backoff: u8,
    valid: bool,
}

/// Longest measurement that the scaled sums hold: 3 days at a tick of one picosecond.
const LONGEST: u64 = 1 << 58;

impl RttEstimator {
    /// Estimator before the first measurement (RFC 6298 section 2.1).
    pub fn new(c: &TcpConfig) -> Self {
        let mut e =
            Self { srtt8: 0, var4: 0, min: u64::MAX, one_way: u64::MAX, base: c.rto_initial, rto: c.rto_initial, backoff: 0, valid: false };
        e.apply_backoff(c);
        e
    }

    /// Takes a measurement: a segment sent at `sent` was acknowledged at `now`. Ends the back-off.
    pub fn sample(&mut self, sent: Time, now: Time, c: &TcpConfig) {
        self.min = self.min.min(now.since(sent).as_ps());
        let tick = c.rtt_tick.as_ps();
        let r = if tick == 1 { now.since(sent).as_ps() } else { now.as_ps() / tick - sent.as_ps() / tick };
        self.sample_ticks(r, c);
    }

    /// Takes a measurement given as a duration (timestamps), at least one tick.
    pub fn sample_span(&mut self, span: Dur, c: &TcpConfig) {
        self.min = self.min.min(span.as_ps());
        self.sample_ticks(span.as_ps() / c.rtt_tick.as_ps(), c);
    }

    /// Takes a round-trip time into account for the minimum alone.
    pub(crate) fn note_least(&mut self, rtt: Dur) {
        self.min = self.min.min(rtt.as_ps());
    }

    /// [`Self::sample`] for a clock that ticks every picosecond.
    #[inline(always)]
    pub(crate) fn sample_exact(&mut self, sent: Time, now: Time, c: &TcpConfig) {
        let r = (now - sent).as_ps();
        if r < self.min {
            self.min = r;
        }
        let ticks = self.smooth(r, c);
        self.accept(Dur::from_ps(ticks), c);
    }

    fn sample_ticks(&mut self, r: u64, c: &TcpConfig) {
        // A forged echo may claim any age.
        let ticks = self.smooth(r.min(LONGEST / c.rtt_tick.as_ps()), c);
        self.accept(Dur::from_ps(ticks.saturating_mul(c.rtt_tick.as_ps())), c);
    }

    /// Updates SRTT and RTTVAR by a measurement of `r` ticks; returns the RTO in ticks.
    #[inline(always)]
    fn smooth(&mut self, r: u64, c: &TcpConfig) -> u64 {
        // At least 1: neither sum can then fall below 1, as each loses less than itself.
        let r = if r.wrapping_sub(1) < LONGEST { r } else { r.clamp(1, LONGEST) };
        if self.valid {
            // RFC 6298 section 2.3: RTTVAR first, with the old SRTT.
            let srtt = self.srtt8 >> 3;
            self.var4 = self.var4 - (self.var4 >> 2) + r.abs_diff(srtt);
            self.srtt8 = self.srtt8 - srtt + r;
        } else {
            // RFC 6298 section 2.2.
            self.valid = true;
            self.srtt8 = r << 3;
            self.var4 = r << 1;
        }
        if c.rto_rfc793 {
            return self.srtt8 >> 2;
        }
        // RTO = SRTT + max(G, 4 RTTVAR) (section 2.3).
        (self.srtt8 >> 3) + self.var4.max(c.rto_granularity_ticks)
    }

    /// Sets the RTO of a measurement, between minimum and maximum (RFC 6298 sections 2.4 and 2.5), without back-off.
    #[inline(always)]
    fn accept(&mut self, rto: Dur, c: &TcpConfig) {
        self.base = rto.max(c.rto_floor);
        self.backoff = 0;
        self.rto = self.base.max(c.rto_min_backed_off).min(c.rto_max);
    }

    /// Doubles the RTO up to the maximum (RFC 6298 section 5.5).
    pub fn back_off(&mut self, forget_after: u32, c: &TcpConfig) {
        if c.rto_rfc793 {
            // RFC 793 section 3.7 starts the timer again as it is; RFC 1122 section 4.2.3.1 brought the back-off.
            return;
        }
        self.backoff = self.backoff.saturating_add(1);
        self.apply_backoff(c);
        if u32::from(self.backoff) >= forget_after {
            self.valid = false;
        }
    }

    /// Ends the back-off without a measurement.
    pub fn end_backoff(&mut self, c: &TcpConfig) {
        if self.backoff != 0 {
            self.backoff = 0;
            self.apply_backoff(c);
        }
    }

    fn apply_backoff(&mut self, c: &TcpConfig) {
        let shifted = if self.backoff < 40 { self.base.as_ps().saturating_mul(1 << self.backoff) } else { u64::MAX };
        self.rto = Dur::from_ps(shifted).max(c.rto_min_backed_off).min(c.rto_max);
    }

    /// Sets the RTO for data after a lost SYN (RFC 6298 section 5.7).
    pub fn restart(&mut self, rto: Dur, c: &TcpConfig) {
        self.valid = false;
        self.backoff = 0;
        self.base = rto;
        self.apply_backoff(c);
    }

    /// RTO in force.
    #[inline]
    pub fn rto(&self) -> Dur {
        self.rto
    }
    /// Smoothed round-trip time; zero before the first measurement.
    #[inline]
    pub fn srtt(&self, c: &TcpConfig) -> Dur {
        let tick = c.rtt_tick.as_ps();
        Dur::from_ps(if tick == 1 { self.srtt8 >> 3 } else { (self.srtt8 * tick) >> 3 })
    }
    /// Round-trip time variation (RTTVAR).
    pub fn rttvar(&self, c: &TcpConfig) -> Dur {
        Dur::from_ps((self.var4 * c.rtt_tick.as_ps()) >> 2)
    }
    /// Smallest measurement; [`Dur::MAX`] before the first.
    #[inline]
    pub fn min(&self) -> Dur {
        Dur::from_ps(self.min)
    }
    /// Takes a measurement given as a duration; the minimum is that of SRTT, not of the measurements.
    pub(crate) fn sample_smoothed(&mut self, span: Dur, c: &TcpConfig) {
        self.sample_ticks(span.as_ps() / c.rtt_tick.as_ps(), c);
        self.min = self.min.min(self.srtt(c).as_ps());
    }
    /// Notes the peer's timestamp in an acknowledgment, less the time at which the acknowledged segment was sent.
    pub(crate) fn note_one_way(&mut self, delay: Dur) {
        self.one_way = delay.as_ps();
    }
    /// Last one-way delay, with timestamps.
    pub fn one_way(&self) -> Option<Dur> {
        (self.one_way != u64::MAX).then(|| Dur::from_ps(self.one_way))
    }
    /// Timeouts since the back-off began.
    pub fn backoffs(&self) -> u32 {
        u32::from(self.backoff)
    }
}

#[cfg(test)]
#[path = "rtt_tests.rs"]
mod tests;
