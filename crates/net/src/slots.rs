//! Slots: numbers of the sources of events of a world.

use crate::order::Order;
use fairlane_engine::Slot;

/// Number of event sources of each kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sources {
    pub(crate) ports: usize,
    pub(crate) endpoints: usize,
    pub(crate) hosts: usize,
    /// Queues with a timer.
    pub(crate) clocks: usize,
    /// Links that delay packets.
    pub(crate) lates: usize,
    /// Slots of all wireless channels.
    pub(crate) airs: usize,
    /// 1 if routes change, else 0.
    pub(crate) routes: usize,
    pub(crate) controls: usize,
    /// 1 if links fail, else 0.
    pub(crate) outages: usize,
}

/// First slot of each kind of event source. Ports come first, from slot 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slots {
    pub(crate) endpoints: Slot,
    pub(crate) hosts: Slot,
    pub(crate) clocks: Slot,
    pub(crate) lates: Slot,
    pub(crate) airs: Slot,
    pub(crate) routes: Slot,
    pub(crate) sampler: Slot,
    pub(crate) controls: Slot,
    pub(crate) outages: Slot,
    /// Number of slots.
    pub(crate) count: Slot,
    pub(crate) order: Order,
}

impl Slots {
    pub(crate) fn new(sources: Sources, seed: u64) -> Self {
        let Sources { ports, endpoints, hosts, clocks, lates, airs, routes, controls, outages } = sources;
        let mut next = ports as Slot;
        let mut block = |n: usize| {
            let first = next;
            next += n as Slot;
            first
        };
        Self {
            endpoints: block(endpoints),
            hosts: block(hosts),
            clocks: block(clocks),
            lates: block(lates),
            airs: block(airs),
            routes: block(routes),
            sampler: block(1),
            controls: block(controls),
            outages: block(outages),
            count: next,
            order: Order::new(next as usize, seed),
        }
    }
}
