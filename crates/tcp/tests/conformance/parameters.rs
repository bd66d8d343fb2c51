//! Random parameters from the ranges of a schema.

use serde_json::{Map, Value, json};

/// About half of the parameters, each anywhere in its range, its ends among them; `picks` are numbers from 0 to 1.
pub(crate) fn params(schema: &Value, picks: &[f64]) -> Map<String, Value> {
    let declared = schema["properties"].as_object().into_iter().flatten();
    let pairs = picks.chunks_exact(2).cycle();
    let chosen = declared.zip(pairs).filter(|(_, pair)| pair[0] < 0.5);
    chosen.filter_map(|((name, property), pair)| Some((name.clone(), value(property, schema, pair[1])?))).collect()
}

fn value(property: &Value, schema: &Value, pick: f64) -> Option<Value> {
    if let Some(place) = property["$ref"].as_str() {
        return value(schema.pointer(place.trim_start_matches('#'))?, schema, pick);
    }
    let among = |all: &[Value]| all[((all.len() as f64 * pick) as usize).min(all.len() - 1)].clone();
    if let Some(all) = property["oneOf"].as_array() {
        return Some(among(&all.iter().map(|c| c["const"].clone()).collect::<Vec<_>>()));
    }
    if let Some(all) = property["enum"].as_array() {
        return Some(among(all));
    }
    // A range without an upper end is tried up to a thousand.
    let (least, most) = (property["minimum"].as_f64().unwrap_or(0.0), property["maximum"].as_f64().unwrap_or(1000.0));
    let kind = property["type"].as_str().or_else(|| property["type"][0].as_str())?;
    match kind {
        "boolean" => Some(json!(pick < 0.5)),
        "integer" => Some(json!(between(least, most, pick).round() as u64)),
        "number" => Some(json!(between(least, most, pick))),
        _ => {
            let given: Vec<&str> = ["x-min", "default", "x-max"].iter().filter_map(|k| property[*k].as_str()).collect();
            (!given.is_empty()).then(|| json!(given[((given.len() as f64 * pick) as usize).min(given.len() - 1)]))
        }
    }
}

/// The ends of the range with a tenth each; between them small numbers are as likely as large ones.
fn between(least: f64, most: f64, pick: f64) -> f64 {
    match pick {
        p if p < 0.1 => least,
        p if p >= 0.9 => most,
        p => {
            let low = least.max(most * 1e-4);
            (low * (most / low).powf((p - 0.1) / 0.8)).clamp(least, most)
        }
    }
}
