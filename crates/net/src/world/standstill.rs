//! Runs that do not end: events without number at one instant.

use super::{Components, World};
use crate::ids::{FlowId, PortId};
use crate::observe::Observer;
use crate::qdisc::Qdisc;
use fairlane_engine::{EventQueue, Slot};
use fairlane_units::Time;

/// Events between two looks at whether time moves.
const LOOK: u64 = 1 << 20;
/// Events at one instant that any world may have, and those that it may have for each of its sources of events. A source has one event in the queue at a time, and what
/// happens at an instant for a reason (all flows begin, all links begin to send, all timers fire) is a few events of each source: a million flows that begin at once make
/// less than ten million of the two hundred million allowed them. Packets take time to be sent, so only those without bytes can make more.
const FREE: u64 = 1 << 22;
const EACH: u64 = 64;
/// Events that are looked at to say who makes them.
const SAMPLE: usize = 256;

/// Simulated time does not move any more: so many events have had the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standstill {
    /// The time at which it stands still.
    pub time: Time,
    /// Events at that time, at least.
    pub events: u64,
    /// The port whose events are most of them, or whose queue has a timer that makes them.
    pub port: Option<PortId>,
    /// The channel whose events are most of them, by its number.
    pub channel: Option<u32>,
    /// The flow whose endpoints or source make most of them; or else one whose packets the port has.
    pub flow: Option<FlowId>,
}

/// Where an event belongs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Port(u32),
    Channel(u32),
    Flow(u32),
    Other,
}

impl<P: Components, H: EventQueue> World<P, H> {
    /// The standstill that ended the run, if one did; nothing happens in this world any more then.
    pub fn standstill(&self) -> Option<&Standstill> {
        self.standstill.as_deref()
    }

    /// The loop. Returns the number of the last event, unless it reached `until`.
    ///
    /// Time is compared between stretches of events, so that no single event pays for the check.
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

    /// Ends the run, and finds out who makes the events.
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
            self.path.flows.iter().position(|f| f.app == app).map_or(Place::Other, |f| Place::Flow(f as u32))
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

    /// A flow whose packet is on a port's link, or waits before it.
    fn passer(&self, port: u32) -> Option<FlowId> {
        let port_of = &self.path.ports[port as usize];
        let on_link = port_of.ring.get(0).filter(|p| p.at < Time::MAX).or_else(|| port_of.qdisc.head());
        on_link.map(|p| p.flow).or_else(|| self.path.waiting(PortId(port)).ok()?.first().map(|p| p.flow))
    }
}
