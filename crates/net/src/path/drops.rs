//! Dropped packets: counters, loss events, and the report to an observer.

use super::{Path, measure};
use crate::ids::PortId;
use crate::observe::{DropEvent, Interest, Observer};
use crate::packet::{Packet, Proto};
use crate::qdisc::{DropReason, Qdisc};
use fairlane_engine::EventQueue;
use fairlane_units::Time;

impl<Q: Qdisc, H: EventQueue> Path<Q, H> {
    /// Carries out the drops of the last call of a queue discipline.
    #[cold]
    pub(crate) fn take_drops<O: Observer>(&mut self, i: u32, now: Time, obs: &mut O) {
        while let Some((pkt, why)) = self.drops.pop() {
            self.drop_packet(i, pkt, why, now, obs);
        }
    }

    /// Drops a packet at port `i`.
    pub(crate) fn drop_packet<O: Observer>(&mut self, i: u32, pkt: Packet, why: DropReason, now: Time, obs: &mut O) {
        let c = &mut self.ports[i as usize].counters;
        c.drops[why as usize] += 1;
        c.dropped_bytes += u64::from(pkt.len);
        let flow = &mut self.flows[self.places[pkt.flow.0 as usize] as usize];
        flow.in_network = flow.in_network.wrapping_sub(1);
        let f = &mut flow.counters;
        if pkt.data && !pkt.back {
            f.drops[why as usize] += 1;
            if pkt.proto == Proto::Tcp && why.by_queue() {
                if O::PART
                    && let Some(ledger) = obs.ledger()
                {
                    // Round-trip times of the flow may be measured in another part.
                    ledger.lost(i, pkt.flow, now);
                } else {
                    c.loss_events.lost(pkt.flow, now, if f.rtt.n == 0 { 0 } else { f.rtt.mean() as u64 });
                }
            }
        } else {
            f.other_drops += 1;
        }
        let seg = self.arena.remove(pkt.id);
        if obs.wants_at(PortId(i), Interest::PORT) {
            let backlog = self.ports[i as usize].backlog();
            obs.on_drop(&DropEvent { time: now, port: PortId(i), pkt, why, backlog, seg });
            measure(&self.ports[i as usize], i, now, obs);
        }
    }
}
