//! The crate graph: who may depend on whom, read from the manifests.

use std::fs;
use std::path::Path;
use toml::de::{DeTable, DeValue};

/// Layers from the bottom up. A crate may depend on crates of lower layers; those of one layer do not know one another.
const LAYERS: [&[&str]; 8] = [
    &["units"],
    &["engine"],
    &["wireless"],
    &["net"],
    &["queue", "tcp", "traffic", "trace", "stacks"],
    &["scenario"],
    &["cabi", "dev"],
    &["py"],
];

/// For tests only: may depend on all but scenario and what is above, and only tests may depend on it.
const TESTKIT: &str = "testkit";

fn layer(name: &str) -> Option<usize> {
    LAYERS.iter().position(|l| l.contains(&name))
}

/// Our crates in one section of a manifest.
fn ours(manifest: &DeTable<'_>, section: &str) -> Vec<String> {
    let Some(DeValue::Table(t)) = manifest.get(section).map(|s| s.get_ref()) else { return Vec::new() };
    t.iter().filter_map(|(k, _)| k.get_ref().strip_prefix("fairlane-").map(str::to_owned)).collect()
}

/// Returns the faults in the dependencies of one crate.
fn faults(name: &str, normal: &[String], dev: &[String]) -> Vec<String> {
    let mut faults = Vec::new();
    let above = if name == TESTKIT { layer("scenario") } else { layer(name) };
    let Some(own) = above else { return vec![format!("{name}: not in the crate graph; add it to its layer")] };
    for (d, tests) in normal.iter().map(|d| (d, false)).chain(dev.iter().map(|d| (d, true))) {
        let fits = match layer(d) {
            _ if d == TESTKIT => tests,
            Some(below) => below < own,
            None => false,
        };
        if !fits {
            faults.push(format!("{name} must not depend on {d}{}", if tests { " in its tests" } else { "" }));
        }
    }
    faults
}

/// Reads every manifest under `crates/`.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let mut dirs: Vec<_> = fs::read_dir(root.join("crates")).map_err(|e| format!("crates: {e}"))?.flatten().map(|d| d.path()).collect();
    dirs.sort();
    let (mut found, mut crates, mut arrows) = (Vec::new(), 0, 0);
    for dir in dirs {
        let Ok(text) = fs::read_to_string(dir.join("Cargo.toml")) else { continue };
        let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let manifest = DeTable::parse(&text).map_err(|e| format!("{name}/Cargo.toml: {}", e.message()))?;
        let (mut normal, dev) = (ours(manifest.get_ref(), "dependencies"), ours(manifest.get_ref(), "dev-dependencies"));
        normal.extend(ours(manifest.get_ref(), "build-dependencies"));
        found.extend(faults(&name, &normal, &dev));
        crates += 1;
        arrows += normal.len();
    }
    if found.is_empty() { Ok(format!("{crates} crates, {arrows} arrows, all downwards")) } else { Err(found.join("\n")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|s| (*s).to_owned()).collect()
    }

    #[test]
    fn arrows_lead_down() {
        assert!(faults("tcp", &names(&["net", "engine", "units"]), &names(&["testkit"])).is_empty());
        assert_eq!(faults("tcp", &names(&["queue"]), &[]), ["tcp must not depend on queue"]);
        assert_eq!(faults("net", &names(&["tcp", "testkit"]), &[]).len(), 2);
        assert_eq!(faults("tcp", &[], &names(&["scenario"])), ["tcp must not depend on scenario in its tests"]);
        assert!(faults("testkit", &names(&["net", "tcp"]), &[]).is_empty());
        assert_eq!(faults("extra", &[], &[]).len(), 1);
    }
}
