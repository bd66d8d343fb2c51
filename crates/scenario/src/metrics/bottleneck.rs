//! Bottlenecks of flows, and fairness among the flows that share one.
//!
//! Flows compete where they use the same link in the same direction, so shares are formed among flows with the same bottleneck. The
//! bottleneck of a flow is the link on its path that would leave it least: its rate under max-min fairness (Bertsekas and Gallager, Data
//! Networks, section 6.5.2) while each other flow demands its measured rate. Stations of one wireless channel share it, so a channel is one link.

use fairlane_engine::EventQueue;
use fairlane_net::{Components, EpId, FlowId, PortId, World};
use fairlane_units::Name;
use std::cmp::Ordering;

/// Bottlenecks of the flows of a run.
pub(super) struct Bottlenecks {
    /// Bottleneck of each reported flow: the number of a port, for a channel that of its first station.
    pub(super) at: Vec<u32>,
    /// First port of the channel of each port, if there are channels.
    channels: Vec<u32>,
}

/// Number of flows on a link, and their rates.
#[derive(Clone, Copy, Default)]
struct LinkShare {
    flows: u32,
    /// Index of the first rate.
    first: usize,
    /// Capacity in the span, in bytes.
    room: u64,
}

impl Bottlenecks {
    /// Finds the bottlenecks of these flows. Ties go by the number of flows and then by `names` of ports, so the order of declaration does not matter.
    pub(super) fn new<P: Components, H: EventQueue>(world: &World<P, H>, flows: &[u32], names: &[Name]) -> Self {
        let channels = channels(world);
        let of = |port: PortId| channels.get(port.0 as usize).copied().unwrap_or(port.0);
        let mut shares = vec![LinkShare::default(); world.ports().len()];
        // Paths of all flows one after the other; a link appears as often as the flow crosses it.
        let (mut ways, mut ends): (Vec<u32>, _) = (Vec::new(), Vec::with_capacity(flows.len()));
        for &i in flows {
            let first = ways.len();
            ways.extend(world.passed(EpId::sender(FlowId(i))).into_iter().map(of));
            ways[first..].sort_unstable();
            ways[first..].chunk_by(|a, b| a == b).for_each(|taken| shares[taken[0] as usize].flows += 1);
            ends.push(ways.len());
        }
        let mut all = 0;
        for (i, share) in (0..).zip(&mut shares).filter(|(_, p)| p.flows > 0) {
            (share.first, share.room) = (all, room(world, PortId(i), &channels));
            all += share.flows as usize;
        }
        let received = |i: u32| world.received_bytes(FlowId(i));
        let (mut rates, mut filled) = (vec![0; all], vec![0; shares.len()]);
        let way = |k: usize| &ways[if k == 0 { 0 } else { ends[k - 1] }..ends[k]];
        for (k, &i) in flows.iter().enumerate() {
            for taken in way(k).chunk_by(|a, b| a == b) {
                let link = taken[0] as usize;
                rates[shares[link].first + filled[link]] = received(i) * taken.len() as u64;
                filled[link] += 1;
            }
        }
        drop(filled);
        let mut sums = rates.clone();
        for share in shares.iter().filter(|p| p.flows > 0) {
            let own = share.first..share.first + share.flows as usize;
            rates[own.clone()].sort_unstable();
            let mut sum = 0;
            for (total, rate) in sums[own.clone()].iter_mut().zip(&rates[own]) {
                sum += rate;
                *total = sum;
            }
        }
        let name = |link: u32| {
            let ports = channels.iter().enumerate().filter(|(_, first)| **first == link).map(|(port, _)| &names[port]);
            ports.min().unwrap_or(&names[link as usize])
        };
        let choose = |k: usize, i: u32| {
            let mut best: Option<(u32, f64)> = None;
            for taken in way(k).chunk_by(|a, b| a == b) {
                let (link, times) = (taken[0], taken.len() as u64);
                let share = shares[link as usize];
                let own = share.first..share.first + share.flows as usize;
                let level = level(&rates[own.clone()], &sums[own], received(i) * times, share.room) / times as f64;
                let closer = |&(other, least): &(u32, f64)| {
                    let more = shares[other as usize].flows.cmp(&share.flows);
                    level.total_cmp(&least).then(more).then_with(|| name(link).cmp(name(other))) == Ordering::Less
                };
                if best.as_ref().is_none_or(closer) {
                    best = Some((link, level));
                }
            }
            best.map_or(u32::MAX, |(link, _)| link)
        };
        let at = flows.iter().enumerate().map(|(k, &i)| choose(k, i)).collect();
        Self { at, channels }
    }

    /// Bottleneck that a port is, or belongs to.
    pub(super) fn of(&self, port: usize) -> u32 {
        self.channels.get(port).copied().unwrap_or(port as u32)
    }
}

/// First port of the channel of each port, else the port itself; empty without channels.
fn channels<P: Components, H: EventQueue>(world: &World<P, H>) -> Vec<u32> {
    if world.channels().is_empty() {
        return Vec::new();
    }
    let mut first: Vec<u32> = (0..world.ports().len() as u32).collect();
    for channel in world.channels() {
        let own: Vec<usize> = (0..first.len()).filter(|&i| channel.station(PortId(i as u32)).is_some()).collect();
        own.iter().for_each(|&i| first[i] = own[0] as u32);
    }
    first
}

/// Capacity of a link in the span, in bytes. For a channel: the carried bytes divided by the busy share of the time.
fn room<P: Components, H: EventQueue>(world: &World<P, H>, port: PortId, channels: &[u32]) -> u64 {
    let (from, now) = (world.reset_at(), world.now());
    let nominal = || world.port(port).capacity(from, now);
    let channel = world.channels().iter().find(|c| c.station(port).is_some());
    let bits = channel.map_or_else(nominal, |channel| {
        let stations = (0..channel.air().stations()).map(|s| channel.air().counted(s, now).busy.as_ps());
        let busy = stations.max().unwrap_or(0) as f64 / (now - from).as_ps() as f64;
        let own = channels.iter().enumerate().filter(|(_, first)| **first == port.0);
        let carried: f64 = own.map(|(i, _)| world.port(PortId(i as u32)).carried(now)).sum();
        if busy > 0.0 && carried > 0.0 { carried / busy } else { nominal() }
    });
    (bits / 8.0) as u64
}

/// Max-min fair allocation in bytes of a flow with rate `own` on a link with capacity `room`, if each other flow demands its measured rate. `rates`: sorted rates of all flows,
/// including that flow; `sums`: prefix sums.
fn level(rates: &[u64], sums: &[u64], own: u64, room: u64) -> f64 {
    let others = rates.len() - 1;
    let share = rates.partition_point(|rate| *rate < own);
    let all = |k: usize| if k == 0 { 0 } else { sums[k - 1] };
    // Demand of the `k` smallest others together, then of the next one.
    let least = |k: usize| if k <= share { all(k) } else { all(k + 1) - own };
    let next = |k: usize| if k < share { rates[k] } else { rates[k + 1] };
    let (mut low, mut high) = (0, others);
    while low < high {
        let k = low.midpoint(high);
        let fits = u128::from(next(k)) * (others - k + 1) as u128 + u128::from(least(k)) >= u128::from(room);
        (low, high) = if fits { (low, k) } else { (k + 1, high) };
    }
    room.saturating_sub(least(low)) as f64 / (others - low + 1) as f64
}

/// Sums in ascending order, so rounding does not depend on the order of declaration.
fn sum(x: impl Iterator<Item = f64>) -> f64 {
    let mut x: Vec<f64> = x.collect();
    x.sort_unstable_by(f64::total_cmp);
    x.iter().sum()
}

/// Jain's fairness index (sum x)^2 / (n sum x^2) (Jain, Chiu and Hawe 1984): 1 if all values are equal, 1/n if one of n has everything.
///
/// NaN if the list is empty or all values are zero: the definition gives 0/0. The value 1 would make a queue that forwards nothing
/// the fairest of all; the limits differ, 1 along equal shares and 1/n along one flow.
pub fn jain(x: &[f64]) -> f64 {
    let (sum, squares) = (sum(x.iter().copied()), sum(x.iter().map(|v| v * v)));
    if squares == 0.0 { f64::NAN } else { sum * sum / (x.len() as f64 * squares) }
}

/// Mean goodput of the flows with the same bottleneck, one value per flow of `x`.
pub(super) fn fair(x: &[f64], at: &[u32]) -> Vec<f64> {
    if at.windows(2).all(|w| w[0] == w[1]) {
        return vec![sum(x.iter().copied()) / x.len().max(1) as f64; x.len()];
    }
    let mut fair = vec![0.0; x.len()];
    together(at, |own| {
        let mean = sum(own.iter().map(|&k| x[k as usize])) / own.len() as f64;
        own.iter().for_each(|&k| fair[k as usize] = mean);
    });
    fair
}

/// Calls `of` with the indices of the flows of each bottleneck, in order.
pub(super) fn together(at: &[u32], of: impl FnMut(&[u32])) {
    let mut order: Vec<u32> = (0..at.len() as u32).collect();
    order.sort_by_key(|&k| at[k as usize]);
    order.chunk_by(|&a, &b| at[a as usize] == at[b as usize]).for_each(of);
}

/// Jain's index of goodputs relative to their mean at the same bottleneck: that of a single bottleneck, else the harmonic mean over bottlenecks weighted by their flows.
pub(super) fn fairness(x: &[f64], at: &[u32]) -> f64 {
    if at.windows(2).all(|w| w[0] == w[1]) {
        return jain(x);
    }
    let shares: Vec<f64> = x.iter().zip(fair(x, at)).map(|(x, mean)| super::ratio(*x, mean)).collect();
    jain(&shares)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values computed by hand from the definition (Jain, Chiu and Hawe 1984).
    #[test]
    fn jain_of_known_shares() {
        assert_eq!(jain(&[5.0, 0.0, 0.0, 0.0]), 0.25);
        assert_eq!(jain(&[1.0, 1.0, 1.0, 0.0]), 0.75);
        assert_eq!(jain(&[2.0; 7]), 1.0);
        assert_eq!(jain(&[1.0, 2.0, 3.0]), 36.0 / (3.0 * 14.0));
        // The index does not change with the unit (section 3).
        assert_eq!(jain(&[1e6, 2e6, 3e6]), jain(&[1.0, 2.0, 3.0]));
        assert!(jain(&[]).is_nan() && jain(&[0.0, 0.0]).is_nan());
    }

    /// Equal shares at each of two bottlenecks are fair at any rates; indices of 1 and 1/2 have the harmonic mean 2/3; a bottleneck that forwards nothing starves its flows.
    #[test]
    fn bottlenecks_are_not_compared() {
        assert_eq!(fairness(&[1.0, 1.0, 9.0, 9.0], &[0, 0, 1, 1]), 1.0);
        assert_eq!(fairness(&[1.0, 9.0, 1.0, 0.0], &[0, 1, 0, 1]), 2.0 / 3.0);
        assert_eq!(fairness(&[1.0, 0.0, 1.0, 0.0], &[0, 1, 0, 1]), 0.5);
        assert_eq!(fairness(&[1.0, 9.0, 1.0, 0.0], &[3, 3, 3, 3]), jain(&[1.0, 9.0, 1.0, 0.0]));
        assert_eq!(fair(&[1.0, 9.0, 3.0], &[0, 1, 0]), [2.0, 9.0, 2.0]);
    }

    /// Capacity 10: a flow against demands of 1 and 9 could have 5 - 1/2; against one demand of 10 half; alone all.
    #[test]
    fn the_fair_level_is_that_of_filling_up() {
        let of = |rates: &[u64], own: u64, room: u64| {
            let sums: Vec<u64> = rates
                .iter()
                .scan(0, |s, r| {
                    *s += r;
                    Some(*s)
                })
                .collect();
            level(rates, &sums, own, room)
        };
        assert_eq!(of(&[0, 1, 9], 0, 10), 4.5);
        assert_eq!(of(&[1, 4, 5], 4, 10), 4.5);
        assert_eq!(of(&[1, 4, 5], 5, 10), 5.0);
        assert_eq!(of(&[0, 10], 0, 10), 5.0);
        assert_eq!(of(&[0, 10], 10, 10), 10.0);
        assert_eq!(of(&[3], 3, 10), 10.0);
        assert_eq!(of(&[2, 2, 2], 2, 10), 6.0);
        assert_eq!(of(&[0, 0], 0, 0), 0.0);
    }
}
