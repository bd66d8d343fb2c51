//! `Resolved`: a scenario that passed every check, as Python holds it.

use crate::{error, format_of};
use pyo3::prelude::*;
use std::sync::Arc;

/// A scenario that passed every check. What runs take; JSON when somebody asks for it.
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
    /// From JSON that `json(expanded=False)` of this very version wrote: it is not checked again, and only what follows from it is made anew.
    #[new]
    fn new(py: Python<'_>, json: &str) -> PyResult<Self> {
        py.detach(|| fairlane_scenario::Resolved::from_whole(json))
            .map(|inner| Self { inner: Arc::new(inner) })
            .map_err(|d| error::scenario(py, &d))
    }
    /// The scenario with every parameter filled in, as JSON; `expanded` adds the lists of all nodes, links and flows, and the warnings.
    #[pyo3(signature = (expanded=true))]
    fn json(&self, py: Python<'_>, expanded: bool) -> String {
        py.detach(|| if expanded { self.inner.to_json_expanded() } else { self.inner.to_json() }.to_string())
    }
    /// How many nodes, directions of links and flows it has, without a list of any.
    #[getter]
    fn sizes(&self) -> (usize, usize, usize) {
        let of = &self.inner.expanded;
        (of.nodes.len(), of.links.len(), of.flows.len())
    }
    /// The seed.
    #[getter]
    fn seed(&self) -> u64 {
        self.inner.scenario.seed
    }
    /// How the run with this seed is cut into parts, those for so many threads if given, as JSON, or why it is not.
    #[pyo3(signature = (seed, threads=None))]
    fn partition(&self, py: Python<'_>, seed: u64, threads: Option<usize>) -> PyResult<String> {
        py.detach(|| fairlane_scenario::partition(&self.inner, seed, threads)).map(|told| told.to_string()).map_err(|e| error::run(py, &e))
    }
    /// For other processes, which have the same version.
    fn __getnewargs__(&self, py: Python<'_>) -> (String,) {
        (self.json(py, false),)
    }
}

/// The scenario in `text` with every parameter filled in. `format` is "toml" or "json", `sets` changes values by path.
#[pyfunction]
pub(crate) fn resolve(py: Python<'_>, text: &str, filename: &str, format: &str, sets: Vec<(String, String)>) -> PyResult<Resolved> {
    let format = format_of(format);
    let resolved = py.detach(|| fairlane_scenario::resolve(text, filename, format, &sets));
    resolved.map(|inner| Resolved { inner: Arc::new(inner) }).map_err(|d| error::scenario(py, &d))
}
