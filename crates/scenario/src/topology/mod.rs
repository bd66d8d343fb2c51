//! Builders of regular networks from a few parameters. One file each, and a line in the list: name, aliases, file and type.

topologies! {
    "dumbbell" ["barbell"] => dumbbell::Dumbbell;
    "star" [] => star::Star;
    "parking_lot" ["parkinglot", "parking-lot"] => parking_lot::ParkingLot;
    "fat_tree" ["fattree", "fat-tree"] => fat_tree::FatTree;
    "grid" [] => grid::Grid;
    "ring" [] => ring::Ring;
    "tree" [] => tree::Tree;
    "leaf_spine" ["leafspine", "leaf-spine", "clos"] => leaf_spine::LeafSpine;
    "full_mesh" ["fullmesh", "full-mesh", "complete"] => full_mesh::FullMesh;
    "random_geometric" ["random-geometric"] => random_geometric::RandomGeometric;
    "waxman" [] => waxman::Waxman;
    "barabasi_albert" ["barabasi-albert"] => barabasi_albert::BarabasiAlbert;
}

mod field;

pub use field::{FieldParams, Islands};

use crate::registry::QueueSpec;
use crate::registry_macros::topologies;
use crate::spec::{Direction, Pipe, Point, QueueTable};
use fairlane_units::{Dur, Name, Rate};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::sync::Arc;

/// Most links of a network whose number of links grows quickly with a parameter.
const MOST_LINKS: usize = 200_000;

/// Nodes and links of a network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// Node names.
    pub nodes: Vec<Name>,
    /// Drawing position of each node.
    pub places: Vec<Point>,
    /// Links by name.
    pub links: IndexMap<Name, Edge, FxBuildHasher>,
    /// Recent links: equal links of a large network share their parameters.
    recent: [Option<Arc<Pipe>>; 2],
}

/// A link of a network.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// Node at its start.
    pub from: Name,
    /// Node at its end.
    pub to: Name,
    /// True if it carries packets both ways.
    pub duplex: bool,
    /// Both directions.
    pub pipe: Arc<Pipe>,
}

impl Graph {
    /// Nodes n0, n1... on a circle, about 1 apart, clockwise from the top.
    fn circle(count: u32) -> Self {
        let mut g = Self::default();
        let radius = f64::from(count.max(4)) / std::f64::consts::TAU;
        for i in 0..count {
            let angle = std::f64::consts::TAU * f64::from(i) / f64::from(count.max(1));
            g.node(format!("n{i}"), radius * libm::sin(angle), radius * libm::cos(angle));
        }
        g
    }
    /// Reserves memory.
    fn reserve(&mut self, nodes: usize, links: usize) {
        self.nodes.reserve_exact(nodes);
        self.places.reserve_exact(nodes);
        self.links.reserve_exact(links);
    }
    /// Adds a node with its drawing position: x to the right, y upwards, about 1 between neighbours.
    fn node(&mut self, name: impl Into<Name>, x: f64, y: f64) {
        self.nodes.push(name.into());
        self.places.push(Point { x, y });
    }
    /// Adds a link with a unique name.
    fn link(&mut self, name: impl Into<Name>, from: impl Into<Name>, to: impl Into<Name>, pipe: &Pipe) {
        let pipe = self.shared(pipe);
        let before = self.links.insert(name.into(), Edge { from: from.into(), to: to.into(), duplex: true, pipe });
        debug_assert!(before.is_none(), "{before:?}");
    }
    /// Adds the link n0-n1, n4-n7... between numbered nodes, the lower number first.
    fn join(&mut self, a: u32, b: u32, pipe: &Pipe) {
        let (a, b) = (format!("n{}", a.min(b)), format!("n{}", a.max(b)));
        self.link(format!("{a}-{b}"), &a, &b, pipe);
    }
    fn shared(&mut self, pipe: &Pipe) -> Arc<Pipe> {
        if let Some(same) = self.recent.iter().flatten().find(|p| ***p == *pipe) {
            return same.clone();
        }
        let new = Arc::new(pipe.clone());
        self.recent = [Some(new.clone()), self.recent[0].take()];
        new
    }
}

/// An invalid parameter of a builder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidParameter {
    /// The parameter.
    pub field: &'static str,
    /// Error message.
    pub message: String,
    /// Suggested correction.
    pub help: String,
}

/// A topology builder.
pub trait Builder: Sized {
    /// Copy with every parameter written out.
    #[must_use]
    fn filled(&self) -> Self;
    /// Checks the parameters.
    fn check(&self) -> Vec<InvalidParameter> {
        Vec::new()
    }
    /// Builds the network, after `check` found no error.
    fn graph(&self) -> Graph;
    /// Names of the hosts, for messages: "s0..s4".
    fn hosts(&self) -> String;
}

/// Pipe with this rate and delay, for defaults.
fn plain(rate: Rate, delay: Dur) -> Pipe {
    let forward = Direction { rate: Some(rate), delay: Some(delay), ..Direction::default() };
    Pipe { forward, ..Pipe::default() }
}

/// Pipe with 10 Mbit/s and 5 ms as defaults.
fn with_defaults(pipe: &Pipe) -> Pipe {
    pipe.over(&plain(Rate::from_mbps(10), Dur::from_ms(5))).filled()
}

/// Position of item `i` of `count` in a row centred at zero.
fn row_position(i: u32, count: u32) -> f64 {
    f64::from(i) - (f64::from(count) - 1.0) / 2.0
}

/// Error about too many links.
fn too_many_links(field: &'static str, links: &str, help: &str) -> InvalidParameter {
    InvalidParameter { field, message: format!("that makes {links} links, the limit is {MOST_LINKS}"), help: help.to_owned() }
}

/// A DropTail queue large enough for the traffic of one host.
fn large_queue() -> QueueTable {
    let limit = fairlane_units::Len::Packets(100_000);
    QueueTable::from(&QueueSpec::Droptail(fairlane_queue::DropTailParams { limit, ..Default::default() }))
}
