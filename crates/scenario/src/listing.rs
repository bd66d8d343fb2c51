//! Listings of algorithms and presets, for `explain`, reference pages and the Python classes.

use crate::registry::{ControlSpec, QueueSpec, SourceSpec, StackSpec};
use crate::registry_entry::Listed;
use crate::spec::PropagationSpec;
use crate::topology::TopologySpec;
use fairlane_tcp::{CcParams, TcpParams};
use fairlane_traffic::UdpParams;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Every algorithm: queues, congestion controls, sources, flow controls, topology builders, propagation models, transports, stacks.
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
            let preset = json!({ "description": "Named set of values for the parameters that are not written here.", "enum": names });
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
        .chain(StackSpec::listing())
        .collect()
}

/// A named set of parameter values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PresetListed {
    /// `queue` or `transport`.
    pub kind: &'static str,
    /// Algorithm of the preset.
    pub algorithm: &'static str,
    /// Name of the preset.
    pub name: String,
    /// Description of the preset.
    pub doc: String,
    /// Values; other parameters have their defaults.
    pub values: Map<String, Value>,
    /// Additional values for a chosen algorithm, by its name.
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
