//! Timeline of a run: the end of the warm-up, and changes of the network.

use crate::changes::{self, Task, links};
use crate::components::BuiltIn;
use crate::resolved::{Change, Resolved};
use crate::run_error::RunError;
use crate::spec::AtSpec;
use fairlane_engine::EventQueue;
use fairlane_net::{Observer, PortId, Stuck, Waiting, World};
use fairlane_units::Time;
use std::sync::Arc;

/// Timeline of a run.
#[derive(Clone, Debug)]
pub(crate) struct Timeline {
    seed: u64,
    warmup: Time,
    warm: bool,
    /// Pending changes and their specifications, the next one last.
    changes: Vec<Change>,
    specs: Vec<AtSpec>,
    /// Scheduled stops and restarts of flows, the next one last.
    tasks: Vec<Task>,
    /// Current scenario, if anything has changed.
    state: Option<Arc<Resolved>>,
}

impl Timeline {
    /// Timeline of a new run.
    pub(crate) fn new(scenario: &Resolved, seed: u64) -> Self {
        let (changes, specs) = (scenario.changes.iter().rev().cloned().collect(), scenario.at.iter().rev().cloned().collect());
        Self { seed, warmup: Time::ZERO + scenario.warmup, warm: false, changes, specs, tasks: Vec::new(), state: None }
    }

    /// Current scenario.
    pub(crate) fn state<'a>(&'a self, scenario: &'a Resolved) -> &'a Resolved {
        self.state.as_deref().unwrap_or(scenario)
    }

    /// Time of the next stop, at most `end`.
    fn next(&self, end: Time) -> Time {
        let warm = if self.warm { Time::MAX } else { self.warmup };
        let change = self.changes.last().map_or(Time::MAX, |t| t.time);
        let task = self.tasks.last().map_or(Time::MAX, |t| t.time);
        warm.min(change).min(task).min(end)
    }

    /// Advances a world towards `end` by at most `budget` events; returns true once it is there with everything done.
    ///
    /// # Errors
    /// Simulated time stands still; see also [`Self::change`].
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

    /// Does everything that is due; returns false if more events of this instant may follow.
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

    /// Stops and restarts flows that are due; returns true if there were any.
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

    /// Changes the network at the current time.
    ///
    /// # Errors
    /// A queue does not release its packets.
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
        let tasks = changes::change(world, (now, &next), waiting, self.seed, obs).map_err(|e| stuck(world.now(), &e))?;
        // The newest task of a flow replaces older ones; several tasks of one time keep their order.
        self.tasks.retain(|old| tasks.iter().all(|new| new.flow != old.flow));
        for task in tasks {
            let place = self.tasks.partition_point(|t| t.time > task.time);
            self.tasks.insert(place, task);
        }
        self.state = Some(next);
        self.work(scenario, world, obs);
        Ok(())
    }

    /// Returns whether no change is pending.
    pub(crate) fn is_last(&self) -> bool {
        self.specs.is_empty()
    }

    /// Changes links in place at the current time, as [`Self::change`] does with the whole state.
    ///
    /// # Errors
    /// A queue does not release its packets.
    pub(crate) fn change_links<H: EventQueue, O: Observer>(
        &mut self,
        scenario: &Resolved,
        changed: Vec<links::Changed>,
        waiting: Waiting,
        world: &mut World<BuiltIn, H>,
        obs: &mut O,
    ) -> Result<(), RunError> {
        let seed = self.seed;
        let shared = self.state.get_or_insert_with(|| Arc::new(links::without_changes(scenario)));
        let flows = links::Flows::new(shared, seed);
        for link in &changed {
            for (i, wire) in (link.first..).zip(&link.wires) {
                let old = &shared.expanded.links[i];
                links::change(world, PortId(i as u32), (&old.name, &old.wire, wire), (seed, waiting), &flows, obs)
                    .map_err(|e| stuck(world.now(), &e))?;
            }
        }
        let state = Arc::make_mut(shared);
        for link in changed {
            links::put(state, link);
        }
        Ok(())
    }

    /// Pending changes, applied to another state.
    ///
    /// # Errors
    /// They do not fit that state.
    pub(crate) fn reapplied(&self, next: &Resolved) -> Result<Vec<Change>, crate::diag::Diagnostics> {
        let specs: Vec<AtSpec> = self.specs.iter().rev().cloned().collect();
        let mut changes = changes::reapply(next, &specs)?;
        changes.reverse();
        Ok(changes)
    }

    /// Replaces the pending changes.
    pub(crate) fn replace_changes(&mut self, changes: Vec<Change>) {
        self.changes = changes;
    }
}

fn stuck(now: Time, e: &Stuck) -> RunError {
    RunError::Change(format!("the network cannot change at {}: {e}", changes::shown(now)))
}
