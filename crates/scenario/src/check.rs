//! Checks a tree against the JSON Schema that the parameter structs declare, and normalises shorthands.
//!
//! The schema is ordinary JSON Schema (draft 2020-12) plus: formats `fl-dur`, `fl-rate`, `fl-bytes`, `fl-len` for quantities,
//! `x-min` and `x-max` for their ranges, `x-registry` for one-key tables that name an algorithm (with `x-aliases`), and
//! `x-shorthand` for tables that may be written as the value of one of their keys,
//! `fl-file` with `x-reads` for file paths, which are replaced by the numbers in the file.

pub(crate) mod file;
mod keys;
mod part;
mod point;
mod quantity;

pub use file::parse as parse_file;
pub(crate) use file::waypoints::points as walk_points;

use self::keys::{inside, noun, other_key, percent, suggest_algorithm};
use crate::code::Code;
use crate::diag::{Diagnostics, Sources, Span, suggest};
use crate::registry::SourceSpec;
use crate::source::{Entry, Node, Table, Value, join};
use crate::tc;
use serde_json::Value as J;

/// Most names of an alternative that a help text lists.
const MOST_NAMED: usize = 6;

/// A walk over a tree.
pub(crate) struct Checker<'a> {
    root: &'a J,
    sources: &'a Sources,
    path: Vec<String>,
    /// True if required keys may be missing because another layer may supply them.
    partial: bool,
    pub(crate) found: Diagnostics,
}

impl<'a> Checker<'a> {
    pub(crate) fn new(root: &'a J, sources: &'a Sources, partial: bool) -> Self {
        Self { root, sources, path: Vec::new(), partial, found: Diagnostics::default() }
    }

    /// Checks the whole file.
    pub(crate) fn run(mut self, node: &mut Node) -> Diagnostics {
        self.check(node, self.root);
        self.found
    }

    fn fail(&mut self, code: Code, span: Span, message: impl Into<String>, help: impl Into<String>) {
        let (path, message) = (join(&self.path), message.into());
        let sources = self.sources;
        self.found.find((code, span, &path, &message), || sources.diagnostic(code, span, &path, message.as_str(), help));
    }

    /// Schema that a reference leads to, and whether null is allowed.
    fn resolve(&self, mut schema: &'a J) -> (&'a J, bool) {
        let mut nullable = false;
        // A chain of references is finite; the bound only guards against an endless one.
        for _ in 0..32 {
            if let Some(name) = schema.get("$ref").and_then(J::as_str) {
                let here = self.root.pointer(name.trim_start_matches('#'));
                schema = here.or_else(|| crate::schema::definition(name)).unwrap_or(&J::Null);
                continue;
            }
            let Some(any) = schema.get("anyOf").and_then(J::as_array).filter(|_| schema.get("x-registry").is_none()) else { break };
            let is_null = |s: &J| s.get("type").and_then(J::as_str) == Some("null");
            nullable |= any.iter().any(is_null);
            let mut others = any.iter().filter(|s| !is_null(s));
            match (others.next(), others.next()) {
                (Some(s), None) if schema.get("x-shorthand").is_none() => schema = s,
                _ => break,
            }
        }
        let types = schema.get("type").and_then(J::as_array);
        (schema, nullable || types.is_some_and(|t| t.iter().any(|t| t == "null")))
    }

    fn check(&mut self, node: &mut Node, schema: &'a J) {
        let (schema, nullable) = self.resolve(schema);
        if nullable && automatic(node, schema) {
            node.value = Value::Null;
        }
        if node.value == Value::Null && nullable || schema.as_bool() == Some(true) {
            return;
        }
        if schema.get("x-registry").is_some() {
            return self.registry(node, schema);
        }
        if let Some(key) = schema.get("x-shorthand").and_then(J::as_str) {
            if let Value::Str(_) = node.value {
                let inner = node.clone();
                node.value = Value::Table(Table::from_iter([(key.to_owned(), Entry { key: node.span, node: inner })]));
            }
            let Some(table) = schema.pointer("/anyOf/1") else { return };
            return self.check(node, table);
        }
        if let Some(any) = schema.get("anyOf").and_then(J::as_array) {
            return self.alternatives(node, any);
        }
        if let Some(names) = choices(schema) {
            return self.choice(node, &names);
        }
        let kind = match schema.get("type") {
            Some(J::Array(t)) => t.iter().filter_map(J::as_str).find(|t| *t != "null"),
            Some(t) => t.as_str(),
            None => schema.get("properties").map(|_| "object"),
        };
        match kind {
            Some("object") => self.table(node, schema),
            Some("array") => self.list(node, schema),
            Some("string") if schema.get("format").is_some_and(|f| f == "fl-file") => self.file(node, schema),
            Some("string") => self.string(node, schema),
            Some(kind @ ("integer" | "number")) => self.number(node, schema, kind == "integer"),
            Some("boolean") if !matches!(node.value, Value::Bool(_)) => {
                self.fail(
                    Code::WrongType,
                    node.span,
                    format!("expected true or false, found {}", show(node)),
                    "write true or false without quotes",
                );
            }
            _ => {}
        }
    }

    /// Checks one of several forms. If none fits, reports the errors of the form with the value's kind, else of the last form, with the names that the others allow.
    fn alternatives(&mut self, node: &mut Node, any: &'a [J]) {
        let mut last = Diagnostics::default();
        let mut fits = false;
        for schema in any {
            let mut tried = node.clone();
            let mut inner = Checker { path: self.path.clone(), found: Diagnostics::default(), ..*self };
            inner.check(&mut tried, schema);
            if inner.found.is_empty() {
                *node = tried;
                return;
            }
            if !fits {
                last = inner.found;
                fits = self.is_kind(node, schema);
            }
        }
        let names: Vec<&str> = any.iter().filter_map(choices).flatten().collect();
        for d in &mut last.list {
            // "did you mean `min`?" needs no list of names.
            if !names.is_empty() && !names.iter().any(|n| d.help.contains(&format!("`{n}`"))) {
                let named =
                    if names.len() > MOST_NAMED { format!("a name such as \"{}\"", names[names.len() - 1]) } else { quoted(&names) };
                d.help = format!("{}{}{named}", d.help, if d.help.is_empty() { "write " } else { ", or " });
            }
        }
        self.found.absorb(last);
    }

    /// True if a value has the kind that a schema requires, valid or not.
    fn is_kind(&self, node: &Node, schema: &'a J) -> bool {
        let kind = self.resolve(schema).0.get("type").and_then(J::as_str);
        match node.value {
            Value::Int(_) | Value::Float(_) => matches!(kind, Some("number" | "integer")),
            Value::Str(ref s) => kind == Some("number") && percent(s).is_some(),
            Value::Table(_) => kind == Some("object"),
            Value::Array(_) => kind == Some("array"),
            _ => false,
        }
    }

    fn table(&mut self, node: &mut Node, schema: &'a J) {
        let span = node.span;
        let found = show(node);
        let Value::Table(table) = &mut node.value else {
            let keys = names(schema.get("properties"));
            let source = match (&node.value, self.path.last()) {
                (Value::Str(word), Some(key)) if key == "udp" => {
                    SourceSpec::NAMES.iter().find(|(name, aliases)| name == word || aliases.contains(&word.as_str()))
                }
                _ => None,
            };
            if let Some((name, _)) = source {
                let help =
                    format!("`{name}` is a source: write udp = {{}}, and next to it source = \"{name}\" or source.{name} = {{ ... }}");
                return self.fail(Code::WrongType, span, format!("expected a table, found {found}"), help);
            }
            let help = match keys.first() {
                Some(key) => format!("write {{ {key} = ... }}"),
                None => "give each entry a name: [section.NAME]".to_owned(),
            };
            return self.fail(Code::WrongType, span, format!("expected a table, found {found}"), help);
        };
        let properties = schema.get("properties").and_then(J::as_object);
        let others = schema.get("additionalProperties");
        for (key, entry) in table.iter_mut() {
            self.path.push(key.clone());
            match (properties.and_then(|p| p.get(key)), others) {
                (Some(s), _) => self.check(&mut entry.node, s),
                (None, Some(s)) if s.as_bool() != Some(false) => {
                    if key.is_empty() {
                        self.fail(Code::EmptyName, entry.key, "a name must not be empty", "write for instance \"a\"");
                    } else if key.contains(char::is_control) {
                        self.fail(
                            Code::ControlCharacter,
                            entry.key,
                            "a name must not contain control characters",
                            "write it with letters, digits, - and _",
                        );
                    }
                    self.check(&mut entry.node, s);
                }
                _ => {
                    let help = match inside(key).filter(|_| self.path.len() == 1) {
                        Some(help) => help,
                        None if self.found.has_room() => other_key(key, &names(schema.get("properties"))),
                        None => String::new(),
                    };
                    self.fail(Code::UnknownKey, entry.key, format!("unknown key `{key}`"), help);
                }
            }
            self.path.pop();
        }
        if self.partial {
            return;
        }
        let absent = |k: &str| table.get(k).is_none_or(|e| e.node.value == Value::Null);
        // Keys that other keys may replace.
        let unless = schema.get("x-required-unless").and_then(J::as_object).into_iter().flatten().filter_map(|(key, others)| {
            let others = others.as_array().into_iter().flatten().filter_map(J::as_str);
            others.into_iter().all(&absent).then_some(key.as_str())
        });
        let missing: Vec<String> = schema
            .get("required")
            .and_then(J::as_array)
            .into_iter()
            .flatten()
            .filter_map(J::as_str)
            .chain(unless)
            .filter(|k| absent(k))
            .map(str::to_owned)
            .collect();
        for key in missing {
            let example = properties.and_then(|p| p.get(&key)).and_then(|s| quantity::example(self.resolve(s).0));
            self.path.push(key.clone());
            self.fail(Code::MissingKey, span, format!("`{key}` is missing"), format!("write {key} = {}", example.unwrap_or("...")));
            self.path.pop();
        }
    }

    fn list(&mut self, node: &mut Node, schema: &'a J) {
        if schema.get("x-place").is_some()
            && let Some(key) = point::as_list(node)
        {
            self.path.push(key.to_owned());
            self.fail(Code::MissingKey, node.span, format!("`{key}` is missing"), format!("write {key} = ..., or a place as [x, y]"));
            self.path.pop();
            return;
        }
        let (span, found) = (node.span, show(node));
        // An option such as `classes.0.weight=2`, applied later to a list in the file or in the builder's link.
        let refines = self.partial || self.path.first().is_some_and(|p| p == "links");
        if let (true, Value::Table(places), Some(items)) = (refines, &mut node.value, schema.get("items"))
            && places.keys().all(|k| k.parse::<usize>().is_ok())
        {
            for (place, entry) in places.iter_mut() {
                self.path.push(place.clone());
                self.check(&mut entry.node, items);
                self.path.pop();
            }
            return;
        }
        let Value::Array(list) = &mut node.value else {
            let help = if schema.get("x-place").is_some() { "write [x, y]" } else { "write [ ... ]" };
            return self.fail(Code::WrongType, span, format!("expected a list, found {found}"), help);
        };
        let count = |key| schema.get(key).and_then(J::as_u64);
        if let (Some(least), Some(most)) = (count("minItems"), count("maxItems"))
            && !(least..=most).contains(&(list.len() as u64))
        {
            let wanted = if least == most { least.to_string() } else { format!("{least} to {most}") };
            let message = format!("expected a list of {wanted}, found one of {}", list.len());
            return self.fail(Code::WrongType, span, message, "write [x, y]");
        }
        if let Some(items) = schema.get("items") {
            for (i, item) in list.iter_mut().enumerate() {
                self.path.push(i.to_string());
                self.check(item, items);
                self.path.pop();
            }
        }
    }

    /// Replaces the path of a file by the file's contents.
    fn file(&mut self, node: &mut Node, schema: &J) {
        let reads = schema.get("x-reads").and_then(J::as_str).unwrap_or_default();
        match file::load(node, self.sources.folder(node.span), reads) {
            Ok(inline) => node.value = Value::Str(inline),
            Err((message, help)) => self.fail(Code::BadFile, node.span, message, help),
        }
    }

    fn string(&mut self, node: &Node, schema: &J) {
        if let Some(format) = schema.get("format").and_then(J::as_str).filter(|f| f.starts_with("fl-")) {
            if let Err((message, help)) = quantity::check(node, format, schema) {
                self.fail(Code::BadQuantity, node.span, message, help);
            }
        } else if !matches!(node.value, Value::Str(_)) {
            self.fail(Code::WrongType, node.span, format!("expected a string, found {}", show(node)), "write it in double quotes");
        }
    }

    fn number(&mut self, node: &Node, schema: &J, whole: bool) {
        let wanted = if whole { "an integer" } else { "a number" };
        let x = match node.value {
            Value::Int(i) => i as f64,
            Value::Float(x) if !x.is_finite() => {
                return self.fail(Code::WrongType, node.span, format!("expected {wanted}, found {}", show(node)), "write a finite number");
            }
            Value::Float(x) if !whole => x,
            _ => {
                let help = match (&node.value, whole) {
                    (Value::Str(s), false) if percent(s).is_some() => percent(s).unwrap_or_default(),
                    (Value::Str(_), _) => "write it without quotes and unit".to_owned(),
                    (_, true) => "write a whole number such as 2".to_owned(),
                    (_, false) => "write a number such as 0.5".to_owned(),
                };
                return self.fail(Code::WrongType, node.span, format!("expected {wanted}, found {}", show(node)), help);
            }
        };
        let limit = |key| schema.get(key).and_then(J::as_f64);
        let width = match schema.get("format").and_then(J::as_str) {
            Some("uint8") => Some(f64::from(u8::MAX)),
            Some("uint16") => Some(f64::from(u16::MAX)),
            Some("uint32") => Some(f64::from(u32::MAX)),
            Some("int32") => Some(f64::from(i32::MAX)),
            _ => None,
        };
        let (min, max) = (limit("minimum"), limit("maximum").or(width));
        let above = limit("exclusiveMinimum").is_some_and(|m| x <= m);
        let below = limit("exclusiveMaximum").is_some_and(|m| x >= m);
        if above || below || min.is_some_and(|m| x < m) || max.is_some_and(|m| x > m) {
            let bound = |v: Option<f64>, or| v.map_or(or, |v: f64| v.to_string());
            let low = bound(min.or(limit("exclusiveMinimum")), "any".to_owned());
            let high = bound(max.or(limit("exclusiveMaximum")), "any".to_owned());
            let word = if x < 0.0 && min.is_some_and(|m| m >= 0.0) { "negative" } else { "out of range" };
            self.fail(Code::OutOfRange, node.span, format!("{} is {word}", show(node)), format!("allowed is {low} to {high}"));
        }
    }

    fn choice(&mut self, node: &mut Node, known: &[&str]) {
        let Value::Str(s) = &node.value else {
            return self.fail(
                Code::WrongType,
                node.span,
                format!("expected a string, found {}", show(node)),
                format!("write one of: {}", known.join(", ")),
            );
        };
        if let Some(same) = known.iter().find(|k| k.eq_ignore_ascii_case(s)) {
            node.value = Value::Str((*same).to_owned());
        } else {
            let message = format!("unknown value \"{s}\"");
            let help = if self.found.has_room() { suggest(s, known, "known values") } else { String::new() };
            self.fail(Code::UnknownValue, node.span, message, help);
        }
    }

    /// Normalises `"red"` or `{ red = {...} }` to the table with the algorithm's own name.
    fn registry(&mut self, node: &mut Node, schema: &'a J) {
        let what = schema.get("x-registry").and_then(J::as_str).unwrap_or("algorithm");
        if let Value::Str(text) = &node.value
            && let (Some(line), "queue") = (text.strip_prefix(tc::PREFIX), what)
        {
            match tc::read(line) {
                Ok(read) => {
                    self.sources.note(read.notes);
                    *node = Node::of(&read.queue, node.span);
                }
                Err(wrong) => return self.fail(Code::BadTc, self.sources.part(node.span, &wrong.word), wrong.message, wrong.help),
            }
        }
        let Some(properties) = schema.pointer("/anyOf/1/properties").and_then(J::as_object) else { return };
        let known: Vec<&str> = properties.keys().map(String::as_str).collect();
        let (name, entry) = match &node.value {
            Value::Str(s) => (s.clone(), Entry { key: node.span, node: Node::table(node.span) }),
            Value::Table(t) if t.len() == 1 => match t.first() {
                Some((k, e)) => (k.clone(), e.clone()),
                None => return,
            },
            Value::Table(t) => {
                let message = match t.len() {
                    0 => format!("no {what} is given"),
                    _ => format!("expected one {what}, found {}", t.keys().cloned().collect::<Vec<_>>().join(" and ")),
                };
                let help = format!("write for instance {what} = \"{0}\" or {what}.{0} = {{ ... }}", known[0]);
                return self.fail(Code::OneAlgorithm, node.span, message, help);
            }
            _ => {
                let help = format!("write its name as a string: {}", known.join(", "));
                return self.fail(Code::WrongType, node.span, format!("expected a {what}, found {}", show(node)), help);
            }
        };
        if self.plugin(what, &name, &entry, node) {
            return;
        }
        let Some((own, params)) = self.algorithm(&name, schema, properties) else {
            let own = crate::plugin::names(what);
            // Plug-ins come first, because a long list is cut short.
            let known: Vec<&str> = own.iter().map(String::as_str).chain(known.into_iter().filter(|k| *k != "plugin")).collect();
            let what = noun(what);
            let of = properties.iter().find(|(_, s)| self.resolve(s).0.pointer(&format!("/properties/{name}")).is_some());
            let help = match of {
                Some((first, _)) => format!("`{name}` is a parameter: write it below the name of the {what}, such as {first}.{name}"),
                None if self.found.has_room() => suggest_algorithm(&name, &known, what),
                None => String::new(),
            };
            return self.fail(Code::UnknownAlgorithm, entry.key, format!("unknown {what} \"{name}\""), help);
        };
        let mut entry = entry;
        if entry.node.value == Value::Null {
            entry.node.value = Value::Table(Table::new());
        }
        self.path.push(own.clone());
        self.check(&mut entry.node, params);
        self.path.pop();
        node.value = Value::Table(Table::from_iter([(own, entry)]));
    }

    /// Normalises an algorithm that is not built in, given by its own name or as `plugin = { name, params }`, to the latter. False if it is not a plug-in.
    fn plugin(&mut self, what: &str, name: &str, entry: &Entry, node: &mut Node) -> bool {
        let written = name == "plugin";
        let asked = match (written, entry.node.get("name").map(|n| &n.value)) {
            (true, Some(Value::Str(asked))) => asked.as_str(),
            _ => name,
        };
        let Some((own, params)) = crate::plugin::announced(what, asked) else { return false };
        let at = entry.key;
        let mut table =
            if written { entry.node.get("params").cloned() } else { Some(entry.node.clone()) }.unwrap_or_else(|| Node::table(at));
        if table.value == Value::Null {
            table.value = Value::Table(Table::new());
        }
        self.path.push(own.to_owned());
        self.check(&mut table, params);
        self.path.pop();
        let name = Entry { key: at, node: Node { value: Value::Str(own.to_owned()), span: at } };
        let inner = Table::from_iter([("name".to_owned(), name), ("params".to_owned(), Entry { key: at, node: table })]);
        let plugin = Entry { key: at, node: Node { value: Value::Table(inner), span: at } };
        node.value = Value::Table(Table::from_iter([("plugin".to_owned(), plugin)]));
        true
    }

    fn algorithm(&self, name: &str, schema: &J, properties: &'a serde_json::Map<String, J>) -> Option<(String, &'a J)> {
        let aliases = schema.get("x-aliases").and_then(J::as_object);
        let alias = || aliases?.iter().find(|(k, _)| k.eq_ignore_ascii_case(name)).and_then(|(_, v)| v.as_str());
        let own = properties.keys().find(|k| k.eq_ignore_ascii_case(name)).map(String::as_str).or_else(alias)?;
        Some((own.to_owned(), properties.get(own)?))
    }
}

/// True if the text asks for the automatic value of a parameter that is not itself a free text.
fn automatic(node: &Node, schema: &J) -> bool {
    let quantity = schema.get("format").and_then(J::as_str).is_some_and(|f| f.starts_with("fl-"));
    let text = schema.get("type").is_some_and(|t| *t == "string" || t.as_array().is_some_and(|t| t.iter().any(|t| t == "string")));
    matches!(&node.value, Value::Str(s) if matches!(s.as_str(), "auto" | "off" | "none"))
        && (quantity || !text)
        && choices(schema).is_none()
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|n| format!("\"{n}\"")).collect::<Vec<_>>().join(" or ")
}

/// Strings that an enumeration allows.
fn choices(schema: &J) -> Option<Vec<&str>> {
    if let Some(list) = schema.get("enum").and_then(J::as_array) {
        return Some(list.iter().filter_map(J::as_str).collect());
    }
    let list = schema.get("oneOf")?.as_array()?;
    let mut names = Vec::new();
    for s in list {
        match (s.get("const"), s.get("enum").and_then(J::as_array)) {
            (Some(c), _) => names.push(c.as_str()?),
            (None, Some(e)) => names.extend(e.iter().filter_map(J::as_str)),
            _ => return None,
        }
    }
    Some(names)
}

fn names(properties: Option<&J>) -> Vec<&str> {
    properties.and_then(J::as_object).map(|p| p.keys().map(String::as_str).collect()).unwrap_or_default()
}

/// A value for messages: scalars as written, other values by kind.
fn show(node: &Node) -> String {
    match &node.value {
        Value::Int(i) => i.to_string(),
        Value::Float(x) => x.to_string(),
        Value::Bool(b) => b.to_string(),
        Value::Str(s) if s.chars().count() <= 40 => format!("\"{s}\""),
        _ => node.kind().to_owned(),
    }
}
