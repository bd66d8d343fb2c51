//! Random numbers of an impairment that depend on the ones before, and the distributions that they are turned into, as in netem.

use fairlane_engine::Stream;

/// Uniform numbers from 0 to 1, of which each is a mean of a fresh one and the one before it (get_crandom of sch_netem). The mean narrows them: their
/// variance is (1 - c) / (1 + c) of that of independent ones, so that probabilities are met only without correlation.
#[derive(Clone, Debug)]
pub(super) struct Chance {
    correlation: f64,
    last: f64,
}

impl Chance {
    /// The first number before is drawn from the stream, if it matters.
    pub(super) fn new(correlation: f64, stream: &mut Stream) -> Self {
        Self { correlation, last: if correlation > 0.0 { stream.uniform() } else { 0.0 } }
    }

    /// The next number, from a fresh one.
    #[inline]
    pub(super) fn next(&mut self, fresh: f64) -> f64 {
        if self.correlation > 0.0 {
            self.last = fresh * (1.0 - self.correlation) + self.last * self.correlation;
            return self.last;
        }
        fresh
    }
}

/// Largest value of netem's tables: 32767 / 8192 deviations.
const MOST: f64 = 4.0;
/// Exponent of the Pareto distribution of netem's tables.
const SHAPE: f64 = 3.0;

/// Quantile of the Pareto distribution with exponent 3, less its mean of 3/2, times 4/3 (pareto.c of iproute2).
pub(super) fn pareto(u: f64) -> f64 {
    (((1.0 - u).max(f64::MIN_POSITIVE).powf(-1.0 / SHAPE) - 1.5) * 4.0 / 3.0).min(MOST)
}

/// A quarter of the normal and three quarters of the Pareto quantile (paretonormal.c of iproute2).
pub(super) fn pareto_normal(u: f64) -> f64 {
    (0.25 * normal(u) + 0.75 * pareto(u)).min(MOST)
}

/// Quantile of the normal distribution, cut at four deviations (Wichura 1988, algorithm AS 241, PPND7: seven digits).
pub(super) fn normal(u: f64) -> f64 {
    let q = u - 0.5;
    let ratio = |r: f64, top: &[f64], bottom: &[f64]| {
        let value = |c: &[f64]| c.iter().rev().fold(0.0, |sum, c| sum * r + c);
        value(top) / value(bottom)
    };
    let x = if q.abs() <= 0.425 {
        let (top, bottom) =
            ([3.387_132_717_9, 50.434_271_938, 159.291_132_02, 59.109_374_72], [1.0, 17.895_169_469, 78.757_757_664, 67.187_563_6]);
        q * ratio(0.180_625 - q * q, &top, &bottom)
    } else {
        let r = (-u.min(1.0 - u).max(f64::MIN_POSITIVE).ln()).sqrt();
        let tail = if r <= 5.0 {
            let (top, bottom) =
                ([1.423_437_277_7, 2.756_815_39, 1.306_728_481_6, 0.170_238_211_03], [1.0, 0.737_001_642_5, 0.120_211_329_75]);
            ratio(r - 1.6, &top, &bottom)
        } else {
            MOST
        };
        tail.copysign(q)
    };
    x.clamp(-MOST, MOST)
}
