//! What can be read of a world, and what is kept of one that is over.

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

/// Flows whose endpoints are given back to the system together.
const AT_ONCE: usize = 1 << 13;

impl<P: Components, H: EventQueue> World<P, H> {
    /// Forgets what was counted so far (the warm-up); the state stays.
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
        for (i, flow) in self.path.flows.iter_mut().enumerate() {
            flow.counters.begin_again(flow.kept(&self.endpoints[2 * i + 1]));
            flow.base = Some(Box::new(flow.view(&self.endpoints[2 * i])));
        }
    }

    /// Carries out every departure due by now, so that counters and backlogs speak of this instant.
    pub fn settle<O: Observer>(&mut self, obs: &mut O) {
        self.path.settle_all::<O, true>(self.path.now, obs);
    }

    /// The run is over: what only a future would need is given up, before tables of the results take its memory. Nothing happens any more.
    pub fn retire(&mut self) {
        self.path.events = H::with_slots(0);
        self.hosts = Vec::new();
        let flows = &self.path.flows;
        // From the last one, and turned round at the end: what is kept of endpoints takes the place that they leave.
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
    /// The present.
    pub fn now(&self) -> Time {
        self.path.now
    }
    /// When counters were last reset: the end of the warm-up.
    pub fn reset_at(&self) -> Time {
        self.reset_at
    }
    /// All ports.
    pub fn ports(&self) -> &[Port<P::Qdisc>] {
        &self.path.ports
    }
    /// A port by number.
    pub fn port(&self, id: PortId) -> &Port<P::Qdisc> {
        &self.path.ports[id.0 as usize]
    }
    /// All channels.
    pub fn channels(&self) -> &[Channel] {
        &self.airs
    }
    /// All flows.
    pub fn flows(&self) -> &[Flow] {
        &self.path.flows
    }
    /// The state of an endpoint; after [`Self::retire`] of a sender only.
    pub fn view(&self, ep: EpId) -> FlowView {
        let i = ep.0 as usize;
        let last = || self.last_views.get(i / 2).copied().unwrap_or_default();
        let flow = &self.path.flows[i / 2];
        self.endpoints.get(i).map_or_else(last, |e| if ep.receives() { e.view() } else { flow.view(e) })
    }
    /// Payload bytes of a flow that have arrived since the last reset, each once, those that wait for something before them included.
    pub fn arrived(&self, flow: FlowId) -> u64 {
        let i = flow.0 as usize;
        let last = || self.last_kept.get(i).copied().unwrap_or_default();
        let kept = self.endpoints.get(2 * i + 1).map_or_else(last, |e| self.path.flows[i].kept(e));
        let c = &self.path.flows[i].counters;
        // A reset throws away what waited.
        (c.delivered + kept).saturating_sub(c.initial_kept)
    }
    /// The ports on the way from the given endpoint to its peer, as routes are now; where packets of a flow take several, one of these.
    pub fn route(&self, ep: EpId) -> impl Iterator<Item = PortId> + '_ {
        let start = self.sides[ep.0 as usize].route;
        self.hops_from(start).chain(self.path.forwarding.iter().flat_map(move |m| m.ports(start))).map(PortId)
    }
    /// The ports that packets from the given endpoint could take at some time since the last reset, each once.
    pub fn passed(&self, ep: EpId) -> Vec<PortId> {
        let (start, from, now) = (self.sides[ep.0 as usize].route, self.reset_at, self.path.now);
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
    fn hops_from(&self, start: u32) -> impl Iterator<Item = u32> + '_ {
        self.path.hops.iter().skip(start as usize).take_while(|&&h| h & END == 0).copied()
    }
    /// Where the hops of an endpoint's packets begin, for [`crate::Packet::crossed`].
    pub fn first_hop(&self, ep: EpId) -> u32 {
        if self.path.forwarding.is_some() { COUNTED } else { self.sides[ep.0 as usize].route }
    }
    /// Where the hops of all routes begin, in order, if routes change during the run; else nothing.
    pub fn route_starts(&self) -> Vec<u32> {
        if self.reroutes.is_empty() {
            return Vec::new();
        }
        let ends = (0_u32..).zip(&self.path.hops).filter(|(_, h)| *h & END != 0).map(|(i, _)| i + 1);
        let mut starts: Vec<u32> = std::iter::once(0).chain(ends).collect();
        starts.pop();
        starts
    }
    /// Events carried out so far.
    pub fn events(&self) -> u64 {
        self.events_run
    }
    /// Transmissions begun so far: packets times links.
    pub fn packet_hops(&self) -> u64 {
        self.path.hops_before_reset + self.path.ports.iter().map(|p| p.counters.sent_pkts).sum::<u64>()
    }
    /// Packets alive: waiting or on a link.
    pub fn packets_alive(&self) -> usize {
        self.path.arena.len()
    }
    /// Most packets alive at one time so far.
    pub fn packets_peak(&self) -> usize {
        self.path.arena.peak()
    }
    /// A number that depends on when every packet arrived where: two runs with the same trajectory have the same one. It is a sum
    /// over packets, so it does not depend on the order in which simultaneous events were carried out.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
    /// All ports, of a world that is read no more: the rest of it is given up.
    pub fn into_ports(self) -> Vec<Port<P::Qdisc>> {
        self.path.ports
    }
    /// The time series, if sampling is on.
    pub fn sampler(&self) -> Option<&Sampler> {
        self.sampler.as_ref()
    }
    /// Hands the time series over; nothing is sampled from here on.
    pub fn take_sampler(&mut self) -> Option<Sampler> {
        self.sampler.take()
    }
}
