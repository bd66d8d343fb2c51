//! Links: their definition, and the part of it that queues are told.

use crate::ids::NodeId;
use crate::impair::Impairments;
use crate::schedule::Schedule;
use fairlane_units::{Dur, Len, Name, Rate};

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct LinkDef<Q> {
    /// Unique name; keys the random streams of the port.
    pub name: Name,
    /// Where it begins.
    pub from: NodeId,
    /// Where it ends.
    pub to: NodeId,
    /// Transmission rate, above zero.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Dur,
    /// The queue before it.
    pub qdisc: Q,
    /// How the rate changes during the run, if it does; `rate` is then what the queue is told.
    pub schedule: Option<Schedule>,
    /// Losses, duplicates, late packets.
    pub impairments: Impairments,
    /// What a device holds below the queue, besides the packet in transmission.
    pub device: Option<Len>,
}

/// The link a queue feeds, known when the queue is built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkInfo {
    /// Transmission rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Dur,
}
