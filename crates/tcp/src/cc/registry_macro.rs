//! Macro that makes the choice of an algorithm from the lines of `registry.rs`: names, parameters, and construction.

use super::CcConfig;
use super::plugin::{self, PluginCc};
use super::registry::{AnyCc, CcParams};
use super::{CcContext, CongestionControl, Reno, Wants};
use crate::choices::{EcnMode, Scheme};
use schemars::Schema;
use serde::de::{Error, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Entry of the list of algorithms.
#[derive(Clone, Debug)]
pub struct CcInfo {
    /// Name in scenarios.
    pub name: &'static str,
    /// Other names, those of ns-2 among them.
    pub aliases: &'static [&'static str],
    /// Description in one sentence, with its source.
    pub doc: &'static str,
    /// Recovery scheme implied.
    pub scheme: Scheme,
    /// ECN mode that it needs.
    pub ecn: EcnMode,
    /// Schema of its parameters.
    pub schema: fn() -> Schema,
}

/// Makes `CcParams`, `AnyCc` and `BoxedCc` from the lines. Only code that names each algorithm is in here.
macro_rules! algorithms {
    (
        reno { $($like:ident $like_name:literal $like_aliases:tt, $like_doc:literal;)* }
        others { $($variant:ident $name:literal $aliases:tt => $params:ty, $doc:literal;)* }
    ) => {
        use super::registry_macro::{CcInfo, written};
        use super::enum_dispatch::forward;
        use super::plugin::{self, PluginCc};
        use super::reno::{Reno, RenoParams};
        use super::{
            AckSample, Algorithm, CcContext, CongestionControl, CongestionEvent, CustomCc, FineClock, LostSample, MarkSample, RecoveryExit,
            SampleSource, Wants,
        };
        use crate::choices::{EcnMode, Scheme};
        use super::CcConfig;
        use fairlane_units::{Dur, Rate, Time};
        use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema, schema_for};
        use serde::de::MapAccess;
        use serde::{Serialize, Serializer};

        /// Choice of an algorithm: its name, or its name with its own parameters (`cc.NAME = {...}`).
        #[derive(Clone, Debug, PartialEq)]
        pub enum CcParams {
            $(#[doc = $like_doc] $like(RenoParams),)*
            $(#[doc = $doc] $variant($params),)*
            /// An algorithm that is not built in.
            Plugin(PluginCc),
        }

        /// A built-in or user-defined algorithm. The common one lies in the endpoint itself, the others behind a pointer, so that endpoints
        /// stay small.
        #[derive(Clone)]
        pub enum AnyCc {
            /// The window of Reno and its like.
            Reno(Reno),
            /// Any other algorithm.
            Boxed(Box<BoxedCc>),
        }

        /// Algorithms behind a pointer.
        #[derive(Clone)]
        pub enum BoxedCc {
            /// User-defined.
            Custom(Box<dyn CustomCc>),
            $(#[doc = concat!("The state of `", $name, "`.")] $variant(<$params as Algorithm>::State),)*
        }

        impl CcParams {
            /// All algorithms.
            pub const ALL: &'static [CcInfo] = &[
                $(CcInfo {
                    name: $like_name, aliases: &$like_aliases, doc: $like_doc,
                    scheme: Scheme::$like, ecn: EcnMode::Off, schema: || schema_for!(RenoParams),
                },)*
                $(CcInfo {
                    name: $name, aliases: &$aliases, doc: $doc,
                    scheme: <$params as Algorithm>::SCHEME, ecn: <$params as Algorithm>::ECN, schema: || schema_for!($params),
                },)*
            ];
            /// Name in scenarios.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$like(_) => $like_name,)*
                    $(Self::$variant(_) => $name,)*
                    Self::Plugin(p) => p.known().unwrap_or(plugin::KEY),
                }
            }
            /// Builds the algorithm in its initial state.
            pub fn build_at(&self, context: &CcContext<'_>) -> AnyCc {
                match self {
                    $(Self::$like(p) => AnyCc::Reno(Reno::new(p, context.config)),)*
                    $(Self::$variant(p) => AnyCc::Boxed(Box::new(BoxedCc::$variant(p.build(context)))),)*
                    Self::Plugin(p) => p.build(context),
                }
            }
            /// Checks the parameters together.
            pub(crate) fn check(&self, config: &CcConfig) -> Result<(), String> {
                match self {
                    $(Self::$like(_) => Ok(()),)*
                    $(Self::$variant(p) => p.check(),)*
                    Self::Plugin(p) => p.check(config),
                }
            }
            /// Returns the built-in algorithm of this name, with its defaults.
            pub(super) fn plain(name: &str) -> Option<Self> {
                match name {
                    $($like_name => Some(Self::$like(RenoParams::default())),)*
                    $($name => Some(Self::$variant(Default::default())),)*
                    _ => None,
                }
            }
            /// Reads the built-in algorithm of this name, with its parameters as the next value of a table.
            pub(super) fn read<'de, A: MapAccess<'de>>(name: &str, map: &mut A) -> Result<Option<Self>, A::Error> {
                match name {
                    $($like_name => map.next_value().map(|p| Some(Self::$like(p))),)*
                    $($name => map.next_value().map(|p| Some(Self::$variant(p))),)*
                    _ => Ok(None),
                }
            }
        }

        impl Serialize for CcParams {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$like(_) => s.serialize_str($like_name),)*
                    $(Self::$variant(p) => written(s, $name, p),)*
                    Self::Plugin(p) => written(s, plugin::KEY, p),
                }
            }
        }

        impl JsonSchema for CcParams {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> std::borrow::Cow<'static, str> {
                "CongestionControl".into()
            }
            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                let names: Vec<&str> = Self::ALL.iter().flat_map(|a| std::iter::once(a.name).chain(a.aliases.iter().copied())).collect();
                json_schema!({ "anyOf": [
                    { "type": "string", "enum": names },
                    {
                        "type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": false,
                        "properties": {
                            $($like_name: generator.subschema_for::<RenoParams>(),)*
                            $($name: generator.subschema_for::<$params>(),)*
                            "plugin": generator.subschema_for::<PluginCc>(),
                        },
                    },
                ] })
            }
        }

        forward! {
            #[inline] AnyCc { Reno, Boxed }
            // Only the fields that the algorithm reads are computed; only Reno and its like read fewer than all.
            #[inline(always)]
            fn on_ack_with(&mut self, source: &impl SampleSource) {
                match self {
                    Self::Reno(c) => c.on_ack_with(source),
                    Self::Boxed(c) => c.on_ack(&source.sample()),
                }
            }
        }

        // Out of line: callers hold the code of the algorithms in the endpoint only.
        forward! { #[inline(never)] BoxedCc { Custom, $($variant),* } }
    };
}
pub(super) use algorithms;

/// Serializes a table with this name as its only key.
pub(super) fn written<S: Serializer>(s: S, name: &'static str, params: &impl Serialize) -> Result<S::Ok, S::Error> {
    let mut map = s.serialize_map(Some(1))?;
    map.serialize_entry(name, params)?;
    map.end()
}

impl CcParams {
    fn info(&self) -> Option<&'static CcInfo> {
        Self::ALL.iter().find(|a| a.name == self.name())
    }
    /// Returns the name that a name or alias stands for.
    pub fn canonical(name: &str) -> Option<&'static str> {
        Self::ALL.iter().find(|a| a.name == name || a.aliases.contains(&name)).map(|a| a.name)
    }
    /// Recovery scheme implied.
    pub fn implied_scheme(&self) -> Scheme {
        if let Self::Plugin(p) = self { p.scheme() } else { self.info().map_or(Scheme::Sack, |a| a.scheme) }
    }
    /// ECN mode that it needs.
    pub fn implied_ecn(&self) -> EcnMode {
        if let Self::Plugin(p) = self { p.ecn() } else { self.info().map_or(EcnMode::Off, |a| a.ecn) }
    }
    /// Builds the algorithm in its initial state, outside of any network.
    pub fn build(&self, config: &CcConfig) -> AnyCc {
        self.build_at(&CcContext::of(config))
    }
    /// Checks that an algorithm that is not built in is loaded, and that its parameters are declared.
    pub(crate) fn check_schema(&self) -> Result<(), String> {
        if let Self::Plugin(p) = self { p.check_schema() } else { Ok(()) }
    }
    /// Algorithm for an end that sends no data: a placeholder for a user-defined one, and for a large one with no more requirements than
    /// Reno.
    pub fn build_passive(&self, config: &CcConfig, active: &AnyCc) -> AnyCc {
        let like_reno = !matches!(active, AnyCc::Reno(_)) && active.wants() == Wants::default();
        if like_reno || matches!(self, Self::Plugin(_)) { AnyCc::Reno(Reno::idle(config)) } else { active.clone() }
    }
}

impl Default for CcParams {
    fn default() -> Self {
        Self::Cubic(super::cubic::CubicParams::default())
    }
}

fn unknown<E: Error>(name: &str) -> E {
    let own = plugin::cc_plugins().all();
    let known: Vec<&str> = CcParams::ALL.iter().map(|a| a.name).chain(own.iter().map(|p| p.name)).collect();
    E::custom(format!("congestion control \"{name}\" is not known; write one of {}", known.join(", ")))
}

impl<'de> Deserialize<'de> for CcParams {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = CcParams;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a congestion control algorithm such as \"newreno\", or a table with its name as the only key")
            }
            fn visit_str<E: Error>(self, v: &str) -> Result<CcParams, E> {
                let own = || plugin::cc_plugins().find(v).map(|p| CcParams::Plugin(PluginCc::new(p.name, serde_json::Map::new())));
                CcParams::canonical(v).and_then(CcParams::plain).or_else(own).ok_or_else(|| unknown(v))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<CcParams, A::Error> {
                let Some(name) = map.next_key::<String>()? else {
                    return Err(A::Error::custom("the table is empty: write the name of an algorithm, for instance cc = \"newreno\""));
                };
                let cc = match CcParams::canonical(&name) {
                    Some(known) => CcParams::read(known, &mut map)?,
                    None if name == plugin::KEY => Some(CcParams::Plugin(map.next_value()?)),
                    None => match plugin::cc_plugins().find(&name) {
                        Some(p) => Some(CcParams::Plugin(PluginCc::new(p.name, map.next_value()?))),
                        None => None,
                    },
                };
                let cc = cc.ok_or_else(|| unknown::<A::Error>(&name))?;
                match map.next_key::<String>()? {
                    None => Ok(cc),
                    Some(more) => Err(A::Error::custom(format!("two algorithms, \"{name}\" and \"{more}\": write one"))),
                }
            }
        }
        d.deserialize_any(Reader)
    }
}

impl fmt::Debug for AnyCc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cwnd {} ssthresh {}", self.cwnd(), self.ssthresh())
    }
}
