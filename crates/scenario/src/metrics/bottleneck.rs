//! The bottleneck of a flow, and fairness among flows that share one.
//!
//! Flows compete where they use the same link in the same direction, so shares are formed among the flows with the same bottleneck. The
//! bottleneck of a flow is the link on its way that would leave it least: the rate that the flow could have there under max-min fairness (Bertsekas and Gallager, Data
//! Networks, section 6.5.2) while each other flow wants what it got in the measured span. Stations of one wireless channel share it, so a channel is one link.

use fairlane_engine::EventQueue;
use fairlane_net::{Components, EpId, PortId, World};
use fairlane_units::Name;
use std::cmp::Ordering;

/// The bottlenecks of the flows of a run.
pub(super) struct Bottlenecks {
    /// That of each flow that is reported, in their order: the number of a port, of a channel that of its first station.
    pub(super) at: Vec<u32>,
    /// Of each port of a channel the first one, if there are channels.
    channels: Vec<u32>,
}

/// Flows that share a link.
#[derive(Clone, Copy, Default)]
struct LinkShare {
    flows: u32,
    /// Where their rates begin among all.
    first: usize,
    /// Bytes that the link could carry in the span.
    room: u64,
}

impl Bottlenecks {
    /// Those of the flows with these numbers. Equal choices are decided by the number of flows and then by `names`, by port, so the order of declaration does not matter.
    pub(super) fn new<P: Components, H: EventQueue>(world: &World<P, H>, flows: &[usize], names: &[Name]) -> Self {
        let channels = channels(world);
        let of = |port: PortId| channels.get(port.0 as usize).copied().unwrap_or(port.0);
        let mut shares = vec![LinkShare::default(); world.ports().len()];
        // The ways of all flows one after the other, each link as often as the flow takes it.
        let (mut ways, mut ends): (Vec<u32>, _) = (Vec::new(), Vec::with_capacity(flows.len()));
        for &i in flows {
            let first = ways.len();
            ways.extend(world.passed(EpId(2 * i as u32)).into_iter().map(of));
            ways[first..].sort_unstable();
            ways[first..].chunk_by(|a, b| a == b).for_each(|taken| shares[taken[0] as usize].flows += 1);
            ends.push(ways.len());
        }
        let mut all = 0;
        for (i, share) in (0..).zip(&mut shares).filter(|(_, p)| p.flows > 0) {
            (share.first, share.room) = (all, room(world, PortId(i), &channels));
            all += share.flows as usize;
        }
        let received = |i: usize| world.flows()[i].counters.received_bytes;
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
        let choose = |k: usize, i: usize| {
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

    /// The bottleneck that a port is, or is part of.
    pub(super) fn of(&self, port: usize) -> u32 {
        self.channels.get(port).copied().unwrap_or(port as u32)
    }
}

/// Of each port of a channel the first one, of any other itself; nothing where there is no channel.
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

/// Bytes that a link could carry in the span. A channel could carry what it did, and as much more as it was idle.
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

/// Bytes that a flow, which got `own` bytes, could have of a link with `room` for so many under max-min fairness, if each other flow wants what it got. `rates`: what each got, that flow among them,
/// in order; `sums`: of each and those before it together.
fn level(rates: &[u64], sums: &[u64], own: u64, room: u64) -> f64 {
    let others = rates.len() - 1;
    let share = rates.partition_point(|rate| *rate < own);
    let all = |k: usize| if k == 0 { 0 } else { sums[k - 1] };
    // The `k` others that got least want so much together; the next one wants so much.
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

/// Sum from the least to the largest: rounding does not depend on the order in which flows are declared.
fn sum(x: impl Iterator<Item = f64>) -> f64 {
    let mut x: Vec<f64> = x.collect();
    x.sort_unstable_by(f64::total_cmp);
    x.iter().sum()
}

/// Jain's fairness index (sum x)^2 / (n sum x^2) (Jain, Chiu and Hawe 1984): 1 if all are equal, 1/n if one of n has all.
///
/// NaN if nobody has anything, or there is nobody: the definition is 0/0 there, and no value would be right. 1 would make the queue that lets
/// nothing through the fairest of all; and of the limits, that along equal shares is 1, that along one flow's 1/n.
pub fn jain(x: &[f64]) -> f64 {
    let (sum, squares) = (sum(x.iter().copied()), sum(x.iter().map(|v| v * v)));
    if squares == 0.0 { f64::NAN } else { sum * sum / (x.len() as f64 * squares) }
}

/// Means of the goodputs `x` over those with the same bottleneck, one for each of them.
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

/// Hands on the numbers of the flows with the same bottleneck, in order, for each bottleneck.
pub(super) fn together(at: &[u32], of: impl FnMut(&[u32])) {
    let mut order: Vec<u32> = (0..at.len() as u32).collect();
    order.sort_by_key(|&k| at[k as usize]);
    order.chunk_by(|&a, &b| at[a as usize] == at[b as usize]).for_each(of);
}

/// Jain's index over goodputs in units of their mean at the same bottleneck: that of each bottleneck alone where there is one, and else their harmonic mean weighed by the flows of each.
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

    /// Values worked out by hand from the definition (Jain, Chiu and Hawe 1984).
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

    /// Equal shares at each of two bottlenecks are fair, whatever the rates; with indices of 1 and 1/2 the harmonic mean is 2/3; a bottleneck that lets nothing through starves its flows.
    #[test]
    fn bottlenecks_are_not_compared() {
        assert_eq!(fairness(&[1.0, 1.0, 9.0, 9.0], &[0, 0, 1, 1]), 1.0);
        assert_eq!(fairness(&[1.0, 9.0, 1.0, 0.0], &[0, 1, 0, 1]), 2.0 / 3.0);
        assert_eq!(fairness(&[1.0, 0.0, 1.0, 0.0], &[0, 1, 0, 1]), 0.5);
        assert_eq!(fairness(&[1.0, 9.0, 1.0, 0.0], &[3, 3, 3, 3]), jain(&[1.0, 9.0, 1.0, 0.0]));
        assert_eq!(fair(&[1.0, 9.0, 3.0], &[0, 1, 0]), [2.0, 9.0, 2.0]);
    }

    /// Room for 10: against others that want 1 and 9 a flow could have 5 - 1/2; against one that wants all of it half; alone all.
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
