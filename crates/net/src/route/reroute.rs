//! Changes of routes during a run, because wireless stations move. All are known when the world is built. At the time of a change an endpoint's new packets
//! take another route; packets in flight keep theirs.

use fairlane_units::Time;
use std::sync::Arc;

/// Change of an endpoint's route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) at: Time,
    pub(crate) ep: u32,
    /// Index of its first hop.
    pub(crate) route: u32,
    /// Index of the first hop of the route before.
    pub(crate) before: u32,
}

/// All changes of a run, in the order of time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reroutes {
    changes: Arc<[Change]>,
    next: usize,
}

impl Reroutes {
    pub(crate) fn new(changes: Vec<Change>) -> Self {
        Self { changes: changes.into(), next: 0 }
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
    /// Routes that an endpoint left after `from` and up to `now`.
    pub(crate) fn left(&self, ep: u32, from: Time, now: Time) -> impl Iterator<Item = u32> + '_ {
        self.changes.iter().filter(move |c| c.ep == ep && c.at > from && c.at <= now).map(|c| c.before)
    }
    /// Time of the next change.
    pub(crate) fn next(&self) -> Option<Time> {
        self.changes.get(self.next).map(|c| c.at)
    }
    /// Takes the next change that is due by `now`.
    pub(crate) fn due(&mut self, now: Time) -> Option<Change> {
        let change = *self.changes.get(self.next).filter(|c| c.at <= now)?;
        self.next += 1;
        Some(change)
    }
}
