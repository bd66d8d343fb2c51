//! Puts clusters of nodes into parts of about equal load, with little traffic between them.

/// Clusters and what crosses from one to another.
pub(super) struct Clusters {
    pub(super) loads: Vec<f64>,
    /// Of each its neighbours, with the traffic to and from them.
    pub(super) ties: Vec<Vec<(u32, f64)>>,
}

/// A part may have so much more than its share, for less traffic between parts.
const SLACK: f64 = 1.04;
/// Rounds in which clusters change their part.
const ROUNDS: usize = 8;

impl Clusters {
    /// The part of each node, whose cluster is given.
    pub(super) fn parts(&self, cluster: &[u32], parts: usize) -> Vec<u16> {
        let of = self.group(parts);
        cluster.iter().map(|&c| of[c as usize]).collect()
    }

    /// The part of each cluster: parts grow one after the other, each from the cluster with most to do towards those that it shares most traffic with, and
    /// then clusters move where that takes traffic off the cut (Fiduccia and Mattheyses 1982, without their buckets). The first of equals is taken, so
    /// that the answer depends on nothing else.
    fn group(&self, parts: usize) -> Vec<u16> {
        let mut of = self.grow(parts);
        let total: f64 = self.loads.iter().sum();
        let mut loads = vec![0.0; parts];
        of.iter().zip(&self.loads).for_each(|(&p, l)| loads[p as usize] += l);
        let room = SLACK * total / parts as f64;
        let mut pull = vec![0.0; parts];
        for _ in 0..ROUNDS {
            let mut moved = false;
            for c in 0..of.len() {
                let (own, load) = (of[c] as usize, self.loads[c]);
                pull.fill(0.0);
                self.ties[c].iter().for_each(|&(other, w)| pull[of[other as usize] as usize] += w);
                let better = |p: usize| {
                    let fits = loads[p] + load <= room.max(loads[own]);
                    let (gain, evens) = (pull[p] - pull[own], loads[own] - loads[p] - load);
                    p != own && fits && (gain > 0.0 || (gain == 0.0 && evens > 0.0 && load > 0.0))
                };
                let best = (0..parts)
                    .filter(|&p| better(p))
                    .max_by(|&a, &b| pull[a].total_cmp(&pull[b]).then(loads[b].total_cmp(&loads[a])).then(b.cmp(&a)));
                if let Some(p) = best {
                    loads[own] -= load;
                    loads[p] += load;
                    of[c] = p as u16;
                    moved = true;
                }
            }
            if !moved {
                break;
            }
        }
        of
    }

    fn grow(&self, parts: usize) -> Vec<u16> {
        const NONE: u16 = u16::MAX;
        let mut of = vec![NONE; self.loads.len()];
        let mut left: f64 = self.loads.iter().sum();
        // By load, the largest first; what a part has no room for comes later.
        let mut seeds: Vec<u32> = (0..of.len() as u32).collect();
        seeds.sort_by(|&a, &b| self.loads[b as usize].total_cmp(&self.loads[a as usize]).then(a.cmp(&b)));
        for part in 0..parts as u16 {
            let share = left / f64::from(parts as u16 - part);
            let mut load = 0.0;
            let mut pull = vec![0.0; of.len()];
            let mut near: Vec<u32> = Vec::new();
            loop {
                // The last part takes what is left.
                let last = usize::from(part) + 1 == parts;
                let fits = |c: u32| last || load == 0.0 || load + self.loads[c as usize] <= share * SLACK;
                near.retain(|&c| of[c as usize] == NONE);
                let best = near.iter().copied().filter(|&c| fits(c)).max_by(|&a, &b| {
                    let worth = |c: u32| pull[c as usize] / self.ties[c as usize].iter().map(|t| t.1).sum::<f64>();
                    worth(a).total_cmp(&worth(b)).then(b.cmp(&a))
                });
                let Some(c) = best.or_else(|| seeds.iter().copied().find(|&c| of[c as usize] == NONE && fits(c))) else { break };
                if !last && load >= share / SLACK {
                    break;
                }
                of[c as usize] = part;
                load += self.loads[c as usize];
                for &(other, w) in &self.ties[c as usize] {
                    if of[other as usize] == NONE {
                        if pull[other as usize] == 0.0 {
                            near.push(other);
                        }
                        pull[other as usize] += w;
                    }
                }
            }
            left -= load;
        }
        of.iter().map(|&p| if p == NONE { parts as u16 - 1 } else { p }).collect()
    }
}
