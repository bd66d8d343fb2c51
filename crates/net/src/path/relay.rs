//! Ports that make no packet wait: two hops with one event.
//!
//! What one link alone feeds, with a rate not above that of the port behind it, finds the transmitter there free. So when a packet's transmission begins on the link before
//! (the *feeder*), it is known when it reaches the far end of the link behind (the *relay*), and nothing is decided on the way. Such a packet stays on the feeder's
//! ring until then, with the hop and the time of the relay's link, and its event is the one that the relay would have had: the ring is in the order of time and of ties,
//! and its head has the event of whatever port its hop names. What the event in between would have done, the relay's counters apart, is nothing; they are counted at the far end.
//!
//! A short packet behind a long one may come before that has left after all. Then, and where a packet has to wait for one that goes the long way, it goes the
//! long way, too. All this is within the loop: when `advance` returns, or the parts of a network are put together, each packet is on the ring of the link that it is on ([`Path::part_all`]), so that whoever reads or
//! changes a port sees nothing of it. Only the sampler looks while the loop runs: for it packets are counted that have begun on a relay by then ([`Path::count_begun`]).

use super::{Path, begin};
use crate::hop::{END, NOWHERE};
use crate::ids::PortId;
use crate::observe::Observer;
use crate::order::Turn;
use crate::packet::Packet;
use crate::port::{LONGEST, Port};
use crate::qdisc::{Backlog, Qdisc};
use fairlane_engine::{EventQueue, Slot};
use fairlane_units::{Dur, Time};

/// Places that a packet may go before others on a ring until its feeder is taken for one whose packets are too mixed for this.
const FAR: usize = 64;
/// A packet on a link shorter than its transmission would cost events of its own to be on time.
const COMMON: u64 = 1500;

/// What the loop knows of the ports where packets have a shorter way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Relays {
    /// Ports that feed others.
    pub(super) feeders: Vec<u32>,
    /// Ports on whose ring packets wait, or did a while ago; out of the loop those on whose ring they did.
    pub(super) lined: Vec<u32>,
    /// Whether packets take the short way: while a loop runs whose observer does not see them on it.
    pub(crate) on: bool,
    /// Whether ports were chosen for an observer, who sees nothing of them.
    pub(crate) unseen: bool,
    /// Feeders with a relay that is sampled.
    sampled: Vec<u32>,
    /// By the number of the feeder how far its ring has been counted; empty where nothing is sampled.
    marks: Vec<Mark>,
    /// Relays that were sending a packet of a feeder's ring at the last sample, and until when.
    sending: Vec<(u32, Time)>,
    /// Bytes of the longest packet that was overtaken on a ring.
    longest: u32,
}

/// What has been counted of a feeder's ring for samples: packets that have begun on a relay by the last one.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    /// When one of no length that began at that sample is at the far end.
    seen: Time,
    /// So many packets at the head need no look any more: they have left their relay, or go the long way. One that comes before them goes
    /// the long way, too: it is on the link of the feeder yet.
    done: usize,
    /// Packets that had gone from the head then.
    gone: u64,
    /// Which of [`Relays::sending`] are on it.
    sending: (usize, usize),
}

impl Mark {
    /// Whether a packet that passes a relay has been counted there.
    #[inline]
    fn counted<Q: Qdisc>(&self, pkt: &Packet, relay: &Port<Q>) -> bool {
        pkt.at <= self.seen.later(relay.tx_time(pkt.len))
    }
    /// How many packets at the head need no look when so many have gone.
    fn done(&self, gone: u64) -> usize {
        self.done.saturating_sub(gone.wrapping_sub(self.gone) as usize)
    }
}

/// Packets that a feeder has sent and that have gone from its ring, from some number on: so nobody needs to count them as they go.
fn gone<Q>(feeder: &Port<Q>) -> u64 {
    let under_way = feeder.ring.len() - feeder.held.pkts as usize;
    feeder.counters.sent_pkts.wrapping_sub(under_way as u64)
}

impl<Q: Qdisc, H: EventQueue> Path<Q, H> {
    /// Finds feeders and their relays: all that a feeder feeds are alike, so that packets hardly overtake one another on its ring. What an observer sees, or must be no
    /// relay for another reason, is told by `watched`; at the far end of which links somebody looks at packets, by `looks`.
    pub(crate) fn find_relays(&mut self, watched: &[u32], looks: impl Fn(u32) -> bool) {
        if self.maze.is_some() {
            return;
        }
        // Of each port the one before it, or none where there are several or an endpoint; and the ports behind it.
        let (mut before, mut behind) = (vec![None; self.ports.len()], vec![Vec::new(); self.ports.len()]);
        let mut seen = vec![false; self.ports.len()];
        watched.iter().for_each(|&i| seen[i as usize] = true);
        let mut last = END;
        for &hop in &self.hops {
            if hop & END == 0 {
                let known = before[hop as usize].get_or_insert(last);
                if *known != last {
                    *known = END;
                }
            }
            // One endpoint is as good as any.
            let on = hop.min(END);
            if last & END == 0 && behind[last as usize].last() != Some(&on) {
                behind[last as usize].push(on);
            }
            last = hop;
        }
        for f in 0..self.ports.len() as u32 {
            let (feeder, next) = (&self.ports[f as usize], &mut behind[f as usize]);
            next.sort_unstable();
            next.dedup();
            let is_plain = |p: &Port<Q>| p.is_plain() && !p.tied;
            let Some(first) = next.first().and_then(|&n| self.ports.get(n as usize)).map(Port::link) else { continue };
            let room = feeder.link().rate.tx_time(COMMON) <= feeder.link().delay;
            let fits = |&n: &u32| {
                let relay = &self.ports.get(n as usize);
                relay.is_some_and(|r| {
                    is_plain(r) && r.link() == first && r.qdisc.tail().is_some_and(|t| t.admits(Backlog::default(), LONGEST))
                }) && before[n as usize] == Some(f)
                    && !seen[n as usize]
            };
            if room && !looks(f) && is_plain(feeder) && first.rate >= feeder.link().rate && next.iter().all(fits) {
                for &n in &*next {
                    (self.ports[n as usize].tied, self.ports[n as usize].fed_by) = (true, f);
                }
                (self.ports[f as usize].tied, self.ports[f as usize].feeds) = (true, true);
                self.relays.feeders.push(f);
            }
        }
    }

    /// Ports whose counters are read in the loop: at the instant of a sample, after [`Self::count_begun`].
    pub(crate) fn find_sampled(&mut self, ports: &[u32]) {
        let mut feeders: Vec<u32> = ports.iter().map(|&i| self.ports[i as usize].fed_by).filter(|&f| f != u32::MAX).collect();
        feeders.sort_unstable();
        feeders.dedup();
        self.relays.marks = vec![Mark::default(); if feeders.is_empty() { 0 } else { self.ports.len() }];
        self.relays.sampled = feeders;
    }

    /// Packets of a port go the long way from now on, those that it feeds and those that it is fed, and wait in its queue. Between two calls of `advance` only.
    pub(crate) fn untie(&mut self, i: u32) {
        let port = &mut self.ports[i as usize];
        port.feeds = false;
        port.set_lane(None);
        let fed_by = std::mem::replace(&mut port.fed_by, u32::MAX);
        if let Some(feeder) = self.ports.get_mut(fed_by as usize) {
            feeder.feeds = false;
        }
    }

    /// The same for all ports of a world that has not begun.
    pub(crate) fn untie_all(&mut self) {
        self.relays = Relays::default();
        for port in &mut self.ports {
            (port.tied, port.feeds, port.fed_by) = (false, false, u32::MAX);
            port.set_lane(None);
        }
    }

    /// Ports that do not feed others any more have nothing to part with.
    pub(crate) fn forget_feeders(&mut self) {
        let ports = &self.ports;
        self.relays.feeders.retain(|&i| ports[i as usize].feeds);
    }

    /// Begins the transmission of a packet at a feeder.
    #[inline]
    pub(super) fn transmit_on<O: Observer>(&mut self, i: u32, pkt: &mut Packet, start: Time, obs: &mut O) {
        let next = self.hops[pkt.hop as usize + 1];
        let Ok([port, relay]) = self.ports.get_disjoint_mut([i as usize, next as usize]) else { return };
        pkt.at = begin(port, &self.arena, i, pkt, start, obs);
        let smooth = self.relays.on && !port.rough;
        let slot = if goes_on(relay, pkt, smooth) { next } else { i };
        self.place(i, pkt, slot);
        self.catch_up(i, obs);
    }

    /// A packet that will be at the far end of a feeder's link goes on to that of its relay, if it can. Returns the port whose event it has.
    pub(crate) fn pass_on(&mut self, i: u32, pkt: &mut Packet, smooth: bool) -> Slot {
        let next = self.hops[pkt.hop as usize + 1];
        if goes_on(&mut self.ports[next as usize], pkt, smooth) { next } else { i }
    }

    /// The next packet of a feeder may come before those on its link have their events.
    #[inline(always)]
    pub(super) fn catch_up<O: Observer>(&mut self, i: u32, obs: &O) {
        let port = &self.ports[i as usize];
        if port.queued && port.busy_until >= self.now && port.misses() {
            self.arm_wake(i, obs);
        }
    }

    /// Puts a packet on the ring of a feeder, in the order of time; its event is that of `slot`.
    #[inline(always)]
    pub(crate) fn place(&mut self, i: u32, pkt: &Packet, slot: Slot) {
        let ring = &mut self.ports[i as usize].ring;
        let last = ring.back().map_or(Time::ZERO, |p| p.at);
        ring.push_copy(pkt);
        if last >= pkt.at {
            let end = ring.len() - 1;
            self.sift(i, end);
        } else if last == Time::ZERO {
            self.push(pkt.at, slot, Turn::Act);
        }
    }

    /// The packet at `end` of a ring comes before others.
    #[cold]
    pub(super) fn sift(&mut self, i: u32, end: usize) {
        let key = |p: &Packet| (p.at, self.slots.order.number(p.at, self.hops[p.hop as usize], Turn::Act));
        let ring = &mut self.ports[i as usize].ring;
        let mut k = end;
        let Some(&pkt) = ring.get(k) else { return };
        let mut longest = self.relays.longest;
        while let Some(&before) = k.checked_sub(1).and_then(|j| ring.get(j)).filter(|p| key(p) > key(&pkt)) {
            if let Some(place) = ring.get_mut(k) {
                *place = before;
            }
            longest = longest.max(before.len);
            k -= 1;
        }
        if let Some(place) = ring.get_mut(k) {
            *place = pkt;
        }
        self.relays.longest = longest;
        if k == 0 {
            // That of the packet that was the first comes in vain, or is found again.
            self.push(pkt.at, self.hops[pkt.hop as usize], Turn::Act);
        }
        if end - k > FAR {
            self.ports[i as usize].feeds = false;
            let now = self.now;
            self.part(i, now, true);
        }
    }

    /// A packet reaches the far end of the link of a feeder or of a relay.
    #[inline]
    pub(super) fn on_tied<O: Observer>(&mut self, i: Slot, now: Time, pkt: &mut Packet, obs: &mut O) -> u32 {
        let on = self.ports[i as usize].fed_by;
        let Ok([feeder, relay]) = self.ports.get_disjoint_mut([on as usize, i as usize]) else { return self.on_long_way(i, now, pkt, obs) };
        // What waits there has the hop of the feeder.
        let Some(&head) = feeder.ring.front().filter(|head| head.at == now && self.hops[head.hop as usize] == i) else {
            return self.on_long_way(i, now, pkt, obs);
        };
        feeder.ring.advance();
        let next = feeder.first().map(|p| (p.at, p.hop));
        let look = feeder.queued && (feeder.busy_until <= now || next.is_none_or(|(at, _)| at > feeder.busy_until.later(feeder.delay)));
        if self.relays.marks.get(on as usize).is_none_or(|mark| !mark.counted(&head, relay)) {
            relay.counters.sent_pkts += 1;
            relay.counters.sent_bytes += u64::from(head.len);
        }
        *pkt = head;
        if let Some((at, hop)) = next {
            self.push(at, self.hops[hop as usize], Turn::Act);
        }
        if look {
            self.settle::<O, false>(on, now, obs);
            self.wake_after(on, obs);
        }
        self.forward(i, pkt, now, obs)
    }

    /// The same of one that goes the long way, if there is any: its event may be one of before.
    fn on_long_way<O: Observer>(&mut self, i: Slot, now: Time, pkt: &mut Packet, obs: &mut O) -> u32 {
        match self.ports[i as usize].first() {
            Some(head) if head.at == now && self.hops[head.hop as usize] == i => *pkt = *head,
            _ => return NOWHERE,
        }
        // A relay has one fewer to wait for. Of a port that feeds no more they are not counted.
        if let Some(relay) = self.ports.get_mut(self.hops[pkt.hop as usize + 1] as usize).filter(|r| r.fed_by == i) {
            relay.ahead = relay.ahead.saturating_sub(1);
        }
        let port = &mut self.ports[i as usize];
        port.ring.advance();
        if let Some(&next) = port.first() {
            self.push(next.at, self.hops[next.hop as usize], Turn::Act);
        }
        self.wake_after(i, obs);
        self.forward(i, pkt, now, obs)
    }

    /// Whether any port has a shorter way for packets.
    pub(crate) fn has_short_ways(&self) -> bool {
        self.ports.iter().any(|p| p.feeds || p.lane.is_some())
    }

    /// All packets back to the rings of the links that they are on at the present, or to the queues where they wait; `last` is the number of the last event, if others of
    /// this instant are to come.
    pub(crate) fn part_all<O: Observer>(&mut self, last: Option<Slot>, obs: &mut O) {
        if !self.relays.on {
            return;
        }
        let now = self.now;
        for k in 0..self.relays.feeders.len() {
            let i = self.relays.feeders[k];
            self.settle::<O, false>(i, now, obs);
            let here = last.is_none_or(|last| self.slots.order.number(now, i, Turn::Act) <= last);
            self.part(i, now, here);
            self.wake_after(i, obs);
        }
        self.relays.on = false;
        self.queue_all();
    }

    /// The same for one feeder. Packets that reach a relay at this instant have done so if they are `here`.
    fn part(&mut self, i: u32, now: Time, here: bool) {
        let mark = self.relays.marks.get_mut(i as usize).map_or_else(Mark::default, |mark| {
            mark.done = 0;
            *mark
        });
        let port = &mut self.ports[i as usize];
        let under_way = port.ring.len() - port.held.pkts as usize;
        let ring = &mut port.ring;
        if ring.iter().all(|p| self.hops[p.hop as usize] == i) {
            return;
        }
        let mut all: Vec<Packet> = ring.iter().copied().collect();
        let waiting = all.split_off(under_way);
        ring.clear();
        all.retain_mut(|pkt| {
            let n = self.hops[pkt.hop as usize];
            if n == i {
                return true;
            }
            self.settle::<(), false>(n, now, &mut ());
            let relay = &mut self.ports[n as usize];
            let begun = relay.begun(pkt);
            if begun < now || begun == now && here {
                if !mark.counted(pkt, relay) {
                    relay.counters.sent_pkts += 1;
                    relay.counters.sent_bytes += u64::from(pkt.len);
                }
                // What came the long way may have gone after it by now.
                self.place(n, pkt, n);
                return false;
            }
            relay.busy_until = relay.ring.back().map_or(now, |p| relay.end(p));
            relay.ahead += 1;
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

    /// A sample is about to be taken: packets that have begun on a relay that is sampled are counted there. At its far end they are no more.
    ///
    /// Begun have those at the head of a feeder's ring, and further behind some that others have overtaken. What has left its relay, or
    /// goes the long way, is not looked at again: how many samples a packet passes does not matter. And behind a packet that has not begun there are none that have but those that were overtaken, so the look ends where these would be late.
    pub(crate) fn count_begun(&mut self, now: Time) {
        let Self { ports, hops, relays, .. } = self;
        let Relays { sampled, marks, sending, longest, on, .. } = relays;
        sending.clear();
        for &i in sampled.iter().filter(|_| *on) {
            let (feeder, mark) = (&mut ports[i as usize], &mut marks[i as usize]);
            let (under_way, gone) = (feeder.ring.len() - feeder.held.pkts as usize, gone(feeder));
            let mut k = mark.done(gone);
            mark.sending = (sending.len(), sending.len());
            let Some(first) = feeder.ring.get(k).filter(|_| feeder.feeds && k < under_way) else { continue };
            let n = hops[first.hop as usize + usize::from(hops[first.hop as usize] == i)];
            // Nothing here needs the ring in its place.
            let ring = std::mem::take(&mut feeder.ring);
            // All relays of a feeder have the same rate and delay.
            let alike = &ports[n as usize];
            let (delay, rate, ps) = (alike.delay, alike.link().rate, alike.ps_a_byte());
            let tx_time = |len: u32| ps.map_or_else(|| rate.tx_time(len.into()), |ps| Dur::from_ps(u64::from(len) * ps));
            let (begun, late) = (now.later(delay), now.later(delay + tx_time(*longest)));
            let mut done = None;
            while k < under_way
                && let Some(&Packet { at, len, hop, .. }) = ring.get(k)
            {
                let (n, tx) = (hops[hop as usize], tx_time(len));
                if n == i || at > begun.later(tx) {
                    if at > late {
                        break;
                    }
                    if n != i {
                        done = done.or(Some(k));
                    }
                } else {
                    if at > mark.seen.later(tx) {
                        let counters = &mut ports[n as usize].counters;
                        counters.sent_pkts += 1;
                        counters.sent_bytes += u64::from(len);
                    }
                    if at > begun {
                        done = done.or(Some(k));
                        sending.push((n, Time::ZERO + at.since(Time::ZERO + delay)));
                    }
                }
                k += 1;
            }
            *mark = Mark { seen: begun, done: done.unwrap_or(k), gone, sending: (mark.sending.0, sending.len()) };
            ports[i as usize].ring = ring;
        }
    }

    /// Until when a port that is sampled is at work, as far as packets have begun by now; after [`Self::count_begun`].
    #[inline]
    pub(crate) fn at_work(&self, i: u32, now: Time) -> Time {
        let port = &self.ports[i as usize];
        // While packets wait at a relay all others have begun.
        let ahead = port.busy_until > now && !port.queued && self.relays.on;
        if !ahead || !self.ports.get(port.fed_by as usize).is_some_and(|f| f.feeds) {
            return port.busy_until;
        }
        let (from, to) = self.relays.marks.get(port.fed_by as usize).map_or((0, 0), |mark| mark.sending);
        let sending = self.relays.sending.get(from..to).and_then(|some| some.iter().find(|(n, _)| *n == i));
        sending.map_or_else(|| port.ring.back().map_or(Time::ZERO, |p| port.end(p)), |(_, end)| *end)
    }

    /// A look at the queue of a feeder, where packets on its link come too late for it.
    #[inline]
    pub(super) fn wake_after<O: Observer>(&mut self, i: u32, obs: &O) {
        let port = &self.ports[i as usize];
        if port.queued && (port.is_idle() || port.misses() || (O::ON && obs.prompt(PortId(i)))) {
            self.arm_wake(i, obs);
        }
    }
}

/// Whether a packet that will be at a relay goes on to the far end of its link; else the relay has one to wait for.
#[inline(always)]
pub(super) fn goes_on<Q: Qdisc>(relay: &mut Port<Q>, pkt: &mut Packet, smooth: bool) -> bool {
    let free = smooth && relay.ahead == 0 && !relay.queued && !relay.rough && relay.busy_until <= pkt.at;
    if free {
        // Nobody asks the relay until the next packet comes, which will find it so.
        pkt.at = relay.tx_end(pkt, pkt.at).later(relay.delay);
        pkt.hop += 1;
    } else {
        relay.ahead += 1;
    }
    free
}
