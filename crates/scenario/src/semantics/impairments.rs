//! Checks that impairments and rate changes of a link are consistent.

use super::Semantics;
use crate::code::Code;
use crate::diag::Span;
use crate::expand::LinkDir;
use crate::source::{Node, Value};
use crate::spec::Wire;
use fairlane_net::{Finding, Profile, Value as Profiled};
use fairlane_units::DataFile;
use std::sync::Arc;

impl Semantics<'_> {
    /// Reports tables with two settings for the rate, between which no layer decides.
    pub(super) fn two_rates(&mut self) {
        let mut found = Vec::new();
        for section in ["topology", "links"] {
            if let Some(node) = self.root.get(section) {
                walk(node, &mut vec![section.to_owned()], &mut found);
            }
        }
        for (path, span, what, help) in found {
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            self.fail_at(Code::TwoRates, span, &path, what, help);
        }
    }

    /// Checks rates, losses and delays of each direction.
    pub(super) fn wires(&mut self, links: &[LinkDir], builder: Option<&str>) {
        let mut before: Option<&LinkDir> = None;
        // Links of a builder share their parameters.
        let mut sound: Option<&Arc<Wire>> = None;
        for l in links {
            if sound.is_some_and(|s| Arc::ptr_eq(s, &l.wire)) {
                before = Some(l);
                continue;
            }
            let (name, direction) = match l.name.strip_suffix(".reverse") {
                Some(name) if before.is_some_and(|b| b.name == name) => (name, "reverse"),
                _ => (l.name.as_str(), ""),
            };
            let last = before.replace(l);
            // An unspecified direction would only repeat the findings of the other one.
            if direction == "reverse" && last.is_some_and(|b| findings(&b.wire) == findings(&l.wire)) {
                continue;
            }
            let found = findings(&l.wire);
            if found.is_empty() {
                sound = Some(&l.wire);
            }
            for Finding { key, message, help } in found {
                let mut path = vec!["links", name, direction, key];
                path.retain(|p| !p.is_empty());
                let own = self.root.get("links").and_then(|t| t.get(name)).and_then(|t| place_of(t, key));
                let made = || builder.and_then(|b| place_of(self.root.get("topology")?.get(b)?, key));
                match own {
                    Some(span) => self.fail_at(Code::WireUnfit, span, &path, message, help),
                    None => self.fail_made(Code::WireUnfit, made().unwrap_or_else(|| self.root.place(&path)), &path, message, help),
                }
            }
        }
    }
}

/// Path, place, message and help of two settings for one value.
type Two = (Vec<String>, Span, &'static str, &'static str);

/// Returns true if a profile, as it was read, has one of these values and the scenario does not leave it out.
fn profile_has(profile: &Node, values: &[Profiled], switch: &str) -> bool {
    let Value::Table(t) = &profile.value else { return false };
    let Some(Value::Str(data)) = t.get("file").map(|e| &e.node.value) else { return false };
    let Ok(list) = DataFile::parse_inline(data) else { return false };
    let profile = Profile::new(list.into());
    t.get(switch).is_none_or(|e| e.node.value != Value::Bool(false)) && values.iter().any(|&v| profile.has(v))
}

fn walk(node: &Node, path: &mut Vec<String>, found: &mut Vec<Two>) {
    let Value::Table(t) = &node.value else { return };
    let written = |key: &str| t.get(key).filter(|e| e.node.value != Value::Null);
    let mut both = |key: &str, span: Span, what, help| found.push(([&path[..], &[key.to_owned()]].concat(), span, what, help));
    if let (Some(_), Some(trace)) = (written("rate"), written("trace")) {
        let help = "write one of them; --set LINK.trace=none removes an inherited one";
        both("trace", trace.key, "a link has either a rate or a trace, not both", help);
    }
    if let Some(profile) = written("profile") {
        let has = |values: &[Profiled], switch| profile_has(&profile.node, values, switch);
        if ["rate", "trace", "rates"].iter().any(|key| written(key).is_some()) && has(&[Profiled::Rate, Profiled::Upload], "rates") {
            let help = "remove the rate of the link, or write profile = { file = ..., rates = false }";
            both("profile", profile.key, "the profile has rates, and the link has a rate, too", help);
        }
        if written("delay").is_some() && has(&[Profiled::Delay], "delays") {
            let help = "remove the delay of the link, or write profile = { file = ..., delays = false }";
            both("profile", profile.key, "the profile has delays, and the link has a delay, too", help);
        }
    }
    for (key, entry) in t {
        path.push(key.clone());
        walk(&entry.node, path, found);
        path.pop();
    }
}

/// Place where a key was written, in this table or below.
fn place_of(node: &Node, key: &str) -> Option<Span> {
    let Value::Table(t) = &node.value else { return None };
    t.get(key).map(|e| e.node.span).or_else(|| t.values().find_map(|e| place_of(&e.node, key)))
}

/// Problems of a direction.
pub(crate) fn findings(w: &Wire) -> Vec<Finding> {
    let mut found = Vec::new();
    let profiled = w.impairments.profile.as_ref().is_some_and(|p| p.has_rates());
    if profiled && !w.rates.is_empty() {
        let message = "`rates` changes a rate, and this link has that of a profile".to_owned();
        found.push(Finding { key: "rates", message, help: "leave one of them out".to_owned() });
    } else if w.trace.is_some() && !w.rates.is_empty() {
        let message = "`rates` changes a rate, and this link has a trace".to_owned();
        found.push(Finding { key: "rates", message, help: "leave one of them out".to_owned() });
    } else if let Some(i) = w.rates.windows(2).position(|s| s[1].at <= s[0].at) {
        let message = format!("change {} at {} does not come after the one at {}", i + 2, w.rates[i + 1].at, w.rates[i].at);
        found.push(Finding { key: "rates", message, help: "list the changes in order of time".to_owned() });
    }
    let span = |i: usize| (w.down[i].at, w.down[i].until);
    if let Some(i) = (0..w.down.len()).find(|&i| span(i).1.is_some_and(|until| until <= span(i).0)) {
        let message = format!("the link is down at {} and repaired at {}, which is not later", span(i).0, span(i).1.unwrap_or_default());
        found.push(Finding { key: "down", message, help: "`until` is a time of the run, counted from its start".to_owned() });
    } else if let Some(i) = (1..w.down.len()).find(|&i| span(i - 1).1.is_none_or(|until| span(i).0 < until)) {
        let before = span(i - 1).1.map_or("which never ends".to_owned(), |until| format!("which ends at {until}"));
        let message = format!("failure {} at {} does not come after the previous one, {before}", i + 1, span(i).0);
        found.push(Finding { key: "down", message, help: "list the failures in order of time".to_owned() });
    }
    found.extend(w.impairments.findings(w.delay));
    found
}
