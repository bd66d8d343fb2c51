//! Parallel execution of one run: partition of the network, and execution of the parts.

use crate::clock::CpuClock;
use crate::components::BuiltIn;
use crate::plugin;
use crate::progress::Progress;
use crate::resolved::Resolved;
use crate::run_error::RunError;
use fairlane_engine::{EventQueue, QuadHeap};
use fairlane_net::{ParallelWorld, Partition, Topology, World};
use fairlane_units::Time;
use serde_json::{Value, json};
use std::sync::Mutex;

/// Policy for splitting runs into parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Parallel {
    /// If threads are available and it is expected to save time.
    #[default]
    Pays,
    /// Wherever it can be, even on one thread: results do not depend on it.
    Always,
    /// Never.
    Never,
}

/// Nodes, links and flows by number.
fn topology(scenario: &Resolved, seed: u64) -> Topology {
    Topology {
        nodes: scenario.expanded.nodes.len(),
        links: scenario.link_directions().iter().map(|l| [l.from().0, l.far().map_or(0, |n| n.0)]).collect(),
        flows: scenario.members_at(seed).iter().map(|m| [m.from.0, m.to.0]).collect(),
    }
}

/// Reason, apart from the network, why a run cannot be split.
fn whole(scenario: &Resolved) -> Option<&'static str> {
    if !scenario.changes.is_empty() {
        return Some("the network changes during the run");
    }
    if scenario.has_stack() {
        return Some("a flow of a real transport stack runs in one piece");
    }
    let own = !plugin::plugins().is_empty();
    (own && scenario.to_json().to_string().contains("\"plugin\""))
        .then_some("a plug-in queue or congestion control may depend on other parts")
}

/// Fewest events of a run that is worth starting threads for.
const FEW: f64 = 3e5;

/// Reason why splitting a run does not pay.
fn idle(scenario: &Resolved, cut: &Partition) -> Option<String> {
    let all = cut.events * scenario.duration.as_secs_f64() / cut.window.as_secs_f64();
    let short = (all < FEW).then(|| "the run is too short for threads to pay".to_owned());
    cut.pays.err().map(|why| why.to_string()).or(short)
}

/// Cores available to this process.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(usize::MAX, usize::from)
}

/// True if a run is to be split wherever that is possible and pays.
pub(crate) fn is_asked(scenario: &Resolved, parts: Parallel, threads: usize) -> bool {
    let asked = match parts {
        Parallel::Never => false,
        // More threads than cores would only wait for each other.
        Parallel::Pays => threads.min(cores()) > 1,
        Parallel::Always => true,
    };
    let large = Partition::is_too_large(scenario.expanded.nodes.len(), scenario.flow_members().len());
    asked && !large && whole(scenario).is_none()
}

/// Partition of a run that is to be split, if it can be and that pays.
pub(crate) fn cut<H: EventQueue>(
    scenario: &Resolved,
    seed: u64,
    world: &World<BuiltIn, H>,
    parts: Parallel,
    threads: usize,
) -> Option<Partition> {
    let threads = match parts {
        // On one thread all parts stay as they are.
        Parallel::Always => Some(threads).filter(|&n| n > 1),
        _ => Some(threads.min(cores())),
    };
    Partition::new(world, &topology(scenario, seed), threads).ok().filter(|c| parts == Parallel::Always || idle(scenario, c).is_none())
}

/// Runs a world in parts; returns the joined world and the CPU time of all threads.
pub(crate) fn drive<H: EventQueue>(
    (scenario, seed): (&Resolved, u64),
    world: World<BuiltIn, H>,
    partition: Partition,
    (asked, threads): (Parallel, usize),
    progress: &Progress,
) -> Result<(World<BuiltIn, H>, f64), RunError> {
    let clock = CpuClock::start();
    let (warm, end) = (Time::ZERO + scenario.warmup, Time::ZERO + scenario.duration);
    let others = Mutex::new(0.0);
    let mut parts = ParallelWorld::new(world, partition);
    // Millionths of the run, and events, that were reported.
    let reported = Mutex::new((0, 0));
    let more = |now: Time, events: u64| {
        if let Ok(mut reported) = reported.lock() {
            let share = (u128::from(now.as_ps()) * 1_000_000 / u128::from(end.as_ps().max(1))) as u64;
            progress.moved(share - reported.0, events.saturating_sub(reported.1));
            *reported = (share, events.max(reported.1));
        }
        !progress.stopped()
    };
    let threads = if asked == Parallel::Always { threads } else { threads.min(cores()) };
    for until in [warm, end] {
        if until == Time::ZERO || until > end {
            continue;
        }
        let phase = parts.phase(until, threads);
        let window = std::thread::scope(|scope| {
            for own in 1..phase.threads() {
                let (phase, more, others) = (&phase, &more, &others);
                scope.spawn(move || {
                    let clock = CpuClock::start();
                    phase.work(own, more);
                    if let Ok(mut sum) = others.lock() {
                        *sum += clock.seconds();
                    }
                });
            }
            phase.work(0, &more)
        });
        let Some(window) = window else {
            return Err(parts.standstill().map_or(RunError::Stopped, |still| RunError::standing(scenario, seed, &still)));
        };
        parts.arrived(until, window);
        if until == warm {
            parts.reset_counters();
        }
        if until == end {
            break;
        }
    }
    let world = parts.merge();
    if let Ok(reported) = reported.lock() {
        progress.moved(1_000_000 - reported.0, world.events().saturating_sub(reported.1));
    }
    Ok((world, clock.seconds() + others.into_inner().unwrap_or(0.0)))
}

/// Describes the partition of a scenario's network, or why there is none; with `threads`, bundled into as many parts.
///
/// # Errors
/// The world cannot be built.
pub fn partition(scenario: &Resolved, seed: u64, threads: Option<usize>) -> Result<Value, RunError> {
    let world = crate::build::world::<QuadHeap<u128>>(scenario, seed)?;
    let (nodes, links) = (&scenario.expanded.nodes, scenario.link_directions());
    let one = |why: String| json!({ "parts": [], "links": [], "window_s": null, "events": 0.0, "crossing": 0.0, "whole": why });
    if let Some(why) = whole(scenario) {
        return Ok(one(why.to_owned()));
    }
    Ok(match Partition::new(&world, &topology(scenario, seed), threads) {
        Err(why) => one(why.to_string()),
        Ok(cut) => {
            let parts: Vec<Value> = cut
                .portions
                .iter()
                .map(|p| json!({ "nodes": p.nodes.iter().map(|&n| &nodes[n as usize]).collect::<Vec<_>>(), "load": p.load }))
                .collect();
            json!({
                "parts": parts,
                "links": cut.links.iter().map(|&i| &links[i as usize].name).collect::<Vec<_>>(),
                "window_s": cut.window.as_secs_f64(),
                "events": cut.events,
                "crossing": cut.crossing,
                "whole": idle(scenario, &cut),
            })
        }
    })
}
