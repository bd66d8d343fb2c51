//! Flow controls at the source.

use crate::registry::ControlSpec;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Controls by kind: under each name one table, or a list of tables for different nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ControlTables(pub Vec<ControlSpec>);

impl ControlTables {
    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// Each control with its index among those of its kind.
    pub fn each(&self) -> impl Iterator<Item = (usize, &ControlSpec)> {
        self.0.iter().enumerate().map(|(i, c)| (self.0[..i].iter().filter(|o| o.name() == c.name()).count(), c))
    }
}

impl Serialize for ControlTables {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut names: Vec<&str> = self.0.iter().map(ControlSpec::name).collect();
        names.dedup();
        let mut map = s.serialize_map(Some(names.len()))?;
        for name in names {
            let same: Vec<Value> =
                self.0.iter().filter(|c| c.name() == name).filter_map(|c| Some(serde_json::to_value(c).ok()?.get(name)?.clone())).collect();
            map.serialize_entry(name, &same)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for ControlTables {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let written = Map::<String, Value>::deserialize(d)?;
        let one = |name: &str, table: Value| serde_json::from_value(Value::Object(Map::from_iter([(name.to_owned(), table)])));
        let mut all = Vec::new();
        // In the order of the registry, not of the file.
        for (name, _) in ControlSpec::NAMES {
            match written.get(*name) {
                Some(Value::Array(list)) => {
                    for table in list {
                        all.push(one(name, table.clone()).map_err(D::Error::custom)?);
                    }
                }
                Some(table) => all.push(one(name, table.clone()).map_err(D::Error::custom)?),
                None => {}
            }
        }
        Ok(Self(all))
    }
}

impl JsonSchema for ControlTables {
    fn schema_name() -> Cow<'static, str> {
        "ControlTables".into()
    }
    fn json_schema(g: &mut SchemaGenerator) -> Schema {
        let properties: Map<String, Value> = ControlSpec::schemas(g)
            .into_iter()
            .map(|(name, params)| {
                let about = "One table, or a list of tables for different nodes or flows.";
                (name.to_owned(), serde_json::json!({ "description": about, "anyOf": [{ "type": "array", "items": params }, params] }))
            })
            .collect();
        json_schema!({
            "description": "Controls of flows at their source, by kind.",
            "type": "object",
            "properties": properties,
            "additionalProperties": false,
        })
    }
}
