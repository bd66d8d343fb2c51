//! An interactive run: advanced step by step, inspected, changed and branched.

mod agents;
mod listeners;
mod scene;
mod state;

pub use agents::{Action, OBSERVED};
pub use listeners::Batch;
pub use scene::Seek;
pub use state::{Row, StateValue};

use crate::build;
use crate::changes::links::Index;
use crate::changes::{self, Unfit, shown};
use crate::clock::CpuClock;
use crate::code::Code;
use crate::components::BuiltIn;
use crate::diag::{Diagnostics, Sources, Span};
use crate::event_queues::AnyEvents;
use crate::limits;
use crate::output::RunOutput;
use crate::plugin::{Fault, take_fault};
use crate::probes::Probes;
use crate::resolved::{Resolved, Update};
use crate::run;
use crate::run_error::RunError;
use crate::spec::AtSpec;
use crate::timeline::Timeline;
use fairlane_engine::steps::step;
use fairlane_net::{EpId, FlowId, PortId, SenderState, Waiting, World};
use fairlane_trace::limits::LimitReport;
use fairlane_trace::scene::{Scene, Snapshot};
use fairlane_units::{Name, Time};
use serde_json::Value;
use state::{flow_now, queue_now, waiting_now};
use std::sync::Arc;

/// The world of a session, with the event queue that fits all networks.
#[derive(Clone)]
struct Running(World<BuiltIn, AnyEvents>);

impl Running {
    /// Returns whether observers or controls need the loop that is compiled for observers, and finds out which events these want.
    fn observed(&self, scenario: &Resolved, probes: &mut Probes) -> bool {
        let observed = probes.any() || !scenario.expanded.controls.is_empty();
        if observed {
            probes.ask(&self.0);
        }
        observed
    }
    fn advance(
        &mut self,
        scenario: &Resolved,
        timeline: &mut Timeline,
        to: Time,
        budget: u64,
        probes: &mut Probes,
    ) -> Result<bool, RunError> {
        if self.observed(scenario, probes) {
            timeline.advance(scenario, &mut self.0, to, budget, probes)
        } else {
            timeline.advance(scenario, &mut self.0, to, budget, &mut ())
        }
    }
    fn change(
        &mut self,
        scenario: &Resolved,
        timeline: &mut Timeline,
        update: Update,
        waiting: Waiting,
        probes: &mut Probes,
    ) -> Result<(), RunError> {
        if self.observed(scenario, probes) {
            timeline.change(scenario, update, waiting, &mut self.0, probes)
        } else {
            timeline.change(scenario, update, waiting, &mut self.0, &mut ())
        }
    }
    /// Rate of the slowest link of a flow's path, delay of both directions, payload of a segment.
    fn path(&self, flow: FlowId) -> (f64, f64, u32) {
        let (there, back) = (EpId::sender(flow), EpId::receiver(flow));
        let rates = self.0.route(there).map(|p| self.0.port(p).rate_at(self.0.now()).as_bps());
        let rate = rates.min().unwrap_or_default();
        let delays = self.0.route(there).chain(self.0.route(back)).map(|p| self.0.port(p).link().delay.as_secs_f64());
        (rate as f64, delays.sum(), self.0.view(there).mss)
    }
    fn set_window(&mut self, scenario: &Resolved, flow: FlowId, action: Action, probes: &mut Probes) {
        if self.observed(scenario, probes) {
            self.0.set_window(flow, action.window, action.rate, probes);
        } else {
            self.0.set_window(flow, action.window, action.rate, &mut ());
        }
    }
    fn reseed(&mut self, number: u64) {
        self.0.reseed(number);
    }
    fn now(&self) -> Time {
        self.0.now()
    }
    fn events(&self) -> u64 {
        self.0.events()
    }
    fn fingerprint(&self) -> u64 {
        self.0.fingerprint()
    }
    fn watch(&self, from: Time) -> LimitReport {
        limits::watch(&self.0, from)
    }
    /// States of the senders that have started.
    fn moments(&self) -> Vec<Option<SenderState>> {
        let flows = (0..).zip(self.0.flows());
        flows.map(|(f, flow)| if flow.has_begun() { self.0.moment(EpId::sender(FlowId(f))) } else { None }).collect()
    }
    /// Tells the world that observers were added or want more events.
    fn look(&mut self, probes: &mut Probes) {
        probes.ask(&self.0);
        self.0.watch(probes);
    }
    fn output(&self, scenario: &Resolved, seed: u64, cpu_s: f64, setup_s: f64) -> RunOutput {
        // Of a clone: reading results does not affect the run itself.
        let mut world = self.0.clone();
        world.settle(&mut ());
        world.retire();
        run::output((scenario, seed, &scenario.members_at(seed)), world, None, (cpu_s, setup_s), None)
    }
    fn flow(&self, flow: FlowId) -> Row {
        flow_now(&self.0, flow)
    }
    fn queue(&self, port: PortId) -> Row {
        if !self.0.is_due(port) {
            return queue_now(&self.0, port);
        }
        queue_now(&self.settled(), port)
    }
    /// A copy whose departures are carried out up to now.
    fn settled(&self) -> World<BuiltIn, AnyEvents> {
        step(self.0.ports().len() + self.0.flow_count());
        let mut world = self.0.clone();
        world.settle(&mut ());
        world
    }
    /// Carries out what departed before now, if nothing observes it: then a port can be read without a copy of the world.
    fn catch_up(&mut self, scenario: &Resolved, port: PortId, probes: &Probes) {
        if !probes.any() && scenario.expanded.controls.is_empty() {
            self.0.settle_port(port);
        }
    }
    fn waiting(&self, port: PortId) -> Option<Vec<(u32, u32, u64)>> {
        if !self.0.is_due(port) {
            return waiting_now(&self.0, port);
        }
        waiting_now(&self.settled(), port)
    }
    fn snapshot(&self, gauges: bool) -> Snapshot {
        if !(0..self.0.ports().len()).any(|p| self.0.is_due(PortId(p as u32))) {
            return scene::snapshot(&self.0, gauges);
        }
        scene::snapshot(&self.settled(), gauges)
    }
}

/// Why a change failed.
#[derive(Debug)]
pub enum SetError {
    /// The values are wrong, or must not change.
    Refused(Diagnostics),
    /// The run cannot continue.
    Run(RunError),
}

/// A change that was made.
#[derive(Clone)]
enum Made {
    Set(AtSpec),
    Action(agents::Taken),
}

impl Made {
    fn action(&self) -> Option<agents::Taken> {
        match self {
            Self::Set(_) => None,
            Self::Action(taken) => Some(*taken),
        }
    }
}

/// An interactive run.
pub struct Simulation {
    scenario: Arc<Resolved>,
    seed: u64,
    timeline: Timeline,
    world: Running,
    probes: Probes,
    /// Changes made through `set` and `act`.
    made: Vec<Made>,
    /// Flows whose window and rate are set by steps.
    agents: Vec<agents::Agent>,
    /// Links that have changed.
    index: Index,
    /// Animation of link loads only; it observes no single packets.
    loads: Option<Scene>,
    /// Error after which the run cannot continue.
    broken: Option<RunError>,
    cpu_s: f64,
    setup_s: f64,
}

impl Simulation {
    /// Creates the run of a scenario with this seed, before its first event; `why`: reports the limits of flows.
    ///
    /// # Errors
    /// The world cannot be built, or a plug-in failed.
    pub fn new(scenario: Arc<Resolved>, seed: u64, why: bool) -> Result<Self, RunError> {
        limits::check(&scenario, why)?;
        take_fault();
        let clock = CpuClock::start();
        let world = run::as_run(run::SESSION, || build::world(&scenario, seed)).map(Running)?;
        if let Some(fault) = take_fault() {
            return Err(RunError::Plugin(fault));
        }
        let timeline = Timeline::new(&scenario, seed);
        let (setup_s, made) = (clock.seconds(), Vec::new());
        let probes = Probes { why: why.then(|| world.watch(Time::ZERO + scenario.warmup)), ..Probes::default() };
        let agents = Vec::new();
        Ok(Self {
            scenario,
            seed,
            timeline,
            world,
            probes,
            made,
            agents,
            index: Index::default(),
            loads: None,
            broken: None,
            cpu_s: 0.0,
            setup_s,
        })
    }

    /// Seed of the run.
    pub fn seed(&self) -> u64 {
        self.seed
    }
    /// Current simulated time.
    pub fn now(&self) -> Time {
        self.world.now()
    }
    /// End of the run.
    pub fn end(&self) -> Time {
        Time::ZERO + self.scenario.duration
    }
    /// Events executed so far.
    pub fn events(&self) -> u64 {
        self.world.events()
    }
    /// Hash of the trajectory so far.
    pub fn fingerprint(&self) -> u64 {
        self.world.fingerprint()
    }
    /// Current scenario, with every change so far as if it had been there from the start.
    pub fn state(&self) -> &Resolved {
        self.timeline.state(&self.scenario)
    }

    /// Advances to `to`, by at most a few milliseconds of work; returns true once it is there. A time in the past changes nothing.
    ///
    /// # Errors
    /// A plug-in or a change failed. The run cannot continue then.
    pub fn advance(&mut self, to: Time) -> Result<bool, RunError> {
        let end = to.min(self.end()).max(self.now());
        self.guarded(|Self { scenario, timeline, world, probes, .. }| world.advance(scenario, timeline, end, run::SLICE, probes))
    }

    /// Advances the world; an error ends the run.
    fn guarded<T>(&mut self, go: impl FnOnce(&mut Self) -> Result<T, RunError>) -> Result<T, RunError> {
        if let Some(e) = &self.broken {
            return Err(e.clone());
        }
        take_fault();
        let clock = CpuClock::start();
        let mut done = run::as_run(run::SESSION, || go(self));
        if let Some(fault) = take_fault() {
            done = Err(RunError::Plugin(fault));
        }
        self.cpu_s += clock.seconds();
        if let Err(e) = &done {
            self.broken = Some(match e.clone() {
                // Later calls report what stopped the run.
                RunError::Plugin(fault) => RunError::Plugin(Fault { interrupted: false, ..fault }),
                e => e,
            });
        }
        done
    }

    /// True if the run can be copied: a real transport stack cannot.
    pub fn can_branch(&self) -> bool {
        !self.scenario.has_stack()
    }

    /// Copies the run: without a number with the same future as long as nothing is changed, with a number with other random numbers.
    #[must_use]
    pub fn branch(&self, number: Option<u64>) -> Self {
        let mut world = run::as_run(run::SESSION, || self.world.clone());
        if let Some(number) = number {
            world.reseed(number);
        }
        Self {
            scenario: self.scenario.clone(),
            seed: self.seed,
            timeline: self.timeline.clone(),
            world,
            probes: Probes { why: self.probes.why.clone(), scene: self.probes.scene.clone(), ..Probes::default() },
            made: self.made.clone(),
            agents: self.agents.clone(),
            index: self.index.clone(),
            loads: self.loads.clone(),
            broken: self.broken.clone(),
            cpu_s: self.cpu_s,
            setup_s: self.setup_s,
        }
    }

    /// Carries out the events of this instant, which happen before a change.
    fn finish_instant(&mut self) -> Result<(), RunError> {
        self.probes.deaf = true;
        let quiet = loop {
            match self.advance(self.now()) {
                Ok(false) => {}
                other => break other,
            }
        };
        self.probes.deaf = false;
        quiet.map(|_| ())
    }

    /// Changes values by path at the current time.
    ///
    /// # Errors
    /// A value is wrong or must not change; then nothing is changed.
    pub fn set(&mut self, sets: &[(String, String)], waiting: Waiting) -> Result<(), SetError> {
        self.finish_instant().map_err(SetError::Run)?;
        self.keep_actions().map_err(SetError::Run)?;
        let Self { scenario, timeline, index, world, .. } = self;
        let unfit = |unfit| match unfit {
            Unfit::Wrong(found) => SetError::Refused(found),
            Unfit::Refused(e) => SetError::Refused(refused(sets, e)),
        };
        let update = changes::update(timeline.state(scenario), sets, world.now(), index).map_err(unfit)?;
        timeline.fit(scenario, &update).map_err(unfit)?;
        self.guarded_change(|Self { scenario, timeline, world, probes, .. }| world.change(scenario, timeline, update, waiting, probes))
            .map_err(SetError::Run)?;
        let set = sets.iter().map(|(path, value)| (path.clone(), Value::from(value.as_str()))).collect();
        self.made.push(Made::Set(AtSpec { time: shown(self.now()), set, waiting }));
        Ok(())
    }

    /// Changes the world; an error ends the run.
    fn guarded_change(&mut self, go: impl FnOnce(&mut Self) -> Result<(), RunError>) -> Result<(), RunError> {
        let changed = run::as_run(run::SESSION, || go(self));
        let failed = take_fault().map(RunError::Plugin).or(changed.err());
        self.broken.clone_from(&failed);
        failed.map_or(Ok(()), Err)
    }

    /// Scenario of the simulated part: its duration is the elapsed time, its changes are those that were made.
    ///
    /// # Errors
    /// The run has not started, or is within its warm-up, so there are no results.
    pub fn scenario(&self) -> Result<Arc<Resolved>, RunError> {
        let now = self.now();
        if now <= Time::ZERO + self.scenario.warmup {
            let text = if self.scenario.warmup > fairlane_units::Dur::ZERO {
                format!("at {} nothing has been measured yet: the warm-up lasts {}", shown(now), self.scenario.warmup)
            } else {
                "nothing has been simulated yet: advance first".to_owned()
            };
            return Err(RunError::Change(text));
        }
        if now == self.end() && self.made.is_empty() {
            return Ok(self.scenario.clone());
        }
        let mut own = self.scenario.scenario.clone();
        own.duration = shown(now);
        own.at.retain(|a| Time::ZERO + a.time <= now);
        for made in &self.made {
            let made = match made {
                Made::Set(made) => made.clone(),
                Made::Action(taken) => agents::specified(taken, &self.scenario, self.seed),
            };
            let place = own.at.partition_point(|a| a.time <= made.time);
            own.at.insert(place, made);
        }
        let tree = serde_json::to_value(&own).unwrap_or_default().to_string();
        Ok(Arc::new(Resolved::from_whole(&tree).unwrap_or_else(|_| {
            // A scenario that ends before one of its flows starts is invalid, but its results exist.
            let mut part = (*self.scenario).clone();
            part.scenario = own;
            part
        })))
    }

    /// Results so far.
    ///
    /// # Errors
    /// See [`Self::scenario`].
    pub fn output(&self) -> Result<(Arc<Resolved>, RunOutput), RunError> {
        let scenario = self.scenario()?;
        let mut output = run::as_run(run::SESSION, || self.world.output(&scenario, self.seed, self.cpu_s, self.setup_s));
        output.why = self.probes.why.clone().map(|w| limits::report(w, &scenario, self.seed, self.now()));
        Ok((scenario, output))
    }

    /// Current state of a flow, by number.
    pub fn flow(&self, flow: u32) -> Row {
        self.world.flow(FlowId(flow))
    }
    /// Current state of the queue of a link direction, by number.
    pub fn queue(&mut self, link: u32) -> Row {
        self.read(link, Running::queue)
    }
    /// Number, packets and bytes of each flow with packets in the queue; none if the queue does not report them.
    pub fn waiting(&mut self, link: u32) -> Option<Vec<(u32, u32, u64)>> {
        self.read(link, Running::waiting)
    }
    /// Reads the state of a link direction.
    fn read<T>(&mut self, link: u32, now: impl FnOnce(&Running, PortId) -> T) -> T {
        let Self { scenario, world, probes, .. } = self;
        let port = PortId(link);
        let row = run::as_run(run::SESSION, || {
            world.catch_up(scenario, port, probes);
            now(world, port)
        });
        if let Some(fault) = take_fault() {
            self.broken.get_or_insert(RunError::Plugin(fault));
        }
        row
    }
    /// Names of the flows of this run.
    pub fn flow_names(&self) -> Vec<Name> {
        self.scenario.members_at(self.seed).iter().map(|m| m.name.clone()).collect()
    }
    /// Names of the link directions.
    pub fn link_names(&self) -> Vec<Name> {
        self.scenario.link_directions().iter().map(|l| l.name.clone()).collect()
    }
}

/// Reports a refusal at the option that caused it.
fn refused(sets: &[(String, String)], e: changes::Refused) -> Diagnostics {
    let asked = sets.iter().find(|(path, _)| path.starts_with(&e.at) || e.at.starts_with(path.as_str())).or_else(|| sets.first());
    let mut sources = Sources::default();
    let (path, value) = asked.map_or(("", ""), |(p, v)| (p.as_str(), v.as_str()));
    let source = sources.add_option(&format!("{path}={value}"));
    let span = Span { source, start: 0, end: path.len() };
    Diagnostics::one(sources.diagnostic(Code::ChangeUnfit, span, &e.at, e.message, e.help))
}
