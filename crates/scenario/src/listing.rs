//! What exists, as data: for `explain`, reference pages and the Python classes.

use crate::plugs::Listed;
use crate::registry::{ControlSpec, QueueSpec, SourceSpec, TopologySpec};
use crate::spec::PropagationSpec;
use fairlane_tcp::{CcParams, TcpParams};
use fairlane_traffic::UdpParams;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Every algorithm: queues, congestion controls, sources, controls of flows, topology builders, propagation models, transports.
pub fn registry_listing() -> Vec<Listed> {
    let ccs = CcParams::ALL.iter().map(|c| Listed {
        kind: "cc",
        name: c.name,
        aliases: c.aliases,
        doc: c.doc.to_owned(),
        schema: (c.schema)().to_value(),
    });
    let transports = [Listed::new::<TcpParams>("transport", "tcp", &[]), Listed::new::<UdpParams>("transport", "udp", &[])];
    let mut queues = QueueSpec::listing();
    for q in &mut queues {
        let names: Vec<&str> = QueueSpec::presets(q.name).iter().map(|p| p.name).collect();
        if let Some(properties) = q.schema.get_mut("properties").and_then(Value::as_object_mut).filter(|_| !names.is_empty()) {
            let preset = json!({ "description": "Named set of values laid under those written here.", "enum": names });
            properties.insert("preset".to_owned(), preset);
        }
    }
    queues
        .into_iter()
        .chain(ccs)
        .chain(SourceSpec::listing())
        .chain(ControlSpec::listing())
        .chain(TopologySpec::listing())
        .chain(PropagationSpec::listing())
        .chain(transports)
        .collect()
}

/// A named set of parameter values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PresetListed {
    /// `queue` or `transport`.
    pub kind: &'static str,
    /// The algorithm it belongs to.
    pub algorithm: &'static str,
    /// Its name.
    pub name: String,
    /// What it stands for.
    pub doc: String,
    /// The values; what is not among them takes its default.
    pub values: Map<String, Value>,
    /// Values that hold besides where a certain algorithm is chosen, by its name.
    pub with: Map<String, Value>,
}

/// Every preset.
pub fn presets_listing() -> Vec<PresetListed> {
    let queues = QueueSpec::NAMES.iter().flat_map(|(queue, _)| QueueSpec::presets(queue).iter().map(move |p| (*queue, p)));
    let queues = queues.map(|(queue, p)| PresetListed {
        kind: "queue",
        algorithm: queue,
        name: p.name.to_owned(),
        doc: p.doc.to_owned(),
        values: serde_json::from_str(p.values).unwrap_or_default(),
        with: Map::new(),
    });
    let tcp = fairlane_tcp::presets().iter().map(|p| PresetListed {
        kind: "transport",
        algorithm: "tcp",
        name: p.name.clone(),
        doc: p.doc.clone(),
        values: p.values.clone(),
        with: p.with.clone(),
    });
    queues.chain(tcp).collect()
}

/// A one-key table `{ NAME = {...} }` of a queue with the values of the preset it names laid under the others, and the same
/// for every queue inside it.
pub(crate) fn under_preset(table: &Value) -> Value {
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

/// The queues inside a value: under the key `queue`, at any depth.
fn inner_presets(key: &str, value: &mut Value) {
    match value {
        Value::Object(_) if key == "queue" => *value = under_preset(value),
        Value::Object(table) => table.iter_mut().for_each(|(k, v)| inner_presets(k, v)),
        Value::Array(list) => list.iter_mut().for_each(|v| inner_presets("", v)),
        _ => {}
    }
}
