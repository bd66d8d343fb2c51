//! `Prepared`: a scenario that is checked once and run with many values.

use crate::resolved::Resolved;
use crate::run::{Run, has_plugins, on_another_thread, on_this_thread};
use crate::{error, format_of};
use fairlane_scenario::{Base, PointError, PointMetric, PointRun, PointValues, Progress, run_points, run_points_whole, within_run};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};
use std::collections::HashSet;
use std::sync::Arc;

/// A scenario text, checked once; values are set by path.
#[pyclass(frozen, module = "fairlane._core")]
pub(crate) struct Prepared {
    base: Arc<Base>,
}

/// Answer of `numbers`.
#[derive(IntoPyObject)]
enum Numbers<'py> {
    /// Doubles run by run, how many there are of each wanted metric in each run, fingerprints, events, warnings (code and text of each once).
    All(Bound<'py, PyAny>, Vec<u32>, Vec<u64>, Vec<u64>, Vec<(&'static str, String)>),
    /// A point and the metric for which it has no row.
    Unknown(usize, usize),
}

#[pymethods]
impl Prepared {
    /// Reads a scenario and sets values for good. Errors in its values are those of `resolve`, because other values may remove them.
    #[new]
    fn new(py: Python<'_>, text: &str, filename: &str, format: &str, sets: Vec<(String, String)>) -> PyResult<Self> {
        let format = format_of(format);
        let read = py.detach(|| {
            let mut base = Base::new(text, filename, format)?;
            // What is wrong without other values may be right with them.
            let _ = base.prepare(&sets);
            Ok(base)
        });
        read.map(|base| Self { base: Arc::new(base) }).map_err(|d| error::scenario(py, &d))
    }
    /// Resolves the scenario with other values.
    fn resolve(&self, py: Python<'_>, sets: Vec<(String, String)>) -> PyResult<Resolved> {
        let resolved = py.detach(|| self.base.resolved(&sets));
        resolved.map(|inner| Resolved::of(Arc::new(inner))).map_err(|d| error::scenario(py, &d))
    }
    /// Runs every point with every seed (none given: its own), `threads` at a time, without holding the interpreter's lock; `progress` as for `run`.
    /// Returns the numbers of the wanted metrics (table, row, metric), or the numbers of a point and of a metric for which it has no row.
    #[pyo3(signature = (points, seeds, wanted, threads, progress=None))]
    fn numbers<'py>(
        &self,
        py: Python<'py>,
        points: Vec<PointValues>,
        seeds: Vec<u64>,
        wanted: Vec<(String, String, String)>,
        threads: usize,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Numbers<'py>> {
        let base = self.base.clone();
        let wanted: Vec<_> = wanted.into_iter().map(|(table, name, metric)| PointMetric { table, name, metric }).collect();
        let runs = (points.len() * seeds.len().max(1), threads);
        let work = move |state: &Progress| run_points(&base, &points, &seeds, &wanted, threads, state);
        match execute(py, runs, progress, work) {
            Ok(runs) => numbers(py, runs),
            Err(Stop::Unknown(point, metric)) => Ok(Numbers::Unknown(point, metric)),
            Err(Stop::Exception(e)) => Err(e),
        }
    }
    /// Runs every point with every seed, as `numbers` does, and returns the scenario and the runs of each point.
    #[pyo3(signature = (points, seeds, threads, progress=None))]
    fn runs(
        &self,
        py: Python<'_>,
        points: Vec<PointValues>,
        seeds: Vec<u64>,
        threads: usize,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Vec<(Resolved, Vec<Run>)>> {
        let base = self.base.clone();
        let runs = (points.len() * seeds.len().max(1), threads);
        let work = move |state: &Progress| run_points_whole(&base, &points, &seeds, threads, state);
        match execute(py, runs, progress, work) {
            Ok(points) => {
                Ok(points.into_iter().map(|(point, runs)| (Resolved::of(point), runs.into_iter().map(Run::from).collect())).collect())
            }
            Err(Stop::Exception(e)) => Err(e),
            // Nothing is wanted by name.
            Err(Stop::Unknown(..)) => Err(error::lost(py)),
        }
    }
}

/// Why points gave no results.
enum Stop {
    Unknown(usize, usize),
    Exception(PyErr),
}

/// Executes runs, given their number and that of threads: on this thread if that saves creating another.
fn execute<T: Send + 'static>(
    py: Python<'_>,
    (runs, threads): (usize, usize),
    progress: Option<Bound<'_, PyAny>>,
    work: impl FnOnce(&Progress) -> Result<T, PointError> + Send + 'static,
) -> Result<T, Stop> {
    if within_run() {
        return Err(Stop::Exception(error::nested(py)));
    }
    let (outcome, stopped) = if runs.min(threads) <= 1 && !has_plugins() {
        on_this_thread(py, progress.map(Bound::unbind), work)
    } else {
        on_another_thread(py, progress.as_ref(), work).map_err(Stop::Exception)?
    };
    match (stopped, outcome) {
        (Some(e), _) => Err(Stop::Exception(e)),
        (None, Ok(done)) => Ok(done),
        (None, Err(PointError::Refused(found))) => Err(Stop::Exception(error::scenario(py, &found))),
        (None, Err(PointError::Unknown(point, metric))) => Err(Stop::Unknown(point, metric)),
        (None, Err(PointError::Run(e))) => Err(Stop::Exception(error::run(py, &e))),
    }
}

fn numbers(py: Python<'_>, runs: Vec<PointRun>) -> PyResult<Numbers<'_>> {
    let counts: Vec<u32> = runs.iter().flat_map(|run| run.values.iter().map(|own| own.len() as u32)).collect();
    let all = runs.iter().flat_map(|run| run.values.iter().flatten());
    let size = counts.iter().map(|n| *n as usize).sum::<usize>() * size_of::<f64>();
    let bytes = PyBytes::new_with(py, size, |bytes| {
        bytes.chunks_exact_mut(size_of::<f64>()).zip(all).for_each(|(place, value)| place.copy_from_slice(&value.to_ne_bytes()));
        Ok(())
    })?;
    let view = PyMemoryView::from(&bytes)?.call_method1("cast", ("d",))?;
    let (fingerprints, events) = runs.iter().map(|run| (run.fingerprint, run.events)).unzip();
    let mut known = HashSet::new();
    let texts = runs.into_iter().flat_map(|run| run.warnings).map(|w| (w.code.name(), w.text));
    let warnings = texts.filter(|(_, text)| known.insert(text.clone())).collect();
    Ok(Numbers::All(view, counts, fingerprints, events, warnings))
}
