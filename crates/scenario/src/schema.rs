//! The JSON Schema of a scenario file: made once from the types, with what they cannot say added.

use crate::spec::Scenario;
use fairlane_tcp::CcParams;
use serde_json::{Value, json};
use std::sync::OnceLock;

/// The JSON Schema (draft 2020-12) of a scenario file; editors can use it for completion and checks.
pub fn schema() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let mut root = schemars::schema_for!(Scenario).to_value();
        if let Some(top) = root.as_object_mut() {
            top.insert("title".to_owned(), Value::from("fairlane scenario"));
        }
        add_presets(&mut root, "queue", "QueueSpec");
        name_controls(&mut root);
        root
    })
}

/// Adds the key `preset` to the parameters of the queues that have presets.
fn add_presets(root: &mut Value, kind: &str, definition: &str) {
    for listed in crate::listing::presets_listing().iter().filter(|p| p.kind == kind) {
        let at = format!("/$defs/{definition}/anyOf/1/properties/{}/$ref", listed.algorithm);
        let Some(target) = root.pointer(&at).and_then(Value::as_str).map(|r| r.trim_start_matches('#').to_owned()) else { continue };
        let Some(properties) = root.pointer_mut(&format!("{target}/properties")).and_then(Value::as_object_mut) else { continue };
        let preset = properties
            .entry("preset")
            .or_insert_with(|| json!({ "description": "Named set of values laid under those written here.", "oneOf": [] }));
        if let Some(list) = preset.get_mut("oneOf").and_then(Value::as_array_mut) {
            list.push(json!({ "const": listed.name, "description": listed.doc }));
        }
    }
}

/// Says of the congestion control that it is chosen by name, as queues and sources are.
fn name_controls(root: &mut Value) {
    let Some(cc) = root.pointer_mut("/$defs/TcpParams/properties/cc").and_then(Value::as_object_mut) else { return };
    let aliases = CcParams::ALL.iter().flat_map(|c| c.aliases.iter().map(|a| ((*a).to_owned(), Value::from(c.name))));
    cc.insert("x-registry".to_owned(), Value::from("cc"));
    cc.insert("x-aliases".to_owned(), Value::Object(aliases.collect()));
}
