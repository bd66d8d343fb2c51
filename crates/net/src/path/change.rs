//! Queues and links that change during the run.

use super::Path;
use crate::ids::PortId;
use crate::observe::Observer;
use crate::order::Turn;
use crate::packet::{Arena, Ecn, Packet};
use crate::port::Role;
use crate::qdisc::{DropReason, QCx, Qdisc};
use fairlane_engine::{EventQueue, Stream};
use fairlane_units::{Dur, Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Treatment of the packets in a queue that is replaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Waiting {
    /// Packets move to the new queue, in departure order, as far as it takes them.
    #[default]
    Move,
    /// Packets are dropped.
    Drop,
}

/// The queue does not release its packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the queue does not let go of the packets that wait in it")]
pub struct Stuck;

/// Successive failed attempts to take a packet out of a queue.
const PATIENCE: u32 = 1000;

/// Packets of a queue in departure order, as they arrived: drops and marks that the queue would make are undone.
pub(crate) fn emptied<Q: Qdisc>(mut queue: Q, now: Time, arena: &Arena) -> Result<Vec<Packet>, Stuck> {
    let (mut rng, mut drops) = (Stream::new(0, "port", "", "emptied"), Vec::new());
    let (mut all, mut now, mut vain): (Vec<Packet>, _, _) = (Vec::new(), now, 0);
    while queue.backlog().pkts > 0 {
        let mut cx = QCx { now, rng: &mut rng, drops: &mut drops, marks: 0 };
        let left = queue.dequeue(&mut cx);
        let (marks, first) = (cx.marks, all.len());
        all.extend(drops.drain(..).map(|(p, _)| p).chain(left));
        if marks > 0 {
            for p in all[first..].iter_mut().filter(|p| p.ecn == Ecn::Ce) {
                p.ecn = arena.get(p.id).ecn();
            }
        }
        if all.len() > first {
            vain = 0;
        } else if vain == PATIENCE {
            return Err(Stuck);
        } else {
            // A shaper releases it later.
            vain += 1;
            now = queue.ready_at().filter(|&t| t > now && t < Time::MAX).unwrap_or(now + Dur::from_ms(1));
        }
    }
    Ok(all)
}

impl<Q: Qdisc, H: EventQueue> Path<Q, H> {
    /// Runs the timer of a queue that was set during the run.
    pub(crate) fn on_tick<O: Observer>(&mut self, i: u32, now: Time, obs: &mut O) {
        let next = self.tick(i, now, obs);
        self.ports[i as usize].set_tick(next);
        if let Some(next) = next {
            // No other event of a port has this turn.
            self.push(next, i, Turn::Look);
        }
    }
}

impl<Q: Qdisc + Clone, H: EventQueue> Path<Q, H> {
    /// Changes the rate of a link.
    pub(crate) fn set_rate<O: Observer>(&mut self, i: u32, rate: Rate, obs: &mut O) {
        let now = self.now;
        self.settle::<O, true>(i, now, obs);
        let port = &mut self.ports[i as usize];
        if let Some(ends) = port.set_rate(rate, now)
            && let Some(mut last) = port.ring.pop_back()
        {
            let previous = port.ring.back().map_or(Time::ZERO, |p| p.at);
            let at = port.moved(last.at, ends, previous);
            let moved = port.ring.is_empty() && at != last.at;
            last.at = at;
            port.ring.push(last);
            if moved {
                // The former event is stale: it finds another head, or none that is due.
                port.role = Role::SlowPath;
                self.push(at, i, Turn::Act);
            }
        }
        self.arm_wake(i, obs);
    }

    /// Replaces the queue of port `i`.
    pub(crate) fn set_queue<O: Observer>(&mut self, i: u32, queue: Q, waiting: Waiting, obs: &mut O) -> Result<(), Stuck> {
        let now = self.now;
        self.settle::<O, true>(i, now, obs);
        let port = &mut self.ports[i as usize];
        let packets = emptied(port.qdisc.clone(), now, &self.arena)?;
        port.reads_headers = queue.reads_headers();
        port.qdisc = queue;
        for p in packets {
            if waiting == Waiting::Drop {
                self.drop_packet(i, p, DropReason::Evicted, now, obs);
                continue;
            }
            let port = &mut self.ports[i as usize];
            if port.reads_headers {
                port.qdisc.on_header(self.arena.get(p.id));
            }
            let mut cx = QCx { now, rng: &mut port.rng, drops: &mut self.drops, marks: 0 };
            port.qdisc.enqueue(p, &mut cx);
            port.counters.mark(cx.marks);
            self.take_drops(i, now, obs);
        }
        let port = &mut self.ports[i as usize];
        let level = port.qdisc.backlog();
        port.queued = level.pkts > 0;
        port.counters.waiting().occupancy.change(now, level);
        if port.queued {
            port.busy_until = port.busy_until.max(now);
        }
        port.set_tick(None);
        if port.qdisc.has_timer() {
            self.on_tick(i, now, obs);
        }
        self.settle::<O, true>(i, now, obs);
        self.arm_wake(i, obs);
        Ok(())
    }

    /// Packets that wait at a port, in departure order.
    pub(crate) fn waiting(&self, port: PortId) -> Result<Vec<Packet>, Stuck> {
        emptied(self.ports[port.0 as usize].qdisc.clone(), self.now, &self.arena)
    }
}
