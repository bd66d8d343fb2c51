//! Congestion window validation (RFC 7661, "new CWV", which obsoletes RFC 2861): a window that the application does not use is kept for five
//! minutes, does not grow meanwhile, and a loss is answered by what was used of it.
//!
//! pipeACK is the most that was acknowledged within a round trip, of all round trips of the sampling period (section 4.2). The window is validated
//! while pipeACK is at least half of it, or undefined: at the beginning and after loss recovery. Validated, it grows as ever (section 4.3). Else
//!
//! * it grows only while it is what limits the sender (section 4.4);
//! * a loss leaves max(pipeACK, FlightSize) / 2 for recovery, and (max(pipeACK, FlightSize) - R) / 2 after it, where R was lost and retransmitted, but at least
//!   one segment (section 4.4.1);
//! * after five minutes ssthresh is at least 3/4 of it, and half of it is left, but the initial window at least (section 4.4.3).
//!
//! It takes the place of the restart after idleness (RFC 5681 section 4.1).
//!
//! Deviations and readings: the round trips of pipeACK are counted by sequence numbers, from an acknowledgment to that of all that was in flight then. The
//! phase is judged when one of them ends, and when data goes out with nothing in flight: a bulk transfer in slow start, whose window doubles while a round
//! trip is measured, stays validated. The five minutes count from the last time the window was found validated, and the adjustment repeats after five
//! more, both as in the authors' module for Linux; it is made with the next acknowledgment or data, not by a timer, and never raises a window below the
//! initial one. R counts a segment each time it was lost. Recovery from a timeout is that of RFC 5681, with half of max(pipeACK, FlightSize) as
//! threshold. Marks graded by their number (DCTCP, Prague) keep their own answer. Bursts in the non-validated phase (section 4.4.2, a SHOULD) are left to
//! `pacing` and `max_burst`.

use crate::cc::{CongestionControl, CongestionKind};
use crate::endpoint::{FIRST, Phase, Tcp};
use fairlane_units::{Dur, Time};

/// Round trips in the sampling period (section 4.2).
const SAMPLING_RTTS: u64 = 3;
/// The sampling period at least (section 4.2).
const SAMPLING_LEAST: Dur = Dur::from_secs(1);
/// Measurement periods in a sampling period, each with the largest of its samples (section 4.5.1).
const BINS: usize = 4;
/// The non-validated period (section 4.4.3).
const NVP: Dur = Dur::from_secs(300);

/// What is known of the use of the window.
#[derive(Clone, Debug)]
pub(crate) struct Cwv {
    /// Beginning and largest sample of each measurement period.
    bins: [(Time, u64); BINS],
    newest: usize,
    /// There was a sample since the beginning or the last loss recovery.
    defined: bool,
    /// The sample being taken: SND.UNA when it began, and where it ends; not above it: data is yet to go out.
    from: u64,
    end: u64,
    validated: bool,
    /// When the window was last found validated, or last adjusted.
    valid_at: Time,
    /// There was congestion since the last sample.
    disturbed: bool,
    /// Recovery from a loss in the non-validated phase: max(pipeACK, LossFlightSize), and what had been retransmitted before.
    recovery: Option<(u64, u64)>,
}

impl Default for Cwv {
    fn default() -> Self {
        Self {
            bins: [(Time::ZERO, 0); BINS],
            newest: 0,
            defined: false,
            from: FIRST,
            end: FIRST,
            validated: true,
            valid_at: Time::ZERO,
            disturbed: false,
            recovery: None,
        }
    }
}

impl Cwv {
    /// pipeACK; `None`: undefined. What is older than the sampling period counts for nothing.
    fn pipe_ack(&self, now: Time, period: Dur) -> Option<u64> {
        let recent = self.bins.iter().filter(|b| now.since(b.0) < period);
        self.defined.then(|| recent.map(|b| b.1).max().unwrap_or(0))
    }

    /// Everything up to `una` is acknowledged, `nxt` comes next. Whether a sample was taken.
    fn sample(&mut self, now: Time, una: u64, nxt: u64, period: Dur) -> bool {
        if self.end <= self.from {
            self.end = nxt;
        }
        if una < self.end {
            return false;
        }
        let sample = una - self.from;
        (self.from, self.end) = (una, nxt);
        let newest = self.bins[self.newest];
        if self.defined && now.since(newest.0).as_ps() < period.as_ps() / BINS as u64 {
            self.bins[self.newest].1 = newest.1.max(sample);
        } else {
            self.newest = (self.newest + 1) % BINS;
            self.bins[self.newest] = (now, sample);
        }
        self.defined = true;
        true
    }

    /// Which phase it is (section 4.3).
    fn judge(&mut self, now: Time, cwnd: u64, period: Dur) {
        self.validated = self.pipe_ack(now, period).is_none_or(|p| 2 * p >= cwnd);
        if self.validated {
            self.valid_at = now;
        }
    }

    /// Loss recovery is over: pipeACK is undefined (section 4.4.1).
    fn forget(&mut self, now: Time, una: u64, nxt: u64) {
        *self = Self { from: una, end: nxt, valid_at: now, ..Self::default() };
    }

    /// Non-validated periods that are over.
    fn expired(&mut self, now: Time) -> u64 {
        let periods = if self.validated { 0 } else { now.since(self.valid_at).as_ps() / NVP.as_ps() };
        self.valid_at += NVP * periods;
        periods
    }

    /// So much was retransmitted without counting as lost: it is not part of R.
    pub(crate) fn excuse(&mut self, bytes: u64) {
        if let Some((_, before)) = &mut self.recovery {
            *before += bytes;
        }
    }

    /// Whether the window may grow where it does not limit the sender.
    pub(crate) fn validated(&self) -> bool {
        self.validated
    }
}

impl<C: CongestionControl> Tcp<C> {
    fn cwv_period(&self) -> Dur {
        (self.rtt.srtt(&self.cfg) * SAMPLING_RTTS).max(SAMPLING_LEAST)
    }

    /// New data was acknowledged.
    #[cold]
    pub(crate) fn cwv_on_ack(&mut self, now: Time) {
        if self.phase != Phase::Open {
            // Nothing is measured during loss recovery (section 4.2).
            return;
        }
        let (period, cwnd, una, nxt) = (self.cwv_period(), self.cc.cwnd(), self.una, self.nxt);
        let Some(c) = self.more.part(|m| m.cwv.as_mut()) else { return };
        if c.disturbed {
            c.forget(now, una, nxt);
        } else if c.sample(now, una, nxt, period) {
            c.judge(now, cwnd, period);
        }
        self.cwv_expire(now);
    }

    /// Data is to go out, and nothing is in flight.
    #[cold]
    pub(crate) fn cwv_after_idle(&mut self, now: Time) {
        let (period, cwnd) = (self.cwv_period(), self.cc.cwnd());
        if let Some(c) = self.more.part(|m| m.cwv.as_mut()) {
            c.judge(now, cwnd, period);
        }
        self.cwv_expire(now);
    }

    /// The end of the non-validated period (section 4.4.3).
    fn cwv_expire(&mut self, now: Time) {
        let Some(c) = self.more.part(|m| m.cwv.as_mut()) else { return };
        for _ in 0..c.expired(now) {
            let cwnd = self.cc.cwnd();
            let left = (cwnd / 2).max(self.cfg.initial_window);
            if left >= cwnd {
                break;
            }
            self.cc.on_validation(now, left, self.cc.ssthresh().max(cwnd - cwnd / 4));
        }
    }

    /// Congestion is about to be told to the algorithm. In the non-validated phase: what was used of the window (section 4.4.1).
    #[cold]
    pub(crate) fn cwv_used(&mut self, kind: CongestionKind, flight: u64, now: Time) -> Option<u64> {
        if kind == CongestionKind::EcnEcho && self.ecn.graded {
            return None;
        }
        let (period, first) = (self.cwv_period(), self.phase == Phase::Open);
        let c = self.more.part(|m| m.cwv.as_mut())?;
        c.disturbed = true;
        c.recovery = None;
        (first && !c.validated).then(|| c.pipe_ack(now, period).unwrap_or(0).max(flight))
    }

    /// The algorithm has made its reduction: what was used takes the place of the window it was made from.
    #[cold]
    pub(crate) fn cwv_cut(&mut self, kind: CongestionKind, used: u64, now: Time) {
        let (smss, half) = (u64::from(self.cfg.smss), used / 2);
        let window = match kind {
            CongestionKind::Timeout { .. } | CongestionKind::FastRetransmitRestart => self.cc.cwnd(),
            CongestionKind::FastRetransmit | CongestionKind::EcnEcho => half.max(smss),
        };
        self.cc.on_validation(now, window, half.max(2 * smss));
        if let Some(c) = self.more.part(|m| m.cwv.as_mut())
            && kind == CongestionKind::FastRetransmit
        {
            c.recovery = Some((used, self.tx.count.retransmit_bytes));
        }
    }

    /// Fast recovery is over, the algorithm has set its window.
    #[cold]
    pub(crate) fn cwv_recovered(&mut self, now: Time) {
        let Some(c) = self.more.part(|m| m.cwv.as_mut()) else { return };
        let recovery = c.recovery.take();
        c.forget(now, self.una, self.nxt);
        if let Some((used, before)) = recovery {
            let (smss, again) = (u64::from(self.cfg.smss), self.tx.count.retransmit_bytes - before);
            let window = (used.saturating_sub(again) / 2).max(smss);
            // Recovery may leave less, so as not to end in a burst (RFC 6582 section 3.2 step 3).
            self.cc.on_validation(now, window.min(self.cc.cwnd()), window.max(2 * smss));
        }
    }
}
