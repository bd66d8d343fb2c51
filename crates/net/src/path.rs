//! Ports, links and the packets on them: what happens between two endpoints.

mod air;
mod change;
mod fetch;
mod inside;
mod lane;
mod outage;
mod relay;

pub(crate) use air::Station;
pub use change::{Stuck, Waiting};
pub(crate) use relay::Relays;

use crate::endpoint::Out;
use crate::flow::Flow;
use crate::hop::{END, NOWHERE};
use crate::ids::{EpId, FlowId, PortId};
use crate::impair::Outcome;
use crate::observe::{DequeueEvent, DropEvent, EnqueueEvent, HopEvent, Observer, SendEvent};
use crate::order::{Order, Turn};
use crate::packet::{Arena, Packet, Proto, flag};
use crate::parallel;
use crate::port::{CLOSED, Port};
use crate::qdisc::{DropReason, Drops, QCx, Qdisc};
use crate::route::dynamic::Maze;
use crate::slots::Slots;
use fairlane_engine::{EventQueue, Slot};
use fairlane_units::Time;
use inside::measure;

/// The part of the world that packets cross.
#[derive(Clone, Debug)]
pub(crate) struct Path<Q, H> {
    pub(crate) now: Time,
    pub(crate) events: H,
    pub(crate) ports: Vec<Port<Q>>,
    /// All routes one after the other: port numbers, then the endpoint with [`END`] set. Empty where `maze` says where packets go.
    pub(crate) hops: Vec<u32>,
    /// The ways of packets where they change during the run.
    pub(crate) maze: Option<Box<Maze>>,
    /// Of each hop on a channel the station that it leads to; empty where there is no channel.
    pub(crate) towards: Vec<u32>,
    pub(crate) arena: Arena,
    pub(crate) flows: Vec<Flow>,
    pub(crate) slots: Slots,
    pub(crate) drops: Drops,
    pub(crate) hops_before_reset: u64,
    /// Duplicates that arrived at an endpoint together with their original.
    pub(crate) copies: Vec<(u32, Packet)>,
    pub(crate) relays: Relays,
}

impl<Q: Qdisc, H: EventQueue> Path<Q, H> {
    /// Puts a segment on its way.
    #[inline]
    pub(crate) fn send<O: Observer>(&mut self, ep: u32, (route, proto, conn): (u32, Proto, u16), out: &Out, now: Time, obs: &mut O) {
        let &Out { ref seg, len, class } = out;
        let flow = FlowId(ep >> 1);
        let data = seg.payload > 0;
        if data && ep & 1 == 0 {
            let c = &mut self.flows[flow.0 as usize].counters;
            c.sent_pkts += 1;
            c.sent_bytes += u64::from(len);
        }
        let (id, ecn, back) = (self.arena.insert_sent(seg, now), seg.ecn(), ep & 1 == 1);
        let (first, hop) = match self.hops.get(route as usize) {
            Some(&first) => (first, route),
            None => self.first_step(route),
        };
        let mut pkt = Packet { id, len, flow, hop, at: now, class, ecn, proto, data, back, conn };
        if O::ON && obs.hears(EpId(ep)) {
            obs.on_send(&SendEvent { time: now, endpoint: EpId(ep), pkt, seg: *self.arena.get(id) });
        }
        self.accept(first, &mut pkt, now, obs);
    }

    /// Where a packet begins its way when there is no table of hops.
    #[cold]
    #[inline(never)]
    fn first_step(&mut self, route: u32) -> (u32, u32) {
        self.maze.as_mut().map_or((NOWHERE, route), |maze| maze.step(route))
    }

    /// Adds an event.
    #[inline]
    pub(crate) fn push(&mut self, time: Time, slot: Slot, turn: Turn) {
        let number = self.slots.order.number(time, slot, turn);
        match turn {
            Turn::Act => self.events.push_of(slot, time, number),
            _ => self.events.push(time, number),
        }
    }

    /// A packet reaches the far end of the link of port `i`. Returns the endpoint it has reached with `pkt`, or [`NOWHERE`].
    #[inline]
    pub(crate) fn on_port<O: Observer>(&mut self, i: Slot, now: Time, pkt: &mut Packet, obs: &mut O) -> u32 {
        let mut port = &mut self.ports[i as usize];
        if port.queued {
            self.settle::<O, false>(i, now, obs);
            port = &mut self.ports[i as usize];
        }
        if port.is_odd() {
            return if port.rough { self.on_rough(i, now, pkt, obs) } else { self.on_tied(i, now, pkt, obs) };
        }
        let Some(next) = port.take(pkt) else { return NOWHERE };
        debug_assert_eq!(pkt.at, now, "the head of a ring has one event");
        self.go_on(i, next, obs);
        self.forward(i, pkt, now, obs)
    }

    /// The packet at the head of a link was taken; the one behind it, which is there at `next`, has its event from now on.
    #[inline(always)]
    fn go_on<O: Observer>(&mut self, i: u32, next: Option<Time>, obs: &O) {
        if let Some(at) = next {
            self.push(at, i, Turn::Act);
        } else if self.ports[i as usize].queued {
            self.arm_wake(i, obs);
        }
        if O::ON && obs.prompt(PortId(i)) {
            self.arm_wake(i, obs);
        }
    }

    /// A look at a queue that no packet on the link would cause: see [`Self::arm_wake`].
    #[cold]
    pub(crate) fn on_wake<O: Observer>(&mut self, i: Slot, now: Time, obs: &mut O) {
        let port = &mut self.ports[i as usize];
        port.wake = Time::MAX;
        if port.ticks(now) {
            self.on_tick(i, now, obs);
        }
        self.settle::<O, true>(i, now, obs);
        self.arm_wake(i, obs);
    }

    /// Hands a packet that crossed link `i` to the next port, or tells which endpoint its route ends at.
    #[inline(always)]
    fn forward<O: Observer>(&mut self, i: u32, pkt: &mut Packet, now: Time, obs: &mut O) -> u32 {
        self.tell_hop(i, pkt, now, obs);
        pkt.hop += 1;
        let next = self.hops[pkt.hop as usize];
        self.reach(next, pkt, now, obs)
    }

    /// The same where packets may go ways of their own.
    fn forward_any<O: Observer>(&mut self, i: u32, pkt: &mut Packet, now: Time, obs: &mut O) -> u32 {
        if self.maze.is_none() {
            return self.forward(i, pkt, now, obs);
        }
        self.tell_hop(i, pkt, now, obs);
        let Some(maze) = &mut self.maze else { return NOWHERE };
        let (next, hop) = maze.step(pkt.hop);
        pkt.hop = hop;
        self.reach(next, pkt, now, obs)
    }

    #[inline(always)]
    fn reach<O: Observer>(&mut self, next: u32, pkt: &mut Packet, now: Time, obs: &mut O) -> u32 {
        if next & END != 0 {
            return next & !END;
        }
        self.accept(next, pkt, now, obs);
        NOWHERE
    }

    #[inline(always)]
    fn tell_hop<O: Observer>(&mut self, i: u32, pkt: &Packet, now: Time, obs: &mut O) {
        if O::ON && obs.crosses(PortId(i)) {
            if let Some(other) = obs.before_hop(PortId(i)) {
                self.settle::<O, false>(other.0, now, obs);
            }
            obs.on_hop(&HopEvent { time: now, port: PortId(i), pkt: *pkt, seg: *self.arena.get(pkt.id) });
        }
    }

    #[cold]
    fn impaired<O: Observer>(&mut self, i: u32, pkt: &mut Packet, now: Time, obs: &mut O) -> u32 {
        let port = &mut self.ports[i as usize];
        let Some(imp) = port.impair_mut() else { return NOWHERE };
        let Outcome { lost, twice } = imp.fate();
        let clamped_by = imp.clamped_by;
        if lost {
            self.drop_packet(i, *pkt, DropReason::Link, now, obs);
            return NOWHERE;
        }
        if let Some(PortId(by)) = clamped_by {
            self.clamp(by, pkt, now, obs);
        }
        if twice {
            self.ports[i as usize].counters.duplicates += 1;
            let seg = *self.arena.get(pkt.id);
            let mut copy = Packet { id: self.arena.insert(&seg), ..*pkt };
            let ep = self.leave(i, &mut copy, now, obs);
            if ep != NOWHERE {
                self.copies.push((ep, copy));
            }
        }
        let ep = self.leave(i, pkt, now, obs);
        if twice && ep == NOWHERE {
            // The link kept the packet, and its copy is there: whoever asks hears of the copy.
            if let Some((ep, copy)) = self.copies.pop() {
                *pkt = copy;
                return ep;
            }
        }
        ep
    }

    /// A packet that was not lost reaches the end of an impaired link, or is kept to arrive later.
    fn leave<O: Observer>(&mut self, i: u32, pkt: &mut Packet, now: Time, obs: &mut O) -> u32 {
        let port = &mut self.ports[i as usize];
        if let Some((late, at)) = port.impair_mut().and_then(|imp| imp.late_arrival(now)) {
            let number = late.number();
            if at > now {
                let slot = late.slot;
                if late.hold(*pkt, number, at) {
                    self.push(at, slot, Turn::Act);
                }
                return NOWHERE;
            }
            port.counters.reordered += u64::from(late.arrived(pkt, number));
        }
        self.forward_any(i, pkt, now, obs)
    }

    /// The next packet that link `i` kept and whose time has come, with where it goes as in [`Self::on_port`]. None: no more are due.
    pub(crate) fn on_late<O: Observer>(&mut self, i: u32, now: Time, pkt: &mut Packet, obs: &mut O) -> Option<u32> {
        let port = &mut self.ports[i as usize];
        let late = port.impair_mut().and_then(|imp| imp.late.as_mut())?;
        late.disarm(now);
        let Some((held, number)) = late.due(now) else {
            let slot = late.slot;
            if let Some(next) = late.next() {
                self.push(next, slot, Turn::Act);
            }
            return None;
        };
        *pkt = held;
        port.counters.reordered += u64::from(late.arrived(pkt, number));
        Some(self.forward_any(i, pkt, now, obs))
    }

    /// Lowers the window of an acknowledgement to what the queue of port `by` allows its flow. A closed window stays closed,
    /// and a handshake's segments stay as they are.
    fn clamp<O: Observer>(&mut self, by: u32, pkt: &Packet, now: Time, obs: &mut O) {
        self.settle::<O, false>(by, now, obs);
        let Some(most) = self.ports[by as usize].qdisc.window_clamp(pkt.flow) else { return };
        let seg = self.arena.get_mut(pkt.id);
        if pkt.proto == Proto::Tcp && seg.has(flag::ACK) && !seg.has(flag::SYN) && !seg.has(flag::RST) {
            seg.wnd = seg.wnd.min(most);
        }
    }

    /// A packet arrives at a port. Through a free transmitter it goes at once; everything else is [`Self::accept_busy`].
    #[inline(always)]
    pub(crate) fn accept<O: Observer>(&mut self, i: u32, pkt: &mut Packet, now: Time, obs: &mut O) {
        pkt.at = now;
        let port = &mut self.ports[i as usize];
        if port.queued || port.busy_until > now {
            return self.accept_busy(i, pkt, now, obs);
        }
        if port.open && (!O::ON || self.relays.on) {
            // Its queue would say nothing else.
            if port.feeds {
                return self.transmit_on(i, pkt, now, obs);
            }
            return transmit(port, &mut self.events, &self.arena, self.slots.order, i, pkt, now, obs);
        }
        let mut cx = QCx { now, rng: &mut port.rng, drops: &mut self.drops, marks: 0 };
        let arrived = if O::ON && obs.joins(PortId(i)) { Some(*pkt) } else { None };
        let passed = port.qdisc.pass(pkt, &mut cx);
        port.counters.mark(cx.marks);
        let level = port.qdisc.backlog();
        if let Some(pkt) = arrived.filter(|_| passed || level.pkts > 0) {
            obs.on_enqueue(&EnqueueEvent { time: now, port: PortId(i), pkt, backlog: level });
            measure(port, i, now, obs);
        }
        if passed && port.feeds {
            self.transmit_on(i, pkt, now, obs);
        } else if passed {
            transmit(port, &mut self.events, &self.arena, self.slots.order, i, pkt, now, obs);
        }
        if level.pkts > 0 || !self.drops.is_empty() {
            self.left_behind(i, now, obs);
        }
    }

    /// After [`Qdisc::pass`]: something was dropped, or is held back by a shaper.
    #[cold]
    fn left_behind<O: Observer>(&mut self, i: u32, now: Time, obs: &mut O) {
        let port = &mut self.ports[i as usize];
        let level = port.qdisc.backlog();
        port.queued = level.pkts > 0;
        port.counters.waiting().occupancy.change(now, level);
        self.after_accept(i, now, obs);
    }

    /// A packet arrives at a port whose transmitter is at work, or may be: departures due by now come first.
    #[inline(never)]
    fn accept_busy<O: Observer>(&mut self, i: u32, pkt: &mut Packet, now: Time, obs: &mut O) {
        let port = &self.ports[i as usize];
        if port.queued {
            // While the transmitter is at work nothing can be due; after what left it is mostly at work again.
            if port.busy_until <= now {
                self.settle::<O, false>(i, now, obs);
                if self.ports[i as usize].busy_until <= now && self.is_free(i, now, obs) {
                    return self.accept(i, pkt, now, obs);
                }
            }
        } else if port.busy_until == CLOSED {
            return self.drop_packet(i, *pkt, DropReason::Down, now, obs);
        }
        if (!O::ON || self.relays.on) && self.line_up(i, pkt, now, obs) {
            return;
        }
        let port = &mut self.ports[i as usize];
        let mut cx = QCx { now, rng: &mut port.rng, drops: &mut self.drops, marks: 0 };
        port.qdisc.enqueue(*pkt, &mut cx);
        port.counters.mark(cx.marks);
        // Behind a shaper the link may be idle while packets wait; one that need not wait then starts now and not when the link fell idle.
        port.busy_until = port.busy_until.max(now);
        let level = port.qdisc.backlog();
        port.queued = level.pkts > 0;
        port.counters.waiting().occupancy.change(now, level);
        if O::ON && obs.joins(PortId(i)) && !self.drops.iter().any(|(p, _)| p.id == pkt.id) {
            obs.on_enqueue(&EnqueueEvent { time: now, port: PortId(i), pkt: *pkt, backlog: level });
            measure(port, i, now, obs);
        }
        self.after_accept(i, now, obs);
    }

    /// A packet arrives where nothing is being sent: if the next transmission begins at this instant, it may do so before. Whether nothing waits or is sent then.
    #[inline]
    fn is_free<O: Observer>(&mut self, i: u32, now: Time, obs: &mut O) -> bool {
        let port = &self.ports[i as usize];
        if port.queued && port.next_start() == now && self.slots.order.departure_first(now, i) {
            self.settle::<O, true>(i, now, obs);
        }
        let port = &self.ports[i as usize];
        !port.queued && port.busy_until <= now
    }

    #[inline]
    fn after_accept<O: Observer>(&mut self, i: u32, now: Time, obs: &mut O) {
        if !self.drops.is_empty() {
            self.take_drops(i, now, obs);
        }
        let port = &self.ports[i as usize];
        if port.queued && (port.is_idle() || port.misses() || (O::ON && obs.prompt(PortId(i)))) {
            self.arm_wake(i, obs);
        }
    }

    /// Carries out the departures due at port `i` before `now`, each at its own time; with `AT_NOW` also one due at this instant.
    #[inline(always)]
    pub(crate) fn settle<O: Observer, const AT_NOW: bool>(&mut self, i: u32, now: Time, obs: &mut O) {
        let port = &self.ports[i as usize];
        // Most calls end here, before the queue is asked.
        if !port.queued || port.busy_until > now {
            return;
        }
        match (port.held.pkts > 0, port.feeds) {
            (true, false) => self.set_off::<O, AT_NOW>(i, now, obs),
            (true, true) => self.set_off_on::<O, AT_NOW>(i, now, obs),
            (false, _) => while self.depart::<O, AT_NOW>(i, now, obs) {},
        }
    }

    /// Asks the queue for the packet whose transmission begins next, if it is due. Returns whether there may be another one.
    #[inline(never)]
    fn depart<O: Observer, const AT_NOW: bool>(&mut self, i: u32, now: Time, obs: &mut O) -> bool {
        let port = &mut self.ports[i as usize];
        if !port.queued || port.busy_until > now {
            return false;
        }
        let start = port.next_start();
        if start > now || (start == now && !AT_NOW) {
            return false;
        }
        let mut cx = QCx { now: start, rng: &mut port.rng, drops: &mut self.drops, marks: 0 };
        let left = port.qdisc.dequeue(&mut cx);
        port.counters.mark(cx.marks);
        let level = port.qdisc.backlog();
        port.counters.waiting().occupancy.change(start, level);
        port.queued = level.pkts > 0;
        if !self.drops.is_empty() {
            self.take_drops(i, start, obs);
        }
        let Some(mut pkt) = left else { return false };
        let port = &mut self.ports[i as usize];
        if port.feeds {
            self.transmit_on(i, &mut pkt, start, obs);
        } else {
            transmit(port, &mut self.events, &self.arena, self.slots.order, i, &mut pkt, start, obs);
        }
        true
    }

    /// Settles every port.
    pub(crate) fn settle_all<O: Observer, const AT_NOW: bool>(&mut self, now: Time, obs: &mut O) {
        for i in 0..self.ports.len() as u32 {
            self.settle::<O, AT_NOW>(i, now, obs);
        }
    }

    /// Makes sure that a waiting packet is looked at when it may start, where no packet on the link will do that:
    /// behind a shaper, and under observers, who want to see departures when they happen; and where those at the head go far.
    #[cold]
    pub(crate) fn arm_wake<O: Observer>(&mut self, i: u32, obs: &O) {
        let port = &mut self.ports[i as usize];
        if port.is_on_air() {
            return self.call_station(i);
        }
        if !port.queued || !(port.is_idle() || port.misses() || (O::ON && obs.prompt(PortId(i)))) {
            return;
        }
        let start = port.next_start().max(self.now);
        if start < port.wake {
            port.wake = start;
            self.push(start, i, Turn::Depart);
        }
    }

    #[cold]
    pub(crate) fn take_drops<O: Observer>(&mut self, i: u32, now: Time, obs: &mut O) {
        while let Some((pkt, why)) = self.drops.pop() {
            self.drop_packet(i, pkt, why, now, obs);
        }
    }

    pub(crate) fn drop_packet<O: Observer>(&mut self, i: u32, pkt: Packet, why: DropReason, now: Time, obs: &mut O) {
        let c = &mut self.ports[i as usize].counters;
        c.drops[why as usize] += 1;
        c.dropped_bytes += u64::from(pkt.len);
        let f = &mut self.flows[pkt.flow.0 as usize].counters;
        if pkt.data && !pkt.back {
            f.drops[why as usize] += 1;
            if pkt.proto == Proto::Tcp && why.by_queue() {
                parallel::lost(c, &f.rtt, (i, pkt.flow), now, obs);
            }
        } else {
            f.other_drops += 1;
        }
        let seg = self.arena.remove(pkt.id);
        if O::ON && obs.sees(PortId(i)) {
            let backlog = self.ports[i as usize].backlog();
            obs.on_drop(&DropEvent { time: now, port: PortId(i), pkt, why, backlog, seg });
            measure(&self.ports[i as usize], i, now, obs);
        }
    }
}

/// Begins the transmission of a packet that has just left the queue.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn transmit<Q: Qdisc, H: EventQueue, O: Observer>(
    port: &mut Port<Q>,
    events: &mut H,
    arena: &Arena,
    order: Order,
    i: u32,
    pkt: &mut Packet,
    start: Time,
    obs: &mut O,
) {
    pkt.at = begin(port, arena, i, pkt, start, obs);
    if port.ring.is_empty() {
        events.push_of(i, pkt.at, order.number(pkt.at, i, Turn::Act));
    }
    port.ring.push_copy(pkt);
}

/// A packet leaves the queue: what is counted, and when it reaches the far end.
#[inline(always)]
fn begin<Q: Qdisc, O: Observer>(port: &mut Port<Q>, arena: &Arena, i: u32, pkt: &Packet, start: Time, obs: &mut O) -> Time {
    if O::ON && obs.sees(PortId(i)) {
        let (backlog, seg) = (port.qdisc.backlog(), *arena.get(pkt.id));
        obs.on_dequeue(&DequeueEvent { time: start, port: PortId(i), pkt: *pkt, backlog, seg });
        measure(port, i, start, obs);
    }
    let waited = (start - pkt.at).as_ps();
    if waited > 0 {
        port.counters.waiting().waits.add(waited);
    }
    port.counters.sent_pkts += 1;
    port.counters.sent_bytes += u64::from(pkt.len);
    port.tx_end(pkt, start).later(port.delay)
}
