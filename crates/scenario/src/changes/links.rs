//! Changes of links: which ones are allowed, and how they are made.
//!
//! Values of links change in place: only the changed values are read, completed and checked. Whatever this cannot judge, and every error,
//! takes the long way of a whole resolution, so both give the same scenario and messages.

use super::{MAY, Refused, keys};
use crate::build::Listed;
use crate::check::Checker;
use crate::components::BuiltIn;
use crate::diag::Sources;
use crate::expand::{LinkDir, Member};
use crate::resolved::{Changed, Resolved};
use crate::schema;
use crate::semantics::{findings, wires};
use crate::source::{Entry, Names, Node, Table, Value, overlay};
use crate::spec::{Direction, LinkSpec, Wire};
use fairlane_engine::EventQueue;
use fairlane_engine::steps::step;
use fairlane_net::{BuildContext, Distribution, Observer, PortId, Qdisc, Stuck, Waiting, World};
use fairlane_queue::Discipline;
use fairlane_units::{Dur, Name};
use rustc_hash::FxHashMap;
use std::cell::OnceCell;
use std::sync::Arc;

/// Values of a direction that may change.
const OPEN: [&str; 5] = ["rate", "delay", "loss", "duplicate", "queue"];

/// Parts of a scenario that stay the same during a run: the numbers of the links, and whether flows share the rate of one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index(Option<Arc<(FxHashMap<Name, usize>, bool)>>);

impl Index {
    fn of(&mut self, state: &Resolved) -> &(FxHashMap<Name, usize>, bool) {
        self.0.get_or_insert_with(|| {
            let (links, flows) = (state.link_directions(), &state.scenario.flows);
            step(links.len() + flows.len());
            // The first of equal names.
            let numbers = links.iter().enumerate().rev().map(|(i, l)| (l.name.clone(), i)).collect();
            Arc::new((numbers, flows.values().any(|f| f.load.is_some())))
        })
    }
}

/// Flows of a state in the run with a seed, which are made when a queue wants to know them.
pub(crate) struct Flows<'a> {
    state: &'a Resolved,
    seed: u64,
    members: OnceCell<Arc<Vec<Member>>>,
}

impl<'a> Flows<'a> {
    /// `known`: the flows, if they have been made before.
    pub(crate) fn new(state: &'a Resolved, seed: u64, known: Option<Arc<Vec<Member>>>) -> Self {
        Self { state, seed, members: known.map_or_else(OnceCell::new, OnceCell::from) }
    }
    pub(crate) fn members(&self) -> &Arc<Vec<Member>> {
        self.members.get_or_init(|| {
            step(self.state.flow_members().len());
            self.state.members_at(self.seed)
        })
    }
    /// The flows, if they have been made.
    pub(crate) fn made(self) -> Option<Arc<Vec<Member>>> {
        self.members.into_inner()
    }
}

/// Returns the links with other values; none if other values are set, the long way has to judge them, or something is wrong.
pub(crate) fn changed(state: &Resolved, sets: &[(String, String)], index: &mut Index) -> Option<Vec<Changed>> {
    let mut sources = Sources::default();
    let mut written: Vec<(String, Node)> = Vec::new();
    for (path, value) in sets {
        if !path.starts_with("links.") {
            return None;
        }
        let mut layer = overlay(&mut sources, path, value).ok()?;
        if !Checker::new(schema::top(), &sources, true).run(&mut layer).is_empty() {
            return None;
        }
        for (name, link) in layer.get("links")?.entries() {
            let spec = state.scenario.links.get(name)?;
            let place = written.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
                written.push((name.to_owned(), Node::table(link.span)));
                written.len() - 1
            });
            let own = &mut written[place].1;
            present(own, link, spec)?;
            own.merge(link.clone(), Names::Nothing);
        }
    }
    let mut all = Vec::with_capacity(written.len());
    for (name, own) in written {
        let spec = state.scenario.links.get(&name)?;
        let values = read(&name, own, &sources)?;
        all.push(completed(state, name, spec, values, index)?);
    }
    if !sources.notes().is_empty() {
        return None;
    }
    all.sort_by_key(|link: &Changed| link.first);
    Some(all)
}

/// Writes the present values below the new ones, where these are merged; none if a value must not change here.
fn present(own: &mut Node, new: &Node, spec: &LinkSpec) -> Option<()> {
    let Value::Table(keys) = &new.value else { return None };
    for (key, entry) in keys {
        match (&entry.node.value, key.as_str()) {
            (Value::Table(back), "reverse") => {
                let below = entry_of(own, "reverse", &entry.node, || Some(Node::table(entry.node.span)))?;
                for (key, entry) in back {
                    under(below, key, &entry.node, spec.reverse.as_ref())?;
                }
            }
            (_, key) => under(own, key, &entry.node, Some(&spec.forward))?,
        }
    }
    Some(())
}

/// Writes the present value of a key.
fn under(own: &mut Node, key: &str, new: &Node, direction: Option<&Direction>) -> Option<()> {
    step(1);
    // Null stands for a value of the topology, or for the automatic one.
    if !OPEN.contains(&key) || has_null(new) {
        return None;
    }
    if let Some(d) = direction {
        // A rate and a trace, and a delay and a profile, replace each other.
        let replaces = match key {
            "rate" => d.trace.is_some() || d.impairments.profile.is_some(),
            "delay" => d.impairments.profile.is_some(),
            _ => false,
        };
        if replaces {
            return None;
        }
    }
    let json = match key {
        "queue" => direction.and_then(|d| serde_json::to_value(d.queue.as_ref()?).ok()),
        "loss" => direction.and_then(|d| serde_json::to_value(d.impairments.loss.as_ref()?).ok()),
        _ => return Some(()),
    };
    let json = json.unwrap_or(serde_json::Value::Null);
    entry_of(own, key, new, || Node::from_json(&json, new.span)).map(|_| ())
}

/// Value of a key, made if there is none.
fn entry_of<'a>(own: &'a mut Node, key: &str, new: &Node, make: impl FnOnce() -> Option<Node>) -> Option<&'a mut Node> {
    let Value::Table(table) = &mut own.value else { return None };
    if !table.contains_key(key) {
        table.insert(key.to_owned(), Entry { key: new.span, node: make()? });
    }
    table.get_mut(key).map(|e| &mut e.node)
}

fn has_null(node: &Node) -> bool {
    match &node.value {
        Value::Null => true,
        Value::Table(t) => t.values().any(|e| has_null(&e.node)),
        Value::Array(list) => list.iter().any(has_null),
        _ => false,
    }
}

/// Checks and reads some values of a link.
fn read(name: &str, own: Node, sources: &Sources) -> Option<LinkSpec> {
    let span = own.span;
    let within = |key: &str, node| Node { value: Value::Table(Table::from_iter([(key.to_owned(), Entry { key: span, node })])), span };
    let mut root = within("links", within(name, own));
    let path = ["links", name];
    if !Checker::new(schema::top(), sources, false).run_at(&mut root, &path).is_empty() {
        return None;
    }
    serde_json::from_value(root.get_mut(&path)?.to_json()).ok()
}

/// Completes and checks a link with other values.
fn completed(state: &Resolved, name: String, spec: &LinkSpec, values: LinkSpec, index: &mut Index) -> Option<Changed> {
    let mut pipe = spec.pipe();
    let rated = values.forward.rate.is_some() || values.reverse.as_ref().is_some_and(|r| r.rate.is_some());
    // Flows with a load of a link follow its rate.
    let (numbers, loads) = index.of(state);
    if rated && *loads {
        return None;
    }
    let duplex = spec.duplex.unwrap_or(true);
    let first = *numbers.get(name.as_str())?;
    let queued = values.forward.queue.is_some() || values.reverse.as_ref().is_some_and(|r| r.queue.is_some());
    let [there, back] = if !queued && (values.reverse.is_none() || duplex && pipe.reverse.is_some()) {
        // Both directions are complete: the values alone change.
        let wires = state.link_directions()[first..].iter().map(|l| &l.wire);
        let there = with_values(wires.clone().next()?, &values.forward);
        let back = match (&pipe.reverse, values.reverse.as_ref()) {
            (Some(_), Some(values)) => with_values(wires.clone().nth(1)?, values),
            (Some(_), None) if duplex => wires.clone().nth(1)?.clone(),
            _ => there.clone(),
        };
        take(&mut pipe.forward, values.forward);
        pipe.reverse.as_mut().zip(values.reverse).into_iter().for_each(|(own, new)| take(own, new));
        [there, back]
    } else {
        take(&mut pipe.forward, values.forward);
        if let Some(back) = values.reverse {
            take(pipe.reverse.get_or_insert_default(), back);
        }
        let queues = [Some(&pipe.forward), pipe.reverse.as_ref()];
        if queues.into_iter().flatten().filter_map(|d| d.queue.as_ref()).any(|q| !q.reads()) {
            return None;
        }
        pipe = pipe.filled();
        wires(&pipe)?
    };
    let infos = Listed::new(|| state.flow_members());
    let mut both = vec![there];
    if duplex {
        both.push(back);
    }
    let sound = |w: &Wire| findings(w).is_empty() && w.queue.check(&BuildContext { link: w.info(), flows: &infos }).is_ok();
    let alike = both.len() == 2 && Arc::ptr_eq(&both[0], &both[1]);
    if !both.iter().take(if alike { 1 } else { 2 }).all(|w| sound(w)) {
        return None;
    }
    let spec = LinkSpec::new(spec.from.as_deref()?, spec.to.as_deref()?, duplex, pipe);
    Some(Changed { name, first, spec, wires: both })
}

/// A direction with other values, the queue excepted.
fn with_values(old: &Arc<Wire>, new: &Direction) -> Arc<Wire> {
    let mut wire = Wire::clone(old);
    wire.rate = new.rate.unwrap_or(wire.rate);
    wire.delay = new.delay.unwrap_or(wire.delay);
    wire.impairments.loss = new.impairments.loss.clone().or(wire.impairments.loss);
    wire.impairments.duplicate = new.impairments.duplicate.or(wire.impairments.duplicate);
    Arc::new(wire)
}

/// Takes the values that are there.
fn take(own: &mut Direction, new: Direction) {
    own.rate = new.rate.or(own.rate);
    own.delay = new.delay.or(own.delay);
    own.queue = new.queue.or_else(|| own.queue.take());
    own.impairments.loss = new.impairments.loss.or_else(|| own.impairments.loss.take());
    own.impairments.duplicate = new.impairments.duplicate.or(own.impairments.duplicate);
}

/// Copies a state without the changes that it has yet to make.
pub(crate) fn without_changes(state: &Resolved) -> Resolved {
    step(state.link_directions().len() + state.scenario.flows.len());
    let mut scenario = state.scenario.clone();
    scenario.at.clear();
    Resolved { scenario, expanded: state.expanded.clone(), warnings: state.warnings.clone(), changes: Vec::new() }
}

/// Writes a changed link into a state.
pub(crate) fn put(state: &mut Resolved, link: Changed) {
    for (dir, wire) in state.expanded.links[link.first..].iter_mut().zip(link.wires) {
        dir.wire = wire;
    }
    state.scenario.links.insert(link.name, link.spec);
}

/// Checks the change of a direction; `flows`: before and after.
pub(super) fn check(a: &LinkDir, new: &Arc<Wire>, flows: (&[Member], &[Member])) -> Result<(), Refused> {
    if Arc::ptr_eq(&a.wire, new) || a.wire == *new {
        return Ok(());
    }
    let (at, old) = (|key: &str| format!("links.{}.{key}", a.name.trim_end_matches(".reverse")), &*a.wire);
    if a.on_air() {
        let message = format!("the interface `{}` of a wireless station cannot change while the network runs", a.name);
        return Err(Refused::new(at("queue"), message, MAY));
    }
    if !old.down.is_empty() || !new.down.is_empty() {
        let message = format!("the link `{}` has outages (`down`): nothing of it can change while the network runs", a.name);
        return Err(Refused::new(at("down"), message, "leave `down` out, or write `rates` with 0bit/s"));
    }
    if old.rate != new.rate && old.device.is_some() {
        let message =
            format!("the rate of `{}` cannot change while the network runs: its device has already scheduled its packets", a.name);
        return Err(Refused::new(at("rate"), message, "leave `device` out, or write the changes as `rates` of the link"));
    }
    let normal = old.impairments.jitter.as_ref().is_some_and(|j| j.0.distribution != Distribution::Uniform && j.0.width > Dur::ZERO);
    if old.delay != new.delay && normal {
        let message = format!("the delay of `{}` cannot change while the network runs: its jitter is truncated at the delay", a.name);
        return Err(Refused::new(at("delay"), message, "write a uniform jitter"));
    }
    if old.queue != new.queue {
        let clamps = |w: &Wire, flows: &[Member]| w.queue.build(&BuildContext { link: w.info(), flows: &Listed::new(|| flows) }).clamps();
        if clamps(old, flows.0) != clamps(new, flows.1) {
            let message = format!(
                "a queue of `{}` that rewrites receive windows in acknowledgments cannot be added or removed while the network runs",
                a.name
            );
            return Err(Refused::new(at("queue"), message, "use it as the queue from the start"));
        }
    }
    let mut rest = Wire::clone(new);
    (rest.rate, rest.delay, rest.queue) = (old.rate, old.delay, old.queue.clone());
    (rest.impairments.loss, rest.impairments.duplicate) = (old.impairments.loss.clone(), old.impairments.duplicate);
    if rest == *old {
        return Ok(());
    }
    let tree = |w: &Wire| serde_json::to_value(w).unwrap_or_default();
    let (x, y) = (tree(old), tree(&rest));
    let key = keys(&x, &y).into_iter().find(|k| x.get(k) != y.get(k)).unwrap_or_default();
    Err(Refused::never(at(&key)))
}

/// Checks the changes of some links.
pub(crate) fn check_all(state: &Resolved, changed: &[Changed]) -> Result<(), Refused> {
    let flows = (state.flow_members(), state.flow_members());
    let mut directions = changed.iter().flat_map(|link| state.link_directions()[link.first..].iter().zip(&link.wires));
    directions.try_for_each(|(dir, wire)| check(dir, wire, flows))
}

/// Changes a port of a running world; `link`: name of the direction, its values before and after.
///
/// # Errors
/// A plug-in queue does not release its packets.
pub(crate) fn change<H: EventQueue, O: Observer>(
    world: &mut World<BuiltIn, H>,
    port: PortId,
    (name, old, new): (&str, &Arc<Wire>, &Arc<Wire>),
    (seed, waiting): (u64, Waiting),
    flows: &Flows<'_>,
    obs: &mut O,
) -> Result<(), Stuck> {
    if Arc::ptr_eq(old, new) || old == new {
        return Ok(());
    }
    if old.rate != new.rate {
        world.set_rate(port, new.rate, obs);
    }
    if old.delay != new.delay {
        world.set_delay(port, new.delay, obs);
    }
    if old.impairments != new.impairments {
        world.set_losses(port, &new.impairments, seed, name);
    }
    if old.queue != new.queue {
        let infos = Listed::new(|| &flows.members()[..]);
        world.set_queue(port, new.queue.build(&BuildContext { link: new.info(), flows: &infos }), waiting, obs)?;
    }
    Ok(())
}

#[cfg(test)]
#[path = "links_tests.rs"]
mod tests;
