//! Dotted paths of values, in `--set` and in errors: keys as in TOML, quoted if they contain more than letters, digits, `_` and `-`.

use super::toml;

/// A key with its first byte and the one past its last.
pub(crate) type Key = (String, usize, usize);

/// Keys of a path; `None` if it is invalid. Without quotes a key may contain anything but dots, quotes and white space.
pub(crate) fn split(path: &str) -> Option<Vec<Key>> {
    let mut keys = Vec::new();
    let mut rest = path;
    loop {
        let start = path.len() - rest.len();
        let end = match rest.chars().next()? {
            quote @ ('"' | '\'') => end_of(rest, quote)?,
            _ => rest.find('.').unwrap_or(rest.len()),
        };
        let (written, after) = rest.split_at(end);
        let key = if written.starts_with(['"', '\'']) {
            toml::text(written)?
        } else if written.contains(|c: char| c.is_whitespace() || c == '"' || c == '\'') {
            return None;
        } else {
            written.to_owned()
        };
        if key.is_empty() {
            return None;
        }
        keys.push((key, start, path.len() - after.len()));
        match after.strip_prefix('.') {
            Some(next) => rest = next,
            None if after.is_empty() => return Some(keys),
            None => return None,
        }
    }
}

/// End of a quoted text, past its last quote.
fn end_of(text: &str, quote: char) -> Option<usize> {
    let mut escaped = true;
    for (i, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quote == '"' => escaped = true,
            c if c == quote => return Some(i + 1),
            _ => {}
        }
    }
    None
}

/// Path with these keys.
pub(crate) fn join<S: AsRef<str>>(keys: impl IntoIterator<Item = S>) -> String {
    let mut path = String::new();
    for (i, key) in keys.into_iter().enumerate() {
        if i > 0 {
            path.push('.');
        }
        let key = key.as_ref();
        if !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-') {
            path.push_str(key);
        } else {
            path.push_str(&quoted(key));
        }
    }
    path
}

/// Text in double quotes, as in TOML.
fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(path: &str) -> Option<Vec<String>> {
        split(path).map(|keys| keys.into_iter().map(|k| k.0).collect())
    }

    #[test]
    fn keys_in_quotes_hold_anything() {
        assert_eq!(keys("links.\"tcp.0\".rate").unwrap(), ["links", "tcp.0", "rate"]);
        assert_eq!(keys("links.\"a \\\"b\\\\\".x").unwrap(), ["links", "a \"b\\", "x"]);
        assert_eq!(keys("links.'a \"b'.x").unwrap(), ["links", "a \"b", "x"]);
        assert_eq!(keys("\"\\u00b5\"").unwrap(), ["µ"]);
        assert_eq!(keys("µ").unwrap(), ["µ"]);
        assert_eq!(split("a.\"b c\"").unwrap()[1], ("b c".to_owned(), 2, 7));
        for bad in ["", ".", "a.", "a..b", "\"a", "a b", "a\"b\"", "\"a\"b", "\"\"", "'a", "\"\\x\""] {
            assert_eq!(split(bad), None, "{bad}");
        }
    }

    /// Printed paths are read back, whatever the names are.
    #[test]
    fn printed_paths_are_read_back() {
        for names in [&["links", "a b", "rate"][..], &["a.b", "\"", "\\", "'"], &["µ", "\u{1}", "\u{7f}", "-_9"]] {
            assert_eq!(keys(&join(names)).unwrap(), names, "{}", join(names));
        }
        assert_eq!(join(["links", "a b", "rate"]), "links.\"a b\".rate");
    }
}
