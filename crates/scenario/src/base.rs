//! A scenario that is read and checked once, and resolved many times with other values.
//!
//! Values of links and flows are changed in place: only the changed links and flows are checked, read and completed again. Other changes,
//! and errors, take the way of a single resolution, so that both give the same scenario and the same messages.

use crate::changes;
use crate::check::Checker;
use crate::code::Code;
use crate::diag::{Diagnostics, Sources, suggest};
use crate::resolve::{DERIVED, unreadable};
use crate::resolved::Resolved;
use crate::schema;
use crate::semantics::{self, Known};
use crate::source::{self, Entry, Format, Names, Node, Value, join, split};
use crate::spec::Scenario;
use std::sync::Arc;

/// The text of a scenario as a checked tree, in which values are set by path.
#[derive(Clone, Debug)]
pub struct Base {
    filename: String,
    sources: Sources,
    /// Values with shorthands written out.
    root: Arc<Node>,
    /// Findings in the text as a whole; empty for a scenario that needs no other values.
    alone: Diagnostics,
    /// Findings that other values do not remove.
    found: Diagnostics,
    /// Values that are set before any others.
    given: Vec<(String, String)>,
    /// The scenario with these values, if it is prepared.
    ready: Option<Arc<Ready>>,
}

/// A scenario, and the tree that it was read from; flows may be missing in the tree.
#[derive(Debug)]
struct Ready {
    sources: Sources,
    root: Node,
    known: Known,
}

/// Sections whose entries are changed in place.
const SECTIONS: [&str; 2] = ["links", "flows"];

impl Base {
    /// Reads a text.
    ///
    /// # Errors
    /// The syntax is wrong. Other errors are findings of [`Self::resolved`].
    pub fn new(text: &str, filename: &str, format: Format) -> Result<Self, Diagnostics> {
        let read = || {
            let mut sources = Sources::default();
            let mut root = source::read(&mut sources, text, filename, format)?;
            if let (Value::Table(t), Format::Json) = (&mut root.value, format) {
                for key in DERIVED {
                    t.shift_remove(key);
                }
            }
            Ok((sources, root))
        };
        let (sources, mut root) = read()?;
        let alone = Checker::new(schema::top(), &sources, false).run(&mut root);
        let mut found = Diagnostics::default();
        if !alone.is_empty() {
            // Required keys may come from other values.
            root = read()?.1;
            found = Checker::new(schema::top(), &sources, true).run(&mut root);
        }
        Ok(Self { filename: filename.to_owned(), sources, root: Arc::new(root), alone, found, given: Vec::new(), ready: None })
    }

    /// Sets values for good, resolves the scenario, and keeps it for faster resolutions with further values.
    ///
    /// # Errors
    /// All that is wrong with the text and the values; further values may remove it.
    pub fn prepare(&mut self, given: &[(String, String)]) -> Result<Arc<Resolved>, Diagnostics> {
        given.clone_into(&mut self.given);
        self.ready = None;
        let (sources, root) = self.layered(&[])?;
        let done = Arc::new(self.completed(&root, &sources)?);
        if let Ok(raw) = serde_json::from_value(root.to_json()) {
            self.ready = Some(Arc::new(Ready { sources, root, known: Known::new(raw, done.clone()) }));
        }
        Ok(done)
    }

    /// Resolves the scenario with other values: (path, value) pairs, set in order.
    ///
    /// # Errors
    /// All that is wrong with the text and the values.
    pub fn resolved(&self, sets: &[(String, String)]) -> Result<Resolved, Diagnostics> {
        if let Some(resolved) = self.in_place(sets) {
            return Ok(resolved);
        }
        let (sources, root) = self.layered(sets)?;
        self.completed(&root, &sources)
    }

    /// Returns the checked tree with other values.
    fn layered(&self, sets: &[(String, String)]) -> Result<(Sources, Node), Diagnostics> {
        let (mut sources, mut root) = (self.sources.clone(), Node::clone(&self.root));
        let mut found = self.alone.clone();
        if !(sets.is_empty() && self.given.is_empty()) {
            found.clone_from(&self.found);
            for (path, value) in self.given.iter().chain(sets) {
                match source::overlay(&mut sources, path, value) {
                    Ok(mut layer) => {
                        let wrong = Checker::new(schema::top(), &sources, true).run(&mut layer);
                        if wrong.is_empty() {
                            root.merge(layer, Names::Sections);
                        }
                        found.absorb(wrong);
                    }
                    Err(wrong) => found.absorb(wrong),
                }
            }
            unknown_flows(&mut root, &sources, &mut found);
            // All layers together, including keys that no layer supplies.
            found.absorb(Checker::new(schema::top(), &sources, false).run(&mut root));
        }
        if found.is_empty() {
            return Ok((sources, root));
        }
        found.sort();
        Err(found)
    }

    /// Completes a checked tree.
    fn completed(&self, root: &Node, sources: &Sources) -> Result<Resolved, Diagnostics> {
        let scenario = serde_json::from_value::<Scenario>(root.to_json()).map_err(|e| unreadable(&self.filename, &e))?;
        semantics::complete(scenario, root, sources).and_then(|r| changes::add_states(r, root, sources)).map_err(|mut found| {
            found.sort();
            found
        })
    }

    /// Resolves the scenario with other values of links and flows. None if the scenario is not prepared, other values are set, or something is wrong.
    fn in_place(&self, sets: &[(String, String)]) -> Option<Resolved> {
        let Ready { sources, root, known } = self.ready.as_deref()?;
        let mut changed: Vec<[String; 2]> = Vec::new();
        for (path, _) in sets {
            let mut keys = split(path)?.into_iter().map(|key| key.0);
            let (section, name) = (keys.next()?, keys.next()?);
            let is_whole = keys.next().is_none();
            // A flow that is not there is an error.
            let is_open = SECTIONS.contains(&section.as_str()) && (section == "links" || known.raw.flows.contains_key(&name));
            let place = [section, name];
            if is_whole || !is_open {
                return None;
            } else if !changed.contains(&place) {
                changed.push(place);
            }
        }
        let (mut sources, mut root, mut scenario) = (sources.clone(), without_flows(root, &changed), known.raw.clone());
        for (path, value) in sets {
            let mut layer = source::overlay(&mut sources, path, value).ok()?;
            if !Checker::new(schema::top(), &sources, true).run(&mut layer).is_empty() {
                return None;
            }
            root.merge(layer, Names::Sections);
        }
        for [section, name] in changed {
            let path = [section.as_str(), name.as_str()];
            if !Checker::new(schema::top(), &sources, false).run_at(&mut root, &path).is_empty() {
                return None;
            }
            let own = root.get_mut(&path)?.to_json();
            if section == "links" {
                scenario.links.insert(name, serde_json::from_value(own).ok()?);
            } else {
                scenario.flows.insert(name, serde_json::from_value(own).ok()?);
            }
        }
        let resolved = semantics::complete_like(Some(known), scenario, &root, &sources).ok()?;
        changes::add_states(resolved, &root, &sources).ok()
    }
}

/// Copies what the checks of a correct scenario read in the tree: links and topology, and the flows that change. All else gives places of errors only.
fn without_flows(root: &Node, changed: &[[String; 2]]) -> Node {
    let Value::Table(sections) = &root.value else { return root.clone() };
    let copied = sections.iter().filter_map(|(section, entry)| {
        let node = match section.as_str() {
            "links" | "topology" => entry.node.clone(),
            "flows" => {
                let Value::Table(flows) = &entry.node.value else { return None };
                let own = flows.iter().filter(|(name, _)| changed.iter().any(|[section, flow]| section == "flows" && flow == *name));
                Node { value: Value::Table(own.map(|(name, flow)| (name.clone(), flow.clone())).collect()), span: entry.node.span }
            }
            _ => return None,
        };
        Some((section.clone(), Entry { key: entry.key, node }))
    });
    Node { value: Value::Table(copied.collect()), span: root.span }
}

/// Reports and removes flows that only options name and that have no ends: a misspelt name, and one error instead of one per missing key.
fn unknown_flows(root: &mut Node, sources: &Sources, found: &mut Diagnostics) {
    let Value::Table(sections) = &mut root.value else { return };
    let Some(Value::Table(flows)) = sections.get_mut("flows").map(|f| &mut f.node.value) else { return };
    let has_ends = |flow: &Node| ["from", "to", "pairs", "load"].iter().any(|key| flow.get(key).is_some());
    let is_unknown = |flow: &Entry| sources.is_option(flow.key) && !has_ends(&flow.node);
    let known: Vec<String> = flows.iter().filter(|(_, flow)| !is_unknown(flow)).map(|(name, _)| name.clone()).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    flows.retain(|name, flow| {
        let unknown = is_unknown(flow);
        if unknown {
            let path = join(["flows", name]);
            found.push(sources.diagnostic(
                Code::UnknownFlow,
                flow.key,
                &path,
                format!("unknown flow `{name}`"),
                suggest(name, &known, "flows"),
            ));
        }
        !unknown
    });
}
