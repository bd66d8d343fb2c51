//! Links: their definition, and the part of it that a queue needs.

use crate::ids::NodeId;
use crate::impair::Impairments;
use crate::schedule::Schedule;
use fairlane_units::{Dur, Len, Name, Rate};

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct LinkDef<Q> {
    /// Unique name, the key of the random streams of the port.
    pub name: Name,
    /// Near node.
    pub from: NodeId,
    /// Far node.
    pub to: NodeId,
    /// Transmission rate, above zero.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Dur,
    /// Queue.
    pub qdisc: Q,
    /// Changes of the rate during the run; the queue is built for `rate`.
    pub schedule: Option<Schedule>,
    /// Losses, duplicates, delayed packets.
    pub impairments: Impairments,
    /// Capacity of a device below the queue, without the packet in transmission.
    pub device: Option<Len>,
}

/// Link behind a queue, known when the queue is built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkInfo {
    /// Transmission rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Dur,
}
