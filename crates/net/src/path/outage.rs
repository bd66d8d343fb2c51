//! Links that fail and come back.

use super::Path;
use crate::observe::Observer;
use crate::port::CLOSED;
use crate::qdisc::{DropReason, QCx, Qdisc};
use fairlane_engine::EventQueue;
use fairlane_units::Time;

/// Attempts to empty a queue that keeps postponing its next packet.
const PATIENCE: u32 = 1 << 20;

impl<Q: Qdisc, H: EventQueue> Path<Q, H> {
    /// Fails the link of port `i`: packets on the link and in the queue are lost, and the queue is reset.
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
        // Draws made here must not move the queue's random stream.
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
        if let Some(fresh) = port.failure_schedule().filter(|_| level.pkts == 0).map(|f| f.fresh.clone()) {
            port.qdisc = fresh;
        }
        port.queued = level.pkts > 0;
        port.counters.waiting().occupancy.change(now, level);
        port.busy_until = CLOSED;
        // In departure order.
        for (pkt, _) in std::mem::take(&mut self.drops) {
            self.drop_packet(i, pkt, DropReason::Down, now, obs);
        }
    }

    /// Restores the link of port `i`.
    #[cold]
    pub(crate) fn open<O: Observer>(&mut self, i: u32, now: Time, obs: &O) {
        self.ports[i as usize].busy_until = now;
        self.arm_wake(i, obs);
    }
}
