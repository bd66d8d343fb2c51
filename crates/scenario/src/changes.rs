//! Changes of the network during a run: which ones are allowed, and how they are applied to a running world.
//!
//! A change is the difference between two scenarios. The scenario reader reads, completes and checks its values. `[[at]]` in a file and
//! a session apply it in the same way.

pub(crate) mod external;
pub(crate) mod links;
mod targets;

use crate::code::Code;
use crate::components::BuiltIn;
use crate::diag::{Diagnostic, Diagnostics, Sources, Span};
use crate::expand::{LinkDir, Member};
use crate::resolve::resolve;
use crate::resolved::{Change, Resolved, Update};
use crate::source::{Format, Node, split};
use crate::spec::{AtSpec, FlowSpec, Scenario};
use crate::tasks::Task;
use fairlane_engine::EventQueue;
use fairlane_net::{FlowId, Observer, PortId, Stuck, Waiting, World};
use fairlane_units::{Dur, Time};
use serde_json::Value;
use std::sync::Arc;

/// List of the values that may change, for messages.
const MAY: &str = "these may change: the rate, delay, loss, duplicate and queue (with its parameters) of links, the number of flows (up to their room), window and pacing_rate of flows with the control external, and start and stop of flows, any number of times";

/// Why a change is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    /// Path in the scenario.
    pub(crate) at: String,
    pub(crate) message: String,
    pub(crate) help: String,
}

impl Refused {
    fn new(at: impl Into<String>, message: String, help: impl Into<String>) -> Self {
        Self { at: at.into(), message, help: help.into() }
    }
    fn never(at: impl Into<String>) -> Self {
        let at = at.into();
        let message = format!("`{at}` cannot change while the network runs");
        Self::new(at, message, MAY)
    }
}

/// Why a change does not fit.
pub(crate) enum Unfit {
    /// Values are wrong.
    Wrong(Diagnostics),
    /// Values must not change.
    Refused(Refused),
}

/// Returns the change that other values make from `now` on.
pub(crate) fn update(state: &Resolved, sets: &[(String, String)], now: Time, index: &mut links::Index) -> Result<Update, Unfit> {
    if let Some(changed) = links::changed(state, sets, index) {
        links::check_all(state, &changed).map_err(Unfit::Refused)?;
        return Ok(Update::Links(changed.into()));
    }
    let next = resolved_again(state, sets, now).map_err(Unfit::Wrong)?;
    check(state, &next, now).map_err(Unfit::Refused)?;
    Ok(Update::All(Arc::new(next)))
}

/// Applies a change to a state, which is that of `first` if there is none.
pub(crate) fn apply(state: &mut Option<Arc<Resolved>>, first: &Resolved, update: &Update) {
    match update {
        Update::Links(changed) => {
            let state = Arc::make_mut(state.get_or_insert_with(|| Arc::new(links::without_changes(first))));
            changed.iter().cloned().for_each(|link| links::put(state, link));
        }
        Update::All(next) => *state = Some(next.clone()),
    }
}

/// Returns the scenario with other values from `now` on, by reading, completing and checking it as a whole.
pub(crate) fn resolved_again(state: &Resolved, sets: &[(String, String)], now: Time) -> Result<Resolved, Diagnostics> {
    targets::check(state, sets)?;
    let mut tree = state.to_json();
    if let Some(table) = tree.as_object_mut() {
        table.remove("at");
    }
    for (name, group) in &state.scenario.flows {
        // A smaller count keeps the room for the earlier number.
        if sets
            .iter()
            .any(|(path, _)| path.starts_with("flows.") && path.contains("count") || path == "flows" || *path == format!("flows.{name}"))
        {
            tree["flows"][name]["room"] = group.most().into();
        }
        // A new start comes after a stop that has passed.
        let begins = sets.iter().any(|(path, _)| *path == format!("flows.{name}.start"));
        if begins && group.stop.is_some_and(|s| Time::ZERO + s <= now) {
            tree["flows"][name]["stop"] = Value::Null;
        }
    }
    resolve(&tree.to_string(), "the network", Format::Json, sets)
}

/// Computes and checks the state after each change of a scenario.
pub(crate) fn add_states(mut resolved: Resolved, root: &Node, sources: &Sources) -> Result<Resolved, Diagnostics> {
    let mut found = Diagnostics::default();
    let mut changes: Vec<Change> = Vec::new();
    let (mut last, mut index) = (None, links::Index::default());
    for (i, at) in resolved.scenario.at.iter().enumerate() {
        let (number, time) = (i.to_string(), Time::ZERO + at.time);
        let mut fail = |path: &[&str], code, message: String, help: String| {
            let path: Vec<&str> = ["at", &number].into_iter().chain(path.iter().copied()).collect();
            found.push(sources.diagnostic(code, root.place(&path), &path.join("."), message, help));
        };
        let before = changes.last().map_or(Time::ZERO, |t| t.time);
        if at.time > resolved.scenario.duration {
            let message = format!("the run ends at {}", resolved.scenario.duration);
            fail(&["time"], Code::ChangeUnfit, message, "write an earlier time, or a longer duration".to_owned());
            break;
        } else if time < before {
            let message = format!("the previous change is at {}, which is later", before.since(Time::ZERO));
            fail(&["time"], Code::ChangeUnfit, message, "write changes in order of time".to_owned());
            break;
        }
        let state = last.as_deref().unwrap_or(&resolved);
        match update(state, &at.sets(), time, &mut index) {
            Ok(update) => {
                if let Update::All(next) = &update {
                    let more = next.warnings.iter().filter(|w| w.code == Code::NotModelled && !resolved.warnings.contains(w));
                    let more: Vec<_> = more.cloned().collect();
                    resolved.warnings.extend(more);
                }
                apply(&mut last, &resolved, &update);
                changes.push(Change { time, waiting: at.waiting, update });
            }
            Err(Unfit::Refused(Refused { at: place, message, help })) => {
                let key = at.set.keys().find(|k| k.starts_with(&place)).or_else(|| at.set.keys().find(|k| place.starts_with(k.as_str())));
                let path: Vec<&str> = ["set"].into_iter().chain(key.map(String::as_str)).collect();
                fail(&path, Code::ChangeUnfit, message, help);
                break;
            }
            Err(Unfit::Wrong(wrong)) => {
                for d in wrong.list {
                    let (span, path) = written(&d, &at.sets(), root, &number);
                    found.push(sources.diagnostic(d.code, span, &path, d.message, d.help));
                }
                break;
            }
        }
    }
    if found.is_empty() {
        resolved.changes = changes;
        Ok(resolved)
    } else {
        Err(found)
    }
}

/// Place in the file, and path, of the changed value or key that a finding is about.
fn written(d: &Diagnostic, sets: &[(String, String)], root: &Node, number: &str) -> (Span, String) {
    let matches = |d: &str, k: &str| !d.is_empty() && (d.starts_with(k) || k.contains(d));
    let by_option = sets.iter().find(|(path, value)| d.file == format!("--set {path}={value}"));
    let set = by_option.or_else(|| sets.iter().find(|(path, _)| matches(&d.path, path)));
    let mut path: Vec<&str> = vec!["at", number, "set"];
    let shown = set.map_or(String::new(), |(key, _)| format!(".{key}"));
    let key = set.map_or("", |(key, _)| key);
    path.extend(Some(key).filter(|k| !k.is_empty()));
    // The value may be a table with the error deep inside.
    let (deep, known) = (split(&d.path).unwrap_or_default(), split(key).unwrap_or_default());
    path.extend(deep.iter().skip(known.len()).map(|k| k.0.as_str()));
    let named = matches!(d.code, Code::UnknownFlow | Code::UnknownLink | Code::UnknownKey);
    let about_key = named || by_option.is_some() && d.column <= key.chars().count();
    (if about_key { root.key_place(&path) } else { root.place(&path) }, format!("at.{number}.set{shown}"))
}

/// Recomputes the remaining changes of the state that a new change leaves.
pub(crate) fn reapply<'a>(first: &Resolved, new: &Update, then: impl Iterator<Item = &'a AtSpec>) -> Result<Vec<Change>, Unfit> {
    let (mut last, mut index) = (None, links::Index::default());
    apply(&mut last, first, new);
    let mut changes: Vec<Change> = Vec::new();
    for at in then {
        let time = Time::ZERO + at.time;
        let update = update(last.as_deref().unwrap_or(first), &at.sets(), time, &mut index).map_err(|unfit| match unfit {
            Unfit::Refused(Refused { at: place, message, help }) => {
                let message = format!("the change at {} does not fit any more: {message}", at.time);
                Unfit::Refused(Refused::new(place, message, help))
            }
            wrong @ Unfit::Wrong(_) => wrong,
        })?;
        apply(&mut last, first, &update);
        changes.push(Change { time, waiting: at.waiting, update });
    }
    Ok(changes)
}

/// Checks that a run can change from one state to the other at this time.
pub(crate) fn check(now: &Resolved, next: &Resolved, time: Time) -> Result<(), Refused> {
    for (a, b) in now.link_directions().iter().zip(next.link_directions()).filter(|(a, b)| a.name == b.name) {
        links::check(a, &b.wire, (now.flow_members(), next.flow_members()))?;
    }
    for (name, a) in &now.scenario.flows {
        if let Some(b) = next.scenario.flows.get(name) {
            spec(name, a, b)?;
        }
    }
    if !same_frame(now, next) {
        let (a, b) = (frame(now), frame(next));
        if let Some(key) = keys(&a, &b).into_iter().find(|k| a.get(k) != b.get(k)) {
            return Err(Refused::never(key));
        }
    }
    for (a, b) in now.flow_members().iter().zip(next.flow_members()) {
        times(a, b, time)?;
    }
    let (a, b) = (&now.expanded, &next.expanded);
    let same = a.nodes == b.nodes && a.positions == b.positions && a.channels == b.channels && a.controls == b.controls;
    let groups = a.groups.len() == b.groups.len() && a.groups.iter().zip(b.groups.iter()).all(|(a, b)| external::alike(a, b));
    if same && groups && a.links.len() == b.links.len() && a.flows.len() == b.flows.len() {
        Ok(())
    } else {
        Err(Refused::never("topology"))
    }
}

/// True if the parts that are not compared one by one are equal.
fn same_frame(now: &Resolved, next: &Resolved) -> bool {
    let Scenario {
        name: _,
        description: _,
        topology: _,
        links: _,
        at: _,
        flows,
        duration,
        warmup,
        seed,
        sample,
        report,
        routing,
        route_by,
        reroute,
        nodes,
        positions,
        wireless,
        control,
    } = &now.scenario;
    let b = &next.scenario;
    let ends = |r: &Resolved| r.link_directions().iter().map(|l| (l.name.clone(), l.from(), l.to())).collect::<Vec<_>>();
    (duration, warmup, seed, sample, report) == (&b.duration, &b.warmup, &b.seed, &b.sample, &b.report)
        && (routing, route_by, reroute, nodes, positions) == (&b.routing, &b.route_by, &b.reroute, &b.nodes, &b.positions)
        && (wireless, control) == (&b.wireless, &b.control)
        && flows.keys().eq(b.flows.keys())
        && now.expanded.nodes == next.expanded.nodes
        && ends(now) == ends(next)
}

/// The scenario without the parts that are compared one by one.
fn frame(r: &Resolved) -> Value {
    let mut tree = r.to_json();
    if let Some(table) = tree.as_object_mut() {
        for key in ["links", "topology", "flows", "at", "name", "description"] {
            table.remove(key);
        }
        table.insert("flows".to_owned(), r.scenario.flows.keys().map(String::as_str).collect());
        let ends = |l: &LinkDir| Value::from([l.name.as_str(), r.expanded.start(l), r.expanded.end(l)].map(str::to_owned).to_vec());
        table.insert("topology".to_owned(), r.link_directions().iter().map(ends).collect());
    }
    tree
}

fn keys(a: &Value, b: &Value) -> Vec<String> {
    [a, b].into_iter().filter_map(Value::as_object).flat_map(|t| t.keys().cloned()).collect()
}

/// Checks the changes of a group of flows.
fn spec(name: &str, a: &FlowSpec, b: &FlowSpec) -> Result<(), Refused> {
    if a == b {
        return Ok(());
    }
    let mut rest = external::without(a, b);
    (rest.start, rest.stop, rest.stagger, rest.spread) = (a.start, a.stop, a.stagger, a.spread);
    if rest.count != a.count {
        let at = format!("flows.{name}.count");
        if a.load.is_some() {
            let message = format!("the flows of `{name}` share a load: their number cannot change while the network runs");
            return Err(Refused::new(at, message, "write a source with its own rate instead of load"));
        }
        rest.count = a.count;
    }
    if rest.most() == a.most() {
        rest.room = a.room;
    }
    let tree = |f: &FlowSpec| serde_json::to_value(f).unwrap_or_default();
    let (x, y) = (tree(a), tree(&rest));
    match keys(&x, &y).into_iter().find(|k| x.get(k) != y.get(k)) {
        Some(key) => Err(Refused::never(format!("flows.{name}.{key}"))),
        None => Ok(()),
    }
}

/// Checks the changes of a flow's start and stop.
fn times(a: &Member, b: &Member, time: Time) -> Result<(), Refused> {
    let at = |key: &str| format!("flows.{}.{key}", a.group);
    let now = time.since(Time::ZERO);
    let refuse = |key, what: String, help: &str| Err(Refused::new(at(key), what, help));
    if a.is_there() != b.is_there() {
        // A member is added, from now on at the earliest, or removed.
        return match b.stop.filter(|&s| b.is_there() && s <= now) {
            Some(stop) => refuse(
                "count",
                format!("flow `{}` cannot start at {now}: the flows of its group stop at {stop}", b.name),
                "write a later stop, or none",
            ),
            None => Ok(()),
        };
    }
    let stopped = a.start <= time && a.stop.is_some_and(|s| s <= now);
    if a.start != b.start {
        if a.start <= time && !stopped {
            let message = format!("flow `{}` has started at {}", a.name, a.start.since(Time::ZERO));
            let help = format!("stop it first, with flows.{}.stop; a stopped flow can restart", a.group);
            return refuse("start", message, &help);
        }
        if b.start < time {
            return refuse(
                "start",
                format!("flow `{}` cannot start at {}: the time is {now}", a.name, b.start.since(Time::ZERO)),
                "write a later time",
            );
        }
        if stopped {
            return Ok(());
        }
    }
    if a.stop == b.stop {
        return Ok(());
    }
    let begun = a.start <= time;
    match b.stop {
        _ if stopped => {
            let help = format!("to restart it, write flows.{}.start = \"{now}\", or later", a.group);
            refuse("stop", format!("flow `{}` has stopped at {}", a.name, a.stop.unwrap_or_default()), &help)
        }
        Some(s) if s < now => refuse("stop", format!("flow `{}` cannot stop at {s}: the time is {now}", a.name), "write a later time"),
        _ if begun && a.stop.is_some_and(|was| b.stop.is_none_or(|s| s > was)) => {
            let message = format!("flow `{}` has started, and stops at {}", a.name, a.stop.unwrap_or_default());
            refuse("stop", message, "it may stop earlier, not later")
        }
        _ => Ok(()),
    }
}

/// Changes a running world from one state of the scenario to another; returns the starts and stops of flows to schedule. `before` and `flows`:
/// the flows of both states.
///
/// # Errors
/// A plug-in queue does not release its packets.
pub(crate) fn change<H: EventQueue, O: Observer>(
    world: &mut World<BuiltIn, H>,
    (now, next): (&Resolved, &Resolved),
    (before, flows): (&links::Flows<'_>, &links::Flows<'_>),
    (seed, waiting): (u64, Waiting),
    obs: &mut O,
) -> Result<Vec<Task>, Stuck> {
    for (i, (a, b)) in (0..).zip(now.link_directions().iter().zip(next.link_directions())) {
        links::change(world, PortId(i), (&b.name, &a.wire, &b.wire), (seed, waiting), flows, obs)?;
    }
    // A change of links leaves the flows as they are.
    if Arc::ptr_eq(&now.expanded.flows, &next.expanded.flows) {
        return Ok(Vec::new());
    }
    let (before, after) = (before.members(), flows.members());
    external::change(world, (now, next), after, obs);
    let time = world.now();
    let mut tasks = Vec::new();
    for (i, (a, b)) in (0..).zip(before.iter().zip(after.iter())) {
        if a.start == b.start && a.stop == b.stop {
            continue;
        }
        let flow = FlowId(i);
        let mut task = |time, begins| tasks.push(Task { time, flow, begins });
        if a.start > time && !world.flows()[i as usize].has_begun() {
            let group = &next.expanded.groups[b.group_index];
            world.set_app(flow, crate::build::app(group, b, flow, crate::build::begin(next, b.start).max(time)));
        } else if a.start > time || b.is_there() && a.start != b.start {
            // The flow has existed before: it restarts, or is cancelled (`MAX`).
            task(b.start.max(time), true);
        } else if !b.is_there() {
            task(time, false);
        } else if let Some(stop) = b.stop.filter(|_| a.stop != b.stop) {
            task((Time::ZERO + stop).max(time), false);
        }
    }
    Ok(tasks)
}

/// Time since the start of the run, for messages.
pub(crate) fn shown(t: Time) -> Dur {
    t.since(Time::ZERO)
}
