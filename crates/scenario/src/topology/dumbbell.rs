//! Dumbbell: pairs of hosts on the two sides of one bottleneck.

use super::{Builder, Graph, InvalidParameter, large_queue, plain, row_position};
use crate::spec::Pipe;
use fairlane_units::{Dur, Rate, name};
use std::borrow::Cow;

fairlane_units::params! {
    /// Hosts s0, s1... on router r1, hosts d0, d1... on router r2, and the link `bottleneck` from r1 to r2. Access links are named like their host.
    pub struct Dumbbell {
        /// Number of host pairs.
        #[schemars(range(min = 1, max = 1_000_000))]
        pub pairs: u32 = 1,
        /// Access links of both sides, from host to router; default 100 Mbit/s, 1 ms and a queue for 100,000 packets.
        pub access: Pipe,
        /// Access links of the left side, if they differ from `access`.
        pub left: Option<Pipe> = None,
        /// Access links of the right side, if they differ from `access`.
        pub right: Option<Pipe> = None,
        /// Delay of each left access link, one per pair; overrides `left`.
        pub delays: Option<Vec<Dur>> = None,
        /// Rate of each left access link, one per pair; overrides `left`.
        pub rates: Option<Vec<Rate>> = None,
        /// Link from r1 to r2; default 10 Mbit/s and 20 ms.
        pub bottleneck: Pipe,
    }
}

impl Builder for Dumbbell {
    fn filled(&self) -> Self {
        let access = self.access.over(&plain(Rate::from_mbps(100), Dur::from_ms(1))).or_queue(Some(&large_queue())).filled();
        let bottleneck = self.bottleneck.over(&plain(Rate::from_mbps(10), Dur::from_ms(20))).filled();
        let side = |s: &Option<Pipe>| s.as_ref().map(|s| s.over(&access).filled());
        Self { left: side(&self.left), right: side(&self.right), access, bottleneck, ..self.clone() }
    }

    fn check(&self) -> Vec<InvalidParameter> {
        let list = |field: &'static str, len: Option<usize>| {
            len.filter(|&n| n != self.pairs as usize).map(|n| InvalidParameter {
                field,
                message: format!("`{field}` lists {n} values for {} pairs", self.pairs),
                help: "give one value for each pair, or leave it out".to_owned(),
            })
        };
        let delays = list("delays", self.delays.as_ref().map(Vec::len));
        let rates = list("rates", self.rates.as_ref().map(Vec::len));
        let zero = self.rates.as_ref().is_some_and(|r| r.contains(&Rate::from_bps(0))).then(|| InvalidParameter {
            field: "rates",
            message: "a link's rate is zero".to_owned(),
            help: "write a rate such as \"10Mbit/s\"".to_owned(),
        });
        [delays, rates, zero].into_iter().flatten().collect()
    }

    fn graph(&self) -> Graph {
        let mut g = Graph::default();
        g.reserve(2 * self.pairs as usize + 2, 2 * self.pairs as usize + 1);
        g.node("r1", -1.0, 0.0);
        g.node("r2", 1.0, 0.0);
        g.link("bottleneck", "r1", "r2", &self.bottleneck);
        let left = self.left.as_ref().unwrap_or(&self.access);
        let right = self.right.as_ref().unwrap_or(&self.access);
        for i in 0..self.pairs as usize {
            let mut own = Cow::Borrowed(left);
            // The delay and rate of a single link apply to both directions.
            if let Some(&delay) = self.delays.as_ref().and_then(|d| d.get(i)) {
                own = Cow::Owned(own.into_owned().with_delay(delay));
            }
            if let Some(&rate) = self.rates.as_ref().and_then(|r| r.get(i)) {
                own = Cow::Owned(own.into_owned().with_rate(rate));
            }
            let (s, d) = (name!("s{i}"), name!("d{i}"));
            let y = -row_position(i as u32, self.pairs);
            g.node(s.clone(), -2.0, y);
            g.node(d.clone(), 2.0, y);
            g.link(s.clone(), s, "r1", &own);
            g.link(d.clone(), d, "r2", right);
        }
        g
    }

    fn hosts(&self) -> String {
        let last = self.pairs.saturating_sub(1);
        format!("the dumbbell with pairs = {} has hosts s0..s{last} and d0..d{last}", self.pairs)
    }
}
