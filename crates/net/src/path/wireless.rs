//! Ports of wireless stations: a station takes packets from its port, and hands received packets to the receiving node.

use super::Path;
use super::measure;
use crate::hop::{NOWHERE, place};
use crate::ids::PortId;
use crate::observe::{DequeueEvent, FrameEvent, Interest, Observer};
use crate::order::Turn;
use crate::packet::{Packet, Segment};
use crate::qdisc::{DropReason, QCx, Qdisc};
use fairlane_engine::{EventQueue, Slot};
use fairlane_units::Time;
use fairlane_wireless::mac::OVERHEAD;
use fairlane_wireless::{Above, Frame, Kind, Msdu, Power};

/// Ports above the stations of one channel. The ring of a port holds the packet that its station is sending.
pub(crate) struct Station<'a, Q, H, O> {
    pub(crate) path: &'a mut Path<Q, H>,
    /// Port of the channel's first station.
    pub(crate) first: u32,
    pub(crate) obs: &'a mut O,
}

impl<Q: Qdisc, H: EventQueue, O: Observer> Above for Station<'_, Q, H, O> {
    fn next(&mut self, station: u32, now: Time) -> Option<Msdu> {
        let i = self.first + station;
        let pkt = self.path.take_for_air(i, now, self.obs)?;
        let to = self.path.towards[if self.path.forwarding.is_some() { place(pkt.hop) } else { pkt.hop } as usize];
        Some(Msdu { handle: u64::from(i) << 32 | u64::from(pkt.id.0), to, bytes: pkt.len + OVERHEAD })
    }
    fn deliver(&mut self, station: u32, msdu: Msdu, now: Time) {
        let i = (msdu.handle >> 32) as u32;
        let Some(mut pkt) = self.path.ports[i as usize].ring.pop() else { return };
        let back = self.first + station;
        if self.path.ports[back as usize].qdisc.clamps() {
            self.path.clamp(back, &pkt, now, self.obs);
        }
        let ep = self.path.forward_any(i, &mut pkt, now, self.obs);
        if ep != NOWHERE {
            self.path.copies.push((ep, pkt));
        }
    }
    #[inline]
    fn sends(&mut self, station: u32, frame: &Frame, now: Time) {
        let port = PortId(self.first + station);
        if self.obs.wants_at(port, Interest::FRAME) {
            // None if the receiver already has the packet.
            let pkt = self.path.ports[port.0 as usize].ring.front().copied().filter(|_| frame.kind == Kind::Data);
            let packet = pkt.map(|p| (p, *self.path.arena.get(p.id)));
            self.obs.on_frame(&self.event(station, frame, None, packet, now));
        }
    }
    #[inline]
    fn hears(&mut self, station: u32, frame: &Frame, power: Power, now: Time) {
        if self.obs.wants_at(PortId(self.first + station), Interest::FRAME) {
            self.obs.on_frame(&self.event(station, frame, Some(power), None, now));
        }
    }
    fn give_up(&mut self, station: u32, _: Msdu, now: Time) {
        let i = self.first + station;
        if let Some(pkt) = self.path.ports[i as usize].ring.pop() {
            self.path.drop_packet(i, pkt, DropReason::Retry, now, self.obs);
        }
    }
}

impl<Q, H, O> Station<'_, Q, H, O> {
    fn event(&self, station: u32, frame: &Frame, heard: Option<Power>, packet: Option<(Packet, Segment)>, time: Time) -> FrameEvent {
        let [port, from, to] = [station, frame.from, frame.to].map(|s| PortId(self.first + s));
        FrameEvent { time, port, from, to, frame: *frame, heard, packet }
    }
}

impl<Q: Qdisc, H: EventQueue> Path<Q, H> {
    /// Takes the next packet of the queue of port `i` for its station to send.
    fn take_for_air<O: Observer>(&mut self, i: u32, now: Time, obs: &mut O) -> Option<Packet> {
        let port = &mut self.ports[i as usize];
        if !port.queued {
            return None;
        }
        let mut cx = QCx { now, rng: &mut port.rng, drops: &mut self.drops, marks: 0 };
        let left = port.qdisc.dequeue(&mut cx);
        port.counters.mark(cx.marks);
        let level = port.qdisc.backlog();
        port.counters.waiting().occupancy.change(now, level);
        port.queued = level.pkts > 0;
        if !self.drops.is_empty() {
            self.take_drops(i, now, obs);
        }
        let port = &mut self.ports[i as usize];
        let Some(pkt) = left else {
            // A shaper delays it.
            if let Some(at) = port.qdisc.ready_at().filter(|&t| port.queued && t > now && t < port.wake) {
                port.wake = at;
                self.push(at, i, Turn::Depart);
            }
            return None;
        };
        if obs.wants_at(PortId(i), Interest::PORT) {
            obs.on_dequeue(&DequeueEvent { time: now, port: PortId(i), pkt, backlog: level, seg: *self.arena.get(pkt.id) });
            measure(port, i, now, obs);
        }
        let waited = (now - pkt.at).as_ps();
        if waited > 0 {
            port.counters.waiting().waits.add(waited);
        }
        port.counters.sent_pkts += 1;
        port.counters.sent_bytes += u64::from(pkt.len);
        port.ring.push(Packet { at: now, ..pkt });
        Some(pkt)
    }

    /// Wakes the idle station of port `i` at this instant, because a packet waits. A busy station asks by itself.
    pub(super) fn call_station(&mut self, i: Slot) {
        let port = &mut self.ports[i as usize];
        if port.queued && port.ring.is_empty() && port.wake > self.now {
            port.wake = self.now;
            self.push(self.now, i, Turn::Depart);
        }
    }
}
