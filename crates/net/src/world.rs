//! The world of one run: all its state as plain owned data, and the loop that moves time.

use crate::app::{Action, App, AppCx};
use crate::control::Control;
use crate::counters::FlowCounters;
use crate::endpoint::{Cx, Endpoint, FlowView, Out, Timers};
use crate::govern::Govern;
use crate::observe::{Observer, ReceiveEvent};
use crate::order::{Order, Turn};
use crate::packet::{Ecn, FlowId, Proto, QPkt};
use crate::path::{END, NOWHERE, Path};
use crate::port::{Port, PortId};
use crate::prefetch::prefetch;
use crate::qdisc::Qdisc;
use crate::sample::Sampler;
use fairlane_engine::{EventQueue, Slot, StdHeap, Stream};
use fairlane_units::{Dur, Time};

/// The types plugged into a world: enums over the built-in ones, or a user's own.
pub trait Plugs: Clone + Send + 'static {
    /// Queue disciplines.
    type Qdisc: Qdisc + Clone;
    /// Transport endpoints.
    type Endpoint: Endpoint + Clone;
    /// Applications.
    type App: App + Clone;
    /// Controls of flows at their source; `()` for none.
    type Control: Control + Clone;
}

/// Number of an endpoint: `2 f` is the sender of flow `f`, `2 f + 1` its receiver.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EpId(pub u32);

impl EpId {
    /// The sender of a flow.
    pub const fn sender(flow: FlowId) -> Self {
        Self(flow.0 << 1)
    }
    /// The receiver of a flow.
    pub const fn receiver(flow: FlowId) -> Self {
        Self(flow.0 << 1 | 1)
    }
    /// The flow it belongs to.
    pub const fn flow(self) -> FlowId {
        FlowId(self.0 >> 1)
    }
    /// Whether it is the side that data flows to.
    pub const fn receives(self) -> bool {
        self.0 & 1 == 1
    }
}

/// A flow: its counters and its progress.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Unique name.
    pub name: String,
    /// Counters since the last reset.
    pub counters: FlowCounters,
    /// The sender's view at the last reset: subtract it from the present one.
    pub base: Option<Box<FlowView>>,
    /// When the application first wrote; `MAX` before.
    pub started: Time,
    /// When the last byte written reached the receiving application; `MAX` before.
    pub completed: Time,
    /// Payload bytes delivered since the flow began.
    pub delivered: u64,
    pub(crate) written: u64,
    /// The flow is over once the receiver has this much; 0: once it has all that was written.
    pub(crate) amount: u64,
    pub(crate) closed: bool,
    pub(crate) app: u32,
    pub(crate) watched: bool,
    /// Its application drives no other.
    pub(crate) alone: bool,
}

/// What the loop needs of an endpoint beside its state.
#[derive(Clone, Debug)]
pub(crate) struct Side {
    pub(crate) timers: Timers,
    /// Time of the earliest event queued for its timers.
    pub(crate) armed: Time,
    /// Time of another event queued, not before it: once the first is over, a far deadline needs no second event.
    pub(crate) later: Time,
    /// Where its route begins in the table of hops.
    pub(crate) route: u32,
    pub(crate) proto: Proto,
}

impl Side {
    /// The time for which an event is to be queued now, if any.
    #[inline(always)]
    fn arm(&mut self) -> Option<Time> {
        let next = self.timers.next();
        if next >= self.armed {
            return None;
        }
        if self.later == Time::MAX {
            self.later = self.armed;
        }
        self.armed = next;
        Some(next)
    }

    /// An event queued for `now` is over.
    #[inline]
    fn disarm(&mut self, now: Time) {
        if self.armed == now {
            self.armed = self.later;
            self.later = Time::MAX;
        } else if self.later == now {
            self.later = Time::MAX;
        }
    }
}

/// An application with its stream and its next wake-up.
#[derive(Clone, Debug)]
pub(crate) struct Host<A> {
    pub(crate) app: A,
    pub(crate) rng: Stream,
    pub(crate) wake: Time,
    pub(crate) armed: Time,
}

/// Everything of one run. Cloning it makes a branch with its own future.
#[derive(Clone, Debug)]
pub struct World<P: Plugs, H: EventQueue = StdHeap> {
    pub(crate) path: Path<P::Qdisc, H>,
    pub(crate) endpoints: Vec<P::Endpoint>,
    /// What the senders say, once there are no endpoints any more.
    pub(crate) last_views: Vec<FlowView>,
    pub(crate) sides: Vec<Side>,
    pub(crate) hosts: Vec<Host<P::App>>,
    /// Ports whose queue has a timer of its own.
    pub(crate) clocks: Vec<u32>,
    /// Ports whose link brings packets later than the ring says.
    pub(crate) lates: Vec<u32>,
    pub(crate) sampler: Option<Sampler>,
    pub(crate) govern: Option<Box<Govern<P::Control>>>,
    pub(crate) out: Vec<Out>,
    pub(crate) actions: Vec<(EpId, Action)>,
    pub(crate) events_run: u64,
    pub(crate) reset_at: Time,
    pub(crate) fingerprint: u64,
}

/// First slot of each kind of event source, in the order of ties.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slots {
    pub(crate) endpoints: Slot,
    pub(crate) hosts: Slot,
    pub(crate) clocks: Slot,
    pub(crate) lates: Slot,
    pub(crate) sampler: Slot,
    pub(crate) controls: Slot,
    pub(crate) order: Order,
}

impl<P: Plugs, H: EventQueue> World<P, H> {
    /// Runs events up to and including `until`, at most `budget` of them. Returns whether `until` was reached.
    ///
    /// Controls act only in a loop compiled for observers: a world that has some wants one that is on.
    pub fn advance<O: Observer>(&mut self, until: Time, budget: u64, obs: &mut O) -> bool {
        let slots = self.path.slots;
        let mut pkt = QPkt::BLANK;
        let mut left = budget;
        while left > 0 {
            let Some((now, number)) = self.path.events.pop_until(until) else {
                self.events_run += budget - left;
                self.path.now = until;
                return true;
            };
            left -= 1;
            self.path.now = now;
            self.look_ahead();
            let slot = slots.order.slot(now, number);
            if slot < slots.endpoints {
                if slots.order.departs(number) {
                    self.path.on_wake(slot, now, obs);
                    continue;
                }
                let ep = self.path.on_port(slot, now, &mut pkt, obs);
                if ep != NOWHERE {
                    self.receive(ep, &pkt, now, obs);
                    if !self.path.copies.is_empty() {
                        self.receive_copies(now, obs);
                    }
                    if O::ON {
                        self.govern(None, now, obs);
                    }
                }
            } else if slot < slots.hosts {
                self.on_timers(slot - slots.endpoints, now, obs);
                if O::ON {
                    self.govern(None, now, obs);
                }
            } else if slot < slots.clocks {
                self.on_host((slot - slots.hosts) as usize, now, obs);
                if O::ON {
                    self.govern(None, now, obs);
                }
            } else if slot < slots.lates {
                self.path.on_clock(self.clocks[(slot - slots.clocks) as usize], slot, now, obs);
            } else if slot < slots.sampler {
                self.on_late(self.lates[(slot - slots.lates) as usize], now, obs);
                if O::ON {
                    self.govern(None, now, obs);
                }
            } else if O::ON && slot >= slots.controls {
                let number = (slot - slots.controls) as usize;
                self.on_control(number, now);
                self.govern(Some(number), now, obs);
            } else {
                self.on_sample(now, obs);
            }
        }
        self.events_run += budget;
        false
    }

    /// Brings near what the events to come will touch. With thousands of links most of an event's time would go to waiting for memory.
    #[inline]
    fn look_ahead(&self) {
        self.path.fetch_port(7);
        self.path.fetch_head(5);
        if let Some(ep) = self.path.fetch_next(3) {
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

    /// Packets that a link kept may be due.
    #[cold]
    fn on_late<O: Observer>(&mut self, port: u32, now: Time, obs: &mut O) {
        let mut pkt = QPkt::BLANK;
        while let Some(ep) = self.path.on_late(port, now, &mut pkt, obs) {
            if ep != NOWHERE {
                self.receive(ep, &pkt, now, obs);
            }
        }
    }

    /// A packet reached an endpoint.
    #[inline]
    fn receive<O: Observer>(&mut self, ep: u32, pkt: &QPkt, now: Time, obs: &mut O) {
        let mut seg = self.path.arena.remove(pkt.id);
        if pkt.ecn == Ecn::Ce {
            seg.set_ecn(Ecn::Ce);
            self.path.flows[pkt.flow.0 as usize].counters.marked += u64::from(pkt.data && ep & 1 == 1);
        }
        self.fingerprint = self.fingerprint.wrapping_add(mix(now.as_ps() ^ u64::from(ep) << 48, seg.seq ^ seg.ack.rotate_left(32)));
        if pkt.data && ep & 1 == 1 {
            let c = &mut self.path.flows[pkt.flow.0 as usize].counters;
            let delay = (now - seg.sent).as_ps();
            c.received_bytes += u64::from(pkt.len);
            c.delay.add(delay);
            match c.last_delay {
                0 => c.has_first = true,
                last => c.jitter_sum += u128::from((delay + 1).abs_diff(last)),
            }
            c.last_delay = delay + 1;
        }
        if O::ON {
            obs.on_receive(&ReceiveEvent { time: now, endpoint: EpId(ep), flow: pkt.flow, pkt: *pkt, seg });
            if self.govern.as_ref().is_some_and(|g| g.deaf(ep)) {
                return;
            }
        }
        self.with_endpoint(ep, now, obs, |e, cx| e.on_packet(&seg, cx));
    }

    /// Calls an endpoint and carries out what it asked for.
    #[inline]
    pub(crate) fn with_endpoint<O: Observer>(&mut self, ep: u32, now: Time, obs: &mut O, call: impl FnOnce(&mut P::Endpoint, &mut Cx<'_>)) {
        let side = &mut self.sides[ep as usize];
        let mut cx = Cx::new(now, &mut self.out, &mut side.timers);
        call(&mut self.endpoints[ep as usize], &mut cx);
        let (delivered, rtt) = (cx.delivered, cx.rtt);
        if let Some(next) = side.arm() {
            self.path.push(next, self.path.slots.endpoints + ep, Turn::Act);
        }
        let (route, proto) = (side.route, side.proto);
        for out in &self.out {
            self.path.send(ep, route, proto, out, now, obs);
        }
        self.out.clear();
        if let Some(rtt) = rtt {
            self.path.flows[(ep >> 1) as usize].counters.rtt.add(rtt.as_ps());
        }
        if delivered > 0 {
            self.delivered(ep, delivered, now, obs);
        }
        if O::ON
            && let Some(g) = &mut self.govern
        {
            let f = (ep >> 1) as usize;
            g.look(f, &self.path.flows[f], proto, &self.endpoints[2 * f]);
        }
    }

    #[inline]
    fn delivered<O: Observer>(&mut self, ep: u32, bytes: u64, now: Time, obs: &mut O) {
        let flow = &mut self.path.flows[(ep >> 1) as usize];
        if ep & 1 == 1 {
            flow.counters.delivered += bytes;
            flow.delivered += bytes;
            if flow.closed && flow.delivered >= flow.written && flow.completed == Time::MAX {
                flow.completed = now;
                if flow.amount != 0 {
                    return self.reached(ep, now, obs);
                }
            }
        }
        if flow.watched {
            let app = flow.app as usize;
            if O::ON && self.govern.as_mut().is_some_and(|g| g.keep(app, EpId(ep), bytes)) {
                return;
            }
            self.with_app(app, now, obs, |a, cx| a.on_delivered(EpId(ep), bytes, cx));
        }
    }

    /// The receiver has the amount that was asked for: the source stops, whatever else it had to send.
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

    /// Calls an application and carries out what it asked for.
    pub(crate) fn with_app<O: Observer>(&mut self, app: usize, now: Time, obs: &mut O, call: impl FnOnce(&mut P::App, &mut AppCx<'_>)) {
        let mut actions = std::mem::take(&mut self.actions);
        let host = &mut self.hosts[app];
        // An application that stood still has a clock of its own.
        let lag = if O::ON { self.govern.as_ref().map_or(Dur::ZERO, |g| g.lag(app)) } else { Dur::ZERO };
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
        // A nested call may have left its own buffer; keep the larger one.
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
                && let Some(g) = &mut self.govern
            {
                g.begin(id.0 as usize, now);
            }
        }
        if flow.amount != 0 && flow.completed != Time::MAX {
            return;
        }
        match action {
            // What is written at the other end is not what the flow is there to carry.
            Action::Write { bytes, fin } if !end.receives() && flow.amount == 0 => {
                flow.written = flow.written.saturating_add(bytes);
                flow.closed |= fin;
            }
            Action::Stop if !end.receives() => {
                flow.closed = false;
                if O::ON
                    && let Some(g) = &mut self.govern
                {
                    g.stop(id.0 as usize);
                }
            }
            Action::Write { .. } | Action::Stop | Action::Done { .. } => {}
        }
        if first {
            self.with_endpoint(sender + 1, now, obs, |e, cx| e.start(cx));
            self.with_endpoint(sender, now, obs, |e, cx| e.start(cx));
        }
        self.with_endpoint(end.0, now, obs, |e, cx| match action {
            Action::Write { bytes, fin } => e.on_write(bytes, fin, cx),
            Action::Stop => e.on_stop(cx),
            Action::Done { .. } => {}
        });
    }

    fn on_sample<O: Observer>(&mut self, now: Time, obs: &mut O) {
        self.path.settle_all::<O, true>(now, obs);
        if let Some(s) = &mut self.sampler {
            let endpoints = &self.endpoints;
            let next = s.record(now, self.path.flows.iter(), |f| &endpoints[2 * f], &self.path.ports);
            if let Some(g) = &mut self.govern {
                s.flows.open.extend(g.shares(now, s.step()));
            }
            self.path.push(next, self.path.slots.sampler, Turn::Look);
        }
    }

    /// Forgets what was counted so far (the warm-up); the state stays.
    pub fn reset_counters<O: Observer>(&mut self, obs: &mut O) {
        let now = self.path.now;
        self.path.settle_all::<O, true>(now, obs);
        self.reset_at = now;
        self.path.hops_before_reset = self.packet_hops();
        for port in &mut self.path.ports {
            let mut fresh = crate::PortCounters { occupancy: std::mem::take(&mut port.counters.occupancy), ..Default::default() };
            fresh.occupancy.reset(now);
            fresh.initial = port.qdisc.backlog();
            port.counters = fresh;
        }
        if let Some(g) = &mut self.govern {
            g.reset(now);
        }
        for (i, flow) in self.path.flows.iter_mut().enumerate() {
            flow.counters = FlowCounters { last_delay: flow.counters.last_delay, ..Default::default() };
            flow.base = Some(Box::new(self.endpoints[2 * i].view()));
        }
    }

    /// Carries out every departure due by now, so that counters and backlogs speak of this instant.
    pub fn settle<O: Observer>(&mut self, obs: &mut O) {
        self.path.settle_all::<O, true>(self.path.now, obs);
    }

    /// The present.
    pub fn now(&self) -> Time {
        self.path.now
    }
    /// When counters were last reset: the end of the warm-up.
    pub fn reset_at(&self) -> Time {
        self.reset_at
    }
    /// All ports.
    pub fn ports(&self) -> &[Port<P::Qdisc>] {
        &self.path.ports
    }
    /// A port by number.
    pub fn port(&self, id: PortId) -> &Port<P::Qdisc> {
        &self.path.ports[id.0 as usize]
    }
    /// All flows.
    pub fn flows(&self) -> &[Flow] {
        &self.path.flows
    }
    /// The state of an endpoint; after [`Self::retire`] of a sender only.
    pub fn view(&self, ep: EpId) -> FlowView {
        let i = ep.0 as usize;
        let last = || self.last_views.get(i / 2).copied().unwrap_or_default();
        self.endpoints.get(i).map_or_else(last, Endpoint::view)
    }
    /// The run is over: what only a future would need is given up, before tables of the results take its memory. Nothing happens any more.
    pub fn retire(&mut self) {
        self.path.events = H::with_slots(0);
        self.hosts = Vec::new();
        self.last_views = self.endpoints.iter().step_by(2).map(Endpoint::view).collect();
        self.endpoints = Vec::new();
    }
    /// The ports on the way from the given endpoint to its peer.
    pub fn route(&self, ep: EpId) -> impl Iterator<Item = PortId> + '_ {
        let start = self.sides[ep.0 as usize].route as usize;
        self.path.hops[start..].iter().take_while(|&&h| h & END == 0).map(|&h| PortId(h))
    }
    /// Where the hops of an endpoint's packets begin: [`QPkt::hop`] of one before its first link.
    pub fn first_hop(&self, ep: EpId) -> u32 {
        self.sides[ep.0 as usize].route
    }
    /// Events carried out so far.
    pub fn events(&self) -> u64 {
        self.events_run
    }
    /// Transmissions begun so far: packets times links.
    pub fn packet_hops(&self) -> u64 {
        self.path.hops_before_reset + self.path.ports.iter().map(|p| p.counters.sent_pkts).sum::<u64>()
    }
    /// Packets alive: waiting or on a link.
    pub fn packets_alive(&self) -> usize {
        self.path.arena.len()
    }
    /// Most packets alive at one time so far.
    pub fn packets_peak(&self) -> usize {
        self.path.arena.peak()
    }
    /// A number that depends on when every packet arrived where: two runs with the same trajectory have the same one. It is a sum
    /// over packets, so it does not depend on the order in which simultaneous events were carried out.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
    /// The time series, if sampling is on.
    pub fn sampler(&self) -> Option<&Sampler> {
        self.sampler.as_ref()
    }
}

/// Mixes two words into one: a product whose halves are folded, as in wyhash (public domain).
#[inline]
fn mix(a: u64, b: u64) -> u64 {
    let p = u128::from(a ^ 0x9E37_79B9_7F4A_7C15) * u128::from(b ^ 0xC2B2_AE3D_27D4_EB4F);
    p as u64 ^ (p >> 64) as u64
}
