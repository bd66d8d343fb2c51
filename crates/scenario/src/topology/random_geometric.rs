//! The random geometric graph: who is near is joined.

use super::field::{Field, Islands, Pair, of_its_length};
use super::{Builder, Graph, MOST_LINKS, Misfit};
use crate::spec::Pipe;
use fairlane_engine::Stream;
use fairlane_units::Dur;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The random geometric graph (Gilbert 1961): nodes n0, n1... scattered uniformly over a square, two of them joined if they are at most `radius` apart. Links are called n0-n1, the lower number first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RandomGeometric {
    /// Number of nodes.
    #[schemars(range(min = 2, max = 10_000))]
    pub nodes: u32,
    /// How far apart nodes with a link are, in sides of the square. Networks are seldom connected below sqrt(ln n / (pi n)).
    #[schemars(range(min = 0.0, max = 1.5))]
    pub radius: f64,
    /// Propagation delay along a side of the square: the delay of a link is its length in proportion. Where `link` has a delay, all links have that.
    #[schemars(extend("x-max" = "10min"))]
    pub across: Dur,
    /// What happens if not every node is reached from every other.
    pub islands: Islands,
    /// Seed of the network. The seed of the run does not change it.
    pub seed: u64,
    /// The links; unless said otherwise 10 Mbit/s, and a delay by their length.
    pub link: Pipe,
}

impl Default for RandomGeometric {
    fn default() -> Self {
        let (nodes, radius, across, seed) = (50, 0.2, Dur::from_ms(10), 1);
        Self { nodes, radius, across, islands: Islands::default(), seed, link: Pipe::default() }
    }
}

impl RandomGeometric {
    /// Nodes and links, of these one more than are allowed at most.
    fn draw(&self) -> (Field, Vec<Pair>) {
        let field = Field::scatter(self.nodes, &mut Stream::new(self.seed, "topology", "random_geometric", "places"));
        let links = field.pairs().filter(|&(a, b)| field.distance(a, b) <= self.radius).take(MOST_LINKS + 1).collect();
        (field, links)
    }
}

impl Builder for RandomGeometric {
    fn filled(&self) -> Self {
        Self { link: of_its_length(&self.link), ..self.clone() }
    }

    fn check(&self) -> Vec<Misfit> {
        let (field, links) = self.draw();
        field.misfits(&links, self.islands, ["radius", "radius"])
    }

    fn graph(&self) -> Graph {
        let (field, links) = self.draw();
        field.graph(links, &self.link, self.across)
    }

    fn hosts(&self) -> String {
        format!("the random geometric graph with nodes = {} has nodes n0..n{}", self.nodes, self.nodes.saturating_sub(1))
    }
}
