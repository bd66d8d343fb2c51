//! Full mesh: a link between any two nodes.

use super::{Builder, Graph, InvalidParameter, with_defaults};
use crate::spec::Pipe;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Nodes n0, n1... with a link between any two, so every path has one link. Links are called n0-n1, the lower number first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FullMesh {
    /// Number of nodes.
    #[schemars(range(min = 2, max = 600))]
    pub nodes: u32,
    /// Links; default 10 Mbit/s and 5 ms.
    pub link: Pipe,
}

impl Default for FullMesh {
    fn default() -> Self {
        Self { nodes: 5, link: Pipe::default() }
    }
}

impl Builder for FullMesh {
    fn filled(&self) -> Self {
        Self { link: with_defaults(&self.link), ..self.clone() }
    }

    fn check(&self) -> Vec<InvalidParameter> {
        Vec::new()
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
