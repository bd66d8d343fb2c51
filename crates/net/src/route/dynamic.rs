//! Ways through the network for worlds in which they are not the same all the time: because links fail and routes follow, or because each
//! packet takes its own among equally short ones. Elsewhere a route is a row of ports ([`crate::path::Path::hops`]), and none of this exists.
//!
//! A place is what a packet of one endpoint has come by: the link, and the node that it leads to. For each place there are ports that lead on, and the
//! places behind them. As all failures are known before the run, so are all places that any packet can come to, and there is one table of ways for each
//! set of links that routes avoid; routes follow by changing the table, and packets under way follow with them at their next node.

use crate::channel::{Channels, NOBODY};
use crate::hop::{END, PLACES, next, place};
use crate::route::{Graph, Router, Routing, Ties};
use std::collections::HashMap;
use std::sync::Arc;

/// Most entries of all tables together.
const MOST: usize = 1 << 26;

/// The ways on from every place while routes are as they are.
#[derive(Debug)]
struct Table {
    /// For each place where its ways begin among all, and one more for the end.
    first: Vec<u32>,
    /// A port and the place behind it; at the end of a route the endpoint with [`END`] set.
    ways: Vec<(u32, u32)>,
}

/// All ways, and which of them are in force.
#[derive(Clone, Debug)]
pub(crate) struct Maze {
    tables: Arc<[Table]>,
    now: usize,
    /// For each place how often one of several ways was chosen there; empty where flows keep to one.
    turns: Vec<u32>,
}

impl Maze {
    /// The port and `hop` of a packet that has come by `hop`; or the endpoint with [`END`] set, and the same `hop`.
    #[inline]
    pub(crate) fn step(&mut self, hop: u32) -> (u32, u32) {
        let at = place(hop) as usize;
        let table = &self.tables[self.now];
        let (first, end) = (table.first[at] as usize, table.first[at + 1] as usize);
        let mut k = first;
        if end - first > 1 {
            // Each packet the next of the ways in turn.
            k += self.turns[at] as usize % (end - first);
            self.turns[at] = self.turns[at].wrapping_add(1);
        }
        let (port, onto) = table.ways[k];
        if port & END != 0 {
            return (port, hop);
        }
        (port, next(hop, onto))
    }

    /// Puts other ways in force.
    pub(crate) fn turn_to(&mut self, table: usize) {
        self.now = table;
    }

    /// The ways on from a place: ports and the places behind them.
    fn ways(&self, at: u32) -> &[(u32, u32)] {
        self.ways_of(self.now, at)
    }

    fn ways_of(&self, table: usize, at: u32) -> &[(u32, u32)] {
        let table = &self.tables[table];
        &table.ways[table.first[at as usize] as usize..table.first[at as usize + 1] as usize]
    }

    /// The ports on the way from a place, the first of several everywhere.
    pub(crate) fn ports(&self, from: u32) -> impl Iterator<Item = u32> + '_ {
        let mut at = from;
        std::iter::from_fn(move || {
            let &(port, onto) = self.ways(at).first()?;
            at = onto;
            (port & END == 0).then_some(port)
        })
    }

    /// All ports that packets may come to from a place while a given table is in force, each once.
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

/// Where all places of the endpoints so far are.
pub(crate) struct MazeBuilder<'a> {
    routers: Vec<Router<'a, 'a>>,
    ties: Ties<'a>,
    airs: &'a Channels,
    tables: Vec<Table>,
    /// Number of places.
    places: usize,
    towards: Vec<u32>,
}

/// An endpoint whose packets go through the network.
#[derive(Clone, Copy)]
pub(crate) struct Trip<'a> {
    pub(crate) flow: &'a str,
    pub(crate) src: u32,
    pub(crate) dst: u32,
    /// The endpoint at its end.
    pub(crate) to: u32,
}

/// There would be more of them than fit.
#[derive(Debug)]
pub(crate) enum NoMaze {
    NoRoute,
    TooLarge,
}

impl<'a> MazeBuilder<'a> {
    /// For graphs of which the first is that of the whole network.
    pub(crate) fn new(graphs: &'a [Graph], ties: Ties<'a>, airs: &'a Channels) -> Self {
        let routers: Vec<_> = graphs.iter().map(|g| Router::new(g, ties)).collect();
        let tables = graphs.iter().map(|_| Table { first: vec![0], ways: Vec::new() }).collect();
        Self { routers, ties, airs, tables, places: 0, towards: Vec::new() }
    }

    /// Adds the ways of an endpoint's packets; its first place.
    pub(crate) fn lay(&mut self, trip: Trip<'_>) -> Result<u32, NoMaze> {
        let base = self.places as u32;
        let (mut places, mut known) = (vec![(u32::MAX, trip.src)], HashMap::new());
        known.insert((u32::MAX, trip.src), base);
        let mut k = 0;
        while let Some(&(port, node)) = places.get(k) {
            k += 1;
            self.places += 1;
            if !self.airs.is_empty() {
                self.towards.push(if port == u32::MAX { NOBODY } else { self.airs.station(port, node) });
            }
            for t in 0..self.tables.len() {
                let mut on = self.on(t, trip, node);
                if on.is_empty() {
                    // No way is left: packets go where they went when all was well, and are lost at a link that is down.
                    on = self.on(0, trip, node);
                }
                if on.is_empty() {
                    return Err(NoMaze::NoRoute);
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
            return Err(NoMaze::TooLarge);
        }
        Ok(base)
    }

    /// The ways on from a node in one of the tables, as (far node, port); at the end of the trip the endpoint.
    fn on(&mut self, table: usize, trip: Trip<'_>, node: u32) -> Vec<(u32, u32)> {
        if node == trip.dst {
            return vec![(node, END | trip.to)];
        }
        let router = &mut self.routers[table];
        let gate = router.gate_of(trip.dst);
        let ways = router.ways(node, trip.dst);
        match self.ties.routing {
            Routing::EcmpPackets => self.ties.ranked(trip.flow, gate, ways),
            Routing::Single | Routing::Ecmp => self.ties.choose(trip.flow, gate, ways).into_iter().collect(),
        }
    }

    /// All of it, and for each place the station that it is on a channel.
    pub(crate) fn finish(self) -> (Maze, Vec<u32>) {
        let turns = if self.ties.routing == Routing::EcmpPackets { vec![0; self.places] } else { Vec::new() };
        (Maze { tables: self.tables.into(), now: 0, turns }, self.towards)
    }
}
