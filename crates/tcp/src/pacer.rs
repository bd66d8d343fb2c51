//! Departure times of paced segments.

use fairlane_units::{Dur, Time};

/// When the next segments may go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pacer {
    /// When all that was sent would have left at the rate.
    pub(crate) next: Time,
    /// Payload bytes that may still go in the present burst.
    pub(crate) left: u64,
    /// What the present burst was late, as far as it has not shortened a gap yet.
    pub(crate) late: Dur,
}

impl Pacer {
    /// Before anything was sent.
    pub(crate) const IDLE: Self = Self { next: Time::ZERO, left: 0, late: Dur::ZERO };
    /// How far ahead the next segments are put off.
    pub(crate) fn ahead(&self, now: Time) -> Dur {
        if self.next > now { self.next.since(now) } else { Dur::ZERO }
    }
}
