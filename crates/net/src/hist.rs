//! Distributions gathered on the path: exact sums, and a log-linear histogram for percentiles.

/// Sub-buckets per octave: a percentile is off by at most 1/64 of its value.
const SUB_BITS: u32 = 6;

/// A histogram of 64-bit values with buckets 1/64 of an octave wide. Memory covers only the octaves seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hist {
    lowest: u32,
    counts: Vec<u64>,
}

fn bucket(v: u64) -> u32 {
    if v < 1 << SUB_BITS {
        return v as u32;
    }
    let shift = 63 - v.leading_zeros() - SUB_BITS;
    ((shift + 1) << SUB_BITS) + ((v >> shift) as u32 & ((1 << SUB_BITS) - 1))
}

fn lower_edge(b: u32) -> u64 {
    let (octave, sub) = (b >> SUB_BITS, u64::from(b & ((1 << SUB_BITS) - 1)));
    if octave == 0 { sub } else { (sub + (1 << SUB_BITS)) << (octave - 1) }
}

impl Hist {
    /// Counts `v` with weight `w`.
    #[inline]
    pub fn add(&mut self, v: u64, w: u64) {
        let b = bucket(v);
        let i = b.wrapping_sub(self.lowest) as usize;
        if i < self.counts.len() {
            self.counts[i] += w;
        } else {
            self.extend(b, w);
        }
    }

    #[cold]
    fn extend(&mut self, b: u32, w: u64) {
        if self.counts.is_empty() {
            self.lowest = b;
        }
        if b < self.lowest {
            // Room below is taken in whole steps so that a falling series does not shift the array each time.
            let to = b.saturating_sub(16);
            self.counts.splice(0..0, std::iter::repeat_n(0, (self.lowest - to) as usize));
            self.lowest = to;
        }
        let i = (b - self.lowest) as usize;
        if i >= self.counts.len() {
            self.counts.resize(i + 1, 0);
        }
        self.counts[i] += w;
    }

    /// Sum of all weights.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The value below which a share `q` of the weight lies, linear within a bucket; NaN if empty.
    /// `zeros` is weight at value zero that was not added.
    pub fn quantile(&self, q: f64, zeros: u64) -> f64 {
        let total = self.total() + zeros;
        if total == 0 {
            return f64::NAN;
        }
        let mut left = q.clamp(0.0, 1.0) * total as f64 - zeros as f64;
        if left <= 0.0 && zeros > 0 {
            return 0.0;
        }
        let mut edge = 0.0;
        for (i, &c) in self.counts.iter().enumerate() {
            if c == 0 {
                continue;
            }
            let b = self.lowest + i as u32;
            let (lo, hi) = (lower_edge(b) as f64, lower_edge(b + 1) as f64);
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
        for (i, &c) in other.counts.iter().enumerate().filter(|&(_, &c)| c > 0) {
            self.add(lower_edge(other.lowest + i as u32), c);
        }
    }
}

/// Count, mean, deviation, extremes and percentiles of a stream of spans in picoseconds. Sums are exact integers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of values.
    pub n: u64,
    sum: u128,
    squares: u128,
    /// Largest value.
    pub max: u64,
    /// Distribution.
    pub hist: Hist,
}

impl Tally {
    /// Adds a value.
    #[inline]
    pub fn add(&mut self, v: u64) {
        self.n += 1;
        self.sum += u128::from(v);
        self.squares += u128::from(v) * u128::from(v);
        self.max = self.max.max(v);
        self.hist.add(v, 1);
    }
    /// Adds `n` zeros.
    pub fn add_zeros(&mut self, n: u64) {
        if n > 0 {
            self.n += n;
            self.hist.add(0, n);
        }
    }
    /// Adds another tally.
    pub fn merge(&mut self, o: &Self) {
        self.n += o.n;
        self.sum += o.sum;
        self.squares += o.squares;
        self.max = self.max.max(o.max);
        self.hist.merge(&o.hist);
    }
    /// Arithmetic mean; NaN if empty.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.n as f64
    }
    /// Population standard deviation; NaN if empty.
    pub fn std(&self) -> f64 {
        let n = self.n as f64;
        let m = self.mean();
        (self.squares as f64 / n - m * m).max(0.0).sqrt()
    }
    /// Quantile `q` in 0..=1, never above the maximum; NaN if empty.
    pub fn quantile(&self, q: f64) -> f64 {
        self.hist.quantile(q, 0).min(if self.n == 0 { f64::NAN } else { self.max as f64 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_tile_the_line() {
        for b in 0..3000_u32 {
            let (lo, hi) = (lower_edge(b), lower_edge(b + 1));
            assert_eq!(bucket(lo), b);
            assert_eq!(bucket(hi - 1), b);
            assert!(lo < 64 || (hi - lo) * 64 <= lo, "bucket {b} is wider than 1/64 of its value");
        }
        assert!(bucket(u64::MAX) < 64 * 60);
    }

    #[test]
    fn quantiles_of_a_uniform_ramp() {
        let mut t = Tally::default();
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
