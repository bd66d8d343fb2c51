//! Numbers that come from a file: written as its path, kept as the numbers themselves.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt::Write;
use std::sync::Arc;

/// Prefix of a value that holds its numbers itself (the `data` scheme of RFC 2397, with its default media type).
pub const INLINE: &str = "data:,";

/// Numbers from a file. In a scenario file it is the path; the checker reads the file and puts `data:,` and the numbers
/// in the place of the path, so that a resolved scenario is whole, wherever it goes. Copies share the numbers.
///
/// The schema has the format `fl-file`; the field says with `x-reads` what kind of file it takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataFile {
    values: Arc<[u64]>,
}

impl DataFile {
    /// The numbers.
    pub fn values(&self) -> &[u64] {
        &self.values
    }
    /// Returns the numbers, shared.
    pub fn shared(&self) -> Arc<[u64]> {
        self.values.clone()
    }
    /// `data:,` and the numbers.
    pub fn inline(values: &[u64]) -> String {
        let mut text = String::with_capacity(INLINE.len() + 8 * values.len());
        text.push_str(INLINE);
        for (i, v) in values.iter().enumerate() {
            // Writing to a string cannot fail.
            let _ = write!(text, "{}{v}", if i == 0 { "" } else { " " });
        }
        text
    }
    /// Reads what [`Self::inline`] writes; the error is a message.
    pub fn parse_inline(text: &str) -> Result<Vec<u64>, String> {
        let rest = text.strip_prefix(INLINE).ok_or_else(|| "the file was not read".to_owned())?;
        rest.split_ascii_whitespace().map(|w| w.parse().map_err(|_| format!("`{}` is not a whole number", w.escape_debug()))).collect()
    }
}

impl From<Vec<u64>> for DataFile {
    fn from(values: Vec<u64>) -> Self {
        Self { values: values.into() }
    }
}

impl Serialize for DataFile {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&Self::inline(&self.values))
    }
}

impl<'de> Deserialize<'de> for DataFile {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(d)?;
        Self::parse_inline(&text).map(Self::from).map_err(D::Error::custom)
    }
}

impl JsonSchema for DataFile {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "DataFile".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "fl-file" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_travel_inside_the_text() {
        let d = DataFile::from(vec![0, 17, u64::MAX]);
        let text = serde_json::to_string(&d).unwrap();
        assert_eq!(text, "\"data:,0 17 18446744073709551615\"");
        assert_eq!(serde_json::from_str::<DataFile>(&text).unwrap(), d);
        assert_eq!(serde_json::from_str::<DataFile>("\"data:,\"").unwrap(), DataFile::default());
    }

    #[test]
    fn a_path_is_not_the_numbers() {
        for (text, why) in
            [("\"frames.txt\"", "the file was not read"), ("\"data:,1 -2\"", "`-2` is not a whole number"), ("7", "invalid type")]
        {
            let e = serde_json::from_str::<DataFile>(text).unwrap_err().to_string();
            assert!(e.contains(why), "{text}: {e}");
        }
    }
}
