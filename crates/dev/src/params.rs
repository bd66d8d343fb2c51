//! Parameters as the pages and classes show them, read from JSON Schema.

use crate::schema::{choices, follow};
use crate::types::annotation;
use serde_json::Value;

/// One parameter of an algorithm.
pub(crate) struct Param {
    pub(crate) name: String,
    /// Kind of value: "duration", "number", "one of `a`, `b`".
    pub(crate) kind: String,
    /// Python type of the value.
    pub(crate) python: String,
    /// Default as written in a scenario; "unset" if there is none.
    pub(crate) default: String,
    pub(crate) range: String,
    pub(crate) doc: String,
}

/// The parameters of a schema; references are looked up in `root`.
pub(crate) fn params(schema: &Value, root: &Value) -> Vec<Param> {
    let required = |name: &str| schema["required"].as_array().is_some_and(|r| r.iter().any(|k| k == name));
    schema["properties"].as_object().into_iter().flatten().map(|(name, p)| param(name, p, root, required(name))).collect()
}

fn param(name: &str, schema: &Value, root: &Value, required: bool) -> Param {
    let target = follow(schema, root);
    let (kind, python) = (kind(target, root), annotation(schema, root));
    let default = match schema.get("default") {
        _ if required => "required".to_owned(),
        None | Some(Value::Null) => "unset".to_owned(),
        Some(v) => short(v),
    };
    // A description next to a reference is that of the parameter; the referenced definition describes the type.
    let doc = schema["description"].as_str().or_else(|| target["description"].as_str()).unwrap_or_default();
    Param { name: name.to_owned(), kind, python, default, range: range(target, schema), doc: doc.replace('\n', " ") }
}

fn kind(schema: &Value, root: &Value) -> String {
    if let Some(registry) = schema["x-registry"].as_str() {
        return format!("{registry}: name or table");
    }
    if schema.get("x-shorthand").is_some() {
        let short = schema.pointer("/anyOf/0").filter(|s| s["format"].is_string()).map(|s| kind(s, root));
        return format!("{} or table", short.as_deref().unwrap_or("name"));
    }
    let names = choices(schema);
    if !names.is_empty() {
        return format!("one of {}", names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", "));
    }
    if let Some(any) = schema["anyOf"].as_array() {
        let kinds: Vec<String> = any.iter().map(|s| kind(follow(s, root), root)).collect();
        return kinds.join("; or ");
    }
    let of = match &schema["type"] {
        Value::Array(a) => a.iter().filter_map(Value::as_str).find(|t| *t != "null").unwrap_or_default(),
        t => t.as_str().unwrap_or_default(),
    };
    let kind = match (of, schema["format"].as_str().unwrap_or_default()) {
        ("string", "fl-dur") => "duration",
        ("string", "fl-rate") => "rate",
        ("string", "fl-bytes") => "size",
        ("string", "fl-len") => "packets or bytes",
        ("string", "fl-file") => "path of a file",
        ("string", _) => "text",
        ("integer", _) => "integer",
        ("number", _) => "number",
        ("boolean", _) => "true or false",
        ("array", _) => return format!("list of {}", kind(follow(&schema["items"], root), root)),
        ("object", _) => "table",
        _ => "value",
    };
    kind.to_owned()
}

fn range(schema: &Value, outer: &Value) -> String {
    let bound = |text: &str, number: &str| {
        let of = |s: &Value| match (s.get(text), s.get(number)) {
            (Some(Value::String(t)), _) => Some(t.clone()),
            (_, Some(n)) => Some(n.as_f64().map_or_else(|| n.to_string(), |x| x.to_string())),
            _ => None,
        };
        of(outer).or_else(|| of(schema))
    };
    match (bound("x-min", "minimum"), bound("x-max", "maximum")) {
        (Some(a), Some(b)) => format!("{a} to {b}"),
        (Some(a), None) => format!("from {a}"),
        (None, Some(b)) => format!("up to {b}"),
        (None, None) => String::new(),
    }
}

/// A default value in one line.
fn short(v: &Value) -> String {
    match v {
        Value::Object(o) if o.len() == 1 => o.keys().next().map(|k| format!("\"{k}\"")).unwrap_or_default(),
        Value::Object(o) if o.values().all(Value::is_null) => "unset".to_owned(),
        Value::Object(_) => "as below".to_owned(),
        other => other.to_string(),
    }
}
