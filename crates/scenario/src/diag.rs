//! Diagnostics of a scenario: place, error and suggestion. All errors are reported, not only the first.

use crate::code::Code;
use serde::Serialize;
use std::collections::HashSet;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Most findings that are listed; further ones are only counted, because one mistake in a long list causes thousands.
pub const MOST_REPORTED: usize = 20;

/// Place of a value in a scenario: a byte range in one of the [`Sources`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Span {
    /// Number of the source.
    pub source: u32,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// A text that contains scenario values.
#[derive(Clone, Debug)]
struct Source {
    name: String,
    text: Arc<str>,
    /// True for a command-line option, which has no line numbers.
    option: bool,
}

/// The texts a scenario is read from: the file, then each `--set` option.
#[derive(Debug, Default)]
pub struct Sources {
    list: Vec<Source>,
    /// Notes of readers of other notations.
    notes: Mutex<Vec<String>>,
}

impl Clone for Sources {
    fn clone(&self) -> Self {
        Self { list: self.list.clone(), notes: Mutex::new(self.notes()) }
    }
}

impl Sources {
    /// Adds the text of a file and returns its number.
    pub fn add_file(&mut self, name: &str, text: &str) -> u32 {
        self.add(name, text, false)
    }
    /// Adds the text `path=value` of a `--set` option and returns its number.
    pub fn add_option(&mut self, text: &str) -> u32 {
        self.add(&format!("--set {text}"), text, true)
    }
    fn add(&mut self, name: &str, text: &str, option: bool) -> u32 {
        self.list.push(Source { name: name.to_owned(), text: text.into(), option });
        self.list.len() as u32 - 1
    }

    /// Folder of the file that contains `span`; the current folder for options and other texts.
    pub fn folder(&self, span: Span) -> &Path {
        let source = self.list.get(span.source as usize).filter(|s| !s.option);
        source.and_then(|s| Path::new(&s.name).parent()).unwrap_or(Path::new(""))
    }

    /// Place of the first occurrence of `word` within `span`; else `span`.
    pub(crate) fn part(&self, span: Span, word: &str) -> Span {
        let text = self.list.get(span.source as usize).and_then(|s| s.text.get(span.start..span.end));
        match text.and_then(|t| t.find(word)).filter(|_| !word.is_empty()) {
            Some(at) => Span { start: span.start + at, end: span.start + at + word.len(), ..span },
            None => span,
        }
    }

    /// Adds notes for the warnings of the scenario.
    pub(crate) fn note(&self, notes: Vec<String>) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).extend(notes);
    }
    /// Notes of readers of other notations.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// True if `span` is in an option.
    pub(crate) fn is_option(&self, span: Span) -> bool {
        self.list.get(span.source as usize).is_some_and(|s| s.option)
    }

    /// Creates a diagnostic at `span` about the value at `path`.
    pub fn diagnostic(&self, code: Code, span: Span, path: &str, message: impl Into<String>, help: impl Into<String>) -> Diagnostic {
        let message = message.into();
        let key = key_of(code, span, path, &message);
        let (message, help) = hinted(shortened(&message, LONGEST_MESSAGE), shortened(&help.into(), LONGEST_HELP), path);
        let mut d = Diagnostic { code, path: path.to_owned(), message, help, key, ..Diagnostic::default() };
        let Some(source) = self.list.get(span.source as usize) else { return d };
        d.file.clone_from(&source.name);
        let text = &*source.text;
        let start = floor_char(text, span.start);
        let line_start = text[..start].rfind('\n').map_or(0, |i| i + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |i| start + i);
        let end = floor_char(text, span.end.clamp(start, line_end.max(start)));
        d.column = text[line_start..start].chars().count() + 1;
        d.end_column = (d.column + text[start..end].chars().count()).max(d.column + 1);
        d.line = if source.option { None } else { Some(text[..start].matches('\n').count() + 1) };
        // Only the displayed part of a long line is kept, so that the caret stays visible.
        d.cut = (d.column - 1).saturating_sub(SHOWN / 2);
        let shown = text[line_start..line_end].trim_end_matches('\r').chars().skip(d.cut).take(SHOWN);
        d.source_line = shown.map(|c| if c.is_control() { ' ' } else { c }).collect();
        d
    }
}

/// Hash that identifies a finding: the check of all layers together finds it again.
fn key_of(code: Code, span: Span, path: &str, message: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (code.name(), span.source, span.start, span.end, path, message).hash(&mut hasher);
    hasher.finish()
}

/// Longest message, path or file name; user input may have any length.
const LONGEST_MESSAGE: usize = 400;
/// Longest help text, which may list names.
const LONGEST_HELP: usize = 1000;

/// Shortens a very long text in the middle and removes control characters.
fn shortened(text: &str, most: usize) -> String {
    let text = text.replace(char::is_control, " ");
    if text.len() <= most || text.chars().count() <= most {
        return text;
    }
    let first: String = text.chars().take(most / 2).collect();
    let mut last: Vec<char> = text.chars().rev().take(most / 2).collect();
    last.reverse();
    format!("{first} ... {}", last.into_iter().collect::<String>())
}

/// Splits a message and its help: uses the text after "write" in the message, or names the place to look it up.
fn hinted(message: String, help: String, path: &str) -> (String, String) {
    if !help.is_empty() {
        return (message, help);
    }
    if let Some((what, write)) = message.split_once(": write ") {
        return (what.to_owned(), format!("write {write}"));
    }
    let plain = path.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    let help = if path.is_empty() || !plain { String::new() } else { format!("`fairlane explain {path}` lists the allowed values") };
    (message, help)
}

/// The largest character boundary at or below `i`.
fn floor_char(text: &str, i: usize) -> usize {
    let mut i = i.min(text.len());
    while !text.is_char_boundary(i) {
        i -= 1;
    }
    i
}

/// One error in a scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// Code of the error.
    pub code: Code,
    /// Dotted path of the value, as `--set` takes it; empty for the file as a whole.
    pub path: String,
    /// Name of the file, or the text of the `--set` option.
    pub file: String,
    /// Line, from 1; none for an option.
    pub line: Option<usize>,
    /// Column of the first character, from 1.
    pub column: usize,
    /// One past the column of the last character.
    pub end_column: usize,
    /// Error message.
    pub message: String,
    /// Suggested correction; may be empty.
    pub help: String,
    /// Displayed part of the source line.
    #[serde(skip)]
    pub(crate) source_line: String,
    /// Characters of the line before that part.
    #[serde(skip)]
    pub(crate) cut: usize,
    /// Hash that identifies the finding.
    #[serde(skip)]
    pub(crate) key: u64,
}

/// Longest displayed part of a source line.
const SHOWN: usize = 120;

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "error: {}", self.message)?;
        let number = self.line.map_or(String::new(), |l| l.to_string());
        let pad = " ".repeat(number.len());
        match self.line {
            Some(line) => write!(f, "{pad} --> {}:{line}:{}", shortened(&self.file, LONGEST_MESSAGE), self.column)?,
            None => write!(f, "{pad} --> {}", shortened(&self.file, LONGEST_MESSAGE))?,
        }
        if self.path.is_empty() {
            writeln!(f)?
        } else {
            writeln!(f, " ({})", shortened(&self.path, LONGEST_MESSAGE))?
        }
        if !self.source_line.is_empty() {
            let caret = self.column - 1 - self.cut;
            let width = (self.end_column - self.column).min(SHOWN.saturating_sub(caret)).max(1);
            writeln!(f, "{pad} |\n{number} | {}\n{pad} | {}{}", self.source_line, " ".repeat(caret), "^".repeat(width))?;
        }
        if !self.help.is_empty() {
            writeln!(f, "{pad} = help: {}", self.help)?;
        }
        Ok(())
    }
}

/// Errors of a scenario, in the order of the file: at most [`MOST_REPORTED`] findings, and the number of further ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    /// Listed findings.
    pub list: Vec<Diagnostic>,
    /// Hashes of all findings, listed or not.
    known: HashSet<u64>,
}

impl Diagnostics {
    /// A single finding.
    pub fn one(d: Diagnostic) -> Self {
        Self { known: HashSet::from([d.key]), list: vec![d] }
    }
    /// Adds a finding once.
    pub fn push(&mut self, d: Diagnostic) {
        if self.known.insert(d.key) && self.has_room() {
            self.list.push(d);
        }
    }
    /// Adds a finding; once the list is full it is only counted and `diagnostic` is not called.
    pub(crate) fn find(&mut self, (code, span, path, message): (Code, Span, &str, &str), diagnostic: impl FnOnce() -> Diagnostic) {
        if self.has_room() {
            self.push(diagnostic());
        } else {
            self.known.insert(key_of(code, span, path, message));
        }
    }
    /// Adds all findings of another check.
    pub(crate) fn absorb(&mut self, other: Self) {
        other.list.into_iter().for_each(|d| self.push(d));
        self.known.extend(other.known);
    }
    /// True if the list has room for another finding.
    pub(crate) fn has_room(&self) -> bool {
        self.list.len() < MOST_REPORTED
    }
    /// Number of findings, listed or not.
    pub(crate) fn count(&self) -> usize {
        self.known.len()
    }
    /// Number of findings beyond the list.
    pub fn more(&self) -> usize {
        self.known.len().saturating_sub(self.list.len())
    }
    /// True if nothing was found.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
    /// Sorts findings by line, options last.
    pub fn sort(&mut self) {
        self.list.sort_by_key(|d| (d.line.unwrap_or(usize::MAX), d.column));
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, d) in self.list.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{d}")?;
        }
        if self.more() > 0 {
            writeln!(f, "\nand {} more", grouped(self.more()))?;
        }
        Ok(())
    }
}

/// Formats a number with commas between thousands.
fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let comma = |i: usize| if i > 0 && (digits.len() - i).is_multiple_of(3) { "," } else { "" };
    digits.chars().enumerate().flat_map(|(i, c)| comma(i).chars().chain([c])).collect()
}

impl std::error::Error for Diagnostics {}

/// Longest name compared with known names.
const LONGEST_NAME: usize = 200;

/// Returns the known name most similar to `word`, if one is close enough.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONGEST_NAME {
        return None;
    }
    let (lower, letters) = (word.to_lowercase(), word.chars().count());
    known
        .into_iter()
        .filter(|k| k.len() <= LONGEST_NAME)
        // Lower bound on the number of changed letters.
        .filter(|k| letters.abs_diff(k.chars().count()) <= 1 + word.len().max(k.len()) / 4)
        .map(|k| (strsim::damerau_levenshtein(&lower, &k.to_lowercase()), k))
        .filter(|&(distance, k)| distance <= 1 + word.len().max(k.len()) / 4 && distance < k.len())
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, k)| k)
}

/// "did you mean `x`?", or the list of known names.
pub(crate) fn suggest(word: &str, known: &[&str], what: &str) -> String {
    match nearest(word, known.iter().copied()) {
        Some(k) => format!("did you mean `{k}`?"),
        None if known.is_empty() => String::new(),
        None => {
            let mut text = format!("{what}: {}", known.iter().take(24).copied().collect::<Vec<_>>().join(", "));
            if known.len() > 24 {
                text.push_str(", ...");
            }
            text
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn position_counts_characters_and_caret_points_at_it() {
        let mut s = Sources::default();
        s.add_file("a.toml", "x = 1\nµ = 'zz'\n");
        let at = Span { source: 0, start: 11, end: 15 };
        let d = s.diagnostic(Code::WrongType, at, "µ", "wrong", "write something else");
        assert_eq!((d.line, d.column, d.end_column), (Some(2), 5, 9));
        assert_eq!(d.to_string(), "error: wrong\n  --> a.toml:2:5 (µ)\n  |\n2 | µ = 'zz'\n  |     ^^^^\n  = help: write something else\n");
    }

    #[test]
    fn span_outside_the_text_is_clamped() {
        let mut s = Sources::default();
        s.add_file("a", "é");
        let d = s.diagnostic(Code::WrongType, Span { source: 0, start: 1, end: 99 }, "", "m", "");
        assert_eq!((d.line, d.column), (Some(1), 1));
        assert_eq!(s.diagnostic(Code::WrongType, Span { source: 7, start: 0, end: 0 }, "", "m", "").line, None);
    }

    #[test]
    fn nearest_name() {
        assert_eq!(nearest("bottelneck", ["access", "bottleneck"]), Some("bottleneck"));
        assert_eq!(nearest("zzz", ["access", "bottleneck"]), None);
        assert_eq!(nearest("RED", ["red", "droptail"]), Some("red"));
    }
}
