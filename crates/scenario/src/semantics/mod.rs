//! What the schema cannot say: whether the parts of a scenario fit one another. Completes the scenario on the way.

mod bottleneck;
mod channels;
mod controls;
mod flows;
mod impairments;
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

/// The state of the checks.
struct Semantics<'a> {
    root: &'a Node,
    sources: &'a Sources,
    found: Diagnostics,
    warnings: Vec<Warning>,
    /// Groups of flows that something is wrong with: their members tell nothing new.
    bad_flows: HashSet<String>,
    /// What was found at places in the builder's table.
    of_builder: HashSet<(usize, String)>,
    /// What the topology builder says about its hosts.
    hosts: Option<String>,
    /// Whether the builder could not build, so that nothing is known of its nodes.
    no_graph: bool,
}

impl<'a> Semantics<'a> {
    fn new(root: &'a Node, sources: &'a Sources) -> Self {
        let (found, warnings) = (Diagnostics::default(), Vec::new());
        Self { root, sources, found, warnings, bad_flows: HashSet::new(), of_builder: HashSet::new(), hosts: None, no_graph: false }
    }
    /// A finding at the value of `path`, or at the deepest part of it that was written.
    fn fail(&mut self, code: Code, path: &[&str], message: impl Into<String>, help: impl Into<String>) {
        self.fail_at(code, self.root.place(path), path, message, help);
    }
    /// A finding at the key of `path`.
    fn fail_key(&mut self, code: Code, path: &[&str], message: impl Into<String>, help: impl Into<String>) {
        self.fail_at(code, self.root.key_place(path), path, message, help);
    }
    /// A finding at a place.
    fn fail_at(&mut self, code: Code, span: Span, path: &[&str], message: impl Into<String>, help: impl Into<String>) {
        if let ["flows", name, ..] = path {
            self.bad_flows.insert((*name).to_owned());
        }
        let (path, message, sources) = (join(path), message.into(), self.sources);
        self.found.find((code, span, &path, &message), || sources.diagnostic(code, span, &path, message.as_str(), help));
    }
    /// A finding at what a builder makes links of: once, not for each of its links.
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

/// Flows from which on reading takes much memory, most of it for a while.
const MANY_FLOWS: u64 = 10_000;

/// Checks a scenario and completes it.
pub(crate) fn complete(scenario: Scenario, root: &Node, sources: &Sources) -> Result<Resolved, Diagnostics> {
    if scenario.flows.values().map(|f| u64::from(f.most())).sum::<u64>() < MANY_FLOWS {
        return complete_here(scenario, root, sources);
    }
    // On a thread that is over then: allocators give what it had to the next thread, which is that of the run. What is freed on the thread of the
    // caller stays there, between what is not.
    std::thread::scope(|t| t.spawn(|| complete_here(scenario, root, sources)).join()).unwrap_or_else(|e| std::panic::resume_unwind(e))
}

fn complete_here(mut scenario: Scenario, root: &Node, sources: &Sources) -> Result<Resolved, Diagnostics> {
    let mut s = Semantics::new(root, sources);
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
    s.doubts(&scenario, &network, &links, &groups, &flows);
    // What they judge by are paths of the fewest links.
    if scenario.route_by == RouteBy::Hops {
        s.bottlenecks(&scenario, &network, &links, &groups, &flows);
    }
    Ok(Resolved {
        scenario,
        expanded: Expanded { nodes, positions, links, channels, flows, controls, groups },
        warnings: s.warnings,
        changes: Vec::new(),
    })
}

impl Semantics<'_> {
    fn times(&mut self, s: &Scenario) {
        if s.warmup >= s.duration {
            let message = format!("the warm-up of {} leaves nothing of the duration of {}", s.warmup, s.duration);
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

/// The group a member belongs to.
fn group_of<'g>(groups: &'g [Group], m: &Member) -> Option<&'g Group> {
    groups.get(m.group_index)
}
