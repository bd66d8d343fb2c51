//! The world of one run: all state as owned data, and the event loop.

mod change;
mod channel;
mod control;
mod outage;
mod read;
mod reconnect;
mod snapshot;
mod standstill;

pub use standstill::Standstill;

use crate::app::{Action, App, AppCx};
use crate::channel::{Channel, Pending};
use crate::control::Control;
use crate::controllers::FlowControllers;
use crate::endpoint::{Cx, Endpoint, FlowView, Out};
use crate::hop::NOWHERE;
use crate::ids::{EpId, FlowId};
use crate::observe::{GaugeEvent, Inside, Interest, LimitEvent, MomentEvent, Observer, ReceiveEvent};
use crate::order::Turn;
use crate::outage::Outages;
use crate::packet::{Arena, Ecn, Packet};
use crate::path::Path;
use crate::prefetch::prefetch;
use crate::qdisc::Qdisc;
use crate::route::reroute::Reroutes;
use crate::sample::Sampler;
use crate::side::{Host, Side};
use fairlane_engine::{EventQueue, QuadHeap, Slot};
use fairlane_units::{Dur, Time};

/// Types of a world's components: enums of the built-in ones, or user-defined types.
pub trait Components: Clone + Send + 'static {
    /// Queue disciplines.
    type Qdisc: Qdisc + Clone;
    /// Transport endpoints.
    type Endpoint: Endpoint + Clone;
    /// Applications.
    type App: App + Clone;
    /// Flow controllers; `()` for none.
    type Control: Control + Clone;
}

/// State of one run. A clone is a branch with its own future.
#[derive(Clone, Debug)]
pub struct World<P: Components, H: EventQueue = QuadHeap> {
    pub(crate) path: Path<P::Qdisc, H>,
    pub(crate) endpoints: Vec<P::Endpoint>,
    /// Views of the senders after [`World::retire`].
    pub(crate) last_views: Vec<FlowView>,
    /// Undelivered bytes of the receivers after [`World::retire`].
    pub(crate) last_kept: Vec<u64>,
    pub(crate) sides: Vec<Side>,
    pub(crate) hosts: Vec<Host<P::App>>,
    /// Ports whose queue has a timer.
    pub(crate) clocks: Vec<u32>,
    /// Ports whose link delays packets.
    pub(crate) lates: Vec<u32>,
    pub(crate) airs: Vec<Channel>,
    /// Events requested by a channel, not yet in the event queue.
    pub(crate) pending: Pending,
    /// Changes of routes during the run.
    pub(crate) reroutes: Reroutes,
    pub(crate) sampler: Option<Sampler>,
    pub(crate) controllers: Option<Box<FlowControllers<P::Control>>>,
    /// Failures and repairs of links to come.
    pub(crate) outages: Option<Box<Outages>>,
    pub(crate) out: Vec<Out>,
    pub(crate) actions: Vec<(EpId, Action)>,
    pub(crate) events_run: u64,
    /// Events at this instant, counted between stretches.
    pub(crate) still: u64,
    pub(crate) standstill: Option<Box<Standstill>>,
    pub(crate) reset_at: Time,
    pub(crate) fingerprint: u64,
}

impl<P: Components, H: EventQueue> World<P, H> {
    /// Runs events up to and including `until`, at most `budget` of them, until the observer has had enough. Returns true if `until` was reached. It never is
    /// reached if simulated time stops: see [`World::standstill`].
    ///
    /// Flow controllers act only with an observer that is on.
    pub fn advance<O: Observer>(&mut self, until: Time, budget: u64, obs: &mut O) -> bool {
        self.path.activate_shortcuts::<O>();
        let stopped = self.run_until(until, budget, obs);
        self.path.materialize(stopped, obs);
        stopped.is_none()
    }

    /// Runs at most `budget` events. Returns the number of the last one and the rest of the budget; `None` if `until` was reached.
    fn run_events<O: Observer>(&mut self, until: Time, budget: u64, obs: &mut O) -> Option<(Slot, u64)> {
        let slots = self.path.slots;
        let mut pkt = Packet::BLANK;
        let (mut left, mut last) = (budget, 0);
        while left > 0 && !(O::ON && obs.enough()) {
            let Some((now, number, slot)) = self.path.events.pop_of(until, |t, n| slots.order.slot(t, n)) else {
                self.events_run += budget - left;
                self.path.now = until;
                return None;
            };
            left -= 1;
            last = number;
            self.path.now = now;
            self.look_ahead();
            if O::PART
                && let Some(ledger) = obs.ledger()
            {
                ledger.begin(now, number);
            }
            if slot < slots.endpoints {
                if slots.order.departs(number) {
                    self.on_wake(slot, now, obs);
                    continue;
                }
                let ep = self.path.on_port(slot, now, &mut pkt, obs);
                if ep != NOWHERE {
                    self.receive(ep, &pkt, now, obs);
                    if !self.path.copies.is_empty() {
                        self.receive_copies(now, obs);
                    }
                    if O::ON {
                        self.notify_controllers(None, now, obs);
                    }
                }
            } else if slot < slots.hosts {
                self.on_timers(slot - slots.endpoints, now, obs);
                if O::ON {
                    self.notify_controllers(None, now, obs);
                }
            } else if slot < slots.clocks {
                self.on_host((slot - slots.hosts) as usize, now, obs);
                if O::ON {
                    self.notify_controllers(None, now, obs);
                }
            } else if slot < slots.lates {
                self.path.on_clock(self.clocks[(slot - slots.clocks) as usize], slot, now, obs);
            } else if slot < slots.airs {
                self.on_late(self.lates[(slot - slots.lates) as usize], now, obs);
                if O::ON {
                    self.notify_controllers(None, now, obs);
                }
            } else if slot < slots.sampler {
                self.on_air(slot, now, obs);
                if O::ON {
                    self.notify_controllers(None, now, obs);
                }
            } else if slot >= slots.outages {
                self.on_outage(now, obs);
            } else if O::ON && slot >= slots.controls {
                let number = (slot - slots.controls) as usize;
                self.on_control(number, now);
                self.notify_controllers(Some(number), now, obs);
            } else {
                self.on_sample(now, obs);
            }
        }
        self.events_run += budget - left;
        Some((last, left))
    }

    /// Prefetches the memory of events to come. With thousands of links most of the time would else be spent waiting for memory.
    #[inline]
    fn look_ahead(&self) {
        self.path.prefetch_port(7);
        self.path.prefetch_head(5);
        if let Some(ep) = self.path.prefetch_next(3) {
            prefetch(&self.endpoints[ep as usize], 512);
            prefetch(&self.sides[ep as usize], 64);
        }
    }

    #[cold]
    fn receive_copies<O: Observer>(&mut self, now: Time, obs: &mut O) {
        while let Some((ep, pkt)) = self.path.copies.pop() {
            self.receive(ep, &pkt, now, obs);
        }
    }

    /// Delivers delayed packets of a link that are due.
    #[cold]
    fn on_late<O: Observer>(&mut self, port: u32, now: Time, obs: &mut O) {
        let mut pkt = Packet::BLANK;
        while let Some(ep) = self.path.on_late(port, now, &mut pkt, obs) {
            if ep != NOWHERE {
                self.receive(ep, &pkt, now, obs);
            }
        }
    }

    /// Delivers a packet to an endpoint.
    #[inline]
    fn receive<O: Observer>(&mut self, ep: u32, pkt: &Packet, now: Time, obs: &mut O) {
        // The slot is read before an answer can reuse it.
        let seg = self.path.arena.free(pkt.id);
        if pkt.ecn == Ecn::Ce {
            seg.set_ecn(Ecn::Ce);
            if pkt.data && ep & 1 == 1 {
                self.path.flows[pkt.flow.0 as usize].counters.marked += 1;
            }
        }
        self.fingerprint = self.fingerprint.wrapping_add(mix(now.as_ps() ^ u64::from(ep) << 48, seg.seq ^ seg.ack.rotate_left(32)));
        if pkt.data && ep & 1 == 1 {
            let c = &mut self.path.flows[pkt.flow.0 as usize].counters;
            let delay = (now - seg.sent).as_ps();
            c.received_bytes += u64::from(pkt.len);
            // RFC 4737 section 3.3, in the order of sending.
            if (seg.sent, seg.seq) < c.newest {
                c.reordered += 1;
            } else {
                c.newest = (seg.sent, seg.seq);
            }
            c.delay.add(delay);
            match c.last_delay {
                0 => c.firsts = 1,
                last => c.jitter_sum += u128::from((delay + 1).abs_diff(last)),
            }
            c.last_delay = delay + 1;
        }
        if O::ON {
            if obs.endpoint_interest(EpId(ep)).has(Interest::SEGMENT) {
                obs.on_receive(&ReceiveEvent { time: now, endpoint: EpId(ep), flow: pkt.flow, pkt: *pkt, seg: *seg });
            }
            if self.controllers.as_ref().is_some_and(|g| g.deaf(ep)) {
                return;
            }
        }
        let side = &mut self.sides[ep as usize];
        if pkt.conn != side.conn {
            // Of a former connection: it is counted, and no endpoint receives it.
            return;
        }
        self.call_endpoint(ep, now, obs, false, |e, cx, arena| e.on_packet(arena.get(pkt.id), cx));
    }

    /// Calls an endpoint, and carries out its requests.
    #[inline]
    pub(crate) fn with_endpoint<O: Observer>(&mut self, ep: u32, now: Time, obs: &mut O, call: impl FnOnce(&mut P::Endpoint, &mut Cx<'_>)) {
        self.call_endpoint(ep, now, obs, true, |e, cx, _| call(e, cx));
    }

    /// [`Self::with_endpoint`] with read access to packets. `all`: timers set earlier may lack an event, so all are armed.
    #[inline(always)]
    fn call_endpoint<O: Observer>(
        &mut self,
        ep: u32,
        now: Time,
        obs: &mut O,
        all: bool,
        call: impl FnOnce(&mut P::Endpoint, &mut Cx<'_>, &Arena),
    ) {
        let side = &mut self.sides[ep as usize];
        let mut cx = Cx::new(now, &mut self.out, &mut side.timers);
        call(&mut self.endpoints[ep as usize], &mut cx, &self.path.arena);
        let (delivered, rtt, soonest) = (cx.delivered, cx.rtt, cx.timers.soonest);
        if let Some(next) = if all { side.arm() } else { side.arm_from(soonest) } {
            self.path.push(next, self.path.slots.endpoints + ep, Turn::Act);
        }
        let origin = (side.route, side.proto, side.conn);
        if O::ON
            && obs.endpoint_interest(EpId(ep)).has(Interest::STATE)
            && let Some(moment) = self.moment(EpId(ep))
        {
            obs.on_moment(&MomentEvent { time: now, endpoint: EpId(ep), moment });
        }
        if O::ON && obs.endpoint_interest(EpId(ep)).has(Interest::GAUGE) {
            let of = Inside::End(EpId(ep));
            self.endpoints[ep as usize].gauges(&mut |name, value| obs.on_gauge(&GaugeEvent { time: now, of, name, value }));
        }
        if O::ON && obs.endpoint_interest(EpId(ep)).has(Interest::LIMIT) {
            let e = &self.endpoints[ep as usize];
            let limit = e.limit(&self.sides[ep as usize].timers);
            let timeouts = self.moment(EpId(ep)).map_or(0, |m| m.timeouts);
            obs.on_limit(&LimitEvent { time: now, endpoint: EpId(ep), limit, timeouts });
        }
        for out in &self.out {
            self.path.send(ep, origin, out, now, obs);
        }
        self.out.clear();
        if let Some(rtt) = rtt {
            self.path.flows[(ep >> 1) as usize].counters.rtt.add(rtt.as_ps());
            if O::PART
                && let Some(ledger) = obs.ledger()
            {
                ledger.measured(FlowId(ep >> 1), rtt);
            }
        }
        if delivered > 0 {
            self.delivered(ep, delivered, now, obs);
        }
        if O::ON
            && let Some(g) = &mut self.controllers
        {
            let f = (ep >> 1) as usize;
            g.look(f, &self.path.flows[f], origin.1, &self.endpoints[2 * f]);
        }
    }

    #[inline]
    fn delivered<O: Observer>(&mut self, ep: u32, bytes: u64, now: Time, obs: &mut O) {
        let flow = &mut self.path.flows[(ep >> 1) as usize];
        if ep & 1 == 1 {
            flow.counters.delivered += bytes;
            flow.delivered += bytes;
            if O::PART
                && let Some(ledger) = obs.ledger()
                && ledger.is_away(ep ^ 1)
            {
                return ledger.delivered(FlowId(ep >> 1), flow);
            }
            if flow.closed && flow.delivered >= flow.written && flow.completed == Time::MAX {
                flow.completed = now;
                if flow.amount != 0 {
                    return self.reached(ep, now, obs);
                }
            }
        }
        if flow.watched {
            let app = flow.app as usize;
            if O::ON && self.controllers.as_mut().is_some_and(|g| g.keep(app, EpId(ep), bytes)) {
                return;
            }
            self.with_app(app, now, obs, |a, cx| a.on_delivered(EpId(ep), bytes, cx));
        }
    }

    /// Stops the source of a flow whose amount was delivered.
    #[cold]
    fn reached<O: Observer>(&mut self, ep: u32, now: Time, obs: &mut O) {
        let flow = &self.path.flows[(ep >> 1) as usize];
        if flow.alone {
            self.forget(flow.app as usize);
        }
        self.with_endpoint(ep & !1, now, obs, |e, cx| e.on_stop(cx));
    }

    fn on_timers<O: Observer>(&mut self, ep: u32, now: Time, obs: &mut O) {
        self.sides[ep as usize].disarm(now);
        loop {
            let side = &mut self.sides[ep as usize];
            let Some(id) = side.timers.take_due(now) else { break };
            self.with_endpoint(ep, now, obs, |e, cx| e.on_timer(id, cx));
        }
        let side = &mut self.sides[ep as usize];
        if let Some(next) = side.arm() {
            self.path.push(next, self.path.slots.endpoints + ep, Turn::Act);
        }
    }

    fn on_host<O: Observer>(&mut self, app: usize, now: Time, obs: &mut O) {
        let host = &mut self.hosts[app];
        if host.armed == now {
            host.armed = Time::MAX;
        }
        if host.wake <= now {
            host.wake = Time::MAX;
            if O::ON && self.begins_closed(app, now) {
                return;
            }
            self.with_app(app, now, obs, |a, cx| a.on_wake(cx));
        } else if host.wake < host.armed {
            host.armed = host.wake;
            self.path.push(host.wake, self.path.slots.hosts + app as u32, Turn::Act);
        }
    }

    /// Calls an application, and carries out its requests.
    pub(crate) fn with_app<O: Observer>(&mut self, app: usize, now: Time, obs: &mut O, call: impl FnOnce(&mut P::App, &mut AppCx<'_>)) {
        let mut actions = std::mem::take(&mut self.actions);
        let host = &mut self.hosts[app];
        // The clock of an application is late by the time for which it was stopped.
        let lag = if O::ON { self.controllers.as_ref().map_or(Dur::ZERO, |g| g.lag(app)) } else { Dur::ZERO };
        if lag > Dur::ZERO && host.wake != Time::MAX {
            host.wake = Time::ZERO + host.wake.since(Time::ZERO + lag);
        }
        call(
            &mut host.app,
            &mut AppCx { now: Time::ZERO + now.since(Time::ZERO + lag), rng: &mut host.rng, actions: &mut actions, wake: &mut host.wake },
        );
        if lag > Dur::ZERO && host.wake != Time::MAX {
            host.wake += lag;
        }
        if host.wake < host.armed {
            host.armed = host.wake.max(now);
            self.path.push(host.armed, self.path.slots.hosts + app as u32, Turn::Act);
        }
        for (end, mut action) in actions.drain(..) {
            if let Action::Done { since } = &mut action {
                *since += lag;
            }
            self.act(end, action, now, obs);
        }
        // A nested call may have left its buffer: keep the larger one.
        if actions.capacity() > self.actions.capacity() {
            self.actions = actions;
        }
    }

    fn act<O: Observer>(&mut self, end: EpId, action: Action, now: Time, obs: &mut O) {
        let id = end.flow();
        let sender = EpId::sender(id).0;
        let flow = &mut self.path.flows[id.0 as usize];
        if let Action::Done { since } = action {
            flow.counters.transactions.get_or_insert_default().add((now - since).as_ps());
            return;
        }
        let first = flow.started == Time::MAX;
        if first {
            flow.started = now;
            if O::ON
                && let Some(g) = &mut self.controllers
            {
                g.begin(id.0 as usize, now);
            }
        }
        if flow.amount != 0 && flow.completed != Time::MAX {
            return;
        }
        match action {
            // Only data of the sending end counts as written.
            Action::Write { bytes, fin } if !end.receives() && flow.amount == 0 => {
                flow.written = flow.written.saturating_add(bytes);
                flow.closed |= fin;
            }
            Action::Stop if !end.receives() => {
                flow.closed = false;
                if O::ON
                    && let Some(g) = &mut self.controllers
                {
                    g.stop(id.0 as usize);
                }
            }
            Action::Write { .. } | Action::Stop | Action::Done { .. } => {}
        }
        let mut away = false;
        if O::PART
            && let Some(ledger) = obs.ledger()
            && ledger.is_away(sender + 1)
        {
            ledger.wrote(id, flow);
            away = true;
        }
        if first {
            if !(O::PART && away) {
                self.with_endpoint(sender + 1, now, obs, |e, cx| e.start(cx));
            }
            self.with_endpoint(sender, now, obs, |e, cx| e.start(cx));
        }
        self.with_endpoint(end.0, now, obs, |e, cx| match action {
            Action::Write { bytes, fin } => e.on_write(bytes, fin, cx),
            Action::Stop => e.on_stop(cx),
            Action::Done { .. } => {}
        });
    }

    fn on_sample<O: Observer>(&mut self, now: Time, obs: &mut O) {
        if O::ON && !self.path.shortcuts.fit_observer {
            self.path.settle_all::<O, true>(now, obs);
        }
        if let Some(s) = &mut self.sampler {
            let endpoints = &self.endpoints;
            let open = self.controllers.as_mut().map(|g| g.shares(now, s.step()));
            let ends = |f: usize| (&endpoints[2 * f], &endpoints[2 * f + 1]);
            let next = s.record(now, &mut self.path, ends, open, obs);
            self.path.push(next, self.path.slots.sampler, Turn::Look);
        }
    }
}

/// Mixes two words into one: a product whose halves are folded, as in wyhash (public domain).
#[inline]
fn mix(a: u64, b: u64) -> u64 {
    let p = u128::from(a ^ 0x9E37_79B9_7F4A_7C15) * u128::from(b ^ 0xC2B2_AE3D_27D4_EB4F);
    p as u64 ^ (p >> 64) as u64
}
