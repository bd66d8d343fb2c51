//! Changes of a port during the run.

use super::{Pace, Port, Role};
use crate::impair::{Impair, Impairments};
use crate::qdisc::Qdisc;
use crate::schedule::{Schedule, Steps};
use fairlane_units::{Dur, Rate, Time};

/// Pending consequences of changes.
#[derive(Clone, Debug)]
pub(super) struct Changed {
    /// Set after the delay became shorter.
    shorter: Option<Shorter>,
    /// Timer deadline of a queue that was set during the run; `MAX` for none.
    tick: Time,
}

/// Delay that is shorter than that of packets on the link. No packet overtakes another.
#[derive(Clone, Copy, Debug)]
struct Shorter {
    delay: Dur,
    /// Arrival of the last packet with the longer delay.
    last: Time,
    /// True if another transmission has begun since.
    begun: bool,
}

impl<Q: Qdisc> Port<Q> {
    fn has_changed(&self) -> Option<&Changed> {
        self.more.as_ref()?.changed.as_ref()
    }
    fn changed(&mut self) -> &mut Changed {
        self.more().changed.get_or_insert(Changed { shorter: None, tick: Time::MAX })
    }

    /// Rate at a time; mean rate of a trace.
    pub fn rate_at(&self, now: Time) -> Rate {
        match self.schedule() {
            Some(Schedule::Steps(s)) => s.rate_at(now),
            Some(Schedule::Profile(p)) => p.at(now),
            _ => self.rate(),
        }
    }

    /// Changes the rate from `now` on, also for the remaining bits of the packet in transmission. Returns the old and the new end of that packet.
    /// Links that follow a trace or have a device stay as they are.
    pub(crate) fn set_rate(&mut self, rate: Rate, now: Time) -> Option<(Time, Time)> {
        let first = self.rate();
        let before = self.busy_until;
        let schedule = self.more().schedule.get_or_insert_with(|| Schedule::Steps(Steps::new(first, [])));
        let Schedule::Steps(steps) = schedule else { return None };
        self.busy_until = steps.change(now, rate, before);
        self.pace = Pace::uneven(first);
        (before > now).then_some((before, self.busy_until))
    }

    /// Changes the propagation delay of packets whose transmission ends from now on. They overtake none.
    pub(crate) fn set_delay(&mut self, delay: Dur) {
        let delay = delay.saturating_sub(self.impair().map_or(Dur::ZERO, |i| i.early()));
        if let Some(imp) = self.impair_mut() {
            imp.set_ring(delay);
        }
        let last = self.ring.back().map(|p| p.at);
        self.delay = delay;
        let shorter = last.map(|last| Shorter { delay, last, begun: false });
        if shorter.is_some() || self.has_changed().is_some() {
            self.changed().shorter = shorter;
        }
        if shorter.is_some() {
            // Check each packet until the link is in order by itself.
            self.pace = Pace::uneven(self.rate());
        }
    }

    /// Sets the delay of the packet whose transmission ends at `end`.
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

    /// New arrival time of the packet in transmission, which was `at`: its transmission ends at `after` instead of `before`. The packet before it
    /// arrives at `previous`.
    pub(crate) fn moved(&mut self, at: Time, (before, after): (Time, Time), previous: Time) -> Time {
        let moved = after.later(at.since(before)).max(previous);
        match self.more.as_mut().and_then(|m| m.changed.as_mut()).and_then(|c| c.shorter.as_mut()) {
            // It would have arrived sooner, but must not overtake the last one with the longer delay.
            Some(s) if s.begun => after.later(s.delay).max(s.last),
            Some(s) => {
                // It is the last one with the longer delay.
                s.last = moved;
                moved
            }
            None => moved,
        }
    }

    /// Delay of packets that need not wait for others.
    pub(super) fn own_delay(&self) -> Dur {
        self.has_changed().and_then(|c| c.shorter).map_or(self.delay, |s| s.delay)
    }

    /// Sets losses and duplicates.
    pub(crate) fn set_losses(&mut self, what: &Impairments, seed: u64, name: &str) {
        self.make_impair(|| Impair::idle(&Impairments::default(), Dur::ZERO, seed, name)).change(what, seed, name);
        self.role = Role::SlowPath;
    }

    /// Sets the timer deadline of a queue that was set during the run.
    pub(crate) fn set_tick(&mut self, at: Option<Time>) {
        if at.is_some() || self.has_changed().is_some() {
            self.changed().tick = at.unwrap_or(Time::MAX);
        }
    }
    /// Returns true if that timer is due.
    pub(crate) fn ticks(&self, now: Time) -> bool {
        self.has_changed().is_some_and(|c| c.tick <= now)
    }
}
