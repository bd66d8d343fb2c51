//! Runs of one scenario with many values: points, each with some seeds, on all cores.

use crate::base::Base;
use crate::code::Warning;
use crate::diag::Diagnostics;
use crate::output::RunOutput;
use crate::progress::Progress;
use crate::resolved::Resolved;
use crate::run::{on_threads, run_single};
use crate::run_error::RunError;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Values of a point: paths and values, set in order.
pub type PointValues = Vec<(String, String)>;

/// Wanted numbers of a run: a table, a flow, group or link in it (`*`: all), and a metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointMetric {
    /// `flows`, `groups`, `links` or `network`.
    pub table: String,
    /// Name of a row, or of a group whose flows are meant.
    pub name: String,
    /// Name of the column.
    pub metric: String,
}

/// Numbers of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct PointRun {
    /// Hash of the trajectory.
    pub fingerprint: u64,
    /// Number of events.
    pub events: u64,
    /// Warnings about the result.
    pub warnings: Vec<Warning>,
    /// Values of each wanted metric, one per row.
    pub values: Vec<Vec<f64>>,
}

/// Scenario of a point, and the results of its runs.
pub type WholePoint = (Arc<Resolved>, Vec<RunOutput>);

/// Why points were not run.
#[derive(Debug)]
pub enum PointError {
    /// Values of a point are wrong.
    Refused(Diagnostics),
    /// The point with this number has no row for the wanted metric with this number.
    Unknown(usize, usize),
    /// A run failed.
    Run(RunError),
}

/// Nodes, link directions and flows of all points that are kept from their check to their runs; further points are resolved again.
const KEPT: usize = 1 << 15;
/// Count of a point itself.
const POINT: usize = 8;

/// Runs every point with every seed (none given: its own), and returns the wanted numbers of each run: all seeds of the first point, then of the next.
/// All points are checked before anything runs.
///
/// # Errors
/// The first point that is wrong, or a run that failed.
pub fn run_points(
    base: &Base,
    points: &[PointValues],
    seeds: &[u64],
    wanted: &[PointMetric],
    threads: usize,
    progress: &Progress,
) -> Result<Vec<PointRun>, PointError> {
    let metrics: Vec<(String, String)> = wanted.iter().map(|w| (w.table.clone(), w.metric.clone())).collect();
    let check = |point: usize, resolved: &Resolved| match wanted.iter().position(|w| rows(resolved, w).is_none()) {
        Some(missing) => Err(PointError::Unknown(point, missing)),
        None => Ok(()),
    };
    let kept = resolve_all(base, points, KEPT, check, threads, progress)?;
    let runs = seeds.len().max(1);
    let run = |job: usize| {
        let point = job / runs;
        let again = || base.resolved(&points[point]).map(Arc::new).map_err(|wrong| RunError::Change(wrong.to_string()));
        let resolved = kept[point].clone().map_or_else(again, Ok)?;
        let seed = seeds.get(job % runs).copied().unwrap_or(resolved.scenario.seed);
        Ok(taken(&resolved, run_single(&resolved, seed, Some(&metrics), progress)?, wanted))
    };
    execute(points.len() * runs, threads, progress, run)
}

/// Runs every point with every seed (none given: its own), and returns the resolved scenario of each point and the whole results of its runs.
///
/// # Errors
/// The first point that is wrong, or a run that failed.
pub fn run_points_whole(
    base: &Base,
    points: &[PointValues],
    seeds: &[u64],
    threads: usize,
    progress: &Progress,
) -> Result<Vec<WholePoint>, PointError> {
    let kept: Vec<_> = resolve_all(base, points, usize::MAX, |_, _| Ok(()), threads, progress)?.into_iter().flatten().collect();
    let runs = seeds.len().max(1);
    let run = |job: usize| {
        let resolved = &kept[job / runs];
        run_single(resolved, seeds.get(job % runs).copied().unwrap_or(resolved.scenario.seed), None, progress)
    };
    let mut all = execute(points.len() * runs, threads, progress, run)?.into_iter();
    Ok(kept.iter().map(|resolved| (resolved.clone(), all.by_ref().take(runs).collect())).collect())
}

fn execute<T: Send>(
    runs: usize,
    threads: usize,
    progress: &Progress,
    run: impl Fn(usize) -> Result<T, RunError> + Sync,
) -> Result<Vec<T>, PointError> {
    progress.runs.store(runs, Ordering::Relaxed);
    on_threads(runs, threads, progress, run).map_err(PointError::Run)
}

/// Resolves and checks all points, and returns the first ones: as many as fit into `room`.
fn resolve_all(
    base: &Base,
    points: &[PointValues],
    room: usize,
    check: impl Fn(usize, &Resolved) -> Result<(), PointError> + Sync,
    threads: usize,
    progress: &Progress,
) -> Result<Vec<Option<Arc<Resolved>>>, PointError> {
    let taken = AtomicUsize::new(0);
    let resolve = |point: usize| {
        let resolved = base.resolved(&points[point]).map_err(PointError::Refused)?;
        check(point, &resolved)?;
        let of = &resolved.expanded;
        let size = POINT + of.nodes.len() + of.links.len() + of.flows.len();
        let before = taken.fetch_add(size, Ordering::Relaxed);
        Ok((before.saturating_add(size) <= room || points.len() == 1).then(|| Arc::new(resolved)))
    };
    let step = |point: usize| if progress.stopped() { Err(RunError::Stopped) } else { Ok(resolve(point)) };
    execute(points.len(), threads, progress, step)?.into_iter().collect()
}

/// Names of the rows of a wanted metric.
enum RowNames<'r> {
    All,
    One(&'r str),
    Some(HashSet<&'r str>),
}

impl RowNames<'_> {
    fn has(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::One(own) => *own == name,
            Self::Some(own) => own.contains(name),
        }
    }
}

/// Rows of a wanted metric; none if the scenario has no such row.
fn rows<'r>(resolved: &'r Resolved, wanted: &'r PointMetric) -> Option<RowNames<'r>> {
    let name = wanted.name.as_str();
    let by_flow = resolved.report.is_flows();
    let known = match wanted.table.as_str() {
        "network" => return Some(RowNames::All),
        "links" => name == "*" || resolved.link_directions().iter().any(|l| l.name == name),
        "groups" => !by_flow && (name == "*" || resolved.flows.contains_key(name)),
        "flows" if by_flow && resolved.flows.contains_key(name) => {
            let own = resolved.flow_members().iter().filter(|m| m.group.as_str() == name);
            return Some(RowNames::Some(own.map(|m| m.name.as_str()).collect()));
        }
        "flows" => by_flow && (name == "*" || resolved.flow_members().iter().any(|m| m.name.as_str() == name)),
        _ => false,
    };
    known.then_some(if name == "*" { RowNames::All } else { RowNames::One(name) })
}

/// Takes the wanted numbers out of a result.
fn taken(resolved: &Resolved, run: RunOutput, wanted: &[PointMetric]) -> PointRun {
    let values = wanted.iter().map(|w| {
        let (Some(rows), Some(table)) = (rows(resolved, w), run.table(&w.table)) else { return Vec::new() };
        let Some((_, column)) = table.numbers.iter().find(|(name, _)| *name == w.metric) else { return Vec::new() };
        match table.text.iter().find(|(name, _)| *name == "name") {
            Some((_, names)) => names.iter().zip(column).filter(|(name, _)| rows.has(name)).map(|(_, x)| *x).collect(),
            None => column.clone(),
        }
    });
    let values = values.collect();
    PointRun { fingerprint: run.fingerprint, events: run.events, warnings: run.warnings, values }
}
