//! Whether what a change speaks of is there at all: said before its values are looked at, as a change adds nothing to a network.

use super::{MAY, Refused};
use crate::code::Code;
use crate::diag::{Diagnostics, Sources, suggest};
use crate::resolved::Resolved;
use crate::source::{Node, Value, overlay};

/// What a change may speak of. Topologies and words are compared with what was there; whatever else a scenario has stays as it is.
const OPEN: [&str; 5] = ["links", "flows", "topology", "name", "description"];

/// Looks through all values of a change.
pub(super) fn look(state: &Resolved, sets: &[(String, String)]) -> Result<(), Diagnostics> {
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

/// What is wrong with the name of a flow, and what to write.
fn flow(state: &Resolved, name: &str, values: &Node) -> Option<(String, String)> {
    let groups = &state.scenario.flows;
    let together = |group: &str| {
        let help = format!("write flows.{}; a flow that is to go its own way has a group of its own", crate::source::join([group]));
        (format!("the flows of `{group}` change together, not one of them"), help)
    };
    if groups.contains_key(name) {
        // As in `flows.web.0.start`: one of its members.
        let Value::Table(keys) = &values.value else { return None };
        return keys.iter().any(|(key, _)| key.bytes().all(|b| b.is_ascii_digit())).then(|| together(name));
    }
    if let Some(group) = name.split(['.', '[']).next().filter(|g| groups.contains_key(*g)) {
        return Some(together(group));
    }
    let known: Vec<&str> = groups.keys().map(String::as_str).collect();
    Some((format!("there is no flow `{name}`"), suggest(name, &known, "flows")))
}

/// The same for the name of a link.
fn link(state: &Resolved, name: &str) -> Option<(String, String)> {
    let (directions, written) = (state.link_directions(), &state.scenario.links);
    let is_there = |name: &str| directions.iter().any(|l| l.name == name);
    if let Some(front) = name.strip_suffix(".reverse").filter(|f| is_there(f) && !written.contains_key(name)) {
        return Some((
            format!("there is no link `{name}`"),
            format!("write links.{front}.reverse, without quotes, for the other direction"),
        ));
    }
    if is_there(name) {
        return None;
    }
    let known: Vec<&str> = directions.iter().map(|l| l.name.as_str()).filter(|n| !n.ends_with(".reverse")).collect();
    let help = if known.is_empty() { MAY.to_owned() } else { suggest(name, &known, "links") };
    Some((format!("there is no link `{name}`"), help))
}
