//! Import of packet captures as event tables.

use crate::error;
use fairlane_scenario::capture_import::{Flow, ReadError, capture};
use pyo3::prelude::*;
use std::path::PathBuf;

/// A flow: name, addresses, true for TCP; packets and bytes of both directions; late segments.
type FlowTuple = (String, String, String, bool, [u64; 2], [u64; 2], u64);
/// Flows, time of the first packet in nanoseconds since 1970, duration in nanoseconds, packets of the file and of flows, remarks.
type CaptureTuple = (Vec<FlowTuple>, i128, i128, u64, u64, Vec<String>);

/// Reads the capture `file` and writes its event table into `folder`.
#[pyfunction]
pub(crate) fn read_capture(py: Python<'_>, file: PathBuf, folder: PathBuf) -> PyResult<CaptureTuple> {
    let signal = std::sync::Mutex::new(None);
    let goes_on = || match Python::attach(|py| py.check_signals()) {
        Ok(()) => true,
        Err(e) => {
            if let Ok(mut signal) = signal.lock() {
                *signal = Some(e);
            }
            false
        }
    };
    let read = py.detach(|| capture(&file, folder, &goes_on));
    let flow = |f: Flow| (f.name, f.from, f.to, f.tcp, f.packets, f.bytes, f.late);
    match read {
        Ok(c) => Ok((c.flows.into_iter().map(flow).collect(), c.begin, c.span, c.packets, c.flow_packets, c.remarks)),
        Err(ReadError::Io(e) | ReadError::Write(e)) => Err(e.into()),
        Err(ReadError::NoCapture(why)) => Err(error::bad(py, &why)),
        Err(ReadError::Stopped) => Err(signal.into_inner().ok().flatten().unwrap_or_else(|| error::stopped(py))),
    }
}
