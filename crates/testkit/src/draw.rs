//! Parameters as a user might write them: drawn from a JSON Schema, within what a test has time for.

use fairlane_engine::Stream;
use fairlane_units::{parse_bytes, parse_dur, parse_rate};
use serde_json::{Map, Value};

/// Durations of tests: neither a clock that ticks every picosecond nor a packet that takes an hour. Smallest units.
const DURATIONS: (u64, u64) = (100_000_000, 2_000_000_000_000);
const RATES: (u64, u64) = (1_000_000, 10_000_000_000);
const BYTES: (u64, u64) = (1, 1 << 20);
/// Lengths hold a packet of a test at least.
const PACKETS: (u64, u64) = (1, 80);
const LENGTH: (u64, u64) = (1540, 80_000);
/// Whole numbers without a bound of their own.
const WHOLE: (u64, u64) = (0, 64);
const NUMBER: (f64, f64) = (0.0, 10.0);

/// A table with `share` of the parameters of `schema`, each with a value that it allows. What has no plain value (a list, a table,
/// another algorithm) is left at its default.
pub fn table(schema: &Value, share: f64, rng: &mut Stream) -> Map<String, Value> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut drawn = Map::new();
    for (name, of) in properties.into_iter().flatten() {
        if rng.uniform() < share
            && let Some(v) = value(of, rng)
        {
            drawn.insert(name.clone(), v);
        }
    }
    drawn
}

/// A value that `schema` allows.
pub fn value(schema: &Value, rng: &mut Stream) -> Option<Value> {
    if schema.get("x-registry").is_some() {
        return None;
    }
    for alternatives in ["oneOf", "anyOf"] {
        if let Some(list) = schema.get(alternatives).and_then(Value::as_array) {
            return value(&list[rng.below(list.len() as u64) as usize], rng);
        }
    }
    if let Some(only) = schema.get("const") {
        return Some(only.clone());
    }
    if let Some(list) = schema.get("enum").and_then(Value::as_array) {
        return Some(list[rng.below(list.len() as u64) as usize].clone());
    }
    let is = |t: &str| schema["type"] == t || schema["type"].as_array().is_some_and(|all| all.iter().any(|x| x == t));
    if is("null") && (schema["type"] == "null" || rng.uniform() < 0.3) {
        return Some(Value::Null);
    }
    if is("boolean") {
        return Some(Value::from(rng.uniform() < 0.5));
    }
    if is("integer") {
        let bound = |key: &str, or: u64| schema.get(key).and_then(Value::as_u64).unwrap_or(or);
        let least = bound("minimum", WHOLE.0);
        return Some(Value::from(spread(least, bound("maximum", WHOLE.1.max(least)), rng)));
    }
    if is("number") {
        let bound = |key: &str, or: f64| schema.get(key).and_then(Value::as_f64).unwrap_or(or);
        let (least, most) = (bound("minimum", NUMBER.0), bound("maximum", NUMBER.1));
        // A wide range is small values mostly.
        let u = rng.uniform();
        return Some(Value::from(least + (most - least) * if most - least > 10.0 { u * u * u * u } else { u }));
    }
    quantity(schema, rng).map(Value::from)
}

/// A quantity with its unit, within its range and ours.
fn quantity(schema: &Value, rng: &mut Stream) -> Option<String> {
    let read = |text: &str, format: &str| match format {
        "fl-dur" => parse_dur(text).ok().map(|d| d.as_ps()),
        "fl-rate" => parse_rate(text).ok().map(|r| r.as_bps()),
        _ => parse_bytes(text).ok().map(|b| b.get()),
    };
    let format = schema.get("format")?.as_str()?;
    let bound = |key: &str| schema.get(key).and_then(Value::as_str).and_then(|t| read(t, format));
    let within = |ours: (u64, u64), rng: &mut Stream| {
        let least = bound("x-min").unwrap_or(0).max(ours.0);
        spread(least, bound("x-max").unwrap_or(u64::MAX).min(ours.1).max(least), rng)
    };
    Some(match format {
        "fl-dur" => format!("{}ps", within(DURATIONS, rng)),
        "fl-rate" => format!("{}bit/s", within(RATES, rng)),
        "fl-bytes" => format!("{}B", within(BYTES, rng)),
        "fl-len" if rng.uniform() < 0.5 => format!("{}p", spread(PACKETS.0, PACKETS.1, rng)),
        "fl-len" => format!("{}B", spread(LENGTH.0, LENGTH.1, rng)),
        _ => return None,
    })
}

/// A whole number from `least` to `most`, each order of magnitude as frequent as the others.
fn spread(least: u64, most: u64, rng: &mut Stream) -> u64 {
    let bits = (most - least).saturating_add(1).ilog2() + 1;
    let below = 1_u64.checked_shl(rng.below(u64::from(bits) + 1) as u32).unwrap_or(u64::MAX);
    least + rng.below(below.min((most - least).saturating_add(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Every value lies in the range that its schema gives, ends and the absent value are among them.
    #[test]
    fn drawn_values_are_allowed() {
        let schema = json!({ "properties": {
            "n": { "type": "integer", "minimum": 1, "maximum": 3 },
            "x": { "type": "number", "minimum": 0.25, "maximum": 0.5 },
            "flag": { "type": "boolean" },
            "kind": { "oneOf": [{ "type": "string", "const": "a" }, { "type": "string", "const": "b" }] },
            "t": { "type": ["string", "null"], "format": "fl-dur", "x-min": "1ms", "x-max": "2ms" },
            "name": { "type": "string" },
        } });
        let mut rng = Stream::new(1, "test", "draw", "values");
        let all: Vec<_> = (0..400).map(|_| table(&schema, 1.0, &mut rng)).collect();
        let seen = |key: &str| all.iter().map(|t| t[key].to_string()).collect::<std::collections::BTreeSet<_>>();
        assert_eq!(seen("n").into_iter().collect::<Vec<_>>(), ["1", "2", "3"]);
        assert_eq!((seen("flag").len(), seen("kind").len()), (2, 2));
        assert!(all.iter().all(|t| !t.contains_key("name") && (0.25..=0.5).contains(&t["x"].as_f64().unwrap())));
        assert!(all.iter().any(|t| t["t"].is_null()));
        let times = all.iter().filter_map(|t| t["t"].as_str()).map(|t| parse_dur(t).unwrap().as_ps());
        assert!(times.clone().count() > 100 && times.clone().all(|t| (1_000_000_000..=2_000_000_000).contains(&t)));
        assert!(table(&schema, 0.0, &mut rng).is_empty());
    }
}
