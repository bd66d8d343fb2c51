//! From text to a scenario in which nothing is left open.

use crate::changes;
use crate::check::Checker;
use crate::code::Code;
use crate::diag::{Diagnostic, Diagnostics, Sources};
use crate::resolved::Resolved;
use crate::schema;
use crate::semantics;
use crate::source::{self, Format, Names, Value};
use crate::spec::Scenario;

/// Parts of a resolved scenario that follow from the rest; they are made anew.
const DERIVED: [&str; 2] = ["expanded", "warnings"];

/// Reads, checks and completes a scenario. `sets` are (path, value) pairs laid over the text in order.
pub fn resolve(text: &str, filename: &str, format: Format, sets: &[(String, String)]) -> Result<Resolved, Diagnostics> {
    let mut sources = Sources::default();
    let mut root = source::read(&mut sources, text, filename, format)?;
    if let (Value::Table(t), Format::Json) = (&mut root.value, format) {
        for key in DERIVED {
            t.shift_remove(key);
        }
    }
    let mut found = Checker::new(schema::top(), &sources, true).run(&mut root);
    for (path, value) in sets {
        match source::overlay(&mut sources, path, value) {
            Ok(mut layer) => {
                let wrong = Checker::new(schema::top(), &sources, true).run(&mut layer);
                if wrong.is_empty() {
                    root.lay(layer, Names::Nothing);
                }
                found.absorb(wrong);
            }
            Err(wrong) => found.absorb(wrong),
        }
    }
    // The second pass sees all layers together, so it also misses what none of them brings.
    found.absorb(Checker::new(schema::top(), &sources, false).run(&mut root));
    if found.is_empty() {
        let scenario = serde_json::from_value::<Scenario>(root.to_json()).map_err(|e| unreadable(filename, &e))?;
        match semantics::complete(scenario, &root, &sources).and_then(|r| changes::lay(r, &root, &sources)) {
            Ok(resolved) => return Ok(resolved),
            Err(d) => found = d,
        }
    }
    found.sort();
    Err(found)
}

/// What passed the checks, but is no scenario.
fn unreadable(filename: &str, e: &serde_json::Error) -> Diagnostics {
    let file = filename.to_owned();
    Diagnostics::one(Diagnostic { code: Code::Unreadable, file, message: e.to_string(), ..Diagnostic::default() })
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
    /// As [`Self::from_json`] for what [`Self::to_json`] wrote in this very version: every value is known to be there, of its kind and in its
    /// range, so that only what follows from them is made anew. Any other text is an error, or a scenario that was not checked.
    pub fn from_whole(text: &str) -> Result<Self, Diagnostics> {
        let name = "resolved scenario";
        let mut sources = Sources::default();
        // By our own reader: serde_json's own is not exact to the last digit of a number.
        let root = source::read(&mut sources, text, name, Format::Json)?;
        let scenario = serde_json::from_value::<Scenario>(root.to_json()).map_err(|e| unreadable(name, &e))?;
        semantics::complete(scenario, &root, &sources).and_then(|r| changes::lay(r, &root, &sources))
    }
}
