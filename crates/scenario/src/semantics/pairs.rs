//! Flow groups with drawn ends or a traffic matrix, and their rates.

use super::Semantics;
use super::network::Network;
use crate::check::file::matrix_text;
use crate::code::Code;
use crate::diag::suggest;
use crate::expand::{Group, LinkDir, Member};
use crate::spec::{FlowSpec, GravityPairs, LoadSpec, MatrixPairs, PairsSpec, RandomPairs};
use crate::traffic_matrix::{Draw, MOST_PAIRS, Pair, demands, gravity};
use fairlane_units::Rate;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Most members whose path is searched for the loaded link.
const LOOKED_AT: usize = 1000;

/// Ends and rates of a group's members.
#[derive(Default)]
pub(super) struct Ends {
    pub(super) pairs: Option<Arc<[Pair]>>,
    /// Rate of each member.
    pub(super) rate: Option<Rate>,
}

impl Semantics<'_> {
    /// Computes the ends of a group with `pairs` and the rate of a group with `load`; sets `count`.
    pub(super) fn pairs(&mut self, name: &str, spec: &mut FlowSpec, network: &Network<'_>, links: &[LinkDir]) -> Ends {
        let mut ends = Ends::default();
        if let Some(pairs) = spec.pairs.clone() {
            let found = if self.no_graph { Vec::new() } else { self.drawn(name, spec, &pairs, network, links) };
            let count = u32::try_from(found.len()).unwrap_or(u32::MAX);
            if spec.count != 1 && spec.count != count {
                let message = format!("`count` says how many members `{{i}}` makes; flow `{name}` has pairs, {count} of them");
                self.fail(Code::PairsUnfit, &["flows", name, "count"], message, "leave it out");
            }
            if found.is_empty() && !self.bad_flows.contains(name) && !self.no_graph {
                self.fail(Code::PairsUnfit, &["flows", name, "pairs"], format!("flow `{name}` has no pair of nodes"), "");
            }
            spec.count = count.max(1);
            ends.pairs = Some(found.into());
        }
        if let Some(load) = spec.load.clone() {
            ends.rate = self.load(name, spec, &load, (network, links));
            if ends.pairs.iter().flat_map(|p| p.iter()).any(|p| p.rate.is_some()) {
                let message = format!("flow `{name}` has a rate for each pair and a share of a link for all");
                self.fail(Code::PairsUnfit, &["flows", name, "load"], message, "leave one of them out");
            }
        }
        ends
    }

    /// Mean rate of each member; sets missing ends to those of the link.
    fn load(&mut self, name: &str, spec: &mut FlowSpec, load: &LoadSpec, (network, links): (&Network<'_>, &[LinkDir])) -> Option<Rate> {
        let Some(link) = links.iter().find(|l| l.name == load.link) else {
            if self.found.has_room() && !self.no_graph {
                let known: Vec<&str> = links.iter().map(|l| l.name.as_str()).collect();
                let help = suggest(&load.link, &known, "known links");
                self.fail(Code::UnknownLink, &["flows", name, "load", "link"], format!("unknown link `{}`", load.link), help);
            }
            return None;
        };
        if spec.pairs.is_none()
            && spec.from.is_empty()
            && spec.to.is_empty()
            && let Some(far) = link.far()
        {
            (spec.from, spec.to) = (network.name(link.from()).to_owned(), network.name(far).to_owned());
        }
        if load.share == 0.0 {
            self.fail(Code::PairsUnfit, &["flows", name, "load", "share"], "a share of 0 gives no load", "leave the flows out");
        }
        let active = (f64::from(spec.count) * spec.active + 0.5).floor().max(1.0);
        Some(Rate::from_bps((link.wire.rate.as_bps() as f64 * load.share / active + 0.5) as u64))
    }

    /// Checks that the source of members with a given rate can have one.
    pub(super) fn rates(&mut self, spec: &FlowSpec, group: &Group, members: &[Member]) {
        let Some(rate) = members.iter().find_map(|m| m.rate) else { return };
        if group.source.at(rate, group.transport.header()).is_some() {
            return;
        }
        let why = if spec.load.is_some() { "a share of a link" } else { "rates of pairs" };
        let message = format!("flow `{}` has {why}, and the source {} has no mean rate that can be set", group.name, group.source.name());
        let help = "write source.cbr, source.poisson or source.on_off";
        self.fail(Code::SourceUnfit, &["flows", &group.name, "source"], message, help);
    }

    /// Checks that flows with a load on a link cross that link.
    pub(super) fn crossing(&mut self, name: &str, load: &LoadSpec, members: &[Member], network: &Network<'_>, links: &[LinkDir]) {
        let Some(wanted) = links.iter().position(|l| l.name == load.link).filter(|_| !self.no_graph) else { return };
        let passes = |m: &&Member| {
            // A missing path is reported elsewhere.
            network.path(m.from.0 as usize, m.to.0 as usize).is_none_or(|path| path.contains(&wanted))
        };
        // A parallel link may join the same ends.
        let ends = (Some(links[wanted].from()), links[wanted].far());
        let parallel = |m: &&Member| (Some(m.from), Some(m.to)) == ends;
        if let Some(m) = members.iter().take(LOOKED_AT).find(|m| !passes(m) && !parallel(m)) {
            let (from, to) = (network.name(m.from), network.name(m.to));
            let message = format!("flow `{}` from `{from}` to `{to}` does not pass the link `{}`", m.name, load.link);
            self.fail(
                Code::PairsUnfit,
                &["flows", name, "load", "link"],
                message,
                "leave `from` and `to` out: the flows go from its start to its end",
            );
        }
    }

    fn drawn(&mut self, name: &str, spec: &FlowSpec, pairs: &PairsSpec, network: &Network<'_>, links: &[LinkDir]) -> Vec<Pair> {
        let path = ["flows", name, "pairs"];
        for (key, written) in
            [("from", !spec.from.is_empty()), ("to", !spec.to.is_empty()), ("permute", spec.permute), ("first", spec.first > 0)]
        {
            if written {
                let message = format!("flow `{name}` has pairs and `{key}`");
                self.fail(Code::PairsUnfit, &["flows", name, key], message, "pairs set the ends: leave it out");
            }
        }
        let nodes = match &pairs.among {
            None => network.hosts(),
            Some(among) => self.among(name, among, network),
        };
        match (&pairs.random, &pairs.matrix, &pairs.gravity) {
            (Some(r), None, None) => self.random(name, r, &nodes),
            (None, Some(m), None) => self.matrix(name, m, network, pairs.among.as_deref()),
            (None, None, Some(g)) => self.gravity(name, g, &nodes, network, links),
            _ => {
                let help = "write pairs.random = { share = 0.5 }, pairs.matrix = { file = \"FILE.csv\" } or pairs.gravity = { total = \"100Mbit/s\" }";
                self.fail(Code::PairsUnfit, &path, format!("flow `{name}`: expected one of random, matrix and gravity"), help);
                Vec::new()
            }
        }
    }

    /// Nodes that take part.
    fn among<'n>(&mut self, name: &str, among: &'n [String], network: &Network<'_>) -> Vec<&'n str> {
        let mut seen = HashSet::new();
        for (i, node) in among.iter().enumerate() {
            let place = i.to_string();
            let path = ["flows", name, "pairs", "among", place.as_str()];
            if network.node(node).is_none() && self.found.has_room() {
                let help = suggest(node, &network.names(), "known nodes");
                self.fail(Code::UnknownNode, &path, format!("unknown node `{node}`"), help);
            } else if !seen.insert(node.as_str()) {
                self.fail(Code::NameTaken, &path, format!("node `{node}` appears twice"), "name each node once");
            }
        }
        among.iter().map(String::as_str).collect()
    }

    fn random(&mut self, name: &str, random: &RandomPairs, nodes: &[&str]) -> Vec<Pair> {
        let path = ["flows", name, "pairs", "random"];
        let draw = Draw { group: name, seed: random.seed };
        if nodes.len() < 2 {
            self.fail(Code::PairsUnfit, &path, format!("pairs of {} nodes cannot be drawn", nodes.len()), "name two or more under `among`");
            return Vec::new();
        }
        match (random.share, random.count) {
            (Some(share), None) if share > 0.0 => draw.share(nodes, share),
            (Some(_), None) => {
                self.fail(Code::PairsUnfit, &[&path[..], &["share"]].concat(), "no node would send", "write a share above 0, up to 1");
                Vec::new()
            }
            (None, Some(count)) if self.room_for(&path, nodes.len(), count) => draw.some(nodes, |_, _| 1.0, count as usize),
            (None, Some(_)) => Vec::new(),
            _ => {
                let help = "write share = 0.25, the share of the nodes that send, or count = 20, a number of pairs";
                self.fail(Code::PairsUnfit, &path, "expected either a share or a count", help);
                Vec::new()
            }
        }
    }

    /// Checks that there are so many pairs, and not too many to examine.
    fn room_for(&mut self, path: &[&str], nodes: usize, count: u32) -> bool {
        let all = nodes * (nodes - 1);
        let at = [path, &["count"]].concat();
        if all > MOST_PAIRS {
            let message = format!("{nodes} nodes have {all} pairs, the limit is {MOST_PAIRS}");
            self.fail(Code::TooLarge, &at, message, "name fewer under `among`, or write a share");
        } else if count as usize > all {
            self.fail(Code::PairsUnfit, &at, format!("{nodes} nodes have {all} pairs, not {count}"), "each pair is drawn at most once");
        } else {
            return true;
        }
        false
    }

    fn matrix(&mut self, name: &str, matrix: &MatrixPairs, network: &Network<'_>, among: Option<&[String]>) -> Vec<Pair> {
        let path = ["flows", name, "pairs", "matrix"];
        let (list, of_file) = match (&matrix.file, &matrix.demands) {
            // Checked when the file was read.
            (Some(file), None) => (demands(&matrix_text(file.values())).unwrap_or_default(), true),
            (None, Some(list)) => (list.clone(), false),
            _ => {
                let help = "write file = \"FILE.csv\", or demands = [{ from = \"a\", to = \"b\", rate = \"2Mbit/s\" }]";
                self.fail(Code::PairsUnfit, &path, "expected either a file or a list of demands", help);
                return Vec::new();
            }
        };
        let wanted: Option<HashSet<&str>> = among.map(|a| a.iter().map(String::as_str).collect());
        let mut before: HashMap<(&str, &str), usize> = HashMap::new();
        let mut pairs = Vec::new();
        for (i, d) in list.iter().enumerate() {
            let number = i.to_string();
            let at = if of_file { [&path[..], &["file"]].concat() } else { [&path[..], &["demands", &number]].concat() };
            if let Some(node) = [&d.from, &d.to].into_iter().find(|n| network.node(n).is_none()) {
                let help = if self.found.has_room() { suggest(node, &network.names(), "known nodes") } else { String::new() };
                self.fail(Code::UnknownNode, &at, format!("demand {}: unknown node `{node}`", i + 1), help);
            } else if d.from == d.to {
                self.fail(Code::EndsMeet, &at, format!("demand {} leads from `{}` to itself", i + 1, d.from), "leave it out");
            } else if let Some(first) = before.insert((&d.from, &d.to), i) {
                let message = format!("demands {} and {} both lead from `{}` to `{}`", first + 1, i + 1, d.from, d.to);
                self.fail(Code::NameTaken, &at, message, "add their rates up");
            } else if wanted.as_ref().is_none_or(|w| w.contains(d.from.as_str()) && w.contains(d.to.as_str())) {
                pairs.push(Pair { from: d.from.clone(), to: d.to.clone(), rate: d.rate });
            }
        }
        pairs
    }

    fn gravity(&mut self, name: &str, spec: &GravityPairs, nodes: &[&str], network: &Network<'_>, links: &[LinkDir]) -> Vec<Pair> {
        let path = ["flows", name, "pairs", "gravity"];
        let before = self.found.count();
        for (node, &mass) in spec.masses.iter().flatten() {
            let at = [&path[..], &["masses", node]].concat();
            if network.node(node).is_none() && self.found.has_room() {
                let help = suggest(node, &network.names(), "known nodes");
                self.fail_key(Code::UnknownNode, &at, format!("unknown node `{node}`"), help);
            } else if !(mass >= 0.0 && mass.is_finite()) {
                self.fail(Code::PairsUnfit, &at, format!("the mass of `{node}` is {mass}"), "write a number of 0 or more");
            }
        }
        if self.found.count() > before {
            return Vec::new();
        }
        let masses: Vec<f64> = match &spec.masses {
            Some(given) => nodes.iter().map(|&n| given.get(n).copied().unwrap_or(0.0)).collect(),
            None => {
                let mut of: HashMap<&str, f64> = HashMap::new();
                let wired = links.iter().filter(|l| !l.on_air());
                wired.for_each(|l| *of.entry(network.name(l.from())).or_default() += l.wire.rate.as_bps() as f64);
                nodes.iter().map(|&n| of.get(n).copied().unwrap_or(0.0)).collect()
            }
        };
        let heavy = masses.iter().filter(|&&m| m > 0.0).count();
        if heavy < 2 {
            self.fail(Code::PairsUnfit, &path, "fewer than two nodes have a mass", "write masses = { NODE = 1.5, OTHER = 2 }");
            return Vec::new();
        }
        match (spec.count, spec.total) {
            (Some(_), Some(_)) => {
                let message = "random pairs have no rates: `count` and `total` do not go together";
                self.fail(Code::PairsUnfit, &path, message, "leave one of them out");
                Vec::new()
            }
            (Some(count), None) if self.room_for(&path, heavy, count) => {
                Draw { group: name, seed: spec.seed }.some(nodes, |a, b| masses[a] * masses[b], count as usize)
            }
            (Some(_), None) => Vec::new(),
            (None, total) => {
                if heavy * (heavy - 1) > super::MOST_FLOWS as usize {
                    let message = format!("{heavy} nodes have {} pairs, which are too many flows", heavy * (heavy - 1));
                    self.fail(Code::TooLarge, &path, message, format!("the limit is {}; write a count", super::MOST_FLOWS));
                    return Vec::new();
                }
                gravity(nodes, &masses, total)
            }
        }
    }
}
