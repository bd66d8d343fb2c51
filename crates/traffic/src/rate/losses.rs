//! Loss events from the numbers and times of arrivals (RFC 5348 sections 5.1 to 5.3).

use super::arrivals::Arrivals;
use super::equation::{inverse, loss_rate};
use super::intervals::Intervals;
use fairlane_units::{Dur, Time};

/// Arrivals with higher numbers from which on a missing packet counts as lost, NDUPACK (section 5.1).
const NDUPACK: usize = 3;

/// An arrival.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Seen {
    number: u64,
    time: Time,
}

/// The most recent loss event.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Event {
    /// Number of its first packet, S_loss.
    number: u64,
    /// When that was lost, T_loss.
    time: Time,
    /// Packets lost or marked in it.
    packets: u64,
}

/// Information from an arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct News {
    /// The packet came for the first time.
    pub(super) fresh: bool,
    /// Loss events that began.
    pub(super) events: u64,
}

/// State of the receiver besides the arrivals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Surroundings {
    /// The sender's estimate of the round trip, R_i; zero before there is one.
    pub(super) rtt: Dur,
    /// Mean size of a packet, s.
    pub(super) size: f64,
    /// The rate in bytes a second that the first loss event shall leave, X_target; 0 if nothing is known of it.
    pub(super) target: f64,
}

/// Round trips between two packets of the rate that is the target where nothing is known: f(p) = 2 (section 6.3.1).
const SLOWEST_TARGET: f64 = 2.0;

impl Surroundings {
    /// The loss interval that stands for all before the first loss event (section 6.3.1).
    fn first_interval(&self) -> f64 {
        let slowest = inverse(SLOWEST_TARGET);
        let known = self.rtt > Dur::ZERO && self.target > 0.0;
        1.0 / if known { loss_rate(self.size, self.rtt.as_secs_f64(), self.target).min(slowest) } else { slowest }
    }
}

/// The record of arrivals and loss events. Packets are numbered from 1, so that the loss of the first is seen too.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Losses {
    intervals: Intervals,
    /// Below it every packet is known to be here or lost.
    edge: Seen,
    /// Arrivals beyond it, fewer than [`NDUPACK`], in the order of their numbers.
    ahead: Vec<Seen>,
    arrivals: Arrivals,
    event: Option<Event>,
    /// The event before, and the intervals as they were: what holds again if all packets of the last event turn up late.
    before: (Option<Event>, Intervals),
    /// Loss events so far.
    pub(super) events: u64,
}

impl Losses {
    pub(super) fn new(discounting: bool) -> Self {
        let intervals = Intervals::new(discounting);
        Self {
            intervals,
            edge: Seen { number: 0, time: Time::ZERO },
            ahead: Vec::with_capacity(NDUPACK),
            arrivals: Arrivals::default(),
            event: None,
            before: (None, intervals),
            events: 0,
        }
    }

    /// Packet `number` arrived; `marked`: with congestion experienced.
    pub(super) fn arrive(&mut self, number: u64, now: Time, marked: bool, around: &Surroundings) -> News {
        if self.arrivals.highest == 0 {
            self.edge.time = now;
        }
        if !self.arrivals.note(number) {
            return News::default();
        }
        let before = self.events;
        if number < self.edge.number {
            self.late(number);
        } else {
            let place = self.ahead.iter().position(|s| s.number > number).unwrap_or(self.ahead.len());
            self.ahead.insert(place, Seen { number, time: now });
            if self.ahead.len() >= NDUPACK {
                let next = self.ahead.remove(0);
                self.missing(next, around);
                self.edge = next;
            }
        }
        if marked {
            // Section 5.2: for a marked packet the time of arrival stands for the time of the loss.
            self.lost(number, now, 1, around);
        }
        News { fresh: true, events: self.events - before }
    }

    /// Every packet between the edge and `next` is lost, at times that lie evenly between the two arrivals (section 5.2).
    fn missing(&mut self, next: Seen, around: &Surroundings) {
        let (edge, gap) = (self.edge, next.number - self.edge.number);
        let span = next.time.since(edge.time);
        let lost_at = |k: u64| edge.time + Dur::from_ps((u128::from(span.as_ps()) * u128::from(k) / u128::from(gap)) as u64);
        let mut k = 1;
        while k < gap {
            // Those up to a round trip after the event's first belong to it; which is the first beyond, the even spacing tells.
            let start = self.event.map_or(lost_at(k), |e| if e.time + around.rtt >= lost_at(k) { e.time } else { lost_at(k) });
            let within = (start + around.rtt).since(edge.time);
            let beyond =
                if span <= within { gap } else { (u128::from(within.as_ps()) * u128::from(gap) / u128::from(span.as_ps())) as u64 + 1 };
            let end = beyond.clamp(k + 1, gap);
            self.lost(edge.number + k, lost_at(k), end - k, around);
            k = end;
        }
    }

    /// `packets` packets from `number` on were lost at `time`: a new event, or part of the last (section 5.2).
    fn lost(&mut self, number: u64, time: Time, packets: u64, around: &Surroundings) {
        match &mut self.event {
            Some(e) if e.time + around.rtt >= time => e.packets = e.packets.saturating_add(packets),
            last => {
                self.before = (*last, self.intervals);
                let length = last.map_or_else(|| around.first_interval(), |e| number.saturating_sub(e.number) as f64);
                self.intervals.close(length.max(1.0));
                *last = Some(Event { number, time, packets });
                self.events += 1;
            }
        }
    }

    /// A packet that was counted as lost came late (section 5.1). If it was the last one missing of the most recent event, there was no such event.
    fn late(&mut self, number: u64) {
        let Some(e) = self.event.as_mut().filter(|e| number >= e.number && e.packets > 0) else { return };
        e.packets -= 1;
        if e.packets == 0 {
            (self.event, self.intervals) = self.before;
            // What was before that is not known any more: an older event is not taken back.
            self.before.0 = self.event;
            if let Some(e) = &mut self.event {
                e.packets = u64::MAX;
            }
        }
    }

    /// The loss event rate p (section 5.4).
    pub(super) fn rate(&self) -> f64 {
        let Some(e) = self.event else { return 0.0 };
        let open = (self.arrivals.highest + 1).saturating_sub(e.number).max(1);
        self.intervals.mean(open as f64).map_or(0.0, |mean| 1.0 / mean.max(1.0))
    }
}

#[cfg(test)]
#[path = "losses_tests.rs"]
mod tests;
