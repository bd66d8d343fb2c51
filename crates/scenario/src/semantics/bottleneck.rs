//! Warnings about the bottleneck: whether it is one, whether its queue can fill, and whether its flows synchronise.

use super::network::Network;
use super::{Semantics, group_of};
use crate::code::Code;
use crate::expand::{Group, LinkDir, Member, Transport};
use crate::registry::{QueueSpec, SourceSpec};
use crate::spec::Scenario;
use fairlane_net::Impairments;
use fairlane_tcp::TcpParams;
use fairlane_units::{Dur, Len, Rate, Time};
use std::collections::HashMap;

/// Most links visited while following the paths of all flows; a larger network is not judged before its run.
const MOST_STEPS: usize = 2_000_000;

/// A flow, the link directions of its path, and its round-trip time.
struct FlowPath<'a> {
    flow: &'a Member,
    there: Vec<usize>,
    rtt: Dur,
}

/// Paths of all flows.
struct Paths<'a> {
    links: &'a [LinkDir],
    groups: &'a [Group],
    all: Vec<FlowPath<'a>>,
}

impl Semantics<'_> {
    /// Warns about the link whose queue is studied, and about flows that share one.
    pub(super) fn bottlenecks<'f>(
        &mut self,
        s: &Scenario,
        network: &Network<'_>,
        links: &'f [LinkDir],
        groups: &'f [Group],
        flows: &'f [Member],
    ) {
        if flows.len().saturating_mul(2 * links.len()) > MOST_STEPS {
            return;
        }
        let path = |flow: &'f Member| {
            let (a, b) = (flow.from.0 as usize, flow.to.0 as usize);
            let (there, back) = (network.path(a, b)?, network.path(b, a)?);
            let rtt = there.iter().chain(&back).fold(Dur::ZERO, |d, &l| d + links[l].wire.delay);
            Some(FlowPath { flow, there, rtt })
        };
        let paths = Paths { links, groups, all: flows.iter().filter_map(path).collect() };
        let mut never_full = None;
        if let Some(chosen) = self.studied(links) {
            if let Some(text) = paths.other_bottleneck(chosen) {
                self.warn(Code::OtherBottleneck, text);
            } else if let Some(text) = paths.never_fills(s, chosen) {
                self.warn(Code::QueueNeverFills, text);
                never_full = Some(chosen);
            }
        }
        for (_, text) in paths.in_step().into_iter().filter(|(link, _)| Some(*link) != never_full) {
            self.warn(Code::PhaseEffects, text);
        }
    }

    /// Link whose queue a comparison replaces: `bottleneck`, or the only link with a queue of its own.
    fn studied(&self, links: &[LinkDir]) -> Option<usize> {
        let own = self.root.get("links").into_iter().flat_map(|l| l.entries()).filter(|(_, l)| l.get("queue").is_some());
        let mut own = own.map(|(name, _)| name);
        let only = own.next().filter(|_| own.next().is_none());
        links.iter().position(|l| l.name == "bottleneck").or_else(|| links.iter().position(|l| Some(l.name.as_str()) == only))
    }
}

impl<'a> Paths<'a> {
    fn rate(&self, link: usize) -> Rate {
        self.links[link].wire.rate
    }

    /// Slowest of some links; the first of equals.
    fn slowest(&self, part: &[usize]) -> Option<usize> {
        part.iter().copied().min_by_key(|&l| self.rate(l))
    }

    /// True if rates change on the path or stations share a channel; then no warning is possible.
    fn varies(&self, path: &FlowPath<'_>) -> bool {
        path.there.iter().map(|&l| &self.links[l]).any(|l| l.on_air() || l.wire.varies())
    }

    /// True if the links of a path have no impairments.
    fn plain(&self, path: &FlowPath<'_>) -> bool {
        path.there.iter().all(|&l| self.links[l].wire.impairments == Impairments::plain())
    }

    fn through(&self, link: usize) -> Vec<&FlowPath<'a>> {
        self.all.iter().filter(|w| w.there.contains(&link)).collect()
    }

    /// Describes other links, before or after this one, that carry less than it in total.
    fn other_bottleneck(&self, link: usize) -> Option<String> {
        let through = self.through(link);
        if through.is_empty() || through.iter().any(|w| self.varies(w)) {
            return None;
        }
        let (name, own) = (&self.links[link].name, self.rate(link));
        let sides = through.iter().filter_map(|w| w.there.iter().position(|&l| l == link).map(|at| (&w.there[..at], &w.there[at + 1..])));
        let (before, behind): (Vec<_>, Vec<_>) = sides.unzip();
        for (side, parts) in [("before", before), ("after", behind)] {
            // A flow without another link on this side is not limited there.
            let slowest: Option<Vec<usize>> = parts.into_iter().map(|p| self.slowest(p)).collect();
            let Some(mut slowest) = slowest else { continue };
            slowest.sort_unstable();
            slowest.dedup();
            let sum = slowest.iter().fold(0_u64, |n, &l| n.saturating_add(self.rate(l).as_bps()));
            if sum > own.as_bps() || (sum == own.as_bps() && side == "after") {
                continue;
            }
            let (first, sum) = (&self.links[slowest[0]].name, Rate::from_bps(sum));
            let those = match slowest.len() {
                1 => format!("link `{first}` {side} it carries {sum}"),
                n => format!("the {n} links {side} it, such as `{first}`, carry {sum} in all"),
            };
            return Some(format!(
                "link `{name}` of {own} is not the bottleneck: {those}, so its queue stays almost empty; lower the rate of `{name}` or raise the others"
            ));
        }
        None
    }

    /// Describes a queue that has room for everything that may be in flight.
    fn never_fills(&self, s: &Scenario, link: usize) -> Option<String> {
        let QueueSpec::Droptail(queue) = &self.links[link].wire.queue else { return None };
        let through = self.through(link);
        // If links lose packets, a queue without drops is intended.
        if !through.iter().all(|w| self.plain(w)) {
            return None;
        }
        let mut sum = 0_u64;
        let mut largest = 1;
        for w in &through {
            let Some(Transport::Tcp(p, _)) = group_of(self.groups, w.flow).map(|g| &g.transport) else { return None };
            let amount = s.flows.get(w.flow.group.as_str()).and_then(|f| f.amount).map_or(u64::MAX, |a| a.get());
            sum = sum.saturating_add(window(p).min(amount));
            largest = largest.max(p.mss.get());
        }
        let room = match queue.limit {
            Len::Packets(n) => n.saturating_mul(largest),
            Len::Bytes(n) => n,
        };
        // Packets of other flows may wait there too: acknowledgments of flows in the other direction.
        let alone = self.all.len() == through.len();
        (alone && sum > 0 && sum < u64::MAX && sum <= room).then(|| {
            let name = &self.links[link].name;
            format!(
                "the queue of link `{name}` can never fill: its limit is {}, and the windows of all flows through it are {sum} bytes; \
                 write a smaller limit, or larger windows (`window`, `receive_window`)",
                queue.limit
            )
        })
    }

    /// Finds synchronised flows: greedy flows with one round-trip time that start together at a tail-drop queue (Floyd and Jacobson, "On traffic phase
    /// effects in packet-switched gateways", 1992). Any randomness on the path breaks the synchronisation.
    fn in_step(&self) -> Vec<(usize, String)> {
        let mut at: HashMap<usize, Vec<&FlowPath<'a>>> = HashMap::new();
        for w in &self.all {
            if let Some(l) = self.slowest(&w.there) {
                at.entry(l).or_default().push(w);
            }
        }
        let mut found: Vec<(usize, String)> = at.into_iter().filter_map(|(l, paths)| Some((l, self.step_at(l, &paths)?))).collect();
        found.sort();
        found
    }

    fn step_at(&self, link: usize, paths: &[&FlowPath<'a>]) -> Option<String> {
        let greedy = |w: &FlowPath<'_>| {
            let group = group_of(self.groups, w.flow);
            group.is_some_and(|g| matches!((&g.transport, &g.source), (Transport::Tcp(..), SourceSpec::Bulk(_))))
        };
        let drops_at_end = matches!(self.links[link].wire.queue, QueueSpec::Droptail(_));
        let through = self.through(link);
        if !drops_at_end || through.len() != paths.len() || !through.iter().all(|w| greedy(w) && !self.varies(w) && self.plain(w)) {
            return None;
        }
        let mut alike: HashMap<(Dur, Time), usize> = HashMap::new();
        for w in paths {
            *alike.entry((w.rtt, w.flow.start)).or_default() += 1;
        }
        let ((rtt, _), n) = alike.into_iter().max_by_key(|&((rtt, start), n)| (n, rtt, start))?;
        let first = paths.iter().find(|w| w.rtt == rtt)?;
        (n > 1).then(|| {
            format!(
                "{n} flows over link `{}` have the same round-trip time of {rtt} and start at the same time before a DropTail queue, so they lose packets \
                 in step (phase effects); write spread = \"{rtt}\" in [flows.{}] for random starts",
                self.links[link].name,
                crate::source::join([&first.flow.group]),
            )
        })
    }
}

/// Most payload that a flow may have in flight.
pub(super) fn window(p: &TcpParams) -> u64 {
    let own = match p.window {
        Some(Len::Packets(n)) => n.saturating_mul(p.mss.get()),
        Some(Len::Bytes(n)) => n,
        None => u64::MAX,
    };
    own.min(p.receive_window.map_or(u64::MAX, |w| w.get()))
}
