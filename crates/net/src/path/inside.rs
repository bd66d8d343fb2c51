//! Queues by themselves: their timers, and their inner variables for who watches them.

use super::Path;
use crate::hop::NOWHERE;
use crate::ids::PortId;
use crate::observe::{GaugeEvent, Inside, Observer};
use crate::order::Turn;
use crate::port::Port;
use crate::qdisc::{QCx, Qdisc};
use fairlane_engine::{EventQueue, Slot};
use fairlane_units::Time;

impl<Q: Qdisc, H: EventQueue> Path<Q, H> {
    /// The timer of a queue discipline.
    pub(crate) fn on_clock<O: Observer>(&mut self, i: u32, slot: Slot, now: Time, obs: &mut O) {
        if i == NOWHERE {
            return;
        }
        if let Some(t) = self.tick(i, now, obs) {
            self.push(t, slot, Turn::Act);
        }
    }

    /// The same, without its event: when the next is due.
    pub(crate) fn tick<O: Observer>(&mut self, i: u32, now: Time, obs: &mut O) -> Option<Time> {
        self.settle::<O, false>(i, now, obs);
        let port = &mut self.ports[i as usize];
        let mut cx = QCx { now, rng: &mut port.rng, drops: &mut self.drops, marks: 0 };
        let next = port.qdisc.on_timer(&mut cx);
        // What the timer has changed takes effect from now on, see `accept_busy`.
        if port.queued {
            port.busy_until = port.busy_until.max(now);
        }
        if !self.drops.is_empty() {
            let level = port.qdisc.backlog();
            port.counters.waiting().occupancy.change(now, level);
            port.queued = level.pkts > 0;
            self.take_drops(i, now, obs);
        }
        measure(&self.ports[i as usize], i, now, obs);
        next.filter(|&t| t > now)
    }
}

/// Tells of the inner variables of a queue, if somebody wants to hear of them.
#[inline]
pub(crate) fn measure<Q: Qdisc, O: Observer>(port: &Port<Q>, i: u32, time: Time, obs: &mut O) {
    if O::ON && obs.measures(PortId(i)) {
        let of = Inside::Queue(PortId(i));
        port.qdisc.gauges(&mut |name, value| obs.on_gauge(&GaugeEvent { time, of, name, value }));
    }
}
