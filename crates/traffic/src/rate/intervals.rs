//! Average loss interval (RFC 5348 section 5.4) with history discounting (section 5.5).

/// Number of closed loss intervals that count, n (section 5.4).
const N: usize = 8;
/// Their weights, the most recent first (section 5.4).
const WEIGHTS: [f64; N] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];
/// The lower bound of the discount factor, THRESHOLD (section 5.5).
const THRESHOLD: f64 = 0.25;

/// The loss intervals I_1, I_2... in packets, with their discount factors DF_i. The interval that is still open, I_0, is an argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Intervals {
    closed: [f64; N],
    discount: [f64; N],
    len: usize,
    /// True if history is discounted.
    discounting: bool,
}

impl Intervals {
    pub(super) fn new(discounting: bool) -> Self {
        Self { closed: [0.0; N], discount: [1.0; N], len: 0, discounting }
    }

    /// A loss event ended the open interval at this length: DF_(i+1) = DF * DF_i, and the new I_1 has the factor 1.
    pub(super) fn close(&mut self, open: f64) {
        let general = self.general_discount(open);
        for i in (1..N).rev() {
            self.closed[i] = self.closed[i - 1];
            self.discount[i] = self.discount[i - 1] * general;
        }
        (self.closed[0], self.discount[0]) = (open, 1.0);
        self.len = N.min(self.len + 1);
    }

    /// Weighted sum of the closed intervals and sum of the weights, where I_i has weight w_(i - 1 + shift) and factor DF_i * `general`.
    fn sums(&self, shift: usize, general: f64) -> (f64, f64) {
        let (mut sum, mut weight) = (0.0, 0.0);
        for i in 0..self.len.saturating_sub(shift) {
            let w = WEIGHTS[i + shift] * self.discount[i] * general;
            sum += w * self.closed[i];
            weight += w;
        }
        (sum, weight)
    }

    /// DF of section 5.5: below 1 while the open interval is more than twice the mean of the closed ones.
    fn general_discount(&self, open: f64) -> f64 {
        let (sum, weight) = self.sums(0, 1.0);
        if !self.discounting || self.len == 0 || open <= 2.0 * sum / weight {
            return 1.0;
        }
        (2.0 * sum / weight / open).max(THRESHOLD)
    }

    /// I_mean: the larger of the means with and without the open interval. None before the first loss event.
    pub(super) fn mean(&self, open: f64) -> Option<f64> {
        if self.len == 0 {
            return None;
        }
        let (sum, weight) = self.sums(1, self.general_discount(open));
        let with = (open * WEIGHTS[0] + sum) / (WEIGHTS[0] + weight);
        let (sum, weight) = self.sums(0, 1.0);
        Some(with.max(sum / weight))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(discounting: bool, newest_first: &[f64]) -> Intervals {
        let mut all = Intervals::new(discounting);
        // Closed one by one, without discounting, so that what is tested is the mean alone.
        let mut plain = Intervals::new(false);
        newest_first.iter().rev().for_each(|&x| plain.close(x));
        all.closed = plain.closed;
        all.len = plain.len;
        all
    }

    /// Section 5.4 by hand: (10 + 20 + 30 + 40 + 0.8 * 50 + 0.6 * 60 + 0.4 * 70 + 0.2 * 80) / 6 = 220 / 6.
    #[test]
    fn section_5_4_weights() {
        let i = of(false, &[10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0]);
        assert!((i.mean(1.0).unwrap() - 220.0 / 6.0).abs() < 1e-12);
        // With I_0 = 100: (100 + 10 + 20 + 30 + 0.8 * 40 + 0.6 * 50 + 0.4 * 60 + 0.2 * 70) / 6 = 260 / 6; the ninth counts no more.
        assert!((i.mean(100.0).unwrap() - 260.0 / 6.0).abs() < 1e-12);
        // I_0 = 60 would give 220 / 6 as well: from there on, the open interval raises the mean.
        assert!((i.mean(60.0).unwrap() - 220.0 / 6.0).abs() < 1e-12);
    }

    /// Fewer than eight: k weights for the k closed ones, and for I_0 to I_(k-1). Of 10 and 40: (10 + 40) / 2; with I_0 = 70: (70 + 10) / 2.
    #[test]
    fn short_histories() {
        assert_eq!(Intervals::new(true).mean(5.0), None);
        let i = of(false, &[10.0, 40.0]);
        assert_eq!(i.mean(3.0), Some(25.0));
        assert_eq!(i.mean(70.0), Some(40.0));
        assert_eq!(i.mean(90.0), Some(50.0));
        let mut nine = Intervals::new(false);
        (0..20).for_each(|_| nine.close(7.0));
        assert_eq!((nine.len, nine.mean(1.0)), (N, Some(7.0)));
    }

    /// Section 5.5 by hand: eight intervals of 10, I_0 = 40 > 2 * 10: DF = 20 / 40 = 0.5;
    /// (40 + 0.5 * 10 * (1 + 1 + 1 + 0.8 + 0.6 + 0.4 + 0.2)) / (1 + 0.5 * 5) = 65 / 3.5. Without: (40 + 50) / 6 = 15.
    #[test]
    fn section_5_5_discounting() {
        let (with, without) = (of(true, &[10.0; 8]), of(false, &[10.0; 8]));
        assert!((with.mean(40.0).unwrap() - 65.0 / 3.5).abs() < 1e-12);
        assert!((without.mean(40.0).unwrap() - 15.0).abs() < 1e-12);
        // Up to twice the mean nothing is discounted; the factor never falls below 1/4.
        assert_eq!(with.mean(20.0), without.mean(20.0));
        assert!((with.mean(1000.0).unwrap() - (1000.0 + 0.25 * 50.0) / (1.0 + 0.25 * 5.0)).abs() < 1e-9);
    }

    /// The factor stays with the intervals when the open one closes: I_1 = 40 at full weight, the rest at half.
    #[test]
    fn discounts_are_remembered() {
        let mut i = of(true, &[10.0; 8]);
        i.close(40.0);
        assert_eq!(i.discount, [1.0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]);
        // (40 + 0.5 * 10 * 5) / (1 + 0.5 * 5).
        assert!((i.mean(1.0).unwrap() - 65.0 / 3.5).abs() < 1e-12);
        // The next, of common length, discounts nothing more.
        i.close(18.0);
        assert_eq!(i.discount[..3], [1.0, 1.0, 0.5]);
    }
}
