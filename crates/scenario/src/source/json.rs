//! JSON (RFC 8259) reader that keeps source places; numbers and strings are parsed by `serde_json`.

use super::{DEEPEST, Entry, Node, Table, Value};
use crate::code::Code;
use crate::diag::{Diagnostics, Sources, Span};

/// Help for a syntax error.
const HELP: &str = "put keys and text in double quotes, and a comma between entries, none after the last (RFC 8259)";

/// Parses a document.
pub(super) fn parse(sources: &Sources, text: &str, source: u32) -> Result<Node, Diagnostics> {
    let mut p = Parser { text, bytes: text.as_bytes(), at: 0, source };
    let result = p.value(0).and_then(|node| {
        p.space();
        if p.at < p.bytes.len() { Err(p.wrong("unexpected text after the end of the document")) } else { Ok(node) }
    });
    match result {
        Ok(node) if matches!(node.value, Value::Table(_)) => Ok(node),
        Ok(node) => {
            let message = format!("a scenario is an object, not {}", node.kind());
            Err(Diagnostics::one(sources.diagnostic(Code::WrongType, node.span, "", message, "write { \"duration\": \"10s\", ... }")))
        }
        Err((span, message)) => Err(Diagnostics::one(sources.diagnostic(Code::Syntax, span, "", format!("JSON syntax: {message}"), HELP))),
    }
}

type Outcome<T> = Result<T, (Span, String)>;

struct Parser<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    source: u32,
}

impl Parser<'_> {
    fn span(&self, start: usize) -> Span {
        Span { source: self.source, start, end: self.at }
    }
    fn wrong(&self, message: impl Into<String>) -> (Span, String) {
        (Span { source: self.source, start: self.at, end: self.at + 1 }, message.into())
    }
    fn space(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }
    /// Next byte that is not white space, without taking it.
    fn peek(&mut self) -> Option<u8> {
        self.space();
        self.bytes.get(self.at).copied()
    }
    fn expect(&mut self, byte: u8) -> Outcome<()> {
        if self.peek() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        Err(self.wrong(format!("expected `{}`", byte as char)))
    }

    fn value(&mut self, depth: usize) -> Outcome<Node> {
        if depth > DEEPEST {
            return Err(self.wrong("nested too deeply"));
        }
        let first = self.peek();
        let start = self.at;
        let value = match first {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => Value::Str(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b'a'..=b'z' | b'A'..=b'Z') => self.word()?,
            Some(_) => return Err(self.wrong("expected a value")),
            None => return Err(self.wrong("the text ends where a value is expected")),
        };
        Ok(Node { value, span: self.span(start) })
    }

    fn object(&mut self, depth: usize) -> Outcome<Value> {
        self.at += 1;
        let mut table = Table::new();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Value::Table(table));
        }
        loop {
            if self.peek() != Some(b'"') {
                return Err(self.wrong("expected a key in double quotes"));
            }
            let start = self.at;
            let name = self.string()?;
            let key = self.span(start);
            self.expect(b':')?;
            let node = self.value(depth + 1)?;
            if table.contains_key(&name) {
                return Err((key, format!("the key `{name}` appears twice")));
            }
            table.insert(name, Entry { key, node });
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Value::Table(table));
                }
                _ => return Err(self.wrong("expected `,` or `}`")),
            }
        }
    }

    fn array(&mut self, depth: usize) -> Outcome<Value> {
        self.at += 1;
        let mut list = Vec::new();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Value::Array(list));
        }
        loop {
            list.push(self.value(depth + 1)?);
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Value::Array(list));
                }
                _ => return Err(self.wrong("expected `,` or `]`")),
            }
        }
    }

    fn string(&mut self) -> Outcome<String> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.bytes.get(self.at) {
                Some(b'"') => break,
                Some(b'\\') => self.at += 2,
                Some(_) => self.at += 1,
                None => return Err((Span { source: self.source, start, end: start + 1 }, "the string does not end".to_owned())),
            }
        }
        self.at += 1;
        serde_json::from_str(&self.text[start..self.at]).map_err(|_| (self.span(start), "not a valid string".to_owned()))
    }

    fn number(&mut self) -> Outcome<Value> {
        let start = self.at;
        while matches!(self.bytes.get(self.at), Some(b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')) {
            self.at += 1;
        }
        let text = &self.text[start..self.at];
        match serde_json::from_str::<serde_json::Number>(text) {
            Ok(n) if n.is_i64() => Ok(Value::Int(n.as_i64().unwrap_or_default())),
            Ok(n) if n.is_f64() => Ok(Value::Float(n.as_f64().unwrap_or_default())),
            Ok(_) => Err((self.span(start), "the integer does not fit into 64 bits".to_owned())),
            Err(_) => Err((self.span(start), format!("`{text}` is not a number"))),
        }
    }

    fn word(&mut self) -> Outcome<Value> {
        let start = self.at;
        while matches!(self.bytes.get(self.at), Some(b'a'..=b'z' | b'A'..=b'Z')) {
            self.at += 1;
        }
        match &self.text[start..self.at] {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            "null" => Ok(Value::Null),
            // Python's output for NaN and infinity: kept, so that the check can name the parameter.
            "NaN" => Ok(Value::Float(f64::NAN)),
            "Infinity" => Ok(Value::Float(f64::INFINITY)),
            other => Err((self.span(start), format!("unknown word `{other}`"))),
        }
    }
}
