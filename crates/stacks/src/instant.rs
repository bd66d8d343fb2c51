//! Simulated time as an [`Instant`], which is what stacks count with.

use fairlane_units::Time;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Picoseconds of a nanosecond.
const PS: u64 = 1000;

/// Instant of the start of every run of this process. Stacks only ever see differences from it.
fn base() -> Instant {
    static BASE: OnceLock<Instant> = OnceLock::new();
    // Stacks subtract spans from an instant: the first one must not be the earliest of the system's clock.
    *BASE.get_or_init(|| Instant::now() + Duration::from_secs(1 << 20))
}

/// Simulated time as an instant, rounded down to whole nanoseconds.
pub fn instant(now: Time) -> Instant {
    instant_from(base(), now)
}

/// Simulated time of an instant; the start of the run for an earlier one.
pub fn time(at: Instant) -> Time {
    time_from(base(), at)
}

/// Simulated time as an instant, where the run starts at `start`.
pub(crate) fn instant_from(start: Instant, now: Time) -> Instant {
    start + Duration::from_nanos(now.as_ps() / PS)
}

/// Simulated time of an instant, where the run starts at `start`.
pub(crate) fn time_from(start: Instant, at: Instant) -> Time {
    let ns = at.saturating_duration_since(start).as_nanos();
    u64::try_from(ns).ok().and_then(|ns| ns.checked_mul(PS)).map_or(Time::MAX, Time::from_ps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_returns_from_an_instant() {
        for ps in [0, 1000, 123_456_789_000, 3_600_000_000_000_000] {
            assert_eq!(time(instant(Time::from_ps(ps))), Time::from_ps(ps));
        }
        assert_eq!(time(instant(Time::from_ps(1999))), Time::from_ps(1000));
    }
}
