//! Standstill: a run whose events never leave one instant.

use super::{Components, World};
use crate::ids::{FlowId, PortId};
use crate::observe::Observer;
use crate::qdisc::Qdisc;
use fairlane_engine::{EventQueue, Slot};
use fairlane_units::Time;

/// Events between two checks of the time.
const LOOK: u64 = 1 << 20;
/// Events allowed at one instant: a constant, and a number per event source. A source has one pending event, and events with a cause (all flows begin, all
/// timers expire) are a few per source: a million flows that begin at once make less than ten million events, and are allowed two hundred million.
const FREE: u64 = 1 << 22;
const EACH: u64 = 64;
/// Events that are inspected to find the source.
const SAMPLE: usize = 256;

/// Standstill of simulated time: too many events at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standstill {
    /// Time of the standstill.
    pub time: Time,
    /// Events at that time, at least.
    pub events: u64,
    /// Port with most of these events, or with the queue whose timer makes them.
    pub port: Option<PortId>,
    /// Number of the channel with most of these events.
    pub channel: Option<u32>,
    /// Flow whose endpoints or source make most of these events; else a flow with packets at the port.
    pub flow: Option<FlowId>,
}

/// Source of an event.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Port(u32),
    Channel(u32),
    Flow(u32),
    Other,
}

impl<P: Components, H: EventQueue> World<P, H> {
    /// Standstill that ended the run, if there was one.
    pub fn standstill(&self) -> Option<&Standstill> {
        self.standstill.as_deref()
    }

    /// Runs events up to `until`. Returns the number of the last event; `None` if `until` was reached.
    ///
    /// Time is checked between stretches of events, so that single events do not pay for it.
    pub(crate) fn run_until<O: Observer>(&mut self, until: Time, mut budget: u64, obs: &mut O) -> Option<Slot> {
        let mut last = 0;
        while budget > 0 && self.standstill.is_none() {
            let (from, events) = (self.path.now, budget.min(LOOK));
            let Some((number, left)) = self.run_events(until, events, obs) else {
                self.still = 0;
                return None;
            };
            last = number;
            budget -= events - left;
            if self.stands_still(from, events - left) {
                self.halt(obs);
            }
            if left > 0 {
                break;
            }
        }
        Some(last)
    }

    /// Counts events after a stretch of `events`, at whose beginning the time was `from`. Returns true if there are too many at one instant.
    fn stands_still(&mut self, from: Time, events: u64) -> bool {
        self.still = if self.path.now == from { self.still + events } else { 0 };
        self.still > FREE + EACH * u64::from(self.path.slots.count)
    }

    /// Ends the run, and finds the source of the events.
    #[cold]
    fn halt<O: Observer>(&mut self, obs: &mut O) {
        let (time, mut seen) = (self.path.now, Vec::with_capacity(SAMPLE));
        while seen.len() < SAMPLE
            && let Some((last, _)) = self.run_events(time, 1, obs)
        {
            seen.push(self.place(self.path.slots.order.slot(time, last)));
        }
        let most = |kind: fn(Place) -> Option<u32>| {
            let mut found: Vec<u32> = seen.iter().filter_map(|&p| kind(p)).collect();
            found.sort_unstable();
            found.chunk_by(|a, b| a == b).max_by_key(|c| c.len()).map(|c| c[0])
        };
        let port = most(|p| if let Place::Port(i) = p { Some(i) } else { None });
        let channel = most(|p| if let Place::Channel(i) = p { Some(i) } else { None });
        let flow = most(|p| if let Place::Flow(i) = p { Some(i) } else { None }).map(FlowId);
        let flow = flow.or_else(|| port.and_then(|i| self.passer(i)));
        let events = self.still;
        self.standstill = Some(Box::new(Standstill { time, events, port: port.map(PortId), channel, flow }));
    }

    fn place(&self, slot: Slot) -> Place {
        let slots = &self.path.slots;
        if slot < slots.endpoints {
            Place::Port(slot)
        } else if slot < slots.hosts {
            Place::Flow((slot - slots.endpoints) >> 1)
        } else if slot < slots.clocks {
            let app = slot - slots.hosts;
            match &self.lifetimes {
                Some(_) => Place::Flow(app),
                None => self.path.flows.iter().position(|f| f.app == app).map_or(Place::Other, |f| Place::Flow(f as u32)),
            }
        } else if slot < slots.lates {
            Place::Port(self.clocks[(slot - slots.clocks) as usize])
        } else if slot < slots.airs {
            Place::Port(self.lates[(slot - slots.lates) as usize])
        } else if slot < slots.routes {
            Place::Channel(self.airs.partition_point(|c| c.slot <= slot).saturating_sub(1) as u32)
        } else {
            Place::Other
        }
    }

    /// Flow with a packet on the link of a port or in its queue.
    fn passer(&self, port: u32) -> Option<FlowId> {
        let port_of = &self.path.ports[port as usize];
        let on_link = port_of.ring.get(0).filter(|p| p.at < Time::MAX).or_else(|| port_of.qdisc.head());
        on_link.map(|p| p.flow).or_else(|| self.path.waiting(PortId(port)).ok()?.first().map(|p| p.flow))
    }
}
