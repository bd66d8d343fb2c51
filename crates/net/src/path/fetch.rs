//! What events to come will touch is brought near: with thousands of links most of an event's time would go to waiting for memory.

use super::Path;
use crate::hop::END;
use crate::port::Port;
use crate::prefetch::prefetch;
use crate::qdisc::Qdisc;
use fairlane_engine::EventQueue;

impl<Q: Qdisc, H: EventQueue> Path<Q, H> {
    /// The port whose event may come `k` events from now.
    #[inline]
    fn upcoming(&self, k: usize) -> Option<&Port<Q>> {
        let (time, number) = self.events.upcoming(k)?;
        self.ports.get(self.slots.order.slot(time, number) as usize)
    }

    /// Fetches what the event `k` events from now will touch first: its port.
    #[inline]
    pub(crate) fn fetch_port(&self, k: usize) {
        if let Some(port) = self.upcoming(k) {
            port.fetch();
        }
    }

    /// Fetches what comes after that, the port itself being near by now: the packets at the head of link and queue.
    #[inline]
    pub(crate) fn fetch_head(&self, k: usize) {
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

    /// Where the packet goes next: a port, which is fetched, or an endpoint with its segment, which is told.
    #[inline]
    pub(crate) fn fetch_next(&self, k: usize) -> Option<u32> {
        let port = self.upcoming(k)?;
        if port.queued {
            // The departure will be counted under its waiting time, which is known by now.
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
            self.ports.get(next as usize)?.fetch();
            return None;
        }
        self.arena.prefetch(head.id);
        prefetch(self.flows.get(head.flow.0 as usize)?, 256);
        Some(next & !END)
    }
}
