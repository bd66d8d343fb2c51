//! What exists, as data: for `explain`, reference pages and the Python classes.

use crate::plugs::Listed;
use crate::registry::{QueueSpec, SourceSpec, TopologySpec};
use fairlane_tcp::{CcParams, TcpParams};
use fairlane_traffic::UdpParams;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Every algorithm: queues, congestion controls, sources, topology builders, transports.
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
        let names: Vec<&str> = fairlane_queue::PRESETS.iter().filter(|p| p.queue == q.name).map(|p| p.name).collect();
        if let Some(properties) = q.schema.get_mut("properties").and_then(Value::as_object_mut).filter(|_| !names.is_empty()) {
            let preset = json!({ "description": "Named set of values laid under those written here.", "enum": names });
            properties.insert("preset".to_owned(), preset);
        }
    }
    queues.into_iter().chain(ccs).chain(SourceSpec::listing()).chain(TopologySpec::listing()).chain(transports).collect()
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
}

/// Every preset.
pub fn presets_listing() -> Vec<PresetListed> {
    let queues = fairlane_queue::PRESETS.iter().map(|p| PresetListed {
        kind: "queue",
        algorithm: p.queue,
        name: p.name.to_owned(),
        doc: p.doc.to_owned(),
        values: serde_json::from_str(p.values).unwrap_or_default(),
    });
    let tcp = fairlane_tcp::presets().iter().map(|p| PresetListed {
        kind: "transport",
        algorithm: "tcp",
        name: p.name.clone(),
        doc: p.doc.clone(),
        values: p.values.clone(),
    });
    queues.chain(tcp).collect()
}

/// A one-key table `{ NAME = {...} }` of a queue with the values of the preset it names laid under the others.
pub(crate) fn under_preset(table: &Value) -> Value {
    let Some((name, written)) = table.as_object().and_then(|t| t.iter().next()) else { return table.clone() };
    let Some(preset) = written.get("preset").and_then(Value::as_str) else { return table.clone() };
    let mut values: Map<String, Value> =
        fairlane_queue::preset(name, preset).and_then(|p| serde_json::from_str(p.values).ok()).unwrap_or_default();
    for (key, value) in written.as_object().into_iter().flatten().filter(|(k, _)| *k != "preset") {
        values.insert(key.clone(), value.clone());
    }
    Value::Object(Map::from_iter([(name.clone(), Value::Object(values))]))
}
