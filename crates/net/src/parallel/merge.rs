//! Merges parts into one world, equal to the one that an undivided run leaves.

use super::{ParallelWorld, ROUNDS, lock};
use crate::packet::Arena;
use crate::stats::FlowCounters;
use crate::world::{Components, World};
use fairlane_engine::EventQueue;
use fairlane_units::Time;
use std::sync::PoisonError;

impl<P: Components, H: EventQueue> ParallelWorld<P, H> {
    /// Merges the parts into one world, which can be read but not run.
    pub fn merge(self) -> World<P, H> {
        let now = self.now.unwrap_or(Time::ZERO);
        for round in 0..ROUNDS {
            for (i, part) in self.parts.iter().enumerate() {
                let (mut part, window) = (lock(part), self.window + round);
                self.receive_mail(&mut part, i, window);
                if round == 0 {
                    part.settle(now);
                }
                self.send_mail(&mut part, i, window);
            }
        }
        let mut worlds: Vec<World<P, H>> =
            self.parts.into_iter().map(|p| p.into_inner().unwrap_or_else(PoisonError::into_inner).finish()).collect();
        // The first part takes over what the others own.
        let (mut whole, cut) = (worlds.remove(0), self.partition);
        for (i, (&near, &far)) in cut.near.iter().zip(&cut.far).enumerate() {
            let ring = std::mem::take(&mut part(&mut whole, &mut worlds, far).path.ports[i].ring);
            if near > 0 {
                std::mem::swap(&mut whole.path.ports[i], &mut worlds[near as usize - 1].path.ports[i]);
            }
            whole.path.ports[i].ring = ring;
        }
        for (ep, &home) in cut.ends.iter().enumerate().filter(|(_, home)| **home > 0) {
            let world = &mut worlds[home as usize - 1];
            std::mem::swap(&mut whole.endpoints[ep], &mut world.endpoints[ep]);
            std::mem::swap(&mut whole.sides[ep], &mut world.sides[ep]);
        }
        for (app, &home) in cut.hosts.iter().enumerate().filter(|(_, home)| **home > 0) {
            std::mem::swap(&mut whole.hosts[app], &mut worlds[home as usize - 1].hosts[app]);
        }
        for f in 0..whole.path.flows.len() {
            let [from, to] = [cut.ends[2 * f], cut.ends[2 * f + 1]];
            let mut counters: Vec<FlowCounters> =
                std::iter::once(&mut whole).chain(&mut worlds).map(|w| std::mem::take(&mut w.path.flows[f].counters)).collect();
            let far = &part(&mut whole, &mut worlds, to).path.flows[f];
            let (completed, delivered) = (far.completed, far.delivered);
            if from > 0 {
                std::mem::swap(&mut whole.path.flows[f], &mut worlds[from as usize - 1].path.flows[f]);
            }
            let flow = &mut whole.path.flows[f];
            (flow.completed, flow.delivered, flow.counters) = (completed, delivered, counters.swap_remove(to as usize));
            // Each part counted only what happened in it.
            counters.iter().for_each(|c| flow.counters.merge(c));
        }
        let (mut alive, mut peak) = (whole.path.arena.len(), whole.path.arena.peak());
        for world in &worlds {
            alive += world.path.arena.len();
            peak += world.path.arena.peak();
            whole.events_run += world.events_run;
            whole.fingerprint = whole.fingerprint.wrapping_add(world.fingerprint);
            whole.path.hops_before_reset += world.path.hops_before_reset;
        }
        whole.path.arena = Arena::of(alive, peak);
        whole
    }
}

/// World of part `i`; part 0 is `whole`.
fn part<'a, P: Components, H: EventQueue>(whole: &'a mut World<P, H>, others: &'a mut [World<P, H>], i: u16) -> &'a mut World<P, H> {
    match i {
        0 => whole,
        _ => &mut others[i as usize - 1],
    }
}
