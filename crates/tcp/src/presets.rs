//! Presets as data, and the merge of a user's values over them.

use crate::cc::CcParams;
use crate::error::ParamsError;
use crate::params::TcpParams;
use serde_json::{Map, Value};
use std::sync::OnceLock;

/// A named set of parameter values.
#[derive(Clone, Debug, PartialEq)]
pub struct PresetInfo {
    /// Value of `preset`.
    pub name: String,
    /// Description in one sentence.
    pub doc: String,
    /// The values that differ from the defaults.
    pub values: Map<String, Value>,
    /// Values that apply in addition if a certain algorithm is chosen, by its name: parameters of TCP, and under `cc` its own.
    pub with: Map<String, Value>,
}

/// All presets, in the order of the file.
pub fn presets() -> &'static [PresetInfo] {
    static PRESETS: OnceLock<Vec<PresetInfo>> = OnceLock::new();
    PRESETS.get_or_init(|| {
        // The file is part of the program; a test reads it, so a mistake in it cannot reach a user.
        let all: Map<String, Value> = serde_json::from_str(include_str!("presets.json")).unwrap_or_default();
        all.iter()
            .map(|(name, body)| PresetInfo {
                name: name.clone(),
                doc: body["doc"].as_str().unwrap_or_default().to_owned(),
                values: over(&all, body, "values"),
                with: over(&all, body, "with"),
            })
            .collect()
    })
}

/// Merges a table of a preset over the same table of the preset that it starts `from`.
fn over(all: &Map<String, Value>, body: &Value, table: &str) -> Map<String, Value> {
    let mut out = body["from"].as_str().map(|base| over(all, &all[base], table)).unwrap_or_default();
    for (key, value) in body[table].as_object().into_iter().flatten() {
        match (out.get_mut(key), value) {
            (Some(Value::Object(below)), Value::Object(above)) => below.extend(above.clone()),
            _ => drop(out.insert(key.clone(), value.clone())),
        }
    }
    out
}

/// Resolves a user's value: the name of an algorithm, or a table of parameters over the preset it names.
///
/// # Errors
/// If a value cannot be read, or fails [`TcpParams::check`].
pub fn resolve_params(user: Value) -> Result<TcpParams, ParamsError> {
    let table = match user {
        Value::Object(t) => t,
        Value::String(name) => Map::from_iter([("cc".to_owned(), Value::String(name))]),
        other => {
            return Err(ParamsError::Read(format!(
                "{other} is not a TCP configuration: write the name of an algorithm such as \"newreno\" or a table"
            )));
        }
    };
    let mut merged = Map::new();
    let mut with = None;
    if let Some(name) = table.get("preset") {
        let Some(preset) = presets().iter().find(|p| Some(p.name.as_str()) == name.as_str()) else {
            let known: Vec<&str> = presets().iter().map(|p| p.name.as_str()).collect();
            return Err(ParamsError::Read(format!("preset: {name} is not known; write one of {}", known.join(", "))));
        };
        merged.clone_from(&preset.values);
        with = Some(&preset.with);
    }
    for (key, value) in &table {
        merged.insert(key.clone(), value.clone());
    }
    if let Some(with) = with {
        refine(&mut merged, with, &table);
    }
    let mut params: TcpParams = serde_json::from_value(Value::Object(merged)).map_err(|e| ParamsError::Read(e.to_string()))?;
    params.drop_inherited(|field| table.contains_key(field) && !is_complete(&table));
    params.check()?;
    Ok(params)
}

/// True if the table has every parameter, as resolved tables do. Another algorithm over such a table has not written the values that it
/// inherits.
fn is_complete(table: &Map<String, Value>) -> bool {
    let all = serde_json::to_value(TcpParams::default()).unwrap_or_default();
    all.as_object().is_some_and(|all| all.keys().all(|key| table.contains_key(key)))
}

/// Merges the values that a preset has for the chosen algorithm under those of the user.
fn refine(merged: &mut Map<String, Value>, with: &Map<String, Value>, user: &Map<String, Value>) {
    let chosen = match merged.get("cc") {
        Some(Value::String(name)) => Some((name.as_str(), None)),
        Some(Value::Object(table)) => table.iter().next().map(|(name, own)| (name.as_str(), Some(own))),
        _ => None,
    };
    let Some((name, own)) = chosen.and_then(|(name, own)| Some((CcParams::canonical(name)?, own))) else { return };
    let Some(values) = with.get(name).and_then(Value::as_object) else { return };
    if let Some(Value::Object(preset)) = values.get("cc") {
        let mut table = preset.clone();
        table.extend(own.and_then(Value::as_object).cloned().unwrap_or_default());
        let cc = Map::from_iter([(name.to_owned(), Value::Object(table))]);
        merged.insert("cc".to_owned(), Value::Object(cc));
    }
    for (key, value) in values {
        if key != "cc" && !user.contains_key(key) {
            merged.insert(key.clone(), value.clone());
        }
    }
}
