//! Events of wireless channels and of changing routes.

use super::{Components, World};
use crate::observe::Observer;
use crate::order::Turn;
use crate::path::Station;
use fairlane_engine::{EventQueue, Slot};
use fairlane_units::Time;

impl<P: Components, H: EventQueue> World<P, H> {
    /// Processes an event of a channel or of changing routes.
    #[inline(never)]
    pub(super) fn on_air<O: Observer>(&mut self, slot: Slot, now: Time, obs: &mut O) {
        if slot == self.path.slots.routes {
            return self.on_routes(now);
        }
        let k = self.airs.partition_point(|c| c.slot <= slot) - 1;
        let Some(channel) = self.airs.get_mut(k) else { return };
        let mut above = Station { path: &mut self.path, first: channel.first, obs };
        channel.air.on_event(slot - channel.slot, now, &mut above, &mut self.pending);
        self.after_air(k, now, obs);
    }

    /// Carries out changes of routes that are due.
    #[cold]
    fn on_routes(&mut self, now: Time) {
        while let Some(change) = self.reroutes.due(now) {
            self.sides[change.ep as usize].route = change.route;
        }
        if let Some(next) = self.reroutes.next() {
            self.path.push(next, self.path.slots.routes, Turn::Act);
        }
    }

    /// Processes the wake event of a port.
    #[cold]
    pub(super) fn on_wake<O: Observer>(&mut self, port: Slot, now: Time, obs: &mut O) {
        if !self.path.ports[port as usize].is_on_air() {
            return self.path.on_wake(port, now, obs);
        }
        self.path.ports[port as usize].wake = Time::MAX;
        let k = self.airs.partition_point(|c| c.first <= port) - 1;
        let Some(channel) = self.airs.get_mut(k) else { return };
        let mut above = Station { path: &mut self.path, first: channel.first, obs };
        channel.air.ready(port - channel.first, now, &mut above, &mut self.pending);
        self.after_air(k, now, obs);
    }

    /// Queues the events that a channel requested, and delivers its packets.
    fn after_air<O: Observer>(&mut self, k: usize, now: Time, obs: &mut O) {
        let first = self.airs[k].slot;
        for (time, slot) in self.pending.0.drain(..) {
            self.path.push(time, first + slot, Turn::Act);
        }
        self.receive_copies(now, obs);
    }
}
