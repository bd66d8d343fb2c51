//! Failures and repairs of links.

use super::{Components, World};
use crate::observe::Observer;
use crate::order::Turn;
use fairlane_engine::EventQueue;
use fairlane_units::Time;

impl<P: Components, H: EventQueue> World<P, H> {
    /// Carries out failures, repairs and changes of routes that are due.
    #[cold]
    pub(super) fn on_outage<O: Observer>(&mut self, now: Time, obs: &mut O) {
        let Some(outages) = &mut self.outages else { return };
        let changes = outages.changes.clone();
        while let Some(change) = changes.get(outages.next).filter(|c| c.at <= now) {
            outages.next += 1;
            change.close.iter().for_each(|&i| self.path.close(i, now, obs));
            if let (Some(table), Some(forwarding)) = (change.routes, &mut self.path.forwarding) {
                forwarding.activate(table);
            }
            change.open.iter().for_each(|&i| self.path.open(i, now, obs));
        }
        if let Some(next) = changes.get(outages.next) {
            self.path.push(next.at, self.path.slots.outages, Turn::Act);
        }
    }
}
