//! Full mesh: a link between any two nodes.

use super::{Builder, Graph, with_defaults};
use crate::spec::Pipe;

fairlane_units::params! {
    /// Nodes n0, n1... with a link between any two, so every path has one link. Links are called n0-n1, the lower number first.
    pub struct FullMesh {
        /// Number of nodes.
        #[schemars(range(min = 2, max = 600))]
        pub nodes: u32 = 5,
        /// Links; default 10 Mbit/s and 5 ms.
        pub link: Pipe,
    }
}

impl Builder for FullMesh {
    fn filled(&self) -> Self {
        Self { link: with_defaults(&self.link), ..self.clone() }
    }

    fn graph(&self) -> Graph {
        let mut g = Graph::circle(self.nodes);
        for i in 0..self.nodes {
            for j in i + 1..self.nodes {
                g.join(i, j, &self.link);
            }
        }
        g
    }

    fn hosts(&self) -> String {
        format!("the full mesh with nodes = {} has nodes n0..n{}", self.nodes, self.nodes.saturating_sub(1))
    }
}
