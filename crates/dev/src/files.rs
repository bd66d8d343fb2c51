//! Rules for every file: short enough to read in one sitting, and part of the build.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Lines of a file at most.
const LINES: usize = 500;

/// Files that `cargo dev gen` or a tool of the language writes.
const GENERATED: [&str; 3] = ["python/fairlane/_params.py", "python/fairlane/settings.py", "Cargo.lock"];

/// Tables of data, which are looked up and not read.
const DATA: [&str; 1] = ["python/fairlane/base/glossary.toml"];

/// Endings of files that people read as code.
const CODE: [&str; 10] = ["rs", "py", "pyi", "h", "j2", "css", "js", "sh", "tcl", "toml"];

/// Checks all files that git knows.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let files = tracked(root, &CODE)?;
    let mut found = Vec::new();
    for file in &files {
        let Ok(text) = fs::read_to_string(root.join(file)) else { continue };
        found.extend(too_long(file, &text));
        found.extend(left_out(root, file));
    }
    if found.is_empty() {
        Ok(format!("{} files of code: none too long, none left out of the build", files.len()))
    } else {
        Err(found.join("\n"))
    }
}

/// Files with these endings, as paths from the root: those git tracks or could track. An error outside of a checkout.
pub(crate) fn tracked(root: &Path, endings: &[&str]) -> Result<Vec<String>, String> {
    let listed = Command::new("git").arg("-C").arg(root).args(["ls-files", "-zco", "--exclude-standard"]).output();
    let listed = listed.map_err(|e| format!("git: {e}"))?;
    if !listed.status.success() {
        return Err(format!("git: {}", String::from_utf8_lossy(&listed.stderr).trim()));
    }
    let code = |f: &&str| Path::new(f).extension().is_some_and(|e| endings.iter().any(|c| *c == e));
    Ok(String::from_utf8_lossy(&listed.stdout).split_terminator('\0').filter(code).map(str::to_owned).collect())
}

fn too_long(file: &str, text: &str) -> Option<String> {
    let lines = text.lines().count();
    let free = GENERATED.contains(&file) || DATA.contains(&file) || lines <= LINES;
    (!free).then(|| format!("{file}: {lines} lines; more than {LINES} are not read in one sitting"))
}

/// A Rust file that no other file makes a module, so that the compiler never sees it.
fn left_out(root: &Path, file: &str) -> Option<String> {
    let path = Path::new(file);
    let (stem, folder) = (path.file_stem()?.to_str()?, path.parent()?);
    let home: PathBuf = path.components().take(2).collect();
    if path.extension()? != "rs"
        || !file.starts_with("crates/")
        || matches!(stem, "lib" | "main" | "build")
        || is_program(root, &home, path)
    {
        return None;
    }
    let (name, folder) = if stem == "mod" { (folder.file_name()?.to_str()?, folder.parent()?) } else { (stem, folder) };
    // The module that its folder is may name it in a list that a macro reads; any other file of the crate only as a module.
    let owners = ["lib.rs", "main.rs", "mod.rs", "all.rs"].map(|f| root.join(folder).join(f));
    let owners =
        owners.iter().chain([&root.join(folder).with_extension("rs")]).any(|o| fs::read_to_string(o).is_ok_and(|t| says(&t, name)));
    let named = owners || sources(&root.join(home)).iter().any(|text| declares(text, name));
    (!named).then(|| format!("{file}: no module of {} is called `{name}`; add its line", folder.display()))
}

/// True if a file of tests is a program: named in the manifest, or found by cargo.
fn is_program(root: &Path, home: &Path, file: &Path) -> bool {
    let manifest = fs::read_to_string(root.join(home).join("Cargo.toml")).unwrap_or_default();
    let own = file.strip_prefix(home).unwrap_or(file);
    let found = own.parent() == Some(Path::new("tests")) && !manifest.contains("autotests = false");
    found || manifest.contains(&format!("path = \"{}\"", own.display()))
}

/// The text of every Rust file below a folder.
fn sources(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path());
    entries
        .flat_map(|p| match p.extension() {
            Some(e) if e == "rs" => fs::read_to_string(&p).into_iter().collect(),
            None => sources(&p),
            Some(_) => Vec::new(),
        })
        .collect()
}

/// Lines of code, without comments.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(|l| l.split("//").next().unwrap_or_default())
}

/// True if a file makes this a module, by its name or by its path.
fn declares(text: &str, name: &str) -> bool {
    let (module, path, in_folder) = (format!("mod {name};"), format!("\"{name}.rs\"]"), format!("/{name}.rs\"]"));
    code(text).any(|l| l.ends_with(&module) || l.contains("#[path") && (l.contains(&path) || l.contains(&in_folder)))
}

/// True if the code has this word.
fn says(text: &str, word: &str) -> bool {
    code(text).any(|l| l.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == word))
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
        assert!(says("mod red;\n", "red") && says("laws! { blue, red }", "red"));
        assert!(!says("// red decides\nmod reds; // red", "red"));
        assert!(declares("#[path = \"../law/red_tests.rs\"]\nmod tests;", "red_tests") && declares("pub(crate) mod red;", "red"));
        assert!(!declares("// mod red;\nuse red;", "red"));
    }

    #[test]
    fn a_file_that_no_module_names_is_found() {
        let root = std::env::temp_dir().join(format!("fairlane-dev-{}", std::process::id()));
        let law = root.join("crates/toy/src/law");
        fs::create_dir_all(&law).unwrap();
        fs::create_dir_all(root.join("crates/toy/tests")).unwrap();
        fs::write(root.join("crates/toy/Cargo.toml"), "autotests = false\n[[test]]\npath = \"tests/all.rs\"\n").unwrap();
        fs::write(law.join("mod.rs"), "laws! { red }\n").unwrap();
        let found = |file: &str| left_out(&root, file);
        assert_eq!(found("crates/toy/src/law/red.rs"), None);
        assert!(found("crates/toy/src/law/mine.rs").unwrap().contains("no module of crates/toy/src/law is called `mine`"));
        assert!(found("crates/toy/src/law/mod.rs").is_some(), "no lib.rs names `law`");
        fs::write(root.join("crates/toy/src/lib.rs"), "pub mod law;\n").unwrap();
        assert_eq!(found("crates/toy/src/law/mod.rs"), None);
        assert_eq!(found("crates/toy/tests/all.rs"), None);
        assert!(found("crates/toy/tests/forgotten.rs").is_some());
        fs::remove_dir_all(&root).unwrap();
    }
}
