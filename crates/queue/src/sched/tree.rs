//! Class trees written as a list, in which each class names the class above it, as `tc class add ... parent` does.

use super::bank::ClassSpec;
use crate::discipline::{Discipline, Problem};
use fairlane_net::BuildContext;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// Common part of the parameters of a class of a tree.
pub(crate) trait TreeClass: ClassSpec {
    /// Its name.
    fn name(&self) -> &str;
    /// Name of the class above it.
    fn parent(&self) -> Option<&str>;
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
    let mut leaves = (0..classes.len()).filter(|&i| below[i].is_empty());
    let mut leaf_of = vec![None; classes.len()];
    (0..).zip(leaves.by_ref()).for_each(|(n, i)| leaf_of[i] = Some(n));
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

/// True if the names make a tree of at most `most` levels, and each class without others below it has a valid queue behind the link that
/// `behind` gives.
pub(crate) fn check_tree<C: TreeClass>(
    classes: &[C],
    default: Option<&str>,
    most: usize,
    behind: impl for<'a> Fn(&C, &BuildContext<'a>) -> BuildContext<'a>,
    context: &BuildContext<'_>,
) -> Result<(), Problem> {
    if classes.is_empty() {
        return Err(Problem::new("classes", "no class is given: write for instance [{ name = \"all\", rate = \"10Mbit/s\" }]"));
    }
    let known = || classes.iter().map(C::name).filter(|n| !n.is_empty()).collect::<Vec<_>>().join(", ");
    for (i, c) in classes.iter().enumerate() {
        if !c.name().is_empty() && classes[..i].iter().any(|other| other.name() == c.name()) {
            return Err(Problem::new(format!("classes.{i}.name"), format!("`{}` is the name of a class before it", c.name())));
        }
        if c.name() == DIRECT {
            return Err(Problem::new(format!("classes.{i}.name"), "it stands for packets that bypass the classes: choose another name"));
        }
        if let Some(parent) = c.parent().filter(|p| p.is_empty() || !classes.iter().any(|other| other.name() == *p)) {
            return Err(Problem::new(format!("classes.{i}.parent"), format!("no class is called `{parent}`: classes are {}", known())));
        }
    }
    let places = places(classes);
    if let Some(i) = (0..classes.len()).find(|i| !places.iter().any(|p| p.number == *i)) {
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
        c.select().check(context).map_err(|message| Problem::new(format!("classes.{i}.match"), message))?;
        c.queue().check(&behind(c, context)).map_err(|p| p.within(&format!("classes.{i}.queue")))?;
    }
    match default {
        None | Some(DIRECT) => Ok(()),
        Some(name) => match places.iter().find(|p| classes[p.number].name() == name && !name.is_empty()) {
            Some(p) if p.leaf.is_some() => Ok(()),
            Some(_) => Err(Problem::new("default", format!("`{name}` has classes below it: name one of those"))),
            None => Err(Problem::new("default", format!("no class is called `{name}`: classes are {}, or \"direct\"", known()))),
        },
    }
}
