//! Wording: how doc comments begin, names of files, and words that have a plainer one.
//!
//! A doc comment begins with a verb or a noun phrase, so that it can be read alone. A file is named by the noun that it defines.

use std::fs;
use std::path::Path;

/// First words that leave a doc comment without a subject of its own.
const OPENINGS: [&str; 7] = ["What", "Whether", "Of", "That", "The same", "As", "Those"];

/// Phrases, and what to write instead.
const PHRASES: &[(&[&str], &str)] = &[
    (&["what came of"], "the results"),
    (&["is told", "are told", "was told", "were told", "be told", "been told", "is said", "are said"], "is reported, listed, shown"),
    (&["tells apart", "tell apart", "told apart", "sets apart", "set apart"], "distinguishes, differs"),
    (&["held back by"], "limited by"),
    (&["of the house", "in the house"], "built-in, default, project"),
    (&["hand-made"], "baseline, manual"),
    (&["none is near"], "not found"),
    (&["toy", "toys"], "minimal example"),
    (&["of before"], "delete: history is in the changelog"),
    (&["fullest", "fattest", "busiest"], "longest queue, largest flow, highest utilisation"),
    (&["goes on", "go on", "gone on", "going on", "went on"], "resumes, continues"),
    (&["begins again", "begin again", "began again"], "restarts, reconnects"),
    (&["held against", "holds against", "hold against"], "compared with"),
    (&["gives way", "give way", "gave way"], "backs off, is responsive"),
    (&["draws in", "draw in"], "installs, requires"),
    (&["anew", "once more"], "again"),
    (&["in place of"], "instead of"),
    (&["beside"], "next to, competing with, and"),
    (&["under way"], "in flight"),
    (&["nobody", "whoever"], "name who: no flow, no link, users who"),
    (&["so many of", "of so many"], "the number of"),
    (&["by so much"], "by this amount"),
    (&["left open", "leaves open"], "not stated, unstated parameters"),
    (&["a run in hand"], "a running simulation"),
];

/// Phrases of parameter settings and published values, in Python and its pages; `World` is a type of the engine.
const PUBLISHED: &[(&[&str], &str)] = &[
    (&["world", "worlds"], "parameter setting"),
    (&["undecided"], "inconclusive"),
    (&["unexplained"], "not reproduced"),
    (&["near print", "match print", "beside print"], "the published values"),
];

/// File names that are no nouns of the field.
const NAMES: &str = "again apart asked course drawn ears fetch govern hand inside kept late load_ made maze more own_ piped reach rough said sealed \
                     sensible shelf shows straight sums told together trouble twin walks whole written closer rehearsal crew";

/// Files whose text is not ours to word, or that must quote what they forbid.
const FREE: [&str; 5] =
    ["CHANGELOG.md", "crates/dev/src/words.rs", "docs/reference/", "python/fairlane/papers/studies", "web/node_modules"];

/// A sentence that has to keep a phrase: the file, the phrase, and why.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("python/fairlane/cli/reproduce.py", "worlds", "the former name of an option, hidden"),
    ("CONTRIBUTING.md", "beside", "the word list"),
];

/// Checks all files that git knows.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let files = crate::files::tracked(root, &["rs", "py", "pyi", "js", "ts", "j2", "md"])?;
    let mut found = Vec::new();
    for file in files.iter().filter(|f| !FREE.iter().any(|free| f.starts_with(free))) {
        let Ok(text) = fs::read_to_string(root.join(file)) else { continue };
        found.extend(name(file));
        found.extend(faults(file, &text));
    }
    if found.is_empty() { Ok(format!("{} files in plain words", files.len())) } else { Err(found.join("\n")) }
}

fn name(file: &str) -> Option<String> {
    let stem = Path::new(file).file_stem()?.to_str()?;
    NAMES.split_whitespace().any(|n| n == stem).then(|| format!("{file}: name it by the noun that it defines"))
}

/// Faults of one file, a line each.
fn faults(file: &str, text: &str) -> Vec<String> {
    let ending = Path::new(file).extension().and_then(|e| e.to_str()).unwrap_or_default();
    let mut found = Vec::new();
    let (mut inside, mut text_block) = (false, false);
    for (n, line) in text.lines().enumerate() {
        let doc = opening(ending, line, &mut inside);
        if let Some(word) = doc.and_then(|d| OPENINGS.into_iter().find(|o| begins(d, o))) {
            found.push(format!("{file}:{}: a doc comment begins with \"{word}\"; begin with a verb or a noun", n + 1));
        }
        let quotes = line.matches("\"\"\"").count();
        let prose = if text_block || quotes > 0 { line.replace("instead of before", "") } else { prose(ending, line) };
        text_block ^= ending == "py" && quotes % 2 == 1;
        let lists = if ending == "rs" || ending == "md" { &[PHRASES][..] } else { &[PHRASES, PUBLISHED] };
        for (phrases, plain) in lists.iter().copied().flatten() {
            let hits = phrases.iter().filter(|p| says(&prose, p));
            for phrase in hits.filter(|p| !ALLOWED.iter().any(|(f, allowed, _)| *f == file && allowed == *p)) {
                found.push(format!("{file}:{}: \"{phrase}\": {plain}", n + 1));
            }
        }
        if bytes_without_plural(line) {
            found.push(format!("{file}:{}: write \"1500 bytes\", or \"a 1500-byte packet\"", n + 1));
        }
    }
    found
}

/// The first line of a doc comment, if this line is one. `inside` is kept from line to line.
fn opening<'a>(ending: &str, line: &'a str, inside: &mut bool) -> Option<&'a str> {
    let line = line.trim_start();
    match ending {
        "rs" => {
            let doc = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
            let first = doc.filter(|_| !*inside);
            // Paragraphs behind an empty line may begin as they like.
            *inside = doc.is_some();
            first.map(str::trim_start)
        }
        "py" | "pyi" => line.trim_start_matches(['r', 'f']).strip_prefix("\"\"\"").or_else(|| line.strip_prefix("#: ")),
        "js" | "ts" => line.strip_prefix("/** "),
        _ => None,
    }
}

/// The part of a line that people read: of code comments and literals, else all of it.
fn prose(ending: &str, line: &str) -> String {
    let line = line.replace("instead of before", "");
    let mark = match ending {
        "rs" | "js" | "ts" => "//",
        "py" | "pyi" => "#",
        _ => return line,
    };
    let (code, comment) = line.find(mark).map_or((line.as_str(), ""), |at| line.split_at(at));
    let literals = code.split('"').skip(1).step_by(2);
    literals.chain([comment]).collect::<Vec<_>>().join("\n")
}

fn begins(text: &str, word: &str) -> bool {
    text.strip_prefix(word).is_some_and(|rest| rest.starts_with([' ', ',', '.']))
}

/// True if the line has this phrase as whole words, at the start of a sentence or inside one.
fn says(line: &str, phrase: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '.'));
    let bound = |at: usize, end: usize| {
        let after = &line[end..];
        // A full stop ends a sentence; before a letter it is part of a name.
        let after_is_part = match after.chars().next() {
            Some('.') => is_part(after.chars().nth(1)),
            c => is_part(c),
        };
        !is_part(line[..at].chars().next_back()) && !after_is_part
    };
    let capital = phrase[..1].to_ascii_uppercase() + &phrase[1..];
    [phrase, &capital].iter().any(|p| line.match_indices(*p).any(|(at, _)| bound(at, at + p.len())))
}

/// True for a number and "byte" without a hyphen or an s.
fn bytes_without_plural(line: &str) -> bool {
    line.match_indices(" byte").any(|(at, word)| {
        let number = line[..at].rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '_').next().unwrap_or_default();
        let follows = line[at + word.len()..].chars().next();
        let part_of_name = line[..at - number.len()].ends_with('-');
        !part_of_name
            && !number.is_empty()
            && number != "1"
            && number.chars().all(|c| c.is_ascii_digit())
            && !follows.is_some_and(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doc_comments_begin_with_a_verb_or_a_noun() {
        let rust = "/// What it does.\n///\n/// Of course.\nfn f() {}\n/// Returns that.\n//! Whether.\n";
        assert_eq!(faults("a.rs", rust).len(), 1, "{:?}", faults("a.rs", rust));
        assert_eq!(faults("a.rs", "x\n/// The same for y.\nfn g() {}\n\n/// As z.\n").len(), 2);
        assert_eq!(faults("a.py", "def f():\n    \"\"\"Whether it is.\"\"\"\n").len(), 1);
        assert!(faults("a.py", "def f():\n    \"\"\"Returns whether it is.\n\n    Of course.\n    \"\"\"\n").is_empty());
        assert_eq!(faults("a.js", "/** That. */\n").len(), 1);
    }

    #[test]
    fn phrases_are_whole_words() {
        assert!(says("// Once more.", "once more") && says("a toy.", "toy"));
        assert!(!says("renewed anews", "anew") && !says("tests/toys/x.rs", "toys") && !says("toy.py", "toy"));
        assert!(faults("a.rs", "for x in draws in 1..2 { beside() }").is_empty() && faults("a.rs", "f(\"beside\"); // anew").len() == 2);
        assert!(faults("a.py", "beside = f(x)\n").is_empty() && faults("a.py", "\"\"\"A\n\nbeside it.\n\"\"\"\n").len() == 1);
        assert!(faults("a.md", "A world.").is_empty() && faults("a.j2", "A world.").len() == 1);
        assert!(bytes_without_plural("of 1500 byte") && !bytes_without_plural("1500 bytes, a 40-byte header, 1 byte, P4 byte"));
    }

    #[test]
    fn files_are_named_by_nouns() {
        assert!(name("python/fairlane/reports/told.py").is_some() && name("crates/net/src/ring.rs").is_none());
    }
}
