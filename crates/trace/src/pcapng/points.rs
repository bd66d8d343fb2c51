//! Capture points, output files, and the network facts that a capture needs.

use super::{FlowFacts, Monitor, Payload};
use fairlane_net::PortId;
use fairlane_units::Rate;
use std::path::PathBuf;
use std::sync::Arc;

/// Format of captured packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Most bytes kept per packet; `None` keeps the headers.
    pub snaplen: Option<u32>,
    /// True for IPv6, false for IPv4.
    pub ipv6: bool,
    /// True to add a comment with the queue length to each packet that leaves a queue.
    pub queue: bool,
}

/// One end of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkEnd {
    /// Name of the link.
    pub name: String,
    /// Node of this end.
    pub node: u32,
    /// Node at the other end.
    pub peer: u32,
    /// Port that sends from here.
    pub sends: Option<PortId>,
    /// Port whose packets arrive here.
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
    /// Node at the end of its first link.
    pub next: u32,
    /// Node at the start of the last link of the reverse path.
    pub last: u32,
}

/// Capture points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Points {
    /// Ends of links.
    Links(Vec<LinkEnd>),
    /// Senders of flows.
    Flows(Vec<FlowEnd>),
    /// A wireless channel.
    Air(Monitor),
}

/// A capture file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Path of the file.
    pub file: PathBuf,
    /// Capture points of the file.
    pub points: Points,
}

/// Network facts for a capture.
#[derive(Clone, Debug, Default)]
pub struct Network {
    /// Comment on the whole file.
    pub comment: String,
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// Number of ports.
    pub ports: usize,
    /// Facts about each flow.
    pub flows: Vec<FlowFacts>,
    /// Payload of the packets of each flow, where it is known; empty if it is of none.
    pub payloads: Vec<Option<Arc<dyn Payload>>>,
    /// First hops of all routes in order, if routes change ([`fairlane_net::World::route_starts`]).
    pub starts: Vec<u32>,
}
