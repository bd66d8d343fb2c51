//! The generated parts of the model pages: parameters and presets of a queue, control or source, and the indexes of these pages.

use crate::pages::{NOTE, cell, table};
use crate::params::params;
use fairlane_scenario::{Listed, presets_listing, registry_listing};
use serde_json::{Map, Value};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// A kind of algorithm with a model page: its index, the title, and how a scenario names it.
struct Kind {
    kind: &'static str,
    index: &'static str,
    title: &'static str,
    about: &'static str,
    /// `NAME` stands for the algorithm.
    written: &'static str,
}

const KINDS: [Kind; 4] = [
    Kind {
        kind: "queue",
        index: "docs/reference/queues.md",
        title: "Queues",
        about: "Written as `queue = \"NAME\"` or `queue.NAME = { ... }` on a link.",
        written: "`queue = \"NAME\"` or `queue.NAME = { ... }` on a link",
    },
    Kind {
        kind: "cc",
        index: "docs/reference/congestion-control.md",
        title: "Congestion control",
        about: "Written as `tcp = \"NAME\"`, or `cc = \"NAME\"` or `cc.NAME = { ... }` in a flow's `tcp` table.",
        written: "`tcp = \"NAME\"`, or `cc.NAME = { ... }` in a flow's `tcp` table",
    },
    Kind {
        kind: "source",
        index: "docs/reference/sources.md",
        title: "Sources",
        about: "Written as `source = \"NAME\"` or `source.NAME = { ... }` in a flow group.",
        written: "`source = \"NAME\"` or `source.NAME = { ... }` in a flow group",
    },
    Kind {
        kind: "control",
        index: "docs/reference/controls.md",
        title: "Controls",
        about: "Written as `[control.NAME]` at the top of a scenario, or as a list `[[control.NAME]]` for different nodes or flows.",
        written: "`[control.NAME]` at the top of a scenario, or `[[control.NAME]]` for each of several",
    },
];

/// A model page: its path in the workspace, and its text.
struct Page {
    path: String,
    text: String,
}

/// Path and text of the indexes and of all model pages with a generated part.
pub(crate) fn pages(root: &Path) -> Vec<(String, String)> {
    let (models, all) = (models(root), registry_listing());
    let indexes = KINDS.iter().map(|kind| (kind.index.to_owned(), index(kind, &all, &models)));
    indexes.chain(models.iter().map(|page| (page.path.clone(), filled(&page.text, &all)))).collect()
}

/// All pages of docs/models, sorted by name.
fn models(root: &Path) -> Vec<Page> {
    let folder = "docs/models";
    let entries = fs::read_dir(root.join(folder)).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|e| e.file_name().into_string().ok()).filter(|n| n.ends_with(".md")).collect();
    names.sort();
    let page = |name: String| {
        let path = format!("{folder}/{name}");
        fs::read_to_string(root.join(&path)).ok().map(|text| Page { path, text })
    };
    names.into_iter().filter_map(page).collect()
}

fn begin(l: &Listed) -> String {
    format!("<!-- parameters {} -->\n", l.name)
}

fn end(l: &Listed) -> String {
    format!("<!-- /parameters {} -->", l.name)
}

/// Name, one sentence and link of every algorithm of a kind; the page of a new one may still be missing.
fn index(kind: &Kind, all: &[Listed], models: &[Page]) -> String {
    let mut text = format!("{NOTE}# {}\n\n{}\n", kind.title, kind.about);
    for l in all.iter().filter(|l| l.kind == kind.kind) {
        let _ = write!(text, "\n## `{}`\n\n{}\n", l.name, l.doc);
        if let Some(page) = models.iter().find(|page| page.text.contains(&begin(l))) {
            let _ = writeln!(text, "[Model and parameters](../{}#parameters)", page.path.trim_start_matches("docs/"));
        }
    }
    text
}

/// The page with what is between its marks written again.
fn filled(page: &str, all: &[Listed]) -> String {
    let mut text = page.to_owned();
    for l in all {
        let Some(kind) = KINDS.iter().find(|k| k.kind == l.kind) else { continue };
        let Some((before, rest)) = text.split_once(&begin(l)) else { continue };
        let Some((_, after)) = rest.split_once(&end(l)) else { continue };
        text = format!("{before}{}{}{}{after}", begin(l), part(kind, l), end(l));
    }
    text
}

fn part(kind: &Kind, l: &Listed) -> String {
    let mut text = format!("`{}`: {}", l.name, kind.written.replace("NAME", l.name));
    if !l.aliases.is_empty() {
        let names: Vec<String> = l.aliases.iter().map(|a| format!("`{a}`")).collect();
        let _ = write!(text, "; also named {}", names.join(", "));
    }
    text.push_str(".\n");
    table(&mut text, &params(&l.schema, &l.schema));
    let presets: Vec<_> = presets_listing().into_iter().filter(|p| (p.kind, p.algorithm) == (l.kind, l.name)).collect();
    if !presets.is_empty() {
        text.push_str("\n| preset | meaning | values |\n|---|---|---|\n");
    }
    for p in presets {
        let _ = writeln!(text, "| `{}` | {} | {} |", p.name, cell(&p.doc), cell(&values(&p.values)));
    }
    text
}

fn values(of: &Map<String, Value>) -> String {
    let value = |v: &Value| if v.is_null() { "unset".to_owned() } else { v.to_string() };
    of.iter().map(|(key, v)| format!("`{key} = {}`", value(v))).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_written_between_its_marks_alone() {
        let all = registry_listing();
        let page = "a\n<!-- parameters droptail -->\nold\n<!-- /parameters droptail -->\nb\n<!-- parameters none -->\n";
        let text = filled(page, &all);
        assert!(text.starts_with("a\n<!-- parameters droptail -->\n`droptail`: `queue = \"droptail\"`"), "{text}");
        assert!(text.ends_with("<!-- /parameters droptail -->\nb\n<!-- parameters none -->\n") && !text.contains("old"), "{text}");
        assert!(text.contains("| `limit` |") && text.contains("| `ns2` |"), "{text}");
        assert_eq!(filled(&text, &all), text);
        let models = [Page { path: "docs/models/droptail.md".to_owned(), text }];
        let index = index(&KINDS[0], &all, &models);
        assert_eq!(index.matches("[Model and parameters](../models/droptail.md#parameters)").count(), 1);
        assert!(index.contains("\n## `red`\n"));
    }
}
