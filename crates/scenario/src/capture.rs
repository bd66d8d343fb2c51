//! Resolves the names of captured links, nodes and flows, and collects the facts that a capture needs.

use crate::channel::ChannelAt;
use crate::diag::nearest;
use crate::endpoint::AnyEndpoint;
use crate::expand::{LinkDir, Member, Transport};
use crate::resolved::Resolved;
use fairlane_engine::EventQueue;
use fairlane_net::{EpId, FlowId, NodeId, PortId, Segment, World};
use fairlane_stacks::{Datagrams, datagram_of};
use fairlane_tcp::Scheme;
use fairlane_trace::pcapng::{Capture, FlowEnd, FlowFacts, LinkEnd, Monitor, NO_SHIFT, Network, Payload, Points, Request, Style};
use fairlane_units::Name;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Suffix of the name of a link's second direction.
const REVERSE: &str = ".reverse";
/// Names listed if none is similar.
const SHOWN: usize = 12;
/// The timestamps option in every segment, padded (RFC 7323 appendix A).
const TIMESTAMPS: u32 = 12;

/// Capture files of a set of runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captures {
    /// Capture points and their files.
    pub requests: Vec<CaptureRequest>,
    /// Format of the packets.
    pub style: Style,
}

/// One capture point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureRequest {
    /// Name of a link, a node, a flow, a group of flows or a channel; `link:NAME`, `node:NAME`, `flow:NAME`, `monitor:NAME` where two have the same.
    pub what: String,
    /// One file per seed, in the order of the seeds.
    pub files: Vec<PathBuf>,
}

/// Why a capture fails.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CaptureError {
    /// The name is unknown or ambiguous.
    #[error("{0}")]
    Name(String),
    /// A file cannot be written.
    #[error("cannot write {}: {why}", .file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// Reason.
        why: String,
    },
}

impl CaptureError {
    pub(crate) fn write((file, e): (PathBuf, std::io::Error)) -> Self {
        Self::Write { file, why: reason(&e) }
    }
    pub(crate) fn failing(file: &Path, e: &std::io::Error) -> Self {
        Self::Write { file: file.to_path_buf(), why: reason(e) }
    }
}

fn reason(e: &std::io::Error) -> String {
    use std::io::ErrorKind as K;
    match e.kind() {
        K::StorageFull | K::QuotaExceeded => "the disk is full".to_owned(),
        K::FileTooLarge => "the file would be larger than allowed".to_owned(),
        K::NotFound => "the folder does not exist".to_owned(),
        K::PermissionDenied => "no permission".to_owned(),
        _ => e.to_string().to_lowercase(),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Link,
    Node,
    Flow,
    /// A whole channel, or one station and the frames it receives.
    Monitor,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Link, Self::Node, Self::Flow, Self::Monitor];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::Node => "node",
            Self::Flow => "flow",
            Self::Monitor => "monitor",
        }
    }

    pub(crate) fn has(self, s: &Resolved, name: &str) -> bool {
        match self {
            Self::Link => s.link_directions().iter().any(|l| l.name == name),
            Self::Node => s.expanded.nodes.iter().any(|n| n == name),
            Self::Flow => s.flow_members().iter().any(|m| m.name == name || m.group == name),
            Self::Monitor => s.expanded.channels.iter().any(|c| c.name == name || c.stations.iter().any(|x| c.link(&x.node) == name)),
        }
    }

    pub(crate) fn names(self, s: &Resolved) -> Vec<&str> {
        match self {
            Self::Link => s.link_directions().iter().map(|l| l.name.as_str()).collect(),
            Self::Node => s.expanded.nodes.iter().map(Name::as_str).collect(),
            Self::Flow => {
                let members = s.flow_members().iter().filter(|m| m.name != m.group);
                s.flows.keys().map(String::as_str).chain(members.map(|m| m.name.as_str())).collect()
            }
            Self::Monitor => {
                let stations = s.link_directions().iter().filter(|l| l.on_air()).map(|l| l.name.as_str());
                s.expanded.channels.iter().map(|c| c.name.as_str()).chain(stations).collect()
            }
        }
    }
}

/// Kind and name of the thing that `what` names.
fn find<'a>(s: &Resolved, what: &'a str) -> Result<(Kind, &'a str), CaptureError> {
    let prefixed = Kind::ALL.into_iter().find_map(|k| Some((k, what.strip_prefix(k.name())?.strip_prefix(':')?)));
    if let Some((kind, name)) = prefixed {
        return if kind.has(s, name) { Ok((kind, name)) } else { Err(unknown("capture", kind.name(), name, &kind.names(s))) };
    }
    // A station's interface is a link; monitor mode must be requested by name.
    let plain = |k: &Kind| *k != Kind::Monitor || s.wireless.contains_key(what);
    let kinds: Vec<Kind> = Kind::ALL.into_iter().filter(|k| k.has(s, what) && plain(k)).collect();
    match kinds[..] {
        [kind] => Ok((kind, what)),
        [] => Err(unknown(
            "capture",
            if s.wireless.is_empty() { "link, node or flow" } else { "link, node, flow or channel" },
            what,
            &Kind::ALL.map(|k| k.names(s)).concat(),
        )),
        _ => {
            let list = |f: &dyn Fn(&Kind) -> String, word: &str| kinds.iter().map(f).collect::<Vec<_>>().join(word);
            let (are, forms) = (list(&|k| format!("a {}", k.name()), " and "), list(&|k| format!("{}:{what}", k.name()), " or "));
            Err(CaptureError::Name(format!("`{what}` is {are}: write {forms}")))
        }
    }
}

pub(crate) fn unknown(verb: &str, kind: &str, name: &str, known: &[&str]) -> CaptureError {
    let hint = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let dots = if known.len() > SHOWN { ", ..." } else { "" };
            format!("known names: {}{dots}", known.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", "))
        }
    };
    CaptureError::Name(format!("cannot {verb} `{name}`: no {kind} has this name; {hint}"))
}

impl Captures {
    /// Checks that every name is known and unambiguous.
    ///
    /// # Errors
    /// The first name that is not.
    pub fn check(&self, scenario: &Resolved) -> Result<(), CaptureError> {
        self.requests.iter().try_for_each(|r| find(scenario, &r.what).map(|_| ()))
    }

    /// Starts the captures of run number `run` with this seed.
    pub(crate) fn begin<H: EventQueue>(
        &self,
        scenario: &Resolved,
        run: usize,
        seed: u64,
        world: &World<crate::components::BuiltIn, H>,
    ) -> Result<Option<Capture>, CaptureError> {
        if self.requests.is_empty() {
            return Ok(None);
        }
        let members = scenario.members_at(seed);
        let nodes: HashMap<&str, u32> = scenario.expanded.nodes.iter().zip(0..).map(|(n, i)| (n.as_str(), i)).collect();
        let map = Map { scenario, members: &members, nodes, world };
        let mut requests = Vec::new();
        for r in &self.requests {
            let (kind, name) = find(scenario, &r.what)?;
            let file = r.files.get(run).cloned().unwrap_or_default();
            requests.push(Request { file, points: map.points(kind, name) });
        }
        Capture::new(map.network(seed), self.style, &requests).map(Some).map_err(CaptureError::write)
    }
}

struct Map<'a, H: EventQueue> {
    scenario: &'a Resolved,
    members: &'a [Member],
    nodes: HashMap<&'a str, u32>,
    world: &'a World<crate::components::BuiltIn, H>,
}

impl<H: EventQueue> Map<'_, H> {
    fn node(&self, name: &str) -> u32 {
        self.nodes.get(name).copied().unwrap_or(0)
    }

    fn points(&self, kind: Kind, name: &str) -> Points {
        let links = self.scenario.link_directions();
        match kind {
            Kind::Link => {
                Points::Links(links.iter().zip(0..).filter(|(l, _)| l.name == name).map(|(l, i)| self.sending_end(l, i)).collect())
            }
            Kind::Node => {
                let node = self.nodes.get(name).map(|&n| NodeId(n));
                let from = links.iter().zip(0..).filter(|(l, _)| Some(l.from()) == node).map(|(l, i)| self.sending_end(l, i));
                let blind = links.iter().zip(0..).filter(|(l, _)| node.is_some() && l.far() == node && other(links, &l.name).is_none());
                Points::Links(from.chain(blind.map(|(l, i)| self.receiving_end(l, i))).collect())
            }
            Kind::Monitor => Points::Air(self.monitor(name)),
            Kind::Flow => {
                let chosen = self.members.iter().zip(0..).filter(|(m, _)| m.name == name || m.group == name);
                Points::Flows(chosen.map(|(m, i)| self.flow_end(m, i)).collect())
            }
        }
    }

    fn monitor(&self, name: &str) -> Monitor {
        let links = self.scenario.link_directions();
        let channels = &self.scenario.expanded.channels;
        let mine = |c: &&ChannelAt| c.name == name || c.stations.iter().any(|s| c.link(&s.node) == name);
        // Validation checked that it exists.
        let number = channels.iter().position(|c| mine(&c)).unwrap_or(0);
        let channel = &channels[number];
        let port = |link: &str| PortId(links.iter().position(|l| l.name == link).unwrap_or(0) as u32);
        let points = self.scenario.wireless.get(&channel.name).map(|spec| spec.points().collect::<Vec<_>>()).unwrap_or_default();
        let first = port(&channel.link(&channel.stations[0].node));
        Monitor {
            name: name.to_owned(),
            first,
            nodes: channel.stations.iter().map(|s| self.node(&s.node)).collect(),
            points: (0..).zip(&channel.stations).filter(|(_, s)| points.contains(&&s.node)).map(|(i, _)| i).collect(),
            only: (name != channel.name).then(|| port(name)),
            number: number as u32,
            rate: links[first.0 as usize].wire.rate,
        }
    }

    fn sending_end(&self, l: &LinkDir, i: u32) -> LinkEnd {
        let back = other(self.scenario.link_directions(), &l.name);
        LinkEnd {
            name: l.name.to_string(),
            node: l.from().0,
            peer: far(l),
            sends: Some(PortId(i)),
            receives: back.map(PortId),
            rate: l.wire.rate,
        }
    }

    /// Far end of a link that has no reverse direction.
    fn receiving_end(&self, l: &LinkDir, i: u32) -> LinkEnd {
        let (node, peer) = (far(l), l.from().0);
        LinkEnd { name: l.name.to_string(), node, peer, sends: None, receives: Some(PortId(i)), rate: l.wire.rate }
    }

    fn flow_end(&self, m: &Member, flow: u32) -> FlowEnd {
        let links = self.scenario.link_directions();
        let link = |p: Option<PortId>| p.and_then(|p| links.get(p.0 as usize));
        let first = link(self.world.route(EpId::sender(FlowId(flow))).next());
        let last = link(self.world.route(EpId::receiver(FlowId(flow))).last());
        FlowEnd { name: m.name.to_string(), flow, next: first.map_or(0, far), last: last.map_or(0, |l| l.from().0) }
    }

    fn network(&self, seed: u64) -> Network {
        let flows = self.members.iter().zip(0..).map(|(m, i)| self.facts(m, FlowId(i))).collect();
        let name = self.scenario.name.as_ref().map_or_else(String::new, |n| format!("{n}, "));
        let mut comment = format!(
            "Simulated packets ({name}seed {seed}). Time 0 is the start of the run. Bytes of payload are zero. A frame has the length of its headers and payload; \
             where the scenario counts more, the rest is an Ethernet trailer."
        );
        let silent = self.members.iter().any(|m| matches!(&self.group(m).transport, Transport::Tcp(p, _) if !p.handshake));
        if silent {
            comment.push_str(" Flows without a handshake begin with data: their window scale is not in the file.");
        }
        let payloads = self.payloads();
        if !payloads.is_empty() {
            comment.push_str(" Flows of real transport stacks have their payload, and the secrets that decrypt it.");
        }
        let nodes = self.scenario.expanded.nodes.iter().map(Name::to_string).collect();
        Network { payloads, comment, nodes, ports: self.scenario.link_directions().len(), flows, starts: self.world.route_starts() }
    }

    /// Payload of the flows of real transport stacks; empty if there is none.
    fn payloads(&self) -> Vec<Option<Arc<dyn Payload>>> {
        if !self.scenario.has_stack() {
            return Vec::new();
        }
        let of = |i| match self.world.endpoint(EpId::sender(FlowId(i))) {
            Some(AnyEndpoint::Stack(e)) => Some(Arc::new(StackPayload(e.datagrams().clone())) as Arc<dyn Payload>),
            _ => None,
        };
        (0..self.members.len() as u32).map(of).collect()
    }

    fn group(&self, m: &Member) -> &crate::expand::Group {
        &self.scenario.expanded.groups[m.group_index]
    }

    fn facts(&self, m: &Member, flow: FlowId) -> FlowFacts {
        let first_hop = [EpId::sender(flow), EpId::receiver(flow)].map(|ep| self.world.first_hop(ep));
        let (mss, shift, sack) = match &self.group(m).transport {
            Transport::Tcp(p, config) => {
                // RFC 6691: the MSS option includes the space of TCP options, the parameter does not.
                let mss = config.mss() + if p.timestamps { TIMESTAMPS } else { 0 };
                let shift = if p.window_scaling { config.window_shift() } else { NO_SHIFT };
                (mss as u16, shift, matches!(p.scheme(), Scheme::Sack | Scheme::Fack | Scheme::Ns3))
            }
            Transport::Udp(_) | Transport::Stack(_) => (0, NO_SHIFT, false),
        };
        FlowFacts { from: m.from.0, to: m.to.0, first_hop, mss, shift, sack }
    }
}

/// Datagrams of a real transport stack as payload of packets.
#[derive(Debug)]
struct StackPayload(Arc<Datagrams>);

impl Payload for StackPayload {
    fn copy(&self, seg: &Segment, back: bool, into: &mut Vec<u8>) -> bool {
        self.0.look(back, datagram_of(seg).0, |bytes| into.extend_from_slice(bytes)).is_some()
    }
    fn secrets(&self, from: usize) -> String {
        self.0.keys_from(from)
    }
}

/// Number of the node at the end of a link; 0 for a channel.
fn far(l: &LinkDir) -> u32 {
    l.far().map_or(0, |n| n.0)
}

/// Number of a link's other direction.
fn other(links: &[LinkDir], name: &str) -> Option<u32> {
    let back = name.strip_suffix(REVERSE).map_or_else(|| format!("{name}{REVERSE}"), str::to_owned);
    links.iter().zip(0..).find(|(l, _)| l.name == back).map(|(_, i)| i)
}
