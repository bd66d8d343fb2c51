//! Waxman's random network: near nodes are likelier to be joined.

use super::field::{Field, Islands, Pair, of_its_length};
use super::{Builder, Graph, MOST_LINKS, Misfit};
use crate::spec::Pipe;
use fairlane_engine::Stream;
use fairlane_units::Dur;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Waxman's random network (IEEE JSAC 6(9), 1988, model RG1): nodes n0, n1... scattered uniformly over a square, two of them at the distance d joined with the probability beta exp(-d / (alpha L)), L being the largest distance. Links are called n0-n1, the lower number first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Waxman {
    /// Number of nodes.
    #[schemars(range(min = 2, max = 10_000))]
    pub nodes: u32,
    /// How slowly the probability falls with the distance: larger means more long links.
    #[schemars(range(min = 0.001, max = 1.0))]
    pub alpha: f64,
    /// The probability at no distance: larger means more links.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub beta: f64,
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

impl Default for Waxman {
    fn default() -> Self {
        let (nodes, alpha, beta, across, seed) = (50, 0.15, 0.6, Dur::from_ms(10), 1);
        Self { nodes, alpha, beta, across, islands: Islands::default(), seed, link: Pipe::default() }
    }
}

impl Waxman {
    /// Nodes and links, of these one more than are allowed at most.
    fn draw(&self) -> (Field, Vec<Pair>) {
        let field = Field::scatter(self.nodes, &mut Stream::new(self.seed, "topology", "waxman", "places"));
        let largest = field.pairs().map(|(a, b)| field.distance(a, b)).fold(0.0, f64::max);
        // As numbers of their own: two parameters of the same seed share nodes and luck, and differ by the law alone.
        let mut luck = Stream::new(self.seed, "topology", "waxman", "links");
        let chance = |(a, b)| self.beta * libm::exp(-field.distance(a, b) / (self.alpha * largest));
        let links = field.pairs().filter(|&pair| luck.uniform() < chance(pair)).take(MOST_LINKS + 1).collect();
        (field, links)
    }
}

impl Builder for Waxman {
    fn filled(&self) -> Self {
        Self { link: of_its_length(&self.link), ..self.clone() }
    }

    fn check(&self) -> Vec<Misfit> {
        let (field, links) = self.draw();
        field.misfits(&links, self.islands, ["beta", "beta"])
    }

    fn graph(&self) -> Graph {
        let (field, links) = self.draw();
        field.graph(links, &self.link, self.across)
    }

    fn hosts(&self) -> String {
        format!("Waxman's network with nodes = {} has nodes n0..n{}", self.nodes, self.nodes.saturating_sub(1))
    }
}
