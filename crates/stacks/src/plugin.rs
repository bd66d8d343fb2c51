//! Stacks that are not built in, found by name like built-in ones.

use crate::implementation::Implementation;
use crate::stack::{Seat, Stack};
use fairlane_net::Problem;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

/// Factory of the ends of a flow from parameter tables.
pub trait StackPlugin: Send + Sync {
    /// Header bytes that a datagram carries on the wire: 20 of IP (RFC 791) and 8 of UDP (RFC 768).
    fn header(&self) -> u64 {
        28
    }
    /// Checks the parameters.
    ///
    /// # Errors
    /// The mistake, and what to write instead.
    fn check(&self, params: &Map<String, Value>) -> Result<(), String> {
        let _ = params;
        Ok(())
    }
    /// Builds the stack of one end from checked parameters.
    ///
    /// # Errors
    /// Why it cannot be built, which ends the run.
    fn build(&self, params: &Map<String, Value>, seat: &Seat) -> Result<Box<dyn Stack>, String>;
}

struct Entry {
    name: &'static str,
    doc: String,
    /// Never freed: checks hold references to it as to the schema of built-in stacks.
    schema: &'static Value,
    plugin: Arc<dyn StackPlugin>,
}

static ENTRIES: RwLock<Vec<Arc<Entry>>> = RwLock::new(Vec::new());

/// Registers a stack: name, one sentence, JSON Schema of its parameters (an object without references), factory. An earlier registration of the name is
/// replaced.
pub fn register_stack(name: &str, doc: &str, schema: Value, plugin: Arc<dyn StackPlugin>) {
    let mut all = ENTRIES.write().unwrap_or_else(PoisonError::into_inner);
    let name: &'static str = match all.iter().find(|e| e.name == name) {
        Some(known) => known.name,
        None => Box::leak(name.to_owned().into_boxed_str()),
    };
    let doc = if doc.trim().is_empty() { "A transport stack without a description." } else { doc };
    let entry = Arc::new(Entry { name, doc: doc.to_owned(), schema: Box::leak(Box::new(schema)), plugin });
    all.retain(|e| e.name != name);
    all.push(entry);
}

fn find(name: &str) -> Option<Arc<Entry>> {
    let all = ENTRIES.read().unwrap_or_else(PoisonError::into_inner);
    let exact = all.iter().find(|e| e.name == name);
    exact.or_else(|| all.iter().find(|e| e.name.eq_ignore_ascii_case(name))).cloned()
}

/// Registered spelling of a stack's name, and the schema of its parameters.
pub fn registered_stack(name: &str) -> Option<(&'static str, &'static Value)> {
    find(name).map(|e| (e.name, e.schema))
}

/// Registered stacks: name, sentence, schema.
pub fn stack_plugins() -> Vec<(&'static str, String, &'static Value)> {
    let all = ENTRIES.read().unwrap_or_else(PoisonError::into_inner);
    all.iter().map(|e| (e.name, e.doc.clone(), e.schema)).collect()
}

/// Parameters of a stack that is not built in.
#[derive(Clone, Serialize)]
pub struct PluginStack {
    name: String,
    params: Map<String, Value>,
    #[serde(skip)]
    entry: Option<Arc<Entry>>,
}

impl PluginStack {
    /// Name of the stack.
    pub fn name(&self) -> &'static str {
        self.entry.as_ref().map_or("plugin", |e| e.name)
    }
}

impl fmt::Debug for PluginStack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PluginStack").field("name", &self.name).field("params", &self.params).finish_non_exhaustive()
    }
}

impl PartialEq for PluginStack {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.params) == (&other.name, &other.params)
    }
}

impl<'de> Deserialize<'de> for PluginStack {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Written {
            name: String,
            #[serde(default)]
            params: Map<String, Value>,
        }
        let Written { name, mut params } = Written::deserialize(d)?;
        let entry = find(&name);
        let declared = entry.as_ref().and_then(|e| e.schema.get("properties")).and_then(Value::as_object);
        for (key, schema) in declared.into_iter().flatten() {
            if let (None, Some(default)) = (params.get(key), schema.get("default")) {
                params.insert(key.clone(), default.clone());
            }
        }
        Ok(Self { name, params, entry })
    }
}

impl JsonSchema for PluginStack {
    fn schema_name() -> Cow<'static, str> {
        "PluginStack".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A transport stack of a plug-in.",
            "type": "object",
            "properties": {
                "name": { "type": "string", "description": "Its name." },
                "params": { "description": "Its parameters, as the plug-in declares them." },
            },
            "required": ["name"],
            "additionalProperties": false,
        })
    }
}

impl Implementation for PluginStack {
    const VERSION: &'static str = "";
    const BUILT: bool = true;
    const LOGS: bool = false;
    fn header(&self) -> u64 {
        self.entry.as_ref().map_or(0, |e| e.plugin.header())
    }
    fn check(&self) -> Result<(), Problem> {
        match &self.entry {
            Some(e) => e.plugin.check(&self.params).map_err(|m| Problem::new("params", m)),
            None => Err(Problem::new("name", format!("stack `{}` is not loaded: name its file with --plugin", self.name))),
        }
    }
    fn build(&self, seat: &Seat) -> Result<Option<Box<dyn Stack>>, String> {
        self.entry.as_ref().map(|e| e.plugin.build(&self.params, seat)).transpose()
    }
}
