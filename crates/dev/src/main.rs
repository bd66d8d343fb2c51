//! `cargo dev gen | check | arrows | cycles | files | words | perf`: generated files, the crate graph, import cycles, rules for files, one measured run.

mod arrows;
mod cycles;
mod files;
mod models;
mod names;
mod pages;
mod params;
mod perf;
mod python;
mod schema;
mod settings;
mod types;
mod words;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: cargo dev gen     write the generated files
       cargo dev check   fail if a generated file is not what gen would write
       cargo dev arrows  fail if a crate depends on one it must not know
       cargo dev cycles  fail if more than three files import one another in a circle
       cargo dev files   fail if a file is too long to read, or no part of the build
       cargo dev words   fail if a comment, a name or a page has a word with a plainer one
       cargo dev perf    run a scenario once and say what it cost";

/// The files that follow from the registry, with their text.
fn generated(root: &Path) -> Vec<(String, String)> {
    let mut schema = serde_json::to_string_pretty(fairlane_scenario::schema()).unwrap_or_default();
    schema.push('\n');
    let mut files = vec![
        ("docs/reference/schema.json".to_owned(), schema),
        ("python/fairlane/settings.py".to_owned(), settings::module()),
        ("python/fairlane/builders.py".to_owned(), settings::builders()),
    ];
    files.extend(python::modules());
    files.extend(pages::pages().into_iter().map(|(name, text)| (name.to_owned(), text)));
    files.into_iter().chain(models::pages(root)).collect()
}

fn write(root: &Path) -> Result<String, String> {
    let mut written = 0;
    let all = generated(root);
    for (name, text) in &all {
        let path = root.join(name);
        if fs::read_to_string(&path).is_ok_and(|old| old == *text) {
            continue;
        }
        let made = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, text));
        made.map_err(|e| format!("{name}: {e}"))?;
        written += 1;
    }
    Ok(format!("{written} of {} generated files changed", all.len()))
}

fn check(root: &Path) -> Result<String, String> {
    let all = generated(root);
    let stale: Vec<&str> =
        all.iter().filter(|(name, text)| fs::read_to_string(root.join(name)).ok().as_ref() != Some(text)).map(|f| f.0.as_str()).collect();
    if stale.is_empty() {
        Ok(format!("{} generated files are current", all.len()))
    } else {
        Err(format!("run `cargo dev gen`; stale: {}", stale.join(", ")))
    }
}

/// The workspace: two levels above this crate, which cargo names when it runs it.
fn root() -> PathBuf {
    std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from("."), |dir| Path::new(&dir).join("../.."))
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match args.first().map_or("", String::as_str) {
        "gen" => write(&root()),
        "check" => check(&root()),
        "arrows" => arrows::check(&root()),
        "cycles" => cycles::check(&root()),
        "files" => files::check(&root()),
        "words" => words::check(&root()),
        "perf" => perf::perf(&args[1..]),
        _ => Err(USAGE.to_owned()),
    };
    // A closed pipe is no reason to fail.
    match outcome {
        Ok(text) => {
            let _ = writeln!(std::io::stdout(), "{text}");
            ExitCode::SUCCESS
        }
        Err(text) => {
            let _ = writeln!(std::io::stderr(), "{text}");
            ExitCode::from(2)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_files_are_current() {
        check(&root()).unwrap();
    }

    #[test]
    fn every_file_is_short_and_built() {
        files::check(&root()).unwrap();
    }

    #[test]
    fn crates_know_only_what_is_below_them() {
        arrows::check(&root()).unwrap();
    }
}
