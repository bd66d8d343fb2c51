//! Timers, events and routes that the loop keeps per endpoint and per application, apart from their state.

use crate::endpoint::Timers;
use crate::packet::Proto;
use fairlane_engine::Stream;
use fairlane_units::Time;

/// Data of an endpoint that the loop needs, apart from its state.
#[derive(Clone, Debug)]
pub(crate) struct Side {
    pub(crate) timers: Timers,
    /// Time of the earliest event queued for its timers.
    pub(crate) armed: Time,
    /// Time of a second queued event, not before the first: when the first is over, a far deadline needs no new event.
    pub(crate) later: Time,
    /// Start of its route in the hop table.
    pub(crate) route: u32,
    pub(crate) proto: Proto,
    /// Number of its connection of the flow.
    pub(crate) conn: u16,
}

impl Side {
    /// Creates the data of an endpoint whose route begins at `route`.
    pub(crate) fn new(route: u32, proto: Proto) -> Self {
        Self { timers: Timers::default(), armed: Time::MAX, later: Time::MAX, route, proto, conn: 0 }
    }

    /// [`Self::arm`] after a call that set deadlines from `soonest` on, and that no timer event caused. Mostly there is nothing to do.
    #[inline(always)]
    pub(crate) fn arm_from(&mut self, soonest: Time) -> Option<Time> {
        if soonest < self.armed { self.arm() } else { None }
    }

    /// Returns the time for which an event has to be queued now, if any.
    #[inline(always)]
    pub(crate) fn arm(&mut self) -> Option<Time> {
        let next = self.timers.next();
        if next >= self.armed {
            return None;
        }
        if self.later == Time::MAX {
            self.later = self.armed;
        }
        self.armed = next;
        Some(next)
    }

    /// Notes that an event at `now` is over.
    #[inline]
    pub(crate) fn disarm(&mut self, now: Time) {
        if self.armed == now {
            self.armed = self.later;
            self.later = Time::MAX;
        } else if self.later == now {
            self.later = Time::MAX;
        }
    }
}

/// Application with its random stream and next wake-up.
#[derive(Clone, Debug)]
pub(crate) struct Host<A> {
    pub(crate) app: A,
    /// Number of its event source among those of applications.
    pub(crate) number: u32,
    pub(crate) rng: Stream,
    pub(crate) wake: Time,
    pub(crate) armed: Time,
}
