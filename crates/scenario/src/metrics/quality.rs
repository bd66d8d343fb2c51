//! Quality for people: the rating of calls, and the play-out of videos.

use super::secs;
use fairlane_net::{FlowCounters, Playback};
use fairlane_traffic::e_model::{Call, Impairment, mos, rating};
use fairlane_units::{Dur, Time};

/// Sums over calls. A call without a packet that arrived or was lost has no quality.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Voice {
    calls: u64,
    rating: f64,
    mos: f64,
    delay: f64,
    discarded: f64,
}

impl Voice {
    /// Quality of one call.
    ///
    /// The de-jitter buffer plays each packet at the same delay after it was sent: the network's shortest, and between its own shortest and longest what gives
    /// the best rating. A buffer of one length has no choice.
    pub(super) fn of(c: &FlowCounters, call: &Call) -> Self {
        let (arrived, lost) = (c.received_pkts(), super::lost(c));
        let Some(codec) = call.impairment.filter(|_| arrived > 0 || lost > 0.0) else { return Self::default() };
        let all = arrived as f64 + lost;
        let shortest = c.delay.hist.buckets().next().map_or(0, |([least, _], _)| least);
        let [first, last] = call.buffer.map(|b| shortest.saturating_add(b.as_ps()));
        let at = |deadline: u64, late: f64| Choice::new(call, codec, deadline, late, lost, all);
        let mut best = at(first, late(c, first));
        let mut there = 0;
        for ([_, edge], n) in c.delay.hist.buckets() {
            there += n;
            if edge > first && edge < last {
                best = best.or(at(edge, (arrived - there) as f64));
            }
        }
        let best = best.or(at(last, late(c, last)));
        Self { calls: 1, rating: best.rating, mos: mos(best.rating), delay: best.delay.as_secs_f64(), discarded: best.late / all }
    }

    pub(super) fn add(&mut self, o: &Self) {
        self.calls += o.calls;
        self.rating += o.rating;
        self.mos += o.mos;
        self.delay += o.delay;
        self.discarded += o.discarded;
    }

    pub(super) fn rating(&self) -> f64 {
        self.rating / self.calls as f64
    }
    pub(super) fn mos(&self) -> f64 {
        self.mos / self.calls as f64
    }
    pub(super) fn delay(&self) -> f64 {
        self.delay / self.calls as f64
    }
    pub(super) fn discarded(&self) -> f64 {
        self.discarded / self.calls as f64
    }
}

/// A delay of play-out, and what the listener has of it.
#[derive(Clone, Copy)]
struct Choice {
    rating: f64,
    /// From mouth to ear.
    delay: Dur,
    /// Packets that come too late.
    late: f64,
}

impl Choice {
    fn new(call: &Call, codec: Impairment, deadline: u64, late: f64, lost: f64, all: f64) -> Self {
        let delay = call.before + Dur::from_ps(deadline);
        Self { rating: rating(delay, (late + lost) / all, codec), delay, late }
    }
    /// The better one; of two equal ones, which have a rating of 0, that which discards less.
    fn or(self, o: Self) -> Self {
        if o.rating > self.rating || o.rating >= self.rating && o.late < self.late { o } else { self }
    }
}

/// Packets with a longer delay than `deadline`, spread evenly over their bucket.
fn late(c: &FlowCounters, deadline: u64) -> f64 {
    let share = |low: u64, high: u64| high.saturating_sub(deadline.max(low)) as f64 / (high - low) as f64;
    c.delay.hist.buckets().map(|([low, high], n)| n as f64 * share(low, high)).sum()
}

/// Sums over the videos that play.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Video {
    videos: u64,
    startup: f64,
    stalls: u64,
    stalled: u64,
    played: u64,
}

impl Video {
    /// Play-out of one flow up to `now`, or that of none.
    pub(super) fn of(playback: Option<&Playback>, now: Time) -> Self {
        playback.map_or_else(Self::default, |p| {
            let p = p.up_to(now);
            Self { videos: 1, startup: p.startup.as_secs_f64(), stalls: p.stalls, stalled: p.stalled.as_ps(), played: p.played.as_ps() }
        })
    }

    pub(super) fn add(&mut self, o: &Self) {
        self.videos += o.videos;
        self.startup += o.startup;
        self.stalls += o.stalls;
        self.stalled += o.stalled;
        self.played += o.played;
    }

    fn known(&self, value: f64) -> f64 {
        if self.videos == 0 { f64::NAN } else { value }
    }
    pub(super) fn startup(&self) -> f64 {
        self.startup / self.videos as f64
    }
    pub(super) fn stalls(&self) -> f64 {
        self.known(self.stalls as f64)
    }
    pub(super) fn stalled(&self) -> f64 {
        self.known(secs(self.stalled as f64))
    }
    pub(super) fn played(&self) -> f64 {
        self.known(secs(self.played as f64))
    }
    pub(super) fn stalled_share(&self) -> f64 {
        self.stalled as f64 / (self.stalled + self.played) as f64
    }
}

#[cfg(test)]
#[path = "quality_tests.rs"]
mod tests;
