//! Events at a port that no packet causes: wake events and qdisc timers; and qdisc gauges for observers.

use super::Path;
use crate::hop::NOWHERE;
use crate::ids::PortId;
use crate::observe::{GaugeEvent, Inside, Interest, Observer};
use crate::order::Turn;
use crate::port::Port;
use crate::qdisc::{QCx, Qdisc};
use fairlane_engine::{EventQueue, Slot};
use fairlane_units::Time;

impl<Q: Qdisc, H: EventQueue> Path<Q, H> {
    /// Returns true if a departure from port `i` may be due before any packet arrives or leaves its link: the link is empty (a shaper), the head
    /// of an upstream ring goes far, or an observer wants departures at their time.
    #[inline(always)]
    fn needs_wake<O: Observer>(&self, i: u32, obs: &O) -> bool {
        let port = &self.ports[i as usize];
        port.queued && (port.is_idle() || port.misses() || obs.wants_at(PortId(i), Interest::PROMPT))
    }

    /// Arms the wake event of port `i` if it needs one.
    #[inline(always)]
    pub(super) fn wake_if_needed<O: Observer>(&mut self, i: u32, obs: &O) {
        if self.needs_wake(i, obs) {
            self.arm_wake(i, obs);
        }
    }

    /// Arms the wake event of port `i` for its next departure, if it needs one.
    #[cold]
    pub(crate) fn arm_wake<O: Observer>(&mut self, i: u32, obs: &O) {
        if self.ports[i as usize].is_on_air() {
            return self.call_station(i);
        }
        if !self.needs_wake(i, obs) {
            return;
        }
        let port = &mut self.ports[i as usize];
        let start = port.next_start().max(self.now);
        if start < port.wake {
            port.wake = start;
            self.push(start, i, Turn::Depart);
        }
    }

    /// Handles the wake event of port `i`.
    #[cold]
    pub(crate) fn on_wake<O: Observer>(&mut self, i: Slot, now: Time, obs: &mut O) {
        let port = &mut self.ports[i as usize];
        port.wake = Time::MAX;
        if port.ticks(now) {
            self.on_tick(i, now, obs);
        }
        self.settle::<O, true>(i, now, obs);
        self.arm_wake(i, obs);
    }

    /// Handles the timer event of a queue discipline.
    pub(crate) fn on_clock<O: Observer>(&mut self, i: u32, slot: Slot, now: Time, obs: &mut O) {
        if i == NOWHERE {
            return;
        }
        if let Some(t) = self.tick(i, now, obs) {
            self.push(t, slot, Turn::Act);
        }
    }

    /// Runs the timer of the queue discipline of port `i`. Returns when it is due next.
    pub(crate) fn tick<O: Observer>(&mut self, i: u32, now: Time, obs: &mut O) -> Option<Time> {
        self.settle::<O, false>(i, now, obs);
        let port = &mut self.ports[i as usize];
        let mut cx = QCx { now, rng: &mut port.rng, drops: &mut self.drops, marks: 0 };
        let next = port.qdisc.on_timer(&mut cx);
        // Packets that the timer released start now, not earlier: see `accept_busy`.
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

/// Reports the gauges of a queue to an observer that wants them.
#[inline]
pub(crate) fn measure<Q: Qdisc, O: Observer>(port: &Port<Q>, i: u32, time: Time, obs: &mut O) {
    if obs.wants_at(PortId(i), Interest::GAUGE) {
        let of = Inside::Queue(PortId(i));
        port.qdisc.gauges(&mut |name, value| obs.on_gauge(&GaugeEvent { time, of, name, value }));
    }
}
