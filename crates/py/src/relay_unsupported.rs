//! `relay` on systems without pollable device descriptors: returns an error.

use crate::live::LiveLink;
use pyo3::exceptions::PyNotImplementedError;
use pyo3::prelude::*;

/// Carries packets over live links between devices (Unix only).
#[pyfunction]
#[pyo3(signature = (ways, since, until, capture=false))]
pub(crate) fn relay(ways: Vec<(Py<LiveLink>, i32, i32)>, since: f64, until: f64, capture: bool) -> PyResult<()> {
    let _ = (ways, since, until, capture);
    Err(PyNotImplementedError::new_err("live links between devices need Linux or another Unix"))
}
