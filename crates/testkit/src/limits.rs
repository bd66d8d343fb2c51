//! Limits of a queue, read from its parameters and not from its code: the parameter `limit`, or those of the queues inside it.

use fairlane_net::Backlog;
use fairlane_units::{Len, parse_bytes, parse_len};
use serde_json::{Map, Value};

/// The most that may wait in a queue, given as the one-key table that names it with all its parameters written out. `None`: it does not say.
/// `largest` is the longest packet there is; a limit that admits while it is not full may be passed by one.
pub fn most(spec: &Value, largest: u32) -> Option<Backlog> {
    let params = spec.as_object()?.values().next()?.as_object()?;
    let Some(limit) = params.get("limit") else { return inside(params, largest) };
    let mut most = Backlog { pkts: u32::MAX, bytes: u64::MAX };
    let size = |key: &str| params.get(key).and_then(Value::as_str).and_then(|t| parse_bytes(t).ok()).map(|b| b.get());
    match parse_len(limit.as_str()?).ok()? {
        // Counted in bytes, packets stand for that many of the mean length.
        Len::Packets(n) if params.get("measure").is_some_and(|m| m == "bytes") => most.bytes = n.saturating_mul(size("mean_packet")?),
        Len::Packets(n) => most.pkts = u32::try_from(n).unwrap_or(u32::MAX),
        Len::Bytes(n) => most.bytes = n,
    }
    if most.bytes != u64::MAX && params.get("admit").is_some_and(|a| a == "not_full") {
        most.bytes += u64::from(largest).saturating_sub(1);
    }
    most.bytes = most.bytes.min(size("memory_limit").unwrap_or(u64::MAX));
    Some(most)
}

/// The sum of the queues inside, if there is one and each has a limit.
fn inside(params: &Map<String, Value>, largest: u32) -> Option<Backlog> {
    let mut queues = Vec::new();
    params.iter().for_each(|(key, value)| find(key, value, &mut queues));
    queues.iter().map(|q| most(q, largest)).reduce(|a, b| {
        let (a, b) = (a?, b?);
        Some(Backlog { pkts: a.pkts.saturating_add(b.pkts), bytes: a.bytes.saturating_add(b.bytes) })
    })?
}

fn find<'a>(key: &str, value: &'a Value, queues: &mut Vec<&'a Value>) {
    match value {
        Value::Object(_) if key == "queue" => queues.push(value),
        Value::Object(table) => table.iter().for_each(|(k, v)| find(k, v, queues)),
        Value::Array(list) => list.iter().for_each(|v| find(key, v, queues)),
        _ => {}
    }
}

/// Gives every queue in `spec` that has a limit this one.
pub fn set(spec: &mut Value, limit: &str) {
    match spec {
        Value::Object(table) => {
            for (key, value) in table {
                if key == "limit" { *value = Value::from(limit) } else { set(value, limit) }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|v| set(v, limit)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_limit_is_read_from_the_parameters() {
        let read = |spec: Value| most(&spec, 1500).map(|b| (b.pkts, b.bytes));
        let (pkts, bytes) = (u32::MAX, u64::MAX);
        assert_eq!(read(json!({ "a": { "limit": "20p", "admit": "not_full" } })), Some((20, bytes)));
        assert_eq!(read(json!({ "a": { "limit": "9kB", "admit": "fits" } })), Some((pkts, 9000)));
        assert_eq!(read(json!({ "a": { "limit": "9kB", "admit": "not_full" } })), Some((pkts, 9000 + 1499)));
        assert_eq!(read(json!({ "a": { "limit": "20p", "measure": "bytes", "mean_packet": "500B" } })), Some((pkts, 10_000)));
        assert_eq!(read(json!({ "a": { "limit": "20p", "memory_limit": "4kB" } })), Some((20, 4000)));
        let inner = |limit: Value| json!({ "queue": { "b": { "limit": limit } } });
        assert_eq!(read(json!({ "a": { "classes": [inner("5p".into()), inner("6p".into())] } })), Some((11, bytes)));
        assert_eq!(read(json!({ "a": { "classes": [inner("5p".into()), inner(Value::Null)] } })), None);
        assert_eq!(read(json!({ "a": { "size": "20p" } })), None, "a limit goes by its name");
        let mut all = json!({ "a": { "limit": null, "queue": { "b": { "limit": "1000p", "other": 1 } } } });
        set(&mut all, "3p");
        assert_eq!(all, json!({ "a": { "limit": "3p", "queue": { "b": { "limit": "3p", "other": 1 } } } }));
    }
}
