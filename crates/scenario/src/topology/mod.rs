//! Builders of regular networks: a few parameters in, nodes and links out. One file each, and a line in the list: name, other spellings, file and type.

topologies! {
    "dumbbell" ["barbell"] => dumbbell::Dumbbell;
    "star" [] => star::Star;
    "parking_lot" ["parkinglot", "parking-lot"] => parking_lot::ParkingLot;
    "fat_tree" ["fattree", "fat-tree"] => fat_tree::FatTree;
}

use crate::plugs::topologies;
use crate::registry::QueueSpec;
use crate::spec::{Direction, LinkSpec, Pipe, QueueTable};
use fairlane_units::{Dur, Rate};
use indexmap::IndexMap;

/// Nodes and links of a network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// Node names.
    pub nodes: Vec<String>,
    /// Links by name.
    pub links: IndexMap<String, LinkSpec>,
}

impl Graph {
    fn node(&mut self, name: impl Into<String>) {
        self.nodes.push(name.into());
    }
    fn link(&mut self, name: impl Into<String>, from: &str, to: &str, pipe: Pipe) {
        self.links.insert(name.into(), LinkSpec::new(from, to, true, pipe));
    }
}

/// A parameter of a builder that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The parameter.
    pub field: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to write.
    pub help: String,
}

/// What every builder does.
pub trait Builder: Sized {
    /// The same with every parameter written out.
    #[must_use]
    fn filled(&self) -> Self;
    /// Whether the parameters fit one another.
    fn check(&self) -> Vec<Misfit>;
    /// The network. Called when `check` found nothing.
    fn graph(&self) -> Graph;
    /// The hosts and what number them, for messages: "s0..s4".
    fn hosts(&self) -> String;
}

/// A pipe of this rate and delay, for defaults.
fn plain(rate: Rate, delay: Dur) -> Pipe {
    let forward = Direction { rate: Some(rate), delay: Some(delay), ..Direction::default() };
    Pipe { forward, ..Pipe::default() }
}

/// A DropTail queue that the traffic of one host does not fill.
fn roomy() -> QueueTable {
    let limit = fairlane_units::Len::Packets(100_000);
    QueueTable::from(&QueueSpec::Droptail(fairlane_queue::DropTailParams { limit, ..Default::default() }))
}
