//! Ring: every node has two neighbours.

use super::{Builder, Graph, with_defaults};
use crate::spec::Pipe;

fairlane_units::params! {
    /// Nodes n0, n1... in a circle, each joined to the next and the last to the first. Links are called n0-n1, the lower number first.
    pub struct Ring {
        /// Number of nodes.
        #[schemars(range(min = 3, max = 100_000))]
        pub nodes: u32 = 8,
        /// Links; default 10 Mbit/s and 5 ms.
        pub link: Pipe,
    }
}

impl Builder for Ring {
    fn filled(&self) -> Self {
        Self { link: with_defaults(&self.link), ..self.clone() }
    }

    fn graph(&self) -> Graph {
        let mut g = Graph::circle(self.nodes);
        for i in 0..self.nodes {
            g.join(i, (i + 1) % self.nodes, &self.link);
        }
        g
    }

    fn hosts(&self) -> String {
        format!("the ring with nodes = {} has nodes n0..n{}", self.nodes, self.nodes.saturating_sub(1))
    }
}
