//! Growth with preferential attachment: few hubs, many nodes with few links.

use super::{Builder, Graph, MOST_LINKS, Misfit, crowded, ordinary};
use crate::spec::Pipe;
use fairlane_engine::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The scale-free network of Barabasi and Albert (Science 286, 1999): it begins as a star of links + 1 nodes, and each further node is joined to `links` others, drawn with probabilities in proportion to the links they have. Nodes are n0, n1... by age; links are called n0-n1, the lower number first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BarabasiAlbert {
    /// Number of nodes.
    #[schemars(range(min = 2, max = 100_000))]
    pub nodes: u32,
    /// Links that a node brings.
    #[schemars(range(min = 1, max = 100))]
    pub links: u32,
    /// Seed of the network. The seed of the run does not change it.
    pub seed: u64,
    /// The links; unless said otherwise 10 Mbit/s and 5 ms.
    pub link: Pipe,
}

impl Default for BarabasiAlbert {
    fn default() -> Self {
        Self { nodes: 50, links: 2, seed: 1, link: Pipe::default() }
    }
}

impl Builder for BarabasiAlbert {
    fn filled(&self) -> Self {
        Self { link: ordinary(&self.link), ..self.clone() }
    }

    fn check(&self) -> Vec<Misfit> {
        if self.links >= self.nodes {
            let message = format!("`links` is {}, but there are {} nodes", self.links, self.nodes);
            return vec![Misfit { field: "links", message, help: "write fewer links than nodes".to_owned() }];
        }
        let links = (self.nodes - self.links) as usize * self.links as usize;
        let few = || crowded("links", &links.to_string(), "write fewer nodes, or fewer links for each");
        (links > MOST_LINKS).then(few).into_iter().collect()
    }

    fn graph(&self) -> Graph {
        let mut g = Graph::default();
        // Seeds of a sunflower (Vogel 1979): the oldest nodes, which have the most links, in the middle, and none upon another.
        let golden = std::f64::consts::PI * (3.0 - libm::sqrt(5.0));
        for i in 0..self.nodes {
            let (radius, angle) = (libm::sqrt(f64::from(i)), golden * f64::from(i));
            g.node(format!("n{i}"), radius * libm::cos(angle), radius * libm::sin(angle));
        }
        // Each node once for each of its links, so that a uniform draw is one in proportion to them.
        let mut ends = Vec::with_capacity(2 * (self.nodes as usize) * self.links as usize);
        let mut rng = Stream::new(self.seed, "topology", "barabasi_albert", "links");
        let mut chosen: Vec<u32> = Vec::new();
        for new in 1..self.nodes {
            chosen.clear();
            if new <= self.links {
                chosen.push(0);
            }
            while new > self.links && chosen.len() < self.links as usize {
                let old = ends[rng.below(ends.len() as u64) as usize];
                if !chosen.contains(&old) {
                    chosen.push(old);
                }
            }
            for &old in &chosen {
                g.join(old, new, &self.link);
                ends.extend([old, new]);
            }
        }
        g
    }

    fn hosts(&self) -> String {
        format!("the network with nodes = {} has nodes n0..n{}", self.nodes, self.nodes.saturating_sub(1))
    }
}
