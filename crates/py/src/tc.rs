//! Reader of queues in the notation of tc, which is in Python: `fairlane.linux`.

use crate::error::bad;
use fairlane_scenario::{TcNotRead, TcRead};
use pyo3::prelude::*;

/// Reads the text of a queue.
pub(crate) fn read(line: &str) -> Result<TcRead, TcNotRead> {
    Python::attach(|py| {
        let called = py.import("fairlane.linux.queue_text").and_then(|m| m.getattr("for_core")?.call1((line,))?.extract());
        let (queue, notes, wrong): (String, Vec<String>, Vec<String>) = called.map_err(|e| failed(e.to_string()))?;
        if let [word, message, help] = wrong.as_slice() {
            return Err(TcNotRead { word: word.clone(), message: message.clone(), help: help.clone() });
        }
        let queue = serde_json::from_str(&queue).map_err(|e| failed(e.to_string()))?;
        Ok(TcRead { queue, notes })
    })
}

fn failed(message: String) -> TcNotRead {
    TcNotRead { message, ..TcNotRead::default() }
}

/// Returns the table of a queue in the notation of tc, without its prefix, as JSON, and notes on what is not modelled.
#[pyfunction]
pub(crate) fn read_tc(py: Python<'_>, line: &str) -> PyResult<(String, Vec<String>)> {
    let read = py.detach(|| read(line)).map_err(|e| bad(py, &format!("{e}\n  = help: {}", e.help)))?;
    Ok((read.queue.to_string(), read.notes))
}
