//! Imports of a crate, read from its text: every path that begins with `crate`, `self` or `super`, through re-exports to the file that
//! defines the item.

use super::graph::Graph;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Imports of one file.
#[derive(Default)]
struct Module {
    /// Paths named anywhere in it.
    named: Vec<Vec<String>>,
    /// Items re-exported under a name.
    exports: BTreeMap<String, Vec<String>>,
    /// Modules re-exported whole.
    globs: Vec<Vec<String>>,
    /// Words of the code, to find in which of several re-exported modules an item is defined.
    defined: BTreeSet<String>,
}

type Modules = BTreeMap<Vec<String>, Module>;

/// The import graph of a crate, from the files of its `src` folder; tests are left out.
pub(super) fn graph(files: &[(PathBuf, String)]) -> Graph {
    let sources: Vec<_> = files.iter().filter(|(p, _)| !is_test(p)).map(|(p, t)| (module_path(p), code(t))).collect();
    let names: BTreeSet<Vec<String>> = sources.iter().map(|(p, _)| p.clone()).collect();
    let modules: Modules = sources.iter().map(|(path, text)| (path.clone(), read(path, text, &names))).collect();
    let imports = modules.iter().map(|(path, m)| {
        let to = m.named.iter().map(|p| resolve(&modules, p, 0)).filter(|to| to != path).collect();
        (path.clone(), to)
    });
    Graph::new(imports.collect())
}

fn is_test(path: &Path) -> bool {
    path.iter().any(|part| part == "tests" || part == "tests.rs" || part.to_string_lossy().ends_with("_tests.rs"))
}

fn module_path(file: &Path) -> Vec<String> {
    let mut parts: Vec<String> = file.with_extension("").iter().map(|p| p.to_string_lossy().into_owned()).collect();
    if matches!(parts.last().map(String::as_str), Some("lib" | "main" | "mod")) {
        parts.pop();
    }
    parts
}

/// Code without comments, literals and its module of tests.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '/' if rest.peek() == Some(&'/') => while rest.next_if(|c| *c != '\n').is_some() {},
            '"' => {
                while let Some(c) = rest.next() {
                    match c {
                        '\\' => drop(rest.next()),
                        '"' => break,
                        _ => {}
                    }
                }
                out.push_str("\"\"");
            }
            '\'' => {
                out.push(c);
                // An escape, or a quotation mark as a character; the other characters do no harm.
                if rest.next_if_eq(&'\\').is_some() || rest.peek() == Some(&'"') {
                    rest.next();
                }
            }
            _ => out.push(c),
        }
    }
    out
}

/// Tokens: identifiers, `::`, and single signs.
fn tokens(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = code;
    while let Some(c) = rest.chars().next() {
        let long = if c.is_alphanumeric() || c == '_' {
            rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            c.len_utf8()
        };
        if !c.is_whitespace() {
            found.push(&rest[..long]);
        }
        rest = &rest[long..];
    }
    found
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// A path of a use tree: its parts, and the name that it gets.
type Leaf = (Vec<String>, String);

/// Reads a path or a tree of paths from its first name on; returns where it ends.
fn tree(tokens: &[&str], mut at: usize, before: &[String], leaves: &mut Vec<Leaf>) -> usize {
    let mut path = before.to_vec();
    while let Some(token) = tokens.get(at) {
        match *token {
            "{" => {
                at += 1;
                while tokens.get(at).is_some_and(|t| *t != "}") {
                    at = tree(tokens, at, &path, leaves);
                    at += usize::from(tokens.get(at) == Some(&","));
                }
                return at + 1;
            }
            "*" => {
                leaves.push((path, "*".to_owned()));
                return at + 1;
            }
            name if is_name(name) => {
                if name != "self" || path.is_empty() {
                    path.push(name.to_owned());
                }
                at += 1;
                if tokens.get(at) == Some(&"::") && tokens.get(at + 1).is_some_and(|t| is_name(t) || matches!(*t, "{" | "*")) {
                    at += 1;
                    continue;
                }
                let mut bound = path.last().cloned().unwrap_or_default();
                if tokens.get(at) == Some(&"as") {
                    bound = tokens.get(at + 1).copied().unwrap_or_default().to_owned();
                    at += 2;
                }
                leaves.push((path, bound));
                return at;
            }
            _ => break,
        }
    }
    at + 1
}

/// A path from the root of the crate; none if it leads to another crate.
fn absolute(module: &[String], path: &[String], names: &BTreeSet<Vec<String>>) -> Option<Vec<String>> {
    let first = path.first()?;
    let mut base = module.to_vec();
    let mut rest = path;
    match first.as_str() {
        "crate" => {
            base.clear();
            rest = &rest[1..];
        }
        "self" => rest = &rest[1..],
        "super" => {
            while rest.first().is_some_and(|p| p == "super") {
                base.pop();
                rest = &rest[1..];
            }
        }
        child => {
            base.push(child.to_owned());
            if !names.contains(&base) {
                return None;
            }
            rest = &rest[1..];
        }
    }
    base.extend_from_slice(rest);
    Some(base)
}

fn read(path: &[String], code: &str, names: &BTreeSet<Vec<String>>) -> Module {
    let tokens = tokens(code);
    let mut module = Module::default();
    let mut public = false;
    let mut at = 0;
    while let Some(&token) = tokens.get(at) {
        let mut leaves = Vec::new();
        let used = token == "use";
        if used {
            at = tree(&tokens, at + 1, &[], &mut leaves);
        } else if matches!(token, "crate" | "self" | "super") && tokens.get(at + 1) == Some(&"::") {
            at = tree(&tokens, at, &[], &mut leaves);
        } else {
            if matches!(token, "struct" | "enum" | "trait" | "fn" | "type" | "const" | "static" | "mod" | "macro_rules") {
                let name = if tokens.get(at + 1) == Some(&"!") { at + 2 } else { at + 1 };
                module.defined.extend(tokens.get(name).map(|n| (*n).to_owned()));
            }
            public = token == "pub" || (public && matches!(token, "(" | ")" | "crate" | "super" | "in"));
            at += 1;
        }
        for (leaf, bound) in leaves {
            let Some(to) = absolute(path, &leaf, names) else { continue };
            match (used && public, bound.as_str()) {
                (true, "*") => module.globs.push(to.clone()),
                (true, _) => drop(module.exports.insert(bound, to.clone())),
                _ => {}
            }
            // A name that is only passed on makes no file depend on another one.
            if !(used && public) {
                module.named.push(to);
            }
        }
        public &= !used;
    }
    module
}

/// The file that defines an item: the deepest module on its path, through re-exports.
fn resolve(modules: &Modules, path: &[String], depth: usize) -> Vec<String> {
    let mut here: Vec<String> = Vec::new();
    for (i, name) in path.iter().enumerate() {
        let mut next = here.clone();
        next.push(name.clone());
        if modules.contains_key(&next) {
            here = next;
            continue;
        }
        let Some(module) = modules.get(&here).filter(|_| depth < 8) else { break };
        let passed_on = module.exports.get(name).filter(|to| to.as_slice() != path).cloned();
        let whole = || {
            let defines = |m: &&Vec<String>| {
                let m = modules.get(*m);
                m.is_some_and(|m| m.defined.contains(name) || m.exports.contains_key(name))
            };
            let glob = module.globs.iter().find(defines)?;
            Some(glob.iter().chain([name]).cloned().collect())
        };
        if !module.defined.contains(name)
            && let Some(mut to) = passed_on.or_else(whole)
        {
            to.extend_from_slice(&path[i + 1..]);
            return resolve(modules, &to, depth + 1);
        }
        break;
    }
    here
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crate_of(files: &[(&str, &str)]) -> Graph {
        graph(&files.iter().map(|(p, t)| (PathBuf::from(p), (*t).to_owned())).collect::<Vec<_>>())
    }

    fn arrows(g: &Graph) -> Vec<(String, String)> {
        let name = |m: usize| g.modules[m].join("/");
        g.edges.iter().enumerate().flat_map(|(from, to)| to.iter().map(move |t| (name(from), name(*t)))).collect()
    }

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
    }

    #[test]
    fn re_exports_lead_to_the_file_that_defines_an_item() {
        let g = crate_of(&[
            ("lib.rs", "mod a; mod b; mod c; pub use a::Thing; pub(crate) use c::*;"),
            ("a.rs", "pub struct Thing;"),
            ("b.rs", "use crate::{Thing, Other as O}; fn f() { super::a::g() }"),
            ("c/mod.rs", "pub mod d; pub use d::Other;"),
            ("c/d.rs", "pub struct Other;"),
        ]);
        assert_eq!(arrows(&g), pairs(&[("b", "a"), ("b", "c/d")]));
    }

    #[test]
    fn comments_literals_and_tests_import_nothing() {
        let g = crate_of(&[
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "// use crate::b::X;\nconst S: &str = \"crate::b::X\";\n#[cfg(test)]\nmod tests { use crate::b::X; }"),
            ("b.rs", "use super::a::{self, S}; const Q: char = '\"'; fn f() -> crate::a::T {}"),
            ("b_tests.rs", "use super::a;"),
        ]);
        assert_eq!(arrows(&g), pairs(&[("b", "a")]));
    }
}
