//! What the loop keeps of an endpoint and of an application beside their state: their timers and the events queued for them.

use crate::endpoint::Timers;
use crate::packet::Proto;
use fairlane_engine::Stream;
use fairlane_units::Time;

/// What the loop needs of an endpoint beside its state.
#[derive(Clone, Debug)]
pub(crate) struct Side {
    pub(crate) timers: Timers,
    /// Time of the earliest event queued for its timers.
    pub(crate) armed: Time,
    /// Time of another event queued, not before it: once the first is over, a far deadline needs no second event.
    pub(crate) later: Time,
    /// Where its route begins in the table of hops.
    pub(crate) route: u32,
    pub(crate) proto: Proto,
    /// Which connection of its flow it is an end of.
    pub(crate) conn: u16,
    /// Whether anything happened to it since the last sample.
    pub(crate) stirred: bool,
}

impl Side {
    /// Of an endpoint whose packets' hops begin there.
    pub(crate) fn new(route: u32, proto: Proto) -> Self {
        Self { timers: Timers::default(), armed: Time::MAX, later: Time::MAX, route, proto, conn: 0, stirred: true }
    }

    /// [`Self::arm`] after a call since the last time in which deadlines up from `soonest` were set, and which no event of a timer caused: mostly nothing is to be done.
    #[inline(always)]
    pub(crate) fn arm_from(&mut self, soonest: Time) -> Option<Time> {
        if soonest < self.armed { self.arm() } else { None }
    }

    /// The time for which an event is to be queued now, if any.
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

    /// An event queued for `now` is over.
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

/// An application with its stream and its next wake-up.
#[derive(Clone, Debug)]
pub(crate) struct Host<A> {
    pub(crate) app: A,
    pub(crate) rng: Stream,
    pub(crate) wake: Time,
    pub(crate) armed: Time,
}
