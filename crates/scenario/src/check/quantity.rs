//! Quantities: unit formats and their ranges.

use crate::source::{Node, Value};
use fairlane_units::{Len, parse_bytes, parse_dur, parse_len, parse_rate};
use serde_json::Value as J;

/// Example value of a schema, for help texts.
pub(super) fn example(schema: &J) -> Option<&'static str> {
    Some(match schema.get("format").and_then(J::as_str)? {
        "fl-dur" => "\"20ms\"",
        "fl-rate" => "\"10Mbit/s\"",
        "fl-bytes" => "\"1500B\"",
        "fl-len" => "\"50p\"",
        _ => return None,
    })
}

fn noun(format: &str) -> &'static str {
    match format {
        "fl-dur" => "a duration",
        "fl-rate" => "a rate",
        "fl-bytes" => "a size",
        _ => "packets or bytes",
    }
}

/// Size of a quantity in its smallest unit, and for lengths that unit.
fn measure(text: &str, format: &str) -> Result<(u64, bool), String> {
    match format {
        "fl-dur" => parse_dur(text).map(|d| (d.as_ps(), false)),
        "fl-rate" => parse_rate(text).map(|r| (r.as_bps(), false)),
        "fl-bytes" => parse_bytes(text).map(|b| (b.get(), false)),
        _ => parse_len(text).map(|l| match l {
            Len::Packets(n) => (n, true),
            Len::Bytes(n) => (n, false),
        }),
    }
    .map_err(|e| e.to_string())
}

/// Checks a value against a unit format and its range; the error is a message and a help text.
pub(super) fn check(node: &Node, format: &str, schema: &J) -> Result<(), (String, String)> {
    let example = example(schema).unwrap_or("\"...\"");
    let wanted = || format!("write {} with its unit, such as {example}", noun(format));
    let text = match &node.value {
        Value::Str(s) => s,
        Value::Int(i) if *i < 0 => return Err((format!("{i} is negative"), wanted())),
        Value::Int(i) => return Err((format!("{i} has no unit"), bare(&i.to_string(), format))),
        Value::Float(x) if x.is_nan() => return Err(("NaN is not a quantity".to_owned(), wanted())),
        Value::Float(x) if *x < 0.0 => return Err((format!("{x} is negative"), wanted())),
        Value::Float(x) if x.is_infinite() => return Err(("an infinite value is not a quantity".to_owned(), wanted())),
        Value::Float(x) => return Err((format!("{x} has no unit"), bare(&x.to_string(), format))),
        _ => return Err((format!("expected {}, found {}", noun(format), node.kind()), wanted())),
    };
    let (value, packets) = measure(text, format).map_err(|message| match message.split_once(": write ") {
        Some((what, write)) => (what.to_owned(), format!("write {write}")),
        None => (message, wanted()),
    })?;
    // A range applies to its own unit only: packets are not compared with bytes.
    let bound = |key: &str| {
        let text = schema.get(key)?.as_str()?;
        let (bound, of_packets) = measure(text, format).ok()?;
        (of_packets == packets || bound == 0).then_some((bound, text))
    };
    let range = || match (schema.get("x-min").and_then(J::as_str), schema.get("x-max").and_then(J::as_str)) {
        (Some(a), Some(b)) => format!("allowed is {a} to {b}"),
        (Some(a), None) => format!("the least is {a}"),
        (None, Some(b)) => format!("the most is {b}"),
        (None, None) => String::new(),
    };
    if let Some((_, least)) = bound("x-min").filter(|(b, _)| value < *b) {
        let message = if value == 0 { format!("\"{text}\": zero is not allowed") } else { format!("\"{text}\" is less than {least}") };
        return Err((message, range()));
    }
    if let Some((_, most)) = bound("x-max").filter(|(b, _)| value > *b) {
        return Err((format!("\"{text}\" is more than {most}"), range()));
    }
    Ok(())
}

/// Suggestion for a bare number. A rate in the thousands is taken as bit/s, a fractional duration as seconds.
fn bare(number: &str, format: &str) -> String {
    let value: f64 = number.parse().unwrap_or(0.0);
    match format {
        "fl-rate" if value >= 1e3 => match parse_rate(&format!("{number}bit/s")) {
            Ok(rate) => format!("write \"{rate}\""),
            Err(_) => "write a rate with its unit, such as \"10Mbit/s\"".to_owned(),
        },
        "fl-dur" if value > 0.0 && value < 1.0 => match parse_dur(&format!("{number}s")) {
            Ok(dur) => format!("write \"{dur}\", or with another unit"),
            Err(_) => format!("write \"{number}s\""),
        },
        "fl-dur" => format!("write \"{number}s\" or \"{number}ms\""),
        "fl-rate" => format!("write \"{number}Mbit/s\" or \"{number}bit/s\""),
        "fl-bytes" => format!("write \"{number}B\" or \"{number}kB\""),
        _ => format!("write \"{number}p\" for packets or \"{number}B\" for bytes"),
    }
}
