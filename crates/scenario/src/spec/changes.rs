//! Changes of a network while it runs.

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
    /// When, counted from the start of the run; what happens at this very time has happened before.
    pub time: Dur,
    /// Values by path, as `--set` takes them: "links.bottleneck.rate" = "2Mbit/s".
    pub set: IndexMap<String, Value>,
    /// What becomes of the packets in a queue that is replaced.
    #[serde(default)]
    pub waiting: Waiting,
}

impl AtSpec {
    /// Paths and values as text.
    pub(crate) fn sets(&self) -> Vec<(String, String)> {
        self.set.iter().map(|(path, value)| (path.clone(), value.as_str().map_or_else(|| toml(value), str::to_owned))).collect()
    }
}

/// A value as TOML writes it.
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
