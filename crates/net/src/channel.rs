//! Channels: ports whose packets a station of [`fairlane_wireless`] carries, in place of a link of their own.

use crate::ids::{NodeId, PortId};
use crate::link::LinkDef;
use fairlane_engine::Slot;
use fairlane_units::Time;
use fairlane_wireless::{Agenda, Air, Meetings};
use std::collections::HashMap;

/// No station: the hop is not on a channel.
pub(crate) const NOBODY: u32 = u32::MAX;

/// A channel with its stations.
#[derive(Clone, Debug)]
pub struct AirDef<Q> {
    /// The medium.
    pub air: Air,
    /// The interface of each station, in the medium's order: name, node, rate and queue. Where it leads to does not matter.
    pub stations: Vec<LinkDef<Q>>,
    /// The hops that routes may use, as (sender, receiver).
    pub edges: Vec<(u32, u32)>,
    /// How these change during the run, if they do.
    pub meetings: Option<Meetings>,
}

/// A channel in a world.
#[derive(Clone, Debug)]
pub struct Channel {
    /// The medium.
    pub(crate) air: Air,
    /// The port of its first station.
    pub(crate) first: u32,
    /// The first of its slots of events.
    pub(crate) slot: Slot,
}

impl Channel {
    /// The medium.
    pub fn air(&self) -> &Air {
        &self.air
    }
    /// The station of a port, if it is one of this channel.
    pub fn station(&self, port: PortId) -> Option<u32> {
        port.0.checked_sub(self.first).filter(|&s| s < self.air.stations())
    }
}

impl Part {
    fn follows(&self) -> Option<Time> {
        Some(self.look?.later(self.meetings.as_ref()?.delay))
    }
}

/// Events that a channel asks for while its ports are at work.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pending(pub(crate) Vec<(Time, u32)>);

impl Agenda for Pending {
    #[inline]
    fn push(&mut self, time: Time, slot: u32) {
        self.0.push((time, slot));
    }
}

/// The channels of a world that is being built.
#[derive(Clone, Debug, Default)]
pub(crate) struct Channels(Vec<Part>);

#[derive(Clone, Debug)]
struct Part {
    air: Air,
    first: u32,
    nodes: Vec<u32>,
    /// The station of each node.
    of: HashMap<u32, u32>,
    edges: Vec<(u32, u32)>,
    meetings: Option<Meetings>,
    /// When routes look at who meets whom next.
    look: Option<Time>,
}

impl Channels {
    /// Adds one whose stations are at these nodes, behind the port of the first.
    pub(crate) fn add(&mut self, air: Air, first: PortId, nodes: Vec<NodeId>, hops: (Vec<(u32, u32)>, Option<Meetings>)) {
        let nodes: Vec<u32> = nodes.into_iter().map(|n| n.0).collect();
        let of = nodes.iter().copied().zip(0..).collect();
        let (edges, meetings) = hops;
        let look = meetings.as_ref().and_then(|m| m.next(Time::ZERO));
        self.0.push(Part { air, first: first.0, nodes, of, edges, meetings, look });
    }
    /// When routes follow next after what they have seen of channels.
    pub(crate) fn next_change(&self) -> Option<Time> {
        self.0.iter().filter_map(Part::follows).min()
    }
    /// The hops that routes take from `now` on; whether they are others than before.
    pub(crate) fn change(&mut self, now: Time) -> bool {
        let mut changed = false;
        for p in self.0.iter_mut().filter(|p| p.follows() == Some(now)) {
            let (Some(meetings), Some(look)) = (&p.meetings, p.look) else { continue };
            let edges = meetings.hops(look);
            p.look = meetings.next(look);
            changed |= edges != p.edges;
            p.edges = edges;
        }
        changed
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// Slots of all of them.
    pub(crate) fn slots(&self) -> Slot {
        self.0.iter().map(|p| p.air.slots()).sum()
    }
    /// The ports of all stations.
    pub(crate) fn ports(&self) -> impl Iterator<Item = u32> {
        self.0.iter().flat_map(|p| p.first..p.first + p.nodes.len() as u32)
    }
    fn part(&self, port: u32) -> Option<&Part> {
        self.0.iter().find(|p| port >= p.first && port - p.first < p.nodes.len() as u32)
    }
    /// Whether a port is that of a station.
    pub(crate) fn has(&self, port: u32) -> bool {
        self.part(port).is_some()
    }
    /// The hops of all channels as (port, near node, far node).
    pub(crate) fn edges(&self) -> impl Iterator<Item = (u32, u32, u32)> {
        self.0.iter().flat_map(|p| p.edges.iter().map(|&(a, b)| (p.first + a, p.nodes[a as usize], p.nodes[b as usize])))
    }
    /// The station of node `far` on the channel of `port`.
    pub(crate) fn station(&self, port: u32, far: u32) -> u32 {
        self.part(port).and_then(|p| p.of.get(&far)).copied().unwrap_or(NOBODY)
    }
    /// What happens on channels by itself, as (time, number among the slots of all).
    pub(crate) fn first_events(&self) -> Vec<(Time, Slot)> {
        let mut first = 0;
        let mut own = |p: &Part| {
            let event = p.air.first_event().map(|(time, slot)| (time, first + slot));
            first += p.air.slots();
            event
        };
        self.0.iter().filter_map(&mut own).collect()
    }
    /// With their slots from `first` on.
    pub(crate) fn place(self, first: Slot) -> Vec<Channel> {
        let mut slot = first;
        let mut place = |p: Part| {
            let own = slot;
            slot += p.air.slots();
            Channel { air: p.air, first: p.first, slot: own }
        };
        self.0.into_iter().map(&mut place).collect()
    }
}
