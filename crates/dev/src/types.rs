//! Annotations of Python for the values of a schema.

use crate::names::camel;
use crate::schema::{choices, follow};
use serde_json::Value;

/// Formats of quantities, what they are called in annotations, their types, and how they are written.
pub(crate) const QUANTITIES: [(&str, &str, &str, &str); 5] = [
    ("fl-dur", "Duration", "\"units.Duration | str\"", "A duration with its unit, such as \"20ms\" or `fairlane.units.ms(20)`."),
    ("fl-rate", "Rate", "\"units.Rate | str\"", "A rate with its unit, such as \"10Mbit/s\" or `fairlane.units.Mbit(10)`."),
    ("fl-bytes", "Size", "\"units.Size | str\"", "A size with its unit, such as \"1460B\" or `fairlane.units.B(1460)`."),
    (
        "fl-len",
        "Length",
        "\"units.Packets | units.Size | str\"",
        "The length of a queue in packets or bytes, such as \"50p\", \"64KiB\" or `fairlane.units.packets(50)`.",
    ),
    ("fl-file", "FilePath", "str", "The path of a file."),
];

/// The annotation of a value.
pub(crate) fn annotation(schema: &Value, root: &Value) -> String {
    let mut parts = Vec::new();
    collect(schema, root, &mut parts);
    let text = |p: &String| p == "str" || p.starts_with("Literal") || QUANTITIES.iter().any(|q| q.1 == p);
    if nullable(schema) && !parts.iter().any(text) {
        parts.push("Automatic".to_owned());
    }
    parts.join(" | ")
}

fn collect(schema: &Value, root: &Value, into: &mut Vec<String>) {
    if let Some(registry) = schema["x-registry"].as_str() {
        return into.push(camel(registry));
    }
    if let Some(name) = definition(schema) {
        let target = &root["$defs"][name];
        return if is_table(target) { into.extend(table(name)) } else { collect(target, root, into) };
    }
    if let Some(any) = schema["anyOf"].as_array() {
        // Text instead of a table is the value of one of its keys, which may be the name of an algorithm.
        let key = schema["x-shorthand"].as_str().unwrap_or_default();
        let registry = any.iter().find_map(|s| follow(s, root)["properties"][key]["x-registry"].as_str());
        for s in any.iter().filter(|s| s["type"] != "null") {
            match registry.filter(|_| s["type"] == "string") {
                Some(registry) => into.push(format!("Named{}", camel(registry))),
                None => collect(s, root, into),
            }
        }
        return;
    }
    let names = choices(schema);
    let of = match &schema["type"] {
        Value::Array(a) => a.iter().filter_map(Value::as_str).find(|t| *t != "null").unwrap_or_default(),
        t => t.as_str().unwrap_or_default(),
    };
    into.push(match of {
        _ if !names.is_empty() => literal(&names),
        "string" => QUANTITIES.iter().find(|q| schema["format"] == q.0).map_or("str", |q| q.1).to_owned(),
        "integer" => "int".to_owned(),
        "number" => "float".to_owned(),
        "boolean" => "bool".to_owned(),
        "array" => format!("Sequence[{}]", annotation(&schema["items"], root)),
        "object" => "Mapping[str, Any]".to_owned(),
        _ => "Any".to_owned(),
    });
}

fn nullable(schema: &Value) -> bool {
    let is = |s: &Value| s == "null" || s["type"] == "null";
    [&schema["type"], &schema["anyOf"]].iter().any(|v| v.as_array().is_some_and(|a| a.iter().any(is)))
}

/// `Literal["a", "b"]`.
pub(crate) fn literal(names: &[&str]) -> String {
    format!("Literal[{}]", names.iter().map(|n| format!("\"{n}\"")).collect::<Vec<_>>().join(", "))
}

/// True if a definition is a table of known keys.
pub(crate) fn is_table(schema: &Value) -> bool {
    schema["type"] == "object" && schema["properties"].is_object()
}

/// The name of what a reference leads to.
pub(crate) fn definition(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.strip_prefix("#/$defs/")
}

/// Transports have parameter classes, all other tables that a value may be are `TypedDict`s.
fn table(definition: &str) -> Vec<String> {
    match definition {
        "TcpParams" | "UdpParams" => vec![stem(definition).to_owned(), "Mapping[str, Any]".to_owned()],
        _ => vec![table_name(definition)],
    }
}

/// `JitterParams` is `JitterTable`.
pub(crate) fn table_name(definition: &str) -> String {
    format!("{}Table", stem(definition))
}

fn stem(definition: &str) -> &str {
    definition.strip_suffix("Params").or_else(|| definition.strip_suffix("Spec")).unwrap_or(definition)
}
