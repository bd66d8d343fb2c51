//! Routes of a world that is being built.

use super::{BuildError, LinkDraft, WorldBuilder};
use crate::channel::{Channels, NO_STATION};
use crate::endpoint::Endpoint;
use crate::hop::END;
use crate::ids::NodeId;
use crate::outage::Plan;
use crate::route::dynamic::{Demand, ForwardingTable, ForwardingTableBuilder, RouteError};
use crate::route::reroute::{Change, Reroutes};
use crate::route::{Graph, Router, Routing, Ties};
use crate::world::Components;
use fairlane_units::Name;
use std::collections::{BTreeSet, HashMap};

impl<P: Components> WorldBuilder<P> {
    /// Computes the route of each endpoint, and passes endpoints the rate of their first link.
    pub(super) fn lay(&mut self, plan: &Plan) -> Result<Routes, BuildError> {
        if plan.avoided.len() > 1 || self.routing == Routing::EcmpPackets {
            return self.lay_dynamic(plan);
        }
        let mut endpoints = std::mem::take(&mut self.endpoints);
        let costs = std::mem::take(&mut self.costs);
        let (nodes, links, airs) = (&self.nodes, &self.links, &self.airs);
        let mut laid = Routes::with_capacity(self.flow_count());
        // If routes change: flow, nodes and path of each endpoint.
        let mut ends = Vec::new();
        let graph = graph_of(nodes.len(), links, airs, &costs, &BTreeSet::new());
        let link = |port: u32| &*links[port as usize].name;
        let mut router = Router::new(&graph, Ties { routing: self.routing, seed: self.seed, nodes, link: &link });
        // Short flows share their routes, which else take more memory than they do.
        let mut shared = self.factory.as_ref().map(|_| HashMap::new());
        for f in 0..self.flow_count() {
            let (name, from, to) = self.ends(f);
            if from == to {
                return Err(BuildError::SameNode { flow: name.clone(), node: nodes[from.0 as usize].clone() });
            }
            for (end, from, to) in [(0, from, to), (1, to, from)] {
                let path = router.path(name, from.0, to.0);
                if path.is_none() && airs.next_change().is_none() {
                    return Err(self.no_route(name, from, to));
                }
                let starts = shared.as_mut().map(|s: &mut HashMap<_, Vec<u32>>| s.entry((from, to)).or_default());
                let route = match (starts, &path) {
                    (Some(starts), Some(path)) => laid.share(starts, path, to.0, links, airs),
                    _ => laid.add(path.as_deref(), to.0, links, airs),
                };
                laid.starts.push(route);
                if let (Some(first), Some(endpoint)) = (path.as_ref().and_then(|p| p.first()), endpoints.get_mut(2 * f + end)) {
                    endpoint.attach(links[*first as usize].rate);
                }
                if airs.next_change().is_some() {
                    ends.push((f, from.0, to.0, path));
                }
            }
        }
        laid.hops.shrink_to_fit();
        self.endpoints = endpoints;
        if !ends.is_empty() {
            self.follow(&mut laid, ends, &costs)?;
        }
        Ok(laid)
    }

    fn no_route(&self, flow: &Name, from: NodeId, to: NodeId) -> BuildError {
        let [from, to] = [from, to].map(|n| self.nodes[n.0 as usize].clone());
        BuildError::NoRoute { flow: flow.clone(), from, to }
    }

    /// [`Self::lay`] for worlds where routes follow failures, or packets take several paths.
    fn lay_dynamic(&mut self, plan: &Plan) -> Result<Routes, BuildError> {
        let mut endpoints = std::mem::take(&mut self.endpoints);
        let costs = std::mem::take(&mut self.costs);
        let (nodes, links, airs) = (&self.nodes, &self.links, &self.airs);
        if airs.next_change().is_some() {
            return Err(BuildError::WaysOfMoving);
        }
        let graphs: Vec<Graph> = plan.avoided.iter().map(|avoided| graph_of(nodes.len(), links, airs, &costs, avoided)).collect();
        let link = |port: u32| &*links[port as usize].name;
        let ties = Ties { routing: self.routing, seed: self.seed, nodes, link: &link };
        let mut router = Router::new(&graphs[0], ties);
        let mut builder = ForwardingTableBuilder::new(&graphs, ties, airs);
        let mut starts = Vec::with_capacity(2 * self.flow_count());
        for f in 0..self.flow_count() {
            let (name, from, to) = self.ends(f);
            if from == to {
                return Err(BuildError::SameNode { flow: name.clone(), node: nodes[from.0 as usize].clone() });
            }
            for (end, from, to) in [(0, from, to), (1, to, from)] {
                let path = router.path(name, from.0, to.0).ok_or_else(|| self.no_route(name, from, to))?;
                if let (Some(first), Some(endpoint)) = (path.first(), endpoints.get_mut(2 * f + end)) {
                    endpoint.attach(links[*first as usize].rate);
                }
                let demand = Demand { flow: name, src: from.0, dst: to.0, to: 2 * f as u32 + 1 - end as u32 };
                starts.push(builder.lay(demand).map_err(|why| match why {
                    RouteError::NoRoute => self.no_route(name, from, to),
                    RouteError::TooLarge => BuildError::TooManyWays { flows: self.flow_count() },
                })?);
            }
        }
        self.endpoints = endpoints;
        let (forwarding, towards) = builder.finish();
        Ok(Routes { forwarding: Some(Box::new(forwarding)), towards, starts, ..Routes::default() })
    }

    /// Computes all changes of routes. An endpoint without a route keeps its last one; before its first it has that one.
    fn follow(&mut self, laid: &mut Routes, mut ends: Vec<(usize, u32, u32, Option<Vec<u32>>)>, costs: &[u64]) -> Result<(), BuildError> {
        let Self { seed, routing, nodes, links, airs, endpoints, flows: defs, .. } = self;
        let link = |port: u32| &*links[port as usize].name;
        let ties = Ties { routing: *routing, seed: *seed, nodes, link: &link };
        let mut changes = Vec::new();
        let mut known: HashMap<(usize, Vec<u32>, Vec<u32>), u32> = HashMap::new();
        for (ep, (_, _, to, path)) in ends.iter().enumerate() {
            if let Some(path) = path {
                known.insert((ep, path.clone(), towards(path, *to, links, airs)), laid.starts[ep]);
            }
        }
        while let Some(at) = airs.next_change() {
            if !airs.change(at) {
                continue;
            }
            let graph = graph_of(nodes.len(), links, airs, costs, &BTreeSet::new());
            let mut router = Router::new(&graph, ties);
            for (ep, (f, from, to, now)) in ends.iter_mut().enumerate() {
                let Some(path) = router.path(&defs[*f].name, *from, *to) else { continue };
                // Paths over the same ports may lead over different nodes.
                let first = now.is_none();
                let stations = towards(&path, *to, links, airs);
                let route = *known.entry((ep, path.clone(), stations)).or_insert_with(|| laid.add(Some(&path), *to, links, airs));
                if first {
                    laid.starts[ep] = route;
                    endpoints[ep].attach(links[path[0] as usize].rate);
                } else {
                    changes.push(Change { at, ep: ep as u32, route, before: route });
                }
                *now = Some(path);
            }
        }
        for (f, from, to, path) in ends {
            if path.is_none() {
                let [from, to] = [from, to].map(|n| nodes[n as usize].clone());
                return Err(BuildError::NoRoute { flow: defs[f].name.clone(), from, to });
            }
        }
        // Keep only changes that differ from the route before.
        let mut last = laid.starts.clone();
        changes.retain_mut(|c| {
            c.before = std::mem::replace(&mut last[c.ep as usize], c.route);
            c.before != c.route
        });
        laid.reroutes = Reroutes::new(changes);
        Ok(())
    }
}

/// Builds the graph of links, without avoided ones, and of the present hops of channels.
fn graph_of(nodes: usize, links: &[LinkDraft], airs: &Channels, costs: &[u64], avoided: &BTreeSet<u32>) -> Graph {
    let wires =
        (0..).zip(links.iter()).filter(|(port, _)| !airs.has(*port) && !avoided.contains(port)).map(|(port, l)| (port, l.from.0, l.to.0));
    Graph::new(nodes, wires.chain(airs.edges())).with_costs(costs.to_vec())
}

/// Stations that the hops of a path lead to; [`NO_STATION`] for links.
fn towards(path: &[u32], to: u32, links: &[LinkDraft], airs: &Channels) -> Vec<u32> {
    let far = path.iter().skip(1).map(|&p| links[p as usize].from.0).chain([to]);
    path.iter().zip(far).map(|(&p, far)| airs.station(p, far)).collect()
}

/// Routes of all endpoints.
#[derive(Default)]
pub(super) struct Routes {
    pub(super) hops: Vec<u32>,
    pub(super) forwarding: Option<Box<ForwardingTable>>,
    pub(super) towards: Vec<u32>,
    /// First hop of each endpoint.
    pub(super) starts: Vec<u32>,
    pub(super) reroutes: Reroutes,
}

impl Routes {
    fn with_capacity(flows: usize) -> Self {
        Self { starts: Vec::with_capacity(2 * flows), ..Self::default() }
    }

    /// Adds a route. Returns the index of its first hop.
    fn add(&mut self, path: Option<&[u32]>, to: u32, links: &[LinkDraft], airs: &Channels) -> u32 {
        let route = self.hops.len() as u32;
        if let Some(path) = path {
            if !airs.is_empty() {
                self.towards.extend(towards(path, to, links, airs));
                self.towards.push(NO_STATION);
            }
            self.hops.extend(path);
            self.hops.push(END);
        }
        route
    }

    /// Finds a route among those that begin at `starts` and lead to the same node, or adds it. Returns the index of its first hop.
    fn share(&mut self, starts: &mut Vec<u32>, path: &[u32], to: u32, links: &[LinkDraft], airs: &Channels) -> u32 {
        let is_path = |start: u32| {
            let hops = &self.hops[start as usize..];
            hops.starts_with(path) && hops.get(path.len()) == Some(&END)
        };
        starts.iter().copied().find(|&start| is_path(start)).unwrap_or_else(|| {
            let route = self.add(Some(path), to, links, airs);
            starts.push(route);
            route
        })
    }
}
