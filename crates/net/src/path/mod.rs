//! The plain hop: what happens to a packet between two endpoints.
//!
//! 1. [`Path::send`] hands an endpoint's segment to the first port of its route.
//! 2. [`Path::accept`] starts the transmission of an arriving packet, or queues it.
//! 3. [`Path::settle`] starts the transmissions that are due at a port. A port acts only when a packet arrives there or leaves its link.
//! 4. [`Path::transmit`] puts a packet on the ring of its link, with its arrival time at the far end. The head of a ring has an event.
//! 5. [`Path::on_port`] is that event: it takes the packet off the ring, and [`Path::forward`] hands it to the next port or endpoint.
//!
//! The other files are exceptions to this: shortcuts, events at a port that no packet causes (`timers.rs`), drops, links that do more than carry
//! (`impaired.rs`), outages, changes during the run, wireless stations.

mod change;
mod drops;
mod impaired;
mod outage;
mod prefetch;
mod shortcut;
mod timers;
mod wireless;

pub use change::{Stuck, Waiting};
pub(crate) use shortcut::{Shortcuts, Visible};
pub(crate) use wireless::Station;

use crate::endpoint::Out;
use crate::flow::Flow;
use crate::hop::{END, NOWHERE};
use crate::ids::{EpId, FlowId, PortId};
use crate::observe::{DequeueEvent, EnqueueEvent, HopEvent, Interest, Observer, SendEvent};
use crate::order::Turn;
use crate::packet::{Arena, Packet, Proto};
use crate::port::{CLOSED, Port, Role};
use crate::qdisc::{DropReason, Drops, QCx, Qdisc};
use crate::route::dynamic::ForwardingTable;
use crate::slots::Slots;
use fairlane_engine::{EventQueue, Slot};
use fairlane_units::Time;
use timers::measure;

/// The part of the world that packets cross.
#[derive(Clone, Debug)]
pub(crate) struct Path<Q, H> {
    pub(crate) now: Time,
    pub(crate) events: H,
    pub(crate) ports: Vec<Port<Q>>,
    /// All routes, one after the other: port numbers, then [`END`]. Empty if routes are dynamic.
    pub(crate) hops: Vec<u32>,
    /// Dynamic routes.
    pub(crate) forwarding: Option<Box<ForwardingTable>>,
    /// By hop, the wireless station that it leads to. Empty without a channel.
    pub(crate) towards: Vec<u32>,
    pub(crate) arena: Arena,
    /// Place of each flow in `flows`, and of its endpoints and application in their lists: its number, unless flows are built when they begin.
    pub(crate) places: Vec<u32>,
    pub(crate) flows: Vec<Flow>,
    pub(crate) slots: Slots,
    pub(crate) drops: Drops,
    pub(crate) hops_before_reset: u64,
    /// Duplicates that arrived at an endpoint together with their original.
    pub(crate) copies: Vec<(u32, Packet)>,
    pub(crate) shortcuts: Shortcuts,
}

impl<Q: Qdisc, H: EventQueue> Path<Q, H> {
    /// Hands a segment of endpoint `ep`, whose flow is at `place`, to the first port of its route.
    #[inline]
    pub(crate) fn send<O: Observer>(
        &mut self,
        ep: u32,
        (place, route, proto, conn): (u32, u32, Proto, u16),
        out: &Out,
        now: Time,
        obs: &mut O,
    ) {
        let &Out { ref seg, len, class } = out;
        let flow = FlowId(ep >> 1);
        let data = seg.payload > 0;
        let sender = &mut self.flows[place as usize];
        sender.in_network = sender.in_network.wrapping_add(1);
        if data && ep & 1 == 0 {
            let c = &mut sender.counters;
            c.sent_pkts += 1;
            c.sent_bytes += u64::from(len);
        }
        let (id, ecn, back) = (self.arena.insert_sent(seg, now), seg.ecn(), ep & 1 == 1);
        let (first, hop) = match self.hops.get(route as usize) {
            Some(&first) => (first, route),
            None => self.first_step(route),
        };
        let mut pkt = Packet { id, len, flow, hop, at: now, class, ecn, proto, data, back, conn };
        if obs.wants_of(EpId(ep), Interest::SEGMENT) {
            obs.on_send(&SendEvent { time: now, endpoint: EpId(ep), pkt, seg: *self.arena.get(id) });
        }
        self.accept(first, &mut pkt, now, obs);
    }

    /// Returns the first port and hop of a dynamic route.
    #[cold]
    #[inline(never)]
    fn first_step(&mut self, route: u32) -> (u32, u32) {
        self.forwarding.as_mut().map_or((NOWHERE, route), |forwarding| forwarding.step(route))
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

    /// Accepts a packet at port `i`. If the transmitter is free, transmission starts at once.
    #[inline(always)]
    pub(crate) fn accept<O: Observer>(&mut self, i: u32, pkt: &mut Packet, now: Time, obs: &mut O) {
        pkt.at = now;
        let port = &mut self.ports[i as usize];
        if port.queued || port.busy_until > now {
            return self.accept_busy(i, pkt, now, obs);
        }
        if port.queueing.skips_empty() && (!O::ON || self.shortcuts.active) {
            return self.transmit(i, pkt, now, obs);
        }
        if port.reads_headers {
            port.qdisc.on_header(self.arena.get(pkt.id));
        }
        let mut cx = QCx { now, rng: &mut port.rng, drops: &mut self.drops, marks: 0 };
        let arrived = if obs.wants_at(PortId(i), Interest::ENQUEUE) { Some(*pkt) } else { None };
        let passed = port.qdisc.pass(pkt, &mut cx);
        port.counters.mark(cx.marks);
        let level = port.qdisc.backlog();
        if let Some(pkt) = arrived.filter(|_| passed || level.pkts > 0) {
            obs.on_enqueue(&EnqueueEvent { time: now, port: PortId(i), pkt, backlog: level });
            measure(port, i, now, obs);
        }
        if passed {
            self.transmit(i, pkt, now, obs);
        }
        if level.pkts > 0 || !self.drops.is_empty() {
            self.not_passed(i, now, obs);
        }
    }

    /// Updates port `i` after [`Qdisc::pass`] dropped a packet, or a shaper kept it.
    #[cold]
    fn not_passed<O: Observer>(&mut self, i: u32, now: Time, obs: &mut O) {
        let port = &mut self.ports[i as usize];
        let level = port.qdisc.backlog();
        port.queued = level.pkts > 0;
        port.counters.waiting().occupancy.change(now, level);
        self.after_accept(i, now, obs);
    }

    /// Accepts a packet at a port that transmits or holds packets. Transmissions that are due start first.
    #[inline(never)]
    fn accept_busy<O: Observer>(&mut self, i: u32, pkt: &mut Packet, now: Time, obs: &mut O) {
        let port = &self.ports[i as usize];
        if port.queued {
            // Nothing is due while the transmitter is busy. After `settle` it mostly is busy again.
            if port.busy_until <= now {
                self.settle::<O, false>(i, now, obs);
                if self.ports[i as usize].busy_until <= now && self.is_free(i, now, obs) {
                    return self.accept(i, pkt, now, obs);
                }
            }
        } else if port.busy_until == CLOSED {
            return self.drop_packet(i, *pkt, DropReason::Down, now, obs);
        }
        if (!O::ON || self.shortcuts.active) && self.enqueue_on_ring(i, pkt, now, obs) {
            return;
        }
        let port = &mut self.ports[i as usize];
        if port.reads_headers {
            port.qdisc.on_header(self.arena.get(pkt.id));
        }
        let mut cx = QCx { now, rng: &mut port.rng, drops: &mut self.drops, marks: 0 };
        port.qdisc.enqueue(*pkt, &mut cx);
        port.counters.mark(cx.marks);
        // Behind a shaper the link may be idle while packets wait: a packet that need not wait starts now, not when the link fell idle.
        port.busy_until = port.busy_until.max(now);
        let level = port.qdisc.backlog();
        port.queued = level.pkts > 0;
        port.counters.waiting().occupancy.change(now, level);
        if obs.wants_at(PortId(i), Interest::ENQUEUE) && !self.drops.iter().any(|(p, _)| p.id == pkt.id) {
            obs.on_enqueue(&EnqueueEvent { time: now, port: PortId(i), pkt: *pkt, backlog: level });
            measure(port, i, now, obs);
        }
        self.after_accept(i, now, obs);
    }

    /// Returns true if port `i` neither holds nor transmits a packet. A transmission due at this very instant may start first: ties are drawn.
    #[inline]
    fn is_free<O: Observer>(&mut self, i: u32, now: Time, obs: &mut O) -> bool {
        let port = &self.ports[i as usize];
        if port.queued && port.next_start() == now && self.slots.order.departure_first(now, i) {
            self.settle::<O, true>(i, now, obs);
        }
        let port = &self.ports[i as usize];
        !port.queued && port.busy_until <= now
    }

    /// Carries out the drops of an arrival, and arms the port's wake event if it needs one.
    #[inline]
    fn after_accept<O: Observer>(&mut self, i: u32, now: Time, obs: &mut O) {
        if !self.drops.is_empty() {
            self.take_drops(i, now, obs);
        }
        self.wake_if_needed(i, obs);
    }

    /// Starts the transmissions due at port `i` before `now`, each at its own time; with `AT_NOW` also one due at this instant.
    #[inline(always)]
    pub(crate) fn settle<O: Observer, const AT_NOW: bool>(&mut self, i: u32, now: Time, obs: &mut O) {
        let port = &self.ports[i as usize];
        // Most calls end here, before the queue is asked.
        if !port.queued || port.busy_until > now {
            return;
        }
        if port.waiting.pkts > 0 {
            return self.start_due::<O, AT_NOW>(i, now, obs);
        }
        while self.start_next::<O, AT_NOW>(i, now, obs) {}
    }

    /// Asks the queue for its next packet and transmits it, if it is due. Returns true if another may be due.
    #[inline(never)]
    fn start_next<O: Observer, const AT_NOW: bool>(&mut self, i: u32, now: Time, obs: &mut O) -> bool {
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
        self.transmit(i, &mut pkt, start, obs);
        true
    }

    /// Settles every port.
    pub(crate) fn settle_all<O: Observer, const AT_NOW: bool>(&mut self, now: Time, obs: &mut O) {
        for i in 0..self.ports.len() as u32 {
            self.settle::<O, AT_NOW>(i, now, obs);
        }
    }

    /// Starts the transmission of a packet that has just left the queue of port `i`.
    #[inline(always)]
    fn transmit<O: Observer>(&mut self, i: u32, pkt: &mut Packet, start: Time, obs: &mut O) {
        let port = &mut self.ports[i as usize];
        if port.role == Role::Upstream {
            return self.transmit_upstream(i, pkt, start, obs);
        }
        pkt.at = begin(port, &self.arena, i, pkt, start, obs);
        if port.ring.is_empty() {
            self.events.push_of(i, pkt.at, self.slots.order.number(pkt.at, i, Turn::Act));
        }
        port.ring.push_copy(pkt);
    }

    /// Takes the packet that reaches the far end of link `i`, and forwards it. Returns the endpoint that it reaches, or [`NOWHERE`].
    #[inline]
    pub(crate) fn on_port<O: Observer>(&mut self, i: Slot, now: Time, pkt: &mut Packet, obs: &mut O) -> u32 {
        let mut port = &mut self.ports[i as usize];
        if port.queued {
            self.settle::<O, false>(i, now, obs);
            port = &mut self.ports[i as usize];
        }
        match port.role {
            Role::Plain => {}
            Role::SlowPath => return self.on_slow_path(i, now, pkt, obs),
            Role::Upstream | Role::Downstream | Role::Released => return self.on_shortcut(i, now, pkt, obs),
        }
        let Some(next) = port.take(pkt) else { return NOWHERE };
        debug_assert_eq!(pkt.at, now, "the head of a ring has one event");
        self.arm_head(i, next, obs);
        self.forward(i, pkt, now, obs)
    }

    /// Adds the event of the packet that is now at the head of link `i` and arrives at `next`. On an empty link a queue may need a wake event.
    #[inline(always)]
    fn arm_head<O: Observer>(&mut self, i: u32, next: Option<Time>, obs: &O) {
        if let Some(at) = next {
            self.push(at, i, Turn::Act);
        } else if self.ports[i as usize].queued {
            self.arm_wake(i, obs);
        }
        if obs.wants_at(PortId(i), Interest::PROMPT) {
            self.arm_wake(i, obs);
        }
    }

    /// Hands a packet that crossed link `i` to the next port, or returns the endpoint that its route ends at.
    #[inline(always)]
    fn forward<O: Observer>(&mut self, i: u32, pkt: &mut Packet, now: Time, obs: &mut O) -> u32 {
        self.report_hop(i, pkt, now, obs);
        pkt.hop += 1;
        let next = self.hops[pkt.hop as usize];
        self.reach(next, pkt, now, obs)
    }

    /// [`Self::forward`] where routes may be dynamic.
    fn forward_any<O: Observer>(&mut self, i: u32, pkt: &mut Packet, now: Time, obs: &mut O) -> u32 {
        if self.forwarding.is_none() {
            return self.forward(i, pkt, now, obs);
        }
        self.report_hop(i, pkt, now, obs);
        let Some(forwarding) = &mut self.forwarding else { return NOWHERE };
        let (next, hop) = forwarding.step(pkt.hop);
        pkt.hop = hop;
        self.reach(next, pkt, now, obs)
    }

    #[inline(always)]
    fn reach<O: Observer>(&mut self, next: u32, pkt: &mut Packet, now: Time, obs: &mut O) -> u32 {
        if next & END != 0 {
            return pkt.endpoint();
        }
        self.accept(next, pkt, now, obs);
        NOWHERE
    }

    #[inline(always)]
    fn report_hop<O: Observer>(&mut self, i: u32, pkt: &Packet, now: Time, obs: &mut O) {
        if obs.wants_at(PortId(i), Interest::HOP) {
            if let Some(other) = obs.before_hop(PortId(i)) {
                self.settle::<O, false>(other.0, now, obs);
            }
            obs.on_hop(&HopEvent { time: now, port: PortId(i), pkt: *pkt, seg: *self.arena.get(pkt.id) });
        }
    }
}

/// Counts a packet that leaves the queue at `start`. Returns its arrival time at the far end.
#[inline(always)]
fn begin<Q: Qdisc, O: Observer>(port: &mut Port<Q>, arena: &Arena, i: u32, pkt: &Packet, start: Time, obs: &mut O) -> Time {
    if obs.wants_at(PortId(i), Interest::PORT) {
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
