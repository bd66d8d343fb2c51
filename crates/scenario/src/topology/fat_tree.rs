//! Fat-tree of Al-Fares, Loukissas and Vahdat (SIGCOMM 2008).

use super::{Builder, Graph, InvalidParameter, plain, row_position};
use crate::spec::QueueTable;
use fairlane_units::{Dur, Rate};

fairlane_units::params! {
    /// Three-layer fat-tree of k-port switches (Al-Fares et al. 2008, section 3): k pods of k/2 edge switches eP_J and k/2 aggregation switches aP_J, (k/2)^2 core switches c0, c1..., and k^3/4 hosts h0, h1... Links are named like their host, or LOWER-UPPER.
    pub struct FatTree {
        /// Ports of a switch, an even number.
        #[schemars(range(min = 2, max = 64))]
        pub k: u32 = 4,
        /// Rate of every link.
        #[schemars(extend("x-min" = "1bit/s", "x-max" = "10Tbit/s"))]
        pub rate: Rate = Rate::from_mbps(10_000),
        /// Propagation delay of every link.
        #[schemars(extend("x-max" = "1h"))]
        pub delay: Dur = Dur::from_us(1),
        /// Queue of every direction of every link. Absent: DropTail with its defaults.
        pub queue: Option<QueueTable> = None,
    }
}

impl Builder for FatTree {
    fn filled(&self) -> Self {
        Self { queue: plain(self.rate, self.delay).or_queue(self.queue.as_ref()).filled().forward.queue, ..self.clone() }
    }

    fn check(&self) -> Vec<InvalidParameter> {
        if self.k.is_multiple_of(2) {
            return Vec::new();
        }
        let message = format!("`k` is {}, but half the ports of a switch lead up and half down", self.k);
        vec![InvalidParameter { field: "k", message, help: "write an even number".to_owned() }]
    }

    fn graph(&self) -> Graph {
        let half = self.k / 2;
        let pipe = plain(self.rate, self.delay).or_queue(self.queue.as_ref()).filled();
        let mut g = Graph::default();
        let edge = |p: u32, j: u32| format!("e{p}_{j}");
        let aggregation = |p: u32, j: u32| format!("a{p}_{j}");
        let core = |n: u32| format!("c{n}");
        let rise = f64::from(self.k);
        for n in 0..half * half {
            // One row per layer, centred above the nodes below it.
            g.node(core(n), row_position(n, half * half) * f64::from(self.k), 3.0 * rise);
        }
        for p in 0..self.k {
            for j in 0..half {
                let x = row_position(p * half + j, self.k * half) * f64::from(half);
                g.node(edge(p, j), x, rise);
                g.node(aggregation(p, j), x, 2.0 * rise);
            }
        }
        for p in 0..self.k {
            for j in 0..half {
                for h in 0..half {
                    let number = (p * half + j) * half + h;
                    let host = format!("h{number}");
                    g.node(&host, row_position(number, self.k * half * half), 0.0);
                    g.link(&host, &host, edge(p, j), &pipe);
                }
            }
            for j in 0..half {
                for u in 0..half {
                    let (low, high) = (edge(p, j), aggregation(p, u));
                    g.link(format!("{low}-{high}"), &low, &high, &pipe);
                }
                // Aggregation switch j of every pod connects to the same k/2 core switches.
                for u in 0..half {
                    let (low, high) = (aggregation(p, j), core(j * half + u));
                    g.link(format!("{low}-{high}"), &low, &high, &pipe);
                }
            }
        }
        g
    }

    fn hosts(&self) -> String {
        let n = self.k * self.k * self.k / 4;
        format!("the fat-tree with k = {} has hosts h0..h{}", self.k, n.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// Al-Fares et al. 2008 section 3: k^3/4 hosts, 5k^2/4 switches, 3k^3/4 links; hosts on one edge switch are 2 links
    /// apart, in one pod 4, all others 6.
    #[test]
    fn k8_has_the_published_size_and_distances() {
        let k = 8_usize;
        let g = FatTree { k: k as u32, ..FatTree::default() }.graph();
        let hosts = g.nodes.iter().filter(|n| n.starts_with('h')).count();
        assert_eq!((hosts, g.nodes.len() - hosts, g.links.len()), (128, 80, 384));
        let index: HashMap<&str, usize> = g.nodes.iter().enumerate().map(|(i, n)| (n.as_str(), i)).collect();
        let mut near = vec![Vec::new(); g.nodes.len()];
        for l in g.links.values() {
            let (a, b) = (index[&*l.from], index[&*l.to]);
            near[a].push(b);
            near[b].push(a);
        }
        for a in 0..hosts {
            let mut distance = vec![usize::MAX; near.len()];
            let mut line = std::collections::VecDeque::from([index[format!("h{a}").as_str()]]);
            distance[line[0]] = 0;
            while let Some(n) = line.pop_front() {
                for &m in &near[n] {
                    if distance[m] == usize::MAX {
                        distance[m] = distance[n] + 1;
                        line.push_back(m);
                    }
                }
            }
            for b in 0..hosts {
                let expected = match () {
                    () if a == b => 0,
                    () if a / (k / 2) == b / (k / 2) => 2,
                    () if a / (k * k / 4) == b / (k * k / 4) => 4,
                    () => 6,
                };
                assert_eq!(distance[index[format!("h{b}").as_str()]], expected, "h{a} h{b}");
            }
        }
    }
}
