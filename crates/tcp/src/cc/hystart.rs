//! Early end of slow start: HyStart++, HyStart, limited slow start.
//!
//! Sources: HyStart++: RFC 9406. HyStart: S. Ha, I. Rhee, "Taming the Elephants: New TCP Slow Start", Computer Networks 55(9), 2011, with
//! the constants of Linux 6.x (`net/ipv4/tcp_cubic.c`). Limited slow start: RFC 3742.
//!
//! HyStart++ guards the first slow start only (RFC 9406 section 4.3), HyStart each, as in Linux.
//!
//! Deviations:
//! - The bound L of RFC 9406 replaces `byte_counting` while HyStart++ is active; where each acknowledgment counts as one segment
//!   (`byte_counting` unset) it still does.
//!
//! HyStart takes for a full path a train of acknowledgments as long as half of the smallest round-trip time, with pacing all of it, each with
//! the time of four largest bursts at the pacing rate added, at most 1 ms, as in Linux. ns-3.37 has all of it and no bursts (`hystart_train = 1`)
//! and looks at smoothed round-trip times; here they are as measured. Eight measurements make the round's minimum, the next one is the first that is
//! judged; below 16 segments they count for the smallest round-trip time only, and that of the handshake not even for this. Once it has ended a slow
//! start it watches no other before a timeout. All of that holds in both.

use super::AckSample;
use super::CcConfig;
use crate::choices::{HystartRounds, SlowStart};
use fairlane_units::{Dur, Time};

/// Measurements per round before it is judged (N_RTT_SAMPLE of RFC 9406 section 4.3); HyStart judges from the next one on
/// (HYSTART_MIN_SAMPLES of Linux).
pub const N_RTT_SAMPLE: u32 = 8;
/// Divisor of growth in conservative slow start (CSS_GROWTH_DIVISOR of RFC 9406 section 4.3).
pub const CSS_GROWTH_DIVISOR: f64 = 4.0;
/// Rounds of conservative slow start before congestion avoidance (CSS_ROUNDS of RFC 9406 section 4.3).
pub const CSS_ROUNDS: u32 = 5;
/// Most segments that one acknowledgment counts for without pacing (L of RFC 9406 section 4.3); no limit with pacing.
pub const L: f64 = 8.0;
/// Window below which HyStart is inactive (`hystart_low_window` of Linux), in segments.
const LOW_WINDOW: f64 = 16.0;
/// Largest gap between acknowledgments of one train (`hystart_ack_delta_us` of Linux).
const ACK_DELTA: Dur = Dur::from_ms(2);
/// Four times the largest burst that the kernel hands to a device (`hystart_ack_delay` of Linux), in bytes.
const BURSTS: f64 = 4.0 * 65_536.0;
/// Largest addition to the length of a train, in seconds.
const BURSTS_MOST: f64 = 1e-3;

/// Early end of slow start.
#[derive(Clone, Debug, PartialEq)]
pub struct HyStart {
    kind: Kind,
    bounds: Bounds,
    smss: f64,
    /// Bytes delivered at the end of the current round: those in flight with its first acknowledgment included.
    end: u64,
    /// Smallest round-trip time measured in this round, and in the last.
    current: Dur,
    last: Dur,
    /// Measurements in it.
    samples: u32,
    active: bool,
    ended: bool,
}

/// Bounds of the rise of the round-trip time that counts as a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bounds {
    divisor: f64,
    min: Dur,
    max: Dur,
}

impl Bounds {
    /// The rise over `base` (RttThresh of RFC 9406 section 4.3).
    fn rise(&self, base: Dur) -> Dur {
        Dur::from_ps((base.as_ps() as f64 / self.divisor) as u64).min(self.max).max(self.min)
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    /// RFC 3742: `half` of max_ssthresh in segments.
    Limited { half: f64 },
    /// RFC 9406.
    PlusPlus {
        /// L; `None`: every acknowledgment counts as one.
        limit: Option<f64>,
        /// cssBaselineMinRtt while in conservative slow start.
        baseline: Option<Dur>,
        /// Rounds of it that have ended.
        rounds: u32,
    },
    /// Linux.
    Classic {
        /// Beginning of the round.
        began: Time,
        /// Latest acknowledgment of the train.
        latest: Time,
        /// Smallest round-trip time of data.
        least: Dur,
        /// Length of the train on a full path, as a share of the smallest round-trip time.
        train: f64,
        /// Pacing rate over cwnd / SRTT; 0: bursts are not considered.
        ratio: f64,
        rounds: HystartRounds,
    },
}

impl HyStart {
    /// Creates the state; `None` for standard slow start.
    pub fn new(kind: SlowStart, config: &CcConfig) -> Option<Self> {
        let smss = f64::from(config.smss);
        let kind = match kind {
            SlowStart::Standard => return None,
            SlowStart::Limited => Kind::Limited { half: config.max_ssthresh as f64 / smss / 2.0 },
            SlowStart::HystartPlusPlus => Kind::PlusPlus {
                limit: config.byte_counting.map(|_| if config.pacing { f64::INFINITY } else { L }),
                baseline: None,
                rounds: 0,
            },
            SlowStart::Hystart => Kind::Classic {
                began: Time::ZERO,
                latest: Time::ZERO,
                least: Dur::MAX,
                train: if config.pacing { 1.0 } else { config.hystart_train },
                ratio: if config.hystart_train < 1.0 { config.pacing_slow_start } else { 0.0 },
                rounds: config.hystart_rounds,
            },
        };
        Some(Self {
            kind,
            bounds: Bounds { divisor: config.hystart_divisor, min: config.hystart_min, max: config.hystart_max },
            smss,
            end: 0,
            current: Dur::MAX,
            last: Dur::MAX,
            samples: 0,
            active: true,
            ended: false,
        })
    }

    /// Handles an acknowledgment that measured, below the threshold and before the window grows. HyStart uses each, whatever limits the
    /// sender.
    pub fn observe(&mut self, cwnd: f64, s: &AckSample) {
        let (Kind::Classic { least, rounds, .. }, Some(rtt)) = (&mut self.kind, s.rtt) else { return };
        *least = rtt.min(*least);
        let (least, rounds) = (*least, *rounds);
        if !self.active {
            return;
        }
        let over = s.delivered > self.end;
        if over && rounds == HystartRounds::Always {
            self.next_round(s);
        }
        if cwnd < LOW_WINDOW {
            return;
        }
        if over && rounds == HystartRounds::Window {
            self.next_round(s);
        }
        self.watch_train(cwnd, s);
        self.current = self.current.min(rtt);
        if self.samples < N_RTT_SAMPLE {
            self.samples += 1;
        } else {
            self.ended |= self.current > least + self.bounds.rise(least);
        }
    }

    /// Returns the growth of the window, where standard slow start would add `up` segments.
    pub fn on_ack(&mut self, up: f64, cwnd: f64, s: &AckSample) -> f64 {
        if !self.active || matches!(self.kind, Kind::Classic { rounds: HystartRounds::Always | HystartRounds::Window, .. }) {
            return up;
        }
        if s.delivered > self.end {
            self.next_round(s);
        }
        let up = match &mut self.kind {
            Kind::Limited { half } => return if cwnd <= 2.0 * *half { up } else { up / libm::floor(cwnd / *half) },
            Kind::PlusPlus { limit, baseline, .. } => {
                let n = limit.map_or(up, |limit| (s.acked as f64 / self.smss).min(limit));
                if baseline.is_some() { n / CSS_GROWTH_DIVISOR } else { n }
            }
            Kind::Classic { .. } => return up,
        };
        if let Some(rtt) = s.rtt {
            self.current = self.current.min(rtt);
            self.samples += 1;
            if self.samples >= N_RTT_SAMPLE {
                self.judge();
            }
        }
        up
    }

    /// Compares the round once it has enough measurements.
    fn judge(&mut self) {
        match &mut self.kind {
            Kind::Limited { .. } | Kind::Classic { .. } => {}
            Kind::PlusPlus { baseline, rounds, .. } => match *baseline {
                // RFC 9406 section 4.2: the rise was a mistake.
                Some(base) if self.current < base => *baseline = None,
                Some(_) => {}
                None if self.last != Dur::MAX && self.current >= self.last + self.bounds.rise(self.last) => {
                    *baseline = Some(self.current);
                    *rounds = 0;
                }
                None => {}
            },
        }
    }

    /// Detects a train of acknowledgments in close succession, as long as the path needs to be full.
    fn watch_train(&mut self, cwnd: f64, s: &AckSample) {
        let Kind::Classic { began, latest, least, train, ratio, .. } = &mut self.kind else { return };
        if s.now.since(*latest) > ACK_DELTA {
            return;
        }
        *latest = s.now;
        let bursts = if *ratio > 0.0 { (BURSTS * s.srtt.as_secs_f64() / (*ratio * cwnd * self.smss)).min(BURSTS_MOST) } else { 0.0 };
        self.ended |= s.now.since(*began).as_secs_f64() > *train * (least.as_secs_f64() + bursts);
    }

    fn next_round(&mut self, s: &AckSample) {
        self.end = s.delivered + s.in_flight;
        (self.last, self.current, self.samples) = (self.current, Dur::MAX, 0);
        match &mut self.kind {
            Kind::Limited { .. } => {}
            Kind::PlusPlus { baseline, rounds, .. } => {
                if baseline.is_some() {
                    // A part of a round counts (RFC 9406 section 4.2).
                    *rounds += 1;
                    self.ended = *rounds >= CSS_ROUNDS;
                }
            }
            Kind::Classic { began, latest, .. } => (*began, *latest) = (s.now, s.now),
        }
    }

    /// Returns true once if slow start is to end now.
    pub fn ended(&mut self) -> bool {
        let ended = self.active && self.ended;
        if ended {
            self.ended = false;
            // The next slow start has a threshold that was found out.
            self.active = matches!(self.kind, Kind::Limited { .. });
        }
        ended
    }

    /// Handles a cut of the window, to one segment or otherwise.
    pub fn on_congestion(&mut self, to_one: bool) {
        match &mut self.kind {
            Kind::Limited { .. } => {}
            Kind::PlusPlus { .. } => {
                (self.last, self.current, self.samples) = (Dur::MAX, Dur::MAX, 0);
                (self.active, self.ended) = (false, false);
            }
            Kind::Classic { least, .. } => {
                // `bictcp_reset`: a timeout discards the measurements, and the next slow start may end early again.
                if to_one {
                    *least = Dur::MAX;
                    (self.end, self.current, self.samples) = (0, Dur::MAX, 0);
                    (self.active, self.ended) = (true, false);
                }
            }
        }
    }

    /// Resumes slow start after the cuts were undone.
    pub fn resume(&mut self) {
        if let Kind::PlusPlus { baseline, .. } = &mut self.kind {
            *baseline = None;
            self.active = true;
        }
    }
}
