//! Timeline of a run: the end of the warm-up, and changes of the network.

use crate::changes::{self, Unfit, links};
use crate::components::BuiltIn;
use crate::expand::Member;
use crate::resolved::{Change, Changed, Resolved, Update};
use crate::run_error::RunError;
use crate::spec::AtSpec;
use crate::tasks::{Task, Tasks};
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
    /// Scheduled stops and restarts of flows.
    tasks: Tasks,
    /// Current scenario, if anything has changed.
    state: Option<Arc<Resolved>>,
    /// Its flows in the run with this seed, once a change has needed them.
    members: Option<Arc<Vec<Member>>>,
}

impl Timeline {
    /// Timeline of a new run.
    pub(crate) fn new(scenario: &Resolved, seed: u64) -> Self {
        let (changes, specs) = (scenario.changes.iter().rev().cloned().collect(), scenario.at.iter().rev().cloned().collect());
        Self {
            seed,
            warmup: Time::ZERO + scenario.warmup,
            warm: false,
            changes,
            specs,
            tasks: Tasks::default(),
            state: None,
            members: None,
        }
    }

    /// Current scenario.
    pub(crate) fn state<'a>(&'a self, scenario: &'a Resolved) -> &'a Resolved {
        self.state.as_deref().unwrap_or(scenario)
    }

    /// Time of the next stop, at most `end`.
    fn next(&self, end: Time) -> Time {
        let warm = if self.warm { Time::MAX } else { self.warmup };
        let change = self.changes.last().map_or(Time::MAX, |t| t.time);
        warm.min(change).min(self.tasks.next()).min(end)
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
        // What a change causes at this instant happens before the next change of this instant, as between two calls of a session.
        if let Some(change) = self.changes.pop_if(|t| t.time <= now) {
            self.specs.pop();
            self.change(scenario, change.update, change.waiting, world, obs)?;
            quiet = false;
        }
        Ok(quiet)
    }

    /// Stops and restarts flows that are due; returns true if there were any.
    fn work<H: EventQueue, O: Observer>(&mut self, scenario: &Resolved, world: &mut World<BuiltIn, H>, obs: &mut O) -> bool {
        let (now, mut any) = (world.now(), false);
        while let Some(Task { flow, begins, .. }) = self.tasks.due(now) {
            any = true;
            if begins {
                let state = self.state.as_deref().unwrap_or(scenario);
                let flows = links::Flows::new(state, self.seed, self.members.take());
                let (app, ends) = crate::build::again(state, flows.members(), flow, self.seed, now);
                self.members = flows.made();
                world.begin(flow, app, ends, obs);
            } else {
                world.stop(flow, obs);
            }
        }
        any
    }

    /// Changes the network at the current time.
    ///
    /// # Errors
    /// A queue does not release its packets.
    pub(crate) fn change<H: EventQueue, O: Observer>(
        &mut self,
        scenario: &Resolved,
        update: Update,
        waiting: Waiting,
        world: &mut World<BuiltIn, H>,
        obs: &mut O,
    ) -> Result<(), RunError> {
        let next = match update {
            Update::Links(changed) => return self.change_links(scenario, &changed, waiting, world, obs),
            Update::All(next) => next,
        };
        let now = self.state.take();
        let now = now.as_deref().unwrap_or(scenario);
        let known = self.members.take();
        let same = known.clone().filter(|_| Arc::ptr_eq(&now.expanded.flows, &next.expanded.flows));
        let flows = (links::Flows::new(now, self.seed, known), links::Flows::new(&next, self.seed, same));
        let tasks = changes::change(world, (now, &next), (&flows.0, &flows.1), (self.seed, waiting), obs);
        self.members = flows.1.made();
        tasks.map_err(|e| stuck(world.now(), &e))?.into_iter().for_each(|task| self.tasks.schedule(task));
        self.state = Some(next);
        self.work(scenario, world, obs);
        Ok(())
    }

    /// Changes links in place.
    fn change_links<H: EventQueue, O: Observer>(
        &mut self,
        scenario: &Resolved,
        changed: &[Changed],
        waiting: Waiting,
        world: &mut World<BuiltIn, H>,
        obs: &mut O,
    ) -> Result<(), RunError> {
        let seed = self.seed;
        let shared = self.state.get_or_insert_with(|| Arc::new(links::without_changes(scenario)));
        let flows = links::Flows::new(shared, seed, self.members.take());
        for link in changed {
            for (i, wire) in (link.first..).zip(&link.wires) {
                let old = &shared.expanded.links[i];
                links::change(world, PortId(i as u32), (&old.name, &old.wire, wire), (seed, waiting), &flows, obs)
                    .map_err(|e| stuck(world.now(), &e))?;
            }
        }
        self.members = flows.made();
        let state = Arc::make_mut(shared);
        changed.iter().cloned().for_each(|link| links::put(state, link));
        Ok(())
    }

    /// Fits the pending changes to the state that a new change will leave.
    ///
    /// # Errors
    /// They do not fit that state; then they stay as they are.
    pub(crate) fn fit(&mut self, scenario: &Resolved, new: &Update) -> Result<(), Unfit> {
        if self.changes.iter().all(|pending| apart(&pending.update, new)) {
            return Ok(());
        }
        let mut changes = changes::reapply(self.state(scenario), new, self.specs.iter().rev())?;
        changes.reverse();
        self.changes = changes;
        Ok(())
    }
}

/// True if both change links only, and none in common.
fn apart(a: &Update, b: &Update) -> bool {
    let (Update::Links(a), Update::Links(b)) = (a, b) else { return false };
    a.iter().all(|x| b.iter().all(|y| x.first != y.first))
}

fn stuck(now: Time, e: &Stuck) -> RunError {
    RunError::Change(format!("the network cannot change at {}: {e}", changes::shown(now)))
}
