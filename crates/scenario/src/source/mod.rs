//! The text of a scenario as one tree of values with their source places.

mod json;
mod merge;
mod overlay;
mod path;
mod toml;

use crate::code::Code;
use crate::diag::{Diagnostic, Diagnostics, Sources, Span};
use indexmap::IndexMap;

pub(crate) use merge::Names;
pub(crate) use overlay::overlay;
pub(crate) use path::{join, split};

/// Notation of a scenario file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// TOML 1.0.
    Toml,
    /// JSON (RFC 8259).
    Json,
}

impl Format {
    /// Notation of a file name: JSON if it ends in `.json`, else TOML.
    pub fn of(filename: &str) -> Self {
        if filename.to_ascii_lowercase().ends_with(".json") { Self::Json } else { Self::Toml }
    }
}

/// A value and its source place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) span: Span,
}

/// A value of the tree.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(String),
    Array(Vec<Node>),
    Table(Table),
}

/// Entries of a table in the order they were written.
pub(crate) type Table = IndexMap<String, Entry>;

/// The value of a key and the source place of the key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: Span,
    pub(crate) node: Node,
}

impl Node {
    /// An empty table.
    pub(crate) fn table(span: Span) -> Self {
        Self { value: Value::Table(Table::new()), span }
    }

    /// Tree of a JSON value, all of it at one place.
    pub(crate) fn of(json: &serde_json::Value, span: Span) -> Self {
        use serde_json::Value as J;
        let value = match json {
            J::Null => Value::Null,
            J::Bool(b) => Value::Bool(*b),
            J::Number(n) => n.as_i64().map_or_else(|| Value::Float(n.as_f64().unwrap_or_default()), Value::Int),
            J::String(s) => Value::Str(s.clone()),
            J::Array(a) => Value::Array(a.iter().map(|v| Self::of(v, span)).collect()),
            J::Object(o) => Value::Table(o.iter().map(|(k, v)| (k.clone(), Entry { key: span, node: Self::of(v, span) })).collect()),
        };
        Self { value, span }
    }

    /// Value below `key`.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        match &self.value {
            Value::Table(t) => t.get(key).map(|e| &e.node),
            Value::Array(a) => a.get(key.parse::<usize>().ok()?),
            _ => None,
        }
    }

    /// Value below these keys of tables, to be changed.
    pub(crate) fn get_mut(&mut self, keys: &[&str]) -> Option<&mut Self> {
        keys.iter().try_fold(self, |node, key| match &mut node.value {
            Value::Table(t) => t.get_mut(*key).map(|e| &mut e.node),
            _ => None,
        })
    }

    /// Entries of a table.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&str, &Self)> {
        let table = if let Value::Table(t) = &self.value { Some(t) } else { None };
        table.into_iter().flatten().map(|(k, e)| (k.as_str(), &e.node))
    }

    /// Place of the deepest written part of `path`.
    pub(crate) fn place(&self, path: &[&str]) -> Span {
        let mut node = self;
        for key in path {
            match node.get(key) {
                Some(next) => node = next,
                None => break,
            }
        }
        node.span
    }

    /// Place of the key at the end of `path`, or of its deepest written part.
    pub(crate) fn key_place(&self, path: &[&str]) -> Span {
        if let Some((last, front)) = path.split_last() {
            let mut node = self;
            for key in front {
                match node.get(key) {
                    Some(next) => node = next,
                    None => return node.span,
                }
            }
            if let Value::Table(t) = &node.value
                && let Some(e) = t.get(*last)
            {
                return e.key;
            }
        }
        self.place(path)
    }

    /// Tree without source places.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as J;
        match &self.value {
            Value::Null => J::Null,
            Value::Bool(b) => J::Bool(*b),
            Value::Int(i) => J::from(*i),
            Value::Float(x) => J::from(*x),
            Value::Str(s) => J::String(s.clone()),
            Value::Array(a) => J::Array(a.iter().map(Self::to_json).collect()),
            Value::Table(t) => J::Object(t.iter().map(|(k, e)| (k.clone(), e.node.to_json())).collect()),
        }
    }

    /// Tree of JSON, with one place for all values; none if a number is not in range.
    pub(crate) fn from_json(value: &serde_json::Value, span: Span) -> Option<Self> {
        use serde_json::Value as J;
        let value = match value {
            J::Null => Value::Null,
            J::Bool(b) => Value::Bool(*b),
            J::Number(n) => match n.as_i64() {
                Some(i) => Value::Int(i),
                None if n.is_f64() => Value::Float(n.as_f64()?),
                None => return None,
            },
            J::String(s) => Value::Str(s.clone()),
            J::Array(a) => Value::Array(a.iter().map(|v| Self::from_json(v, span)).collect::<Option<_>>()?),
            J::Object(o) => {
                let entry = |(k, v): (&String, &J)| Some((k.clone(), Entry { key: span, node: Self::from_json(v, span)? }));
                Value::Table(o.iter().map(entry).collect::<Option<_>>()?)
            }
        };
        Some(Self { value, span })
    }

    /// Kind of value, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self.value {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Int(_) => "an integer",
            Value::Float(_) => "a number",
            Value::Str(_) => "a string",
            Value::Array(_) => "a list",
            Value::Table(_) => "a table",
        }
    }
}

/// Largest scenario text accepted.
const LARGEST: usize = 16 << 20;

/// Largest JSON accepted: a resolved scenario contains the numbers of its files, including captures.
const LARGEST_JSON: usize = 1 << 30;

/// Deepest nesting of tables and lists.
const DEEPEST: usize = 64;

/// Decodes the bytes of a scenario file; a binary file is an error at its first invalid byte.
pub fn decode<'a>(bytes: &'a [u8], filename: &str) -> Result<&'a str, Diagnostics> {
    let good = match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => return Ok(text.strip_prefix('\u{feff}').unwrap_or(text)),
        Ok(text) => text.find('\0').unwrap_or(0),
        Err(e) => e.valid_up_to(),
    };
    let line = bytes[..good].iter().filter(|&&b| b == b'\n').count() + 1;
    let column = bytes[..good].rsplit(|&b| b == b'\n').next().map_or(0, |l| String::from_utf8_lossy(l).chars().count()) + 1;
    let message = format!("not a text file: byte 0x{:02x} is not part of UTF-8 text", bytes[good]);
    Err(Diagnostics::one(Diagnostic {
        code: Code::NotText,
        file: filename.to_owned(),
        line: Some(line),
        column,
        end_column: column + 1,
        message,
        help: "a scenario is a TOML or JSON text in UTF-8".to_owned(),
        ..Diagnostic::default()
    }))
}

/// Reads a text into a tree.
pub(crate) fn read(sources: &mut Sources, text: &str, filename: &str, format: Format) -> Result<Node, Diagnostics> {
    let most = if format == Format::Json { LARGEST_JSON } else { LARGEST };
    if text.len() > most {
        let source = sources.add_file(filename, "");
        let message = format!("the file is too large: {} bytes, the limit is {most}", text.len());
        return Err(Diagnostics::one(sources.diagnostic(
            Code::TooLarge,
            Span { source, ..Span::default() },
            "",
            message,
            "describe regular networks by a topology builder and flow groups with `count`",
        )));
    }
    let source = sources.add_file(filename, text);
    if text.trim().is_empty() {
        let help = "a scenario needs at least `duration`, a `[topology...]` or `[links.NAME]`, and `[flows.NAME]`";
        return Err(Diagnostics::one(sources.diagnostic(
            Code::EmptyFile,
            Span { source, ..Span::default() },
            "",
            "the file is empty",
            help,
        )));
    }
    match format {
        Format::Toml => toml::parse(sources, text, source),
        Format::Json => json::parse(sources, text, source),
    }
}
