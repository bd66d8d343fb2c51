//! The far end of a link on the slow path: losses, duplicates, late packets, rewritten windows, stale events.

use super::Path;
use crate::hop::NOWHERE;
use crate::ids::PortId;
use crate::impair::{Guard, Header, Outcome};
use crate::observe::Observer;
use crate::order::Turn;
use crate::packet::{Packet, Proto, flag};
use crate::qdisc::{DropReason, Qdisc};
use fairlane_engine::EventQueue;
use fairlane_units::Time;

impl<Q: Qdisc, H: EventQueue> Path<Q, H> {
    /// [`Self::on_port`] for a link that is impaired, can fail, had another rate, or leads into dynamic routes.
    #[inline(never)]
    pub(super) fn on_slow_path<O: Observer>(&mut self, i: u32, now: Time, pkt: &mut Packet, obs: &mut O) -> u32 {
        let port = &mut self.ports[i as usize];
        // The event is stale if an outage took its packet, or a change of the rate moved it.
        if port.ring.front().is_none_or(|p| p.at > now) {
            return NOWHERE;
        }
        let Some(next) = port.take(pkt) else { return NOWHERE };
        self.arm_head(i, next, obs);
        if self.ports[i as usize].impair().is_none() {
            return self.forward_any(i, pkt, now, obs);
        }
        self.impaired(i, pkt, now, obs)
    }

    /// Applies the impairments of link `i` to a packet that crossed it.
    #[cold]
    fn impaired<O: Observer>(&mut self, i: u32, pkt: &mut Packet, now: Time, obs: &mut O) -> u32 {
        let port = &mut self.ports[i as usize];
        let Some(imp) = port.impair_mut() else { return NOWHERE };
        let Outcome { lost, twice, ecn, class, .. } = imp.outcome(now, Outcome::of(pkt));
        let (clamped_by, guard) = (imp.clamped_by, imp.guard);
        if lost || guard.is_some_and(|g| !self.passes_nat(g, pkt, now)) {
            self.drop_packet(i, *pkt, DropReason::Link, now, obs);
            return NOWHERE;
        }
        pkt.class = class;
        if pkt.ecn != ecn {
            pkt.ecn = ecn;
            self.arena.get_mut(pkt.id).set_ecn(ecn);
        }
        if let Some(PortId(by)) = clamped_by {
            self.clamp(by, pkt, now, obs);
        }
        if twice {
            self.ports[i as usize].counters.duplicates += 1;
            let flow = &mut self.flows[self.places[pkt.flow.0 as usize] as usize];
            flow.in_network = flow.in_network.wrapping_add(1);
            let seg = *self.arena.get(pkt.id);
            let mut copy = Packet { id: self.arena.insert(&seg), ..*pkt };
            let ep = self.leave(i, &mut copy, now, obs);
            if ep != NOWHERE {
                self.copies.push((ep, copy));
            }
        }
        let ep = self.leave(i, pkt, now, obs);
        if twice && ep == NOWHERE {
            // The link held the original and delivered the copy: return the copy.
            if let Some((ep, copy)) = self.copies.pop() {
                *pkt = copy;
                return ep;
            }
        }
        ep
    }

    /// Forwards a packet that was not lost, or holds it in the reorder buffer of the link.
    fn leave<O: Observer>(&mut self, i: u32, pkt: &mut Packet, now: Time, obs: &mut O) -> u32 {
        let port = &mut self.ports[i as usize];
        if let Some((buffer, at)) = port.impair_mut().and_then(|imp| imp.late_arrival(now, pkt.len)) {
            let number = buffer.number();
            // A packet that arrives at the instant of earlier ones comes after them.
            if at > now || buffer.is_due(now) {
                let slot = buffer.slot;
                if buffer.hold(*pkt, number, at) {
                    self.push(at, slot, Turn::Act);
                }
                return NOWHERE;
            }
            port.counters.reordered += u64::from(buffer.arrived(pkt, number));
        }
        self.forward_any(i, pkt, now, obs)
    }

    /// Forwards the next due packet of the reorder buffer of link `i`. Returns where it goes, as [`Self::on_port`] does; `None` if no more are due.
    pub(crate) fn on_late<O: Observer>(&mut self, i: u32, now: Time, pkt: &mut Packet, obs: &mut O) -> Option<u32> {
        let port = &mut self.ports[i as usize];
        let buffer = port.impair_mut().and_then(|imp| imp.reorder_buffer.as_mut())?;
        buffer.disarm(now);
        let Some((held, number)) = buffer.due(now) else {
            let slot = buffer.slot;
            if let Some(next) = buffer.next() {
                self.push(next, slot, Turn::Act);
            }
            return None;
        };
        *pkt = held;
        port.counters.reordered += u64::from(buffer.arrived(pkt, number));
        Some(self.forward_any(i, pkt, now, obs))
    }

    /// True if the NAT behind which the link is lets a packet pass.
    fn passes_nat(&mut self, guard: Guard, pkt: &Packet, now: Time) -> bool {
        let seg = self.arena.get(pkt.id);
        let header = Header { outward: guard.outward, begins: seg.has(flag::SYN), ends: seg.has(flag::FIN) || seg.has(flag::RST) };
        let PortId(at) = guard.port;
        self.ports[at as usize].impair_mut().is_none_or(|imp| imp.nat_passes(pkt, header, now))
    }

    /// Lowers the window of an acknowledgement to the clamp that the queue of port `by` sets for its flow. A closed window stays closed;
    /// segments of a handshake are not changed.
    pub(super) fn clamp<O: Observer>(&mut self, by: u32, pkt: &Packet, now: Time, obs: &mut O) {
        self.settle::<O, false>(by, now, obs);
        let Some(most) = self.ports[by as usize].qdisc.window_clamp(pkt.flow) else { return };
        let seg = self.arena.get_mut(pkt.id);
        if pkt.proto == Proto::Tcp && seg.has(flag::ACK) && !seg.has(flag::SYN) && !seg.has(flag::RST) {
            seg.wnd = seg.wnd.min(most);
        }
    }
}
