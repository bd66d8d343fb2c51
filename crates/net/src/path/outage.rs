//! Ports whose link fails and comes back.

use super::Path;
use crate::hop::NOWHERE;
use crate::observe::Observer;
use crate::packet::Packet;
use crate::port::CLOSED;
use crate::qdisc::{DropReason, QCx, Qdisc};
use fairlane_engine::EventQueue;
use fairlane_units::Time;

/// Looks at a queue that says it will hand out something later, until it is left as it is.
const PATIENCE: u32 = 1 << 20;

impl<Q: Qdisc, H: EventQueue> Path<Q, H> {
    /// The link of port `i` fails: what is on it and what waits before it is lost, and the queue is as new.
    #[cold]
    pub(crate) fn close<O: Observer>(&mut self, i: u32, now: Time, obs: &mut O)
    where
        Q: Clone,
    {
        self.settle::<O, false>(i, now, obs);
        while let Some(pkt) = self.ports[i as usize].ring.pop() {
            self.drop_packet(i, pkt, DropReason::Cut, now, obs);
        }
        while let Some(pkt) = self.ports[i as usize].take_late() {
            self.drop_packet(i, pkt, DropReason::Cut, now, obs);
        }
        let port = &mut self.ports[i as usize];
        port.cut(now);
        // The queue's luck stays what it would have been.
        let mut rng = port.rng.clone();
        let (mut at, mut looks) = (now, 0);
        loop {
            let mut cx = QCx { now: at, rng: &mut rng, drops: &mut self.drops, marks: 0 };
            if let Some(pkt) = port.qdisc.dequeue(&mut cx) {
                self.drops.push((pkt, DropReason::Down));
            } else if let Some(later) = port.qdisc.ready_at().filter(|_| port.qdisc.backlog().pkts > 0 && looks < PATIENCE) {
                (at, looks) = (at.max(later), looks + 1);
            } else {
                break;
            }
        }
        let level = port.qdisc.backlog();
        if let Some(fresh) = port.frail().filter(|_| level.pkts == 0).map(|f| f.fresh.clone()) {
            port.qdisc = fresh;
        }
        port.queued = level.pkts > 0;
        port.counters.waiting().occupancy.change(now, level);
        port.busy_until = CLOSED;
        // In the order in which they would have left.
        for (pkt, _) in std::mem::take(&mut self.drops) {
            self.drop_packet(i, pkt, DropReason::Down, now, obs);
        }
    }

    /// The link of port `i` carries packets again.
    #[cold]
    pub(crate) fn open<O: Observer>(&mut self, i: u32, now: Time, obs: &O) {
        self.ports[i as usize].busy_until = now;
        self.arm_wake(i, obs);
    }

    /// A packet reaches the far end of a link that does more than carry or had another rate, or in a world with ways of its own.
    #[inline(never)]
    pub(super) fn on_rough<O: Observer>(&mut self, i: u32, now: Time, pkt: &mut Packet, obs: &mut O) -> u32 {
        let port = &mut self.ports[i as usize];
        // An outage may have taken the packet that this event was for, a change of the rate moved it.
        if port.ring.front().is_none_or(|p| p.at > now) {
            return NOWHERE;
        }
        let Some(next) = port.take(pkt) else { return NOWHERE };
        self.go_on(i, next, obs);
        if self.ports[i as usize].impair().is_none() {
            return self.forward_any(i, pkt, now, obs);
        }
        self.impaired(i, pkt, now, obs)
    }
}
