//! Shortcuts of the plain hop, which save an event or a copy and change no result.
//!
//! **Two hops by one event.** A downstream port is fed by one link alone, its upstream link, which is not faster than its own. So a packet
//! finds its transmitter free, and the arrival at its far end is known when transmission on the upstream link begins. Such a packet stays on
//! the upstream ring until then, with the hop and the arrival time of the downstream link. Invariants:
//! - An upstream ring is in the order of arrival and of ties. Its head has the event of the port that its hop names.
//! - A packet takes the shortcut only if nothing is queued or pending ([`Port::pending_downstream`]) at the downstream port, and its
//!   transmitter is free by then. Otherwise it has one event per hop, and is pending until its first event.
//! - The downstream port counts the packet when it arrives at the far end.
//!
//! **Ring queue.** See `ring_queue.rs`. An upstream port may have one, too: a packet takes its place in the order when its transmission begins.
//!
//! Both hold within [`crate::World::advance`] only. [`Path::materialize`] then moves each packet to the link that it is on, or into its queue
//! discipline, so code that reads or changes a port sees no difference. An advance of fewer events than that moves packets does without
//! shortcuts. Ports of which an observer or the sampler sees more have no shortcut.

mod ring_queue;

use super::{Path, begin};
use crate::hop::{END, NOWHERE};
use crate::observe::Observer;
use crate::order::Turn;
use crate::packet::Packet;
use crate::port::{NO_PORT, Port, Queueing, Role};
use crate::qdisc::Qdisc;
use fairlane_engine::steps::step;
use fairlane_engine::{EventQueue, Slot};
use fairlane_units::Time;

/// Places that a packet may overtake on an upstream ring. Beyond that the port loses its role: its packets are too mixed.
const FAR: usize = 64;
/// Typical packet length. The propagation delay of an upstream link is not below its transmission time: else wake events would cost more than they save.
const COMMON: u64 = 1500;

/// Ports that use shortcuts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shortcuts {
    /// Ports with [`Role::Upstream`].
    upstream: Vec<u32>,
    /// Ports with [`Port::listed`]. Outside of the loop: ring queues whose packets are in the discipline.
    ring_queues: Vec<u32>,
    /// True while the loop runs and packets may take shortcuts.
    pub(crate) active: bool,
    /// True if ports were chosen so that the observer misses nothing.
    pub(crate) fit_observer: bool,
    /// Events that run without shortcuts before they are worth it: the number of ports and packets that the last [`Path::materialize`] looked
    /// at.
    pub(crate) cost: u64,
}

/// Events of a port that observer or sampler see, and no shortcut may hide.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Visible {
    /// Departures, drops and counters: no downstream port.
    pub(crate) port: bool,
    /// Packets at the far end of the link: no upstream port.
    pub(crate) hop: bool,
    /// Enqueued packets, or departures at their time: no ring queue.
    pub(crate) queue: bool,
}

impl<Q: Qdisc, H: EventQueue> Path<Q, H> {
    /// Chooses the ports that use shortcuts. `visible` says what must not be hidden of a port.
    pub(crate) fn choose_shortcuts(&mut self, visible: impl Fn(u32) -> Visible) {
        if self.forwarding.is_none() {
            self.choose_upstream(&visible);
        }
        for (i, port) in (0..).zip(&mut self.ports) {
            if port.is_plain() && matches!(port.role, Role::Plain | Role::Upstream) && !visible(i).queue {
                port.choose_queueing();
            }
        }
    }

    /// Chooses upstream ports and their downstream ports. All links behind one are alike, so that packets hardly overtake each other on its ring.
    fn choose_upstream(&mut self, visible: &impl Fn(u32) -> Visible) {
        // By port: the one port before it (`END` for several, or an endpoint), and all behind it.
        let (mut before, mut behind) = (vec![None; self.ports.len()], vec![Vec::new(); self.ports.len()]);
        let mut last = END;
        for &hop in &self.hops {
            if hop & END == 0 {
                let known = before[hop as usize].get_or_insert(last);
                if *known != last {
                    *known = END;
                }
            }
            // Ends of routes count as one.
            let on = hop.min(END);
            if last & END == 0 && behind[last as usize].last() != Some(&on) {
                behind[last as usize].push(on);
            }
            last = hop;
        }
        for i in 0..self.ports.len() as u32 {
            let (upstream, next) = (&self.ports[i as usize], &mut behind[i as usize]);
            next.sort_unstable();
            next.dedup();
            let is_plain = |p: &Port<Q>| p.is_plain() && p.role == Role::Plain;
            let Some(first) = next.first().and_then(|&n| self.ports.get(n as usize)).map(Port::link) else { continue };
            let far = upstream.link().rate.tx_time(COMMON) <= upstream.link().delay;
            let fits = |&n: &u32| {
                self.ports.get(n as usize).is_some_and(|p| is_plain(p) && p.link() == first && p.takes_any())
                    && before[n as usize] == Some(i)
                    && !visible(n).port
            };
            if far && !visible(i).hop && is_plain(upstream) && first.rate >= upstream.link().rate && next.iter().all(fits) {
                for &n in &*next {
                    (self.ports[n as usize].role, self.ports[n as usize].upstream) = (Role::Downstream, i);
                }
                self.ports[i as usize].role = Role::Upstream;
                self.shortcuts.upstream.push(i);
            }
        }
    }

    /// Returns true if any port uses a shortcut.
    pub(crate) fn has_shortcuts(&self) -> bool {
        self.ports.iter().any(|p| p.role == Role::Upstream || p.queueing != Queueing::Discipline)
    }

    /// Disables all shortcuts of port `i`, for good. Called between two calls of `advance`.
    pub(crate) fn disable_shortcut(&mut self, i: u32) {
        let port = &mut self.ports[i as usize];
        port.queueing = Queueing::Discipline;
        port.release();
        let upstream = std::mem::replace(&mut port.upstream, NO_PORT);
        if let Some(upstream) = self.ports.get_mut(upstream as usize) {
            upstream.release();
        }
    }

    /// Disables the shortcuts of all ports, before the first event.
    pub(crate) fn disable_all_shortcuts(&mut self) {
        self.shortcuts = Shortcuts::default();
        for port in &mut self.ports {
            if port.role != Role::SlowPath {
                port.role = Role::Plain;
            }
            (port.upstream, port.queueing) = (NO_PORT, Queueing::Discipline);
        }
    }

    /// Ends the upstream role of some ports, before the first event: their links end in another part.
    pub(crate) fn end_upstream(&mut self, ports: impl Iterator<Item = u32>) {
        for i in ports {
            let port = &mut self.ports[i as usize];
            if port.role == Role::Upstream {
                port.role = Role::Plain;
            }
        }
        let ports = &self.ports;
        self.shortcuts.upstream.retain(|&i| ports[i as usize].role == Role::Upstream);
    }

    /// Activates shortcuts when the loop starts, unless they would hide something from the observer.
    pub(crate) fn activate_shortcuts<O: Observer>(&mut self) {
        if self.shortcuts.active || (O::ON && !self.shortcuts.fit_observer) {
            return;
        }
        self.shortcuts.active = true;
        self.fill_ring_queues();
    }

    /// Deactivates shortcuts when the loop stops: moves each packet to the link that it is on, or into its queue discipline. `last`: number of
    /// the last event, if others of this instant are to come.
    pub(crate) fn materialize<O: Observer>(&mut self, last: Option<Slot>, obs: &mut O) {
        if !self.shortcuts.active {
            return;
        }
        let now = self.now;
        let mut cost = 0;
        for k in 0..self.shortcuts.upstream.len() {
            let i = self.shortcuts.upstream[k];
            cost += 1 + self.ports[i as usize].ring.len();
            self.settle::<O, false>(i, now, obs);
            let over = last.is_none_or(|last| self.slots.order.number(now, i, Turn::Act) <= last);
            self.materialize_upstream(i, now, over);
            self.wake_if_needed(i, obs);
        }
        self.shortcuts.active = false;
        cost += self.materialize_ring_queues();
        step(cost);
        self.shortcuts.cost = cost as u64;
    }

    /// Moves packets of an upstream ring to the downstream links that they are on. `over`: packets that arrive there at this instant have done so.
    fn materialize_upstream(&mut self, i: u32, now: Time, over: bool) {
        let port = &mut self.ports[i as usize];
        let on_link = port.ring.len() - port.waiting.pkts as usize;
        if port.ring.iter().all(|p| self.hops[p.hop as usize] == i) {
            return;
        }
        let mut all: Vec<Packet> = port.ring.iter().copied().collect();
        let waiting = all.split_off(on_link);
        port.ring.clear();
        all.retain_mut(|pkt| {
            let n = self.hops[pkt.hop as usize];
            if n == i {
                return true;
            }
            self.settle::<(), false>(n, now, &mut ());
            let down = &mut self.ports[n as usize];
            let begun = down.begun(pkt);
            if begun < now || begun == now && over {
                down.counters.sent_pkts += 1;
                down.counters.sent_bytes += u64::from(pkt.len);
                // A packet that had one event per hop may be behind it.
                let last = down.ring.back().map(|p| p.at);
                down.ring.push_copy(pkt);
                let place = down.ring.len() - 1;
                match last {
                    None => self.push(pkt.at, n, Turn::Act),
                    Some(last) if last >= pkt.at => self.sift(n, place),
                    Some(_) => {}
                }
                return false;
            }
            down.busy_until = down.ring.back().map_or(now, |p| down.end(p));
            down.pending_downstream += 1;
            (pkt.at, pkt.hop) = (begun, pkt.hop - 1);
            true
        });
        all.sort_by_key(|p| p.at);
        if let Some(first) = all.first() {
            self.push(first.at, i, Turn::Act);
        }
        let ring = &mut self.ports[i as usize].ring;
        all.into_iter().chain(waiting).for_each(|p| ring.push(p));
    }

    /// Starts the transmission of a packet at an upstream port.
    #[inline]
    pub(super) fn transmit_upstream<O: Observer>(&mut self, i: u32, pkt: &mut Packet, start: Time, obs: &mut O) {
        let port = &mut self.ports[i as usize];
        pkt.at = begin(port, &self.arena, i, pkt, start, obs);
        port.ring.push_copy(pkt);
        let place = port.ring.len() - 1;
        self.pass_on(i, place, pkt.hop);
        self.wake_if_missed(i, obs);
    }

    /// Arms the wake event of an upstream port whose next packet may start before those on its link have events.
    #[inline(always)]
    fn wake_if_missed<O: Observer>(&mut self, i: u32, obs: &O) {
        let port = &self.ports[i as usize];
        if port.queued && port.busy_until >= self.now && port.misses() {
            self.arm_wake(i, obs);
        }
    }

    /// Puts a packet on link `i` that was transmitted in another part.
    pub(crate) fn receive_remote(&mut self, i: u32, pkt: Packet) {
        let port = &mut self.ports[i as usize];
        port.ring.push(pkt);
        let (place, upstream) = (port.ring.len() - 1, port.role == Role::Upstream);
        if upstream {
            self.pass_on(i, place, pkt.hop);
        } else if place == 0 {
            self.push(pkt.at, i, Turn::Act);
        }
    }

    /// Forwards the last packet on an upstream link through the downstream port if that is free. `place`: in the ring; `hop`: of the packet.
    #[inline(always)]
    fn pass_on(&mut self, i: u32, place: usize, hop: u32) {
        let next = self.hops[hop as usize + 1];
        let Ok([port, down]) = self.ports.get_disjoint_mut([i as usize, next as usize]) else { return };
        let Some(pkt) = port.ring.get_mut(place) else { return };
        let slot = if cross(down, pkt, self.shortcuts.active) { next } else { i };
        let at = pkt.at;
        if place == 0 {
            self.push(at, slot, Turn::Act);
        } else if port.ring.get(place - 1).is_some_and(|before| before.at >= at) {
            self.sift(i, place);
        }
    }

    /// Moves the packet at `end` of a ring before those that arrive later.
    #[cold]
    fn sift(&mut self, i: u32, end: usize) {
        let key = |p: &Packet| (p.at, self.slots.order.number(p.at, self.hops[p.hop as usize], Turn::Act));
        let ring = &mut self.ports[i as usize].ring;
        let mut k = end;
        let Some(&pkt) = ring.get(k) else { return };
        while let Some(&before) = k.checked_sub(1).and_then(|j| ring.get(j)).filter(|p| key(p) > key(&pkt)) {
            if let Some(place) = ring.get_mut(k) {
                *place = before;
            }
            k -= 1;
        }
        if let Some(place) = ring.get_mut(k) {
            *place = pkt;
        }
        if k == 0 {
            // The event of the former head is stale, or serves it again later.
            self.push(pkt.at, self.hops[pkt.hop as usize], Turn::Act);
        }
        if end - k > FAR {
            self.ports[i as usize].release();
            let now = self.now;
            self.materialize_upstream(i, now, true);
        }
    }

    /// [`Self::on_port`] for a port that is or was upstream or downstream.
    #[inline]
    pub(super) fn on_shortcut<O: Observer>(&mut self, i: Slot, now: Time, pkt: &mut Packet, obs: &mut O) -> u32 {
        let from = self.ports[i as usize].upstream;
        let Ok([up, down]) = self.ports.get_disjoint_mut([from as usize, i as usize]) else { return self.on_own_ring(i, now, pkt, obs) };
        let Some(&head) = up.ring.front().filter(|head| head.at == now && self.hops[head.hop as usize] == i) else {
            return self.on_own_ring(i, now, pkt, obs);
        };
        up.ring.advance();
        let next = up.first().map(|p| (p.at, p.hop));
        let due = up.queued && (up.busy_until <= now || next.is_none_or(|(at, _)| at > up.busy_until.later(up.delay)));
        down.counters.sent_pkts += 1;
        down.counters.sent_bytes += u64::from(head.len);
        *pkt = head;
        if let Some((at, hop)) = next {
            self.push(at, self.hops[hop as usize], Turn::Act);
        }
        if due {
            self.settle::<O, false>(from, now, obs);
            self.wake_if_needed(from, obs);
        }
        self.forward(i, pkt, now, obs)
    }

    /// Takes a packet that has one event per hop off the ring of its own link, unless the event is stale.
    fn on_own_ring<O: Observer>(&mut self, i: Slot, now: Time, pkt: &mut Packet, obs: &mut O) -> u32 {
        match self.ports[i as usize].first() {
            Some(head) if head.at == now && self.hops[head.hop as usize] == i => *pkt = *head,
            _ => return NOWHERE,
        }
        if let Some(down) = self.ports.get_mut(self.hops[pkt.hop as usize + 1] as usize).filter(|p| p.upstream == i) {
            down.pending_downstream = down.pending_downstream.saturating_sub(1);
        }
        let port = &mut self.ports[i as usize];
        port.ring.advance();
        if let Some(&next) = port.first() {
            self.push(next.at, self.hops[next.hop as usize], Turn::Act);
        }
        self.wake_if_needed(i, obs);
        self.forward(i, pkt, now, obs)
    }
}

/// Moves a packet that will arrive at a downstream port on to the far end of its link, if it finds the port free. Returns true if so.
/// Otherwise the packet is pending there.
#[inline(always)]
fn cross<Q: Qdisc>(down: &mut Port<Q>, pkt: &mut Packet, active: bool) -> bool {
    let free = active && down.pending_downstream == 0 && !down.queued && down.busy_until <= pkt.at;
    if free {
        // `busy_until` may stay: it is read only when the next packet arrives, which finds the port free.
        pkt.at = down.tx_end(pkt, pkt.at).later(down.delay);
        pkt.hop += 1;
    } else {
        down.pending_downstream += 1;
    }
    free
}
