//! Sender-receiver pairs: drawn at random, from a traffic matrix, or by the gravity model.
//!
//! Every draw is a hash of the seed of the pairs, the group and the nodes: adding a node or pair changes no other draw.

use crate::spec::DemandSpec;
use fairlane_engine::{Stream, hash_parts};
use fairlane_units::{Rate, parse_rate};

/// Most pairs examined to draw some of them.
pub(crate) const MOST_PAIRS: usize = 25_000_000;

/// Ends of a flow, and its mean rate if given.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// Sending node.
    pub from: String,
    /// Receiving node.
    pub to: String,
    /// Mean rate; none for the rate of the source.
    pub rate: Option<Rate>,
}

impl Pair {
    fn new(from: &str, to: &str, rate: Option<Rate>) -> Self {
        Self { from: from.to_owned(), to: to.to_owned(), rate }
    }
}

/// Inputs of a group's draws.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draw<'a> {
    pub(crate) group: &'a str,
    pub(crate) seed: u64,
}

impl Draw<'_> {
    /// A number in the open interval (0, 1) for these nodes.
    fn uniform(self, seed: &str, nodes: &[&str]) -> f64 {
        let hash = hash_parts(&[&["pairs", seed, self.group], nodes].concat());
        ((hash >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Draws a share of the nodes as senders, each to another node.
    pub(crate) fn share(self, nodes: &[&str], share: f64) -> Vec<Pair> {
        let seed = self.seed.to_string();
        let count = ((nodes.len() as f64 * share + 0.5) as usize).clamp(1, nodes.len());
        let mut senders: Vec<(f64, usize)> = nodes.iter().enumerate().map(|(i, n)| (self.uniform(&seed, &[n]), i)).collect();
        senders.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        senders.truncate(count);
        senders.sort_unstable_by_key(|s| s.1);
        let to = derangement(&mut Stream::new(self.seed, "pairs", self.group, "receivers"), nodes.len() as u32);
        senders.into_iter().map(|(_, i)| Pair::new(nodes[i], nodes[to[i] as usize], None)).collect()
    }

    /// Draws `count` of all pairs, proportionally to their weights, in the order of the nodes: the pairs with the earliest exponential times, with the weight as rate
    /// (Efraimidis and Spirakis, Information Processing Letters 97, 2006).
    pub(crate) fn some(self, nodes: &[&str], weight: impl Fn(usize, usize) -> f64, count: usize) -> Vec<Pair> {
        let seed = self.seed.to_string();
        let mut times: Vec<(f64, usize, usize)> = Vec::new();
        for (a, from) in nodes.iter().enumerate() {
            for (b, to) in nodes.iter().enumerate() {
                let w = weight(a, b);
                if a != b && w > 0.0 {
                    times.push((-libm::log(self.uniform(&seed, &[from, to])) / w, a, b));
                }
            }
        }
        times.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        times.truncate(count);
        times.sort_unstable_by_key(|t| (t.1, t.2));
        times.into_iter().map(|(_, a, b)| Pair::new(nodes[a], nodes[b], None)).collect()
    }
}

/// All pairs of nodes with their share of a rate, without those below 1 bit/s.
pub(crate) fn gravity(nodes: &[&str], masses: &[f64], total: Option<Rate>) -> Vec<Pair> {
    let sum: f64 = masses.iter().sum::<f64>();
    let all = sum * sum - masses.iter().map(|m| m * m).sum::<f64>();
    let mut pairs = Vec::new();
    for (a, from) in nodes.iter().enumerate() {
        for (b, to) in nodes.iter().enumerate().filter(|&(b, _)| b != a) {
            let share = masses[a] * masses[b] / all;
            let rate = total.map(|t| Rate::from_bps((t.as_bps() as f64 * share + 0.5) as u64));
            if share > 0.0 && rate != Some(Rate::from_bps(0)) {
                pairs.push(Pair::new(from, to, rate));
            }
        }
    }
    pairs
}

/// Draws a random permutation without fixed points: permutations are drawn until one has none, 2.7 on average. One element has none.
pub(crate) fn derangement(stream: &mut Stream, n: u32) -> Vec<u32> {
    loop {
        let p = stream.permutation(n as usize);
        if n < 2 || p.iter().enumerate().all(|(i, &x)| i as u32 != x) {
            return p;
        }
    }
}

/// Reads a traffic matrix in the format of [`crate::spec::MatrixPairs`]; the error is a message with the line.
pub(crate) fn demands(text: &str) -> Result<Vec<DemandSpec>, String> {
    let mut lines = (1..).zip(text.lines()).filter(|(_, l)| !l.trim().is_empty());
    let Some((_, head)) = lines.next() else { return Err("it is empty".to_owned()) };
    let mark = [',', '\t', ';'].into_iter().find(|&m| head.contains(m)).unwrap_or(',');
    let cells = |line: &str| -> Vec<String> {
        line.trim_start_matches('\u{feff}').split(mark).map(|c| c.trim().trim_matches('"').trim().to_owned()).collect()
    };
    let head = cells(head);
    let mut found = Vec::new();
    let rate = |cell: &str, line: usize| match cell {
        "" | "0" | "-" => Ok(None),
        _ => parse_rate(cell).map(|r| Some(r).filter(|r| r.as_bps() > 0)).map_err(|e| format!("line {line}: {e}")),
    };
    let list = ["from", "to"].iter().zip(&head).all(|(a, b)| b.eq_ignore_ascii_case(a)) && (2..=3).contains(&head.len());
    if list && head.get(2).is_some_and(|c| !c.eq_ignore_ascii_case("rate")) {
        return Err(format!("line 1: the third column is called `{}`: write from,to,rate", head[2]));
    }
    for (number, line) in lines {
        let row = cells(line);
        if row.len() != head.len() {
            return Err(format!("line {number} has {} columns, the first line {}", row.len(), head.len()));
        }
        if list {
            let given = row.get(2).map_or(Ok(None), |c| rate(c, number))?;
            if given.is_none() && head.len() == 3 {
                continue;
            }
            found.push(DemandSpec { from: row[0].clone(), to: row[1].clone(), rate: given });
            continue;
        }
        for (to, cell) in head.iter().zip(&row).skip(1) {
            if let Some(r) = rate(cell, number)? {
                found.push(DemandSpec { from: row[0].clone(), to: to.clone(), rate: Some(r) });
            }
        }
    }
    if found.is_empty() {
        return Err("it has no traffic: write a first line from,to,rate and a line for each pair, or a table of rates".to_owned());
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeSet, HashMap};

    fn names(n: usize) -> Vec<String> {
        (0..n).map(|i| format!("n{i}")).collect()
    }

    fn ends(pairs: &[Pair]) -> BTreeSet<(String, String)> {
        pairs.iter().map(|p| (p.from.clone(), p.to.clone())).collect()
    }

    #[test]
    fn a_smaller_share_is_part_of_a_larger_one_and_nobody_is_drawn_twice() {
        let all = names(40);
        let nodes: Vec<&str> = all.iter().map(String::as_str).collect();
        let draw = Draw { group: "g", seed: 3 };
        let mut before = BTreeSet::new();
        for (share, count) in [(0.25, 10), (0.5, 20), (0.75, 30), (1.0, 40)] {
            let pairs = draw.share(&nodes, share);
            assert_eq!(pairs.len(), count);
            assert!(pairs.iter().all(|p| p.from != p.to));
            assert_eq!(pairs.iter().map(|p| &p.to).collect::<BTreeSet<_>>().len(), count, "no node receives twice");
            let now = ends(&pairs);
            assert!(before.is_subset(&now));
            before = now;
        }
        assert_ne!(ends(&draw.share(&nodes, 0.5)), ends(&Draw { seed: 4, ..draw }.share(&nodes, 0.5)));
    }

    /// Each of 12 pairs of 4 nodes is among 3 sampled pairs in a quarter of all samples; another node does not change the samples of the pairs.
    #[test]
    fn all_pairs_are_equally_likely_and_keep_their_luck() {
        let all = names(5);
        let nodes: Vec<&str> = all[..4].iter().map(String::as_str).collect();
        let more: Vec<&str> = all.iter().map(String::as_str).collect();
        let mut seen: HashMap<(String, String), u32> = HashMap::new();
        let n = 4000;
        for seed in 0..n {
            let draw = Draw { group: "g", seed };
            let pairs = draw.some(&nodes, |_, _| 1.0, 3);
            assert_eq!(ends(&pairs).len(), 3);
            ends(&pairs).into_iter().for_each(|p| *seen.entry(p).or_default() += 1);
            // Of the first 20 of 20 pairs those without the new node keep their order.
            let wide = ends(&draw.some(&more, |_, _| 1.0, 8));
            let old: BTreeSet<_> = wide.iter().filter(|p| p.0 != "n4" && p.1 != "n4").cloned().collect();
            assert_eq!(old, ends(&draw.some(&nodes, |_, _| 1.0, old.len())));
        }
        let (mean, four) = (f64::from(n as u32) / 4.0, 4.0 * (f64::from(n as u32) * 0.25 * 0.75).sqrt());
        assert!(seen.len() == 12 && seen.values().all(|&k| (f64::from(k) - mean).abs() < four), "{seen:?}");
    }

    /// The probability that a pair is drawn first equals its weight.
    #[test]
    fn weights_are_probabilities() {
        let all = names(3);
        let nodes: Vec<&str> = all.iter().map(String::as_str).collect();
        let masses = [1.0, 2.0, 5.0];
        let n = 6000;
        let mut seen: HashMap<(String, String), u32> = HashMap::new();
        for seed in 0..n {
            let pairs = Draw { group: "g", seed }.some(&nodes, |a, b| masses[a] * masses[b], 1);
            ends(&pairs).into_iter().for_each(|p| *seen.entry(p).or_default() += 1);
        }
        let all = 64.0 - 30.0;
        for (a, b) in [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)] {
            let p = masses[a] * masses[b] / all;
            let k = f64::from(seen[&(format!("n{a}"), format!("n{b}"))]);
            assert!((k / f64::from(n as u32) - p).abs() < 4.0 * (p * (1.0 - p) / f64::from(n as u32)).sqrt(), "{a} {b}: {k} {p}");
        }
    }

    #[test]
    fn gravity_shares_the_total() {
        let pairs = gravity(&["a", "b", "c"], &[1.0, 1.0, 2.0], Some(Rate::from_bps(1000)));
        let rates: Vec<u64> = pairs.iter().map(|p| p.rate.unwrap().as_bps()).collect();
        // a-b 1, a-c 2, b-a 1, b-c 2, c-a 2, c-b 2 of 10.
        assert_eq!(rates, [100, 200, 100, 200, 200, 200]);
    }

    #[test]
    fn matrices_are_lists_or_tables() {
        let list = demands("from,to,rate\na,b,2Mbit/s\n\nb,a,0\n\"c\" , a, 64kbit/s\n").unwrap();
        let table = demands(";a;b\na;;2Mbit/s\nb;0;-\nc;64kbit/s;0\n").unwrap();
        assert_eq!(list, table);
        assert_eq!(demands("from,to\na,b\n").unwrap(), [DemandSpec { from: "a".into(), to: "b".into(), rate: None }]);
        for (bad, why) in [
            ("", "is empty"),
            ("from,to,rate\na,b\n", "line 2 has 2 columns, the first line 3"),
            ("from,to,rate\na,b,7\n", "line 2: "),
            ("from,to,speed\na,b,7\n", "from,to,rate"),
            ("from,to,rate\n", "no traffic"),
        ] {
            assert!(demands(bad).unwrap_err().contains(why), "{bad}: {}", demands(bad).unwrap_err());
        }
    }
}
