//! Checks that a schema cannot express, between parts of a scenario. Also completes the scenario.

mod bottleneck;
mod channels;
mod controls;
mod flows;
mod impairments;
mod known;
mod links;
mod network;
mod pairs;
mod warnings;

use crate::code::{Code, Warning};
use crate::diag::{Diagnostics, Sources, Span};
use crate::expand::{Expanded, Group, LinkDir, Member};
use crate::resolved::Resolved;
use crate::source::{Node, join};
use crate::spec::{RouteBy, Scenario};
use fairlane_units::Name;
pub(crate) use impairments::findings;
pub(crate) use known::Known;
pub(crate) use links::wires;
use network::Network;
use std::collections::HashSet;

/// Most nodes of a network.
const MOST_NODES: usize = 3_000_000;
/// Most link directions of a network.
const MOST_LINKS: usize = 5_000_000;
/// Most flows.
const MOST_FLOWS: u64 = 1_000_000;
/// Most rows of all time series together.
const MOST_ROWS: u64 = 10_000_000;

/// State of the checks.
struct Semantics<'a> {
    root: &'a Node,
    sources: &'a Sources,
    found: Diagnostics,
    warnings: Vec<Warning>,
    /// Groups of flows with reported errors; errors of their members are redundant.
    bad_flows: HashSet<String>,
    /// Findings in the builder's table.
    of_builder: HashSet<(usize, String)>,
    /// Host names of the topology builder.
    hosts: Option<String>,
    /// True if the builder failed, so its nodes are unknown.
    no_graph: bool,
    /// Completed parts of a similar scenario.
    known: Option<&'a Known>,
}

impl<'a> Semantics<'a> {
    fn new(root: &'a Node, sources: &'a Sources, known: Option<&'a Known>) -> Self {
        let (found, warnings) = (Diagnostics::default(), Vec::new());
        Self { root, sources, found, warnings, bad_flows: HashSet::new(), of_builder: HashSet::new(), hosts: None, no_graph: false, known }
    }
    /// Reports an error at the value of `path`, or at its deepest written part.
    fn fail(&mut self, code: Code, path: &[&str], message: impl Into<String>, help: impl Into<String>) {
        self.fail_at(code, self.root.place(path), path, message, help);
    }
    /// Reports an error at the key of `path`.
    fn fail_key(&mut self, code: Code, path: &[&str], message: impl Into<String>, help: impl Into<String>) {
        self.fail_at(code, self.root.key_place(path), path, message, help);
    }
    /// True if the key of `path` was written in an option only, not in the file.
    fn is_option(&self, path: &[&str]) -> bool {
        self.sources.is_option(self.root.key_place(path))
    }
    /// Reports an error at a place.
    fn fail_at(&mut self, code: Code, span: Span, path: &[&str], message: impl Into<String>, help: impl Into<String>) {
        if let ["flows", name, ..] = path {
            self.bad_flows.insert((*name).to_owned());
        }
        let (path, message, sources) = (join(path), message.into(), self.sources);
        self.found.find((code, span, &path, &message), || sources.diagnostic(code, span, &path, message.as_str(), help));
    }
    /// Reports an error in the builder's table once, not for each of its links.
    fn fail_made(&mut self, code: Code, span: Span, path: &[&str], message: impl Into<String>, help: impl Into<String>) {
        let message = message.into();
        if self.of_builder.insert((span.start, message.clone())) {
            self.fail_at(code, span, path, message, help);
        }
    }
    fn warn(&mut self, code: Code, text: String) {
        let warning = Warning { code, text };
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }
}

/// Number of flows from which reading takes much memory, most of it temporary.
const MANY_FLOWS: u64 = 10_000;

/// Checks a scenario and completes it.
pub(crate) fn complete(scenario: Scenario, root: &Node, sources: &Sources) -> Result<Resolved, Diagnostics> {
    complete_like(None, scenario, root, sources)
}

/// Checks a scenario and completes it; parts that are equal to those of a known one are taken from there.
pub(crate) fn complete_like(known: Option<&Known>, scenario: Scenario, root: &Node, sources: &Sources) -> Result<Resolved, Diagnostics> {
    if scenario.flows.values().map(|f| u64::from(f.most())).sum::<u64>() < MANY_FLOWS {
        return complete_here(known, scenario, root, sources);
    }
    // On a thread of its own, whose memory the allocator passes to the next thread, that of the run. Memory freed on the caller's
    // thread would stay there between live blocks.
    std::thread::scope(|t| t.spawn(|| complete_here(known, scenario, root, sources)).join())
        .unwrap_or_else(|e| std::panic::resume_unwind(e))
}

fn complete_here(known: Option<&Known>, mut scenario: Scenario, root: &Node, sources: &Sources) -> Result<Resolved, Diagnostics> {
    let mut s = Semantics::new(root, sources, known);
    s.times(&scenario);
    let (mut nodes, mut positions, mut links) = s.links(&mut scenario);
    let channels = s.channels(&mut scenario, &mut nodes, &mut links);
    s.positions(&scenario, &nodes, &channels, &mut positions);
    let network = Network::new(&nodes, &links, &channels);
    let (groups, flows) = s.flows(&mut scenario, &network, &links);
    s.two_rates();
    s.wires(&links, scenario.topology.as_ref().map(|t| t.name()));
    s.queues(&scenario, &network, &links, &flows);
    s.rows(&scenario, &nodes, &links, &flows);
    let controls = if s.found.is_empty() { s.controls(&scenario, &network, &flows) } else { Vec::new() };
    if s.found.is_empty() {
        s.routes(&network, &flows);
    }
    if !s.found.is_empty() {
        return Err(s.found);
    }
    for text in sources.notes() {
        s.warn(Code::NotModelled, text);
    }
    s.collect_warnings(&scenario, &network, &links, &groups, &flows);
    // These checks use the paths with the fewest links.
    if scenario.route_by == RouteBy::Hops {
        s.bottlenecks(&scenario, &network, &links, &groups, &flows);
    }
    Ok(Resolved {
        scenario,
        expanded: Expanded { nodes, positions, links, channels, flows: flows.into(), controls, groups: groups.into() },
        warnings: s.warnings,
        changes: Vec::new(),
    })
}

impl Semantics<'_> {
    fn times(&mut self, s: &Scenario) {
        if s.warmup >= s.duration {
            let message = format!("the warm-up of {} is not shorter than the duration of {}", s.warmup, s.duration);
            self.fail(Code::WarmupTooLong, &["warmup"], message, "write a warm-up shorter than the duration");
        }
    }

    fn rows(&mut self, s: &Scenario, nodes: &[Name], links: &[LinkDir], flows: &[Member]) {
        let Some(step) = s.sample.filter(|d| d.as_ps() > 0) else { return };
        let steps = s.duration.as_ps() / step.as_ps() + 1;
        let flows = if s.report.is_flows() { flows.len() as u64 } else { 0 };
        let series = flows + crate::build::watched(s, nodes, links).len() as u64;
        let rows = steps.saturating_mul(series);
        if rows > MOST_ROWS {
            // In whole microseconds, rounded up.
            let fit = s.duration.as_secs_f64() * series as f64 / MOST_ROWS as f64 * 1e6;
            let fit = fairlane_units::Dur::from_us(fit as u64 + 1);
            let message = format!("a step of {step} makes {rows} rows of time series, the limit is {MOST_ROWS}");
            self.fail(Code::TooManyRows, &["sample"], message, format!("write a step of at least \"{fit}\""));
        }
    }
}

/// Group of a member.
fn group_of<'g>(groups: &'g [Group], m: &Member) -> Option<&'g Group> {
    groups.get(m.group_index)
}
