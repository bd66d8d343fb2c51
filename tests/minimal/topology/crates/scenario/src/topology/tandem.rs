//! Minimal example: routers in a row.

use super::{Builder, Graph, Misfit, plain};
use crate::spec::Pipe;
use fairlane_units::{Dur, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Hosts a and b with routers r1, r2... between them; links are called l0, l1...
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tandem {
    /// Number of routers.
    #[schemars(range(min = 1, max = 100))]
    pub routers: u32,
    /// The links; unless said otherwise 10 Mbit/s and 5 ms.
    pub link: Pipe,
}

impl Default for Tandem {
    fn default() -> Self {
        Self { routers: 2, link: Pipe::default() }
    }
}

impl Builder for Tandem {
    fn filled(&self) -> Self {
        Self { link: self.link.over(&plain(Rate::from_mbps(10), Dur::from_ms(5))).filled(), routers: self.routers }
    }

    fn check(&self) -> Vec<Misfit> {
        Vec::new()
    }

    fn graph(&self) -> Graph {
        let mut g = Graph::default();
        g.node("a", 0.0, 0.0);
        for i in 1..=self.routers {
            g.node(format!("r{i}"), f64::from(i), 0.0);
        }
        g.node("b", f64::from(self.routers) + 1.0, 0.0);
        for (i, ends) in g.nodes.clone().windows(2).enumerate() {
            g.link(format!("l{i}"), &ends[0], &ends[1], self.link.clone());
        }
        g
    }

    fn hosts(&self) -> String {
        "the tandem has hosts a and b".to_owned()
    }
}
