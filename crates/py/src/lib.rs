//! The Python extension `fairlane._core`: the functions of `fairlane-scenario` in Python's types, and nothing else.

mod cc;
mod error;
mod live;
mod queue;
mod run;
mod tcp;

use fairlane_scenario::{Format, Remark};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// What fairlane's Python package is built on. Use `fairlane` itself: this module may change at any time.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::cc::{AckSample, CongestionEvent, LostSample, Random, RateSample, RecoveryExit, load_cc, register_cc};
    #[pymodule_export]
    use super::live::LiveLink;
    #[pymodule_export]
    use super::queue::{Packet, QueueHandle, bench_queue, plugins, quantity, quantity_kind, register_queue};
    #[pymodule_export]
    use super::run::{Run, run};
    #[pymodule_export]
    use super::tcp::TcpEndpoint;
    #[pymodule_export]
    use super::{engine, metrics, presets, read_document, registry, remarks, resolve, schema, version};
}

fn format_of(name: &str) -> Format {
    if name == "json" { Format::Json } else { Format::Toml }
}

/// The scenario in `text` with every parameter filled in, as JSON. `format` is "toml" or "json", `sets` changes values by path;
/// `expanded` adds the list of all nodes, links and flows.
#[pyfunction]
#[pyo3(signature = (text, filename, format, sets, expanded=true))]
fn resolve(py: Python<'_>, text: &str, filename: &str, format: &str, sets: Vec<(String, String)>, expanded: bool) -> PyResult<String> {
    let format = format_of(format);
    let resolved = py.detach(|| fairlane_scenario::resolve(text, filename, format, &sets));
    resolved.map(|r| if expanded { r.to_json_expanded() } else { r.to_json() }.to_string()).map_err(|d| error::scenario(py, &d))
}

/// Another file in the notation of scenarios as JSON, checked against the JSON Schema given.
#[pyfunction]
fn read_document(py: Python<'_>, text: &str, filename: &str, format: &str, schema: &str) -> PyResult<String> {
    let schema = serde_json::from_str(schema).map_err(|e| PyValueError::new_err(e.to_string()))?;
    let read = fairlane_scenario::read_document(text, filename, format_of(format), &schema);
    read.map(|tree| tree.to_string()).map_err(|d| error::scenario(py, &d))
}

/// The `ScenarioError` that shows where in a file the values are that something is wrong with.
///
/// `about`: for each the keys that lead to it, whether the key itself is meant, what is wrong, and what to write instead.
#[pyfunction]
fn remarks(py: Python<'_>, text: &str, filename: &str, format: &str, about: Vec<(Vec<String>, bool, String, String)>) -> PyErr {
    let about: Vec<_> = about.into_iter().map(|(keys, at_key, message, help)| Remark { keys, at_key, message, help }).collect();
    error::scenario(py, &fairlane_scenario::remarks(text, filename, format_of(format), &about))
}

/// A hash of the sources of everything that decides results.
#[pyfunction]
fn engine() -> &'static str {
    env!("FAIRLANE_ENGINE")
}

/// The JSON Schema of scenario files.
#[pyfunction]
fn schema() -> String {
    fairlane_scenario::schema().to_string()
}

/// Every algorithm, as a JSON list: kind, name, aliases, doc, schema.
#[pyfunction]
fn registry() -> PyResult<String> {
    serde_json::to_string(&fairlane_scenario::registry_listing()).map_err(|e| PyValueError::new_err(e.to_string()))
}

/// Every metric, as a JSON list: table, name, unit, formula, doc, source.
#[pyfunction]
fn metrics() -> String {
    fairlane_scenario::metrics_listing().to_string()
}

/// Every preset, as a JSON list: kind, algorithm, name, doc, values.
#[pyfunction]
fn presets() -> PyResult<String> {
    serde_json::to_string(&fairlane_scenario::presets_listing()).map_err(|e| PyValueError::new_err(e.to_string()))
}

/// Version of the extension.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
