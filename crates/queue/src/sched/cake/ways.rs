//! A set-associative hash table of queues: flows that fall on the same place sit side by side as long as their set has room.

use crate::sched::hash::reduce;

/// Places for queues, in sets of a few ways each.
#[derive(Clone, Debug)]
pub(crate) struct Ways {
    /// Hash of the flow that each place was given to last, and how often it was given away.
    tags: Vec<(u64, u32)>,
    ways: usize,
    /// By flow and direction: where its last packet went, and how often that place had been given away by then.
    last: Vec<(u32, u32)>,
}

impl Ways {
    /// `places` queues in sets of `ways`; a last set may be smaller.
    pub(crate) fn new(places: usize, ways: usize) -> Self {
        Self { tags: vec![(0, 0); places.max(1)], ways: ways.max(1), last: vec![] }
    }

    /// The place of the flow with this hash and number: where it is, or else a free one of its set, or else, if all ways are taken by
    /// others, the one it falls on, which it shares (Høiland-Jørgensen, Täht and Morton 2018, section III.C). A flow that shares stays
    /// while its place is taken: if it moved to one that becomes free, its packets would overtake one another.
    #[inline]
    pub(crate) fn place(&mut self, hash: u64, number: usize, taken: impl Fn(usize) -> bool) -> usize {
        if self.last.len() <= number {
            self.last.resize(number + 1, (0, 0));
        }
        let (at, given) = self.last[number];
        if given > 0 && self.tags[at as usize].1 == given && taken(at as usize) {
            return at as usize;
        }
        let n = self.tags.len();
        let direct = reduce(hash, n as u32) as usize;
        let first = direct - direct % self.ways;
        // From the place it falls on round its set.
        let around = (direct..(first + self.ways).min(n)).chain(first..direct);
        let place = match around.clone().find(|&i| self.tags[i].0 == hash && taken(i)) {
            Some(own) => own,
            None => match around.clone().find(|&i| !taken(i)) {
                Some(free) => {
                    self.tags[free] = (hash, self.tags[free].1.wrapping_add(1).max(1));
                    free
                }
                None => direct,
            },
        };
        self.last[number] = (place as u32, self.tags[place].1);
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::hash::mix;

    /// Share of `flows` flows that find no place of their own among 1024, over many hash functions.
    fn sharing(flows: u64, ways: usize) -> f64 {
        let runs = 300;
        let mut shared = 0;
        for run in 0..runs {
            let (mut table, mut taken) = (Ways::new(1024, ways), vec![false; 1024]);
            for flow in 0..flows {
                let place = table.place(mix(run << 32 | flow), flow as usize, |i| taken[i]);
                shared += u64::from(taken[place]);
                taken[place] = true;
            }
        }
        shared as f64 / (runs * flows) as f64
    }

    /// Expected share of flows beyond the room of their set: sets of w ways get K ~ Binomial(n, w / 1024) flows each, and of these
    /// E[max(K - w, 0)] find no place.
    fn expected(n: u64, ways: f64) -> f64 {
        let p = ways / 1024.0;
        let mut prob = (1.0 - p).powi(n as i32);
        let mut over = 0.0;
        for k in 0..=n {
            over += prob * (k as f64 - ways).max(0.0);
            prob *= (n - k) as f64 / (k + 1) as f64 * p / (1.0 - p);
        }
        over / p / n as f64
    }

    /// "Piece of CAKE", section III.C: eight ways make collisions rare up to hundreds of flows, where a plain hash has many.
    #[test]
    fn collisions_are_those_of_the_formula() {
        for (flows, ways) in [(100, 1), (400, 1), (400, 8), (700, 8), (1000, 8)] {
            let (found, formula) = (sharing(flows, ways), expected(flows, ways as f64));
            assert!((found - formula).abs() < 0.05 * formula + 2e-4, "{flows} flows, {ways} ways: {found} against {formula}");
        }
        assert!(expected(100, 1.0) > 0.045 && sharing(100, 8) < 1e-4);
        assert!(sharing(400, 8) < 0.02 * sharing(400, 1));
    }

    #[test]
    fn a_flow_keeps_its_place_while_it_is_taken() {
        let mut t = Ways::new(16, 8);
        // Small hashes fall on place 0; the ninth flow of the set shares it.
        let places: Vec<_> = (1..=9_usize).map(|f| t.place(f as u64, f, |i| i < f - 1)).collect();
        assert_eq!(places, [0, 1, 2, 3, 4, 5, 6, 7, 0]);
        assert_eq!((1..=9_usize).map(|f| t.place(f as u64, f, |_| true)).collect::<Vec<_>>(), places);
        // Place 3 is free: the one that shares stays where its packets are, a newcomer takes it, and its previous owner finds no room.
        assert_eq!(t.place(9, 9, |i| i != 3), 0);
        assert_eq!(t.place(77, 77, |i| i != 3), 3);
        assert_eq!(t.place(4, 4, |_| true), 0);
        // Once place 0 has been free, the one that shared it looks for a place again; two numbers with one hash are together.
        assert_eq!(t.place(9, 9, |i| i != 0), 0);
        assert_eq!(t.place(9, 10, |_| true), 0);
    }
}
