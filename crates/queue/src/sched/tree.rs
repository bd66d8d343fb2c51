//! Class trees written as a list, in which each class names the class above it, as `tc class add ... parent` does.

use super::bank::{Bank, ClassSpec, check_class, check_count};
use crate::classify::{Classifier, hint, listed};
use crate::discipline::{Discipline, Problem};
use fairlane_net::BuildContext;
use fairlane_units::Len;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

/// Common part of the parameters of a class of a tree.
pub(crate) trait TreeClass: ClassSpec {
    /// Its name.
    fn name(&self) -> &str;
    /// Name of the class above it.
    fn parent(&self) -> Option<&str>;
    /// Returns the context of its queue.
    fn behind<'a>(&self, context: &BuildContext<'a>) -> BuildContext<'a>;
}

/// The word for packets that bypass the classes.
pub(crate) const DIRECT: &str = "direct";

/// A class at its place in the tree.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// Its number in the list.
    pub(crate) number: usize,
    /// Place of the class above it.
    pub(crate) parent: Option<usize>,
    /// Places of the classes below it.
    pub(crate) below: Range<usize>,
    /// Number of classes above it.
    pub(crate) depth: usize,
    /// Number of its queue, if no class is below it.
    pub(crate) leaf: Option<usize>,
}

/// Places of classes: parents come first, and classes of one parent stand together in the order of the list.
pub(crate) fn places<C: TreeClass>(classes: &[C]) -> Vec<Place> {
    let named: BTreeMap<&str, usize> = classes.iter().enumerate().rev().map(|(i, c)| (c.name(), i)).collect();
    let above = |i: usize| classes[i].parent().and_then(|p| named.get(p).copied());
    let mut below = vec![vec![]; classes.len()];
    let mut roots = vec![];
    for i in 0..classes.len() {
        match above(i) {
            Some(parent) => below[parent].push(i),
            None => roots.push(i),
        }
    }
    let mut leaf_of = vec![None; classes.len()];
    let leaves = (0..classes.len()).filter(|&i| below[i].is_empty());
    leaves.enumerate().for_each(|(n, i)| leaf_of[i] = Some(n));
    let mut places: Vec<Place> = vec![];
    let mut open: VecDeque<(usize, Option<usize>)> = roots.into_iter().map(|i| (i, None)).collect();
    while let Some((number, parent)) = open.pop_front() {
        let (at, first) = (places.len(), places.len() + 1 + open.len());
        let depth = parent.map_or(0, |p: usize| places[p].depth + 1);
        places.push(Place { number, parent, below: first..first + below[number].len(), depth, leaf: leaf_of[number] });
        open.extend(below[number].iter().map(|&i| (i, Some(at))));
    }
    places
}

/// Classes that hold packets, by the numbers of their queues, with their places.
pub(crate) fn leaves<'a, C>(classes: &'a [C], places: &[Place]) -> Vec<(usize, &'a C)> {
    let mut leaves: Vec<(usize, usize)> = places.iter().enumerate().filter_map(|(at, p)| Some((p.leaf?, at))).collect();
    leaves.sort_unstable();
    leaves.into_iter().map(|(_, at)| (at, &classes[places[at].number])).collect()
}

/// Queues of the leaves. Packets that fit none go to the one called `default`, past all if that is [`DIRECT`], else to the last.
pub(crate) fn bank<C: TreeClass>(
    leaves: &[(usize, &C)],
    default: Option<&str>,
    limit: Option<Len>,
    context: &BuildContext<'_>,
) -> Bank<<C::Inner as Discipline>::Queue> {
    let default = match default {
        Some(DIRECT) => leaves.len(),
        name => leaves.iter().position(|(_, c)| Some(c.name()) == name).unwrap_or(leaves.len().saturating_sub(1)),
    };
    let shapes = leaves.iter().any(|(_, c)| c.queue().capabilities().shapes);
    let queues = leaves.iter().map(|(_, c)| (c.queue().build(&c.behind(context)), c.select())).collect();
    Bank::of_leaves(queues, default, shapes, limit, context)
}

/// Checks that the names make a tree of at most `most` levels, and that each class without others below it has a valid queue. `bypass`: packets may pass all
/// classes by.
pub(crate) fn check_tree<C: TreeClass>(
    classes: &[C],
    default: Option<&str>,
    bypass: bool,
    most: usize,
    context: &BuildContext<'_>,
) -> Result<(), Problem> {
    if classes.is_empty() {
        return Err(Problem::new("classes", "no class is given: write for instance [{ name = \"all\", queue = \"fq_codel\" }]"));
    }
    // The classifier needs one match for packets that fit none.
    check_count(classes.len(), Classifier::MOST - 1)?;
    let known: Vec<&str> = classes.iter().map(C::name).filter(|n| !n.is_empty()).collect();
    let unknown = |name: &str, or: &str| {
        let known_names = format!("classes are {}{or}", listed(&known));
        format!("no class is called `{name}`: {}", hint(name, known.iter().copied(), &known_names))
    };
    let names: BTreeSet<&str> = known.iter().copied().collect();
    let mut before = BTreeSet::new();
    for (i, c) in classes.iter().enumerate() {
        if !c.name().is_empty() && !before.insert(c.name()) {
            return Err(Problem::new(format!("classes.{i}.name"), format!("`{}` is the name of a class before it", c.name())));
        }
        if c.name() == DIRECT {
            return Err(Problem::new(format!("classes.{i}.name"), "it stands for packets that bypass the classes: choose another name"));
        }
        if let Some(parent) = c.parent().filter(|p| !names.contains(p)) {
            return Err(Problem::new(format!("classes.{i}.parent"), unknown(parent, "")));
        }
    }
    let places = places(classes);
    let mut placed = vec![false; classes.len()];
    places.iter().for_each(|p| placed[p.number] = true);
    if let Some(i) = placed.iter().position(|placed| !placed) {
        return Err(Problem::new(format!("classes.{i}.parent"), format!("`{}` is below itself", classes[i].name())));
    }
    for place in &places {
        let (i, c) = (place.number, &classes[place.number]);
        if place.depth >= most {
            return Err(Problem::new(format!("classes.{i}.parent"), format!("it is on level {}: at most {most}", place.depth + 1)));
        }
        if place.leaf.is_none() {
            if *c.select() != "any".into() {
                return Err(Problem::new(
                    format!("classes.{i}.match"),
                    format!("`{}` has classes below it, which match the packets: leave it out", c.name()),
                ));
            }
            continue;
        }
        check_class(i, c, &c.behind(context))?;
    }
    match default {
        None => Ok(()),
        Some(DIRECT) if bypass => Ok(()),
        Some(DIRECT) => Err(Problem::new("default", "no packet bypasses these classes: name one of them")),
        Some(name) => match places.iter().find(|p| classes[p.number].name() == name && names.contains(name)) {
            Some(p) if p.leaf.is_some() => Ok(()),
            Some(_) => Err(Problem::new("default", format!("`{name}` has classes below it: name one of those"))),
            None => Err(Problem::new("default", unknown(name, if bypass { ", or \"direct\"" } else { "" }))),
        },
    }
}
