//! What every file must be: short enough to read in one sitting, and part of the build.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Lines of a file at most.
const LINES: usize = 500;

/// Files that `cargo dev gen` or a tool of the language writes.
const GENERATED: [&str; 3] = ["python/fairlane/_params.py", "python/fairlane/settings.py", "Cargo.lock"];

/// Endings of files that people read as code.
const CODE: [&str; 10] = ["rs", "py", "pyi", "h", "j2", "css", "js", "sh", "tcl", "toml"];

/// Checks all files that git knows.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let files = tracked(root)?;
    let mut found = Vec::new();
    for file in &files {
        let Ok(text) = fs::read_to_string(root.join(file)) else { continue };
        found.extend(too_long(file, &text));
        found.extend(left_out(root, file, &text));
    }
    if found.is_empty() { Ok(format!("{} files of code, all read and built", files.len())) } else { Err(found.join("\n")) }
}

/// Files of code, as paths from the root: those git tracks or could track; outside of a checkout nothing is known of them.
fn tracked(root: &Path) -> Result<Vec<String>, String> {
    let listed = Command::new("git").arg("-C").arg(root).args(["ls-files", "-co", "--exclude-standard"]).output();
    let listed = listed.map_err(|e| format!("git: {e}"))?;
    let code = |f: &&str| Path::new(f).extension().is_some_and(|e| CODE.iter().any(|c| *c == e));
    Ok(String::from_utf8_lossy(&listed.stdout).lines().filter(code).map(str::to_owned).collect())
}

fn too_long(file: &str, text: &str) -> Option<String> {
    let lines = text.lines().count();
    let free = GENERATED.contains(&file) || lines <= LINES;
    (!free).then(|| format!("{file}: {lines} lines; more than {LINES} are not read in one sitting"))
}

/// A Rust file that no other file makes a module, so that the compiler never sees it.
fn left_out(root: &Path, file: &str, text: &str) -> Option<String> {
    let path = Path::new(file);
    let (stem, folder) = (path.file_stem()?.to_str()?, path.parent()?);
    let in_crate = path.extension()? == "rs" && file.starts_with("crates/");
    if !in_crate || matches!(stem, "lib" | "main" | "build") || is_root_of_tests(folder, text) {
        return None;
    }
    // A file is named by the module that its folder is, or by another one of the folder through `#[path]`.
    let (name, folder) = if stem == "mod" { (folder.file_name()?.to_str()?, folder.parent()?) } else { (stem, folder) };
    let named = owners(root, folder).iter().any(|owner| fs::read_to_string(owner).is_ok_and(|text| names(&text, name)));
    (!named).then(|| format!("{file}: no module of {} is called `{name}`; add its line", folder.display()))
}

/// Tests of a crate are one program, `tests/all.rs`; a file that has to be a program of its own says so.
fn is_root_of_tests(folder: &Path, text: &str) -> bool {
    folder.ends_with("tests") && text.contains("//! A program of its own:")
}

/// The files that may name the modules of a folder.
fn owners(root: &Path, folder: &Path) -> Vec<PathBuf> {
    let dir = root.join(folder);
    let mut owners: Vec<PathBuf> = ["lib.rs", "main.rs", "mod.rs", "all.rs"].iter().map(|f| dir.join(f)).collect();
    owners.push(dir.with_extension("rs"));
    let beside = fs::read_dir(&dir).into_iter().flatten().flatten().map(|e| e.path());
    owners.extend(beside.filter(|p| fs::read_to_string(p).is_ok_and(|t| t.contains("#[path"))));
    owners
}

/// Whether the code says this word outside of comments, or has it as the file of a `#[path]`.
fn names(text: &str, word: &str) -> bool {
    let file = format!("{word}.rs\"]");
    let code = text.lines().map(str::trim_start).filter(|l| !l.starts_with("//"));
    code.flat_map(|l| l.split("//").next()).any(|l| l.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == word) || l.contains(&file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_file_is_named() {
        assert_eq!(too_long("a.rs", &"\n".repeat(LINES)), None);
        assert!(too_long("a.rs", &"\n".repeat(LINES + 1)).unwrap().starts_with("a.rs: 501 lines"));
        assert_eq!(too_long(GENERATED[0], &"\n".repeat(5000)), None);
    }

    #[test]
    fn a_module_is_named_by_code_alone() {
        assert!(names("mod red;\n", "red") && names("laws! { blue, red }", "red"));
        assert!(names("#[path = \"red_tests.rs\"]\nmod tests;", "red_tests"));
        assert!(!names("// red decides\nmod reds; // red", "red"));
    }

    #[test]
    fn a_file_that_no_module_names_is_found() {
        let root = std::env::temp_dir().join(format!("fairlane-dev-{}", std::process::id()));
        let law = root.join("crates/toy/src/law");
        fs::create_dir_all(&law).unwrap();
        fs::write(law.join("mod.rs"), "mod red;\n").unwrap();
        let found = |file: &str| left_out(&root, file, "");
        assert_eq!(found("crates/toy/src/law/red.rs"), None);
        assert!(found("crates/toy/src/law/mine.rs").unwrap().contains("no module of crates/toy/src/law is called `mine`"));
        assert!(found("crates/toy/src/law/mod.rs").is_some(), "no lib.rs names `law`");
        fs::write(root.join("crates/toy/src/lib.rs"), "pub mod law;\n").unwrap();
        assert_eq!(found("crates/toy/src/law/mod.rs"), None);
        fs::remove_dir_all(&root).unwrap();
    }
}
