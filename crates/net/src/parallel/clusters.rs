//! Clusters of nodes, and their assignment to parts of about equal load with little traffic between them.

/// Clusters and the traffic between them.
pub(super) struct Clusters {
    pub(super) loads: Vec<f64>,
    /// Neighbours of each cluster, with the traffic to and from them.
    pub(super) ties: Vec<Vec<(u32, f64)>>,
}

/// Largest load of a part, as a multiple of its fair share.
const SLACK: f64 = 1.04;
/// Rounds in which clusters move.
const ROUNDS: usize = 8;

impl Clusters {
    /// Part of each node; `cluster` has the cluster of each.
    pub(super) fn parts(&self, cluster: &[u32], parts: usize) -> Vec<u16> {
        let of = self.group(parts);
        cluster.iter().map(|&c| of[c as usize]).collect()
    }

    /// Part of each cluster. Parts grow one after the other from the largest unassigned cluster, along the heaviest traffic. Then clusters move to other parts
    /// where that reduces the traffic between parts (Fiduccia and Mattheyses 1982, without their buckets). Of equals the first is taken.
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
        let traffic: Vec<f64> = self.ties.iter().map(|ties| ties.iter().map(|t| t.1).sum()).collect();
        // Largest load first; a cluster that does not fit comes into a later part.
        let mut seeds: Vec<u32> = (0..of.len() as u32).collect();
        seeds.sort_by(|&a, &b| self.loads[b as usize].total_cmp(&self.loads[a as usize]).then(a.cmp(&b)));
        for part in 0..parts as u16 {
            let share = left / f64::from(parts as u16 - part);
            let mut load = 0.0;
            let mut pull = vec![0.0; of.len()];
            let mut near: Vec<u32> = Vec::new();
            loop {
                // The last part takes all remaining clusters.
                let last = usize::from(part) + 1 == parts;
                let fits = |c: u32| last || load == 0.0 || load + self.loads[c as usize] <= share * SLACK;
                near.retain(|&c| of[c as usize] == NONE);
                let best = near.iter().copied().filter(|&c| fits(c)).max_by(|&a, &b| {
                    let worth = |c: u32| pull[c as usize] / traffic[c as usize];
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
