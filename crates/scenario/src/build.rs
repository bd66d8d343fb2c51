//! From a resolved scenario to the world that runs.

use crate::expand::LinkDir;
use crate::spec::Scenario;
use std::collections::HashMap;

/// Up to this many link directions, all of them have time series.
const FEW: usize = 256;

/// Numbers of the link directions whose time series are recorded: all of a small network; of a larger one those between
/// routers and those named under `links`.
pub fn watched(scenario: &Scenario, links: &[LinkDir]) -> Vec<usize> {
    if links.len() <= FEW {
        return (0..links.len()).collect();
    }
    let mut degree: HashMap<&str, usize> = HashMap::new();
    for l in links {
        *degree.entry(&l.from).or_default() += 1;
    }
    let inner = |node: &str| degree.get(node).is_some_and(|&d| d > 1);
    let named = |l: &LinkDir| scenario.links.contains_key(l.name.strip_suffix(".reverse").unwrap_or(&l.name));
    (0..links.len()).filter(|&i| inner(&links[i].from) && inner(&links[i].to) || named(&links[i])).collect()
}
