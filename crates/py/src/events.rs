//! Recorded events on their way to Python.

use crate::error;
use fairlane_scenario::{Batch, Cells, Column, TraceRequest};
use fairlane_units::Dur;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

/// Names of events, of flows and of link directions; from when and to when; whether lines of ns-2's traces are wanted instead of columns.
pub(crate) type Asked = (Vec<String>, Vec<String>, Vec<String>, Option<String>, Option<String>, bool);

/// What was asked for; a time that cannot be read is an error.
pub(crate) fn request(py: Python<'_>, (events, flows, links, from, to, _): Asked) -> PyResult<TraceRequest> {
    let time = |text: Option<String>| text.map(|t| t.parse::<Dur>().map_err(|e| error::bad(py, &e.to_string()))).transpose();
    Ok(TraceRequest { events, flows, links, from: time(from)?, to: time(to)? })
}

/// Calls `taker` with a batch: number of the run, rows, and lines of text or for each column name, type, values, bits of validity, texts.
pub(crate) fn hand_over(py: Python<'_>, taker: &Bound<'_, PyAny>, lines: bool, run: usize, batch: Batch) -> PyResult<()> {
    let rows = batch.rows();
    if lines {
        let text = py.detach(|| batch.ns2());
        return taker.call1((run, rows, PyBytes::new(py, &text))).map(|_| ());
    }
    let columns = py.detach(|| batch.columns());
    let out = PyList::empty(py);
    for Column { name, cells, values, valid } in columns {
        let (kind, texts) = match cells {
            Cells::Int64 => ("int64", None),
            Cells::Int32 => ("int32", None),
            Cells::Bool => ("bool", None),
            Cells::Names(texts) => ("names", Some(texts)),
        };
        out.append((name, kind, PyBytes::new(py, &values), valid.map(|v| PyBytes::new(py, &v)), texts))?;
    }
    taker.call1((run, rows, out)).map(|_| ())
}
