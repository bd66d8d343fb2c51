//! Ring queues: packets wait on the ring of the link that they wait for.
//!
//! A tail-drop FIFO decides nothing about a packet once it holds it. So a packet that has to wait goes straight to the ring, behind the packets in
//! flight, and stays at its place when its transmission starts. Invariants:
//! - The last [`Port::waiting`] packets of a ring have not begun transmission; [`Packet::at`] is the time of their arrival at the queue.
//! - The discipline holds no packets meanwhile. Counters and drops are those that it would have.

use super::{Path, Shortcuts};
use crate::ids::PortId;
use crate::observe::{DequeueEvent, Interest, Observer};
use crate::order::Turn;
use crate::packet::{Arena, Packet};
use crate::port::{Port, Role};
use crate::qdisc::{Backlog, DropReason, QCx, Qdisc};
use fairlane_engine::EventQueue;
use fairlane_engine::steps::step;
use fairlane_units::{Dur, Time};

/// Number of ports from which on idle rings and unused queues give their memory back.
const MANY: usize = 10_000;

impl<Q: Qdisc, H: EventQueue> Path<Q, H> {
    /// Moves waiting packets from queue disciplines to ring queues.
    pub(super) fn fill_ring_queues(&mut self) {
        let many = self.ports.len() > MANY;
        for i in std::mem::take(&mut self.shortcuts.ring_queues) {
            let port = &mut self.ports[i as usize];
            if !port.queueing.on_ring() || !port.queued {
                continue;
            }
            let mut cx = QCx { now: self.now, rng: &mut port.rng, drops: &mut self.drops, marks: 0 };
            while let Some(pkt) = port.qdisc.dequeue(&mut cx) {
                step(1);
                port.waiting.add(&pkt);
                port.ring.push(pkt);
            }
            if many {
                port.qdisc.give_back();
            }
            self.shortcuts.list(i, port);
        }
    }

    /// Moves all packets of ring queues into their queue disciplines. Returns the number of these packets and queues.
    pub(super) fn materialize_ring_queues(&mut self) -> usize {
        // After a burst on ten thousands of links most stay idle for long.
        let many = self.ports.len() > MANY;
        let mut cost = self.shortcuts.ring_queues.len();
        for &i in &self.shortcuts.ring_queues {
            let port = &mut self.ports[i as usize];
            port.listed = false;
            let first = port.ring.len() - port.waiting.pkts as usize;
            let mut cx = QCx { now: self.now, rng: &mut port.rng, drops: &mut self.drops, marks: 0 };
            cost += port.waiting.pkts as usize;
            for k in 0..port.waiting.pkts as usize {
                if let Some(pkt) = port.ring.get(first + k) {
                    port.qdisc.enqueue(*pkt, &mut cx);
                }
            }
            port.ring.truncate(first);
            port.waiting = Backlog::default();
            if many && !port.queued {
                port.ring.shrink();
            }
        }
        let ports = &self.ports;
        self.shortcuts.ring_queues.retain(|&i| ports[i as usize].queued);
        cost
    }

    /// Enqueues a packet on the ring of a busy port with a ring queue, or drops it there. Returns false if the port has none.
    #[inline(always)]
    pub(in crate::path) fn enqueue_on_ring<O: Observer>(&mut self, i: u32, pkt: &Packet, now: Time, obs: &mut O) -> bool {
        let port = &mut self.ports[i as usize];
        if !port.queueing.on_ring() || (port.waiting.pkts == 0 && (port.queued || !self.shortcuts.active)) {
            return false;
        }
        debug_assert!(port.busy_until >= now, "no shaper, and due transmissions have started");
        if !port.limit.admits(port.waiting, pkt.len) {
            port.counters.waiting().occupancy.change(now, port.waiting);
            self.drop_packet(i, *pkt, DropReason::Overflow, now, obs);
            return true;
        }
        port.waiting.add(pkt);
        port.ring.push_copy(pkt);
        port.counters.waiting().occupancy.change(now, port.waiting);
        // A packet behind others changes nothing for the wake event.
        if !port.queued {
            port.queued = true;
            self.shortcuts.list(i, port);
            self.wake_if_needed(i, obs);
        } else if O::ON {
            self.wake_if_needed(i, obs);
        }
        true
    }

    /// [`Self::settle`] for a ring queue.
    #[inline(never)]
    pub(in crate::path) fn start_due<O: Observer, const AT_NOW: bool>(&mut self, i: u32, now: Time, obs: &mut O) {
        let mut port = &mut self.ports[i as usize];
        let Some(ps) = port.ps_per_byte() else { return };
        let (waiting, upstream) = (port.waiting.pkts as usize, port.role == Role::Upstream);
        while port.queued && (port.busy_until < now || AT_NOW && port.busy_until == now) {
            let start = port.busy_until;
            let place = port.ring.len() - port.waiting.pkts as usize;
            let Some(pkt) = port.ring.get_mut(place) else { return };
            let (waited, len, hop) = ((start - pkt.at).as_ps(), u64::from(pkt.len), pkt.hop);
            port.waiting.sub(pkt);
            report_dequeue(i, pkt, start, port.waiting, &self.arena, obs);
            port.busy_until = start.later(Dur::from_ps(len * ps));
            pkt.at = port.busy_until.later(port.delay);
            port.counters.sent_pkts += 1;
            port.counters.sent_bytes += len;
            port.queued = port.waiting.pkts > 0;
            let counted = port.counters.waiting();
            counted.occupancy.fall(start, port.waiting);
            if waited > 0 {
                counted.waits.add(waited);
            }
            if upstream {
                self.pass_on(i, place, hop);
                port = &mut self.ports[i as usize];
                if port.role != Role::Upstream {
                    self.start_due::<O, AT_NOW>(i, now, obs);
                    return self.wake_if_needed(i, obs);
                }
            }
        }
        if upstream {
            return self.wake_if_missed(i, obs);
        }
        // The first packet on an empty link has an event. Outside of the loop above, whose registers it would take.
        if port.ring.len() == waiting
            && (port.waiting.pkts as usize) < waiting
            && let Some(&Packet { at, .. }) = port.ring.front()
        {
            self.push(at, i, Turn::Act);
        }
    }
}

impl Shortcuts {
    /// Lists a port with packets in its ring queue.
    #[inline]
    fn list<Q>(&mut self, i: u32, port: &mut Port<Q>) {
        if !port.listed {
            port.listed = true;
            self.ring_queues.push(i);
        }
    }
}

/// Reports a departure from a ring queue. Tail drop has no gauges.
#[inline(always)]
fn report_dequeue<O: Observer>(i: u32, pkt: &Packet, time: Time, backlog: Backlog, arena: &Arena, obs: &mut O) {
    if obs.wants_at(PortId(i), Interest::PORT) {
        obs.on_dequeue(&DequeueEvent { time, port: PortId(i), pkt: *pkt, backlog, seg: *arena.get(pkt.id) });
    }
}
