//! Helpers of several test files.

use crate::pair::{Fate, Pair};
use fairlane_units::{Dur, Time};
use serde_json::Value;

/// A span of `n` milliseconds.
pub(crate) fn ms(n: u64) -> Dur {
    Dur::from_ms(n)
}

/// The time `n` milliseconds after the start.
pub(crate) fn at(n: u64) -> Time {
    Time::ZERO + ms(n)
}

/// The table `base` with the values of `extra` in it.
pub(crate) fn with(mut base: Value, extra: &Value) -> Value {
    for (k, v) in extra.as_object().unwrap() {
        base[k] = v.clone();
    }
    base
}

/// Decides by the number of the segment in the stream and the number of its transmission, both from 0.
pub(crate) fn scripted(p: &mut Pair, mut script: impl FnMut(u64, u64) -> Fate + 'static) {
    let mut times = std::collections::BTreeMap::new();
    p.script[0] = Box::new(move |_, s| {
        if s.payload == 0 {
            return Fate::Pass;
        }
        let n = (s.seq - 1) / 1000;
        let k = times.entry(n).or_insert(0);
        *k += 1;
        script(n, *k - 1)
    });
}

/// Retransmissions: time in ms and segment number.
pub(crate) fn again(p: &Pair) -> Vec<(u64, u64)> {
    let ours = p.log.iter().filter(|l| l.1 == 0 && l.2.retransmission());
    ours.map(|l| (l.0.as_ps() / 1_000_000_000, (l.2.seq - 1) / 1000)).collect()
}
