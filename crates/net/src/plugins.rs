//! Algorithms that are not built in: a process registers them by name, and scenarios choose them with parameters.

use crate::problem::Problem;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

/// A registered algorithm. Its name and schema are never freed, so that they are used like those of built-in ones.
pub struct Plugin<F: ?Sized> {
    /// Name in scenarios.
    pub name: &'static str,
    /// One sentence.
    pub doc: String,
    /// JSON Schema of the parameters, an object without references.
    pub schema: &'static Value,
    /// Constructor from parameters.
    pub factory: Arc<F>,
}

impl<F: ?Sized> Plugin<F> {
    /// Adds the defaults of parameters that are not given.
    pub fn complete(&self, params: &mut Map<String, Value>) {
        for (key, schema) in self.schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            if let (None, Some(default)) = (params.get(key), schema.get("default")) {
                params.insert(key.clone(), default.clone());
            }
        }
    }
}

/// Registered algorithms of one kind.
pub struct Plugins<F: ?Sized>(RwLock<Vec<Arc<Plugin<F>>>>);

impl<F: ?Sized> Plugins<F> {
    /// An empty registry.
    #[allow(clippy::new_without_default, reason = "registries are constants")]
    pub const fn new() -> Self {
        Self(RwLock::new(Vec::new()))
    }

    /// Registers an algorithm; an earlier registration of the name is replaced. Those who found that one keep it.
    pub fn register(&self, name: &str, doc: &str, schema: Value, factory: Arc<F>) {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let name: &'static str = match all.iter().find(|p| p.name == name) {
            Some(known) => known.name,
            None => Box::leak(name.to_owned().into_boxed_str()),
        };
        all.retain(|p| p.name != name);
        all.push(Arc::new(Plugin { name, doc: doc.to_owned(), schema: Box::leak(Box::new(schema)), factory }));
    }

    /// Returns the algorithm of a name, in its own spelling or with other capitals.
    pub fn find(&self, name: &str) -> Option<Arc<Plugin<F>>> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let exact = all.iter().find(|p| p.name == name);
        exact.or_else(|| all.iter().find(|p| p.name.eq_ignore_ascii_case(name))).cloned()
    }

    /// Returns all algorithms in the order of their registration.
    pub fn all(&self) -> Vec<Arc<Plugin<F>>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// True if a scenario can have this as a name.
pub fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// A kind of algorithm that scenarios choose from a registry.
pub trait PluginKind: 'static {
    /// Constructor of its algorithms.
    type Factory: ?Sized + 'static;
    /// Name in the schema.
    const SCHEMA: &'static str;
    /// Noun, such as `queue`.
    const NOUN: &'static str;
    /// Sentence in the schema.
    const DOC: &'static str;
    /// Its registry.
    fn registry() -> &'static Plugins<Self::Factory>;
}

/// A choice as a scenario has it.
#[derive(Serialize, Deserialize)]
struct Written {
    name: String,
    #[serde(default)]
    params: Map<String, Value>,
}

/// A plug-in that a scenario chooses, with its parameters. It keeps the algorithm that was registered when the scenario was read.
pub struct Chosen<K: PluginKind> {
    name: String,
    params: Map<String, Value>,
    plugin: Option<Arc<Plugin<K::Factory>>>,
}

impl<K: PluginKind> Chosen<K> {
    /// Name as written.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// Parameters, with their defaults.
    pub fn params(&self) -> &Map<String, Value> {
        &self.params
    }
    /// The plug-in, if one of this name is loaded.
    pub fn plugin(&self) -> Option<&Plugin<K::Factory>> {
        self.plugin.as_deref()
    }
    /// Returns the plug-in.
    ///
    /// # Errors
    /// None of this name is loaded.
    pub fn loaded(&self) -> Result<&Plugin<K::Factory>, Problem> {
        let why = || Problem::new("name", format!("{} `{}` is not loaded: name its file with --plugin", K::NOUN, self.name));
        self.plugin().ok_or_else(why)
    }
}

impl<K: PluginKind> Clone for Chosen<K> {
    fn clone(&self) -> Self {
        Self { name: self.name.clone(), params: self.params.clone(), plugin: self.plugin.clone() }
    }
}

impl<K: PluginKind> fmt::Debug for Chosen<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(K::SCHEMA).field("name", &self.name).field("params", &self.params).finish_non_exhaustive()
    }
}

impl<K: PluginKind> PartialEq for Chosen<K> {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.params) == (&other.name, &other.params)
    }
}

impl<K: PluginKind> Serialize for Chosen<K> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        Written { name: self.name.clone(), params: self.params.clone() }.serialize(s)
    }
}

impl<'de, K: PluginKind> Deserialize<'de> for Chosen<K> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let Written { name, mut params } = Written::deserialize(d)?;
        let plugin = K::registry().find(&name);
        if let Some(p) = &plugin {
            p.complete(&mut params);
        }
        Ok(Self { name, params, plugin })
    }
}

impl<K: PluginKind> JsonSchema for Chosen<K> {
    fn schema_name() -> Cow<'static, str> {
        K::SCHEMA.into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": K::DOC,
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
