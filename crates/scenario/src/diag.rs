//! Errors in a scenario as values: where, what, and what to write instead. All of them, not only the first.

use crate::code::Code;
use serde::Serialize;
use std::fmt;
use std::path::Path;

/// Where a piece of a scenario was written: a byte range in one of the [`Sources`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Span {
    /// Number of the source.
    pub source: u32,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// A text that scenario values come from.
#[derive(Clone, Debug)]
struct Source {
    name: String,
    text: String,
    /// A command-line option has no line numbers.
    option: bool,
}

/// The texts a scenario is read from: the file, then each `--set` option.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    list: Vec<Source>,
}

impl Sources {
    /// Adds the text of a file and gives its number.
    pub fn add_file(&mut self, name: &str, text: &str) -> u32 {
        self.add(name, text, false)
    }
    /// Adds the text `path=value` of a `--set` option and gives its number.
    pub fn add_option(&mut self, text: &str) -> u32 {
        self.add(&format!("--set {text}"), text, true)
    }
    fn add(&mut self, name: &str, text: &str, option: bool) -> u32 {
        self.list.push(Source { name: name.to_owned(), text: text.to_owned(), option });
        self.list.len() as u32 - 1
    }

    /// The folder of the file that `span` is in; for an option, and for a text that is no file, the current one.
    pub fn folder(&self, span: Span) -> &Path {
        let source = self.list.get(span.source as usize).filter(|s| !s.option);
        source.and_then(|s| Path::new(&s.name).parent()).unwrap_or(Path::new(""))
    }

    /// A diagnostic at `span` about the value at `path`.
    pub fn diagnostic(&self, code: Code, span: Span, path: &str, message: impl Into<String>, help: impl Into<String>) -> Diagnostic {
        let (message, help) = hinted(shortened(message.into()), help.into(), path);
        let mut d = Diagnostic { code, path: path.to_owned(), message, help, ..Diagnostic::default() };
        let Some(source) = self.list.get(span.source as usize) else { return d };
        d.file.clone_from(&source.name);
        let text = source.text.as_str();
        let start = floor_char(text, span.start);
        let line_start = text[..start].rfind('\n').map_or(0, |i| i + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |i| start + i);
        let end = floor_char(text, span.end.clamp(start, line_end.max(start)));
        d.column = text[line_start..start].chars().count() + 1;
        d.end_column = (d.column + text[start..end].chars().count()).max(d.column + 1);
        d.line = if source.option { None } else { Some(text[..start].matches('\n').count() + 1) };
        d.source_line = text[line_start..line_end].trim_end_matches('\r').to_owned();
        d
    }
}

/// Longest message; what was written in the file may be of any length.
const LONGEST_MESSAGE: usize = 400;

/// A message with its middle left out if it is very long, without control characters.
fn shortened(message: String) -> String {
    let message = message.replace(char::is_control, " ");
    let n = message.chars().count();
    if n <= LONGEST_MESSAGE {
        return message;
    }
    let part = |skip| message.chars().skip(skip).take(LONGEST_MESSAGE / 2).collect::<String>();
    format!("{} ... {}", part(0), part(n - LONGEST_MESSAGE / 2))
}

/// A message and what to write instead: the part after "write" if the message says it, or where to look it up.
fn hinted(message: String, help: String, path: &str) -> (String, String) {
    if !help.is_empty() {
        return (message, help);
    }
    if let Some((what, write)) = message.split_once(": write ") {
        return (what.to_owned(), format!("write {write}"));
    }
    let plain = path.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    let help = if path.is_empty() || !plain { String::new() } else { format!("`fairlane explain {path}` says what is allowed") };
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

/// One thing that is wrong with a scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// What kind of mistake it is.
    pub code: Code,
    /// Dotted path of the value, as `--set` takes it; empty for the file as a whole.
    pub path: String,
    /// Name of the file, or the text of the `--set` option.
    pub file: String,
    /// Line, from 1; none if the value came from an option.
    pub line: Option<usize>,
    /// Column of the first character, from 1.
    pub column: usize,
    /// One past the column of the last character.
    pub end_column: usize,
    /// What is wrong.
    pub message: String,
    /// What to write instead; may be empty.
    pub help: String,
    /// The line of text, for the rendering.
    #[serde(skip)]
    pub(crate) source_line: String,
}

/// Longest piece of a source line that is shown.
const SHOWN: usize = 120;

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "error: {}", self.message)?;
        let number = self.line.map_or(String::new(), |l| l.to_string());
        let pad = " ".repeat(number.len());
        match self.line {
            Some(line) => write!(f, "{pad} --> {}:{line}:{}", self.file, self.column)?,
            None => write!(f, "{pad} --> {}", self.file)?,
        }
        if self.path.is_empty() {
            writeln!(f)?
        } else {
            writeln!(f, " ({})", self.path.replace(char::is_control, " "))?
        }
        if !self.source_line.is_empty() {
            // A long line is cut so that the caret stays in view.
            let skip = (self.column - 1).saturating_sub(SHOWN / 2);
            let shown: String = self.source_line.chars().skip(skip).take(SHOWN).map(|c| if c.is_control() { ' ' } else { c }).collect();
            let caret = self.column - 1 - skip;
            let width = (self.end_column - self.column).min(SHOWN.saturating_sub(caret)).max(1);
            writeln!(f, "{pad} |\n{number} | {shown}\n{pad} | {}{}", " ".repeat(caret), "^".repeat(width))?;
        }
        if !self.help.is_empty() {
            writeln!(f, "{pad} = help: {}", self.help)?;
        }
        Ok(())
    }
}

/// Everything that is wrong with a scenario, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    /// The findings.
    pub list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Just one finding.
    pub fn one(d: Diagnostic) -> Self {
        Self { list: vec![d] }
    }
    /// Adds a finding, once.
    pub fn push(&mut self, d: Diagnostic) {
        if !self.list.contains(&d) {
            self.list.push(d);
        }
    }
    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
    /// Puts findings of the file in the order of its lines, options last.
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
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

/// The known name most like `word`, if one is close enough to be what was meant.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    known
        .into_iter()
        .map(|k| (strsim::damerau_levenshtein(&lower, &k.to_lowercase()), k))
        .filter(|&(distance, k)| distance <= 1 + word.len().max(k.len()) / 4 && distance < k.len())
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, k)| k)
}

/// "did you mean `x`?", or else the list of what is known.
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
