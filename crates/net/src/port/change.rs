//! A port that changes while the run goes on.

use super::{Pace, Port};
use crate::impair::{Impair, Impairments};
use crate::qdisc::Qdisc;
use crate::schedule::{Schedule, Steps};
use fairlane_units::{Dur, Rate, Time};

/// What changes have left to do.
#[derive(Clone, Debug)]
pub(super) struct Changed {
    /// The delay became shorter.
    shorter: Option<Shorter>,
    /// When the timer of a queue is due that came while the run went on; `MAX` for none.
    tick: Time,
}

/// A delay that is shorter than that of packets on the link. None overtakes another.
#[derive(Clone, Copy, Debug)]
struct Shorter {
    delay: Dur,
    /// When the last packet arrives that had the longer one.
    last: Time,
    /// Whether the transmission of another has begun since.
    begun: bool,
}

impl<Q: Qdisc> Port<Q> {
    fn has_changed(&self) -> Option<&Changed> {
        self.more.as_ref()?.changed.as_ref()
    }
    fn changed(&mut self) -> &mut Changed {
        self.more().changed.get_or_insert(Changed { shorter: None, tick: Time::MAX })
    }

    /// The rate at a time; of a trace its mean.
    pub fn rate_at(&self, now: Time) -> Rate {
        match self.schedule() {
            Some(Schedule::Steps(s)) => s.rate_at(now),
            _ => self.rate(),
        }
    }

    /// The rate is another from `now` on; the bits of a packet in transmission that are still to be sent go at it, too. Returns by how much later, or
    /// sooner, that packet ends: its old end and the new one. The packets of a trace and of a device are beyond it.
    pub(crate) fn set_rate(&mut self, rate: Rate, now: Time) -> Option<(Time, Time)> {
        let first = self.rate();
        let before = self.busy_until;
        let schedule = self.more().schedule.get_or_insert_with(|| Schedule::Steps(Steps::new(first, [].into())));
        let Schedule::Steps(steps) = schedule else { return None };
        self.busy_until = steps.change(now, rate, before);
        self.pace = Pace::uneven(first);
        (before > now).then_some((before, self.busy_until))
    }

    /// The propagation delay is another for packets whose transmission ends from now on. They overtake none.
    pub(crate) fn set_delay(&mut self, delay: Dur) {
        let delay = delay.saturating_sub(self.impair().map_or(Dur::ZERO, |i| i.early()));
        let last = self.ring.back().map(|p| p.at);
        self.delay = delay;
        let shorter = last.map(|last| Shorter { delay, last, begun: false });
        if shorter.is_some() || self.has_changed().is_some() {
            self.changed().shorter = shorter;
        }
        if shorter.is_some() {
            // Each packet is looked at until the link is in order by itself.
            self.pace = Pace::uneven(self.rate());
        }
    }

    /// The delay of the packet whose transmission ends at `end`.
    pub(super) fn keep_order(&mut self, end: Time) {
        let Some(Shorter { delay, last, .. }) = self.has_changed().and_then(|c| c.shorter) else { return };
        self.delay = delay.max(last.since(end));
        self.changed().shorter = Some(Shorter { delay, last, begun: true });
        if self.delay == delay {
            self.changed().shorter = None;
            if self.schedule().is_none() && self.device().is_none() {
                self.pace = Pace::of(self.rate());
            }
        }
    }

    /// When the packet in transmission arrives that would have been there at `at`, now that its transmission ends at `after` in place of `before`; the one before it is there at
    /// `previous`.
    pub(crate) fn moved(&mut self, at: Time, (before, after): (Time, Time), previous: Time) -> Time {
        let moved = after.later(at.since(before)).max(previous);
        match self.more.as_mut().and_then(|m| m.changed.as_mut()).and_then(|c| c.shorter.as_mut()) {
            // It would have arrived sooner but for the one that it must not overtake.
            Some(s) if s.begun => after.later(s.delay).max(s.last),
            Some(s) => {
                // The one that others must not overtake.
                s.last = moved;
                moved
            }
            None => moved,
        }
    }

    /// The delay that packets have which need not wait for others.
    pub(super) fn own_delay(&self) -> Dur {
        self.has_changed().and_then(|c| c.shorter).map_or(self.delay, |s| s.delay)
    }

    /// Loses and copies packets as `what` says from now on.
    pub(crate) fn set_losses(&mut self, what: &Impairments, seed: u64, name: &str) {
        self.make_impair(|| Impair::idle(&Impairments::default(), Dur::ZERO, seed, name)).change(what, seed, name);
        self.rough = true;
    }

    /// When the timer of a queue is due that came while the run went on.
    pub(crate) fn set_tick(&mut self, at: Option<Time>) {
        if at.is_some() || self.has_changed().is_some() {
            self.changed().tick = at.unwrap_or(Time::MAX);
        }
    }
    /// Whether it is due.
    pub(crate) fn ticks(&self, now: Time) -> bool {
        self.has_changed().is_some_and(|c| c.tick <= now)
    }
}
