//! Checks that a change names existing links and flows, before its values are checked: a change adds nothing to a network.

use super::{MAY, Refused};
use crate::code::Code;
use crate::diag::{Diagnostics, Sources, suggest};
use crate::resolved::Resolved;
use crate::source::{Node, Value, overlay};

/// Sections that a change may name. Topologies and descriptions are compared with the earlier state; no other section may change.
const OPEN: [&str; 5] = ["links", "flows", "topology", "name", "description"];

/// Checks the names in all values of a change.
pub(super) fn check(state: &Resolved, sets: &[(String, String)]) -> Result<(), Diagnostics> {
    let (mut sources, mut found) = (Sources::default(), Diagnostics::default());
    for (path, value) in sets {
        match overlay(&mut sources, path, value) {
            Ok(layer) => top(state, &layer, &sources, &mut found),
            Err(wrong) => found.absorb(wrong),
        }
    }
    if found.is_empty() { Ok(()) } else { Err(found) }
}

fn top(state: &Resolved, layer: &Node, sources: &Sources, found: &mut Diagnostics) {
    let Value::Table(table) = &layer.value else { return };
    for (section, entry) in table {
        let known = crate::schema::top().pointer("/properties").is_some_and(|keys| keys.get(section).is_some());
        if known && !OPEN.contains(&section.as_str()) {
            let Refused { at, message, help } = Refused::never(section.as_str());
            found.push(sources.diagnostic(Code::ChangeUnfit, entry.key, &at, message, help));
        }
        let Value::Table(things) = &entry.node.value else { continue };
        for (name, thing) in things {
            let at = crate::source::join([section, name]);
            let wrong = match section.as_str() {
                "flows" => flow(state, name, &thing.node).map(|(m, h)| (Code::UnknownFlow, m, h)),
                "links" => link(state, name).map(|(m, h)| (Code::UnknownLink, m, h)),
                _ => None,
            };
            if let Some((code, message, help)) = wrong {
                found.push(sources.diagnostic(code, thing.key, &at, message, help));
            }
        }
    }
}

/// Returns the error and the help for the name of a flow.
fn flow(state: &Resolved, name: &str, values: &Node) -> Option<(String, String)> {
    let groups = &state.scenario.flows;
    let together = |group: &str| {
        let help = format!("write flows.{}, or give the flow a group of its own", crate::source::join([group]));
        (format!("the flows of `{group}` can only change together"), help)
    };
    if groups.contains_key(name) {
        // `flows.web.0.start`: one of the members.
        let Value::Table(keys) = &values.value else { return None };
        return keys.iter().any(|(key, _)| key.bytes().all(|b| b.is_ascii_digit())).then(|| together(name));
    }
    if let Some(group) = name.split(['.', '[']).next().filter(|g| groups.contains_key(*g)) {
        return Some(together(group));
    }
    let known: Vec<&str> = groups.keys().map(String::as_str).collect();
    Some((format!("unknown flow `{name}`"), suggest(name, &known, "flows")))
}

/// Returns the error and the help for the name of a link.
fn link(state: &Resolved, name: &str) -> Option<(String, String)> {
    let (directions, written) = (state.link_directions(), &state.scenario.links);
    let is_there = |name: &str| directions.iter().any(|l| l.name == name);
    if let Some(front) = name.strip_suffix(".reverse").filter(|f| is_there(f) && !written.contains_key(name)) {
        return Some((format!("unknown link `{name}`"), format!("write links.{front}.reverse, without quotes, for the other direction")));
    }
    if is_there(name) {
        return None;
    }
    let known: Vec<&str> = directions.iter().map(|l| l.name.as_str()).filter(|n| !n.ends_with(".reverse")).collect();
    let help = if known.is_empty() { MAY.to_owned() } else { suggest(name, &known, "links") };
    Some((format!("unknown link `{name}`"), help))
}
