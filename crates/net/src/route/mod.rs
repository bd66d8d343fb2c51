//! Routes: the graph of the network, shortest paths, and routes that change during a run.

pub(crate) mod dynamic;
pub(crate) mod reroute;
mod router;

pub use router::Routing;
pub(crate) use router::{Graph, Router, Ties};
