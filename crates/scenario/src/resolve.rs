//! Reads a text into a scenario with every parameter set.

use crate::base::Base;
use crate::changes;
use crate::code::Code;
use crate::diag::{Diagnostic, Diagnostics, Sources};
use crate::resolved::Resolved;
use crate::semantics;
use crate::source::{self, Format};
use crate::spec::Scenario;

/// Keys of a resolved scenario that are derived from the others and computed again.
pub(crate) const DERIVED: [&str; 2] = ["expanded", "warnings"];

/// Reads, checks and completes a scenario. `sets` are (path, value) pairs applied to the text in order.
pub fn resolve(text: &str, filename: &str, format: Format, sets: &[(String, String)]) -> Result<Resolved, Diagnostics> {
    Base::new(text, filename, format)?.resolved(sets)
}

/// Error for a tree that passed the checks but is not a scenario.
pub(crate) fn unreadable(filename: &str, e: &serde_json::Error) -> Diagnostics {
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
