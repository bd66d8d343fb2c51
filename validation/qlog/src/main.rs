//! `cargo run -p qlog-check -- FILE...`: whether qlog files are what Cloudflare's `qlog` crate takes for qlog.
//!
//! The crate has the definitions of draft-ietf-quic-qlog-main-schema-13 and draft-ietf-quic-qlog-quic-events-12 as types, for the logs of
//! quiche. It skips members that it does not know, so what it has read is written again and compared with the file: a member under a wrong
//! name, in the wrong place or of the wrong type is missing or other then. Custom fields of events, which the schema allows, are counted.

use qlog::events::EventData;
use qlog::{QLOGFILE_URI, Qlog};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;

/// Numbers that the schema has as `float32` come back with that precision.
const PRECISION: f64 = 1e-6;

fn main() -> ExitCode {
    let (mut out, mut code) = (std::io::stdout(), ExitCode::SUCCESS);
    for file in std::env::args().skip(1) {
        let told = match std::fs::read_to_string(&file).map_err(|e| e.to_string()).and_then(|text| check(&text)) {
            Ok(told) => told,
            Err(fault) => {
                code = ExitCode::from(2);
                fault
            }
        };
        let _ = writeln!(out, "{file}: {told}");
    }
    code
}

/// Counts the events of a file by name, or returns what is wrong with it.
fn check(text: &str) -> Result<String, String> {
    let given: Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
    let read: Qlog = serde_json::from_str(text).map_err(|e| e.to_string())?;
    if read.file_schema != QLOGFILE_URI {
        return Err(format!("file_schema is {}", read.file_schema));
    }
    let again = serde_json::to_value(&read).map_err(|e| e.to_string())?;
    if let Some(fault) = difference("", &given, &again) {
        return Err(fault);
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (at, trace) in read.traces.iter().enumerate() {
        for event in &trace.events {
            if let EventData::QuicMetricsUpdated(metrics) = &event.data
                && let Some(name) = metrics.ex_data.keys().next()
            {
                return Err(format!("traces/{at}: the schema has no metric {name}"));
            }
            let name = serde_json::to_value(&event.data).map_err(|e| e.to_string())?;
            *counts.entry(name["name"].as_str().unwrap_or_default().to_owned()).or_default() += 1;
            for custom in event.ex_data.keys() {
                *counts.entry(format!("+{custom}")).or_default() += 1;
            }
        }
    }
    Ok(serde_json::to_string(&counts).unwrap_or_default())
}

/// Where two documents differ first.
fn difference(at: &str, given: &Value, again: &Value) -> Option<String> {
    match (given, again) {
        (Value::Object(a), Value::Object(b)) => members(at, a, b),
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).enumerate().find_map(|(i, (a, b))| difference(&format!("{at}/{i}"), a, b))
        }
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64()?, b.as_f64()?);
            ((a - b).abs() > PRECISION * a.abs().max(b.abs())).then(|| format!("{at}: {a} is read as {b}"))
        }
        _ => (given != again).then(|| format!("{at}: {given} is read as {again}")),
    }
}

fn members(at: &str, given: &Map<String, Value>, again: &Map<String, Value>) -> Option<String> {
    let lost = given.iter().find_map(|(name, value)| match again.get(name) {
        Some(other) => difference(&format!("{at}/{name}"), value, other),
        None => Some(format!("{at}: the schema has no member {name}")),
    });
    lost.or_else(|| again.keys().find(|name| !given.contains_key(*name)).map(|name| format!("{at}: {name} is missing")))
}
