//! Packets that wait on the ring of the link that they wait for.
//!
//! A queue that is first in, first out, and drops what finds no room, decides nothing once a packet is in it. So the port need not put it there, take it out and put it on its ring: it goes
//! on the ring at once, behind those on the link, with the time at which it came; when its transmission begins, that becomes the time at which it is at the far end. What waits is the last
//! [`Port::held`] of the ring, and all is counted as if it were in the queue.
//!
//! That is so within the loop only, at ports of which no observer sees more than what leaves and is dropped: when it is left packets go to the queue where they belong, and the next time they come back.

use super::relay::goes_on;
use super::{Path, Relays};
use crate::ids::PortId;
use crate::observe::{DequeueEvent, Observer};
use crate::order::Turn;
use crate::packet::{Arena, Packet};
use crate::port::Port;
use crate::qdisc::{Backlog, DropReason, QCx, Qdisc};
use fairlane_engine::EventQueue;
use fairlane_units::{Dur, Time};

/// Ports from which on the rings of those that are idle, and the queues of those whose packets wait on rings, give their memory back.
const MANY: usize = 10_000;

impl<Q: Qdisc, H: EventQueue> Path<Q, H> {
    /// Finds the ports that keep packets on their ring. Of those of which an observer wants to see what comes, or what leaves as it does, they are in the queue.
    pub(crate) fn find_lanes(&mut self, seen: &[u32]) {
        for port in self.ports.iter_mut().filter(|p| p.is_plain() && p.tied == p.feeds) {
            port.set_lane(port.ps_a_byte().and(port.qdisc.tail()));
        }
        seen.iter().for_each(|&i| self.ports[i as usize].set_lane(None));
    }

    /// A packet arrives at a port whose transmitter is at work, and whose queue has no packets. Returns whether it is on the ring, or dropped.
    #[inline(always)]
    pub(super) fn line_up<O: Observer>(&mut self, i: u32, pkt: &Packet, now: Time, obs: &mut O) -> bool {
        let port = &mut self.ports[i as usize];
        let Some(room) = port.lane else { return false };
        // Where some wait on the ring more may.
        if port.held.pkts == 0 && (port.queued || port.rough || !self.relays.on) {
            return false;
        }
        debug_assert!(port.busy_until >= now, "no shaper, and what was due has left");
        if !room.admits(port.held, pkt.len) {
            port.counters.waiting().occupancy.change(now, port.held);
            self.drop_packet(i, *pkt, DropReason::Overflow, now, obs);
            return true;
        }
        port.held.add(pkt);
        port.ring.push_copy(pkt);
        port.counters.waiting().occupancy.change(now, port.held);
        // Behind others nothing changes for those before it.
        if !port.queued {
            port.queued = true;
            self.relays.list(i, port);
            self.wake_after(i, obs);
        } else if O::ON {
            self.wake_after(i, obs);
        }
        true
    }

    /// [`Self::settle`] where packets wait on the ring.
    #[inline(never)]
    pub(super) fn set_off<O: Observer, const AT_NOW: bool>(&mut self, i: u32, now: Time, obs: &mut O) {
        let port = &mut self.ports[i as usize];
        let Some(ps) = port.ps_a_byte() else { return };
        let waiting = port.held.pkts as usize;
        while port.queued && (port.busy_until < now || AT_NOW && port.busy_until == now) {
            let start = port.busy_until;
            let Some(pkt) = port.ring.get_mut(port.ring.len() - port.held.pkts as usize) else { return };
            let (waited, len) = ((start - pkt.at).as_ps(), u64::from(pkt.len));
            port.held.sub(pkt);
            tell(i, pkt, start, port.held, &self.arena, obs);
            port.busy_until = start.later(Dur::from_ps(len * ps));
            pkt.at = port.busy_until.later(port.delay);
            port.counters.sent_pkts += 1;
            port.counters.sent_bytes += len;
            port.queued = port.held.pkts > 0;
            let counted = port.counters.waiting();
            counted.occupancy.fall(start, port.held);
            if waited > 0 {
                counted.waits.add(waited);
            }
        }
        // There was nothing on the link, and now there is: its head has an event. Not in the loop, which would make ready for it each time.
        if port.ring.len() == waiting
            && (port.held.pkts as usize) < waiting
            && let Some(&Packet { at, .. }) = port.ring.front()
        {
            self.push(at, i, Turn::Act);
        }
    }

    /// The same at a feeder: see [`Path::transmit_on`].
    #[inline(never)]
    pub(super) fn set_off_on<O: Observer, const AT_NOW: bool>(&mut self, i: u32, now: Time, obs: &mut O) {
        let due = |port: &Port<Q>| port.queued && (port.busy_until < now || AT_NOW && port.busy_until == now);
        while due(&self.ports[i as usize]) {
            let port = &self.ports[i as usize];
            let first = port.ring.len() - port.held.pkts as usize;
            let Some(&Packet { hop, .. }) = port.ring.get(first) else { return };
            let next = self.hops[hop as usize + 1];
            let Ok([port, relay]) = self.ports.get_disjoint_mut([i as usize, next as usize]) else { return };
            let (Some(ps), Some(pkt), true) = (port.ps_a_byte(), port.ring.get_mut(first), port.feeds) else {
                // It feeds no more.
                self.set_off::<O, AT_NOW>(i, now, obs);
                return self.wake_after(i, obs);
            };
            let start = port.busy_until;
            let waited = (start - pkt.at).as_ps();
            port.held.sub(pkt);
            tell(i, pkt, start, port.held, &self.arena, obs);
            port.counters.sent_pkts += 1;
            port.counters.sent_bytes += u64::from(pkt.len);
            port.queued = port.held.pkts > 0;
            let counted = port.counters.waiting();
            counted.occupancy.fall(start, port.held);
            if waited > 0 {
                counted.waits.add(waited);
            }
            port.busy_until = start.later(Dur::from_ps(u64::from(pkt.len) * ps));
            pkt.at = port.busy_until.later(port.delay);
            let slot = if goes_on(relay, pkt, !port.rough) { next } else { i };
            let (at, until) = (pkt.at, port.busy_until);
            if first == 0 {
                self.push(at, slot, Turn::Act);
            } else if port.ring.get(first - 1).is_some_and(|before| before.at >= at) {
                self.sift(i, first);
            }
            // It is at work again nearly always.
            if until > now {
                break;
            }
        }
        self.catch_up(i, obs);
    }

    /// The loop begins: what waited on rings when it was left goes back there.
    pub(crate) fn line_up_all(&mut self) {
        let many = self.ports.len() > MANY;
        for i in std::mem::take(&mut self.relays.lined) {
            let port = &mut self.ports[i as usize];
            if port.lane.is_none() || port.rough || !port.queued {
                continue;
            }
            let mut cx = QCx { now: self.now, rng: &mut port.rng, drops: &mut self.drops, marks: 0 };
            while let Some(pkt) = port.qdisc.dequeue(&mut cx) {
                port.held.add(&pkt);
                port.ring.push(pkt);
            }
            if many {
                port.qdisc.give_back();
            }
            self.relays.list(i, port);
        }
    }

    /// All packets that wait on rings go to their queues.
    pub(super) fn queue_all(&mut self) {
        // Where a burst is over: of ten thousands of links that had one each, most will see no other for long.
        let many = self.ports.len() > MANY;
        for &i in &self.relays.lined {
            let port = &mut self.ports[i as usize];
            port.listed = false;
            let first = port.ring.len() - port.held.pkts as usize;
            let mut cx = QCx { now: self.now, rng: &mut port.rng, drops: &mut self.drops, marks: 0 };
            for k in 0..port.held.pkts as usize {
                if let Some(pkt) = port.ring.get(first + k) {
                    port.qdisc.enqueue(*pkt, &mut cx);
                }
            }
            port.ring.truncate(first);
            port.held = Backlog::default();
            if many && !port.queued {
                port.ring.shrink();
            }
        }
        let ports = &self.ports;
        self.relays.lined.retain(|&i| ports[i as usize].queued);
    }
}

/// Tells of a packet that has left, if somebody sees it. Queues that could be left out have no gauges.
#[inline(always)]
fn tell<O: Observer>(i: u32, pkt: &Packet, time: Time, backlog: Backlog, arena: &Arena, obs: &mut O) {
    if O::ON && obs.sees(PortId(i)) {
        obs.on_dequeue(&DequeueEvent { time, port: PortId(i), pkt: *pkt, backlog, seg: *arena.get(pkt.id) });
    }
}

impl Relays {
    /// Notes that packets wait on the ring of a port.
    #[inline]
    fn list<Q>(&mut self, i: u32, port: &mut Port<Q>) {
        if !port.listed {
            port.listed = true;
            self.lined.push(i);
        }
    }
}
