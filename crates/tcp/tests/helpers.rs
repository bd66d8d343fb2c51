//! Helpers of several test files.

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
