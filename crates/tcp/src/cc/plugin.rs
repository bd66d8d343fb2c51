//! Congestion controls that are not built in, found by name like all others.
//!
//! A user-defined algorithm is registered once per process: [`register_cc`] for parameters that implement [`Algorithm`],
//! [`register_cc_plugin`] for others (Python classes, shared libraries). Afterwards `cc` may name it. Parameters that were read keep the
//! algorithm they found, so a later registration of the same name does not change them.

use super::CcConfig;
use super::registry::{AnyCc, BoxedCc};
use super::{Algorithm, CcContext, CustomCc};
use crate::cc::CcParams;
use crate::choices::{EcnMode, Scheme};
use fairlane_net::{Plugin, Plugins, is_name};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::Arc;

/// Constructor of algorithms from tables of parameters.
pub trait CcPlugin: Send + Sync {
    /// Checks these parameters, which satisfy their schema, together.
    ///
    /// # Errors
    /// The mistake, and what to write instead.
    fn check(&self, params: &Map<String, Value>, config: &CcConfig) -> Result<(), String>;
    /// Builds the algorithm with these parameters, which have passed the check.
    fn build(&self, params: &Map<String, Value>, context: &CcContext<'_>) -> Box<dyn CustomCc>;
    /// Recovery scheme implied.
    fn scheme(&self) -> Scheme {
        Scheme::Sack
    }
    /// ECN mode that it needs.
    fn ecn(&self) -> EcnMode {
        EcnMode::Off
    }
}

static CONTROLS: Plugins<dyn CcPlugin> = Plugins::new();

/// Key of an algorithm that is not built in, once its name is resolved.
pub(crate) const KEY: &str = "plugin";

/// Reason why an algorithm cannot be registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegisterCcError {
    /// The name is invalid in scenarios.
    #[error("`{0}` is not a name: use letters, digits, - and _")]
    Name(String),
    /// The name is that of a built-in algorithm.
    #[error("`{0}` is a congestion control of fairlane: choose another name")]
    Taken(String),
}

/// Registers the algorithm with parameters `P` as `name`: constructed, checked and documented as a built-in one.
///
/// # Errors
/// The name is invalid, or that of a built-in algorithm.
pub fn register_cc<P>(name: &str) -> Result<(), RegisterCcError>
where
    P: Algorithm + DeserializeOwned + JsonSchema + Default + 'static,
{
    let settings = schemars::generate::SchemaSettings::draft2020_12().with(|s| s.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<P>().to_value();
    let doc = schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    register_cc_plugin(name, &doc, schema, Arc::new(Typed::<P>(PhantomData)))
}

/// Registers an algorithm: its name, one sentence, the JSON Schema of its parameters (an object; no references), its constructor. Replaces
/// an earlier registration of the name.
///
/// # Errors
/// The name is invalid, or that of a built-in algorithm.
pub fn register_cc_plugin(name: &str, doc: &str, schema: Value, plugin: Arc<dyn CcPlugin>) -> Result<(), RegisterCcError> {
    if !is_name(name) {
        return Err(RegisterCcError::Name(name.to_owned()));
    }
    let built_in = CcParams::ALL.iter().flat_map(|c| std::iter::once(&c.name).chain(c.aliases));
    if built_in.chain([&KEY]).any(|n| n.eq_ignore_ascii_case(name)) {
        return Err(RegisterCcError::Taken(name.to_owned()));
    }
    CONTROLS.register(
        name,
        if doc.trim().is_empty() { "A user-defined congestion control without a description." } else { doc },
        schema,
        plugin,
    );
    Ok(())
}

/// Registered algorithms.
pub fn cc_plugins() -> &'static Plugins<dyn CcPlugin> {
    &CONTROLS
}

struct Typed<P>(PhantomData<fn() -> P>);

impl<P: Algorithm + DeserializeOwned + Default> Typed<P> {
    fn read(params: &Map<String, Value>) -> Result<P, String> {
        serde_json::from_value(Value::Object(params.clone())).map_err(|e| e.to_string())
    }
}

impl<P: Algorithm + DeserializeOwned + Default> CcPlugin for Typed<P> {
    fn check(&self, params: &Map<String, Value>, _: &CcConfig) -> Result<(), String> {
        Self::read(params)?.check()
    }
    fn build(&self, params: &Map<String, Value>, context: &CcContext<'_>) -> Box<dyn CustomCc> {
        Box::new(Self::read(params).unwrap_or_default().build(context))
    }
    fn scheme(&self) -> Scheme {
        P::SCHEME
    }
    fn ecn(&self) -> EcnMode {
        P::ECN
    }
}

/// Choice of an algorithm that is not built in.
#[derive(Clone, Serialize)]
pub struct PluginCc {
    name: String,
    params: Map<String, Value>,
    #[serde(skip)]
    entry: Option<Arc<Plugin<dyn CcPlugin>>>,
}

impl PluginCc {
    /// Selects the registered algorithm `name` with these parameters; those not given take their defaults.
    pub(crate) fn new(name: &str, mut params: Map<String, Value>) -> Self {
        let entry = CONTROLS.find(name);
        if let Some(e) = &entry {
            e.complete(&mut params);
        }
        Self { name: entry.as_ref().map_or(name, |e| e.name).to_owned(), params, entry }
    }
    /// Registered name, if there is one.
    pub(crate) fn known(&self) -> Option<&'static str> {
        self.entry.as_ref().map(|e| e.name)
    }
    pub(crate) fn scheme(&self) -> Scheme {
        self.entry.as_ref().map_or(Scheme::Sack, |e| e.factory.scheme())
    }
    pub(crate) fn ecn(&self) -> EcnMode {
        self.entry.as_ref().map_or(EcnMode::Off, |e| e.factory.ecn())
    }
    pub(crate) fn build(&self, context: &CcContext<'_>) -> AnyCc {
        match &self.entry {
            Some(e) => AnyCc::Boxed(Box::new(BoxedCc::Custom(e.factory.build(&self.params, context)))),
            // Never reached: the check refuses a name that is not registered.
            None => CcParams::default().build(context.config),
        }
    }
    /// Checks that the algorithm is loaded and that its parameters satisfy their schema.
    pub(crate) fn check_schema(&self) -> Result<(), String> {
        let Some(entry) = &self.entry else {
            return Err(format!("no congestion control `{}` is loaded: name its file with --plugin", self.name));
        };
        let declared = entry.schema.get("properties").and_then(Value::as_object);
        for (key, value) in &self.params {
            let Some(schema) = declared.and_then(|d| d.get(key)) else {
                let known: Vec<&str> = declared.into_iter().flatten().map(|(k, _)| k.as_str()).collect();
                return Err(format!("`{key}` is not a parameter of `{}`; known: {}", self.name, known.join(", ")));
            };
            let bound = |key| schema.get(key).and_then(Value::as_f64);
            let number = value.as_f64();
            let outside = number.is_some_and(|x| bound("minimum").is_some_and(|m| x < m) || bound("maximum").is_some_and(|m| x > m));
            let wanted = schema.get("type").and_then(Value::as_str);
            let fits = match wanted {
                Some("number") => number.is_some(),
                Some("integer") => value.is_i64() || value.is_u64(),
                Some("boolean") => value.is_boolean(),
                Some("string") => value.is_string(),
                _ => true,
            };
            if outside || !fits {
                let kind = if outside { "out of range".to_owned() } else { format!("not a {}", wanted.unwrap_or("value")) };
                return Err(format!("`{}`: {key} = {value} is {kind}", self.name));
            }
        }
        Ok(())
    }
    /// Checks its parameters together.
    pub(crate) fn check(&self, config: &CcConfig) -> Result<(), String> {
        let found = self.entry.as_ref().map_or(Ok(()), |e| e.factory.check(&self.params, config));
        found.map_err(|m| format!("`{}`: {m}", self.name))
    }
}

impl std::fmt::Debug for PluginCc {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PluginCc").field("name", &self.name).field("params", &self.params).finish_non_exhaustive()
    }
}

impl PartialEq for PluginCc {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.params) == (&other.name, &other.params)
    }
}

impl<'de> Deserialize<'de> for PluginCc {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Written {
            name: String,
            #[serde(default)]
            params: Map<String, Value>,
        }
        let Written { name, params } = Written::deserialize(d)?;
        Ok(Self::new(&name, params))
    }
}

impl JsonSchema for PluginCc {
    fn schema_name() -> Cow<'static, str> {
        "PluginCc".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A user-defined congestion control, registered by a plug-in.",
            "type": "object",
            "properties": {
                "name": { "type": "string", "description": "Registered name." },
                "params": { "description": "Parameters declared by the plug-in." },
            },
            "required": ["name"],
            "additionalProperties": false,
        })
    }
}
