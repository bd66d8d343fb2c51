//! One algorithm of the registry: its names, its documentation and the schema of its parameters.

use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// Entry of the registry for listings.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Listed {
    /// queue, cc, source, control, topology or transport.
    pub kind: &'static str,
    /// Name in scenario files.
    pub name: &'static str,
    /// Aliases.
    pub aliases: &'static [&'static str],
    /// Description and source.
    pub doc: String,
    /// JSON Schema of the parameters. Those of algorithms inside, such as the queues of a scheduler's classes, are references.
    pub schema: Value,
}

impl Listed {
    pub(crate) fn new<P: schemars::JsonSchema>(kind: &'static str, name: &'static str, aliases: &'static [&'static str]) -> Self {
        // Without a meta-schema, algorithms inside an algorithm stay references ([`parameters`]): inlined, each topology had all queues.
        let settings = schemars::generate::SchemaSettings::draft2020_12().with(|s| {
            s.inline_subschemas = true;
            s.meta_schema = None;
        });
        let schema = settings.into_generator().into_root_schema_for::<P>().to_value();
        let doc = schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
        Self { kind, name, aliases, doc, schema }
    }
}

/// Entry of the registry for schemas.
pub(crate) struct Part {
    /// queue, source, control or topology.
    pub(crate) kind: &'static str,
    /// Name in scenario files.
    pub(crate) name: &'static str,
    /// Name of the parameters among the definitions of a schema.
    pub(crate) definition: fn() -> Cow<'static, str>,
    /// Creates the schema of the parameters.
    pub(crate) schema: fn(&mut SchemaGenerator) -> Schema,
}

impl Part {
    pub(crate) const fn new<P: schemars::JsonSchema>(kind: &'static str, name: &'static str) -> Self {
        Self { kind, name, definition: P::schema_name, schema: |g| g.subschema_for::<P>() }
    }
}

/// Schema of an algorithm's parameters, or a reference to it.
///
/// A generator without a meta-schema makes the schema for the checks of files ([`schema::top`]). There the parameters stay a reference until a
/// file names the algorithm.
pub(crate) fn parameters<P: schemars::JsonSchema>(g: &mut SchemaGenerator) -> Schema {
    if g.settings().meta_schema.is_some() || P::inline_schema() {
        return g.subschema_for::<P>();
    }
    schemars::json_schema!({ "$ref": format!("#/$defs/{}", P::schema_name()) })
}

/// Schema of "a name, or a table with that one key".
pub(crate) fn registry_schema(kind: &str, doc: &str, entries: Vec<(&str, Schema)>, aliases: &[(&str, &[&str])]) -> Schema {
    let mut names: Vec<&str> = entries.iter().map(|e| e.0).collect();
    names.extend(aliases.iter().flat_map(|a| a.1));
    let properties: Map<String, Value> = entries.iter().map(|(n, s)| ((*n).to_owned(), s.clone().to_value())).collect();
    let spelt: Map<String, Value> = aliases.iter().flat_map(|(n, a)| a.iter().map(|a| ((*a).to_owned(), Value::from(*n)))).collect();
    let mut schema = json!({
        "description": doc,
        "x-registry": kind,
        "x-aliases": spelt,
        "anyOf": [
            { "type": "string", "enum": names },
            { "type": "object", "properties": properties, "additionalProperties": false, "minProperties": 1, "maxProperties": 1 },
        ],
    });
    if let ("queue", Some(any)) = (kind, schema["anyOf"].as_array_mut()) {
        any.push(json!({ "type": "string", "pattern": format!("^{}", crate::tc::PREFIX), "description": "A line of tc." }));
    }
    Schema::try_from(schema).unwrap_or_default()
}
