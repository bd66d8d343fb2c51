//! Suggestions for unknown keys.

use crate::diag::{nearest, suggest};
use crate::registry::StackSpec;

/// Names that other programs and commands use for the keys of a file.
const SYNONYMS: [(&str, &str); 37] = [
    ("bandwidth", "rate"),
    ("bw", "rate"),
    ("capacity", "rate"),
    ("speed", "rate"),
    ("latency", "delay"),
    ("propagation", "delay"),
    ("src", "from"),
    ("source", "from"),
    ("dst", "to"),
    ("destination", "to"),
    ("aqm", "queue"),
    ("qdisc", "queue"),
    ("n", "count"),
    ("cc", "tcp"),
    ("congestion_control", "tcp"),
    ("min_th", "min"),
    ("minth", "min"),
    ("max_th", "max"),
    ("maxth", "max"),
    ("maxp", "max_p"),
    ("wq", "w_q"),
    ("weight", "w_q"),
    ("buffer", "limit"),
    ("dscp", "class"),
    ("tos", "class"),
    ("prio", "class"),
    ("plr", "loss"),
    ("gemodel", "gilbert_elliott"),
    ("gilbert", "gilbert_elliott"),
    ("1-h", "bad"),
    ("1-k", "good"),
    ("vary", "factors"),
    ("grid", "factors"),
    ("sweep", "factors"),
    ("repeat", "seeds"),
    ("replications", "seeds"),
    ("measure", "metrics"),
];

/// Suggestion for an unknown key.
pub(super) fn other_key(key: &str, known: &[&str]) -> String {
    match SYNONYMS.iter().find(|(s, k)| s.eq_ignore_ascii_case(key) && known.contains(k)) {
        Some((_, k)) => format!("the key is called `{k}`"),
        None => suggest(key, known, "known keys"),
    }
}

/// Where keys of links and flows belong that are written at the top of a scenario.
const INSIDE: [(&str, &str); 7] = [
    ("queue", "links.NAME.queue"),
    ("rate", "links.NAME.rate"),
    ("delay", "links.NAME.delay"),
    ("loss", "links.NAME.loss"),
    ("tcp", "flows.NAME.tcp"),
    ("udp", "flows.NAME.udp"),
    ("source", "flows.NAME.source"),
];

/// Path of a key that is written one table too high.
pub(super) fn inside(key: &str) -> Option<String> {
    INSIDE.iter().find(|(k, _)| *k == key).map(|(_, path)| format!("it belongs to a link or a flow: {path}"))
}

/// A share written as a percentage, as the number that is wanted.
pub(super) fn percent(text: &str) -> Option<String> {
    let number: f64 = text.trim().strip_suffix('%')?.trim().parse().ok()?;
    number.is_finite().then(|| format!("write {}", number / 100.0))
}

/// Noun for an entry of a registry.
pub(super) fn noun(registry: &str) -> &str {
    if registry == "cc" { "congestion control" } else { registry }
}

fn plural(noun: &str) -> String {
    noun.strip_suffix('y').map_or_else(|| format!("{noun}s"), |y| format!("{y}ies"))
}

/// Suggests the algorithm that is meant, or lists those that are known, stacks with their versions.
pub(super) fn suggest_algorithm(name: &str, known: &[&str], what: &str) -> String {
    let version = |k: &str| StackSpec::VERSIONS.iter().find(|v| v.0 == k).map_or_else(|| k.to_owned(), |v| format!("{k} {}", v.1));
    let shown: Vec<String> = match nearest(name, known.iter().copied()) {
        Some(near) => vec![near.to_owned()],
        None => known.iter().map(|k| version(k)).collect(),
    };
    suggest(name, &shown.iter().map(String::as_str).collect::<Vec<_>>(), &format!("known {}", plural(what)))
}
