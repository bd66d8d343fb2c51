//! Flow groups and their members.

use super::network::Network;
use super::pairs::Ends;
use super::{MOST_FLOWS, Semantics};
use crate::code::Code;
use crate::diag::nearest;
use crate::expand::{Group, LinkDir, Member, Transport, member_name, members, numbered, numbers, pair_name};
use crate::registry::SourceSpec;
use crate::spec::{FlowSpec, Scenario, SourceTable, StackTable, TcpTable};
use fairlane_net::{App, Class, FlowId, NodeId, Proto};
use fairlane_tcp::{TcpConfig, TcpParams};
use fairlane_traffic::Source;
use fairlane_units::{Dur, Name, Time};
use std::collections::HashMap;
use std::sync::Arc;

impl Semantics<'_> {
    /// Creates groups and members, and completes `scenario`.
    pub(super) fn flows(&mut self, scenario: &mut Scenario, network: &Network<'_>, links: &[LinkDir]) -> (Vec<Group>, Vec<Member>) {
        let (duration, seed) = (scenario.duration, scenario.seed);
        if scenario.flows.is_empty() {
            self.fail(Code::NoFlows, &["flows"], "there are no flows", "write [flows.NAME] with from, to and tcp or udp");
        }
        let mut ends: Vec<Ends> = Vec::new();
        for (name, spec) in &mut scenario.flows {
            ends.push(self.pairs(name, spec, network, links));
        }
        let total: u64 = scenario.flows.values().map(|f| u64::from(f.most())).sum();
        if total > MOST_FLOWS {
            self.fail(Code::TooLarge, &["flows"], format!("{total} flows are too many"), format!("the limit is {MOST_FLOWS}"));
            return (Vec::new(), Vec::new());
        }
        let (mut groups, mut all) = (Vec::new(), Vec::new());
        let mut names: HashMap<Name, usize> = HashMap::new();
        let single = scenario.flows.len() == 1;
        let by_hops = scenario.route_by.is_hops();
        for ((name, spec), own) in scenario.flows.iter_mut().zip(ends) {
            self.times_of(name, spec, duration);
            self.room(name, spec);
            if spec.active == 0.0 {
                let message = format!("`active = 0` starts no flow of `{name}`");
                self.fail(Code::NoMembers, &["flows", name, "active"], message, "write a share above 0, up to 1");
            }
            let ends_fit = if own.pairs.is_some() { true } else { self.ends(name, spec, network) };
            let known = self.known.and_then(|k| k.group(name, spec));
            let Some(mut group) = known.or_else(|| self.group(name, spec)) else { continue };
            group.pairs = own.pairs;
            group.rate = own.rate;
            if ends_fit && !self.is_mute(name) {
                let node = |name: &str| NodeId(network.node(name).unwrap_or_default() as u32);
                let found = members(spec, (groups.len(), &group), seed, node);
                self.rates(spec, &group, &found);
                if let Some(load) = spec.load.as_ref().filter(|_| by_hops) {
                    self.crossing(name, load, &found, network, links);
                }
                if all.is_empty() { all = found } else { all.extend(found) }
            }
            let named = |i: u32| match group.pairs.as_ref().and_then(|p| p.get(i as usize)) {
                Some(pair) => pair_name(name, pair),
                None => member_name(name, i, spec.most()),
            };
            // Members of one group have different indices.
            let alike = if single && group.pairs.is_none() { 0 } else { spec.most() };
            for i in 0..alike {
                let other = names.insert(named(i), groups.len());
                if let Some(other) = other.map(|g| groups.get(g).map_or(name.as_str(), |g: &Group| g.name.as_str())) {
                    let message = format!("two flows are named `{}`: one of group `{other}`, one of `{name}`", named(i));
                    self.fail_key(Code::NameTaken, &["flows", name], message, "give the groups names that differ by more than a number");
                }
            }
            groups.push(group);
        }
        (groups, all)
    }

    /// True if an error in a group was already reported; errors in its members are then redundant.
    fn is_mute(&self, name: &str) -> bool {
        self.bad_flows.contains(name)
    }

    fn times_of(&mut self, name: &str, spec: &FlowSpec, duration: Dur) {
        let last = spec.start + spec.stagger * u64::from(spec.count.saturating_sub(1)) + spec.spread;
        if spec.start >= duration {
            let message = format!("flow `{name}` starts at {}, the run ends at {duration}", spec.start);
            self.fail(Code::StartTooLate, &["flows", name, "start"], message, "start it earlier, or write a longer duration");
        } else if last >= duration {
            let key = if spec.stagger > Dur::ZERO { "stagger" } else { "spread" };
            let message = format!("the last of {} flows of `{name}` starts at {last}, the run ends at {duration}", spec.count);
            self.fail(Code::StartTooLate, &["flows", name, key], message, "write a shorter stagger, or a longer duration");
        }
        if let Some(stop) = spec.stop.filter(|&s| s <= last) {
            let message = format!("flow `{name}` stops at {stop}, but starts at {last}");
            self.fail(Code::StopTooEarly, &["flows", name, "stop"], message, "stop is a time of the run, counted from its start");
        }
    }

    /// Checks that the number of members, now or later, is allowed.
    fn room(&mut self, name: &str, spec: &FlowSpec) {
        let Some(room) = spec.room else { return };
        if room < spec.count {
            let message = format!("`{name}` has room for {room} flow{}, not for {}", if room == 1 { "" } else { "s" }, spec.count);
            self.fail(
                Code::OutOfRange,
                &["flows", name, "count"],
                message,
                format!("write room = {} for the group from the start", spec.count),
            );
        } else if room > spec.count && (spec.load.is_some() || spec.pairs.is_some()) {
            let message = format!("the members of `{name}` share a load or are pairs: their number is fixed");
            self.fail(Code::OutOfRange, &["flows", name, "room"], message, "write from, to and count");
        }
    }

    /// Checks that both ends of every member are different, existing nodes.
    fn ends(&mut self, name: &str, spec: &FlowSpec, network: &Network<'_>) -> bool {
        let before = self.found.count();
        for (end, template) in [("from", &spec.from), ("to", &spec.to)] {
            let path = ["flows", name, end];
            if template.is_empty() && self.root.get("flows").and_then(|f| f.get(name)?.get(end)).is_none() {
                let span = self.root.place(&path[..2]);
                self.fail_at(Code::MissingKey, span, &path, format!("`{end}` is missing"), format!("write {end} = \"NODE\", or pairs"));
                continue;
            }
            if template.replace("{i}", "").contains(['{', '}']) {
                self.fail(
                    Code::BadPlaceholder,
                    &path,
                    format!("\"{template}\" has a placeholder other than {{i}}"),
                    "write for instance \"s{i}\"",
                );
                continue;
            }
            if spec.first.checked_add(spec.most()).is_none() {
                self.fail(Code::OutOfRange, &["flows", name, "first"], "the numbers of the members are too large", "");
                return false;
            }
            let count = if template.contains("{i}") { spec.most() } else { 1 };
            let node = numbers(template);
            let missing = (0..count).filter(|_| !self.no_graph).find(|i| network.node(&node(spec.first + i)).is_none());
            if let Some(i) = missing {
                let node = numbered(template, spec.first + i);
                let member = member_name(name, i, spec.most());
                let message = if count == 1 { format!("unknown node `{node}`") } else { format!("flow `{member}`: unknown node `{node}`") };
                let help = if self.found.has_room() { self.other_node(&node, template.contains("{i}"), network) } else { String::new() };
                self.fail(Code::UnknownNode, &path, message, help);
            }
        }
        if spec.permute && (spec.most() < 2 || !spec.to.contains("{i}")) {
            self.fail(
                Code::PermutationUnfit,
                &["flows", name, "permute"],
                "a permutation needs a `{i}` in `to` and at least two members",
                "",
            );
        } else if !spec.permute
            && let (from, to) = (numbers(&spec.from), numbers(&spec.to))
            && let Some(i) = (0..spec.most()).find(|i| from(spec.first + i) == to(spec.first + i))
        {
            let message =
                format!("flow `{}` starts and ends at `{}`", member_name(name, i, spec.most()), numbered(&spec.to, spec.first + i));
            self.fail(Code::EndsMeet, &["flows", name, "to"], message, "a flow needs two different nodes");
        }
        self.found.count() == before
    }

    /// Suggestion for an unknown node; `many`: its name comes from a template.
    fn other_node(&self, node: &str, many: bool, network: &Network<'_>) -> String {
        match (&self.hosts, nearest(node, network.names())) {
            (Some(hosts), _) if many => hosts.clone(),
            (_, Some(near)) => format!("did you mean `{near}`?"),
            (Some(hosts), None) => hosts.clone(),
            (None, None) => format!("known nodes: {}", network.names().into_iter().take(16).collect::<Vec<_>>().join(", ")),
        }
    }

    /// Transport and source of a group; also completes the specification.
    fn group(&mut self, name: &str, spec: &mut FlowSpec) -> Option<Group> {
        let transport = match (&mut spec.tcp, &spec.udp) {
            (tcp, udp) if spec.stack.is_some() => {
                if let Some(other) = tcp.as_ref().map(|_| "tcp").or(udp.as_ref().map(|_| "udp")) {
                    let message = format!("flow `{name}` has both {other} and a stack");
                    self.fail(Code::TwoTransports, &["flows", name, "stack"], message, "write one of them");
                    return None;
                }
                self.stack(name, spec)?
            }
            (Some(_), Some(_)) => {
                self.fail(Code::TwoTransports, &["flows", name, "udp"], format!("flow `{name}` has both tcp and udp"), "write one of them");
                return None;
            }
            (None, None) => {
                self.fail_key(
                    Code::NoTransport,
                    &["flows", name],
                    format!("flow `{name}` has no transport"),
                    "write tcp = \"newreno\" or udp = {}",
                );
                return None;
            }
            (None, Some(udp)) => Transport::Udp(udp.clone()),
            (Some(table), None) => {
                let (params, config) = self.tcp(name, table, spec.class.first())?;
                Transport::Tcp(params, config)
            }
        };
        let mut source = match (&spec.source, &transport) {
            (Some(s), _) => s.spec(),
            (None, Transport::Tcp(..) | Transport::Stack(_)) => SourceSpec::default(),
            (None, Transport::Udp(_)) => {
                let help = "write for instance source.cbr = { rate = \"1Mbit/s\", size = \"1000B\" }";
                self.fail_key(Code::NoSource, &["flows", name], format!("flow `{name}` has no source"), help);
                return None;
            }
        };
        let over = over(&transport, &source);
        if let Err(problem) = source.check(over) {
            let path: Vec<&str> = ["flows", name, "source"].into_iter().chain(problem.field.split('.')).collect();
            self.fail(Code::SourceUnfit, &path, format!("{}: {}", source.name(), problem.message), "");
        }
        if let Transport::Stack(stack) = &transport
            && stack.has_media()
            && !matches!(source, SourceSpec::Bulk(_))
        {
            let message = format!("{} has a source of its own, its encoder; flow `{name}` has {}", stack.name(), source.name());
            self.fail(Code::StackUnfit, &["flows", name, "source"], message, "leave source out");
        }
        self.carrier(name, &transport, &source);
        source.fill(over);
        spec.source = Some(SourceTable::from(&source));
        Some(Group { name: name.to_owned(), transport, source, pairs: None, rate: None })
    }

    /// Checks a rate-controlled source: it brings its own endpoints, needs UDP below it, and must not contain a source of its kind.
    fn carrier(&mut self, name: &str, transport: &Transport, source: &SourceSpec) {
        let Some(inner) = source.carried() else { return };
        let (own, path) = (source.name(), ["flows", name, "source", source.name(), "source"]);
        if !matches!(transport, Transport::Udp(_)) {
            let other = transport.name();
            let message = format!("{own} controls the rate of a flow over udp; flow `{name}` has {other}");
            self.fail(
                Code::CarrierUnfit,
                &path[..4],
                message,
                format!("write udp = {{}} instead of {other}, or the source {} without {own}", inner.name()),
            );
        }
        if inner.carried().is_some() {
            let message = format!("{own} carries {}, which controls its rate itself", inner.name());
            self.fail(Code::CarrierUnfit, &path, message, "write one of the two");
        }
        if inner.build(FlowId(0), Time::ZERO, None).usage().dialogue {
            let message = format!("{} sends in both directions; {own} carries one direction only", inner.name());
            self.fail(Code::CarrierUnfit, &path, message, format!("write source.{} over udp or tcp", inner.name()));
        }
    }

    /// The stack of a group, if this program has it.
    fn stack(&mut self, name: &str, spec: &mut FlowSpec) -> Option<Transport> {
        let stack = spec.stack.as_ref()?.spec();
        let own = stack.name();
        if !stack.is_built() {
            let help = format!("pip install 'fairlane[stacks]', or build with --features {own}");
            self.fail(Code::StackMissing, &["flows", name, "stack", own], format!("stack {own} is not built into this fairlane"), help);
            return None;
        }
        if let Err(problem) = stack.check() {
            self.fail(Code::StackUnfit, &["flows", name, "stack", own, &*problem.field], format!("{own}: {}", problem.message), "");
            return None;
        }
        spec.stack = Some(StackTable::from(&stack));
        Some(Transport::Stack(stack))
    }

    fn tcp(&mut self, name: &str, table: &mut TcpTable, class: u8) -> Option<(TcpParams, Arc<TcpConfig>)> {
        let complete = table.complete().and_then(|(full, params)| {
            let config = TcpConfig::new(&params, Class(class))?;
            Ok((full, params, config))
        });
        match complete {
            Ok((full, params, config)) => {
                *table = full;
                Some((params, config))
            }
            Err(e) => {
                let mut path = vec!["flows", name, "tcp"];
                path.extend(e.field());
                self.fail(Code::TcpUnfit, &path, e.to_string(), "");
                None
            }
        }
    }

    /// Checks that packets of every flow reach the receiver and the sender.
    pub(super) fn routes(&mut self, network: &Network<'_>, flows: &[Member]) {
        let mut reported: Option<&str> = None;
        for m in flows {
            let (there, back) = network.joined(m.from.0 as usize, m.to.0 as usize);
            if (!there || !back) && reported != Some(&m.group) {
                let (from, to) = if there { (m.to, m.from) } else { (m.from, m.to) };
                let (from, to) = (network.name(from), network.name(to));
                let why = if there { " for its acknowledgments" } else { "" };
                let message = format!("flow `{}`: there is no route from `{from}` to `{to}`{why}", m.name);
                self.fail(
                    Code::NoRoute,
                    &["flows", &m.group, "to"],
                    message,
                    "join them by links; a link with duplex = false leads one way",
                );
                reported = Some(&m.group);
            }
        }
    }
}

/// Service below a source: amounts of data over a stack lie on streams, which are like TCP; packets are datagrams.
fn over(transport: &Transport, source: &SourceSpec) -> Proto {
    let datagrams = match transport {
        Transport::Tcp(..) => false,
        Transport::Udp(_) => true,
        Transport::Stack(_) => !source.build(FlowId(0), Time::ZERO, None).usage().amounts,
    };
    if datagrams { Proto::Udp } else { Proto::Tcp }
}
