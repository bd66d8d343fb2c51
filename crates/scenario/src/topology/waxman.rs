//! Waxman's random network: near nodes are more likely to be joined.

use super::field::{Field, FieldParams, Pair};
use super::{Builder, Graph, InvalidParameter, MOST_LINKS};
use fairlane_engine::Stream;

fairlane_units::params! {
    /// Waxman's random network (IEEE JSAC 6(9), 1988, model RG1): nodes n0, n1... scattered uniformly over a square, two of them at distance d joined with probability beta exp(-d / (alpha L)), where L is the largest distance. Links are called n0-n1, the lower number first.
    pub struct Waxman {
        /// Nodes, their square, and the links.
        #[serde(flatten)]
        pub field: FieldParams,
        /// Decay of the probability with the distance: a larger value means more long links.
        #[schemars(range(min = 0.001, max = 1.0))]
        pub alpha: f64 = 0.15,
        /// Probability at distance zero: a larger value means more links.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub beta: f64 = 0.6,
    }
}

impl Waxman {
    /// Draws nodes and links, stopping at one link more than allowed.
    fn draw(&self) -> (Field, Vec<Pair>) {
        let field = Field::scatter(self.field.nodes, &mut Stream::new(self.field.seed, "topology", "waxman", "places"));
        let largest = field.pairs().map(|(a, b)| field.distance(a, b)).fold(0.0, f64::max);
        // Separate random stream: two parameter sets with the same seed share nodes and random numbers, and differ by the law alone.
        let mut luck = Stream::new(self.field.seed, "topology", "waxman", "links");
        let chance = |(a, b)| self.beta * libm::exp(-field.distance(a, b) / (self.alpha * largest));
        let links = field.pairs().filter(|&pair| luck.uniform() < chance(pair)).take(MOST_LINKS + 1).collect();
        (field, links)
    }
}

impl Builder for Waxman {
    fn filled(&self) -> Self {
        Self { field: self.field.filled(), ..self.clone() }
    }

    fn check(&self) -> Vec<InvalidParameter> {
        let (field, links) = self.draw();
        field.invalid_parameters(&links, self.field.islands, ["beta", "beta"])
    }

    fn graph(&self) -> Graph {
        let (field, links) = self.draw();
        field.graph(links, &self.field)
    }

    fn hosts(&self) -> String {
        format!("Waxman's network with nodes = {} has nodes n0..n{}", self.field.nodes, self.field.nodes.saturating_sub(1))
    }
}
