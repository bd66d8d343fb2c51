//! Runs a scenario with one or many seeds, on its own threads, and returns tables.

use crate::build::{self, Build};
use crate::capture::{CaptureError, Captures};
use crate::clock::CpuClock;
use crate::code::{Code, Warning};
use crate::components::BuiltIn;
use crate::event_queues::{AnyEvents, MANY_SLOTS, SOME_SLOTS, events};
use crate::expand::{Group, Hop, LinkDir, Member};
use crate::limits;
use crate::metrics::{Keep, Rows, measure};
use crate::output::{RunOutput, Table};
use crate::parallel::{self, Parallel};
use crate::plugin::{on_thread, take_fault};
use crate::probes::{Probes, Watching};
use crate::progress::Progress;
use crate::resolved::Resolved;
use crate::run_error::RunError;
use crate::series_table::SeriesTable;
use crate::stack_logs::{check_logs, lost_connections, take_logs, want_logs};
use crate::timeline::Timeline;
use crate::trace::{Tracing, not_written};
use fairlane_engine::{EventQueue, fits_64_bits};
use fairlane_net::{FlowId, NodeId, Summary, World, WorldBuilder};
use fairlane_trace::HopDelay;
use fairlane_trace::pcapng::{Capture, Written};
use fairlane_units::{Name, Time};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Events per step of a session: a few milliseconds of work.
pub(crate) const SLICE: u64 = 50_000;
/// Events of a whole run between two checks of the stop flag. Each check brings the world into its readable state, which costs as much as some thousand events if many packets wait.
const STRETCH: u64 = 4 * SLICE;
/// Most flows without deliveries that a warning names; further ones are counted.
const NAMED: usize = 3;

/// Options of a set of runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// One run per seed; results have this order.
    pub seeds: Vec<u64>,
    /// Most threads; zero counts as one. Threads beyond the number of runs work inside runs.
    pub threads: usize,
    /// Policy for splitting runs into parts for several threads.
    pub parts: Parallel,
    /// True to measure `router_path_delay_mean`, with the loop compiled for observers.
    pub hop_probe: bool,
    /// Capture files.
    pub captures: Captures,
    /// Flows and groups whose transport stacks are to write their own logs.
    pub logs: Vec<String>,
    /// True to report the limits of flows, with the loop compiled for observers.
    pub why: bool,
    /// The only metrics to compute, as pairs of table and metric; none: all.
    pub metrics: Option<Vec<(String, String)>>,
}

impl Options {
    /// Threads per run.
    fn inside(&self) -> usize {
        self.threads / self.seeds.len().max(1)
    }
}

thread_local! {
    /// Number of the set of runs that this thread executes; 0 for none.
    static RUNS: Cell<u64> = const { Cell::new(0) };
}

/// True if the calling code, such as a plug-in, executes inside a run.
pub fn within_run() -> bool {
    RUNS.get() != 0
}

/// Number of the set of runs ([`Progress::number`]) that the calling code executes in; 0 for none.
pub fn run_number() -> u64 {
    RUNS.get()
}

/// Runs the scenario once for each seed.
pub fn run_all(scenario: &Resolved, options: &Options, progress: &Progress) -> Result<Vec<RunOutput>, RunError> {
    run_traced(scenario, options, None, progress)
}

/// Runs the scenario once for each seed and records the events of all runs.
pub fn run_traced(
    scenario: &Resolved,
    options: &Options,
    tracing: Option<&Tracing>,
    progress: &Progress,
) -> Result<Vec<RunOutput>, RunError> {
    progress.runs.store(options.seeds.len(), Ordering::Relaxed);
    options.captures.check(scenario)?;
    check_logs(scenario, &options.logs)?;
    limits::check(scenario, options.why)?;
    tracing.map_or(Ok(()), |t| t.request.check(scenario))?;
    let done = on_threads(options.seeds.len(), options.threads, progress, |run| {
        let seed = options.seeds[run];
        let watch = Watch {
            hop_probe: options.hop_probe,
            why: options.why,
            captures: &options.captures,
            logs: &options.logs,
            tracing,
            run,
            threads: options.inside(),
            parts: options.parts,
            keep: options.metrics.as_deref(),
        };
        let done = unpanicked(seed, || run_one(scenario, seed, watch, progress));
        progress.finished.fetch_add(1, Ordering::Relaxed);
        done
    })?;
    // All runs succeeded: files get their final names.
    let mut outputs = Vec::with_capacity(done.len());
    for Done { output, written } in done {
        if let Some(written) = written {
            written.put_in_place().map_err(CaptureError::write)?;
        }
        outputs.push(output);
    }
    Ok(outputs)
}

/// Executes a run; a panic, which only a defect in a model can cause, is its error.
fn unpanicked<T>(seed: u64, run: impl FnOnce() -> Result<T, RunError>) -> Result<T, RunError> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_or(Err(RunError::Panicked { seed }))
}

/// Executes a plain run of a scenario among others: on the calling thread, without observers.
pub(crate) fn run_single(scenario: &Resolved, seed: u64, keep: Keep<'_>, progress: &Progress) -> Result<RunOutput, RunError> {
    let captures = Captures::default();
    let (parts, captures) = (Parallel::Never, &captures);
    let watch = Watch { hop_probe: false, why: false, captures, logs: &[], tracing: None, run: 0, threads: 1, parts, keep };
    let done = unpanicked(seed, || run_one(scenario, seed, watch, progress));
    progress.finished.fetch_add(1, Ordering::Relaxed);
    done.map(|done| done.output)
}

/// Executes numbered runs on at most this many threads and returns their results in order. The first error that is not a stop ends all.
pub(crate) fn on_threads<T: Send>(
    runs: usize,
    threads: usize,
    progress: &Progress,
    run: impl Fn(usize) -> Result<T, RunError> + Sync,
) -> Result<Vec<T>, RunError> {
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<Result<T, RunError>>>> = (0..runs).map(|_| Mutex::new(None)).collect();
    let work = || {
        on_thread(|| {
            as_run(progress.number(), || {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(slot) = results.get(i) else { break };
                    let result = run(i);
                    if result.is_err() {
                        progress.stop();
                    }
                    if let Ok(mut slot) = slot.lock() {
                        *slot = Some(result);
                    }
                }
            });
        });
    };
    match threads.clamp(1, runs.max(1)) {
        // Another thread would have its own allocator memory, next to the memory that this one would free.
        1 => work(),
        threads => std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(work);
            }
        }),
    }
    let results: Vec<_> = results.into_iter().filter_map(|m| m.into_inner().ok().flatten()).collect();
    // The cause of a stop is more informative than the stop.
    let cause = results.iter().filter_map(|r| r.as_ref().err()).find(|e| **e != RunError::Stopped).cloned();
    if let Some(e) = cause {
        return Err(e);
    }
    results.into_iter().collect()
}

/// Output of one run.
struct Done {
    output: RunOutput,
    written: Option<Written>,
}

/// Observers and threads of a run.
#[derive(Clone, Copy)]
struct Watch<'a> {
    hop_probe: bool,
    why: bool,
    captures: &'a Captures,
    logs: &'a [String],
    tracing: Option<&'a Tracing>,
    /// Index of the run in the set.
    run: usize,
    /// Most threads of the run.
    threads: usize,
    parts: Parallel,
    keep: Keep<'a>,
}

impl Watch<'_> {
    fn is_observed(&self) -> bool {
        self.hop_probe || self.why || self.tracing.is_some() || !self.logs.is_empty() || !self.captures.requests.is_empty()
    }
}

/// Run number of sessions, which belong to no set.
pub(crate) const SESSION: u64 = u64::MAX;

/// Marks the calling thread as executing the set of runs with this number during `work`.
pub(crate) fn as_run<T>(number: u64, work: impl FnOnce() -> T) -> T {
    let before = RUNS.replace(number);
    let done = work();
    RUNS.set(before);
    done
}

fn run_one(scenario: &Resolved, seed: u64, watch: Watch<'_>, progress: &Progress) -> Result<Done, RunError> {
    let observed = watch.is_observed() || !scenario.expanded.controls.is_empty();
    let asked = !observed && parallel::is_asked(scenario, watch.parts, watch.threads);
    let build = if observed || asked { Build::BeforeTheRun } else { Build::WhenTheyBegin };
    let mut setup = Setup::new(scenario, seed, build);
    let (slots, numbers) = setup.parts.slots();
    let short = fits_64_bits(numbers, Time::ZERO + scenario.duration);
    // Controls act only in the loop that is compiled for observers.
    if observed {
        return match (short, slots) {
            (true, 0..SOME_SLOTS) => run_observed::<events::Few>(scenario, setup, watch, progress),
            _ => run_observed::<AnyEvents>(scenario, setup, watch, progress),
        };
    }
    if asked {
        let done = match (short, slots) {
            // Parts pay in large networks only.
            (true, 0..MANY_SLOTS) => run_cut::<events::Some>(scenario, setup, watch, slots >= SOME_SLOTS, progress),
            (true, _) => run_cut::<events::Many>(scenario, setup, watch, true, progress),
            (false, _) => run_cut::<AnyEvents>(scenario, setup, watch, true, progress),
        };
        match done? {
            Cut::Done(done) => return Ok(*done),
            Cut::Not(clock) => setup = Setup { clock, ..Setup::new(scenario, seed, Build::WhenTheyBegin) },
        }
    }
    match (short, slots) {
        (true, 0..SOME_SLOTS) => run_plain::<events::Few>(scenario, setup, watch.keep, progress),
        (true, SOME_SLOTS..MANY_SLOTS) => run_plain::<events::Some>(scenario, setup, watch.keep, progress),
        (true, _) => run_plain::<events::Many>(scenario, setup, watch.keep, progress),
        (false, _) => run_plain::<AnyEvents>(scenario, setup, watch.keep, progress),
    }
}

/// Builder of a world, and the time spent on it so far.
struct Setup {
    seed: u64,
    clock: CpuClock,
    /// Flows, shared with the world, because a million of them take much memory.
    members: Arc<Vec<Member>>,
    parts: WorldBuilder<BuiltIn>,
}

impl Setup {
    fn new(scenario: &Resolved, seed: u64, build: Build) -> Self {
        // Discards the fault of an earlier run on this thread; building may already fail.
        take_fault();
        let clock = CpuClock::start();
        let members = scenario.members_at(seed);
        Self { seed, clock, members: members.clone(), parts: build::parts(scenario, seed, members, build) }
    }
}

/// Executes one run without observers, with a given event queue. The queue affects the speed, never the result.
pub fn run_with<H: EventQueue>(scenario: &Resolved, seed: u64, progress: &Progress) -> Result<RunOutput, RunError> {
    run_plain::<H>(scenario, Setup::new(scenario, seed, Build::WhenTheyBegin), None, progress).map(|done| done.output)
}

fn run_plain<H: EventQueue>(
    scenario: &Resolved,
    Setup { seed, clock, members, parts }: Setup,
    keep: Keep<'_>,
    progress: &Progress,
) -> Result<Done, RunError> {
    let world = parts.build::<H>()?;
    run_world((scenario, seed, &members), world, clock.seconds(), keep, progress)
}

/// Runs a world without observers.
fn run_world<H: EventQueue>(
    (scenario, seed, members): (&Resolved, u64, &[Member]),
    mut world: World<BuiltIn, H>,
    setup_s: f64,
    keep: Keep<'_>,
    progress: &Progress,
) -> Result<Done, RunError> {
    let clock = CpuClock::start();
    drive(scenario, seed, &mut world, &mut (), progress)?;
    Ok(Done { output: finish((scenario, seed, members), world, None, (clock.seconds(), setup_s), keep), written: None })
}

/// A run that was to be cut.
enum Cut {
    Done(Box<Done>),
    /// It was not, and another event queue is faster; the clock of the setup.
    Not(CpuClock),
}

/// Runs a network in parts if that is possible and pays; else in one piece if `fits`, which says that the event queue is the one for that.
fn run_cut<H: EventQueue>(scenario: &Resolved, setup: Setup, watch: Watch<'_>, fits: bool, progress: &Progress) -> Result<Cut, RunError> {
    let Setup { seed, clock, members, parts } = setup;
    let world = parts.build::<H>()?;
    let done = match parallel::cut(scenario, seed, &world, watch.parts, watch.threads) {
        None if !fits => return Ok(Cut::Not(clock)),
        None => run_world((scenario, seed, &members), world, clock.seconds(), watch.keep, progress)?,
        Some(cut) => {
            let setup_s = clock.seconds();
            let (world, cpu_s) = parallel::drive((scenario, seed), world, cut, (watch.parts, watch.threads), progress)?;
            Done { output: finish((scenario, seed, &members), world, None, (cpu_s, setup_s), watch.keep), written: None }
        }
    };
    Ok(Cut::Done(Box::new(done)))
}

/// Runs a network with its observers and controls.
fn run_observed<H: EventQueue>(scenario: &Resolved, setup: Setup, watch: Watch<'_>, progress: &Progress) -> Result<Done, RunError> {
    let Setup { seed, clock, members, parts } = setup;
    let mut world = parts.build::<H>()?;
    want_logs(watch.logs, &members, &world);
    let setup_s = clock.seconds();
    let clock = CpuClock::start();
    let from = Time::ZERO + scenario.warmup;
    let mut probes = Probes {
        hop_delay: watch.hop_probe.then(|| HopDelay::new(world.flow_count(), from)),
        capture: watch.captures.begin(scenario, watch.run, seed, &world)?,
        recorder: watch.tracing.map(|t| t.begin(scenario, seed)).transpose()?,
        why: watch.why.then(|| limits::watch(&world, from)),
        deaf: true,
        ..Probes::default()
    };
    probes.ask(&world);
    world.watch_some(&probes);
    drive(scenario, seed, &mut world, &mut probes, progress)?;
    if let Some(recorder) = probes.recorder.take() {
        recorder.finish().map_err(not_written)?;
    }
    let written = probes.capture.take().map(Capture::finish).transpose().map_err(CaptureError::write)?;
    let cpu_s = clock.seconds();
    let now = world.now();
    let mut output =
        finish((scenario, seed, &members), world, probes.hop_delay.as_ref().map(HopDelay::flows), (cpu_s, setup_s), watch.keep);
    output.why = probes.why.take().map(|w| limits::report(w, scenario, seed, now));
    Ok(Done { output, written })
}

/// Result of a finished world.
fn finish<H: EventQueue>(
    of: (&Resolved, u64, &[Member]),
    mut world: World<BuiltIn, H>,
    after_first: Option<&[Summary]>,
    (cpu_s, setup_s): (f64, f64),
    keep: Keep<'_>,
) -> RunOutput {
    let (lost, logs) = if of.0.has_stack() { (lost_connections(of.2, &world), take_logs(of.2, &world)) } else { Default::default() };
    world.retire();
    let mut output = output(of, world, after_first, (cpu_s, setup_s), keep);
    output.warnings.extend(lost);
    output.logs = logs;
    output
}

fn drive<H: EventQueue>(
    scenario: &Resolved,
    seed: u64,
    world: &mut World<BuiltIn, H>,
    obs: &mut impl Watching,
    progress: &Progress,
) -> Result<(), RunError> {
    let end = Time::ZERO + scenario.duration;
    let mut timeline = Timeline::new(scenario, seed);
    let (mut parts, mut events) = (0, 0);
    loop {
        let there = timeline.advance(scenario, world, end, STRETCH, obs)?;
        let now = (u128::from(world.now().as_ps()) * 1_000_000 / u128::from(end.as_ps().max(1))) as u64;
        progress.moved(now - parts, world.events() - events);
        (parts, events) = (now, world.events());
        if let Some(fault) = take_fault() {
            return Err(RunError::Plugin(fault));
        }
        if progress.stopped() {
            return Err(RunError::Stopped);
        }
        obs.check()?;
        if there {
            break;
        }
    }
    world.settle(obs);
    obs.check()?;
    take_fault().map_or(Ok(()), |fault| Err(RunError::Plugin(fault)))
}

/// Tables of a finished run with this seed; `flows` are its flows.
pub(crate) fn output<H: EventQueue>(
    (scenario, seed, flows): (&Resolved, u64, &[Member]),
    mut world: World<BuiltIn, H>,
    after_first: Option<&[Summary]>,
    (cpu_s, setup_s): (f64, f64),
    keep: Keep<'_>,
) -> RunOutput {
    let links = scenario.link_directions();
    let is_tcp: Vec<bool> = flows.iter().map(|f| f.transport() == "tcp").collect();
    // Reserved members are not reported.
    let reported: Vec<u32> = (0..flows.len() as u32).filter(|&i| flows[i as usize].is_there() || world.has_begun(FlowId(i))).collect();
    let groups = &scenario.expanded.groups;
    let group_of = |i: usize| flows[i].group_index;
    let by_flow = scenario.report.is_flows();
    let rows = if by_flow { Rows::Flows } else { Rows::Groups(groups.len(), &group_of) };
    let silent: Vec<&str> =
        reported.iter().filter(|&&i| world.delivered_bytes(FlowId(i)) == 0).map(|&i| flows[i as usize].name.as_str()).collect();
    let mut warnings: Vec<Warning> = scenario.warnings().to_vec();
    let some = silent.iter().take(NAMED).map(|name| format!("flow `{name}` delivered no data after the warm-up"));
    warnings.extend(some.map(|text| Warning { code: Code::SilentFlow, text }));
    if silent.len() > NAMED {
        let text = format!("{} more flows delivered no data after the warm-up", silent.len() - NAMED);
        warnings.push(Warning { code: Code::SilentFlow, text });
    }
    let (mut flow_series, mut link_series) = (None, None);
    if let Some(s) = world.take_sampler() {
        let mut named: Vec<Option<&str>> = vec![None; flows.len()];
        reported.iter().for_each(|&i| named[i as usize] = Some(&flows[i as usize].name));
        let all: Vec<Option<&str>> = links.iter().map(|l| Some(l.name.as_str())).collect();
        flow_series = by_flow.then(|| SeriesTable::new("flow", s.flows.kept, &named));
        link_series = Some(SeriesTable::new("link", s.links.kept, &all));
    }
    let (fingerprint, events, packet_hops, peak_packets) = (world.fingerprint(), world.events(), world.packet_hops(), world.packets_peak());
    let names: Vec<Name> = links.iter().map(|l| l.name.clone()).collect();
    let call = |i: usize| groups[flows[i].group_index].call();
    let measured = measure(world, &reported, &names, &is_tcp, after_first, &call, (rows, keep));
    let of = |text: fn(&Member) -> Name| reported.iter().map(|&i| text(&flows[i as usize])).collect::<Vec<Name>>();
    let flow_text: Vec<(&'static str, Vec<Name>)> = if by_flow {
        let node = |end: fn(&Member) -> NodeId| {
            reported.iter().map(|&i| scenario.expanded.nodes[end(&flows[i as usize]).0 as usize].clone()).collect()
        };
        let name = ("name", of(|f| f.name.clone()));
        vec![name, ("from", node(|f| f.from)), ("to", node(|f| f.to)), ("transport", of(|f| Name::new_static(f.transport())))]
    } else {
        Vec::new()
    };
    let group_text: Vec<(&'static str, Vec<Name>)> = if by_flow {
        Vec::new()
    } else {
        let of = |text: fn(&Group) -> &str| groups.iter().map(|g| text(g).into()).collect();
        vec![("name", of(|g| &g.name)), ("transport", of(|g| g.transport.name()))]
    };
    let to = |l: &LinkDir| match l.to() {
        Hop::Node(n) => scenario.expanded.nodes[n.0 as usize].clone(),
        Hop::Channel(c) => Name::from(&scenario.expanded.channels[c].name),
    };
    let link_text: Vec<(&'static str, Vec<Name>)> = vec![
        ("name", names),
        ("from", links.iter().map(|l| scenario.expanded.nodes[l.from().0 as usize].clone()).collect()),
        ("to", links.iter().map(to).collect()),
    ];
    RunOutput {
        seed,
        fingerprint,
        events,
        packet_hops,
        cpu_s,
        setup_s,
        peak_packets,
        warnings,
        flows: Table { text: flow_text, numbers: measured.flows },
        groups: Table { text: group_text, numbers: measured.groups },
        links: Table { text: link_text, numbers: measured.links },
        network: Table { text: Vec::new(), numbers: measured.network },
        flow_series,
        link_series,
        why: None,
        logs: Vec::new(),
    }
}
