//! Values of links set in place give the scenario of a whole resolution, for every path of the schema.

use super::*;
use crate::changes::resolved_again;
use crate::{Format, resolve};
use fairlane_units::Time;
use serde_json::Value as J;

const FLOWS: &str =
    "[flows.f]\nfrom = \"a\"\nto = \"c\"\ncount = 2\ntcp = {}\n[flows.u]\nfrom = \"a\"\nto = \"c\"\nudp = {}\nsource = \"cbr\"\n";

/// A network with the link `out`, written with these lines.
fn network(out: &str) -> Resolved {
    let text = format!(
        "duration = \"9s\"\n[links.in]\nfrom = \"a\"\nto = \"b\"\nrate = \"20Mbit/s\"\ndelay = \"1ms\"\n\
         [links.back]\nfrom = \"c\"\nto = \"a\"\nrate = \"20Mbit/s\"\ndelay = \"1ms\"\nduplex = false\n\
         [links.out]\nfrom = \"b\"\nto = \"c\"\n{out}\n{FLOWS}"
    );
    resolve(&text, "t.toml", Format::Toml, &[]).unwrap()
}

/// A link of a builder that was changed before.
fn built() -> Resolved {
    let text = "duration = \"9s\"\n[topology.dumbbell]\nbottleneck = { rate = \"8Mbit/s\", delay = \"10ms\", queue = { red = { limit = \"30p\" } }, \
                loss = 0.01, reverse = { rate = \"1Mbit/s\" } }\n[flows.f]\nfrom = \"s0\"\nto = \"d0\"\ntcp = {}\n";
    let before = resolve(text, "t.toml", Format::Toml, &[]).unwrap();
    resolved_again(&before, &[("links.bottleneck.delay".to_owned(), "11ms".to_owned())], Time::ZERO).unwrap()
}

fn target<'a>(root: &'a J, mut schema: &'a J) -> &'a J {
    while let Some(name) = schema.get("$ref").and_then(J::as_str) {
        schema = root.pointer(name.trim_start_matches('#')).unwrap();
    }
    schema
}

/// Paths below a schema, with the format or type of the value.
fn paths(root: &J, schema: &J, path: &str, depth: usize, found: &mut Vec<(String, String)>) {
    let schema = target(root, schema);
    let kind = |key: &str| schema.get(key).map_or_else(String::new, |v| v.as_str().map_or_else(|| v.to_string(), str::to_owned));
    found.push((path.to_owned(), format!("{} {}", kind("format"), kind("type"))));
    if depth == 0 {
        return;
    }
    for (key, inner) in schema.get("properties").and_then(J::as_object).into_iter().flatten() {
        paths(root, inner, &format!("{path}.{key}"), depth - 1, found);
    }
    for inner in schema.get("anyOf").and_then(J::as_array).into_iter().flatten() {
        let own = found.len();
        paths(root, inner, path, depth, found);
        if found[own].1.trim().is_empty() {
            found.remove(own);
        }
    }
}

/// Values of this kind, and others.
fn values(kind: &str) -> Vec<&'static str> {
    let mut fitting = match kind.split_whitespace().next().unwrap_or_default() {
        "fl-rate" => vec!["3Mbit/s", "12kbit/s"],
        "fl-dur" => vec!["7ms", "300ms"],
        "fl-bytes" => vec!["1200B", "90kB"],
        "fl-len" => vec!["17p", "31kB"],
        "boolean" | "[\"boolean\",\"null\"]" => vec!["true", "false"],
        _ => vec!["0.25", "3"],
    };
    fitting.extend(["none", "x"]);
    fitting
}

/// Sets a value in place and by a whole resolution; returns whether each way took it.
fn both(state: &Resolved, sets: &[(&str, &str)]) -> (bool, bool) {
    let sets: Vec<(String, String)> = sets.iter().map(|(p, v)| ((*p).to_owned(), (*v).to_owned())).collect();
    let slow = resolved_again(state, &sets, Time::ZERO);
    let Some(changed) = changed(state, &sets, &mut Index::default()) else { return (false, slow.is_ok()) };
    let slow = slow.unwrap_or_else(|e| panic!("{sets:?}: {e}"));
    let allowed = check_all(state, &changed);
    let mut next = without_changes(state);
    changed.into_iter().for_each(|link| put(&mut next, link));
    assert_eq!(next.scenario, slow.scenario, "{sets:?}");
    assert_eq!(next.expanded, slow.expanded, "{sets:?}");
    assert_eq!(allowed, crate::changes::check(state, &slow, Time::ZERO), "{sets:?}");
    (true, true)
}

#[test]
fn every_path_of_a_link_gives_the_same() {
    let root = crate::schema::schema();
    let mut found = Vec::new();
    paths(root, root.pointer("/properties/links/additionalProperties").unwrap(), "links.out", 4, &mut found);
    found.sort();
    found.dedup();
    assert!(found.iter().any(|(path, _)| path == "links.out.queue.codel.target"));
    let plain = network("rate = \"2Mbit/s\"\ndelay = \"10ms\"\nqueue = \"red\"");
    let mut in_place = 0;
    for (path, kind) in &found {
        let keys: Vec<&str> = path.split('.').skip(2).filter(|key| *key != "reverse").collect();
        // The parameters of the queue of one direction are enough.
        if path.contains("reverse.queue.") {
            continue;
        }
        for value in values(kind) {
            let (fast, slow) = both(&plain, &[(path, value)]);
            // An automatic value takes the long way, and so does one that must not change.
            let open = keys.first().is_some_and(|key| OPEN.contains(key));
            assert!(fast == (slow && open) || value == "none" && slow, "{path}={value}");
            in_place += u32::from(fast);
        }
    }
    for queue in crate::QueueSpec::all() {
        let (fast, slow) = both(&plain, &[("links.out.queue", queue.name())]);
        assert_eq!(fast, slow, "{}", queue.name());
    }
    assert!(in_place > 200, "{in_place}");
}

#[test]
fn links_of_each_kind_give_the_same() {
    let simple = "rate = \"2Mbit/s\"\ndelay = \"10ms\"\n";
    let kinds = [
        network("trace = \"data:,1 3 7 10\"\ndelay = \"10ms\""),
        network(&format!("{simple}device = \"3p\"")),
        network(&format!("{simple}duplex = false\nqueue = \"tbf\"\nrates = [{{ at = \"3s\", rate = \"1Mbit/s\" }}]")),
        network(&format!("{simple}down = [{{ at = \"3s\", until = \"4s\" }}]")),
        network(&format!("{simple}jitter = {{ width = \"2ms\", distribution = \"normal\" }}\nreverse = {{ delay = \"5ms\", loss = 0.1 }}")),
        network(&format!(
            "{simple}loss = {{ gilbert_elliott = {{ p = 0.01, r = 0.3 }} }}\nduplicate = 0.1\nqueue.htb.classes = [{{ rate = \"1Mbit/s\" }}]"
        )),
        built(),
    ];
    let sets: [&[(&str, &str)]; 12] = [
        &[("rate", "1Mbit/s")],
        &[("delay", "3ms")],
        &[("loss", "0.02")],
        &[("loss.gilbert_elliott.p", "0.02")],
        &[("loss", "none")],
        &[("queue", "codel")],
        &[("queue.red.limit", "50p")],
        &[("queue.red.max", "none")],
        &[("queue.htb.classes.0.rate", "2Mbit/s"), ("rate", "9Mbit/s")],
        &[("reverse.rate", "4Mbit/s"), ("reverse.queue", "pie"), ("queue", "\"tc: pfifo limit 9\"")],
        &[("queue", "pie"), ("queue.pie.target", "30ms"), ("duplicate", "0.3")],
        &[("reverse", "{ delay = \"2ms\", loss = 0.3 }")],
    ];
    let mut in_place = 0;
    for state in &kinds {
        let link = if state.scenario.links.contains_key("out") { "out" } else { "bottleneck" };
        for set in sets {
            let named: Vec<(String, &str)> = set.iter().map(|(key, value)| (format!("links.{link}.{key}"), *value)).collect();
            let named: Vec<(&str, &str)> = named.iter().map(|(path, value)| (path.as_str(), *value)).collect();
            in_place += u32::from(both(state, &named).0);
        }
    }
    assert!(in_place > 40, "{in_place}");
}

/// A link may bear the name of a key; its values are merged like those of others.
#[test]
fn names_of_links_are_names_only() {
    let text = format!(
        "duration = \"9s\"\n[links.queue]\nfrom = \"a\"\nto = \"c\"\nrate = \"2Mbit/s\"\ndelay = \"1ms\"\nqueue = \"red\"\n{FLOWS}"
    );
    let state = resolve(&text, "t.toml", Format::Toml, &[]).unwrap();
    assert_eq!(both(&state, &[("links.queue.rate", "1Mbit/s"), ("links.queue.queue", "codel")]), (true, true));
    let set = [("links.queue.rate".to_owned(), "1Mbit/s".to_owned())];
    let resolved = resolve(&text, "t.toml", Format::Toml, &set).unwrap();
    assert_eq!(resolved.links["queue"].forward.queue, state.links["queue"].forward.queue);
}
