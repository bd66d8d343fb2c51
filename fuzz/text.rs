//! Scenarios that are nearly right: texts of the shipped examples with words, lines and bytes changed, through the reader, and what was accepted through it again.

use crate::draws::Draws;
use fairlane_scenario::{Format, MOST_REPORTED, resolve, resolve_bytes};
use std::path::{Path, PathBuf};

/// Texts read in a life.
const STEPS: u64 = 50;
/// Largest size of the messages about a text, in bytes: twenty findings with their lines.
const LONGEST: usize = 40_000;
/// Wrong values: ends of ranges, other kinds, units and names, halves of tokens.
const WORDS: [&str; 64] = [
    "0",
    "1",
    "-1",
    "2",
    "65536",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
    "1e300",
    "5e-324",
    "nan",
    "inf",
    "true",
    "\"\"",
    "\" \"",
    "\"auto\"",
    "\"off\"",
    "\"0s\"",
    "\"1ps\"",
    "\"1000h\"",
    "\"1001h\"",
    "\"-1ms\"",
    "\"1 ms\"",
    "\"5\"",
    "\"0p\"",
    "\"1p\"",
    "\"0B\"",
    "\"1B\"",
    "\"1000TB\"",
    "\"0bit/s\"",
    "\"1bit/s\"",
    "\"10Tbit/s\"",
    "\"1e400bit/s\"",
    "\"\u{b5}s\"",
    "\"\\u0000\"",
    "\"\\u001b[31m\"",
    "\"{i}\"",
    "\"s{i}\"",
    "\"{j}\"",
    "\"s0\"",
    "\"bottleneck\"",
    "\"bottleneck.reverse\"",
    "\"red\"",
    "\"fq_codel\"",
    "\"cubic\"",
    "\"/dev/zero\"",
    "\"no/such.file\"",
    "\"data:,\"",
    "\"data:,1 2 3\"",
    "\"data:,x\"",
    "[]",
    "[[]]",
    "[\"a\", 1]",
    "{}",
    "{ red = {} }",
    "{\"a\": 1}",
    "[",
    "]",
    "{",
    "}",
    "\"",
    "'''",
    "=",
    "1979-05-27T07:32:00Z",
];
/// Keys that mean something somewhere else.
const KEYS: [&str; 16] = [
    "rate", "delay", "queue", "from", "to", "tcp", "udp", "source", "count", "seed", "duration", "limit", "\"a b\"", "a.b", "\u{e9}",
    "\"\"",
];

pub(crate) struct Corpus(Vec<(String, String, Format)>);

impl Corpus {
    /// The examples as they are, and completed as JSON.
    pub(crate) fn new() -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        let listed = std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|f| f.path());
        let mut files: Vec<PathBuf> = listed.filter(|p| p.extension().is_some_and(|e| e == "toml")).collect();
        files.sort();
        let mut all = Vec::new();
        for file in files {
            let (Ok(text), name) = (std::fs::read_to_string(&file), file.display().to_string()) else { continue };
            if let Ok(done) = resolve(&text, &name, Format::Toml, &[])
                && let Ok(json) = serde_json::to_string(&done.scenario)
            {
                all.push((name.replace(".toml", ".json"), json, Format::Json));
            }
            all.push((name, text, Format::Toml));
        }
        Self(all)
    }
}

/// The tokens of a text: runs of letters and digits, strings, and single others.
fn tokens(text: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let word = |c: char| c.is_alphanumeric() || "_-.".contains(c);
        let len = if c == '"' {
            rest[1..].find(['"', '\n']).map_or(rest.len(), |n| n + 2)
        } else if word(c) {
            rest.find(|c| !word(c)).unwrap_or(rest.len())
        } else {
            c.len_utf8()
        };
        all.push(&rest[..len]);
        rest = &rest[len..];
    }
    all
}

/// A text with one to four changes.
fn changed(text: &str, other: &str, d: &mut Draws) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..d.of(&[1, 1, 1, 2, 2, 3, 4]) {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let words = tokens(&text);
        let mut words: Vec<&str> = if words.is_empty() { vec![" "] } else { words };
        let value = |w: &str| w.starts_with(|c: char| c == '"' || c.is_alphanumeric());
        // Half of the time a word, else any token.
        let mut at = d.below(words.len());
        for _ in 0..20 {
            if value(words[at]) {
                break;
            }
            at = d.below(words.len());
        }
        let others = tokens(other);
        match d.below(12) {
            0..=3 => words[at] = d.of(&WORDS),
            4 => words[at] = d.of(&KEYS),
            5 if !others.is_empty() => words[at] = d.of(&others),
            6 => {
                let to = d.below(words.len());
                words.swap(at, to);
            }
            7 => {
                words.remove(at);
            }
            8 => {
                let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
                let (from, to) = (d.below(lines.len().max(1)), d.below(lines.len().max(1)));
                if let Some(&line) = lines.get(from) {
                    lines.insert(to, line);
                }
                bytes = lines.concat().into_bytes();
                continue;
            }
            9 => {
                let lines: Vec<&str> = other.split_inclusive('\n').collect();
                let mut mine: Vec<&str> = text.split_inclusive('\n').collect();
                let to = d.below(mine.len() + 1);
                if let Some(&line) = lines.get(d.below(lines.len().max(1))) {
                    mine.insert(to, line);
                }
                bytes = mine.concat().into_bytes();
                continue;
            }
            10 => {
                let (at, n) = (d.below(bytes.len() + 1), d.below(8));
                let end = (at + n).min(bytes.len());
                let many = d.of(&[0, 1, 4]).min(n + 1);
                let junk = d.bytes(many);
                bytes.splice(at..end, junk);
                continue;
            }
            _ => {
                bytes.truncate(d.below(bytes.len() + 1));
                continue;
            }
        }
        bytes = words.concat().into_bytes();
    }
    bytes
}

fn read(bytes: &[u8], name: &str, format: Format) -> Result<(), String> {
    let done = match resolve_bytes(bytes, name, format, &[]) {
        Ok(done) => done,
        Err(wrong) => {
            let told = wrong.to_string();
            let placed = wrong.list.iter().all(|x| !x.message.is_empty() && !x.file.is_empty() && x.line != Some(0));
            return match told.len() <= LONGEST && wrong.list.len() <= MOST_REPORTED && !wrong.list.is_empty() && placed {
                true if !told.contains('\x1b') && !told.contains('\0') => Ok(()),
                _ => Err(format!("{} findings in {} bytes", wrong.list.len(), told.len())),
            };
        }
    };
    // What was accepted is a scenario: written out and read again it is the same.
    let json = serde_json::to_string(&done.scenario).map_err(|e| e.to_string())?;
    let again = resolve(&json, "again.json", Format::Json, &[]).map_err(|e| format!("accepted, then refused: {e}"))?;
    let same = serde_json::to_string(&again.scenario).is_ok_and(|j| j == json);
    if same { Ok(()) } else { Err("accepted, then read as another scenario".to_owned()) }
}

/// Reads some texts.
///
/// # Errors
/// A broken law, and the text that breaks it.
pub(crate) fn run(seed: u64, corpus: &Corpus) -> Result<u64, String> {
    let d = &mut Draws::new(seed);
    for _ in 0..STEPS {
        let (name, text, format) = &corpus.0[d.below(corpus.0.len())];
        let other = &corpus.0[d.below(corpus.0.len())].1;
        let odd = changed(text, other, d);
        read(&odd, name, *format).map_err(|e| format!("{e}: in {name}:\n{}", String::from_utf8_lossy(&odd)))?;
    }
    Ok(STEPS)
}
