//! The world of one run: all state as owned data, and the event loop.

mod application;
mod change;
mod channel;
mod control;
mod deliver;
mod lifetime;
mod outage;
mod read;
mod reconnect;
mod snapshot;
mod standstill;

pub use standstill::Standstill;

use crate::app::{Action, App};
use crate::channel::{Channel, Pending};
use crate::control::Control;
use crate::controllers::FlowControllers;
use crate::endpoint::{Endpoint, FlowView, Out};
use crate::hop::NOWHERE;
use crate::ids::EpId;
use crate::lifetime::Lifetimes;
use crate::observe::Observer;
use crate::order::Turn;
use crate::outage::Outages;
use crate::packet::Packet;
use crate::path::Path;
use crate::prefetch::prefetch;
use crate::qdisc::Qdisc;
use crate::route::reroute::Reroutes;
use crate::sample::Sampler;
use crate::side::{Host, Side};
use fairlane_engine::{EventQueue, QuadHeap, Slot};
use fairlane_units::Time;

/// Types of a world's components: enums of the built-in ones, or user-defined types.
pub trait Components: Clone + Send + 'static {
    /// Queue disciplines.
    type Qdisc: Qdisc + Clone;
    /// Transport endpoints.
    type Endpoint: Endpoint + Clone;
    /// Applications.
    type App: App + Clone;
    /// Flow controllers; `()` for none.
    type Control: Control + Clone;
}

/// State of one run. A clone is a branch with its own future.
#[derive(Clone, Debug)]
pub struct World<P: Components, H: EventQueue = QuadHeap> {
    pub(crate) path: Path<P::Qdisc, H>,
    pub(crate) endpoints: Vec<P::Endpoint>,
    /// Flows that are built when they begin; `None` if all were built before the run.
    pub(crate) lifetimes: Option<Box<Lifetimes<P>>>,
    /// Views of the senders after [`World::retire`].
    pub(crate) last_views: Vec<FlowView>,
    /// Undelivered bytes of the receivers after [`World::retire`].
    pub(crate) last_kept: Vec<u64>,
    pub(crate) sides: Vec<Side>,
    pub(crate) hosts: Vec<Host<P::App>>,
    /// Ports whose queue has a timer.
    pub(crate) clocks: Vec<u32>,
    /// Ports whose link delays packets.
    pub(crate) lates: Vec<u32>,
    pub(crate) airs: Vec<Channel>,
    /// Events requested by a channel, not yet in the event queue.
    pub(crate) pending: Pending,
    /// Changes of routes during the run.
    pub(crate) reroutes: Reroutes,
    pub(crate) sampler: Option<Sampler>,
    pub(crate) controllers: Option<Box<FlowControllers<P::Control>>>,
    /// Failures and repairs of links to come.
    pub(crate) outages: Option<Box<Outages>>,
    pub(crate) out: Vec<Out>,
    pub(crate) actions: Vec<(EpId, Action)>,
    pub(crate) events_run: u64,
    /// Events at this instant, counted between stretches.
    pub(crate) still: u64,
    pub(crate) standstill: Option<Box<Standstill>>,
    pub(crate) reset_at: Time,
    pub(crate) fingerprint: u64,
}

impl<P: Components, H: EventQueue> World<P, H> {
    /// Runs events up to and including `until`, at most `budget` of them, until the observer has had enough. Returns true if `until` was reached. It never is
    /// reached if simulated time stops: see [`World::standstill`].
    ///
    /// Flow controllers act only with an observer that is on.
    pub fn advance<O: Observer>(&mut self, until: Time, budget: u64, obs: &mut O) -> bool {
        // Shortcuts cost something whenever they begin and end, the more packets wait: a short advance does without them.
        let plain = self.path.shortcuts.cost.min(budget);
        if plain > 0 {
            if self.run_until(until, plain, obs).is_none() {
                return true;
            }
            if plain == budget || self.standstill.is_some() || (O::ON && obs.enough()) {
                return false;
            }
        }
        self.path.activate_shortcuts::<O>();
        let before = self.events_run;
        let stopped = self.run_until(until, budget - plain, obs);
        self.path.materialize(stopped, obs);
        if stopped.is_some() && self.events_run - before >= self.path.shortcuts.cost {
            // A pause of a long run, which has paid for the next beginning.
            self.path.shortcuts.cost = 0;
        }
        stopped.is_none()
    }

    /// Runs at most `budget` events. Returns the number of the last one and the rest of the budget; `None` if `until` was reached.
    fn run_events<O: Observer>(&mut self, until: Time, budget: u64, obs: &mut O) -> Option<(Slot, u64)> {
        let slots = self.path.slots;
        let mut pkt = Packet::BLANK;
        let (mut left, mut last) = (budget, 0);
        while left > 0 && !(O::ON && obs.enough()) {
            let Some((now, number, slot)) = self.path.events.pop_of(until, |t, n| slots.order.slot(t, n)) else {
                self.events_run += budget - left;
                self.path.now = until;
                return None;
            };
            left -= 1;
            last = number;
            self.path.now = now;
            self.look_ahead();
            if O::PART
                && let Some(ledger) = obs.ledger()
            {
                ledger.begin(now, number);
            }
            if slot < slots.endpoints {
                if slots.order.departs(number) {
                    self.on_wake(slot, now, obs);
                    continue;
                }
                let ep = self.path.on_port(slot, now, &mut pkt, obs);
                if ep != NOWHERE {
                    self.receive(ep, &pkt, now, obs);
                    if !self.path.copies.is_empty() {
                        self.receive_copies(now, obs);
                    }
                    if O::ON {
                        self.notify_controllers(None, now, obs);
                    }
                }
            } else if slot < slots.hosts {
                self.on_timers(slot - slots.endpoints, now, obs);
                if O::ON {
                    self.notify_controllers(None, now, obs);
                }
            } else if slot < slots.clocks {
                self.on_host(slot - slots.hosts, now, obs);
                if O::ON {
                    self.notify_controllers(None, now, obs);
                }
            } else if slot < slots.lates {
                self.path.on_clock(self.clocks[(slot - slots.clocks) as usize], slot, now, obs);
            } else if slot < slots.airs {
                self.on_late(self.lates[(slot - slots.lates) as usize], now, obs);
                if O::ON {
                    self.notify_controllers(None, now, obs);
                }
            } else if slot < slots.sampler {
                self.on_air(slot, now, obs);
                if O::ON {
                    self.notify_controllers(None, now, obs);
                }
            } else if slot >= slots.outages {
                self.on_outage(now, obs);
            } else if O::ON && slot >= slots.controls {
                let number = (slot - slots.controls) as usize;
                self.on_control(number, now);
                self.notify_controllers(Some(number), now, obs);
            } else {
                self.on_sample(now, obs);
            }
        }
        self.events_run += budget - left;
        Some((last, left))
    }

    /// Prefetches the memory of events to come. With thousands of links most of the time would else be spent waiting for memory.
    #[inline]
    fn look_ahead(&self) {
        self.path.prefetch_port(7);
        self.path.prefetch_head(5);
        if let Some(ep) = self.path.prefetch_next(3) {
            prefetch(&self.endpoints[ep as usize], 512);
            prefetch(&self.sides[ep as usize], 64);
        }
    }

    fn on_sample<O: Observer>(&mut self, now: Time, obs: &mut O) {
        if O::ON && !self.path.shortcuts.fit_observer {
            self.path.settle_all::<O, true>(now, obs);
        }
        if let Some(s) = &mut self.sampler {
            let endpoints = &self.endpoints;
            let open = self.controllers.as_mut().map(|g| g.shares(now, s.step()));
            let ends = |f: usize| (&endpoints[2 * f], &endpoints[2 * f + 1]);
            let next = s.record(now, &mut self.path, ends, open, obs);
            self.path.push(next, self.path.slots.sampler, Turn::Look);
        }
    }
}
