//! Converts Rust errors to the exceptions of `fairlane.errors`.

use fairlane_scenario::{CaptureError, Diagnostics, RunError};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Instance of the class `name` of `fairlane.errors`.
fn raise<'py>(py: Python<'py>, name: &str, args: impl pyo3::call::PyCallArgs<'py>) -> PyErr {
    match py.import("fairlane.errors").and_then(|m| m.getattr(name)?.call1(args)) {
        Ok(exception) => PyErr::from_value(exception),
        Err(e) => e,
    }
}

/// `ScenarioError` with all diagnostics and their rendering.
pub(crate) fn scenario(py: Python<'_>, found: &Diagnostics) -> PyErr {
    let list = PyList::empty(py);
    for d in &found.list {
        let row = PyDict::new(py);
        let filled = row
            .set_item("code", d.code.name())
            .and_then(|()| row.set_item("path", &d.path))
            .and_then(|()| row.set_item("file", &d.file))
            .and_then(|()| row.set_item("line", d.line))
            .and_then(|()| row.set_item("column", d.column))
            .and_then(|()| row.set_item("end_column", d.end_column))
            .and_then(|()| row.set_item("message", &d.message))
            .and_then(|()| row.set_item("help", &d.help))
            .and_then(|()| list.append(row));
        if let Err(e) = filled {
            return e;
        }
    }
    raise(py, "ScenarioError", (found.to_string(), list, found.more()))
}

/// `RunError` with its message.
pub(crate) fn run(py: Python<'_>, e: &RunError) -> PyErr {
    match e {
        RunError::Plugin(fault) if fault.interrupted => PyKeyboardInterrupt::new_err(()),
        RunError::Plugin(fault) => raise(py, "PluginError", (e.to_string(), fault.time.as_secs_f64())),
        RunError::Capture(CaptureError::Name(_)) => raise(py, "UnknownNameError", (e.to_string(),)),
        RunError::Capture(CaptureError::Write { .. }) => raise(py, "FolderError", (e.to_string(),)),
        _ => raise(py, "RunError", (e.to_string(),)),
    }
}

/// `RunError`: the progress function asked to stop.
pub(crate) fn stopped(py: Python<'_>) -> PyErr {
    raise(py, "RunError", ("stopped by the progress function",))
}

/// `RunError`: a queue or congestion control inside a run started another run.
pub(crate) fn nested(py: Python<'_>) -> PyErr {
    raise(py, "RunError", ("a plug-in cannot start a run within a run: run other scenarios first, and pass it their results",))
}

/// `RunError`: another thread uses the simulation.
pub(crate) fn busy(py: Python<'_>) -> PyErr {
    raise(py, "RunError", ("another thread is advancing this simulation: wait for it, or branch it first",))
}

/// `ArgumentError`: a run with a real transport stack cannot be copied.
pub(crate) fn no_branch(py: Python<'_>) -> PyErr {
    raise(py, "ArgumentError", ("a run with a real transport stack cannot be branched: a stack cannot be copied",))
}

/// `RunError`: the thread of the runs ended without a result, which only a defect in a model can cause.
pub(crate) fn lost(py: Python<'_>) -> PyErr {
    raise(py, "RunError", ("a run ended unexpectedly: please report the scenario and the seed",))
}

/// `ScenarioError` about the parameters of an endpoint.
pub(crate) fn params(py: Python<'_>, e: &fairlane_tcp::ParamsError) -> PyErr {
    raise(py, "ScenarioError", (e.to_string(),))
}

/// Traceback of an exception in a plug-in, limited to the author's lines.
pub(crate) fn traceback(py: Python<'_>, e: &PyErr) -> String {
    // The exception value contains its traceback.
    let value = e.clone_ref(py).into_value(py);
    let text = py.import("fairlane.own.plugin").and_then(|m| m.getattr("users_traceback")?.call1((value,))?.extract());
    text.unwrap_or_else(|_| e.to_string())
}

/// `FairlaneError` with its message.
pub(crate) fn bad(py: Python<'_>, text: &str) -> PyErr {
    raise(py, "FairlaneError", (text,))
}
