//! The sources of events of a world and their numbers.

use crate::order::Order;
use fairlane_engine::Slot;

/// How many sources of events there are of each kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sources {
    pub(crate) ports: usize,
    pub(crate) endpoints: usize,
    pub(crate) hosts: usize,
    /// Ports whose queue has a timer of its own.
    pub(crate) clocks: usize,
    /// Ports whose link keeps packets back.
    pub(crate) lates: usize,
    /// Slots of all channels together.
    pub(crate) airs: usize,
    /// One if routes change.
    pub(crate) routes: usize,
    pub(crate) controls: usize,
    /// One where links fail.
    pub(crate) outages: usize,
}

/// First slot of each kind of event source, in the order of ties; those of the ports come first.
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
    /// Of all kinds together.
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
