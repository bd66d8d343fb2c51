//! Import cycles: files of one crate, or of the Python package, that import one another in a circle.

mod graph;
mod python;
mod rust;

use graph::Graph;
use std::fs;
use std::path::{Path, PathBuf};

/// Files in one import cycle at most. A parent module and its children may import one another freely.
const FILES: usize = 3;

/// Reads the imports of every crate and of the Python package.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let mut found = Vec::new();
    let (mut files, mut imports) = (0, 0);
    for (name, graph) in graphs(root)? {
        files += graph.modules.len();
        imports += graph.edges.iter().map(|e| e.len()).sum::<usize>();
        for cycle in graph.cycles(FILES) {
            found.push(format!("{name}: {} files import one another in a circle:\n{}", cycle.len(), graph.arrows(&cycle)));
        }
    }
    if found.is_empty() {
        Ok(format!("{files} files, {imports} imports, no cycle of more than {FILES} files"))
    } else {
        Err(found.join("\n"))
    }
}

/// The import graph of each crate, and of the Python package.
fn graphs(root: &Path) -> Result<Vec<(String, Graph)>, String> {
    let mut crates: Vec<_> = fs::read_dir(root.join("crates")).map_err(|e| format!("crates: {e}"))?.flatten().map(|d| d.path()).collect();
    crates.sort();
    let mut graphs = Vec::new();
    for folder in crates.into_iter().filter(|c| c.join("src").is_dir()) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        graphs.push((format!("crates/{name}"), rust::graph(&read(&folder.join("src"), "rs"))));
    }
    graphs.push(("python/fairlane".to_owned(), python::graph("fairlane", &read(&root.join("python/fairlane"), "py"))));
    Ok(graphs)
}

/// Files below a folder with this ending, each with its path from the folder, in order.
fn read(folder: &Path, ending: &str) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for path in fs::read_dir(next).into_iter().flatten().flatten().map(|e| e.path()) {
            // A link may lead out of the package.
            if path.is_symlink() {
                continue;
            }
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == ending)
                && let Ok(text) = fs::read_to_string(&path)
            {
                files.push((path.strip_prefix(folder).unwrap_or(&path).to_owned(), text));
            }
        }
    }
    files.sort();
    files
}
