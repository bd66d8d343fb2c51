//! From text to a scenario in which nothing is left open.

use crate::check::Checker;
use crate::code::{Code, Warning};
use crate::diag::{Diagnostic, Diagnostics, Sources};
use crate::expand::{Expanded, LinkDir, Member, members};
use crate::schema;
use crate::semantics;
use crate::source::{self, Format, Names, Value};
use crate::spec::Scenario;
use crate::turns::{self, Turn};
use fairlane_net::NodeId;
use fairlane_units::Name;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::ops::Deref;

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
    pub warnings: Vec<Warning>,
    /// The scenario after each of its changes.
    pub turns: Vec<Turn>,
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
        match semantics::complete(scenario, &root, &sources).and_then(|r| turns::lay(r, &root, &sources)) {
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

impl Deref for Resolved {
    type Target = Scenario;
    fn deref(&self) -> &Scenario {
        &self.scenario
    }
}

impl Resolved {
    /// One entry a flow, as the scenario's own seed has them.
    pub fn flow_members(&self) -> &[Member] {
        &self.expanded.flows
    }
    /// One entry a flow in the run with this seed, which decides permutations and random starts.
    pub fn members_at(&self, seed: u64) -> Cow<'_, [Member]> {
        if seed == self.scenario.seed {
            return Cow::Borrowed(&self.expanded.flows);
        }
        let groups = self.scenario.flows.values().zip(self.expanded.groups.iter().enumerate());
        let numbers: FxHashMap<&str, u32> = self.expanded.nodes.iter().map(Name::as_str).zip(0..).collect();
        // Reading saw to it that every name is a node.
        let node = |name: &str| NodeId(numbers.get(name).copied().unwrap_or_default());
        Cow::Owned(groups.flat_map(|(spec, group)| members(spec, group, seed, node)).collect())
    }
    /// One entry a link direction.
    pub fn link_directions(&self) -> &[LinkDir] {
        &self.expanded.links
    }
    /// What to check before the results are trusted.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }
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
        semantics::complete(scenario, &root, &sources).and_then(|r| turns::lay(r, &root, &sources))
    }
    /// The scenario as JSON, without the single parts.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(&self.scenario).unwrap_or_default()
    }
    /// The scenario as JSON with its single parts under `expanded` and its warnings.
    pub fn to_json_expanded(&self) -> serde_json::Value {
        let mut v = self.to_json();
        v["expanded"] = serde_json::to_value(&self.expanded).unwrap_or_default();
        v["warnings"] = self.warnings.iter().map(|w| w.text.as_str()).collect::<Vec<_>>().into();
        v
    }
}
