//! Reads a text into a scenario with every parameter set.

use crate::changes;
use crate::check::Checker;
use crate::code::Code;
use crate::diag::{Diagnostic, Diagnostics, Sources, suggest};
use crate::resolved::Resolved;
use crate::schema;
use crate::semantics;
use crate::source::{self, Entry, Format, Names, Node, Value, join};
use crate::spec::Scenario;

/// Keys of a resolved scenario that are derived from the others and computed again.
const DERIVED: [&str; 2] = ["expanded", "warnings"];

/// Reads, checks and completes a scenario. `sets` are (path, value) pairs applied to the text in order.
pub fn resolve(text: &str, filename: &str, format: Format, sets: &[(String, String)]) -> Result<Resolved, Diagnostics> {
    let mut sources = Sources::default();
    let mut root = source::read(&mut sources, text, filename, format)?;
    if let (Value::Table(t), Format::Json) = (&mut root.value, format) {
        for key in DERIVED {
            t.shift_remove(key);
        }
    }
    let mut found = Checker::new(schema::top(), &sources, !sets.is_empty()).run(&mut root);
    for (path, value) in sets {
        match source::overlay(&mut sources, path, value) {
            Ok(mut layer) => {
                let wrong = Checker::new(schema::top(), &sources, true).run(&mut layer);
                if wrong.is_empty() {
                    root.merge(layer, Names::Nothing);
                }
                found.absorb(wrong);
            }
            Err(wrong) => found.absorb(wrong),
        }
    }
    if !sets.is_empty() {
        unknown_flows(&mut root, &sources, &mut found);
        // The second pass checks all layers together, including keys that no layer supplies.
        found.absorb(Checker::new(schema::top(), &sources, false).run(&mut root));
    }
    if found.is_empty() {
        let scenario = serde_json::from_value::<Scenario>(root.to_json()).map_err(|e| unreadable(filename, &e))?;
        match semantics::complete(scenario, &root, &sources).and_then(|r| changes::add_states(r, &root, &sources)) {
            Ok(resolved) => return Ok(resolved),
            Err(d) => found = d,
        }
    }
    found.sort();
    Err(found)
}

/// Reports and removes flows that only options name and that have no ends: a misspelt name, and one error instead of one per missing key.
fn unknown_flows(root: &mut Node, sources: &Sources, found: &mut Diagnostics) {
    let Value::Table(sections) = &mut root.value else { return };
    let Some(Value::Table(flows)) = sections.get_mut("flows").map(|f| &mut f.node.value) else { return };
    let has_ends = |flow: &Node| ["from", "to", "pairs", "load"].iter().any(|key| flow.get(key).is_some());
    let is_unknown = |flow: &Entry| sources.is_option(flow.key) && !has_ends(&flow.node);
    let known: Vec<String> = flows.iter().filter(|(_, flow)| !is_unknown(flow)).map(|(name, _)| name.clone()).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    flows.retain(|name, flow| {
        let unknown = is_unknown(flow);
        if unknown {
            let path = join(["flows", name]);
            found.push(sources.diagnostic(
                Code::UnknownFlow,
                flow.key,
                &path,
                format!("unknown flow `{name}`"),
                suggest(name, &known, "flows"),
            ));
        }
        !unknown
    });
}

/// Error for a tree that passed the checks but is not a scenario.
fn unreadable(filename: &str, e: &serde_json::Error) -> Diagnostics {
    let file = filename.to_owned();
    Diagnostics::one(Diagnostic { code: Code::Unreadable, file, message: e.to_string(), ..Diagnostic::default() })
}

/// Resolves the bytes of a file; a binary file is an error like any other.
pub fn resolve_bytes(bytes: &[u8], filename: &str, format: Format, sets: &[(String, String)]) -> Result<Resolved, Diagnostics> {
    resolve(source::decode(bytes, filename)?, filename, format, sets)
}

impl Resolved {
    /// Reads back a resolved scenario.
    pub fn from_json(text: &str) -> Result<Self, Diagnostics> {
        resolve(text, "resolved scenario", Format::Json, &[])
    }
    /// Reads back the output of [`Self::to_json`] of this very version without checking it again: every value is known to be valid, so only derived
    /// values are computed. Any other text is an error, or a scenario that was not checked.
    pub fn from_whole(text: &str) -> Result<Self, Diagnostics> {
        let name = "resolved scenario";
        let mut sources = Sources::default();
        // Own reader: serde_json's is not exact to the last digit of a number.
        let root = source::read(&mut sources, text, name, Format::Json)?;
        let scenario = serde_json::from_value::<Scenario>(root.to_json()).map_err(|e| unreadable(name, &e))?;
        semantics::complete(scenario, &root, &sources).and_then(|r| changes::add_states(r, &root, &sources))
    }
}
