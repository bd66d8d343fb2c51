//! The hops that routes may take: who decodes whom, and who may talk to whom.

use crate::mobility::{Place, Track};
use crate::motion::next_step;
use fairlane_engine::hash_parts;
use fairlane_units::{Dur, Time};
use std::sync::Arc;

/// Who may talk to whom.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Access {
    /// Every station with every other one that decodes it.
    #[default]
    AdHoc,
    /// Each station with its access point alone: the one that is named for it, else the one it hears best; of equals the one by a hash of both names.
    Points {
        /// The access points.
        points: Vec<u32>,
        /// Access point of each station, if it has one.
        of: Vec<Option<u32>>,
        /// The names of all stations.
        names: Vec<String>,
    },
}

impl Access {
    /// Pairs (sender, receiver) of stations of which the second decodes the first, among `n`. `far` is their distance if they decode one another.
    pub fn hops(&self, n: u32, far: impl Fn(u32, u32) -> Option<u64>) -> Vec<(u32, u32)> {
        let mine = match self {
            Self::AdHoc => None,
            Self::Points { points, of, names } => {
                let name = |i: u32| names.get(i as usize).map_or("", String::as_str);
                let hash = |i, p| hash_parts(&[name(i), name(p)]);
                let best = |i: u32| {
                    let heard = points.iter().copied().filter_map(|p| Some((far(i, p)?, p)));
                    heard.min_by(|a, b| a.0.cmp(&b.0).then_with(|| hash(i, a.1).cmp(&hash(i, b.1)))).map(|(_, p)| p)
                };
                let point = |i: u32| (!points.contains(&i)).then(|| of.get(i as usize).copied().flatten().or_else(|| best(i))).flatten();
                Some((0..n).map(point).collect::<Vec<_>>())
            }
        };
        let may = |i: u32, j: u32| mine.as_ref().is_none_or(|m| m[i as usize] == Some(j) || m[j as usize] == Some(i));
        let pairs = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
        pairs.filter(|&(i, j)| i != j && may(i, j) && far(i, j).is_some()).collect()
    }
}

/// The hops of a channel whose stations move, as routes learn of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Meetings {
    /// The walk of each station.
    pub tracks: Arc<[Track]>,
    /// How far a station is decoded, in millimetres.
    pub reach: u64,
    /// Who may talk to whom.
    pub access: Access,
    /// Routes look at whole multiples of this time, above zero.
    pub step: Dur,
    /// How long after that they follow.
    pub delay: Dur,
    /// The last time at which they look.
    pub until: Time,
}

impl Meetings {
    /// The hops at a time.
    pub fn hops(&self, at: Time) -> Vec<(u32, u32)> {
        let places: Vec<Place> = self.tracks.iter().map(|t| t.at(at)).collect();
        let far = |i: u32, j: u32| Some(places[i as usize].distance(places[j as usize])).filter(|&d| d <= self.reach);
        self.access.hops(places.len() as u32, far)
    }
    /// The first look after `now` that may see something new.
    pub fn next(&self, now: Time) -> Option<Time> {
        next_step(&self.tracks, now, self.step).filter(|&t| t <= self.until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(at: &'static [u64], reach: u64) -> impl Fn(u32, u32) -> Option<u64> {
        move |i, j| Some(at[i as usize].abs_diff(at[j as usize])).filter(|&d| d <= reach)
    }

    /// Between two access points at equal distance the order of declarations decides nothing: stations between them divide.
    #[test]
    fn stations_between_two_access_points_divide() {
        let names: Vec<String> = (0..202).map(|i| format!("n{i}")).collect();
        let mine = |order: [u32; 2]| {
            let access = Access::Points { points: order.to_vec(), of: Vec::new(), names: names.clone() };
            let hops = access.hops(202, |i, j| (i < 2 || j < 2).then_some(1_000));
            hops.into_iter().filter(|&(i, j)| i == 0 && j > 1).map(|(_, j)| j).collect::<Vec<u32>>()
        };
        let (one, other) = (mine([0, 1]), mine([1, 0]));
        assert_eq!(one, other);
        // Four standard deviations of 200 coins.
        assert!(one.len().abs_diff(100) < 29, "{}", one.len());
    }

    #[test]
    fn stations_belong_to_the_nearest_access_point_or_the_one_named() {
        // 0 and 3 are access points.
        let far = line(&[0, 10, 29, 60, 70, 31], 40);
        let both = |hops: &[(u32, u32)]| hops.iter().flat_map(|&(a, b)| [(a, b), (b, a)]).collect::<std::collections::BTreeSet<_>>();
        let hops = |of: [Option<u32>; 6]| Access::Points { points: vec![0, 3], of: of.to_vec(), names: Vec::new() }.hops(6, &far);
        assert_eq!(hops([None; 6]).into_iter().collect::<std::collections::BTreeSet<_>>(), both(&[(0, 1), (0, 2), (3, 4), (3, 5)]));
        let named = hops([None, None, Some(3), None, None, Some(0)]);
        assert_eq!(named.into_iter().collect::<std::collections::BTreeSet<_>>(), both(&[(0, 1), (2, 3), (3, 4), (0, 5)]));
        // Out of reach of the one that is named there is no hop.
        assert!(!hops([None, None, None, None, Some(0), None]).iter().any(|&(a, b)| a == 4 || b == 4));
        assert_eq!(Access::AdHoc.hops(3, line(&[0, 10, 50], 40)), [(0, 1), (1, 0), (1, 2), (2, 1)]);
    }
}
