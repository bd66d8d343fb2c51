//! Leaf-spine network: the folded Clos network of two layers.

use super::{Builder, Graph, InvalidParameter, MOST_LINKS, plain, row_position, too_many_links};
use crate::spec::{Pipe, QueueTable};
use fairlane_units::{Dur, Rate};

fairlane_units::params! {
    /// Two-layer folded Clos network (Clos 1953; RFC 7938, section 3.2): spines s0, s1..., leaves l0, l1..., each joined to every spine, and the hosts of the leaves, h0, h1... over all leaves. Links are named like their host, or LEAF-SPINE.
    pub struct LeafSpine {
        /// Number of spines, which is the number of equally short paths between leaves.
        #[schemars(range(min = 1, max = 256))]
        pub spines: u32 = 2,
        /// Number of leaves.
        #[schemars(range(min = 2, max = 1_024))]
        pub leaves: u32 = 4,
        /// Hosts per leaf.
        #[schemars(range(min = 1, max = 256))]
        pub hosts: u32 = 4,
        /// Links of the hosts, from host to leaf; default 10 Gbit/s and 1 us.
        pub access: Pipe,
        /// Links between the layers, from leaf to spine; default 40 Gbit/s and 1 us.
        pub fabric: Pipe,
        /// Queue of every link direction without one of its own.
        pub queue: Option<QueueTable> = None,
    }
}

impl Builder for LeafSpine {
    fn filled(&self) -> Self {
        let fill = |p: &Pipe, rate| {
            let mut pipe = p.over(&plain(Rate::from_mbps(rate), Dur::from_us(1)));
            pipe.forward.queue = QueueTable::over(p.forward.queue.as_ref(), self.queue.as_ref());
            pipe.filled()
        };
        let queue = self.queue.as_ref().map(|q| QueueTable::from(&q.spec()));
        Self { access: fill(&self.access, 10_000), fabric: fill(&self.fabric, 40_000), queue, ..self.clone() }
    }

    fn check(&self) -> Vec<InvalidParameter> {
        let links = self.leaves as usize * (self.hosts + self.spines) as usize;
        let few = || too_many_links("leaves", &links.to_string(), "write fewer leaves, spines or hosts");
        (links > MOST_LINKS).then(few).into_iter().collect()
    }

    fn graph(&self) -> Graph {
        let mut g = Graph::default();
        let hosts = self.leaves * self.hosts;
        let (wide, rise) = (f64::from(hosts.max(self.leaves * 2)), f64::from(hosts.clamp(4, 12)) / 2.0);
        for s in 0..self.spines {
            g.node(format!("s{s}"), row_position(s, self.spines) * wide / f64::from(self.spines), 2.0 * rise);
        }
        for l in 0..self.leaves {
            let (leaf, middle) = (format!("l{l}"), row_position(l, self.leaves) * wide / f64::from(self.leaves));
            g.node(&leaf, middle, rise);
            for s in 0..self.spines {
                g.link(format!("{leaf}-s{s}"), &leaf, format!("s{s}"), &self.fabric);
            }
            for i in 0..self.hosts {
                let host = format!("h{}", l * self.hosts + i);
                g.node(&host, middle + row_position(i, self.hosts), 0.0);
                g.link(&host, &host, &leaf, &self.access);
            }
        }
        g
    }

    fn hosts(&self) -> String {
        let last = (self.leaves * self.hosts).saturating_sub(1);
        format!("the leaf-spine network with leaves = {} and hosts = {} has hosts h0..h{last}", self.leaves, self.hosts)
    }
}
