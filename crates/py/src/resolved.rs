//! `Resolved`: a scenario that passed every check, for Python.

use crate::{error, format_of};
use pyo3::prelude::*;
use std::sync::Arc;

/// A scenario that passed every check, input of runs; converted to JSON on demand.
#[pyclass(frozen, module = "fairlane._core")]
pub(crate) struct Resolved {
    inner: Arc<fairlane_scenario::Resolved>,
}

impl Resolved {
    pub(crate) fn inner(&self) -> &fairlane_scenario::Resolved {
        &self.inner
    }
    pub(crate) fn shared(&self) -> Arc<fairlane_scenario::Resolved> {
        self.inner.clone()
    }
    pub(crate) fn of(inner: Arc<fairlane_scenario::Resolved>) -> Self {
        Self { inner }
    }
}

#[pymethods]
impl Resolved {
    /// Reads the output of `json(expanded=False)` of this very version without checking it again; only derived values are computed.
    #[new]
    fn new(py: Python<'_>, json: &str) -> PyResult<Self> {
        py.detach(|| fairlane_scenario::Resolved::from_whole(json))
            .map(|inner| Self { inner: Arc::new(inner) })
            .map_err(|d| error::scenario(py, &d))
    }
    /// Scenario with every parameter set, as JSON; `expanded` adds the lists of all nodes, links and flows, and the warnings.
    #[pyo3(signature = (expanded=true))]
    fn json(&self, py: Python<'_>, expanded: bool) -> String {
        py.detach(|| if expanded { self.inner.to_json_expanded() } else { self.inner.to_json() }.to_string())
    }
    /// Numbers of nodes, link directions and flows.
    #[getter]
    fn sizes(&self) -> (usize, usize, usize) {
        let of = &self.inner.expanded;
        (of.nodes.len(), of.links.len(), of.flows.len())
    }
    /// Seed of the scenario.
    #[getter]
    fn seed(&self) -> u64 {
        self.inner.scenario.seed
    }
    /// Partition of the run with this seed as JSON, bundled for `threads` threads if given, or the reason why there is none.
    #[pyo3(signature = (seed, threads=None))]
    fn partition(&self, py: Python<'_>, seed: u64, threads: Option<usize>) -> PyResult<String> {
        py.detach(|| fairlane_scenario::partition(&self.inner, seed, threads))
            .map(|partition| partition.to_string())
            .map_err(|e| error::run(py, &e))
    }
    /// Pickles for other processes of the same version.
    fn __getnewargs__(&self, py: Python<'_>) -> (String,) {
        (self.json(py, false),)
    }
}

/// Resolves the scenario in `text`. `format` is "toml" or "json"; `sets` changes values by path.
#[pyfunction]
pub(crate) fn resolve(py: Python<'_>, text: &str, filename: &str, format: &str, sets: Vec<(String, String)>) -> PyResult<Resolved> {
    let format = format_of(format);
    let resolved = py.detach(|| fairlane_scenario::resolve(text, filename, format, &sets));
    resolved.map(|inner| Resolved { inner: Arc::new(inner) }).map_err(|d| error::scenario(py, &d))
}
