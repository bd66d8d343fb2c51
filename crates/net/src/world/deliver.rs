//! Delivery of packets and timers to endpoints.

use super::{Components, World};
use crate::app::App;
use crate::endpoint::{Cx, Endpoint};
use crate::hop::NOWHERE;
use crate::ids::{EpId, FlowId};
use crate::lifetime::ENDED;
use crate::observe::{GaugeEvent, Inside, Interest, LimitEvent, Observer, ReceiveEvent, StateEvent};
use crate::order::Turn;
use crate::packet::{Arena, Ecn, Packet, Proto};
use fairlane_engine::EventQueue;
use fairlane_units::Time;

impl<P: Components, H: EventQueue> World<P, H> {
    #[cold]
    pub(super) fn receive_copies<O: Observer>(&mut self, now: Time, obs: &mut O) {
        while let Some((ep, pkt)) = self.path.copies.pop() {
            self.receive(ep, &pkt, now, obs);
        }
    }

    /// Delivers delayed packets of a link that are due.
    #[cold]
    pub(super) fn on_late<O: Observer>(&mut self, port: u32, now: Time, obs: &mut O) {
        let mut pkt = Packet::BLANK;
        while let Some(ep) = self.path.on_late(port, now, &mut pkt, obs) {
            if ep != NOWHERE {
                self.receive(ep, &pkt, now, obs);
            }
        }
    }

    /// Delivers a packet to an endpoint.
    #[inline]
    pub(super) fn receive<O: Observer>(&mut self, ep: u32, pkt: &Packet, now: Time, obs: &mut O) {
        let place = self.path.places[(ep >> 1) as usize];
        // The slot is read before an answer can reuse it.
        let seg = self.path.arena.free(pkt.id);
        let flow = &mut self.path.flows[place as usize];
        flow.in_network = flow.in_network.wrapping_sub(1);
        if pkt.ecn == Ecn::Ce {
            seg.set_ecn(Ecn::Ce);
            if pkt.data && ep & 1 == 1 {
                flow.counters.marked += 1;
            }
        }
        self.fingerprint = self.fingerprint.wrapping_add(mix(now.as_ps() ^ u64::from(ep) << 48, seg.seq ^ seg.ack.rotate_left(32)));
        if pkt.data && ep & 1 == 1 {
            let c = &mut flow.counters;
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
            if obs.wants_of(EpId(ep), Interest::SEGMENT) {
                obs.on_receive(&ReceiveEvent { time: now, endpoint: EpId(ep), flow: pkt.flow, pkt: *pkt, seg: *seg });
            }
            if self.controllers.as_ref().is_some_and(|g| g.deaf(ep)) {
                return;
            }
        }
        let side = &mut self.sides[((2 * place) | (ep & 1)) as usize];
        if pkt.conn != side.conn {
            // A packet of a former connection is counted, but no endpoint receives it.
            return;
        }
        self.call_endpoint((ep, place), now, obs, false, |e, cx, arena| e.on_packet(arena.get(pkt.id), cx));
    }

    /// Calls an endpoint, and carries out its requests.
    #[inline]
    pub(crate) fn with_endpoint<O: Observer>(&mut self, ep: u32, now: Time, obs: &mut O, call: impl FnOnce(&mut P::Endpoint, &mut Cx<'_>)) {
        let place = self.path.places[(ep >> 1) as usize];
        self.call_endpoint((ep, place), now, obs, true, |e, cx, _| call(e, cx));
    }

    /// [`Self::with_endpoint`] with the place of the flow, and read access to packets. `all`: timers set earlier may lack an event, so all are armed.
    #[inline(always)]
    fn call_endpoint<O: Observer>(
        &mut self,
        (ep, place): (u32, u32),
        now: Time,
        obs: &mut O,
        all: bool,
        call: impl FnOnce(&mut P::Endpoint, &mut Cx<'_>, &Arena),
    ) {
        let at = ((2 * place) | (ep & 1)) as usize;
        let side = &mut self.sides[at];
        let mut cx = Cx::new(now, &mut self.out, &mut side.timers);
        call(&mut self.endpoints[at], &mut cx, &self.path.arena);
        let (delivered, rtt, soonest) = (cx.delivered, cx.rtt, cx.timers.soonest);
        if let Some(next) = if all { side.arm() } else { side.arm_from(soonest) } {
            self.path.push(next, self.path.slots.endpoints + ep, Turn::Act);
        }
        let origin = (place, side.route, side.proto, side.conn);
        if obs.wants_of(EpId(ep), Interest::STATE)
            && let Some(state) = self.moment(EpId(ep))
        {
            obs.on_state(&StateEvent { time: now, endpoint: EpId(ep), state });
        }
        if obs.wants_of(EpId(ep), Interest::GAUGE) {
            let of = Inside::End(EpId(ep));
            self.endpoints[at].gauges(&mut |name, value| obs.on_gauge(&GaugeEvent { time: now, of, name, value }));
        }
        if obs.wants_of(EpId(ep), Interest::LIMIT) {
            let limit = self.endpoints[at].limit(&self.sides[at].timers);
            let timeouts = self.moment(EpId(ep)).map_or(0, |m| m.timeouts);
            obs.on_limit(&LimitEvent { time: now, endpoint: EpId(ep), limit, timeouts });
        }
        for out in &self.out {
            self.path.send(ep, origin, out, now, obs);
        }
        self.out.clear();
        if let Some(rtt) = rtt {
            self.path.flows[place as usize].counters.rtt.add(rtt.as_ps());
            if O::PART
                && let Some(ledger) = obs.ledger()
            {
                ledger.measured(FlowId(ep >> 1), rtt);
            }
        }
        if delivered > 0 {
            self.delivered((ep, place), delivered, now, obs);
        }
        if O::ON
            && let Some(g) = &mut self.controllers
        {
            let f = (ep >> 1) as usize;
            g.look(f, &self.path.flows[f], origin.2, &self.endpoints[2 * f]);
        }
    }

    #[inline]
    fn delivered<O: Observer>(&mut self, (ep, place): (u32, u32), bytes: u64, now: Time, obs: &mut O) {
        let flow = &mut self.path.flows[place as usize];
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
            let newest = self.newest_datagram(ep);
            self.with_app(app, now, obs, |a, cx| {
                cx.newest = newest;
                a.on_delivered(EpId(ep), bytes, cx);
            });
        }
    }

    /// Number of the newest datagram that arrived at an endpoint; none of a stream, and none of what the receiver writes.
    pub(super) fn newest_datagram(&self, ep: u32) -> Option<u64> {
        let place = self.path.places[(ep >> 1) as usize];
        let datagrams = ep & 1 == 1 && self.sides[((2 * place) | 1) as usize].proto == Proto::Udp;
        datagrams.then(|| self.path.flows[place as usize].counters.newest.1)
    }

    /// Stops the source of a flow whose amount was delivered.
    #[cold]
    fn reached<O: Observer>(&mut self, ep: u32, now: Time, obs: &mut O) {
        let flow = &self.path.flows[self.path.places[(ep >> 1) as usize] as usize];
        if flow.alone {
            self.forget(flow.app as usize);
        }
        self.with_endpoint(ep & !1, now, obs, |e, cx| e.on_stop(cx));
    }

    pub(super) fn on_timers<O: Observer>(&mut self, ep: u32, now: Time, obs: &mut O) {
        let place = self.path.places[(ep >> 1) as usize];
        if place >= ENDED {
            // The event of a timer that was cancelled.
            return;
        }
        let at = ((2 * place) | (ep & 1)) as usize;
        self.sides[at].disarm(now);
        loop {
            let side = &mut self.sides[at];
            let Some(id) = side.timers.take_due(now) else { break };
            self.with_endpoint(ep, now, obs, |e, cx| e.on_timer(id, cx));
        }
        let side = &mut self.sides[at];
        if let Some(next) = side.arm() {
            self.path.push(next, self.path.slots.endpoints + ep, Turn::Act);
        }
    }
}

/// Mixes two words into one: a product whose halves are folded, as in wyhash (public domain).
#[inline]
fn mix(a: u64, b: u64) -> u64 {
    let p = u128::from(a ^ 0x9E37_79B9_7F4A_7C15) * u128::from(b ^ 0xC2B2_AE3D_27D4_EB4F);
    p as u64 ^ (p >> 64) as u64
}
