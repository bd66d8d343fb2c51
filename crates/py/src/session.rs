//! `Simulation`: an interactive run.

use crate::error;
use crate::events::{self, Listening};
use crate::resolved::Resolved;
use crate::run::Run;
use fairlane_scenario::{Action, OBSERVED, Row, Seek, SeekTarget, SetError, StateValue, Waiting, within_run};
use fairlane_units::{Rate, Time};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// An interactive run, for `fairlane.Simulation`.
#[pyclass(frozen, module = "fairlane._core")]
pub(crate) struct Simulation {
    inner: Mutex<fairlane_scenario::Simulation>,
}

impl Simulation {
    fn of(inner: fairlane_scenario::Simulation) -> Self {
        Self { inner: Mutex::new(inner) }
    }
    fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, fairlane_scenario::Simulation>> {
        self.inner.try_lock().map_err(|_| error::busy(py))
    }
    /// Works without holding the interpreter's lock.
    fn work<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut fairlane_scenario::Simulation) -> T + Send) -> PyResult<T> {
        let inner = &self.inner;
        py.detach(|| inner.try_lock().ok().map(|mut inner| work(&mut inner))).ok_or_else(|| error::busy(py))
    }
}

#[pymethods]
impl Simulation {
    /// Creates the run of a resolved scenario with this seed, before its first event.
    #[new]
    #[pyo3(signature = (resolved, seed, why=false))]
    fn new(py: Python<'_>, resolved: &Bound<'_, Resolved>, seed: u64, why: bool) -> PyResult<Self> {
        if within_run() {
            return Err(error::nested(py));
        }
        let scenario = resolved.get().shared();
        py.detach(|| fairlane_scenario::Simulation::new(scenario, seed, why)).map(Self::of).map_err(|e| error::run(py, &e))
    }
    /// Advances to a time in picoseconds, without holding the interpreter's lock; signals are handled (Ctrl-C). Returns true once it is there, false if
    /// rows must be delivered first.
    fn advance(&self, py: Python<'_>, to: u64) -> PyResult<bool> {
        if within_run() {
            return Err(error::nested(py));
        }
        loop {
            let (there, pending) = self.work(py, |inner| (inner.advance(Time::from_ps(to)), inner.pending()))?;
            py.check_signals()?;
            let there = there.map_err(|e| error::run(py, &e))?;
            if there || pending {
                return Ok(there);
            }
        }
    }
    /// Registers a listener and returns its number: names of events, flows and links, first and last time; each event before the next one, or in batches.
    fn listen(&self, py: Python<'_>, asked: Listening, at_once: bool) -> PyResult<u32> {
        let request = events::listening(py, asked)?;
        self.work(py, |inner| inner.listen(&request, at_once))?.map_err(|e| error::run(py, &e.into()))
    }
    /// Removes a listener.
    fn leave(&self, py: Python<'_>, id: u32) -> PyResult<()> {
        self.work(py, |inner| inner.leave(id))
    }
    /// Takes the rows of listeners that get each event at once, with the listener's number.
    fn told<'py>(&self, py: Python<'py>) -> PyResult<Vec<(u32, Bound<'py, PyBytes>)>> {
        Ok(self.lock(py)?.prompt_rows().into_iter().map(|(id, row)| (id, PyBytes::new(py, &row))).collect())
    }
    /// Takes the batches of rows, with the listener's number.
    fn batches<'py>(&self, py: Python<'py>) -> PyResult<Vec<(u32, Bound<'py, PyBytes>)>> {
        let batches = self.work(py, fairlane_scenario::Simulation::batches)?;
        Ok(batches.into_iter().map(|(id, rows)| (id, PyBytes::new(py, &rows))).collect())
    }
    /// Texts behind the numbers in rows, by column.
    fn texts(&self, py: Python<'_>) -> PyResult<HashMap<&'static str, Vec<String>>> {
        Ok(self.lock(py)?.texts().into_iter().collect())
    }
    /// Advances like `advance`, for at most `spend` microseconds of wall-clock time; returns true once it is there.
    fn go(&self, py: Python<'_>, to: u64, spend: u64) -> PyResult<bool> {
        let until = Instant::now() + Duration::from_micros(spend);
        loop {
            let there = self.work(py, |inner| inner.advance(Time::from_ps(to)))?;
            py.check_signals()?;
            let there = there.map_err(|e| error::run(py, &e))?;
            if there || Instant::now() >= until {
                return Ok(there);
            }
        }
    }
    /// Starts an animation that follows one of every `one_of` packets of a flow, or with None shows only link loads.
    #[pyo3(signature = (one_of=None))]
    fn watch(&self, py: Python<'_>, one_of: Option<u32>) -> PyResult<()> {
        self.work(py, |inner| inner.watch(one_of))
    }
    /// Events since the last chunk, for `web/src/watch/chunk.js`; None without an animation.
    fn chunk<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        Ok(self.work(py, fairlane_scenario::Simulation::chunk)?.map(|bytes| PyBytes::new(py, &bytes)))
    }
    /// Advances to the next "packet", "drop", "mark" or "timeout", for at most `spend` microseconds. True: found; False: reached `to`; None: call again, with `fresh` false.
    fn seek(&self, py: Python<'_>, to: u64, what: &str, fresh: bool, spend: u64) -> PyResult<Option<bool>> {
        let sought = SeekTarget::named(what).ok_or_else(|| error::bad(py, &format!("unknown event {what:?}")))?;
        let until = Instant::now() + Duration::from_micros(spend);
        let mut fresh = fresh;
        loop {
            let seen = self.work(py, |inner| inner.seek(Time::from_ps(to), sought, fresh))?;
            py.check_signals()?;
            fresh = false;
            match seen.map_err(|e| error::run(py, &e))? {
                Seek::Found => return Ok(Some(true)),
                Seek::Over => return Ok(Some(false)),
                Seek::Going if Instant::now() >= until => return Ok(None),
                Seek::Going => {}
            }
        }
    }
    /// Copies the run; with a number, the copy gets other random numbers.
    #[pyo3(signature = (number=None))]
    fn branch(&self, py: Python<'_>, number: Option<u64>) -> PyResult<Self> {
        match self.work(py, |inner| inner.can_branch().then(|| inner.branch(number)))? {
            Some(branch) => Ok(Self::of(branch)),
            None => Err(error::no_branch(py)),
        }
    }
    /// Changes values by path at the current time.
    fn set(&self, py: Python<'_>, sets: Vec<(String, String)>, drop_waiting: bool) -> PyResult<()> {
        let waiting = if drop_waiting { Waiting::Drop } else { Waiting::Move };
        let done = self.work(py, |inner| inner.set(&sets, waiting))?;
        done.map_err(|e| match e {
            SetError::Refused(d) => error::scenario(py, &d),
            SetError::Run(e) => error::run(py, &e),
        })
    }
    /// Chooses the flows whose windows and rates `step` sets, by number; returns of each the slowest rate of its path (bit/s), its round-trip time without
    /// queues (s), and the payload of a segment (bytes).
    fn set_agents(&self, py: Python<'_>, flows: Vec<u32>) -> PyResult<Vec<(f64, f64, u32)>> {
        self.work(py, |inner| inner.set_agents(&flows))?.map_err(|e| error::run(py, &e))
    }
    /// Window (bytes) and pacing rate (bit/s, 0: none) of each agent.
    fn actions(&self, py: Python<'_>) -> PyResult<Vec<(u64, u64)>> {
        Ok(self.lock(py)?.actions().iter().map(|a| (a.window, a.rate.as_bps())).collect())
    }
    /// Sets window (bytes) and pacing rate (bit/s, 0: none) of each agent, advances to a time in picoseconds, and returns the observations of all
    /// agents as doubles, one after another. Signals are handled.
    fn step<'py>(&self, py: Python<'py>, actions: Vec<(f64, f64)>, to: u64) -> PyResult<Bound<'py, PyBytes>> {
        if within_run() {
            return Err(error::nested(py));
        }
        let actions: Vec<Action> =
            actions.into_iter().map(|(w, r)| Action { window: w.round() as u64, rate: Rate::from_bps(r.round() as u64) }).collect();
        // A step is short: releasing the interpreter's lock would cost as much.
        self.lock(py)?.act(&actions).map_err(|e| error::run(py, &e))?;
        loop {
            let mut inner = self.lock(py)?;
            if inner.advance(Time::from_ps(to)).map_err(|e| error::run(py, &e))? {
                let mut seen = Vec::new();
                inner.observe(&mut seen);
                let bytes: Vec<u8> = seen.iter().flat_map(|x| x.to_ne_bytes()).collect();
                return Ok(PyBytes::new(py, &bytes));
            }
            drop(inner);
            py.check_signals()?;
        }
    }
    /// Scenario of the simulated part, and its results so far.
    fn result(&self, py: Python<'_>) -> PyResult<(Resolved, Run)> {
        let result = self.work(py, |inner| inner.output())?;
        result.map(|(scenario, output)| (Resolved::of(scenario), Run::from(output))).map_err(|e| error::run(py, &e))
    }
    /// Current scenario, as JSON without expanded parts.
    fn state(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.lock(py)?.state().to_json().to_string())
    }
    /// Current simulated time in picoseconds.
    #[getter]
    fn now(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.lock(py)?.now().as_ps())
    }
    /// End of the run in picoseconds.
    #[getter]
    fn end(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.lock(py)?.end().as_ps())
    }
    /// Seed of the run.
    #[getter]
    fn seed(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.lock(py)?.seed())
    }
    /// Events executed so far.
    #[getter]
    fn events(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.lock(py)?.events())
    }
    /// Hash of the trajectory so far.
    #[getter]
    fn fingerprint(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("{:016x}", self.lock(py)?.fingerprint()))
    }
    /// Names of the flows.
    fn flow_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.lock(py)?.flow_names().iter().map(ToString::to_string).collect())
    }
    /// Names of the link directions.
    fn link_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.lock(py)?.link_names().iter().map(ToString::to_string).collect())
    }
    /// Current state of a flow: values by group and name.
    fn flow<'py>(&self, py: Python<'py>, number: u32) -> PyResult<Bound<'py, PyDict>> {
        grouped(py, self.lock(py)?.flow(number))
    }
    /// Current state of the queue of a link direction: values by group and name.
    fn queue<'py>(&self, py: Python<'py>, number: u32) -> PyResult<Bound<'py, PyDict>> {
        grouped(py, self.lock(py)?.queue(number))
    }
    /// Number, packets and bytes of each flow with packets in that queue; None if the queue does not report them.
    fn waiting(&self, py: Python<'_>, number: u32) -> PyResult<Option<Vec<(u32, u32, u64)>>> {
        Ok(self.lock(py)?.waiting(number))
    }
}

/// Columns of event tables, and the kinds of events with a value, one bit each.
#[pyfunction]
pub(crate) fn event_columns() -> Vec<(&'static str, u16)> {
    fairlane_scenario::event_columns()
}

/// Quantities that `step` returns of each agent: name, unit, what it is.
#[pyfunction]
pub(crate) fn observed() -> Vec<(&'static str, &'static str, &'static str)> {
    OBSERVED.to_vec()
}

/// Values as dicts by group.
fn grouped(py: Python<'_>, row: Row) -> PyResult<Bound<'_, PyDict>> {
    let out = PyDict::new(py);
    for (group, name, value) in row {
        let own = match out.get_item(group)? {
            Some(own) => own.cast_into::<PyDict>()?,
            None => {
                let own = PyDict::new(py);
                out.set_item(group, &own)?;
                own
            }
        };
        match value {
            StateValue::Number(x) => own.set_item(name, x)?,
            StateValue::Count(n) => own.set_item(name, n)?,
            StateValue::Word(w) => own.set_item(name, w)?,
            StateValue::Nothing => own.set_item(name, py.None())?,
        }
    }
    Ok(out)
}

/// Parses a duration such as "20ms" into whole picoseconds.
#[pyfunction]
pub(crate) fn picoseconds(py: Python<'_>, text: &str) -> PyResult<u64> {
    text.parse::<fairlane_units::Dur>().map(fairlane_units::Dur::as_ps).map_err(|e| error::bad(py, &e.to_string()))
}
