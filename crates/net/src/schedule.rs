//! Schedules of a link's rate: a trace of delivery opportunities, steps of the rate, or a profile (`profile.rs`).
//!
//! Opportunities follow the link of mahimahi (R. Netravali et al., Mahimahi: accurate record-and-replay for HTTP, USENIX ATC 2015,
//! section 4, and its program mm-link): a trace lists the milliseconds at which the link can carry one packet of full size, and repeats at its last time. An
//! opportunity carries up to [`OPPORTUNITY`] bytes. A packet may need several; the rest of an opportunity serves the packets queued behind it. Unused bytes, and
//! opportunities without a queued packet, are lost.
//!
//! Deviations. mm-link counts 1504 bytes: 1500 of IP and 4 that its tunnel device adds to each packet; here lengths are those of IP packets, so packets of full
//! size take one opportunity, too, and a small one leaves 4 bytes more. mm-link counts whole milliseconds; here an opportunity serves packets that arrived before
//! its instant, to the picosecond. A packet leaves the queue when the transmission of the packet before it has ended, and waits for its own opportunity in the
//! transmitter; mm-link dequeues it at that opportunity. The trace begins with the simulation, not with the first packet.
//!
//! Departures are carried out late (see `Path::settle`): a schedule computes the end of a transmission from its start, and starts never go back.

use crate::profile::ProfileRate;
use fairlane_engine::steps::{log_step, step};
use fairlane_units::{PS_PER_SEC, Rate, Time};
use std::sync::Arc;

/// Bytes of one opportunity: the Ethernet MTU (RFC 894), which is a packet in mahimahi's traces.
pub const OPPORTUNITY: u32 = 1500;
/// Picoseconds per unit of a trace.
const PS_PER_MS: u64 = PS_PER_SEC / 1000;
/// End of a transmission that never ends, with room for the propagation delay.
const NEVER: u64 = u64::MAX / 2;

/// Schedule of a link's rate.
#[derive(Clone, Debug, PartialEq)]
pub enum Schedule {
    /// A trace of delivery opportunities.
    Opportunities(Opportunities),
    /// Steps of the rate.
    Steps(Steps),
    /// Rate of a profile.
    Profile(ProfileRate),
}

impl Schedule {
    /// Returns the end of the transmission of a packet of `len` bytes that arrived at `at` and starts at `start`.
    pub fn end(&mut self, at: Time, start: Time, len: u32) -> Time {
        match self {
            Self::Opportunities(o) => o.end(at, start, len),
            Self::Steps(s) => s.end(start, len),
            Self::Profile(p) => p.end(start, len),
        }
    }
    /// Forgets the transmission in progress, and releases its opportunities.
    pub fn forget(&mut self) {
        if let Self::Opportunities(o) = self {
            (o.round, o.next, o.time, o.left) = (0, 0, 0, 0);
        }
    }
    /// Unused bytes of the present opportunity.
    pub fn left(&self) -> u32 {
        match self {
            Self::Opportunities(o) => o.left,
            Self::Steps(_) | Self::Profile(_) => 0,
        }
    }
    /// Unsent bits at `now` of a transmission that ends at `end` and leaves `left` bytes of its last opportunity.
    pub fn unsent(&self, now: Time, end: Time, left: u32) -> f64 {
        // All opportunities until its end serve it.
        let whole = self.capacity(now, end);
        if whole == 0.0 { 0.0 } else { whole - f64::from(8 * left) }
    }
    /// Bits that the link can carry after `from` and up to `to`.
    pub fn capacity(&self, from: Time, to: Time) -> f64 {
        match self {
            Self::Opportunities(o) => (o.until(to) - o.until(from)) as f64 * f64::from(8 * OPPORTUNITY),
            Self::Steps(s) => s.area(to) - s.area(from),
            Self::Profile(p) => p.capacity(from, to),
        }
    }
}

/// Trace of opportunities, and the position in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opportunities {
    /// Milliseconds, in order.
    trace: Arc<[u64]>,
    /// Last time of the trace in picoseconds, where it repeats.
    period: u64,
    /// Next opportunity: round of the trace, and index in it.
    round: u64,
    next: usize,
    /// Present opportunity, and its unused bytes.
    time: u64,
    left: u32,
}

impl Opportunities {
    /// Creates a trace of sorted milliseconds, the last above 0; `None` if it is invalid.
    pub fn new(trace: Arc<[u64]>) -> Option<Self> {
        let period = trace.last().copied().filter(|&l| l > 0)?.checked_mul(PS_PER_MS).filter(|&p| p < NEVER)?;
        trace.is_sorted().then_some(Self { trace, period, round: 0, next: 0, time: 0, left: 0 })
    }

    /// Mean rate if all opportunities are used.
    pub fn rate(&self) -> Rate {
        let bits = self.trace.len() as u128 * u128::from(8 * OPPORTUNITY) * u128::from(PS_PER_SEC);
        Rate::from_bps(u64::try_from(bits / u128::from(self.period)).unwrap_or(u64::MAX).max(1))
    }

    fn time_of(&self, round: u64, place: usize) -> u64 {
        let within = self.trace.get(place).copied().unwrap_or(0).saturating_mul(PS_PER_MS);
        round.saturating_mul(self.period).saturating_add(within)
    }

    fn end(&mut self, at: Time, start: Time, len: u32) -> Time {
        let (at, start) = (at.as_ps(), start.as_ps());
        // Only a packet that was queued gets the rest of an opportunity.
        if start != self.time || at >= start {
            self.left = 0;
        }
        let earliest = start.max(at.saturating_add(1));
        let mut need = len;
        loop {
            let taken = need.min(self.left);
            (self.left, need) = (self.left - taken, need - taken);
            if need == 0 {
                return Time::from_ps(self.time.max(start).min(NEVER));
            }
            self.seek(earliest);
            self.time = self.time_of(self.round, self.next);
            if self.time >= NEVER {
                return Time::from_ps(NEVER);
            }
            self.left = OPPORTUNITY;
            self.next += 1;
            if self.next == self.trace.len() {
                (self.round, self.next) = (self.round + 1, 0);
            }
        }
    }

    /// Skips opportunities before `earliest`.
    fn seek(&mut self, earliest: u64) {
        if self.time_of(self.round, self.next) >= earliest {
            return;
        }
        let (mut round, mut within) = (earliest / self.period, earliest % self.period);
        // The end of a round is the start of the next.
        if within == 0 && round > 0 {
            (round, within) = (round - 1, self.period);
        }
        self.round = round;
        self.next = self.trace.partition_point(|ms| ms.saturating_mul(PS_PER_MS) < within);
    }

    /// Number of opportunities up to and including `t`.
    fn until(&self, t: Time) -> u64 {
        let (rounds, within) = (t.as_ps() / self.period, t.as_ps() % self.period);
        rounds * self.trace.len() as u64 + self.trace.partition_point(|ms| ms.saturating_mul(PS_PER_MS) <= within) as u64
    }
}

/// Rate that changes at given times.
#[derive(Clone, Debug, PartialEq)]
pub struct Steps {
    first: Rate,
    /// Changes in the order of time.
    then: Arc<Vec<Step>>,
    /// Start and work of a transmission that never ends at the present rate.
    stuck: Option<(Time, u128)>,
}

/// A change of the rate.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Step {
    at: Time,
    rate: Rate,
    /// Bits that the link can carry from time zero to this change.
    before: f64,
}

impl Steps {
    /// Creates a rate of `first` with these changes.
    pub fn new(first: Rate, then: impl IntoIterator<Item = (Time, Rate)>) -> Self {
        let mut steps = Self { first, then: Arc::default(), stuck: None };
        let then: Vec<Step> = then.into_iter().map(|(at, rate)| Step { at, rate, before: 0.0 }).collect();
        steps.then = Arc::new(then);
        steps.sum_from(0);
        steps
    }

    /// Sums the bits before change `i` and all later ones.
    fn sum_from(&mut self, i: usize) {
        for k in i..self.then.len() {
            let before = self.to(k, self.then[k].at);
            Arc::make_mut(&mut self.then)[k].before = before;
        }
    }

    /// Bits that the link can carry from time zero to `t`, which follows `k` changes.
    fn to(&self, k: usize, t: Time) -> f64 {
        let (from, bits) = k.checked_sub(1).map_or((Time::ZERO, 0.0), |k| (self.then[k].at, self.then[k].before));
        bits + self.before(k).as_bps() as f64 * t.since(from).as_secs_f64()
    }

    /// Rate before change `i`.
    fn before(&self, i: usize) -> Rate {
        i.checked_sub(1).and_then(|k| self.then.get(k)).map_or(self.first, |s| s.rate)
    }

    /// Returns the end of a transmission; a change of the rate holds for its remaining bits.
    fn end(&mut self, start: Time, len: u32) -> Time {
        self.done(start, u128::from(len) * 8 * u128::from(PS_PER_SEC))
    }

    /// Returns the end of `work` that starts at `start`. The unit of work is 1 bit/s times 1 ps: all values are integers, and only the end is rounded, to the
    /// nearest picosecond.
    fn done(&mut self, start: Time, mut work: u128) -> Time {
        let all = work;
        let mut now = start;
        let mut i = self.then.partition_point(|s| s.at <= start);
        self.stuck = None;
        loop {
            let rate = u128::from(self.before(i).as_bps());
            match self.then.get(i) {
                Some(&Step { at: until, .. }) if work > u128::from(until.since(now).as_ps()) * rate => {
                    work -= u128::from(until.since(now).as_ps()) * rate;
                    (now, i) = (until, i + 1);
                }
                _ => {
                    let rest = (work + rate / 2).checked_div(rate).and_then(|rest| u64::try_from(rest).ok()).unwrap_or(NEVER);
                    let end = now.as_ps().saturating_add(rest).min(NEVER);
                    self.stuck = (end == NEVER).then_some((start, all));
                    return Time::from_ps(end);
                }
            }
        }
    }

    /// Remaining work at `now` of a transmission that ends at `end`.
    fn work(&self, now: Time, end: Time) -> u128 {
        match self.stuck {
            Some((since, work)) => work - self.carries(since, now).min(work),
            None => self.carries(now, end),
        }
    }

    /// Work that is possible between two times.
    fn carries(&self, from: Time, to: Time) -> u128 {
        let first = self.then.partition_point(|s| s.at <= from);
        let ends = self.then[first..].iter().map(|s| s.at).chain([Time::MAX]);
        let (mut from, mut work) = (from, 0);
        for (i, until) in (first..).zip(ends) {
            step(1);
            work += u128::from(self.before(i).as_bps()) * u128::from(until.min(to).since(from).as_ps());
            if until >= to {
                break;
            }
            from = until.max(from);
        }
        work
    }

    /// Changes the rate from `now` on, until the next step. Returns the new end of a transmission that ended at `end`.
    pub(crate) fn change(&mut self, now: Time, rate: Rate, end: Time) -> Time {
        let work = (end > now).then(|| self.work(now, end));
        let at = self.then.partition_point(|s| s.at <= now);
        step(1 + self.then.len() - at);
        Arc::make_mut(&mut self.then).insert(at, Step { at: now, rate, before: 0.0 });
        self.sum_from(at);
        work.map_or(end, |work| self.done(now, work))
    }

    /// Rate at a time.
    pub(crate) fn rate_at(&self, now: Time) -> Rate {
        self.before(self.then.partition_point(|s| s.at <= now))
    }

    /// Bits that the link can carry from time zero to `t`.
    fn area(&self, t: Time) -> f64 {
        log_step(self.then.len());
        self.to(self.then.partition_point(|s| s.at <= t), t)
    }
}

#[cfg(test)]
#[path = "schedule_tests.rs"]
mod tests;
