//! Prefetching for the next events. With thousands of links an event would mostly wait for memory.

use super::Path;
use crate::hop::END;
use crate::port::Port;
use crate::prefetch::prefetch;
use crate::qdisc::Qdisc;
use fairlane_engine::EventQueue;

impl<Q: Qdisc, H: EventQueue> Path<Q, H> {
    /// Port whose event may come `k` events from now.
    #[inline]
    fn upcoming(&self, k: usize) -> Option<&Port<Q>> {
        let (time, number) = self.events.upcoming(k)?;
        self.ports.get(self.slots.order.slot(time, number) as usize)
    }

    /// Prefetches the port of the event `k` events from now.
    #[inline]
    pub(crate) fn prefetch_port(&self, k: usize) {
        if let Some(port) = self.upcoming(k) {
            port.prefetch();
        }
    }

    /// Prefetches the packets at the head of link and queue of that port, which is in the cache by now.
    #[inline]
    pub(crate) fn prefetch_head(&self, k: usize) {
        let Some(port) = self.upcoming(k) else { return };
        if let Some(head) = port.ring.front() {
            prefetch(head, 64);
        }
        if port.queued {
            if let Some(waiting) = port.counters.known_waiting() {
                prefetch(waiting, 256);
            }
            if let Some(next) = port.next() {
                prefetch(next, 32);
            }
        }
    }

    /// Prefetches the next port of the head packet, or its segment and flow. Returns the place of the endpoint that it reaches, if any.
    #[inline]
    pub(crate) fn prefetch_next(&self, k: usize) -> Option<u32> {
        let port = self.upcoming(k)?;
        if port.queued {
            // The departure will be counted in the histogram cell of its waiting time, which is known by now.
            if let (Some(next), Some(waiting)) = (port.next(), port.counters.known_waiting()) {
                let wait = port.busy_until.since(next.at).as_ps();
                if let Some(cell) = waiting.waits.hist.cell(wait) {
                    prefetch(cell, 4);
                }
            }
        }
        let head = port.ring.front()?;
        let next = *self.hops.get(head.hop as usize + 1)?;
        if next & END == 0 {
            self.ports.get(next as usize)?.prefetch();
            return None;
        }
        self.arena.prefetch(head.id);
        let place = *self.places.get(head.flow.0 as usize)?;
        prefetch(self.flows.get(place as usize)?, 256);
        Some((2 * place) | u32::from(!head.back))
    }
}
