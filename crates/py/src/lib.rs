//! The Python extension `fairlane._core`: the functions of `fairlane-scenario` in Python's types, and nothing else.

mod cc;
mod error;
mod live;
mod queue;
mod run;
mod tcp;

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
    use super::{metrics, presets, registry, resolve, schema, version};
}

/// The scenario in `text` with every parameter filled in, as JSON. `format` is "toml" or "json", `sets` changes values by path;
/// `expanded` adds the list of all nodes, links and flows.
#[pyfunction]
#[pyo3(signature = (text, filename, format, sets, expanded=true))]
fn resolve(py: Python<'_>, text: &str, filename: &str, format: &str, sets: Vec<(String, String)>, expanded: bool) -> PyResult<String> {
    let format = match format {
        "json" => fairlane_scenario::Format::Json,
        _ => fairlane_scenario::Format::Toml,
    };
    let resolved = py.detach(|| fairlane_scenario::resolve(text, filename, format, &sets));
    resolved.map(|r| if expanded { r.to_json_expanded() } else { r.to_json() }.to_string()).map_err(|d| error::scenario(py, &d))
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
