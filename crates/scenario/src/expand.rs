//! From the description to single parts: nodes, link directions, flow members.

use crate::channel::ChannelAt;
use crate::load::{Pair, derangement};
use crate::registry::SourceSpec;
use crate::spec::{FlowSpec, Place, Wire};
use fairlane_engine::Stream;
use fairlane_tcp::{TcpConfig, TcpParams};
use fairlane_traffic::UdpParams;
use fairlane_units::{Dur, Name, NameBuilder, Rate, Time, name};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use serde::Serialize;
use std::sync::Arc;

/// Where nodes are drawn.
pub type Positions = IndexMap<Name, Place, FxBuildHasher>;

/// A scenario in single parts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Expanded {
    /// Node names.
    pub nodes: Vec<Name>,
    /// Where nodes are drawn, of those of which it is known.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub positions: Positions,
    /// One entry a direction, in the order of the file.
    pub links: Vec<LinkDir>,
    /// Wireless channels; the interfaces of their stations are among the links, behind all others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<ChannelAt>,
    /// One entry a flow.
    pub flows: Vec<Member>,
    /// One entry a control and node.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub controls: Vec<ControlAt>,
    /// What the members of a group share.
    #[serde(skip)]
    pub groups: Vec<Group>,
}

/// A control at one node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ControlAt {
    /// Its name: `time_slots`, for instance.
    pub kind: &'static str,
    /// The node.
    pub node: String,
    /// Numbers of its flows.
    pub flows: Vec<usize>,
    /// Its number among those of the description.
    #[serde(skip)]
    pub spec: usize,
}

/// One direction of a link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkDir {
    /// The link's name; the other direction has `.reverse` behind it.
    pub name: Name,
    /// Node at its start.
    pub from: Name,
    /// Node at its end; of a wireless station's interface the channel.
    pub to: Name,
    /// Rate, delay, queue and impairments; alike links of a builder share them.
    #[serde(flatten)]
    pub wire: Arc<Wire>,
    /// Whether it is the interface of a wireless station.
    #[serde(skip)]
    pub on_air: bool,
}

/// One flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Member {
    /// Unique name.
    pub name: Name,
    /// Name of its group, where its parameters are.
    pub group: Name,
    /// Node that sends.
    pub from: Name,
    /// Node that receives.
    pub to: Name,
    transport: &'static str,
    /// When it starts; null where it is no flow yet, for which there is room only.
    #[serde(serialize_with = "as_dur")]
    pub start: Time,
    /// When its source stops, if before the end of the run.
    pub stop: Option<Dur>,
    /// Traffic class.
    pub class: u8,
    /// Mean rate, where that is not what the source has by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Its number in the group.
    #[serde(skip)]
    pub number: u32,
    /// Number of the group.
    #[serde(skip)]
    pub group_index: usize,
}

impl Member {
    /// `tcp` or `udp`.
    pub fn transport(&self) -> &'static str {
        self.transport
    }
    /// Whether it is a flow, and not only room for one.
    pub fn is_there(&self) -> bool {
        self.start != Time::MAX
    }
}

fn as_dur<S: serde::Serializer>(t: &Time, s: S) -> Result<S::Ok, S::Error> {
    if *t == Time::MAX { s.serialize_none() } else { s.collect_str(&t.since(Time::ZERO)) }
}

/// What the members of a flow group share.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Transport protocol.
    pub transport: Transport,
    /// What is sent.
    pub source: SourceSpec,
    /// The ends of its members, where they are not made of `{i}`.
    pub pairs: Option<Arc<[Pair]>>,
    /// Mean rate of each member, where a share of a link is asked for.
    pub rate: Option<Rate>,
}

/// A transport protocol with its parameters.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "one a flow group")]
pub enum Transport {
    /// TCP: the parameters as written out, and as the endpoints share them.
    Tcp(TcpParams, Arc<TcpConfig>),
    /// UDP.
    Udp(UdpParams),
}

impl Transport {
    /// Bytes of headers that a rate on the wire counts with each packet; over TCP, which cuts data as it likes, rates are those of the data.
    pub(crate) fn header(&self) -> u64 {
        match self {
            Self::Tcp(..) => 0,
            Self::Udp(p) => p.header.get(),
        }
    }
    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Tcp(..) => "tcp",
            Self::Udp(_) => "udp",
        }
    }
}

/// `{i}` replaced by a number.
pub(crate) fn numbered(template: &str, i: u32) -> Name {
    numbers(template)(i)
}

/// The same for many numbers.
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

/// Name of the member that goes from one node of a pair to the other.
pub(crate) fn pair_name(group: &str, pair: &Pair) -> Name {
    name!("{group}.{}-{}", pair.from, pair.to)
}

/// Whether member `i` of `count` takes part where a share `active` does: k members are active, and of the first i there are the whole part of i * k / count, so
/// that they are spread as evenly as whole numbers can be.
fn takes_part(i: u32, count: u32, active: f64) -> bool {
    let k = ((f64::from(count) * active + 0.5) as u64).clamp(1, u64::from(count.max(1)));
    let before = |i: u32| u64::from(i) * k / u64::from(count.max(1));
    before(i + 1) > before(i)
}

/// The members of a group in the run with this seed.
pub(crate) fn members(spec: &FlowSpec, group: &Group, group_index: usize, seed: u64) -> Vec<Member> {
    let (n, name, transport) = (spec.most(), group.name.as_str(), group.transport.name());
    let target = if spec.permute { derangement(&mut Stream::new(seed, "flow", name, "permute"), n) } else { (0..n).collect() };
    let (from, to) = (numbers(&spec.from), numbers(&spec.to));
    let pair = |i: u32| group.pairs.as_ref().and_then(|p| p.get(i as usize));
    (0..n)
        .filter(|&i| takes_part(i, n, spec.active))
        .map(|i| {
            let member = pair(i).map_or_else(|| member_name(name, i, n), |p| pair_name(name, p));
            let mut start = Time::ZERO + spec.start + spec.stagger * u64::from(i);
            if spec.spread > Dur::ZERO {
                start += Dur::from_ps(Stream::new(seed, "flow", &member, "start").below(spec.spread.as_ps()));
            }
            if i >= spec.count {
                start = Time::MAX;
            }
            Member {
                from: pair(i).map_or_else(|| from(spec.first + i), |p| p.from.clone().into()),
                to: pair(i).map_or_else(|| to(spec.first + target[i as usize]), |p| p.to.clone().into()),
                rate: group.rate.or_else(|| pair(i)?.rate),
                name: member,
                group: group.name.clone().into(),
                transport,
                start,
                stop: spec.stop,
                class: spec.class.of(i),
                number: i,
                group_index,
            }
        })
        .collect()
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
                // Gaps differ by one at most.
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
