//! TOML reader that keeps source places.

use super::{DEEPEST, Entry, Node, Table, Value, join};
use crate::code::Code;
use crate::diag::{Diagnostics, Sources, Span};
use toml::de::{DeTable, DeValue};

/// Help for a syntax error.
fn remedy(message: &str) -> &'static str {
    match message {
        m if m.contains("duplicate key") => "write each key and each [table] once",
        m if m.contains("recurs") => "a scenario needs no such nesting",
        m if m.contains("carriage return") => "end lines with a line feed, or carriage return and line feed",
        m if m.contains("newline") => "write one `key = value` per line; put text and quantities in double quotes",
        _ => "a line is `key = value` or `[table]`; put text and quantities such as \"20ms\" in double quotes",
    }
}

/// Parses a document. Reports syntax errors up to the first repeated one, because later ones follow from it.
pub(super) fn parse(sources: &Sources, text: &str, source: u32) -> Result<Node, Diagnostics> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut found = Diagnostics::default();
    for (i, e) in errors.iter().enumerate() {
        if errors[..i].iter().any(|before| before.message() == e.message()) {
            break;
        }
        let r = e.span().unwrap_or(0..0);
        let place = Span { source, start: r.start, end: r.end };
        found.push(sources.diagnostic(Code::Syntax, place, "", format!("TOML syntax: {}", e.message()), remedy(e.message())));
    }
    if !found.is_empty() {
        return Err(found);
    }
    let mut convert = Convert { sources, source, found };
    let span = Span { source, start: 0, end: 0 };
    let root = convert.table(table.get_ref(), "", 0);
    if convert.found.is_empty() { Ok(Node { value: root, span }) } else { Err(convert.found) }
}

/// Parses the value of a `--set` option: a TOML value if it is valid TOML.
pub(super) fn parse_value(sources: &Sources, text: &str, source: u32, offset: usize) -> Option<Node> {
    let value = DeValue::parse(text).ok()?;
    let mut convert = Convert { sources, source, found: Diagnostics::default() };
    let mut node = Node { value: convert.value(value.get_ref(), Span::default(), "", 0), span: Span::default() };
    let place = Span { source, start: offset, end: offset + text.len() };
    place_all(&mut node, place);
    convert.found.is_empty().then_some(node)
}

/// Content of a quoted text.
pub(super) fn text(written: &str) -> Option<String> {
    match DeValue::parse(written).ok()?.get_ref() {
        DeValue::String(s) => Some(s.to_string()),
        _ => None,
    }
}

fn place_all(node: &mut Node, place: Span) {
    node.span = place;
    match &mut node.value {
        Value::Array(a) => a.iter_mut().for_each(|n| place_all(n, place)),
        Value::Table(t) => t.values_mut().for_each(|e| {
            e.key = place;
            place_all(&mut e.node, place);
        }),
        _ => {}
    }
}

struct Convert<'a> {
    sources: &'a Sources,
    source: u32,
    found: Diagnostics,
}

impl Convert<'_> {
    fn table(&mut self, table: &DeTable<'_>, path: &str, depth: usize) -> Value {
        let mut out = Table::new();
        for (k, v) in table.iter() {
            let name = k.get_ref().to_string();
            let own = join([&name]);
            let path = if path.is_empty() { own } else { format!("{path}.{own}") };
            let (key, span) = (self.span(k.span()), self.span(v.span()));
            let node = Node { value: self.value(v.get_ref(), span, &path, depth + 1), span };
            out.insert(name, Entry { key, node });
        }
        Value::Table(out)
    }

    fn span(&self, r: std::ops::Range<usize>) -> Span {
        Span { source: self.source, start: r.start, end: r.end }
    }

    fn fail(&mut self, code: Code, span: Span, path: &str, message: &str, help: &str) -> Value {
        let sources = self.sources;
        self.found.find((code, span, path, message), || sources.diagnostic(code, span, path, message, help));
        Value::Null
    }

    fn value(&mut self, v: &DeValue<'_>, span: Span, path: &str, depth: usize) -> Value {
        if depth > DEEPEST {
            return self.fail(Code::TooDeep, span, path, "tables are nested too deeply", "a scenario needs no such nesting");
        }
        match v {
            DeValue::String(s) => Value::Str(s.to_string()),
            DeValue::Boolean(b) => Value::Bool(*b),
            DeValue::Integer(i) => match i64::from_str_radix(&i.as_str().replace('_', ""), i.radix()) {
                Ok(i) => Value::Int(i),
                Err(_) => {
                    self.fail(Code::OutOfRange, span, path, "the integer does not fit into 64 bits", "the most is 9223372036854775807")
                }
            },
            DeValue::Float(x) => match x.as_str().replace('_', "").parse::<f64>() {
                Ok(x) => Value::Float(x),
                Err(_) => self.fail(Code::WrongType, span, path, "not a number", "write for instance 0.5"),
            },
            DeValue::Datetime(_) => self.fail(Code::WrongType, span, path, "a scenario has no dates", "write simulated time as \"10s\""),
            DeValue::Array(a) => Value::Array(
                a.iter()
                    .enumerate()
                    .map(|(i, v)| {
                        let span = self.span(v.span());
                        Node { value: self.value(v.get_ref(), span, &format!("{path}.{i}"), depth + 1), span }
                    })
                    .collect(),
            ),
            DeValue::Table(t) => self.table(t, path, depth),
        }
    }
}
