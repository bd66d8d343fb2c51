//! Routes: the graph of the network, shortest paths, and routes that change during a run.

pub(crate) mod dynamic;
mod graph;
pub(crate) mod reroute;
mod router;

pub(crate) use graph::Graph;
pub use router::Routing;
pub(crate) use router::{Router, Ties};
