//! From text to a scenario in which nothing is left open.

use crate::check::Checker;
use crate::diag::{Diagnostic, Diagnostics, Sources};
use crate::expand::Expanded;
use crate::schema::schema;
use crate::semantics;
use crate::source::{self, Format, Value};
use crate::spec::Scenario;

/// Parts of a resolved scenario that follow from the rest; they are made anew.
const DERIVED: [&str; 2] = ["expanded", "warnings"];

/// A scenario that passed every check, with every parameter written out.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The description, complete.
    pub scenario: Scenario,
    /// The same in single parts.
    pub expanded: Expanded,
    /// What to check before the results are trusted.
    pub warnings: Vec<String>,
}

/// Reads, checks and completes a scenario. `sets` are (path, value) pairs laid over the text in order.
pub fn resolve(text: &str, filename: &str, format: Format, sets: &[(String, String)]) -> Result<Resolved, Diagnostics> {
    let mut sources = Sources::default();
    let mut root = source::read(&mut sources, text, filename, format)?;
    if let (Value::Table(t), Format::Json) = (&mut root.value, format) {
        for key in DERIVED {
            t.shift_remove(key);
        }
    }
    let mut found = Checker::new(schema(), &sources, true).run(&mut root);
    for (path, value) in sets {
        match source::overlay(&mut sources, path, value) {
            Ok(mut layer) => {
                let wrong = Checker::new(schema(), &sources, true).run(&mut layer);
                if wrong.is_empty() {
                    root.lay(layer, false);
                }
                wrong.list.into_iter().for_each(|d| found.push(d));
            }
            Err(d) => found.push(d),
        }
    }
    // The second pass sees all layers together, so it also misses what none of them brings.
    Checker::new(schema(), &sources, false).run(&mut root).list.into_iter().for_each(|d| found.push(d));
    if found.is_empty() {
        let scenario = serde_json::from_value::<Scenario>(root.to_json())
            .map_err(|e| Diagnostics::one(Diagnostic { file: filename.to_owned(), message: e.to_string(), ..Diagnostic::default() }))?;
        match semantics::complete(scenario, &root, &sources) {
            Ok(resolved) => return Ok(resolved),
            Err(d) => found = d,
        }
    }
    found.sort();
    Err(found)
}

/// As [`resolve`], from the bytes of a file: a binary file is an error like any other.
pub fn resolve_bytes(bytes: &[u8], filename: &str, format: Format, sets: &[(String, String)]) -> Result<Resolved, Diagnostics> {
    resolve(source::decode(bytes, filename)?, filename, format, sets)
}

impl Resolved {
    /// Reads a resolved scenario back.
    pub fn from_json(text: &str) -> Result<Self, Diagnostics> {
        resolve(text, "resolved scenario", Format::Json, &[])
    }
    /// The scenario as JSON, without the single parts.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(&self.scenario).unwrap_or_default()
    }
    /// The scenario as JSON with its single parts under `expanded` and its warnings.
    pub fn to_json_expanded(&self) -> serde_json::Value {
        let mut v = self.to_json();
        v["expanded"] = serde_json::to_value(&self.expanded).unwrap_or_default();
        v["warnings"] = self.warnings.clone().into();
        v
    }
}
