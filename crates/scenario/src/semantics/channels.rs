//! Checks of wireless channels, and the links that are their stations' interfaces.

use super::Semantics;
use crate::channel::ChannelAt;
use crate::code::Code;
use crate::expand::{Hop, LinkDir};
use crate::spec::{ChannelSpec, Direction, LinkSpec, PropagationSpec, QueueTable, RoutesSpec, RoutingSpec, Scenario, Wire};
use fairlane_net::Impairments;
use fairlane_units::{Dur, Name, Rate};
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Most stations of a channel: every station is compared with every other one.
const MOST_STATIONS: usize = 2_000;

impl Semantics<'_> {
    /// Moves queues that are written under `links` by the names of stations' interfaces to their channels.
    pub(super) fn interfaces(&mut self, scenario: &mut Scenario) {
        for (channel, spec) in &mut scenario.wireless {
            let suffix = format!("-{channel}");
            let refines = |name: &str, link: &LinkSpec| link.from.is_none() && link.to.is_none() && name.ends_with(&suffix);
            let names: Vec<String> = scenario.links.iter().filter(|(n, l)| refines(n, l)).map(|(n, _)| n.clone()).collect();
            if names.is_empty() {
                continue;
            }
            let nodes: HashSet<String> = spec.stations(channel).into_iter().map(|s| s.node).collect();
            for name in names {
                let Some(node) = name.strip_suffix(&suffix).filter(|n| nodes.contains(*n)) else { continue };
                let Some(link) = scenario.links.shift_remove(&name) else { continue };
                let queue = link.forward.queue.clone();
                let only = LinkSpec { forward: Direction { queue: queue.clone(), ..Direction::default() }, ..LinkSpec::default() };
                if link != only {
                    let message = format!("`{name}` is the interface of a wireless station: its rate is that of the channel");
                    self.fail(Code::ChannelUnfit, &["links", &name], message, "write only its queue here, all else under [wireless.NAME]");
                }
                let below = spec.queues.get(node).or(spec.queue.as_ref());
                if let Some(queue) = QueueTable::over(queue.as_ref(), below) {
                    spec.queues.insert(node.to_owned(), queue);
                }
            }
        }
    }

    /// Builds the channels; adds their nodes and interfaces to those of the wired network.
    pub(super) fn channels(&mut self, scenario: &mut Scenario, nodes: &mut Vec<Name>, links: &mut Vec<LinkDir>) -> Vec<ChannelAt> {
        if scenario.wireless.is_empty() {
            return Vec::new();
        }
        let mut taken: HashSet<Name> = links.iter().map(|l| l.name.clone()).collect();
        // In the order of `nodes`: the index is the number of a node.
        let mut known: IndexSet<Name, FxBuildHasher> = nodes.iter().cloned().collect();
        let mut all = Vec::new();
        let duration = scenario.duration;
        for (number, (name, spec)) in scenario.wireless.iter_mut().enumerate() {
            spec.queue = Some(QueueTable::from(&spec.queue.as_ref().map(QueueTable::spec).unwrap_or_default()));
            for queue in spec.queues.values_mut() {
                *queue = QueueTable::from(&queue.spec());
            }
            let before = self.found.count();
            self.rules(name, spec);
            let stations = spec.stations(name);
            if stations.len() > MOST_STATIONS {
                let message = format!("channel `{name}` has {} stations", stations.len());
                self.fail(Code::TooLarge, &["wireless", name], message, format!("the limit is {MOST_STATIONS}"));
            } else {
                // Nodes of an invalid channel are still known nodes.
                nodes.extend(stations.iter().map(|s| Name::from(&s.node)).filter(|n| known.insert(n.clone())));
            }
            if self.found.count() > before {
                continue;
            }
            let moving = match spec.moving(name, &stations, duration) {
                Ok(moving) => moving,
                Err(m) => {
                    let path: Vec<&str> = ["wireless", name.as_str()].into_iter().chain(m.path.iter().map(String::as_str)).collect();
                    self.fail(Code::ChannelUnfit, &path, m.message, m.help);
                    continue;
                }
            };
            let at = spec.at(name, moving);
            if at.moving.is_some() && spec.routes == RoutesSpec::Follow {
                self.two_ways(name, scenario.routing, scenario.reroute.is_some(), links);
            }
            self.places(spec, &at);
            if self.found.count() > before {
                continue;
            }
            for station in &at.stations {
                let link = at.link(&station.node);
                if !taken.insert(link.clone().into()) {
                    let message = format!("the interface of `{}` is the link `{link}`, which already exists", station.node);
                    self.fail_key(Code::NameTaken, &["wireless", name], message, "give the channel another name");
                }
                let wire = Arc::new(wire(spec, &station.node));
                let from = known.get_index_of(station.node.as_str()).unwrap_or_default() as u32;
                links.push(LinkDir::new(link.into(), from, Hop::Channel(number), wire));
            }
            all.push(at);
        }
        for name in scenario.wireless.keys().filter(|n| known.contains(n.as_str())) {
            let message = format!("`{name}` is both a node and a channel");
            self.fail_key(Code::NameTaken, &["wireless", name], message, "give one of them another name");
        }
        all
    }

    /// Routes that follow stations are computed for the whole network; routes around failures and per-packet routes are computed node by node.
    fn two_ways(&mut self, channel: &str, routing: RoutingSpec, reroute: bool, links: &[LinkDir]) {
        let help = format!("remove one of them, or write routes = \"static\" under [wireless.{channel}]");
        let mut unfit = |key: &str, what: &str| {
            self.fail_key(
                Code::ChannelUnfit,
                &[key],
                format!("{what}, and those of channel `{channel}` follow its stations"),
                help.clone(),
            );
        };
        if routing == RoutingSpec::EcmpPackets {
            unfit("routing", "routes are chosen per packet");
        }
        if reroute && links.iter().any(|l| !l.wire.down.is_empty()) {
            unfit("reroute", "routes follow links that fail");
        }
    }

    /// Checks rates, windows and names.
    fn rules(&mut self, name: &str, spec: &ChannelSpec) {
        let path = |key| ["wireless", name, key];
        let standard = spec.standard.0;
        let rates =
            |list: &[u32]| list.iter().map(|&k| format!("\"{}\"", Rate::from_bps(u64::from(k) * 1000))).collect::<Vec<_>>().join(", ");
        if let (None, Some(rate)) = (spec.tone(), spec.rate) {
            let help = format!("it has {}", rates(standard.wave.rates()));
            self.fail(Code::ChannelUnfit, &path("rate"), format!("{} has no rate of {rate}", standard.name), help);
        }
        if let (Some(None), Some(rate)) = (spec.control_tone(), spec.control_rate) {
            let help = format!("it has {}", rates(standard.wave.rates()));
            self.fail(Code::ChannelUnfit, &path("control_rate"), format!("{} has no rate of {rate}", standard.name), help);
        }
        for (key, cw) in [("cw_min", spec.cw_min), ("cw_max", spec.cw_max)] {
            if let Some(cw) = cw.filter(|cw| !(cw + 1).is_power_of_two()) {
                let near = (cw + 1).next_power_of_two() - 1;
                let message = format!("a contention window of {cw} is not one less than a power of two");
                self.fail(Code::ChannelUnfit, &path(key), message, format!("write {} or {near}", near / 2));
            }
        }
        let (least, most) = (spec.cw_min.unwrap_or(standard.cw_min), spec.cw_max.unwrap_or(standard.cw_max));
        if least > most {
            let key = if spec.cw_min.is_some() { "cw_min" } else { "cw_max" };
            self.fail(
                Code::ChannelUnfit,
                &path(key),
                format!("the smallest window of {least} is above the largest of {most}"),
                "exchange them",
            );
        }
        let placed = [
            ("grid", spec.grid.as_ref().map(|g| (&g.name, g.rows * g.columns))),
            ("ring", spec.ring.as_ref().map(|r| (&r.name, r.count))),
            ("scatter", spec.scatter.as_ref().map(|s| (&s.name, s.count))),
        ];
        for (key, place) in placed {
            if let Some((template, count)) = place
                && count > 1
                && !template.contains("{i}")
            {
                let message = format!("{count} stations cannot all be named `{template}`");
                self.fail(Code::ChannelUnfit, &["wireless", name, key, "name"], message, "write {i} instead of the number");
            }
        }
    }

    /// Checks that stations are distinct, at distinct positions, and reach one another.
    fn places(&mut self, spec: &ChannelSpec, at: &ChannelAt) {
        let name = at.name.as_str();
        if at.stations.len() < 2 {
            let message = format!("channel `{name}` has {} of the two or more stations that it needs", at.stations.len());
            return self.fail(
                Code::ChannelUnfit,
                &["wireless", name],
                message,
                "write nodes = { a = [0, 0], b = [50, 0] }, or a grid, ring or scatter",
            );
        }
        let mut seen: HashMap<[u64; 2], &str> = HashMap::new();
        let mut names: HashSet<&str> = HashSet::new();
        for s in &at.stations {
            let path = ["wireless", name, "nodes", s.node.as_str()];
            if s.node.is_empty() || s.node.contains(char::is_control) {
                self.fail_key(
                    Code::ControlCharacter,
                    &path,
                    "a node's name must not be empty or contain control characters",
                    "write for instance \"a\"",
                );
            }
            if !names.insert(&s.node) {
                self.fail_key(Code::NameTaken, &path, format!("station `{}` has two positions", s.node), "name each station once");
                continue;
            }
            // One of two zeros is negative.
            let place = s.at.map(|x| (x + 0.0).to_bits());
            if let Some(other) = seen.insert(place, &s.node)
                && !matches!(spec.propagation, PropagationSpec::FixedRange(_))
            {
                let message = format!("`{}` and `{other}` are at the same position", s.node);
                let help = format!("the {} model needs distinct positions: move one by a metre", spec.propagation.name());
                self.fail(Code::ChannelUnfit, &path, message, help);
            }
        }
        let named = spec.queues.keys().map(|n| (n, "queues", n.clone()));
        let named = named.chain(spec.access_point.iter().map(|n| (n, "access_point", String::new())));
        let named = named.chain((0..).zip(&spec.access_points).map(|(i, n): (u32, _)| (n, "access_points", i.to_string())));
        let named =
            named.chain(spec.association.iter().flat_map(|(n, ap)| [(n, "association", n.clone()), (ap, "association", n.clone())]));
        for (node, key, inner) in named.filter(|(n, ..)| !names.contains(n.as_str())) {
            let known: Vec<&str> = at.stations.iter().map(|s| s.node.as_str()).collect();
            let path: Vec<&str> = ["wireless", name, key, &inner].into_iter().filter(|p| !p.is_empty()).collect();
            let help = crate::diag::suggest(node, &known, "its stations");
            self.fail(Code::UnknownNode, &path, format!("channel `{name}` has no station `{node}`"), help);
        }
        self.cells(name, spec);
        if let Err(e) = at.check(spec) {
            return self.fail(Code::ChannelUnfit, &["wireless", name], e.to_string(), "move the stations closer together");
        }
        let mut reached = vec![false; at.stations.len()];
        for &(_, to) in at.ever().iter() {
            reached[to as usize] = true;
        }
        let alone: Vec<&str> = at.stations.iter().zip(&reached).filter(|(_, r)| !**r).map(|(s, _)| s.node.as_str()).collect();
        if let Some(first) = alone.first() {
            let others = if alone.len() > 1 { format!(" (nor {} others)", alone.len() - 1) } else { String::new() };
            let message = format!("no frame of another station reaches `{first}`{others} on channel `{name}`");
            let help = format!(
                "the range is {:.0} m: move it closer, raise power_dbm, lower threshold_db{}",
                spec.reach(),
                if spec.scatter.is_some() { ", or choose another seed of scatter" } else { "" }
            );
            self.fail(Code::Island, &["wireless", name, "nodes", first], message, help);
        }
    }
}

impl Semantics<'_> {
    /// Checks access points and the stations associated with them.
    fn cells(&mut self, name: &str, spec: &ChannelSpec) {
        if spec.access_point.is_some() && !spec.access_points.is_empty() {
            let help = "write all of them under access_points";
            self.fail(Code::ChannelUnfit, &["wireless", name, "access_point"], "access_points is set, too", help);
        }
        let points: Vec<&str> = spec.points().map(String::as_str).collect();
        for (k, point) in points.iter().enumerate().filter(|(k, p)| points[..*k].contains(p)) {
            let message = format!("access point `{point}` is named twice");
            self.fail(Code::ChannelUnfit, &["wireless", name, "access_points", &k.to_string()], message, "name each once");
        }
        for (node, point) in &spec.association {
            let path = ["wireless", name, "association", node.as_str()];
            if points.contains(&node.as_str()) {
                self.fail_key(
                    Code::ChannelUnfit,
                    &path,
                    format!("`{node}` is an access point itself"),
                    "access points are associated with none",
                );
            } else if !points.contains(&point.as_str()) {
                let help = crate::diag::suggest(point, &points, "access points");
                self.fail(Code::ChannelUnfit, &path, format!("`{point}` is not an access point of channel `{name}`"), help);
            }
        }
    }
}

/// Interface of a station as a link.
fn wire(spec: &ChannelSpec, node: &str) -> Wire {
    let queue = spec.queues.get(node).or(spec.queue.as_ref()).map(QueueTable::spec).unwrap_or_default();
    let kbps = spec.tone().map_or(1, |t| t.kbps);
    Wire {
        rate: Rate::from_bps(u64::from(kbps) * 1000),
        trace: None,
        rates: Vec::new(),
        down: Vec::new(),
        delay: Dur::ZERO,
        device: None,
        weight: None,
        queue,
        impairments: Impairments::plain(),
    }
}
