//! Expands a scenario into nodes, link directions and flow members.

use crate::channel::ChannelAt;
use crate::registry::{SourceSpec, StackSpec};
use crate::spec::{FlowSpec, Point, Wire};
use crate::topology::{Builder, TopologySpec};
use crate::traffic_matrix::{Pair, derangement};
use fairlane_engine::Stream;
use fairlane_net::NodeId;
use fairlane_tcp::{TcpConfig, TcpParams};
use fairlane_traffic::UdpParams;
use fairlane_traffic::e_model::Call;
use fairlane_units::{Dur, Name, NameBuilder, Rate, Time, name};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use std::ops::Deref;
use std::sync::Arc;

/// Drawing positions of the nodes that have one.
#[derive(Clone, Debug, Default)]
pub struct Positions {
    /// Builder of the first nodes. Positions are rarely used, so it computes them on demand.
    pub(crate) builder: Option<Box<TopologySpec>>,
    /// Number of nodes that the builder made.
    pub(crate) built: usize,
    /// Positions of other nodes, and of builder nodes with a position of their own.
    pub(crate) others: IndexMap<Name, Point, FxBuildHasher>,
}

impl Positions {
    fn places(&self) -> Vec<Point> {
        self.builder.as_ref().map_or_else(Vec::new, |b| b.graph().places)
    }
}

impl PartialEq for Positions {
    fn eq(&self, other: &Self) -> bool {
        self.others == other.others && (self.builder == other.builder || self.places() == other.places())
    }
}

/// A scenario expanded into nodes, links and flows.
#[derive(Clone, Debug, PartialEq)]
pub struct Expanded {
    /// Node names.
    pub nodes: Vec<Name>,
    /// Drawing positions of nodes.
    pub positions: Positions,
    /// One entry per direction, in the order of the file.
    pub links: Vec<LinkDir>,
    /// Wireless channels; the interfaces of their stations follow all other links.
    pub channels: Vec<ChannelAt>,
    /// One entry per flow, shared with runs.
    pub flows: Arc<Vec<Member>>,
    /// One entry per control and node.
    pub controls: Vec<ControlAt>,
    /// Shared parameters of flow groups.
    pub groups: Arc<Vec<Group>>,
}

impl Expanded {
    /// Name of a node.
    pub fn node(&self, node: NodeId) -> &str {
        &self.nodes[node.0 as usize]
    }
    /// Name of the node at the start of a link.
    pub fn start(&self, link: &LinkDir) -> &str {
        self.node(link.from())
    }
    /// Name of the node at the end of a link; for a wireless station's interface, of the channel.
    pub fn end(&self, link: &LinkDir) -> &str {
        match link.to() {
            Hop::Node(n) => self.node(n),
            Hop::Channel(c) => &self.channels[c].name,
        }
    }
    /// Drawing positions by node name.
    pub fn places(&self) -> IndexMap<&str, Point> {
        let mut all: IndexMap<&str, Point> = self.nodes.iter().map(Name::as_str).zip(self.positions.places()).collect();
        all.extend(self.positions.others.iter().map(|(name, place)| (name.as_str(), *place)));
        all
    }
}

/// Serialises with the names of nodes.
impl Serialize for Expanded {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Link<'a> {
            name: &'a str,
            from: &'a str,
            to: &'a str,
            #[serde(flatten)]
            wire: &'a Wire,
        }
        #[derive(Serialize)]
        struct Flow<'a> {
            name: &'a str,
            group: &'a str,
            from: &'a str,
            to: &'a str,
            transport: &'a str,
            /// Null for a member that is only reserved.
            start: Option<Dur>,
            stop: Option<Dur>,
            class: u8,
            #[serde(skip_serializing_if = "Option::is_none")]
            rate: Option<Rate>,
        }
        let flows = self.flows.iter().map(|m| Flow {
            name: &m.name,
            group: &m.group,
            from: self.node(m.from),
            to: self.node(m.to),
            transport: m.transport,
            start: m.is_there().then(|| m.start.since(Time::ZERO)),
            stop: m.stop,
            class: m.class,
            rate: m.rate,
        });
        let links = self.links.iter().map(|l| Link { name: &l.name, from: self.start(l), to: self.end(l), wire: &l.wire });
        let mut map = s.serialize_map(None)?;
        map.serialize_entry("nodes", &self.nodes)?;
        let places = self.places();
        if !places.is_empty() {
            map.serialize_entry("positions", &places)?;
        }
        map.serialize_entry("links", &links.collect::<Vec<_>>())?;
        if !self.channels.is_empty() {
            map.serialize_entry("channels", &self.channels)?;
        }
        map.serialize_entry("flows", &flows.collect::<Vec<_>>())?;
        if !self.controls.is_empty() {
            map.serialize_entry("controls", &self.controls)?;
        }
        map.end()
    }
}

/// A flow control at one node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ControlAt {
    /// Name of the control, such as `time_slots`.
    pub kind: &'static str,
    /// The node.
    pub node: String,
    /// Indices of its flows.
    pub flows: Vec<usize>,
    /// Index of the control in the scenario.
    #[serde(skip)]
    pub spec: usize,
}

/// One direction of a link. A large network has millions, so its ends are numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkDir {
    /// Name of the link; the other direction has the suffix `.reverse`.
    pub name: Name,
    /// Rate, delay, queue and impairments; equal links of a builder share them.
    pub wire: Arc<Wire>,
    from: u32,
    /// A node, or a channel flagged with [`ON_AIR`].
    to: u32,
}

/// Flag that marks the number of a channel.
const ON_AIR: u32 = 1 << 31;

/// End of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// A node.
    Node(NodeId),
    /// The channel with this number, for a wireless station's interface.
    Channel(usize),
}

impl LinkDir {
    pub(crate) fn new(name: Name, from: u32, to: Hop, wire: Arc<Wire>) -> Self {
        let to = match to {
            Hop::Node(n) => n.0,
            Hop::Channel(c) => c as u32 | ON_AIR,
        };
        Self { name, wire, from, to }
    }
    /// Node at the start.
    pub fn from(&self) -> NodeId {
        NodeId(self.from)
    }
    /// End of the link.
    pub fn to(&self) -> Hop {
        if self.on_air() { Hop::Channel((self.to ^ ON_AIR) as usize) } else { Hop::Node(NodeId(self.to)) }
    }
    /// Node at the end; none for a wireless station's interface.
    pub fn far(&self) -> Option<NodeId> {
        (!self.on_air()).then_some(NodeId(self.to))
    }
    /// True for the interface of a wireless station.
    pub fn on_air(&self) -> bool {
        self.to & ON_AIR != 0
    }
}

/// One flow. It dereferences to the parameters of its group, [`Shared`].
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Unique name.
    pub name: Name,
    /// Node that sends.
    pub from: NodeId,
    /// Node that receives.
    pub to: NodeId,
    /// Start time; `MAX` for a member that is only reserved.
    pub start: Time,
    /// Mean rate, if it differs from that of the source.
    pub rate: Option<Rate>,
    /// Index in the group.
    pub number: u32,
    /// Traffic class.
    pub class: u8,
    shared: Arc<Shared>,
}

/// Parameters shared by all members of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct Shared {
    /// Name of the group.
    pub group: Name,
    /// Index of the group.
    pub group_index: usize,
    /// Stop time of the sources, if before the end of the run.
    pub stop: Option<Dur>,
    transport: &'static str,
}

impl Deref for Member {
    type Target = Shared;
    fn deref(&self) -> &Shared {
        &self.shared
    }
}

impl Member {
    /// `tcp`, `udp` or the name of a stack.
    pub fn transport(&self) -> &'static str {
        self.transport
    }
    /// True for an existing flow, false for a reserved one.
    pub fn is_there(&self) -> bool {
        self.start != Time::MAX
    }
}

/// Transport, source and ends of a flow group.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Name of the group.
    pub name: String,
    /// Transport protocol.
    pub transport: Transport,
    /// Traffic source.
    pub source: SourceSpec,
    /// Ends of the members, if they do not come from `{i}`.
    pub pairs: Option<Arc<[Pair]>>,
    /// Mean rate of each member, if the group has a share of a link.
    pub rate: Option<Rate>,
}

impl Group {
    /// The telephone call that a member carries; over TCP, and over a carrier, delays of packets are not those of the speech.
    pub(crate) fn call(&self) -> Option<Call> {
        match (&self.source, &self.transport) {
            (SourceSpec::Voip(p), Transport::Udp(_) | Transport::Stack(_)) => Some(p.call()),
            _ => None,
        }
    }
}

/// A transport protocol with its parameters.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "one a flow group")]
pub enum Transport {
    /// TCP: parameters as written, and as shared by the endpoints.
    Tcp(TcpParams, Arc<TcpConfig>),
    /// UDP.
    Udp(UdpParams),
    /// A real transport stack.
    Stack(StackSpec),
}

impl Transport {
    /// Header bytes per packet that a rate on the wire includes; zero for TCP, whose rates are those of the data.
    pub(crate) fn header(&self) -> u64 {
        match self {
            Self::Tcp(..) => 0,
            Self::Udp(p) => p.header.get(),
            Self::Stack(s) => s.header(),
        }
    }
    /// Configuration of TCP endpoints, of the class of the group's first member.
    pub(crate) fn config(&self) -> Option<&Arc<TcpConfig>> {
        match self {
            Self::Tcp(_, config) => Some(config),
            Self::Udp(_) | Self::Stack(_) => None,
        }
    }
    /// Name of the protocol, or of the stack.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Tcp(..) => "tcp",
            Self::Udp(_) => "udp",
            Self::Stack(s) => s.title(),
        }
    }
}

/// Replaces `{i}` by a number.
pub(crate) fn numbered(template: &str, i: u32) -> Name {
    numbers(template)(i)
}

/// Returns a function that replaces `{i}` by a number.
pub(crate) fn numbers(template: &str) -> impl Fn(u32) -> Name {
    let parts: Vec<&str> = template.split("{i}").collect();
    move |mut i| {
        let (mut digits, mut first) = ([b'0'; 10], 10);
        while i > 0 || first == 10 {
            first -= 1;
            digits[first] += (i % 10) as u8;
            i /= 10;
        }
        let number = str::from_utf8(&digits[first..]).unwrap_or_default();
        let mut name = NameBuilder::new();
        for (k, part) in parts.iter().enumerate() {
            name.push_str(if k > 0 { number } else { "" });
            name.push_str(part);
        }
        name.finish()
    }
}

/// Name of member `i` of a group of `count`.
pub(crate) fn member_name(group: &str, i: u32, count: u32) -> Name {
    if count == 1 { group.into() } else { name!("{group}.{i}") }
}

/// Name of the member between the two nodes of a pair.
pub(crate) fn pair_name(group: &str, pair: &Pair) -> Name {
    name!("{group}.{}-{}", pair.from, pair.to)
}

/// True if member `i` of `count` is active for a share `active`. With k active members, the first i members contain the whole part of i * k / count active ones,
/// which is the most even spread of whole numbers.
fn takes_part(i: u32, count: u32, active: f64) -> bool {
    let k = ((f64::from(count) * active + 0.5) as u64).clamp(1, u64::from(count.max(1)));
    let before = |i: u32| u64::from(i) * k / u64::from(count.max(1));
    before(i + 1) > before(i)
}

/// Members of a group in the run with this seed; `node` maps a name to its number.
pub(crate) fn members(spec: &FlowSpec, group: (usize, &Group), seed: u64, node: impl Fn(&str) -> NodeId) -> Vec<Member> {
    let (group_index, group) = group;
    let (n, name, transport) = (spec.most(), group.name.as_str(), group.transport.name());
    let target = if spec.permute { derangement(&mut Stream::new(seed, "flow", name, "permute"), n) } else { (0..n).collect() };
    let (from, to) = (numbers(&spec.from), numbers(&spec.to));
    let shared = Arc::new(Shared { group: name.into(), group_index, stop: spec.stop, transport });
    let pair = |i: u32| group.pairs.as_ref().and_then(|p| p.get(i as usize));
    let there = |i: &u32| takes_part(*i, n, spec.active);
    let mut all = Vec::with_capacity((0..n).filter(there).count());
    all.extend((0..n).filter(there).map(|i| {
        let member = pair(i).map_or_else(|| member_name(name, i, n), |p| pair_name(name, p));
        let mut start = Time::ZERO + spec.start + spec.stagger * u64::from(i);
        if spec.spread > Dur::ZERO {
            start += Dur::from_ps(Stream::new(seed, "flow", &member, "start").below(spec.spread.as_ps()));
        }
        if i >= spec.count {
            start = Time::MAX;
        }
        Member {
            from: pair(i).map_or_else(|| node(&from(spec.first + i)), |p| node(&p.from)),
            to: pair(i).map_or_else(|| node(&to(spec.first + target[i as usize])), |p| node(&p.to)),
            rate: group.rate.or_else(|| pair(i)?.rate),
            name: member,
            start,
            class: spec.class.of(i),
            number: i,
            shared: shared.clone(),
        }
    }));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "Load 25 % of n nodes" (ramachendra2014): n / 4 senders, one in each four.
    #[test]
    fn a_share_of_the_members_is_evenly_spread() {
        let active = |n, share| (0..n).filter(|&i| takes_part(i, n, share)).collect::<Vec<u32>>();
        assert_eq!(active(8, 0.25), [3, 7]);
        assert_eq!(active(8, 0.5), [1, 3, 5, 7]);
        assert_eq!(active(8, 0.75), [1, 2, 3, 5, 6, 7]);
        assert_eq!(active(5, 1.0), [0, 1, 2, 3, 4]);
        assert_eq!(active(5, 0.001), [4], "at least one");
        for n in [1, 7, 100, 1000] {
            for share in [0.01, 0.1, 0.33, 0.5, 0.9, 1.0] {
                let a = active(n, share);
                assert_eq!(a.len(), ((f64::from(n) * share).round() as usize).max(1), "{n} {share}");
                // Gaps differ by at most one.
                let gaps: Vec<u32> = a.windows(2).map(|w| w[1] - w[0]).collect();
                assert!(gaps.iter().max().unwrap_or(&0) - gaps.iter().min().unwrap_or(&0) <= 1, "{n} {share}");
            }
        }
    }

    fn drawn(seed: u64, n: u32) -> Vec<u32> {
        derangement(&mut Stream::new(seed, "flow", "g", "permute"), n)
    }

    #[test]
    fn derangements_have_no_fixed_point_and_follow_the_seed() {
        for n in [2, 3, 16, 1024] {
            for seed in 1..20 {
                let p = drawn(seed, n);
                assert!(p.iter().enumerate().all(|(i, &x)| i as u32 != x));
                let mut sorted = p.clone();
                sorted.sort_unstable();
                assert!(sorted.iter().enumerate().all(|(i, &x)| i as u32 == x));
            }
        }
        assert_eq!(drawn(1, 128), drawn(1, 128));
        assert_ne!(drawn(1, 128), drawn(2, 128));
    }
}
