//! Changes of a network during a run.

use fairlane_net::Waiting;
use fairlane_units::Dur;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A change at a given time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AtSpec {
    /// Time since the start of the run; events of this very instant happen first.
    pub time: Dur,
    /// Values by path, as `--set` takes them: "links.bottleneck.rate" = "2Mbit/s".
    pub set: IndexMap<String, Value>,
    /// Treatment of the packets in a replaced queue.
    #[serde(default)]
    pub waiting: Waiting,
}

impl AtSpec {
    /// Paths and values as text.
    pub(crate) fn sets(&self) -> Vec<(String, String)> {
        self.set.iter().map(|(path, value)| (path.clone(), value.as_str().map_or_else(|| toml(value), str::to_owned))).collect()
    }
}

/// Formats a value as TOML.
fn toml(value: &Value) -> String {
    match value {
        Value::Array(list) => format!("[{}]", list.iter().map(toml).collect::<Vec<_>>().join(", ")),
        Value::Object(table) => {
            let entry = |(k, v): (&String, &Value)| format!("{} = {}", Value::from(k.as_str()), toml(v));
            format!("{{ {} }}", table.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}
