//! The Python extension `fairlane._core`: the functions of `fairlane-scenario` in Python's types, and nothing else.

mod capture_import;
mod cc;
mod error;
mod events;
mod interrupt;
mod live;
mod prepared;
mod quantity;
mod queue;
#[cfg(unix)]
mod relay;
#[cfg(not(unix))]
#[path = "relay_unsupported.rs"]
mod relay;
mod resolved;
mod run;
mod session;
mod tc;
mod tcp;

use fairlane_scenario::{Code, Format, Remark};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Internal base of fairlane's Python package. Use `fairlane` itself: this module may change at any time.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::capture_import::read_capture;
    #[pymodule_export]
    use super::cc::{AckSample, CongestionEvent, LostSample, Random, RateSample, RecoveryExit, load_library, register_cc};
    #[pymodule_export]
    use super::interrupt::interrupt;
    #[pymodule_export]
    use super::live::LiveLink;
    #[pymodule_export]
    use super::prepared::Prepared;
    #[pymodule_export]
    use super::quantity::{quantity, quantity_kind};
    #[pymodule_export]
    use super::queue::{PyPacket, QueueHandle, bench_queue, plugins, register_queue};
    #[pymodule_export]
    use super::relay::relay;
    #[pymodule_export]
    use super::resolved::{Resolved, resolve};
    #[pymodule_export]
    use super::run::{Run, arrow, run, write_series};
    #[pymodule_export]
    use super::session::{Simulation, event_columns, observed, picoseconds};
    #[pymodule_export]
    use super::tc::read_tc;
    #[pymodule_export]
    use super::tcp::TcpEndpoint;
    /// Most findings of a file that are listed; further ones are counted.
    #[pymodule_export]
    const MOST_TOLD: usize = fairlane_scenario::MOST_REPORTED;
    #[pymodule_export]
    use super::{codes, engine, jain, metrics, presets, read_document, registry, remarks, schema, series, series_name, stacks, version};

    #[pymodule_init]
    fn init(_module: &super::Bound<'_, super::PyModule>) -> super::PyResult<()> {
        fairlane_scenario::read_tc_with(super::tc::read);
        Ok(())
    }
}

fn format_of(name: &str) -> Format {
    if name == "json" { Format::Json } else { Format::Toml }
}

/// Reads another file in the notation of scenarios, checks it against the JSON Schema, and returns JSON.
#[pyfunction]
fn read_document(py: Python<'_>, text: &str, filename: &str, format: &str, schema: &str) -> PyResult<String> {
    let schema = serde_json::from_str(schema).map_err(|e| PyValueError::new_err(e.to_string()))?;
    let read = fairlane_scenario::read_document(text, filename, format_of(format), &schema);
    read.map(|tree| tree.to_string()).map_err(|d| error::scenario(py, &d))
}

/// Creates the `ScenarioError` that shows the places of invalid values in a file.
///
/// `about`: for each the keys that lead to it, true if the key itself is meant, code, message, and suggestion.
#[pyfunction]
fn remarks(py: Python<'_>, text: &str, filename: &str, format: &str, about: Vec<(Vec<String>, bool, String, String, String)>) -> PyErr {
    let remark = |(keys, at_key, code, message, help): (_, _, String, _, _)| Remark {
        keys,
        at_key,
        code: Code::named(&code).unwrap_or_default(),
        message,
        help,
    };
    let about: Vec<_> = about.into_iter().map(remark).collect();
    error::scenario(py, &fairlane_scenario::remarks(text, filename, format_of(format), &about))
}

/// Hash of all sources that affect results.
#[pyfunction]
fn engine() -> &'static str {
    env!("FAIRLANE_ENGINE")
}

/// JSON Schema of scenario files.
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

/// Every time series, as a JSON list: table, name, unit, feed, doc.
#[pyfunction]
fn series() -> String {
    fairlane_scenario::series_listing().to_string()
}

/// Name under which `series` lists a column; None for a gauge of a plug-in.
#[pyfunction]
fn series_name(column: &str) -> Option<&'static str> {
    fairlane_scenario::series_name(column)
}

/// Every code of errors and warnings, as a JSON list: kind, name, doc.
#[pyfunction]
fn codes() -> String {
    fairlane_scenario::codes_listing().to_string()
}

/// Jain's fairness index; NaN if the list is empty or all zero.
#[pyfunction]
fn jain(shares: Vec<f64>) -> f64 {
    fairlane_scenario::jain(&shares)
}

/// Every preset, as a JSON list: kind, algorithm, name, doc, values.
#[pyfunction]
fn presets() -> PyResult<String> {
    serde_json::to_string(&fairlane_scenario::presets_listing()).map_err(|e| PyValueError::new_err(e.to_string()))
}

/// Real transport stacks: name, version, and whether this program has it.
#[pyfunction]
fn stacks() -> Vec<(&'static str, &'static str, bool)> {
    let built = fairlane_scenario::StackSpec::built();
    fairlane_scenario::StackSpec::VERSIONS.iter().map(|(name, version)| (*name, *version, built.contains(name))).collect()
}

/// Version of the extension.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
