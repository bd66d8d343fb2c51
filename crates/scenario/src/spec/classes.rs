//! Traffic classes of a flow group.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
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

impl<'de> Deserialize<'de> for Classes {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            One(u8),
            List(Vec<u8>),
        }
        Ok(match Written::deserialize(d)? {
            Written::One(class) => Self(vec![class]),
            Written::List(list) => Self(list),
        })
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
        let class = serde_json::json!({ "type": "integer", "minimum": 0, "maximum": 63 });
        json_schema!({ "anyOf": [{ "type": "array", "items": class, "minItems": 1 }, class] })
    }
}
