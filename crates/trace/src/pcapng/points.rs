//! What is captured, into which files, and what must be known of the network for that.

use super::{FlowFacts, Monitor};
use fairlane_net::PortId;
use fairlane_units::Rate;
use std::path::PathBuf;

/// How packets are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Most bytes kept of a packet; `None`: its headers.
    pub snaplen: Option<u32>,
    /// IPv6 instead of IPv4.
    pub ipv6: bool,
    /// A comment with the length of the queue on each packet that leaves one.
    pub queue: bool,
}

/// One end of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkEnd {
    /// Its name.
    pub name: String,
    /// Its node, and the node at the other end.
    pub node: u32,
    /// The node at the other end.
    pub peer: u32,
    /// The port that sends from here.
    pub sends: Option<PortId>,
    /// The port whose packets arrive here.
    pub receives: Option<PortId>,
    /// Rate of the link.
    pub rate: Rate,
}

/// The sending end of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowEnd {
    /// Name of the flow.
    pub name: String,
    /// Number of the flow.
    pub flow: u32,
    /// Node to which its first link leads.
    pub next: u32,
    /// Node from which the last link back comes.
    pub last: u32,
}

/// Where packets are taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Points {
    /// Ends of links.
    Links(Vec<LinkEnd>),
    /// Senders of flows.
    Flows(Vec<FlowEnd>),
    /// A wireless channel.
    Air(Monitor),
}

/// A file to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Where it goes.
    pub file: PathBuf,
    /// What it holds.
    pub points: Points,
}

/// What a capture must know of the network.
#[derive(Clone, Debug, Default)]
pub struct Network {
    /// Said of the whole file.
    pub comment: String,
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// Number of ports.
    pub ports: usize,
    /// What the packets of each flow look like.
    pub flows: Vec<FlowFacts>,
    /// Where the hops of all routes begin, in order, if routes change ([`fairlane_net::World::route_starts`]).
    pub starts: Vec<u32>,
}
