//! Random geometric graph: near nodes are joined.

use super::field::{Field, FieldParams, Pair};
use super::{Builder, Graph, InvalidParameter, MOST_LINKS};
use fairlane_engine::Stream;

fairlane_units::params! {
    /// Random geometric graph (Gilbert 1961): nodes n0, n1... scattered uniformly over a square, two of them joined if they are at most `radius` apart. Links are called n0-n1, the lower number first.
    pub struct RandomGeometric {
        /// Nodes, their square, and the links.
        #[serde(flatten)]
        pub field: FieldParams,
        /// Largest distance of joined nodes, in sides of the square. Networks are seldom connected below sqrt(ln n / (pi n)).
        #[schemars(range(min = 0.0, max = 1.5))]
        pub radius: f64 = 0.2,
    }
}

impl RandomGeometric {
    /// Draws nodes and links, stopping at one link more than allowed.
    fn draw(&self) -> (Field, Vec<Pair>) {
        let field = Field::scatter(self.field.nodes, &mut Stream::new(self.field.seed, "topology", "random_geometric", "places"));
        let links = field.pairs().filter(|&(a, b)| field.distance(a, b) <= self.radius).take(MOST_LINKS + 1).collect();
        (field, links)
    }
}

impl Builder for RandomGeometric {
    fn filled(&self) -> Self {
        Self { field: self.field.filled(), ..self.clone() }
    }

    fn check(&self) -> Vec<InvalidParameter> {
        let (field, links) = self.draw();
        field.invalid_parameters(&links, self.field.islands, ["radius", "radius"])
    }

    fn graph(&self) -> Graph {
        let (field, links) = self.draw();
        field.graph(links, &self.field)
    }

    fn hosts(&self) -> String {
        format!("the random geometric graph with nodes = {} has nodes n0..n{}", self.field.nodes, self.field.nodes.saturating_sub(1))
    }
}
