//! Wireless channels: ports whose packets are carried by stations of [`fairlane_wireless`] instead of links.

use crate::ids::{NodeId, PortId};
use crate::link::LinkDef;
use fairlane_engine::Slot;
use fairlane_units::Time;
use fairlane_wireless::{Agenda, Air, Meetings};
use std::collections::HashMap;

/// No station: the hop is a link.
pub(crate) const NO_STATION: u32 = u32::MAX;

/// A channel with its stations.
#[derive(Clone, Debug)]
pub struct AirDef<Q> {
    /// The medium.
    pub air: Air,
    /// Interface of each station, in the order of the medium: name, node, rate and queue; `to` is not used.
    pub stations: Vec<LinkDef<Q>>,
    /// Hops that routes may use, as (sender, receiver).
    pub edges: Vec<(u32, u32)>,
    /// Changes of `edges` during the run.
    pub meetings: Option<Meetings>,
}

/// A wireless channel of a world.
#[derive(Clone, Debug)]
pub struct Channel {
    /// The medium.
    pub(crate) air: Air,
    /// Port of the first station.
    pub(crate) first: u32,
    /// First slot of its events.
    pub(crate) slot: Slot,
}

impl Channel {
    /// The medium.
    pub fn air(&self) -> &Air {
        &self.air
    }
    /// Station of a port; `None` if the port is not on this channel.
    pub fn station(&self, port: PortId) -> Option<u32> {
        port.0.checked_sub(self.first).filter(|&s| s < self.air.stations())
    }
}

impl Part {
    fn follows(&self) -> Option<Time> {
        Some(self.look?.later(self.meetings.as_ref()?.delay))
    }
}

/// Events requested by a channel, not yet in the event queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pending(pub(crate) Vec<(Time, u32)>);

impl Agenda for Pending {
    #[inline]
    fn push(&mut self, time: Time, slot: u32) {
        self.0.push((time, slot));
    }
}

/// Channels of a world that is being built.
#[derive(Clone, Debug, Default)]
pub(crate) struct Channels(Vec<Part>);

#[derive(Clone, Debug)]
struct Part {
    air: Air,
    first: u32,
    nodes: Vec<u32>,
    /// Station of each node.
    of: HashMap<u32, u32>,
    edges: Vec<(u32, u32)>,
    meetings: Option<Meetings>,
    /// Next time at which routes look for stations in range.
    look: Option<Time>,
}

impl Channels {
    /// Adds a channel with stations at these nodes; `first` is the port of the first station.
    pub(crate) fn add(&mut self, air: Air, first: PortId, nodes: Vec<NodeId>, hops: (Vec<(u32, u32)>, Option<Meetings>)) {
        let nodes: Vec<u32> = nodes.into_iter().map(|n| n.0).collect();
        let of = nodes.iter().copied().zip(0..).collect();
        let (edges, meetings) = hops;
        let look = meetings.as_ref().and_then(|m| m.next(Time::ZERO));
        self.0.push(Part { air, first: first.0, nodes, of, edges, meetings, look });
    }
    /// Time of the next change of routes.
    pub(crate) fn next_change(&self) -> Option<Time> {
        self.0.iter().filter_map(Part::follows).min()
    }
    /// Updates the hops that routes may use from `now` on. Returns true if they changed.
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
    /// Number of slots of all channels.
    pub(crate) fn slots(&self) -> Slot {
        self.0.iter().map(|p| p.air.slots()).sum()
    }
    /// Ports of all stations.
    pub(crate) fn ports(&self) -> impl Iterator<Item = u32> {
        self.0.iter().flat_map(|p| p.first..p.first + p.nodes.len() as u32)
    }
    fn part(&self, port: u32) -> Option<&Part> {
        self.0.iter().find(|p| port >= p.first && port - p.first < p.nodes.len() as u32)
    }
    /// True for the port of a station.
    pub(crate) fn has(&self, port: u32) -> bool {
        self.part(port).is_some()
    }
    /// Hops of all channels as (port, near node, far node).
    pub(crate) fn edges(&self) -> impl Iterator<Item = (u32, u32, u32)> {
        self.0.iter().flat_map(|p| p.edges.iter().map(|&(a, b)| (p.first + a, p.nodes[a as usize], p.nodes[b as usize])))
    }
    /// Station of node `far` on the channel of `port`; [`NO_STATION`] if there is none.
    pub(crate) fn station(&self, port: u32, far: u32) -> u32 {
        self.part(port).and_then(|p| p.of.get(&far)).copied().unwrap_or(NO_STATION)
    }
    /// First event of each channel, as (time, number among the slots of all channels).
    pub(crate) fn first_events(&self) -> Vec<(Time, Slot)> {
        let mut first = 0;
        let mut own = |p: &Part| {
            let event = p.air.first_event().map(|(time, slot)| (time, first + slot));
            first += p.air.slots();
            event
        };
        self.0.iter().filter_map(&mut own).collect()
    }
    /// Returns the channels, with slots from `first` on.
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
