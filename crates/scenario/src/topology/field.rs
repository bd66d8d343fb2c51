//! Nodes scattered over a square, and links between them, for random networks with a geometry.

use super::{Graph, InvalidParameter, MOST_LINKS, plain, too_many_links};
use crate::spec::Pipe;
use fairlane_engine::Stream;
use fairlane_units::{Dur, Rate};

fairlane_units::params! {
    /// Treatment of a random network in several parts.
    pub enum Islands {
        /// Joins the parts by the shortest links, one link fewer than parts.
        #[default]
        Join,
        /// Refuses the network with an error that names the number of parts.
        Refuse,
    }

    /// Parameters of a network whose nodes are scattered over a square.
    pub part FieldParams {
        /// Number of nodes.
        #[schemars(range(min = 2, max = 10_000))]
        pub nodes: u32 = 50,
        /// Propagation delay along a side of the square; the delay of a link is proportional to its length. If `link` has a delay, all links have that.
        #[schemars(extend("x-max" = "10min"))]
        pub across: Dur = Dur::from_ms(10),
        /// Treatment of a network that is not connected.
        pub islands: Islands,
        /// Seed of the network. The seed of the run does not change it.
        pub seed: u64 = 1,
        /// Links; default 10 Mbit/s, and a delay by their length.
        pub link: Pipe,
    }
}

impl FieldParams {
    /// Copy with every parameter of the links written out, except their delay.
    pub(super) fn filled(&self) -> Self {
        let mut base = plain(Rate::from_mbps(10), Dur::ZERO);
        base.forward.delay = None;
        Self { link: self.link.over(&base).filled(), ..self.clone() }
    }
}

/// Nodes in the unit square.
pub(super) struct Field {
    at: Vec<(f64, f64)>,
}

/// A link between two nodes by their numbers, the lower one first.
pub(super) type Pair = (u32, u32);

impl Field {
    /// Draws `nodes` points, uniform and independent.
    pub(super) fn scatter(nodes: u32, rng: &mut Stream) -> Self {
        Self { at: (0..nodes).map(|_| (rng.uniform(), rng.uniform())).collect() }
    }

    pub(super) fn distance(&self, a: u32, b: u32) -> f64 {
        let ((x, y), (u, v)) = (self.at[a as usize], self.at[b as usize]);
        libm::sqrt((x - u) * (x - u) + (y - v) * (y - v))
    }

    /// All pairs of nodes.
    pub(super) fn pairs(&self) -> impl Iterator<Item = Pair> {
        let n = self.at.len() as u32;
        (0..n).flat_map(move |a| (a + 1..n).map(move |b| (a, b)))
    }

    /// Links that join the parts left by `links`: Prim's algorithm over parts.
    fn bridges(&self, links: &[Pair]) -> Vec<Pair> {
        let n = self.at.len();
        let mut near = vec![Vec::new(); n];
        for &(a, b) in links {
            near[a as usize].push(b);
            near[b as usize].push(a);
        }
        let (mut inside, mut bridges) = (vec![false; n], Vec::new());
        // Nearest inside node of each node outside.
        let mut nearest = vec![(f64::INFINITY, 0_u32); n];
        let mut enter = Some(0_u32);
        while let Some(first) = enter {
            let mut open = vec![first];
            inside[first as usize] = true;
            while let Some(a) = open.pop() {
                for &b in &near[a as usize] {
                    if !std::mem::replace(&mut inside[b as usize], true) {
                        open.push(b);
                    }
                }
                for b in (0..n as u32).filter(|&b| !inside[b as usize]) {
                    let d = self.distance(a, b);
                    if d < nearest[b as usize].0 {
                        nearest[b as usize] = (d, a);
                    }
                }
            }
            let outside = (0..n as u32).filter(|&b| !inside[b as usize]);
            enter = outside.min_by(|&a, &b| nearest[a as usize].0.total_cmp(&nearest[b as usize].0));
            if let Some(b) = enter {
                let a = nearest[b as usize].1;
                bridges.push((a.min(b), a.max(b)));
            }
        }
        bridges
    }

    /// Checks these links; `more` names the parameter that makes more of them, `fewer` the one that makes fewer.
    pub(super) fn invalid_parameters(&self, links: &[Pair], islands: Islands, [more, fewer]: [&'static str; 2]) -> Vec<InvalidParameter> {
        if links.len() > MOST_LINKS {
            return vec![too_many_links(fewer, "too many", &format!("write a smaller `{fewer}`, or fewer nodes"))];
        }
        let bridges = if islands == Islands::Refuse { self.bridges(links).len() } else { 0 };
        if bridges == 0 {
            return Vec::new();
        }
        let message = format!("the random network is in {} parts", bridges + 1);
        let help = format!("write a larger `{more}` or another `seed`, or islands = \"join\"");
        vec![InvalidParameter { field: "islands", message, help }]
    }

    /// Builds the network: the delay of a link is its length, unless all links have one.
    pub(super) fn graph(&self, mut links: Vec<Pair>, params: &FieldParams) -> Graph {
        links.extend(self.bridges(&links));
        let mut g = Graph::default();
        for (i, &(x, y)) in self.at.iter().enumerate() {
            g.node(format!("n{i}"), x, y);
        }
        for (a, b) in links {
            let mut pipe = params.link.clone();
            // To the nanosecond: 20 cm of fibre.
            let long = || Dur::from_ns((self.distance(a, b) * params.across.as_ps() as f64 / 1e3 + 0.5) as u64);
            pipe.forward.delay = pipe.forward.delay.or_else(|| Some(long()));
            g.join(a, b, &pipe);
        }
        g
    }
}
