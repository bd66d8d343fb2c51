//! JSON Schema of a scenario file, made from the types, with additions that the types cannot express.
//!
//! Documents use the whole schema ([`schema`]). Checks of a file use its top and, one by one, the algorithms that the file names ([`definition`]):
//! most scenarios name two or three of a hundred.

use crate::registry::{ControlSpec, QueueSpec, SourceSpec, StackSpec};
use crate::registry_entry::Part;
use crate::spec::{PropagationSpec, Scenario};
use crate::topology::TopologySpec;
use fairlane_tcp::CcParams;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{OnceLock, PoisonError, RwLock};

/// JSON Schema (draft 2020-12) of a scenario file, usable by editors for completion and checks.
pub fn schema() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let mut root = completed(SchemaSettings::draft2020_12().into_generator());
        if let Some(top) = root.as_object_mut() {
            top.insert("title".to_owned(), Value::from("fairlane scenario"));
        }
        for part in parts() {
            if let Some(found) = root.pointer_mut(&format!("/$defs/{}", (part.definition)())) {
                add_presets(found, part);
            }
        }
        root
    })
}

/// Schema without the parameters of algorithms: references to them lead to a [`definition`].
pub(crate) fn top() -> &'static Value {
    static TOP: OnceLock<Value> = OnceLock::new();
    TOP.get_or_init(|| completed(in_parts()))
}

/// Resolves a reference that [`top`] keeps: the parameters of an algorithm, or a type inside them.
pub(crate) fn definition(reference: &str) -> Option<&'static Value> {
    /// Never freed: checks hold references to it as to the top.
    static MADE: RwLock<BTreeMap<String, &'static Value>> = RwLock::new(BTreeMap::new());
    let name = reference.strip_prefix("#/$defs/")?;
    if let Some(&made) = MADE.read().unwrap_or_else(PoisonError::into_inner).get(name) {
        return Some(made);
    }
    let part = parts().find(|p| (p.definition)() == name)?;
    let mut generator = in_parts();
    (part.schema)(&mut generator);
    let mut all = MADE.write().unwrap_or_else(PoisonError::into_inner);
    for (key, mut value) in generator.take_definitions(true) {
        if key == name {
            add_presets(&mut value, part);
        }
        all.entry(key).or_insert_with(|| Box::leak(Box::new(value)));
    }
    all.get(name).copied()
}

/// Creates a generator that leaves out the parameters of algorithms ([`crate::registry_entry::parameters`]).
fn in_parts() -> SchemaGenerator {
    SchemaSettings::draft2020_12().with(|s| s.meta_schema = None).into_generator()
}

fn parts() -> impl Iterator<Item = &'static Part> {
    [QueueSpec::PARTS, SourceSpec::PARTS, ControlSpec::PARTS, StackSpec::PARTS, TopologySpec::PARTS, PropagationSpec::PARTS]
        .into_iter()
        .flatten()
}

fn completed(generator: SchemaGenerator) -> Value {
    let mut root = generator.into_root_schema_for::<Scenario>().to_value();
    name_controls(&mut root);
    root
}

/// Adds the key `preset` to the parameters of a queue with presets.
fn add_presets(parameters: &mut Value, part: &Part) {
    let presets = if part.kind == "queue" { QueueSpec::presets(part.name) } else { &[] };
    let Some(properties) = parameters.get_mut("properties").and_then(Value::as_object_mut).filter(|_| !presets.is_empty()) else { return };
    let each: Vec<Value> = presets.iter().map(|p| json!({ "const": p.name, "description": p.doc })).collect();
    properties.insert(
        "preset".to_owned(),
        json!({ "description": "Named set of values for the parameters that are not written here.", "oneOf": each }),
    );
}

/// Marks the congestion control as chosen by name, like queues and sources.
fn name_controls(root: &mut Value) {
    let Some(cc) = root.pointer_mut("/$defs/TcpParams/properties/cc").and_then(Value::as_object_mut) else { return };
    let aliases = CcParams::ALL.iter().flat_map(|c| c.aliases.iter().map(|a| ((*a).to_owned(), Value::from(c.name))));
    cc.insert("x-registry".to_owned(), Value::from("cc"));
    cc.insert("x-aliases".to_owned(), Value::Object(aliases.collect()));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// References of a schema at any depth.
    fn references<'a>(schema: &'a Value, found: &mut Vec<&'a str>) {
        match schema {
            Value::Object(o) => {
                found.extend(o.get("$ref").and_then(Value::as_str));
                o.values().for_each(|v| references(v, found));
            }
            Value::Array(a) => a.iter().for_each(|v| references(v, found)),
            _ => {}
        }
    }

    /// Made separately or together, in any order, a definition is the same; every reference resolves.
    #[test]
    fn the_parts_are_those_of_the_whole() {
        let whole = schema();
        let (mut open, mut seen) = (Vec::new(), Vec::new());
        references(top(), &mut open);
        let held = top()["$defs"].as_object().unwrap().iter();
        held.for_each(|(name, part)| assert_eq!(part, &whole["$defs"][name], "{name}"));
        while let Some(reference) = open.pop() {
            if seen.contains(&reference) {
                continue;
            }
            seen.push(reference);
            let path = reference.trim_start_matches('#');
            let here = top().pointer(path).or_else(|| definition(reference));
            assert_eq!(here, whole.pointer(path), "{reference}");
            references(here.unwrap_or_else(|| panic!("{reference} leads nowhere")), &mut open);
        }
        let named: Vec<String> = whole["$defs"].as_object().unwrap().keys().map(|k| format!("#/$defs/{k}")).collect();
        let unseen: Vec<_> = named.iter().filter(|n| !seen.contains(&n.as_str())).collect();
        assert!(unseen.is_empty(), "{unseen:?}");
    }

    /// Checking a plain scenario leaves most of the schema unmade.
    #[test]
    fn the_top_is_a_small_part() {
        let size = |v: &Value| v.to_string().len();
        assert!(2 * size(top()) < size(schema()), "{} of {}", size(top()), size(schema()));
        assert!(top().pointer("/$defs/RedParams").is_none());
    }
}
