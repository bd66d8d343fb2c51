//! Traffic classes of a flow group.

use fairlane_queue::{CODE_POINTS, code_point};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// One class for all members, or a list assigned to them in turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classes(pub Vec<u8>);

impl Default for Classes {
    /// Best effort (RFC 2474 section 4.1).
    fn default() -> Self {
        Self(vec![0])
    }
}

impl Classes {
    /// Class of a member.
    pub fn of(&self, member: u32) -> u8 {
        let n = self.0.len().max(1);
        self.0.get(member as usize % n).copied().unwrap_or_default()
    }
    /// Class of the first member.
    pub fn first(&self) -> u8 {
        self.of(0)
    }
}

impl Serialize for Classes {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [] | [_] => self.first().serialize(s),
            list => list.serialize(s),
        }
    }
}

/// A class as written: a number, or the name of a code point.
#[derive(Deserialize)]
#[serde(untagged)]
enum Class {
    Number(u8),
    Name(String),
}

impl Class {
    fn bits<E: Error>(self) -> Result<u8, E> {
        match self {
            Self::Number(bits) => Ok(bits),
            Self::Name(name) => code_point(&name).map_err(E::custom),
        }
    }
}

impl<'de> Deserialize<'de> for Classes {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            One(Class),
            List(Vec<Class>),
        }
        Ok(Self(match Written::deserialize(d)? {
            Written::One(class) => vec![class.bits()?],
            Written::List(list) => list.into_iter().map(Class::bits).collect::<Result<_, _>>()?,
        }))
    }
}

impl JsonSchema for Classes {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Classes".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let number = serde_json::json!({ "type": "integer", "minimum": 0, "maximum": 63 });
        let name = serde_json::json!({ "type": "string", "enum": CODE_POINTS.map(|(name, _)| name) });
        json_schema!({ "anyOf": [{ "type": "array", "items": { "anyOf": [number, name] }, "minItems": 1 }, number, name] })
    }
}
