//! Two averages of one queue: of all packets and of those in profile, as RIO keeps them.

use super::LawCx;
use super::red::Measure;
use super::red::parts::{Average, Idle};
use crate::classify::{Filter, Match};
use crate::discipline::Problem;
use fairlane_net::{Backlog, BuildContext, Packet};
use fairlane_units::{Bytes, PS_PER_SEC, Time};

/// Parameters of a [`Twin`].
#[derive(Clone, Debug)]
pub(super) struct TwinSetting<'a> {
    pub(super) in_profile: &'a Match,
    pub(super) w_q: f64,
    pub(super) measure: Measure,
    pub(super) mean_packet: Bytes,
    /// True if only arrivals in profile update the averages, and idle time is reckoned as ns-2 does then.
    pub(super) total_by_in: bool,
    /// True if the average of one kind ages while none of that kind waits.
    pub(super) age_own: bool,
}

/// The averages, and what of the queue is in profile.
#[derive(Clone, Debug)]
pub(super) struct Twin {
    filter: Filter,
    in_bytes: bool,
    total_by_in: bool,
    total: Average,
    /// Average at arrivals of packets in profile; `outside` at the others' arrivals.
    inside: Average,
    outside: Average,
    idle: Idle,
    /// Packets in profile that wait.
    held_in: Backlog,
    /// True if the packet that arrived last was counted as waiting.
    counted: bool,
    age_own: bool,
    inside_gone: Gone,
    outside_gone: Gone,
    /// Packets that idle links could have sent and the averages of the two kinds have not been aged by.
    aged_in: u64,
    aged_out: u64,
    /// ns-2: when the link fell idle, in seconds, if the total, and the packets in profile, have not been aged since.
    idle_total: Option<f64>,
    idle_in: Option<f64>,
}

/// How many packets of one kind wait, and since when none does.
#[derive(Clone, Copy, Debug)]
struct Gone {
    held: u32,
    /// When the last of them left; none while one waits.
    since: Option<Time>,
    /// Value of `since` at the arrival before the last one.
    before: Option<Time>,
}

impl Gone {
    const NEW: Self = Self { held: 0, since: Some(Time::ZERO), before: None };

    fn keep(&mut self) {
        self.held += 1;
        self.before = self.since.take();
    }
    fn lost(&mut self) {
        self.held = self.held.saturating_sub(1);
        self.since = self.before.take();
    }
    fn left(&mut self, now: Time) {
        self.held = self.held.saturating_sub(1);
        if self.held == 0 {
            self.since = Some(now);
        }
    }
}

/// Averages and backlog at an arrival.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    /// True if it is in profile.
    pub(super) inside: bool,
    /// Average of all packets.
    pub(super) total: f64,
    /// Average of the packets of its kind, and how much of them waits.
    pub(super) own: f64,
    pub(super) waiting_own: u64,
    /// How much waits.
    pub(super) waiting: u64,
}

/// Refuses matches that a mark would change.
pub(super) fn check_profile(m: &Match, context: &BuildContext<'_>) -> Result<(), Problem> {
    if m.patterns().iter().any(|p| p.trim().to_ascii_lowercase().starts_with("ecn")) {
        return Err(Problem::new("in_profile", "the ECN field cannot say what is in profile: marks change it"));
    }
    m.check(context).map_err(|message| Problem::new("in_profile", message))
}

fn secs(now: Time) -> f64 {
    (now - Time::ZERO).as_ps() as f64 / PS_PER_SEC as f64
}

impl Twin {
    pub(super) fn new(s: &TwinSetting<'_>, context: &BuildContext<'_>) -> Self {
        Self {
            filter: Filter::new(s.in_profile, context),
            in_bytes: s.measure == Measure::Bytes,
            total_by_in: s.total_by_in,
            total: Average::new(s.w_q),
            inside: Average::new(s.w_q),
            outside: Average::new(s.w_q),
            idle: Idle::of_packets(s.mean_packet, context.link),
            held_in: Backlog::default(),
            counted: false,
            age_own: s.age_own,
            inside_gone: Gone::NEW,
            outside_gone: Gone::NEW,
            aged_in: 0,
            aged_out: 0,
            idle_total: None,
            idle_in: None,
        }
    }

    fn size(&self, b: Backlog) -> u64 {
        if self.in_bytes { b.bytes } else { u64::from(b.pkts) }
    }

    /// The average of all packets.
    pub(super) fn total(&self) -> f64 {
        self.total.value
    }

    /// The average of the packets in profile.
    pub(super) fn inside(&self) -> f64 {
        self.inside.value
    }

    /// The average of the packets out of profile.
    pub(super) fn outside(&self) -> f64 {
        self.outside.value
    }

    /// True if a packet is in profile.
    #[inline]
    pub(super) fn is_inside(&self, p: &Packet) -> bool {
        self.filter.fits(p)
    }

    /// Updates the averages for a packet that arrives.
    #[inline]
    pub(super) fn arrive(&mut self, p: &Packet, cx: &LawCx<'_>) -> Arrival {
        let inside = self.filter.fits(p);
        let (waiting, waiting_in) = (self.size(cx.held), self.size(self.held_in));
        let waiting_out = waiting.saturating_sub(waiting_in);
        self.counted = false;
        match self.total_by_in {
            false => {
                if cx.held.pkts == 0 {
                    let m = self.idle.packets(cx.now);
                    self.total.age(m);
                    self.aged_in = self.aged_in.saturating_add(m);
                    self.aged_out = self.aged_out.saturating_add(m);
                }
                self.total.sample(waiting);
                let (own, gone, aged, waiting) = match inside {
                    true => (&mut self.inside, self.inside_gone, &mut self.aged_in, waiting_in),
                    false => (&mut self.outside, self.outside_gone, &mut self.aged_out, waiting_out),
                };
                let idle = std::mem::take(aged);
                own.age(match self.age_own {
                    true => gone.since.map_or(0, |t| self.idle.packets_in(secs(cx.now) - secs(t))),
                    false => idle,
                });
                own.sample(waiting);
            }
            true => self.arrive_ns2(inside, waiting, waiting_in, cx),
        }
        Arrival {
            inside,
            total: self.total.value,
            own: if inside { self.inside.value } else { self.outside.value },
            waiting_own: if inside { waiting_in } else { waiting_out },
            waiting,
        }
    }

    /// ns-2.35: arrivals out of profile touch no average, and take the link out of its idle state unaged.
    fn arrive_ns2(&mut self, inside: bool, waiting: u64, waiting_in: u64, cx: &LawCx<'_>) {
        let idle = self.idle.secs(cx.now);
        if cx.held.pkts == 0 && idle >= 0.0 {
            let since = secs(cx.now) - idle;
            (self.idle_total, self.idle_in) = (Some(since), Some(since));
        }
        let total = self.idle_total.take();
        if !inside {
            return;
        }
        if let Some(since) = total {
            self.total.age(self.idle.packets_in(secs(cx.now) - since));
        }
        if let Some(since) = self.idle_in.take() {
            self.inside.age(self.idle.packets_in(secs(cx.now) - since));
        }
        self.total.sample(waiting);
        self.inside.sample(waiting_in);
    }

    /// The packet that arrived last stays.
    #[inline]
    pub(super) fn keep(&mut self, p: &Packet, inside: bool) {
        if inside {
            self.held_in.add(p);
        }
        self.counted = true;
        self.gone_of(inside).keep();
    }

    #[inline]
    fn gone_of(&mut self, inside: bool) -> &mut Gone {
        if inside { &mut self.inside_gone } else { &mut self.outside_gone }
    }

    /// It had no room after all; if it was not to stay, nothing was counted.
    #[inline]
    pub(super) fn lost(&mut self, p: &Packet) {
        if !std::mem::take(&mut self.counted) {
            return;
        }
        let inside = self.filter.fits(p);
        if inside {
            self.held_in.sub(p);
        }
        self.gone_of(inside).lost();
    }

    /// A waiting packet is gone.
    #[inline]
    pub(super) fn gone(&mut self, p: &Packet) {
        let inside = self.filter.fits(p);
        if inside {
            self.held_in.sub(p);
        }
        let gone = self.gone_of(inside);
        gone.held = gone.held.saturating_sub(1);
    }

    /// A packet begins its transmission.
    #[inline]
    pub(super) fn left(&mut self, p: &Packet, now: Time) {
        let inside = self.filter.fits(p);
        if inside {
            self.held_in.sub(p);
            self.idle_in = None;
        }
        self.gone_of(inside).left(now);
        self.idle.left(now, p.len);
    }
}
