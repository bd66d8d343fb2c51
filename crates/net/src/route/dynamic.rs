//! Dynamic routes: links fail and routes follow, or each packet of a flow takes its own among equally short paths. In all other worlds a route is a
//! list of ports ([`crate::path::Path::hops`]), and no forwarding table exists.
//!
//! A place is the link over which a packet of an endpoint has come, with the node behind it. Each place has next hops: ports, and the places behind them. All
//! failures are known before the run, so all places are known, too. There is one table for each set of links that routes avoid. A change of routes activates
//! another table, which packets in flight follow at their next node.

use crate::channel::{Channels, NO_STATION};
use crate::hop::{END, PLACES, next, place};
use crate::route::{Graph, Router, Routing, Ties};
use std::collections::HashMap;
use std::sync::Arc;

/// Largest number of entries of all tables.
const MOST: usize = 1 << 26;

/// Next hops of every place, for one set of avoided links.
#[derive(Debug)]
struct Table {
    /// Index of the first hop of each place, and the number of all.
    first: Vec<u32>,
    /// Port, and the place behind it; at the end of a route the endpoint with [`END`] set.
    ways: Vec<(u32, u32)>,
}

/// Forwarding tables, one of which is active.
#[derive(Clone, Debug)]
pub(crate) struct ForwardingTable {
    tables: Arc<[Table]>,
    now: usize,
    /// Number of choices made at each place; empty if all packets of a flow take one path.
    turns: Vec<u32>,
}

impl ForwardingTable {
    /// Returns the port and hop that follow `hop`; at the end of a route the endpoint with [`END`] set, and `hop` itself.
    #[inline]
    pub(crate) fn step(&mut self, hop: u32) -> (u32, u32) {
        let at = place(hop) as usize;
        let table = &self.tables[self.now];
        let (first, end) = (table.first[at] as usize, table.first[at + 1] as usize);
        let mut k = first;
        if end - first > 1 {
            // Packets take the next hops in turn.
            k += self.turns[at] as usize % (end - first);
            self.turns[at] = self.turns[at].wrapping_add(1);
        }
        let (port, onto) = table.ways[k];
        if port & END != 0 {
            return (port, hop);
        }
        (port, next(hop, onto))
    }

    /// Activates a table.
    pub(crate) fn activate(&mut self, table: usize) {
        self.now = table;
    }

    /// Next hops of a place in the active table.
    fn ways(&self, at: u32) -> &[(u32, u32)] {
        self.ways_of(self.now, at)
    }

    fn ways_of(&self, table: usize, at: u32) -> &[(u32, u32)] {
        let table = &self.tables[table];
        &table.ways[table.first[at as usize] as usize..table.first[at as usize + 1] as usize]
    }

    /// Returns the ports of the route from a place; of several next hops it takes the first.
    pub(crate) fn ports(&self, from: u32) -> impl Iterator<Item = u32> + '_ {
        let mut at = from;
        std::iter::from_fn(move || {
            let &(port, onto) = self.ways(at).first()?;
            at = onto;
            (port & END == 0).then_some(port)
        })
    }

    /// Returns all ports that packets from a place can reach while `table` is active, each once.
    pub(crate) fn all_ports(&self, table: usize, from: u32) -> Vec<u32> {
        let (mut open, mut seen, mut ports) = (vec![from], vec![from], Vec::new());
        while let Some(at) = open.pop() {
            for &(port, onto) in self.ways_of(table, at).iter().filter(|w| w.0 & END == 0) {
                ports.push(port);
                if !seen.contains(&onto) {
                    seen.push(onto);
                    open.push(onto);
                }
            }
        }
        ports.sort_unstable();
        ports.dedup();
        ports
    }
}

/// Builds the forwarding tables, one route after the other.
pub(crate) struct ForwardingTableBuilder<'a> {
    routers: Vec<Router<'a, 'a>>,
    ties: Ties<'a>,
    airs: &'a Channels,
    tables: Vec<Table>,
    /// Number of places so far.
    places: usize,
    towards: Vec<u32>,
}

/// Demand for a route: an endpoint and its peer.
#[derive(Clone, Copy)]
pub(crate) struct Demand<'a> {
    pub(crate) flow: &'a str,
    pub(crate) src: u32,
    pub(crate) dst: u32,
    /// Endpoint at the end of the route.
    pub(crate) to: u32,
}

/// Reason why forwarding tables cannot be built.
#[derive(Debug)]
pub(crate) enum RouteError {
    NoRoute,
    TooLarge,
}

impl<'a> ForwardingTableBuilder<'a> {
    /// Creates a builder of one table per graph; the first is that of the whole network.
    pub(crate) fn new(graphs: &'a [Graph], ties: Ties<'a>, airs: &'a Channels) -> Self {
        let routers: Vec<_> = graphs.iter().map(|g| Router::new(g, ties)).collect();
        let tables = graphs.iter().map(|_| Table { first: vec![0], ways: Vec::new() }).collect();
        Self { routers, ties, airs, tables, places: 0, towards: Vec::new() }
    }

    /// Adds the routes of an endpoint's packets. Returns their first place.
    pub(crate) fn lay(&mut self, demand: Demand<'_>) -> Result<u32, RouteError> {
        let base = self.places as u32;
        let (mut places, mut known) = (vec![(u32::MAX, demand.src)], HashMap::new());
        known.insert((u32::MAX, demand.src), base);
        let mut k = 0;
        while let Some(&(port, node)) = places.get(k) {
            k += 1;
            self.places += 1;
            if !self.airs.is_empty() {
                self.towards.push(if port == u32::MAX { NO_STATION } else { self.airs.station(port, node) });
            }
            for t in 0..self.tables.len() {
                let mut on = self.on(t, demand, node);
                if on.is_empty() {
                    // Without a route packets follow the one of the whole network, and are lost at a link that is down.
                    on = self.on(0, demand, node);
                }
                if on.is_empty() {
                    return Err(RouteError::NoRoute);
                }
                for &(far, port) in &on {
                    let next = base + places.len() as u32;
                    let onto = if port & END != 0 {
                        0
                    } else {
                        *known.entry((port, far)).or_insert_with(|| {
                            places.push((port, far));
                            next
                        })
                    };
                    self.tables[t].ways.push((port, onto));
                }
                let end = self.tables[t].ways.len() as u32;
                self.tables[t].first.push(end);
            }
        }
        if self.places >= PLACES as usize || self.tables.iter().map(|t| t.ways.len()).sum::<usize>() > MOST {
            return Err(RouteError::TooLarge);
        }
        Ok(base)
    }

    /// Returns the next hops of a node in one table, as (far node, port); at the destination the endpoint.
    fn on(&mut self, table: usize, demand: Demand<'_>, node: u32) -> Vec<(u32, u32)> {
        if node == demand.dst {
            return vec![(node, END | demand.to)];
        }
        let router = &mut self.routers[table];
        let gate = router.gate_of(demand.dst);
        let ways = router.ways(node, demand.dst);
        match self.ties.routing {
            Routing::EcmpPackets => self.ties.ranked(demand.flow, gate, ways),
            Routing::Single | Routing::Ecmp => self.ties.choose(demand.flow, gate, ways).into_iter().collect(),
        }
    }

    /// Returns the forwarding tables, and for each place the station that its hop leads to.
    pub(crate) fn finish(self) -> (ForwardingTable, Vec<u32>) {
        let turns = if self.ties.routing == Routing::EcmpPackets { vec![0; self.places] } else { Vec::new() };
        (ForwardingTable { tables: self.tables.into(), now: 0, turns }, self.towards)
    }
}
