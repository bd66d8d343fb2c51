//! Parking lot: a chain of bottlenecks, one flow along all of them and one across each.

use super::{Builder, Graph, large_queue, plain};
use crate::spec::Pipe;
use fairlane_units::{Dur, Rate};

fairlane_units::params! {
    /// Routers r0, r1... joined by the links hop1, hop2...; hosts s0 and d0 at the two ends, and hosts s1 and d1 on either side of hop1, s2 and d2 of hop2, and so on.
    pub struct ParkingLot {
        /// Number of bottlenecks in the chain.
        #[schemars(range(min = 1, max = 1_000))]
        pub hops: u32 = 3,
        /// Access links, from host to router; default 100 Mbit/s, 1 ms and a queue for 100,000 packets.
        pub access: Pipe,
        /// Links of the chain; default 10 Mbit/s and 20 ms.
        pub bottleneck: Pipe,
    }
}

impl Builder for ParkingLot {
    fn filled(&self) -> Self {
        Self {
            access: self.access.over(&plain(Rate::from_mbps(100), Dur::from_ms(1))).or_queue(Some(&large_queue())).filled(),
            bottleneck: self.bottleneck.over(&plain(Rate::from_mbps(10), Dur::from_ms(20))).filled(),
            hops: self.hops,
        }
    }

    fn graph(&self) -> Graph {
        let mut g = Graph::default();
        for i in 0..=self.hops {
            g.node(format!("r{i}"), f64::from(2 * i), 0.0);
        }
        for i in 1..=self.hops {
            g.link(format!("hop{i}"), format!("r{}", i - 1), format!("r{i}"), &self.bottleneck);
        }
        for i in 0..=self.hops {
            let (at, to) = if i == 0 { (0, self.hops) } else { (i - 1, i) };
            let (s, d) = (format!("s{i}"), format!("d{i}"));
            // Hosts of the long flow are at the ends, the others below the two routers of their hop.
            let (left, right, y) =
                if i == 0 { (-1.0, f64::from(2 * to) + 1.0, 0.0) } else { (f64::from(2 * at) + 0.4, f64::from(2 * to) - 0.4, -1.0) };
            g.node(&s, left, y);
            g.node(&d, right, y);
            g.link(&s, &s, format!("r{at}"), &self.access);
            g.link(&d, &d, format!("r{to}"), &self.access);
        }
        g
    }

    fn hosts(&self) -> String {
        format!("the parking lot with hops = {0} has hosts s0..s{0} and d0..d{0}", self.hops)
    }
}
