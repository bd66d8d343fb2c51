//! Reading a world, and the state that is kept after a run.

use super::{Components, World};
use crate::channel::Channel;
use crate::endpoint::{Endpoint, FlowView};
use crate::flow::Flow;
use crate::hop::{COUNTED, END};
use crate::ids::{EpId, FlowId, PortId};
use crate::observe::Observer;
use crate::port::Port;
use crate::qdisc::Qdisc;
use crate::sample::Sampler;
use crate::stats::Initial;
use fairlane_engine::EventQueue;
use fairlane_units::Time;
use std::collections::BTreeSet;

/// Flows whose endpoints are freed at once.
const AT_ONCE: usize = 1 << 13;

impl<P: Components, H: EventQueue> World<P, H> {
    /// Resets all counters at the end of the warm-up; the state stays.
    pub fn reset_counters<O: Observer>(&mut self, obs: &mut O) {
        let now = self.path.now;
        self.path.settle_all::<O, true>(now, obs);
        self.reset_at = now;
        if let Some(s) = &mut self.sampler {
            s.reset(now, self.path.flows.iter(), &self.path.ports);
        }
        self.path.hops_before_reset = self.packet_hops();
        for port in &mut self.path.ports {
            let initial = Initial { backlog: port.qdisc.backlog(), ahead: port.ahead(now), unsent: port.unsent(now) };
            port.counters.begin_again(initial, now);
        }
        for channel in &mut self.airs {
            channel.air.reset_counters(now);
        }
        if let Some(g) = &mut self.controllers {
            g.reset(now);
        }
        // A free place has an ended flow, which counts for nothing.
        for (i, flow) in self.path.flows.iter_mut().enumerate() {
            flow.counters.begin_again(flow.kept(&self.endpoints[2 * i + 1]), now);
            flow.base = Some(Box::new(flow.view(&self.endpoints[2 * i])));
        }
        if let Some(l) = &mut self.lifetimes {
            l.reset_counters(now);
        }
    }

    /// Carries out all departures due by now, so that counters and backlogs are those of this instant.
    pub fn settle<O: Observer>(&mut self, obs: &mut O) {
        self.path.settle_all::<O, true>(self.path.now, obs);
    }

    /// Ends the run: frees everything but results, before their tables need memory. No further event runs.
    pub fn retire(&mut self) {
        self.path.events = H::with_slots(0);
        self.hosts = Vec::new();
        let flows = &self.path.flows;
        // From the last to the first, so that views take the memory that endpoints free; the order is reversed at the end.
        (self.last_views, self.last_kept) = (Vec::with_capacity(flows.len()), Vec::with_capacity(flows.len()));
        for (i, f) in flows.iter().enumerate().rev() {
            self.last_views.push(f.view(&self.endpoints[2 * i]));
            self.last_kept.push(f.kept(&self.endpoints[2 * i + 1]));
            self.endpoints.truncate(2 * i);
            if i.is_multiple_of(AT_ONCE) {
                self.endpoints.shrink_to_fit();
            }
        }
        self.last_views.reverse();
        self.last_kept.reverse();
    }
    /// Present time.
    pub fn now(&self) -> Time {
        self.path.now
    }
    /// Time of the last reset of the counters, the end of the warm-up.
    pub fn reset_at(&self) -> Time {
        self.reset_at
    }
    /// All ports.
    pub fn ports(&self) -> &[Port<P::Qdisc>] {
        &self.path.ports
    }
    /// Port with this number.
    pub fn port(&self, id: PortId) -> &Port<P::Qdisc> {
        &self.path.ports[id.0 as usize]
    }
    /// All channels.
    pub fn channels(&self) -> &[Channel] {
        &self.airs
    }
    /// All flows, of a world in which they are built before the run.
    pub fn flows(&self) -> &[Flow] {
        &self.path.flows
    }
    /// View of an endpoint; after [`Self::retire`] of senders only.
    pub fn view(&self, ep: EpId) -> FlowView {
        let i = ep.0 as usize;
        if let Some(l) = &self.lifetimes {
            return self.outcome(l, ep.flow()).0;
        }
        let last = || self.last_views.get(i / 2).copied().unwrap_or_default();
        let flow = &self.path.flows[i / 2];
        self.endpoints.get(i).map_or_else(last, |e| if ep.receives() { e.view() } else { flow.view(e) })
    }
    /// Payload bytes of a flow that have arrived since the last reset, each counted once, including those out of order.
    pub fn arrived(&self, flow: FlowId) -> u64 {
        if let Some((ended, _)) = self.ended(flow) {
            return ended.arrived;
        }
        let i = flow.0 as usize;
        let Some(Flow { counters: c, .. }) = self.flow(flow) else { return 0 };
        let last = || self.last_kept.get(i).copied().unwrap_or_default();
        let kept = match &self.lifetimes {
            Some(l) => self.outcome(l, flow).1,
            None => self.endpoints.get(2 * i + 1).map_or_else(last, |e| self.path.flows[i].kept(e)),
        };
        // A reset discards bytes that were out of order.
        (c.delivered + kept).saturating_sub(c.initial_kept)
    }
    /// Ports of the present route from an endpoint to its peer; one of the routes if packets take several.
    pub fn route(&self, ep: EpId) -> impl Iterator<Item = PortId> + '_ {
        let start = self.route_start(ep);
        self.hops_from(start).chain(self.path.forwarding.iter().flat_map(move |m| m.ports(start))).map(PortId)
    }
    /// Ports of all routes from an endpoint since the last reset, each once.
    pub fn passed(&self, ep: EpId) -> Vec<PortId> {
        let (start, from, now) = (self.route_start(ep), self.reset_at, self.path.now);
        let mut ports: Vec<u32> = match &self.path.forwarding {
            Some(forwarding) => {
                let changes = self.outages.iter().flat_map(|o| o.changes.iter());
                let turns = changes.filter(|c| c.at <= now).filter_map(|c| Some((c.at, c.routes?)));
                let (past, since): (Vec<_>, Vec<_>) = turns.partition(|(at, _)| *at <= from);
                let first = past.last().map_or(0, |(_, table)| *table);
                let tables: BTreeSet<usize> = since.iter().map(|(_, table)| *table).chain([first]).collect();
                tables.into_iter().flat_map(|table| forwarding.all_ports(table, start)).collect()
            }
            None => {
                let routes: BTreeSet<u32> = self.reroutes.left(ep.0, from, now).chain([start]).collect();
                routes.into_iter().flat_map(|start| self.hops_from(start)).collect()
            }
        };
        ports.sort_unstable();
        ports.dedup();
        ports.into_iter().map(PortId).collect()
    }
    pub(super) fn hops_from(&self, start: u32) -> impl Iterator<Item = u32> + '_ {
        self.path.hops.iter().skip(start as usize).take_while(|&&h| h & END == 0).copied()
    }
    fn route_start(&self, ep: EpId) -> u32 {
        let i = ep.0 as usize;
        self.lifetimes.as_ref().map_or_else(|| self.sides[i].route, |l| l.routes[i])
    }
    /// First hop of an endpoint's packets, for [`crate::Packet::crossed`].
    pub fn first_hop(&self, ep: EpId) -> u32 {
        if self.path.forwarding.is_some() { COUNTED } else { self.route_start(ep) }
    }
    /// First hops of all routes, in order, if routes change during the run; else empty.
    pub fn route_starts(&self) -> Vec<u32> {
        if self.reroutes.is_empty() {
            return Vec::new();
        }
        let ends = (0_u32..).zip(&self.path.hops).filter(|(_, h)| *h & END != 0).map(|(i, _)| i + 1);
        let mut starts: Vec<u32> = std::iter::once(0).chain(ends).collect();
        starts.pop();
        starts
    }
    /// Events so far.
    pub fn events(&self) -> u64 {
        self.events_run
    }
    /// Transmissions so far: packets times links.
    pub fn packet_hops(&self) -> u64 {
        self.path.hops_before_reset + self.path.ports.iter().map(|p| p.counters.sent_pkts).sum::<u64>()
    }
    /// Packets queued or on a link.
    pub fn packets_alive(&self) -> usize {
        self.path.arena.len()
    }
    /// Largest number of packets queued or on a link at one time.
    pub fn packets_peak(&self) -> usize {
        self.path.arena.peak()
    }
    /// Hash of the time and place of every arrival. It is a sum over packets, so the order of simultaneous events does not change it.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
    /// Returns all ports, and frees the rest of the world.
    pub fn into_ports(self) -> Vec<Port<P::Qdisc>> {
        self.path.ports
    }
    /// Time series, if they are recorded.
    pub fn sampler(&self) -> Option<&Sampler> {
        self.sampler.as_ref()
    }
    /// Takes the time series; nothing more is recorded.
    pub fn take_sampler(&mut self) -> Option<Sampler> {
        self.sampler.take()
    }
}
