//! Tables of parameters as written, until all layers (builder, refinement, preset, option) are merged. Copies share their values.

use crate::registry::{QueueSpec, SourceSpec, StackSpec};
use fairlane_tcp::{CcParams, ParamsError, TcpParams};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::sync::Arc;

/// Keys whose value is a one-key table naming an algorithm: another name replaces it, the same name refines it.
pub(crate) const REGISTRY_KEYS: [&str; 6] = ["queue", "cc", "source", "stack", "topology", "propagation"];

/// Merges `over` into `base`: tables are merged, other values replaced.
pub(crate) fn merge_json(base: &mut Value, over: &Value, registry: bool) {
    match (base, over) {
        (Value::Object(b), Value::Object(o)) => {
            if registry && !o.is_empty() && named(b) != named(o) {
                b.clear();
            }
            for (key, value) in o {
                merge_json(b.entry(key.clone()).or_insert(Value::Null), value, REGISTRY_KEYS.contains(&key.as_str()));
            }
        }
        // `classes.0.weight=2` changes an element of a list.
        (Value::Array(b), Value::Object(o)) if o.keys().all(|k| k.parse().is_ok_and(|i: usize| i < b.len())) => {
            for (place, value) in o {
                if let Some(old) = place.parse().ok().and_then(|i: usize| b.get_mut(i)) {
                    merge_json(old, value, false);
                }
            }
        }
        (base, over) => base.clone_from(over),
    }
}

/// Algorithm of a one-key table; a plug-in is named inside.
fn named(table: &Map<String, Value>) -> (Option<&String>, Option<&Value>) {
    let first = table.iter().next();
    (first.map(|(name, _)| name), first.filter(|(name, _)| *name == "plugin").and_then(|(_, inner)| inner.get("name")))
}

macro_rules! table {
    ($(#[$doc:meta])* $name:ident as $spec:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<Value>);

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                <$spec as JsonSchema>::inline_schema()
            }
            fn schema_name() -> Cow<'static, str> {
                <$spec as JsonSchema>::schema_name()
            }
            fn json_schema(g: &mut SchemaGenerator) -> Schema {
                <$spec as JsonSchema>::json_schema(g)
            }
        }

        impl $name {
            /// Algorithm with all its parameters, including those of its preset.
            pub fn spec(&self) -> $spec {
                // A table that passed validation can be read; the default is never used.
                serde_json::from_value(under_preset(&self.0)).unwrap_or_default()
            }
        }

        impl From<&$spec> for $name {
            fn from(spec: &$spec) -> Self {
                Self(Arc::new(serde_json::to_value(spec).unwrap_or(Value::Null)))
            }
        }
    };
}

table! {
    /// A queue discipline with its written parameters.
    QueueTable as QueueSpec
}
table! {
    /// A traffic source with its written parameters.
    SourceTable as SourceSpec
}

table! {
    /// A real transport stack with its written parameters.
    StackTable as StackSpec
}

impl QueueTable {
    /// True if the merged layers form a queue: an option may address an element that a list lacks.
    pub(crate) fn reads(&self) -> bool {
        serde_json::from_value::<QueueSpec>(under_preset(&self.0)).is_ok()
    }
    /// Merges `over` into `base`. A preset is replaced by its values in the layer that names it.
    pub fn over(over: Option<&Self>, base: Option<&Self>) -> Option<Self> {
        let (Some(o), Some(b)) = (over, base) else { return over.or(base).cloned() };
        let mut v = under_preset(&b.0);
        merge_json(&mut v, &under_preset(&o.0), true);
        Some(Self(Arc::new(v)))
    }
}

/// TCP with its written parameters: a preset's name, a congestion control, and single parameters over them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TcpTable(Arc<Map<String, Value>>);

impl JsonSchema for TcpTable {
    fn schema_name() -> Cow<'static, str> {
        "Tcp".into()
    }
    fn json_schema(g: &mut SchemaGenerator) -> Schema {
        let params = g.subschema_for::<TcpParams>();
        let names: Vec<&str> = CcParams::ALL.iter().flat_map(|c| std::iter::once(c.name).chain(c.aliases.iter().copied())).collect();
        json_schema!({
            "description": "TCP: the name of a congestion control, or a table of parameters.",
            "x-shorthand": "cc",
            "anyOf": [{ "type": "string", "enum": names }, params],
        })
    }
}

impl TcpTable {
    /// Parameters, including those of the preset, and the table with all of them written out.
    pub fn complete(&self) -> Result<(Self, TcpParams), ParamsError> {
        let params = fairlane_tcp::resolve_params(Value::Object((*self.0).clone()))?;
        match serde_json::to_value(&params) {
            Ok(Value::Object(full)) => Ok((Self(Arc::new(full)), params)),
            Ok(_) => Err(ParamsError::Read("not a table".to_owned())),
            Err(e) => Err(ParamsError::Read(e.to_string())),
        }
    }
}

impl TcpTable {
    /// The table with the values of the control `external` of another one, if both have it.
    pub(crate) fn with_external_of(&self, other: &Self) -> Self {
        let of = |t: &Self| t.0.get("cc").and_then(|cc| cc.get("external")).cloned();
        let (Some(_), Some(values)) = (of(self), of(other)) else { return self.clone() };
        let mut table = (*self.0).clone();
        table["cc"]["external"] = values;
        Self(Arc::new(table))
    }
}

/// Merges the preset of a one-key table `{ NAME = {...} }` of a queue below its other values, and likewise for
/// every queue inside it.
fn under_preset(table: &Value) -> Value {
    let Some((name, written)) = table.as_object().and_then(|t| t.iter().next()) else { return table.clone() };
    let Some(written) = written.as_object() else { return table.clone() };
    let preset = written.get("preset").and_then(Value::as_str);
    let preset = QueueSpec::presets(name).iter().find(|p| Some(p.name) == preset);
    let mut values: Map<String, Value> = preset.and_then(|p| serde_json::from_str(p.values).ok()).unwrap_or_default();
    for (key, value) in written.iter().filter(|(k, _)| preset.is_none() || *k != "preset") {
        values.insert(key.clone(), value.clone());
    }
    for (key, value) in &mut values {
        inner_presets(key, value);
    }
    Value::Object(Map::from_iter([(name.clone(), Value::Object(values))]))
}

/// Merges the presets of queues inside a value: under the key `queue`, at any depth.
fn inner_presets(key: &str, value: &mut Value) {
    match value {
        Value::Object(_) if key == "queue" => *value = under_preset(value),
        Value::Object(table) => table.iter_mut().for_each(|(k, v)| inner_presets(k, v)),
        Value::Array(list) => list.iter_mut().for_each(|v| inner_presets("", v)),
        _ => {}
    }
}
