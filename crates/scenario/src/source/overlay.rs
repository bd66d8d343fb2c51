//! Tree of a single `--set path=value` option, to be merged into the file's tree.

use super::{Entry, Node, Table, Value, path, toml};
use crate::code::Code;
use crate::diag::{Diagnostics, Sources, Span};

/// Creates the tree with the value of one option.
pub(crate) fn overlay(sources: &mut Sources, at: &str, value: &str) -> Result<Node, Diagnostics> {
    let source = sources.add_option(&format!("{at}={value}"));
    let whole = Span { source, start: 0, end: at.len() };
    let keys = path::split(at).ok_or_else(|| {
        let help =
            "write for instance --set links.bottleneck.queue.red.min=10p; put a name with spaces or dots in quotes: links.\"a b\".rate";
        Diagnostics::one(sources.diagnostic(Code::BadPath, whole, "", format!("`{at}` is not a valid path"), help))
    })?;
    let offset = at.len() + 1;
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
