//! Other files in the notation of scenarios: read, checked against their own schema, and diagnosed in the same way.

use crate::check::Checker;
use crate::code::Code;
use crate::diag::{Diagnostics, Sources};
use crate::source::{self, Format};
use serde_json::Value as J;

/// Reads a file, checks it against a JSON Schema (with the extensions for scenarios) and returns its tree.
pub fn read_document(text: &str, filename: &str, format: Format, schema: &J) -> Result<J, Diagnostics> {
    let mut sources = Sources::default();
    let mut root = source::read(&mut sources, text, filename, format)?;
    let mut found = Checker::new(schema, &sources, false).run(&mut root);
    if found.is_empty() {
        return Ok(root.to_json());
    }
    found.sort();
    Err(found)
}

/// An error in a value of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// Keys that lead to the value; list items by number.
    pub keys: Vec<String>,
    /// True if the error is in the key itself.
    pub at_key: bool,
    /// Code of the error.
    pub code: Code,
    /// Error message.
    pub message: String,
    /// Suggested correction; may be empty.
    pub help: String,
}

/// Converts remarks to diagnostics with the places of their values in the file.
pub fn remarks(text: &str, filename: &str, format: Format, about: &[Remark]) -> Diagnostics {
    let mut sources = Sources::default();
    let root = match source::read(&mut sources, text, filename, format) {
        Ok(root) => root,
        Err(wrong) => return wrong,
    };
    let mut found = Diagnostics::default();
    for remark in about {
        let keys: Vec<&str> = remark.keys.iter().map(String::as_str).collect();
        let span = if remark.at_key { root.key_place(&keys) } else { root.place(&keys) };
        let (code, path, message) = (remark.code, source::join(&keys), remark.message.as_str());
        found.find((code, span, &path, message), || sources.diagnostic(code, span, &path, message, remark.help.as_str()));
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> J {
        json!({"type": "object", "additionalProperties": false, "required": ["size"],
            "properties": {"size": {"type": "integer", "minimum": 1}, "list": {"type": "array", "items": {"type": "string"}}}})
    }

    #[test]
    fn a_file_is_checked_against_the_schema_given() {
        let good = read_document("size = 3\nlist = ['a']\n", "f.toml", Format::Toml, &schema());
        assert_eq!(good, Ok(json!({"size": 3, "list": ["a"]})));
        let wrong = read_document("sise = 3\n", "f.toml", Format::Toml, &schema()).unwrap_err().to_string();
        assert!(wrong.contains("f.toml:1:1") && wrong.contains("`size`"), "{wrong}");
    }

    #[test]
    fn a_name_that_is_nearly_right_is_told_alone() {
        let goal = json!({"anyOf": [{"type": "object"}, {"enum": ["min", "max"]}]});
        let schema = json!({"type": "object", "properties": {"goal": goal}});
        let rendered = |text: &str| read_document(text, "f.toml", Format::Toml, &schema).unwrap_err().to_string();
        assert!(rendered("goal = 'mim'\n").contains("= help: did you mean `min`?\n"), "{}", rendered("goal = 'mim'\n"));
        assert!(rendered("goal = 3\n").contains("\"min\" or \"max\""), "{}", rendered("goal = 3\n"));
    }

    #[test]
    fn a_remark_shows_the_item_of_a_list() {
        let about = Remark {
            keys: vec!["list".into(), "1".into()],
            at_key: false,
            code: Code::Remark,
            message: "too long".into(),
            help: "be brief".into(),
        };
        let shown = remarks("size = 1\nlist = ['a', 'bcd']\n", "f.toml", Format::Toml, &[about]).to_string();
        assert_eq!(
            shown,
            "error: too long\n  --> f.toml:2:14 (list.1)\n  |\n2 | list = ['a', 'bcd']\n  |              ^^^^^\n  = help: be brief\n"
        );
    }
}
