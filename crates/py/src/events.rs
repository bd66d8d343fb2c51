//! Requests for event traces from Python.

use crate::error;
use fairlane_scenario::{TraceFormat, TraceRequest, Tracing};
use fairlane_units::Dur;
use pyo3::prelude::*;
use std::path::PathBuf;

/// Names of events, flows and link directions; first and last time; format and folder of the files.
pub(crate) type Asked = (Vec<String>, Vec<String>, Vec<String>, Option<String>, Option<String>, String, PathBuf);

/// Names of events, flows and link directions; first and last time.
pub(crate) type Listening = (Vec<String>, Vec<String>, Vec<String>, Option<String>, Option<String>);

/// Request of a listener; an invalid time is an error.
pub(crate) fn listening(py: Python<'_>, (events, flows, links, from, to): Listening) -> PyResult<TraceRequest> {
    let time = |text: Option<String>| text.map(|t| t.parse::<Dur>().map_err(|e| error::bad(py, &e.to_string()))).transpose();
    Ok(TraceRequest { events, flows, links, from: time(from)?, to: time(to)? })
}

/// Request of a trace; an invalid time is an error.
pub(crate) fn request(py: Python<'_>, (events, flows, links, from, to, format, folder): Asked) -> PyResult<Tracing> {
    let request = listening(py, (events, flows, links, from, to))?;
    let format = match format.as_str() {
        "ns2" => TraceFormat::Ns2,
        "nam" => TraceFormat::Nam,
        _ => TraceFormat::Parquet,
    };
    Ok(Tracing { request, format, folder })
}
