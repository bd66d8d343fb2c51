//! Balanced tree: hosts below switches, level by level.

use super::{Builder, Graph, InvalidParameter, MOST_LINKS, row_position, too_many_links, with_defaults};
use crate::spec::Pipe;
use fairlane_units::{Dur, Rate};

fairlane_units::params! {
    /// Balanced tree: the root n0, below it level by level the switches n1, n2..., and below the lowest of them the hosts h0, h1... A link is named like the node at its lower end, and leads up from there.
    pub struct Tree {
        /// Nodes below each switch.
        #[schemars(range(min = 2, max = 1_000))]
        pub fanout: u32 = 2,
        /// Links from a host to the root.
        #[schemars(range(min = 1, max = 16))]
        pub depth: u32 = 3,
        /// Links; default 10 Mbit/s and 5 ms.
        pub link: Pipe,
        /// Rate of the links of each level, from the root down to the hosts; overrides `link`.
        pub rates: Option<Vec<Rate>> = None,
        /// Delay of the links of each level, from the root down to the hosts; overrides `link`.
        pub delays: Option<Vec<Dur>> = None,
    }
}

impl Tree {
    /// Number of nodes on a level; `None` on overflow.
    fn width(&self, level: u32) -> Option<u32> {
        self.fanout.checked_pow(level)
    }

    /// Links of a level; the first below the root is 1.
    fn pipe(&self, level: u32) -> Pipe {
        let mut pipe = self.link.clone();
        let at = level as usize - 1;
        if let Some(&rate) = self.rates.as_ref().and_then(|r| r.get(at)) {
            pipe = pipe.with_rate(rate);
        }
        if let Some(&delay) = self.delays.as_ref().and_then(|d| d.get(at)) {
            pipe = pipe.with_delay(delay);
        }
        pipe
    }
}

impl Builder for Tree {
    fn filled(&self) -> Self {
        Self { link: with_defaults(&self.link), ..self.clone() }
    }

    fn check(&self) -> Vec<InvalidParameter> {
        let mut found = Vec::new();
        let links = (1..=self.depth).try_fold(0_u32, |n, level| n.checked_add(self.width(level)?));
        if links.is_none_or(|n| n as usize > MOST_LINKS) {
            let links = links.map_or_else(|| "thousands of millions of".to_owned(), |n| n.to_string());
            found.push(too_many_links("depth", &links, "write a smaller depth or fanout"));
        }
        for (field, len) in [("rates", self.rates.as_ref().map(Vec::len)), ("delays", self.delays.as_ref().map(Vec::len))] {
            if let Some(n) = len.filter(|&n| n != self.depth as usize) {
                let message = format!("`{field}` lists {n} values for a depth of {}", self.depth);
                found.push(InvalidParameter { field, message, help: "give one value for each level of links, or leave it out".to_owned() });
            }
        }
        if self.rates.as_ref().is_some_and(|r| r.contains(&Rate::from_bps(0))) {
            let help = "write a rate such as \"10Mbit/s\"".to_owned();
            found.push(InvalidParameter { field: "rates", message: "a link's rate is zero".to_owned(), help });
        }
        found
    }

    fn graph(&self) -> Graph {
        let mut g = Graph::default();
        let (mut first, mut above) = (0, 0);
        let hosts = f64::from(self.width(self.depth).unwrap_or(1));
        for level in 0..=self.depth {
            let wide = self.width(level).unwrap_or(1);
            for i in 0..wide {
                let name = if level == self.depth { format!("h{i}") } else { format!("n{}", first + i) };
                g.node(&name, row_position(i, wide) * hosts / f64::from(wide), -f64::from(level) * hosts.min(4.0));
                if level > 0 {
                    let upper = format!("n{}", above + i / self.fanout);
                    g.link(&name, &name, &upper, &self.pipe(level));
                }
            }
            (above, first) = (first, first + wide);
        }
        g
    }

    fn hosts(&self) -> String {
        let hosts = self.width(self.depth).unwrap_or(1);
        format!("the tree with fanout = {} and depth = {} has hosts h0..h{}", self.fanout, self.depth, hosts.saturating_sub(1))
    }
}
