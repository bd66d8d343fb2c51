//! Responsiveness under load, in round trips per minute (draft-ietf-ippm-responsiveness-09, "Aggregating the Measurements").
//!
//! A transaction on a connection of its own is a foreign probe; the round trips of a flow that loads the path are those of a self probe on it. Handshake and
//! request of a foreign probe take a round trip each, so the mean over both is that of the transactions. The draft counts the last seconds of a test, here the
//! whole measured span counts.

use super::FlowSubject;
use fairlane_net::Summary;
use fairlane_units::PS_PER_SEC;

/// Share of the values, the smallest ones, of which the trimmed mean is taken: the draft's TMP.
const TRIMMED_AT: f64 = 0.95;
const SECONDS: f64 = 60.0;

/// Mean of the smallest 95 % of the values, each as the middle of its bucket; NaN without values.
fn trimmed_mean(s: &Summary) -> f64 {
    let kept = (TRIMMED_AT * s.n as f64).ceil();
    let (mut left, mut sum) = (kept, 0.0);
    for ([low, high], n) in s.hist.buckets() {
        let taken = left.min(n as f64);
        sum += taken * (low as f64 + (high - 1) as f64) / 2.0;
        left -= taken;
    }
    sum / kept
}

/// Round trips per minute of a trimmed mean; NaN without values.
pub(super) fn rpm(s: &Summary) -> f64 {
    SECONDS * PS_PER_SEC as f64 / trimmed_mean(s)
}

/// Responsiveness that a flow's transactions see.
pub(super) fn foreign(s: &FlowSubject) -> f64 {
    s.counters.transactions.as_deref().map_or(f64::NAN, rpm)
}

/// Responsiveness on a flow that loads the path: one without transactions.
pub(super) fn own(s: &FlowSubject) -> f64 {
    if s.counters.transactions.is_some() { f64::NAN } else { rpm(&s.counters.rtt) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Section "Aggregating the Measurements": the largest 5 % of the values do not count.
    #[test]
    fn outliers_are_trimmed() {
        let mut s = Summary::default();
        (0..19).for_each(|_| s.add(PS_PER_SEC / 10));
        assert!((rpm(&s) / 600.0 - 1.0).abs() < 1.0 / 64.0, "{}", rpm(&s));
        let before = rpm(&s);
        s.add(PS_PER_SEC * 30);
        assert!((rpm(&s) - before).abs() < 1e-9);
        s.add(PS_PER_SEC * 30);
        assert!(rpm(&s) < before / 2.0);
        assert!(rpm(&Summary::default()).is_nan());
    }
}
