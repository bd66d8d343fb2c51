//! The course of a run: where it stops on its way, at the end of the warm-up and at changes of the network, and what it does there.

use crate::endpoint::BuiltIn;
use crate::resolve::Resolved;
use crate::run::RunError;
use crate::spec::AtSpec;
use crate::turns::{self, Turn};
use fairlane_engine::EventQueue;
use fairlane_net::{FlowId, Observer, Waiting, World};
use fairlane_units::Time;
use std::sync::Arc;

/// The course of a run.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    seed: u64,
    warmup: Time,
    warm: bool,
    /// Changes that are still to come, the next one last; and what they say.
    turns: Vec<Turn>,
    specs: Vec<AtSpec>,
    /// Flows that a change lets stop, the next one last.
    stops: Vec<(Time, FlowId)>,
    /// The scenario as it stands, if anything has changed.
    state: Option<Arc<Resolved>>,
}

impl Course {
    /// That of a run which begins.
    pub(crate) fn new(scenario: &Resolved, seed: u64) -> Self {
        let (turns, specs) = (scenario.turns.iter().rev().cloned().collect(), scenario.at.iter().rev().cloned().collect());
        Self { seed, warmup: Time::ZERO + scenario.warmup, warm: false, turns, specs, stops: Vec::new(), state: None }
    }

    /// The scenario as it stands.
    pub(crate) fn state<'a>(&'a self, scenario: &'a Resolved) -> &'a Resolved {
        self.state.as_deref().unwrap_or(scenario)
    }

    /// When it stops next, at `end` the latest.
    fn next(&self, end: Time) -> Time {
        let warm = if self.warm { Time::MAX } else { self.warmup };
        let turn = self.turns.last().map_or(Time::MAX, |t| t.time);
        let stop = self.stops.last().map_or(Time::MAX, |s| s.0);
        warm.min(turn).min(stop).min(end)
    }

    /// Moves a world towards `end` by at most `budget` events; whether it is there, with all that is to be done there.
    ///
    /// # Errors
    /// See [`Self::change`].
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
        while self.stops.last().is_some_and(|s| s.0 <= now) {
            if let Some((_, flow)) = self.stops.pop() {
                world.stop(flow, obs);
                quiet = false;
            }
        }
        while self.turns.last().is_some_and(|t| t.time <= now) {
            self.specs.pop();
            if let Some(turn) = self.turns.pop() {
                self.change(scenario, turn.state, turn.waiting, world, obs)?;
                quiet = false;
            }
        }
        Ok(quiet)
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
        let stops = turns::change(world, (now, &next), waiting, self.seed, obs)
            .map_err(|e| RunError::Change(format!("the network cannot change at {}: {e}", turns::shown(world.now()))))?;
        for (time, flow) in stops {
            self.stops.retain(|s| s.1 != flow);
            let place = self.stops.partition_point(|s| s.0 > time);
            self.stops.insert(place, (time, flow));
        }
        self.state = Some(next);
        Ok(())
    }

    /// The changes of the scenario that are still to come, from another state on.
    ///
    /// # Errors
    /// They do not fit it.
    pub(crate) fn relaid(&self, next: &Resolved) -> Result<Vec<Turn>, crate::diag::Diagnostics> {
        let specs: Vec<AtSpec> = self.specs.iter().rev().cloned().collect();
        let mut turns = turns::relay(next, &specs)?;
        turns.reverse();
        Ok(turns)
    }

    /// Puts others in the place of the changes that are still to come.
    pub(crate) fn put(&mut self, turns: Vec<Turn>) {
        self.turns = turns;
    }
}
