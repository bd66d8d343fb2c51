//! Serde and JSON Schema: a quantity is a string such as `"20ms"`; a bare number is refused with the reason.

use crate::parse::{parse_bytes, parse_dur, parse_len, parse_rate};
use crate::quantity::{Bytes, Dur, Len, Rate};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

macro_rules! as_string {
    ($($t:ident, $parse:ident, $format:literal, $expecting:literal;)*) => {$(
        impl Serialize for $t {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $t {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                struct Reader;
                impl Visitor<'_> for Reader {
                    type Value = $t;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expecting)
                    }
                    fn visit_str<E: Error>(self, v: &str) -> Result<$t, E> {
                        $parse(v).map_err(E::custom)
                    }
                    // Numbers go through the reader too: it says that the unit is missing, or the sign wrong.
                    fn visit_i64<E: Error>(self, v: i64) -> Result<$t, E> {
                        self.visit_str(&v.to_string())
                    }
                    fn visit_u64<E: Error>(self, v: u64) -> Result<$t, E> {
                        self.visit_str(&v.to_string())
                    }
                    fn visit_f64<E: Error>(self, v: f64) -> Result<$t, E> {
                        self.visit_str(&v.to_string())
                    }
                }
                d.deserialize_any(Reader)
            }
        }

        impl JsonSchema for $t {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> Cow<'static, str> {
                stringify!($t).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "format": $format })
            }
        }
    )*};
}

as_string! {
    Dur, parse_dur, "fl-dur", "a duration such as \"20ms\"";
    Rate, parse_rate, "fl-rate", "a rate such as \"10Mbit/s\"";
    Bytes, parse_bytes, "fl-bytes", "a size such as \"1500B\"";
    Len, parse_len, "fl-len", "packets or bytes such as \"50p\" or \"64KiB\"";
}

/// The format in schemas of what a text says: a rate, a duration or a length; None of anything else.
pub fn format_of(text: &str) -> Option<&'static str> {
    let kinds = [("fl-rate", parse_rate(text).is_ok()), ("fl-dur", parse_dur(text).is_ok()), ("fl-len", parse_len(text).is_ok())];
    kinds.into_iter().find(|k| k.1).map(|k| k.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize, Deserialize, JsonSchema, Debug)]
    #[serde(default)]
    struct Params {
        /// Acceptable standing delay.
        #[schemars(extend("x-min" = "1us"))]
        target: Dur,
        /// Off if absent.
        rate: Option<Rate>,
    }
    impl Default for Params {
        fn default() -> Self {
            Self { target: Dur::from_ms(5), rate: None }
        }
    }

    #[test]
    fn strings_in_and_out() {
        let p: Params = serde_json::from_str(r#"{"target":"1.5ms","rate":"10mbit"}"#).unwrap();
        assert_eq!(serde_json::to_string(&p).unwrap(), r#"{"target":"1.5ms","rate":"10Mbit/s"}"#);
        assert_eq!(serde_json::from_str::<Len>(r#""50pkts""#).unwrap(), Len::Packets(50));
    }

    #[test]
    fn numbers_are_refused_with_what_to_write() {
        let e = |s: &str| serde_json::from_str::<Params>(s).unwrap_err().to_string();
        assert!(e(r#"{"target":20}"#).contains("\"20\" is a bare number: write a duration with its unit, such as \"20ms\""));
        assert!(e(r#"{"rate":-1.5}"#).contains("negative"));
        assert!(e(r#"{"rate":[1]}"#).contains("expected a rate such as \"10Mbit/s\""));
    }

    #[test]
    fn schema_has_format_description_default_and_range() {
        let v = serde_json::to_value(schemars::schema_for!(Params)).unwrap();
        let t = &v["properties"]["target"];
        assert_eq!(t["type"], "string");
        assert_eq!(t["format"], "fl-dur");
        assert_eq!(t["description"], "Acceptable standing delay.");
        assert_eq!(t["default"], "5ms");
        assert_eq!(t["x-min"], "1us");
        assert_eq!(v["properties"]["rate"]["format"], "fl-rate");
    }
}
