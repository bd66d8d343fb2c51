//! Routes of a world that is being built.

use super::{BuildError, Ends, LinkDraft, WorldBuilder};
use crate::channel::{Channels, NO_STATION};
use crate::endpoint::Endpoint;
use crate::flow::Flow;
use crate::hop::END;
use crate::ids::NodeId;
use crate::outage::Plan;
use crate::route::dynamic::{Demand, ForwardingTable, ForwardingTableBuilder, RouteError};
use crate::route::reroute::{Change, Reroutes};
use crate::route::{Graph, Router, Routing, Ties};
use crate::side::Side;
use crate::world::Components;
use std::collections::{BTreeSet, HashMap};

impl<P: Components> WorldBuilder<P> {
    /// Computes the route of each endpoint, and passes endpoints the rate of their first link.
    pub(super) fn lay(&mut self, plan: &Plan) -> Result<Routes, BuildError> {
        if plan.avoided.len() > 1 || self.routing == Routing::EcmpPackets {
            return self.lay_dynamic(plan);
        }
        let Self { seed, routing, nodes, links, airs, flows: defs, endpoints, costs, .. } = self;
        let (defs, costs) = (std::mem::take(defs), std::mem::take(costs));
        let mut laid = Routes {
            hops: Vec::new(),
            forwarding: None,
            towards: Vec::new(),
            sides: Vec::with_capacity(2 * defs.len()),
            flows: Vec::with_capacity(defs.len()),
            reroutes: Reroutes::default(),
        };
        // If routes change: flow, nodes and path of each endpoint.
        let mut ends = Vec::new();
        let graph = graph_of(nodes.len(), links, airs, &costs, &BTreeSet::new());
        let link = |port: u32| &*links[port as usize].name;
        let mut router = Router::new(&graph, Ties { routing: *routing, seed: *seed, nodes, link: &link });
        for (f, d) in defs.iter().enumerate() {
            if d.from == d.to {
                return Err(BuildError::SameNode { flow: d.name.clone(), node: nodes[d.from.0 as usize].clone() });
            }
            for (end, from, to) in [(1, d.from, d.to), (0, d.to, d.from)] {
                let path = router.path(&d.name, from.0, to.0);
                if path.is_none() && airs.next_change().is_none() {
                    let [from, to] = [from, to].map(|n| nodes[n.0 as usize].clone());
                    return Err(BuildError::NoRoute { flow: d.name.clone(), from, to });
                }
                let route = laid.add(path.as_deref(), to.0, END | (2 * f as u32 + end), links, airs);
                laid.sides.push(Side::new(route, d.proto));
                if let Some(first) = path.as_ref().and_then(|p| p.first()) {
                    endpoints[2 * f + 1 - end as usize].attach(links[*first as usize].rate);
                }
                if airs.next_change().is_some() {
                    ends.push((f, from.0, to.0, path));
                }
            }
            laid.flows.push(Flow::new(d.name.clone()));
        }
        laid.hops.shrink_to_fit();
        if !ends.is_empty() {
            self.follow(&mut laid, ends, &defs, &costs)?;
        }
        Ok(laid)
    }

    /// [`Self::lay`] for worlds where routes follow failures, or packets take several paths.
    fn lay_dynamic(&mut self, plan: &Plan) -> Result<Routes, BuildError> {
        let Self { seed, routing, nodes, links, airs, flows: defs, endpoints, costs, .. } = self;
        if airs.next_change().is_some() {
            return Err(BuildError::WaysOfMoving);
        }
        let (defs, costs) = (std::mem::take(defs), std::mem::take(costs));
        let graphs: Vec<Graph> = plan.avoided.iter().map(|avoided| graph_of(nodes.len(), links, airs, &costs, avoided)).collect();
        let link = |port: u32| &*links[port as usize].name;
        let ties = Ties { routing: *routing, seed: *seed, nodes, link: &link };
        let mut router = Router::new(&graphs[0], ties);
        let mut builder = ForwardingTableBuilder::new(&graphs, ties, airs);
        let (mut sides, mut flows) = (Vec::with_capacity(2 * defs.len()), Vec::with_capacity(defs.len()));
        for (f, d) in defs.iter().enumerate() {
            let name_of = |n: NodeId| nodes[n.0 as usize].clone();
            if d.from == d.to {
                return Err(BuildError::SameNode { flow: d.name.clone(), node: name_of(d.from) });
            }
            for (end, from, to) in [(1, d.from, d.to), (0, d.to, d.from)] {
                let none = || BuildError::NoRoute { flow: d.name.clone(), from: name_of(from), to: name_of(to) };
                let path = router.path(&d.name, from.0, to.0).ok_or_else(none)?;
                if let Some(first) = path.first() {
                    endpoints[2 * f + 1 - end as usize].attach(links[*first as usize].rate);
                }
                let demand = Demand { flow: &d.name, src: from.0, dst: to.0, to: 2 * f as u32 + end };
                let route = builder.lay(demand).map_err(|why| match why {
                    RouteError::NoRoute => none(),
                    RouteError::TooLarge => BuildError::TooManyWays { flows: defs.len() },
                })?;
                sides.push(Side::new(route, d.proto));
            }
            flows.push(Flow::new(d.name.clone()));
        }
        let (forwarding, towards) = builder.finish();
        Ok(Routes { hops: Vec::new(), forwarding: Some(Box::new(forwarding)), towards, sides, flows, reroutes: Reroutes::default() })
    }

    /// Computes all changes of routes. An endpoint without a route keeps its last one; before its first it has that one.
    fn follow(
        &mut self,
        laid: &mut Routes,
        mut ends: Vec<(usize, u32, u32, Option<Vec<u32>>)>,
        defs: &[Ends],
        costs: &[u64],
    ) -> Result<(), BuildError> {
        let Self { seed, routing, nodes, links, airs, endpoints, .. } = self;
        let link = |port: u32| &*links[port as usize].name;
        let ties = Ties { routing: *routing, seed: *seed, nodes, link: &link };
        let mut changes = Vec::new();
        let mut known: HashMap<(usize, Vec<u32>, Vec<u32>), u32> = HashMap::new();
        for (ep, (_, _, to, path)) in ends.iter().enumerate() {
            if let Some(path) = path {
                known.insert((ep, path.clone(), towards(path, *to, links, airs)), laid.sides[ep].route);
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
                let route = *known
                    .entry((ep, path.clone(), stations))
                    .or_insert_with(|| laid.add(Some(&path), *to, END | (ep as u32 ^ 1), links, airs));
                if first {
                    laid.sides[ep].route = route;
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
        let mut last: Vec<u32> = laid.sides.iter().map(|s| s.route).collect();
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

/// Flows with the routes of their endpoints.
pub(super) struct Routes {
    pub(super) hops: Vec<u32>,
    pub(super) forwarding: Option<Box<ForwardingTable>>,
    pub(super) towards: Vec<u32>,
    pub(super) sides: Vec<Side>,
    pub(super) flows: Vec<Flow>,
    pub(super) reroutes: Reroutes,
}

impl Routes {
    /// Adds a route that ends at `end`. Returns the index of its first hop.
    fn add(&mut self, path: Option<&[u32]>, to: u32, end: u32, links: &[LinkDraft], airs: &Channels) -> u32 {
        let route = self.hops.len() as u32;
        if let Some(path) = path {
            if !airs.is_empty() {
                self.towards.extend(towards(path, to, links, airs));
                self.towards.push(NO_STATION);
            }
            self.hops.extend(path);
            self.hops.push(end);
        }
        route
    }
}
