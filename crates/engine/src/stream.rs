//! Random streams: one per entity and purpose, so that adding a flow never shifts the draws of another.
//!
//! The generator is xoshiro256++ 1.0 (Blackman and Vigna 2019), seeded by SplitMix64 as its authors
//! advise; both are fixed by their published definitions, so the draws are the same on every machine.

use fairlane_units::Dur;

/// A stream of pseudo-random numbers owned by one entity for one purpose.
#[derive(Clone, Debug)]
pub struct Stream {
    /// Seed of its state.
    key: u64,
    /// Created at the first draw: most ports of a large network never draw.
    s: Option<Box<[u64; 4]>>,
}

fn splitmix(x: &mut u64) -> u64 {
    *x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *x;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Fixed hash of texts: FNV-1a over the parts, each ended by a byte that text cannot contain, then mixed.
pub fn hash_parts(parts: &[&str]) -> u64 {
    splitmix(&mut fnv(parts))
}

/// Hash of texts with a `seed`.
pub fn hash_seeded(seed: u64, parts: &[&str]) -> u64 {
    splitmix(&mut (fnv(parts) ^ splitmix(&mut seed.clone())))
}

fn fnv(parts: &[&str]) -> u64 {
    let mut h = 0xCBF2_9CE4_8422_2325_u64;
    for part in parts {
        for b in part.bytes().chain([0xFF]) {
            h = (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01B3);
        }
    }
    h
}

impl Stream {
    /// Creates the stream of entity `name` of `kind` for `purpose`, in a run with this `seed`.
    pub fn new(seed: u64, kind: &str, name: &str, purpose: &str) -> Self {
        Self { key: fnv(&[kind, name, purpose]) ^ splitmix(&mut seed.clone()), s: None }
    }

    /// Continues as another stream, which depends on its position and on `number`.
    pub fn fork(&mut self, number: u64) {
        *self = Self { key: self.next_u64() ^ splitmix(&mut number.clone()), s: None };
    }

    #[cold]
    fn begin(mut key: u64) -> Box<[u64; 4]> {
        Box::new(std::array::from_fn(|_| splitmix(&mut key)))
    }

    /// Returns the next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let key = self.key;
        let s = self.s.get_or_insert_with(|| Self::begin(key));
        let out = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        out
    }

    /// Uniform in [0, 1), 53 bits.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Uniform integer in `0..n` (0 if `n` is 0), by Lemire's multiply-shift; its bias is below n / 2^64.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// Exponential with the given mean, by inversion.
    pub fn exponential(&mut self, mean: Dur) -> Dur {
        let u = 1.0 - self.uniform();
        Dur::from_ps((-libm::log(u) * mean.as_ps() as f64 + 0.5) as u64)
    }

    /// Normal with mean 0 and deviation 1 (first number of Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        let (u, v) = (1.0 - self.uniform(), self.uniform());
        libm::sqrt(-2.0 * libm::log(u)) * libm::cos(std::f64::consts::TAU * v)
    }

    /// A permutation of `0..n` (Fisher and Yates).
    pub fn permutation(&mut self, n: usize) -> Vec<u32> {
        let mut v: Vec<u32> = (0..n as u32).collect();
        for i in (1..n).rev() {
            v.swap(i, self.below(i as u64 + 1) as usize);
        }
        v
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First outputs of xoshiro256++ from the state 1, 2, 3, 4, as the reference code prints them.
    #[test]
    fn xoshiro_reference_outputs() {
        let mut g = Stream { key: 0, s: Some(Box::new([1, 2, 3, 4])) };
        let got: Vec<u64> = (0..4).map(|_| g.next_u64()).collect();
        assert_eq!(got, [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386]);
    }

    #[test]
    fn streams_differ_by_each_part_of_the_key() {
        let first = |s, k, n, p| Stream::new(s, k, n, p).next_u64();
        let base = first(1, "port", "a", "aqm");
        for other in
            [first(2, "port", "a", "aqm"), first(1, "flow", "a", "aqm"), first(1, "port", "b", "aqm"), first(1, "port", "a", "loss")]
        {
            assert_ne!(base, other);
        }
        assert_eq!(base, first(1, "port", "a", "aqm"));
        assert_ne!(first(1, "ab", "c", ""), first(1, "a", "bc", ""));
    }

    /// Forks with the same number are equal; others are independent (the mean of their products is 0).
    #[test]
    fn forks_are_streams_of_their_own() {
        let fork = |n| {
            let mut g = Stream::new(1, "port", "a", "aqm");
            g.next_u64();
            g.fork(n);
            (0..10_000).map(|_| g.uniform() - 0.5).collect::<Vec<f64>>()
        };
        assert_eq!(fork(1), fork(1));
        let mut plain = Stream::new(1, "port", "a", "aqm");
        let plain: Vec<f64> = (0..10_000).map(|_| plain.uniform() - 0.5).collect();
        for (a, b) in [(fork(1), fork(2)), (fork(0), plain.clone()), (fork(7), fork(8)), (fork(0), plain[1..].to_vec())] {
            let products: f64 = a.iter().zip(&b).map(|(x, y)| x * y).sum();
            // The deviation of a product is 1/12; four of those of the sum.
            assert!(products.abs() < 4.0 * 100.0 / 12.0, "{products}");
        }
    }

    #[test]
    fn exponential_has_its_mean_and_deviation() {
        let mut g = Stream::new(7, "test", "exp", "");
        let n = 200_000;
        let xs: Vec<f64> = (0..n).map(|_| g.exponential(Dur::from_ms(1)).as_secs_f64() * 1e3).collect();
        let mean = xs.iter().sum::<f64>() / n as f64;
        let var = xs.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
        assert!((var - 1.0).abs() < 0.03, "{var}");
    }

    /// Moments of the normal distribution: 0, 1, 0, 3; and 2.3 % beyond two deviations.
    #[test]
    fn normal_has_its_moments() {
        let mut g = Stream::new(7, "test", "normal", "");
        let n = 200_000;
        let xs: Vec<f64> = (0..n).map(|_| g.normal()).collect();
        let moment = |k| xs.iter().map(|x| x.powi(k)).sum::<f64>() / f64::from(n);
        assert!(moment(1).abs() < 0.01 && (moment(2) - 1.0).abs() < 0.02, "{} {}", moment(1), moment(2));
        assert!(moment(3).abs() < 0.05 && (moment(4) - 3.0).abs() < 0.1, "{} {}", moment(3), moment(4));
        let beyond = xs.iter().filter(|x| **x > 2.0).count() as f64 / f64::from(n);
        assert!((beyond - 0.02275).abs() < 0.0015, "{beyond}");
    }

    #[test]
    fn permutation_is_one() {
        let mut p = Stream::new(3, "test", "perm", "").permutation(100);
        p.sort_unstable();
        assert!(p.iter().enumerate().all(|(i, &x)| i as u32 == x));
    }
}
