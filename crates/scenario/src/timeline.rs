//! The course of a run: where it stops on its way, at the end of the warm-up and at changes of the network, and what it does there.

use crate::changes::{self, Task};
use crate::components::BuiltIn;
use crate::resolved::{Change, Resolved};
use crate::run_error::RunError;
use crate::spec::AtSpec;
use fairlane_engine::EventQueue;
use fairlane_net::{Observer, Waiting, World};
use fairlane_units::Time;
use std::sync::Arc;

/// The course of a run.
#[derive(Clone, Debug)]
pub(crate) struct Timeline {
    seed: u64,
    warmup: Time,
    warm: bool,
    /// Changes that are still to come, the next one last; and what they say.
    changes: Vec<Change>,
    specs: Vec<AtSpec>,
    /// Flows that a change lets stop or begin again, the next one last.
    tasks: Vec<Task>,
    /// The scenario as it stands, if anything has changed.
    state: Option<Arc<Resolved>>,
}

impl Timeline {
    /// That of a run which begins.
    pub(crate) fn new(scenario: &Resolved, seed: u64) -> Self {
        let (changes, specs) = (scenario.changes.iter().rev().cloned().collect(), scenario.at.iter().rev().cloned().collect());
        Self { seed, warmup: Time::ZERO + scenario.warmup, warm: false, changes, specs, tasks: Vec::new(), state: None }
    }

    /// The scenario as it stands.
    pub(crate) fn state<'a>(&'a self, scenario: &'a Resolved) -> &'a Resolved {
        self.state.as_deref().unwrap_or(scenario)
    }

    /// When it stops next, at `end` the latest.
    fn next(&self, end: Time) -> Time {
        let warm = if self.warm { Time::MAX } else { self.warmup };
        let change = self.changes.last().map_or(Time::MAX, |t| t.time);
        let task = self.tasks.last().map_or(Time::MAX, |t| t.time);
        warm.min(change).min(task).min(end)
    }

    /// Moves a world towards `end` by at most `budget` events; whether it is there, with all that is to be done there.
    ///
    /// # Errors
    /// Simulated time does not move any more; and see [`Self::change`].
    pub(crate) fn advance<H: EventQueue, O: Observer>(
        &mut self,
        scenario: &Resolved,
        world: &mut World<BuiltIn, H>,
        end: Time,
        budget: u64,
        obs: &mut O,
    ) -> Result<bool, RunError> {
        let target = self.next(end);
        let there = world.advance(target, budget, obs);
        if let Some(still) = world.standstill() {
            return Err(RunError::standing(self.state(scenario), self.seed, still));
        }
        Ok(there && self.arrive(scenario, world, obs)? && target == end)
    }

    /// Does what is due; false where events of this instant may follow from it.
    fn arrive<H: EventQueue, O: Observer>(
        &mut self,
        scenario: &Resolved,
        world: &mut World<BuiltIn, H>,
        obs: &mut O,
    ) -> Result<bool, RunError> {
        let now = world.now();
        let mut quiet = true;
        if !self.warm && now >= self.warmup {
            self.warm = true;
            if now > Time::ZERO {
                world.reset_counters(obs);
            }
        }
        quiet &= !self.work(scenario, world, obs);
        while self.changes.last().is_some_and(|t| t.time <= now) {
            self.specs.pop();
            if let Some(change) = self.changes.pop() {
                self.change(scenario, change.state, change.waiting, world, obs)?;
                quiet = false;
            }
        }
        Ok(quiet)
    }

    /// Lets flows stop or begin again that are due; whether there were any.
    fn work<H: EventQueue, O: Observer>(&mut self, scenario: &Resolved, world: &mut World<BuiltIn, H>, obs: &mut O) -> bool {
        let (now, before) = (world.now(), self.tasks.len());
        let state = self.state.as_deref().unwrap_or(scenario);
        let mut members = None;
        while let Some(&Task { flow, begins, .. }) = self.tasks.last().filter(|t| t.time <= now) {
            self.tasks.pop();
            if begins {
                let members = members.get_or_insert_with(|| state.members_at(self.seed));
                let (app, ends) = crate::build::again(state, members, flow, self.seed, now);
                world.begin(flow, app, ends, obs);
            } else {
                world.stop(flow, obs);
            }
        }
        self.tasks.len() < before
    }

    /// Changes the network at the present.
    ///
    /// # Errors
    /// A queue does not let go of its packets.
    pub(crate) fn change<H: EventQueue, O: Observer>(
        &mut self,
        scenario: &Resolved,
        next: Arc<Resolved>,
        waiting: Waiting,
        world: &mut World<BuiltIn, H>,
        obs: &mut O,
    ) -> Result<(), RunError> {
        let now = self.state.take();
        let now = now.as_deref().unwrap_or(scenario);
        let tasks = changes::change(world, (now, &next), waiting, self.seed, obs)
            .map_err(|e| RunError::Change(format!("the network cannot change at {}: {e}", changes::shown(world.now()))))?;
        // Of each flow the newest one is in force; of several at one time the first comes first.
        self.tasks.retain(|old| tasks.iter().all(|new| new.flow != old.flow));
        for task in tasks {
            let place = self.tasks.partition_point(|t| t.time > task.time);
            self.tasks.insert(place, task);
        }
        self.state = Some(next);
        self.work(scenario, world, obs);
        Ok(())
    }

    /// The changes of the scenario that are still to come, from another state on.
    ///
    /// # Errors
    /// They do not fit it.
    pub(crate) fn relaid(&self, next: &Resolved) -> Result<Vec<Change>, crate::diag::Diagnostics> {
        let specs: Vec<AtSpec> = self.specs.iter().rev().cloned().collect();
        let mut changes = changes::relay(next, &specs)?;
        changes.reverse();
        Ok(changes)
    }

    /// Puts others in the place of the changes that are still to come.
    pub(crate) fn put(&mut self, changes: Vec<Change>) {
        self.changes = changes;
    }
}
