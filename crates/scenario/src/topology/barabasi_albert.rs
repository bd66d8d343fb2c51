//! Barabasi-Albert network: preferential attachment, few hubs, many nodes with few links.

use super::{Builder, Graph, InvalidParameter, MOST_LINKS, too_many_links, with_defaults};
use crate::spec::Pipe;
use fairlane_engine::Stream;

fairlane_units::params! {
    /// Scale-free network of Barabasi and Albert (Science 286, 1999): a star of links + 1 nodes at first; each further node is joined to `links` others, with probabilities proportional to their numbers of links. Nodes are n0, n1... by age; links are called n0-n1, the lower number first.
    pub struct BarabasiAlbert {
        /// Number of nodes.
        #[schemars(range(min = 2, max = 100_000))]
        pub nodes: u32 = 50,
        /// Links that each new node adds.
        #[schemars(range(min = 1, max = 100))]
        pub links: u32 = 2,
        /// Seed of the network. The seed of the run does not change it.
        pub seed: u64 = 1,
        /// Links; default 10 Mbit/s and 5 ms.
        pub link: Pipe,
    }
}

impl Builder for BarabasiAlbert {
    fn filled(&self) -> Self {
        Self { link: with_defaults(&self.link), ..self.clone() }
    }

    fn check(&self) -> Vec<InvalidParameter> {
        if self.links >= self.nodes {
            let message = format!("`links` is {}, but there are {} nodes", self.links, self.nodes);
            return vec![InvalidParameter { field: "links", message, help: "write fewer links than nodes".to_owned() }];
        }
        let links = (self.nodes - self.links) as usize * self.links as usize;
        let few = || too_many_links("links", &links.to_string(), "write fewer nodes, or fewer links for each");
        (links > MOST_LINKS).then(few).into_iter().collect()
    }

    fn graph(&self) -> Graph {
        let mut g = Graph::default();
        // Sunflower pattern (Vogel 1979): the oldest nodes, which have the most links, are in the middle, and none overlap.
        let golden = std::f64::consts::PI * (3.0 - libm::sqrt(5.0));
        for i in 0..self.nodes {
            let (radius, angle) = (libm::sqrt(f64::from(i)), golden * f64::from(i));
            g.node(format!("n{i}"), radius * libm::cos(angle), radius * libm::sin(angle));
        }
        // Each node once per link, so that a uniform draw is proportional to the number of links.
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
