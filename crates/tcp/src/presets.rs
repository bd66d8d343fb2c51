//! Presets as data, and what a user wrote merged over them.

use crate::params::TcpParams;
use serde_json::{Map, Value};
use std::sync::OnceLock;

/// A named set of parameter values.
#[derive(Clone, Debug, PartialEq)]
pub struct PresetInfo {
    /// Its name: the value of `preset`.
    pub name: String,
    /// One sentence.
    pub doc: String,
    /// The values that differ from the defaults.
    pub values: Map<String, Value>,
}

/// What is wrong with TCP parameters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParamsError {
    /// A value cannot be read.
    #[error("{0}")]
    Read(String),
    /// A value can be read but makes no sense.
    #[error("{field}: {message}")]
    Range {
        /// The parameter.
        field: &'static str,
        /// What is wrong and what to write.
        message: String,
    },
}

impl ParamsError {
    /// The parameter at fault, if known.
    pub fn field(&self) -> Option<&'static str> {
        match self {
            Self::Read(_) => None,
            Self::Range { field, .. } => Some(field),
        }
    }
}

/// All presets, in the order of the file.
pub fn presets() -> &'static [PresetInfo] {
    static PRESETS: OnceLock<Vec<PresetInfo>> = OnceLock::new();
    PRESETS.get_or_init(|| {
        // The file is part of the program; a test reads it, so a mistake in it cannot reach a user.
        let all: Map<String, Value> = serde_json::from_str(include_str!("presets.json")).unwrap_or_default();
        all.into_iter()
            .map(|(name, body)| PresetInfo {
                name,
                doc: body["doc"].as_str().unwrap_or_default().to_owned(),
                values: body["values"].as_object().cloned().unwrap_or_default(),
            })
            .collect()
    })
}

/// The parameters that a user's value stands for: the name of an algorithm, or a table of parameters over the preset it names.
///
/// # Errors
/// If a value cannot be read, or [`TcpParams::check`] refuses it.
pub fn resolve_params(user: Value) -> Result<TcpParams, ParamsError> {
    let table = match user {
        Value::Object(t) => t,
        Value::String(name) => Map::from_iter([("cc".to_owned(), Value::String(name))]),
        other => {
            return Err(ParamsError::Read(format!("{other} is not TCP: write the name of an algorithm such as \"newreno\" or a table")));
        }
    };
    let mut merged = Map::new();
    if let Some(name) = table.get("preset") {
        let Some(preset) = presets().iter().find(|p| Some(p.name.as_str()) == name.as_str()) else {
            let known: Vec<&str> = presets().iter().map(|p| p.name.as_str()).collect();
            return Err(ParamsError::Read(format!("preset: {name} is not known; write one of {}", known.join(", "))));
        };
        merged.clone_from(&preset.values);
    }
    for (key, value) in table {
        merged.insert(key, value);
    }
    let params: TcpParams = serde_json::from_value(Value::Object(merged)).map_err(|e| ParamsError::Read(e.to_string()))?;
    params.check()?;
    Ok(params)
}
