//! Histogram (log-linear, for percentiles) and summary statistics with exact sums.

use crate::ring::with_room;

/// Most buckets of a list. Most ports of a large network need no more, and distant values take no memory between them.
const FEW: usize = 30;
/// Capacities of a list: the least that an allocator gives, then about twice as much.
const STEPS: [usize; 3] = [6, 14, FEW];
/// Count at which a list becomes an array, which counts faster.
const OFTEN: u64 = 16;
/// Value of `lowest` that marks a list: no bucket is that high, so [`Histogram::add`] finds none.
const LISTED: u32 = 1 << 31;
/// Low bits of a list entry, for the count; the high bits are the bucket, below 2^12.
const COUNT_BITS: u32 = 20;

/// Histogram of 64-bit values; the width of a bucket is 1/2^`B` of its value. Memory covers only the octaves seen.
#[derive(Clone, Debug, Default)]
pub struct Histogram<const B: u32> {
    lowest: u32,
    /// Entries of the list; 0 for an array.
    listed: u32,
    /// Array: counts modulo 2^32, to halve the memory. List: sorted buckets with their counts.
    counts: Box<[u32]>,
    /// Buckets whose count overflowed, once for each overflow.
    #[allow(clippy::box_collection, reason = "nearly always none: a pointer is all it may take")]
    carries: Option<Box<Vec<u32>>>,
}

impl<const B: u32> PartialEq for Histogram<B> {
    fn eq(&self, other: &Self) -> bool {
        self.filled().eq(other.filled())
    }
}

impl<const B: u32> Eq for Histogram<B> {}

const fn bucket<const B: u32>(v: u64) -> u32 {
    // The leading one of `v >> shift` counts as one octave more; below the first octave nothing is shifted.
    let shift = 63 - (v | 1 << B).leading_zeros() - B;
    (shift << B) + (v >> shift) as u32
}

const fn lower_edge<const B: u32>(b: u32) -> u64 {
    let (octave, sub) = (b >> B, (b & ((1 << B) - 1)) as u64);
    if octave == 0 { sub } else { (sub + (1 << B)) << (octave - 1) }
}

impl<const B: u32> Histogram<B> {
    /// Counts `v`.
    #[inline]
    pub fn add(&mut self, v: u64) {
        let i = bucket::<B>(v).wrapping_sub(self.lowest) as usize;
        match self.counts.get_mut(i) {
            Some(c) => {
                *c = c.wrapping_add(1);
                if *c == 0 {
                    self.carry(bucket::<B>(v), 1);
                }
            }
            None => self.add_many(v, 1),
        }
    }

    /// Notes that the count of a bucket overflowed `times` times.
    #[cold]
    fn carry(&mut self, b: u32, times: u64) {
        self.carries.get_or_insert_default().extend((0..times).map(|_| b));
    }

    /// Returns the count of the bucket of `v`, to be prefetched.
    #[inline]
    pub(crate) fn cell(&self, v: u64) -> Option<&u32> {
        self.counts.get(bucket::<B>(v).wrapping_sub(self.lowest) as usize)
    }

    #[cold]
    fn add_many(&mut self, v: u64, n: u64) {
        let b = bucket::<B>(v);
        if self.counts.is_empty() {
            self.lowest = LISTED;
        }
        if self.lowest != LISTED {
            self.count(b, n);
        } else if !self.note(b, n) {
            let few = std::mem::take(&mut self.counts);
            let few = &few[..self.listed as usize];
            self.lowest = few.first().map_or(b, |&first| b.min(first >> COUNT_BITS));
            self.listed = 0;
            // Highest bucket first, so that the array is allocated once.
            few.iter().rev().for_each(|&x| self.count(x >> COUNT_BITS, u64::from(x % (1 << COUNT_BITS))));
            self.count(b, n);
        }
    }

    /// Counts in the list. Returns false if there is no room.
    fn note(&mut self, b: u32, n: u64) -> bool {
        let len = self.listed as usize;
        let place = self.counts[..len].partition_point(|&x| x >> COUNT_BITS < b);
        let known = self.counts[..len].get(place).filter(|&&x| x >> COUNT_BITS == b).copied();
        let count = known.map_or(0, |x| u64::from(x % (1 << COUNT_BITS))).saturating_add(n);
        if count >= OFTEN || known.is_none() && len == FEW {
            return false;
        }
        if known.is_none() {
            if len == self.counts.len() {
                let room = STEPS.into_iter().find(|&room| room > len).unwrap_or(FEW);
                self.counts = with_room(std::mem::take(&mut self.counts), room, 0);
            }
            self.counts.copy_within(place..len, place + 1);
            self.listed += 1;
        }
        self.counts[place] = b << COUNT_BITS | count as u32;
        true
    }

    /// Counts in the array.
    fn count(&mut self, b: u32, n: u64) {
        if b < self.lowest {
            // Grow downward in steps, so that falling values do not shift the array each time.
            let to = b.saturating_sub(1 << (B - 1));
            let (more, len) = ((self.lowest - to) as usize, self.counts.len());
            self.counts = with_room(std::mem::take(&mut self.counts), len + more, 0);
            self.counts.copy_within(..len, more);
            self.counts[..more.min(len)].fill(0);
            self.lowest = to;
        }
        let i = (b - self.lowest) as usize;
        if i >= self.counts.len() {
            self.counts = with_room(std::mem::take(&mut self.counts), (i + 1).next_multiple_of(1 << (B - 1)), 0);
        }
        let sum = u64::from(self.counts[i]) + n;
        self.counts[i] = sum as u32;
        if sum >> 32 != 0 {
            self.carry(b, sum >> 32);
        }
    }

    /// Buckets that are not empty, with their counts, in order.
    fn filled(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let (listed, counts) =
            if self.lowest == LISTED { (&self.counts[..self.listed as usize], &[][..]) } else { (&[][..], &self.counts[..]) };
        let few = listed.iter().map(|&x| (x >> COUNT_BITS, u64::from(x % (1 << COUNT_BITS))));
        few.chain(counts.iter().enumerate().filter_map(|(i, &c)| {
            let b = self.lowest + i as u32;
            let carried = self.carries.as_ref().map_or(0, |all| all.iter().filter(|&&x| x == b).count() as u64);
            let c = u64::from(c) + (carried << 32);
            (c > 0).then_some((b, c))
        }))
    }

    /// Edges of the buckets that are not empty, with their counts, in order.
    pub fn buckets(&self) -> impl Iterator<Item = ([u64; 2], u64)> + '_ {
        self.filled().map(|(b, c)| ([lower_edge::<B>(b), lower_edge::<B>(b + 1)], c))
    }

    /// Number of values.
    pub fn total(&self) -> u64 {
        self.filled().map(|(_, c)| c).sum()
    }

    /// Returns the value below which a share `q` of the values lies, linear within a bucket; NaN if empty.
    pub fn quantile(&self, q: f64) -> f64 {
        self.quantile_of(self.total(), q)
    }

    /// [`Self::quantile`] of a histogram with `total` values.
    fn quantile_of(&self, total: u64, q: f64) -> f64 {
        if total == 0 {
            return f64::NAN;
        }
        let mut left = q.clamp(0.0, 1.0) * total as f64;
        let mut edge = 0.0;
        for (b, c) in self.filled() {
            let (lo, hi) = (lower_edge::<B>(b) as f64, lower_edge::<B>(b + 1) as f64);
            if left <= c as f64 {
                return lo + (hi - lo) * (left / c as f64).max(0.0);
            }
            left -= c as f64;
            edge = hi;
        }
        edge
    }

    /// Adds another histogram.
    pub fn merge(&mut self, other: &Self) {
        for (b, c) in other.filled() {
            self.add_many(lower_edge::<B>(b), c);
        }
    }
}

/// Count, mean, deviation, maximum and percentiles of durations in picoseconds. Sums are exact integers; the error of a percentile is at most
/// 1/2^`B` of its value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary<const B: u32 = 6> {
    /// Number of values.
    pub n: u64,
    sum: u128,
    squares: u128,
    /// Largest value.
    pub max: u64,
    /// Distribution.
    pub hist: Histogram<B>,
}

impl<const B: u32> Summary<B> {
    /// Adds a value.
    #[inline]
    pub fn add(&mut self, v: u64) {
        self.n += 1;
        self.sum += u128::from(v);
        self.squares += u128::from(v) * u128::from(v);
        // `max` would store each time.
        if v > self.max {
            self.max = v;
        }
        self.hist.add(v);
    }
    /// Adds `n` zeros.
    pub fn add_zeros(&mut self, n: u64) {
        if n > 0 {
            self.n += n;
            self.hist.add_many(0, n);
        }
    }
    /// Adds another summary.
    pub fn merge(&mut self, o: &Self) {
        self.n += o.n;
        self.sum += o.sum;
        self.squares += o.squares;
        self.max = self.max.max(o.max);
        self.hist.merge(&o.hist);
    }
    /// Sum of the values.
    pub const fn sum(&self) -> u128 {
        self.sum
    }
    /// Arithmetic mean; NaN if empty.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.n as f64
    }
    /// Population standard deviation; NaN if empty. Computed in integers where they suffice: in floating point the difference of two large squares would give
    /// a constant a deviation.
    pub fn std(&self) -> f64 {
        if self.n == 0 {
            return f64::NAN;
        }
        let n = self.n as f64;
        let exact = u128::from(self.n).checked_mul(self.squares).zip(self.sum.checked_mul(self.sum));
        match exact {
            Some((a, b)) => (a.saturating_sub(b) as f64).sqrt() / n,
            None => (self.squares as f64 / n - self.mean() * self.mean()).max(0.0).sqrt(),
        }
    }
    /// Quantile `q` in 0..=1, never above the maximum; NaN if empty.
    pub fn quantile(&self, q: f64) -> f64 {
        self.hist.quantile_of(self.n, q).min(if self.n == 0 { f64::NAN } else { self.max as f64 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn buckets_tile_the_line() {
        for b in 0..3000_u32 {
            let (lo, hi) = (lower_edge::<6>(b), lower_edge::<6>(b + 1));
            assert_eq!(bucket::<6>(lo), b);
            assert_eq!(bucket::<6>(hi - 1), b);
            assert!(lo < 64 || (hi - lo) * 64 <= lo, "bucket {b} is wider than 1/64 of its value");
        }
        assert!(bucket::<6>(u64::MAX) < 64 * 60);
    }

    #[test]
    fn counts_beyond_32_bits() {
        let mut h = Histogram::<5>::default();
        h.add_many(7, u64::from(u32::MAX));
        h.add(7);
        h.add(7);
        h.add_many(1000, 3 << 32);
        assert_eq!(h.total(), (1 << 32) + 1 + (3 << 32));
        let mut sum = h.clone();
        sum.merge(&h);
        assert_eq!(sum.total(), 2 * h.total());
        assert_eq!(sum.quantile(0.1) as u64, 7);
    }

    /// Listed one by one or counted: against a map of the same values.
    #[test]
    fn few_values_count_as_many_do() {
        for n in 0..80_u64 {
            let values = || (0..n).map(|i| i * i * i * 7_919 % 10_007);
            let (mut h, mut halves, mut want) =
                (Histogram::<5>::default(), [Histogram::<5>::default(), Histogram::default()], BTreeMap::new());
            for (i, v) in values().enumerate() {
                h.add(v);
                halves[i % 2].add(v);
                *want.entry(bucket::<5>(v)).or_insert(0) += 1;
            }
            let [mut sum, other] = halves;
            sum.merge(&other);
            for h in [h, sum] {
                assert_eq!(h.filled().collect::<BTreeMap<u32, u64>>(), want, "{n}");
                assert!(h.filled().is_sorted_by_key(|(b, _)| b), "{n}");
            }
        }
    }

    /// List and array give the same counts.
    #[test]
    fn often_seen_values_are_counted() {
        for (times, listed) in [(OFTEN - 1, true), (OFTEN, false)] {
            let mut h = Histogram::<5>::default();
            (0..times).for_each(|_| [700, 3, 90_000].into_iter().for_each(|v| h.add(v)));
            assert_eq!(h.lowest == LISTED, listed);
            let want = [3, 700, 90_000].map(|v| (bucket::<5>(v), times));
            assert_eq!(h.filled().collect::<Vec<_>>(), want);
        }
        let mut zeros = Summary::<5>::default();
        zeros.add_zeros(1 << 33);
        assert_eq!(zeros.hist.filled().collect::<Vec<_>>(), [(0, 1 << 33)]);
    }

    #[test]
    fn a_constant_has_no_deviation() {
        let mut t = Summary::<6>::default();
        (0..1_000_000).for_each(|_| t.add(6_042_000_000));
        assert_eq!((t.std(), t.mean()), (0.0, 6_042_000_000.0));
        assert!(Summary::<6>::default().std().is_nan());
    }

    #[test]
    fn quantiles_of_a_uniform_ramp() {
        let mut t = Summary::<6>::default();
        (1..=100_000_u64).rev().for_each(|v| t.add(v * 1_000));
        for q in [0.01, 0.5, 0.95, 0.99] {
            let got = t.quantile(q) / 1e8;
            assert!((got - q).abs() < q / 64.0, "{q}: {got}");
        }
        assert_eq!(t.quantile(1.0), 1e8);
        assert!((t.mean() / 1e3 - 50_000.5).abs() < 1e-6);
        assert!((t.std() / 1e3 - (1e10_f64 / 12.0).sqrt()).abs() < 1.0);
    }
}
