//! `Simulation`: a run in hand.

use crate::error;
use crate::events::{self, Listening};
use crate::resolved::Resolved;
use crate::run::Run;
use fairlane_scenario::{Row, Seek, SetError, Sought, StateValue, Waiting, within_run};
use fairlane_units::Time;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// A run in hand, for `fairlane.Simulation`.
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
    /// The run of a resolved scenario with this seed, before anything has happened.
    #[new]
    #[pyo3(signature = (resolved, seed, why=false))]
    fn new(py: Python<'_>, resolved: &Bound<'_, Resolved>, seed: u64, why: bool) -> PyResult<Self> {
        if within_run() {
            return Err(error::nested(py));
        }
        let scenario = resolved.get().shared();
        py.detach(|| fairlane_scenario::Simulation::new(scenario, seed, why)).map(Self::of).map_err(|e| error::run(py, &e))
    }
    /// Goes on to a time in picoseconds, without holding the interpreter's lock; signals come through (Ctrl-C). Whether it is there: it is not where
    /// somebody has to hear of something before.
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
    /// Somebody listens from now on: names of events, flows and links, from when, to when; of each event before the next one, or in batches. The number.
    fn listen(&self, py: Python<'_>, asked: Listening, at_once: bool) -> PyResult<u32> {
        let request = events::listening(py, asked)?;
        self.work(py, |inner| inner.listen(&request, at_once))?.map_err(|e| error::run(py, &e.into()))
    }
    /// Nobody listens under that number any more.
    fn leave(&self, py: Python<'_>, id: u32) -> PyResult<()> {
        self.work(py, |inner| inner.leave(id))
    }
    /// What is to be heard event by event: who, and a row.
    fn told<'py>(&self, py: Python<'py>) -> PyResult<Vec<(u32, Bound<'py, PyBytes>)>> {
        Ok(self.lock(py)?.told().into_iter().map(|(id, row)| (id, PyBytes::new(py, &row))).collect())
    }
    /// What is to be heard in batches: who, and rows.
    fn batches<'py>(&self, py: Python<'py>) -> PyResult<Vec<(u32, Bound<'py, PyBytes>)>> {
        let batches = self.work(py, fairlane_scenario::Simulation::batches)?;
        Ok(batches.into_iter().map(|(id, rows)| (id, PyBytes::new(py, &rows))).collect())
    }
    /// Texts that rows give by number, by column.
    fn texts(&self, py: Python<'_>) -> PyResult<HashMap<&'static str, Vec<String>>> {
        Ok(self.lock(py)?.texts().into_iter().collect())
    }
    /// As `advance`, for so many microseconds of the clock on the wall at most; whether it is there.
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
    /// Begins a moving picture: one of so many packets of a flow is followed, or with none only loads are told.
    #[pyo3(signature = (one_of=None))]
    fn watch(&self, py: Python<'_>, one_of: Option<u32>) -> PyResult<()> {
        self.work(py, |inner| inner.watch(one_of))
    }
    /// What happened since the last chunk, for `web/src/watch/chunk.js`; None if nobody watches.
    fn chunk<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        Ok(self.work(py, fairlane_scenario::Simulation::chunk)?.map(|bytes| PyBytes::new(py, &bytes)))
    }
    /// Goes on to the next "packet", "drop", "mark" or "timeout", for so many microseconds at most: True: there it is; False: it is `to`; None: ask again, not `fresh`.
    fn seek(&self, py: Python<'_>, to: u64, what: &str, fresh: bool, spend: u64) -> PyResult<Option<bool>> {
        let sought = Sought::named(what).ok_or_else(|| error::bad(py, &format!("no event {what:?}")))?;
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
    /// The same state with a future of its own; with a number that of other random numbers.
    #[pyo3(signature = (number=None))]
    fn branch(&self, py: Python<'_>, number: Option<u64>) -> PyResult<Self> {
        self.work(py, |inner| inner.branch(number)).map(Self::of)
    }
    /// Changes values by path at the present.
    fn set(&self, py: Python<'_>, sets: Vec<(String, String)>, drop_waiting: bool) -> PyResult<()> {
        let waiting = if drop_waiting { Waiting::Drop } else { Waiting::Move };
        let done = self.work(py, |inner| inner.set(&sets, waiting))?;
        done.map_err(|e| match e {
            SetError::Refused(d) => error::scenario(py, &d),
            SetError::Run(e) => error::run(py, &e),
        })
    }
    /// The scenario of what was simulated so far, and what came of it.
    fn result(&self, py: Python<'_>) -> PyResult<(Resolved, Run)> {
        let result = self.work(py, |inner| inner.output())?;
        result.map(|(scenario, output)| (Resolved::of(scenario), Run::from(output))).map_err(|e| error::run(py, &e))
    }
    /// The scenario as it stands, as JSON without its single parts.
    fn state(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.lock(py)?.state().to_json().to_string())
    }
    /// The present in picoseconds.
    #[getter]
    fn now(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.lock(py)?.now().as_ps())
    }
    /// When the run is over, in picoseconds.
    #[getter]
    fn end(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.lock(py)?.end().as_ps())
    }
    /// The seed.
    #[getter]
    fn seed(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.lock(py)?.seed())
    }
    /// Events carried out so far.
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
    /// A flow at present: values by group and name.
    fn flow<'py>(&self, py: Python<'py>, number: u32) -> PyResult<Bound<'py, PyDict>> {
        grouped(py, self.lock(py)?.flow(number))
    }
    /// The queue of a link direction at present: values by group and name.
    fn queue<'py>(&self, py: Python<'py>, number: u32) -> PyResult<Bound<'py, PyDict>> {
        grouped(py, self.lock(py)?.queue(number))
    }
    /// For each flow with packets in that queue its number, packets and bytes; None if the queue does not tell.
    fn waiting(&self, py: Python<'_>, number: u32) -> PyResult<Option<Vec<(u32, u32, u64)>>> {
        Ok(self.lock(py)?.waiting(number))
    }
}

/// Columns of event tables, and which kinds of events have a value there, a bit each.
#[pyfunction]
pub(crate) fn event_columns() -> Vec<(&'static str, u16)> {
    fairlane_scenario::event_columns()
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

/// A duration such as "20ms" in whole picoseconds.
#[pyfunction]
pub(crate) fn picoseconds(py: Python<'_>, text: &str) -> PyResult<u64> {
    text.parse::<fairlane_units::Dur>().map(fairlane_units::Dur::as_ps).map_err(|e| error::bad(py, &e.to_string()))
}
