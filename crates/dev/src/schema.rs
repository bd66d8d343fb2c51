//! JSON Schema read: references followed, choices listed.

use serde_json::Value;

/// The schema behind references and "or null".
pub(crate) fn follow<'a>(mut schema: &'a Value, root: &'a Value) -> &'a Value {
    while let Some(next) = step(schema, root) {
        schema = next;
    }
    schema
}

fn step<'a>(schema: &'a Value, root: &'a Value) -> Option<&'a Value> {
    if let Some(r) = schema["$ref"].as_str() {
        return root.pointer(r.trim_start_matches('#'));
    }
    if schema.get("x-registry").is_some() || schema.get("x-shorthand").is_some() {
        return None;
    }
    let any = schema["anyOf"].as_array()?;
    let mut others = any.iter().filter(|s| s["type"] != "null");
    others.next().filter(|_| others.next().is_none())
}

/// Names of an enumeration.
pub(crate) fn choices(schema: &Value) -> Vec<&str> {
    let plain = schema["enum"].as_array().into_iter().flatten();
    let each = schema["oneOf"].as_array().into_iter().flatten();
    plain
        .chain(each.flat_map(|s| s.get("const").into_iter().chain(s["enum"].as_array().into_iter().flatten())))
        .filter_map(Value::as_str)
        .collect()
}
