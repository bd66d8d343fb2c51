//! Completeness of the lists of algorithms: every file in this folder is in them.

use std::path::Path;

fn read(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cc").join(name)).unwrap()
}

/// Each file and folder here is a module, and each one with an [`Algorithm`](super::Algorithm) has a line in `registry.rs`.
#[test]
fn every_algorithm_here_has_its_module_and_its_line() {
    let (modules, lines) = (read("mod.rs"), read("registry.rs"));
    let mut algorithms = 0;
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cc")).unwrap() {
        let (path, file) = (entry.as_ref().unwrap().path(), entry.unwrap().file_name().into_string().unwrap());
        let name = file.trim_end_matches(".rs");
        if name == "mod" || name.ends_with("_tests") {
            continue;
        }
        assert!(modules.contains(&format!("mod {name};")), "cc/{file}: add `pub mod {name};` to cc/mod.rs");
        let text = std::fs::read_to_string(if path.is_dir() { path.join("mod.rs") } else { path }).unwrap();
        let params = text.lines().filter_map(|l| l.strip_prefix("impl Algorithm for ")?.strip_suffix(" {"));
        for params in params {
            algorithms += 1;
            assert!(lines.contains(&format!("{name}::{params},")), "cc/{file}: add a line with {name}::{params} to cc/registry.rs");
        }
    }
    assert!(algorithms >= 16, "only {algorithms} were found");
}

/// The enums hand on each method of the trait: one that has a default would else be silently lost.
#[test]
fn every_method_is_handed_on() {
    let (text, forward) = (read("control.rs"), read("enum_dispatch.rs"));
    let of_trait = text.split_once("pub trait CongestionControl: Send {").unwrap().1.split_once("\n}\n").unwrap().0;
    let methods: Vec<&str> = of_trait.lines().filter_map(|l| l.strip_prefix("    fn ")?.split('(').next()).collect();
    assert!(methods.len() > 20, "{methods:?}");
    for method in methods.into_iter().filter(|m| *m != "on_ack_with") {
        assert!(forward.contains(&format!("fn {method}(")), "cc/enum_dispatch.rs: hand on `{method}`");
    }
}
