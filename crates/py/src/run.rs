//! `run` and the `Run` it returns.

use crate::error;
use crate::events::{self, Asked};
use crate::interrupt::interrupt_runs;
use crate::resolved::Resolved;
use fairlane_scenario::{
    CaptureRequest, Captures, Options, Parallel, Progress, RunError, RunOutput, SeriesTable, SeriesWriter, Style, Table, Wanted,
    arrow_table, long_table, run_traced, within_run,
};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyMemoryView, PyString};
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Interval of progress reports to Python, which may stop the runs.
const HEARTBEAT: Duration = Duration::from_millis(100);
/// Time that stopped runs with plug-ins get to end.
const PATIENCE: Duration = Duration::from_millis(700);

/// Captured names with their files; bytes kept per packet, IPv6, queue lengths.
type CapturesArgument = (Vec<(String, Vec<String>)>, Option<u32>, bool, bool);

fn requested((requests, snaplen, ipv6, queue): CapturesArgument) -> Captures {
    let request = |(what, files): (String, Vec<String>)| CaptureRequest { what, files: files.into_iter().map(Into::into).collect() };
    Captures { requests: requests.into_iter().map(request).collect(), style: Style { snaplen, ipv6, queue } }
}

/// Runs a resolved scenario once for each seed (none given: its own), `threads` at a time, without holding the interpreter's lock.
///
/// `progress(fraction, runs done, events)` is called about ten times a second on the calling thread. If it returns False or
/// raises, or a signal handler raises (Ctrl-C), the runs stop, and Python plug-ins that they are calling get a KeyboardInterrupt. `captures`: captured names with one file for each seed, then the format: bytes kept per
/// packet (none given: its headers), IPv6 or not, queue lengths as comments or not. `trace`: recorded events (names of events,
/// flows and link directions, first and last time), file format, and folder. `here`: runs on the calling thread, which then calls `progress` itself between stretches of the run, and
/// later if these take longer; this saves creating a thread for short runs. `apart`: splits the network of every run into parts
/// whenever possible (True), or never (False), instead of when it pays; results are equal. `logs`: flows and groups whose transport stacks write their own logs.
#[pyfunction]
#[pyo3(signature = (resolved, seeds, threads, hop_probe=false, progress=None, captures=None, trace=None, why=false, here=false, apart=None, logs=Vec::new()))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn run(
    py: Python<'_>,
    resolved: &Bound<'_, Resolved>,
    mut seeds: Vec<u64>,
    threads: usize,
    hop_probe: bool,
    progress: Option<Bound<'_, PyAny>>,
    captures: Option<CapturesArgument>,
    trace: Option<Asked>,
    why: bool,
    here: bool,
    apart: Option<bool>,
    logs: Vec<String>,
) -> PyResult<Vec<Run>> {
    if within_run() {
        return Err(error::nested(py));
    }
    let resolved = resolved.get().shared();
    if seeds.is_empty() {
        seeds.push(resolved.scenario.seed);
    }
    let parts = match apart {
        None => Parallel::Pays,
        Some(true) => Parallel::Always,
        Some(false) => Parallel::Never,
    };
    let options =
        Options { seeds, threads, parts, hop_probe, captures: captures.map(requested).unwrap_or_default(), logs, why, metrics: None };
    let tracing = trace.map(|asked| events::request(py, asked)).transpose()?;
    if here {
        let (outcome, stopped) =
            on_this_thread(py, progress.map(Bound::unbind), |runs| run_traced(&resolved, &options, tracing.as_ref(), runs));
        return answer_of(py, stopped, outcome);
    }
    let (outcome, stopped) = on_another_thread(py, progress.as_ref(), move |runs| run_traced(&resolved, &options, tracing.as_ref(), runs))?;
    answer_of(py, stopped, outcome)
}

/// Executes runs on another thread; handles signals and reports progress meanwhile. Returns the outcome and the exception that stopped it.
pub(crate) fn on_another_thread<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Progress) -> T + Send + 'static,
) -> PyResult<(T, Option<PyErr>)> {
    let state = Arc::new(Progress::default());
    let (send, mut receive) = sync_channel(1);
    let runs = state.clone();
    std::thread::spawn(move || {
        // The receiver may be gone.
        let _ = send.send(work(&runs));
    });
    let mut stopped: Option<(PyErr, Instant)> = None;
    let outcome = loop {
        // The receiver goes into the closure and back: it may be used without the lock, but not shared.
        let answer;
        (receive, answer) = py.detach(move || {
            let answer = receive.recv_timeout(HEARTBEAT);
            (receive, answer)
        });
        match answer {
            Ok(outcome) => break outcome,
            Err(RecvTimeoutError::Disconnected) => return Err(error::lost(py)),
            Err(RecvTimeoutError::Timeout) => {}
        }
        stopped = match stopped {
            None => heartbeat(py, progress, &state).err().map(|e| (e, Instant::now())),
            // C code that does not return: the thread is abandoned, and ends with the process.
            Some((e, since)) if has_plugins() && since.elapsed() > PATIENCE => return Err(e),
            stopped => stopped,
        };
        if stopped.is_some() {
            state.stop();
            interrupt_runs(py, state.number());
        }
    };
    Ok((outcome, stopped.map(|(e, _)| e)))
}

/// True if plug-in queues or congestion controls are registered.
pub(crate) fn has_plugins() -> bool {
    !fairlane_scenario::plugins().is_empty()
}

/// Results of runs for Python; `stopped`: exception that stopped them.
fn answer_of(py: Python<'_>, stopped: Option<PyErr>, outcome: Result<Vec<RunOutput>, RunError>) -> PyResult<Vec<Run>> {
    match (stopped, outcome) {
        (Some(e), _) => Err(e),
        (None, Err(e)) => Err(error::run(py, &e)),
        (None, Ok(runs)) => Ok(runs.into_iter().map(|output| Run { output }).collect()),
    }
}

/// Executes runs on the calling thread, as [`on_another_thread`] does on another.
pub(crate) fn on_this_thread<T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&Progress) -> T + Send,
) -> (T, Option<PyErr>) {
    let stopped = Arc::new(Mutex::new(None));
    let why = stopped.clone();
    let state = Progress::asking(HEARTBEAT, move |state| {
        let answer = Python::attach(|py| heartbeat(py, progress.as_ref().map(|p| p.bind(py)), state));
        let goes_on = answer.is_ok();
        if let (Err(e), Ok(mut why)) = (answer, why.lock()) {
            *why = Some(e);
        }
        goes_on
    });
    let outcome = py.detach(|| work(&state));
    let stopped = stopped.lock().ok().and_then(|mut e| e.take());
    (outcome, stopped)
}

/// Handles pending signals and reports progress to Python.
fn heartbeat(py: Python<'_>, progress: Option<&Bound<'_, PyAny>>, state: &Progress) -> PyResult<()> {
    py.check_signals()?;
    if let Some(progress) = progress {
        let answer = progress.call1((state.fraction(), state.done(), state.events()))?;
        if !answer.is_none() && !answer.is_truthy()? {
            return Err(error::stopped(py));
        }
    }
    Ok(())
}

/// Writes a time series of several runs (`flow_series` or `link_series`) as one Parquet file, by row groups; false, without a file,
/// if nothing was sampled. Signals are handled between row groups.
#[pyfunction]
pub(crate) fn write_series(py: Python<'_>, runs: Vec<Bound<'_, Run>>, table: &str, path: PathBuf) -> PyResult<bool> {
    let sampled: Vec<_> = runs.iter().filter_map(|run| Some((run.get().output.seed, run.get().sampled(table)?))).collect();
    let Some(mut file) = py.detach(|| SeriesWriter::new(&path, &sampled))? else { return Ok(false) };
    while py.detach(|| file.more(&sampled))? {
        py.check_signals()?;
    }
    py.detach(|| file.end())?;
    Ok(true)
}

/// Returns one table of several runs of a scenario (`flows`, `groups`, `links` or `network`) as an Arrow stream with a seed for each run; `key` names the column of names.
#[pyfunction]
pub(crate) fn arrow<'py>(
    py: Python<'py>,
    runs: Vec<Bound<'py, Run>>,
    seeds: Vec<u64>,
    table: &str,
    key: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let tables = seeds
        .into_iter()
        .zip(&runs)
        .map(|(seed, run)| run.get().output.table(table).map(|own| (seed, own)).ok_or_else(|| PyKeyError::new_err(table.to_owned())))
        .collect::<PyResult<Vec<_>>>()?;
    let stream = py.detach(|| arrow_table(&tables, key));
    PyBytes::new_with(py, stream.size(), |place| {
        py.detach(|| stream.write(place));
        Ok(())
    })
}

/// One run: facts as attributes, tables as methods.
#[pyclass(frozen, module = "fairlane._core")]
pub(crate) struct Run {
    output: RunOutput,
}

impl From<RunOutput> for Run {
    fn from(output: RunOutput) -> Self {
        Self { output }
    }
}

#[pymethods]
impl Run {
    /// Seed of the run.
    #[getter]
    fn seed(&self) -> u64 {
        self.output.seed
    }
    /// Hash of the trajectory.
    #[getter]
    fn fingerprint(&self) -> String {
        format!("{:016x}", self.output.fingerprint)
    }
    /// Number of events.
    #[getter]
    fn events(&self) -> u64 {
        self.output.events
    }
    /// Packets transmitted over a link.
    #[getter]
    fn packet_hops(&self) -> u64 {
        self.output.packet_hops
    }
    /// CPU seconds of the run.
    #[getter]
    fn cpu_s(&self) -> f64 {
        self.output.cpu_s
    }
    /// CPU seconds of building the network.
    #[getter]
    fn setup_s(&self) -> f64 {
        self.output.setup_s
    }
    /// Long table of the run in Parquet, as studies store it (`wanted`: table, metric, names of the rows; none given: all).
    #[pyo3(signature = (key, engine, wanted=None))]
    fn cell<'py>(&self, py: Python<'py>, key: &str, engine: &str, wanted: Option<Vec<Wanted>>) -> PyResult<Bound<'py, PyBytes>> {
        let file = py.detach(|| long_table(&self.output, key, engine, wanted.as_deref()))?;
        Ok(PyBytes::new(py, &file))
    }
    /// Most packets alive at once.
    #[getter]
    fn peak_packets(&self) -> u64 {
        self.output.peak_packets as u64
    }
    /// Warnings about the result: code and text of each.
    #[getter]
    fn warnings(&self) -> Vec<(&'static str, &str)> {
        self.output.warnings.iter().map(|w| (w.code.name(), w.text.as_str())).collect()
    }
    /// One row per flow.
    fn flows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        columns(py, &self.output.flows)
    }
    /// One row per group of flows, instead of `flows`, if the scenario reports groups; else empty.
    fn groups<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        columns(py, &self.output.groups)
    }
    /// One row per link direction.
    fn links<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        columns(py, &self.output.links)
    }
    /// One row.
    fn network<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        columns(py, &self.output.network)
    }
    /// Limits of flows and the effect of queues, as JSON; None if not requested.
    fn why(&self) -> Option<String> {
        self.output.why.as_ref().map(ToString::to_string)
    }
    /// Logs of transport stacks: name of the flow and the end, and the document.
    fn logs<'py>(&self, py: Python<'py>) -> Vec<(&str, Bound<'py, PyBytes>)> {
        self.output.logs.iter().map(|(name, text)| (name.as_str(), PyBytes::new(py, text))).collect()
    }
    /// One row per instant and flow; empty without sampling.
    fn flow_series<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.series(py, "flow_series")
    }
    /// One row per instant and link; empty without sampling.
    fn link_series<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.series(py, "link_series")
    }
    /// Columns of `flow_series` or `link_series`.
    fn names(&self, table: &str) -> Vec<&'static str> {
        names(self.sampled(table))
    }
    /// One column of `flow_series` or `link_series`.
    fn column<'py>(&self, py: Python<'py>, table: &str, name: &str) -> PyResult<Bound<'py, PyAny>> {
        column(py, self.sampled(table), name)
    }
}

impl Run {
    fn sampled(&self, table: &str) -> Option<&SeriesTable> {
        if table == "flow_series" { self.output.flow_series.as_ref() } else { self.output.link_series.as_ref() }
    }

    fn series<'py>(&self, py: Python<'py>, table: &str) -> PyResult<Bound<'py, PyDict>> {
        let (series, out) = (self.sampled(table), PyDict::new(py));
        for name in names(series) {
            out.set_item(name, column(py, series, name)?)?;
        }
        Ok(out)
    }
}

fn names(series: Option<&SeriesTable>) -> Vec<&'static str> {
    series.map_or_else(Vec::new, |s| std::iter::once(s.key).chain(s.names().iter().copied()).collect())
}

fn column<'py>(py: Python<'py>, series: Option<&SeriesTable>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let missing = || PyKeyError::new_err(name.to_owned());
    let series = series.ok_or_else(missing)?;
    if name == series.key {
        // Names repeat: one Python object for each.
        let each: Vec<_> = series.subjects.iter().map(|s| PyString::new(py, s)).collect();
        let out = PyList::empty(py);
        for &(count, instants) in &series.spans {
            let instant = PyList::new(py, &each[..count])?;
            out.as_sequence().in_place_concat(&instant.as_sequence().repeat(instants)?)?;
        }
        return Ok(out.into_any());
    }
    view(py, &series.column(name).ok_or_else(missing)?)
}

/// Table as a dict of columns: lists of text, and views of doubles that NumPy, polars and `list` accept.
///
/// A view, not an array: a run with tables on a terminal needs no NumPy, which takes longer to load than the run.
fn columns<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    for (name, values) in &table.text {
        out.set_item(name, PyList::new(py, values.iter().map(|v| v.as_str()))?)?;
    }
    for (name, values) in &table.numbers {
        out.set_item(name, view(py, values)?)?;
    }
    Ok(out)
}

/// Doubles as a view.
fn view<'py>(py: Python<'py>, values: &[f64]) -> PyResult<Bound<'py, PyAny>> {
    let bytes = PyBytes::new_with(py, size_of_val(values), |bytes| {
        for (place, value) in bytes.chunks_exact_mut(size_of::<f64>()).zip(values) {
            place.copy_from_slice(&value.to_ne_bytes());
        }
        Ok(())
    })?;
    PyMemoryView::from(&bytes)?.call_method1("cast", ("d",))
}
