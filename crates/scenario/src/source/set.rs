//! `--set path=value` as a tree of its own, laid over the file's.

use super::{Entry, Node, Table, Value, toml};
use crate::code::Code;
use crate::diag::{Diagnostics, Sources, Span};

/// The tree that holds just the value of one option.
pub(crate) fn overlay(sources: &mut Sources, path: &str, value: &str) -> Result<Node, Diagnostics> {
    let source = sources.add_option(&format!("{path}={value}"));
    let whole = Span { source, start: 0, end: path.len() };
    let keys = split(path).ok_or_else(|| {
        let help = "write for instance --set links.bottleneck.queue.red.min=10p";
        Diagnostics::one(sources.diagnostic(Code::BadPath, whole, "", format!("`{path}` is not a path"), help))
    })?;
    let offset = path.len() + 1;
    let place = Span { source, start: offset, end: offset + value.len() };
    let mut node = toml::parse_value(sources, value.trim(), source, offset)
        .unwrap_or_else(|| Node { value: Value::Str(value.trim().to_owned()), span: place });
    for (key, start, end) in keys.into_iter().rev() {
        let key_span = Span { source, start, end };
        let mut table = Table::new();
        table.insert(key, Entry { key: key_span, node });
        node = Node { value: Value::Table(table), span: whole };
    }
    Ok(node)
}

/// The keys of a dotted path with their places; a key in double quotes may hold dots.
fn split(path: &str) -> Option<Vec<(String, usize, usize)>> {
    let mut keys = Vec::new();
    let mut rest = path;
    loop {
        let start = path.len() - rest.len();
        let (key, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => rest.split_at(rest.find('.').unwrap_or(rest.len())),
        };
        if key.is_empty() || key.contains(char::is_whitespace) {
            return None;
        }
        keys.push((key.to_owned(), start, path.len() - after.len()));
        match after.strip_prefix('.') {
            Some(next) => rest = next,
            None if after.is_empty() => return Some(keys),
            None => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_and_value() {
        let mut s = Sources::default();
        let n = overlay(&mut s, "links.\"tcp.0\".rate", "10Mbit/s").unwrap();
        assert_eq!(n.to_json(), serde_json::json!({"links": {"tcp.0": {"rate": "10Mbit/s"}}}));
        assert_eq!(overlay(&mut s, "seed", "7").unwrap().to_json(), serde_json::json!({"seed": 7}));
        assert_eq!(overlay(&mut s, "a", "{ b = [1, 2.5] }").unwrap().to_json(), serde_json::json!({"a": {"b": [1, 2.5]}}));
        for bad in ["", ".", "a.", "a..b", "\"a", "a b"] {
            assert!(overlay(&mut s, bad, "1").is_err(), "{bad}");
        }
    }
}
