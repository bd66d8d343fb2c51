//! Routes that change during a run. What changes them is known before it, so all of them are laid when the world is built, and at its time an endpoint's
//! packets begin to take another one. Packets that are under way keep the route they began with.

use fairlane_units::Time;
use std::sync::Arc;

/// From a time on, an endpoint's packets take another route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) at: Time,
    pub(crate) ep: u32,
    /// Where its hops begin.
    pub(crate) route: u32,
    /// Where those of the route before begin.
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
    /// The routes that an endpoint's packets left after `from`, up to `now`, for another one.
    pub(crate) fn left(&self, ep: u32, from: Time, now: Time) -> impl Iterator<Item = u32> + '_ {
        self.changes.iter().filter(move |c| c.ep == ep && c.at > from && c.at <= now).map(|c| c.before)
    }
    /// When the next one is due.
    pub(crate) fn next(&self) -> Option<Time> {
        self.changes.get(self.next).map(|c| c.at)
    }
    /// The next change that is due by now.
    pub(crate) fn due(&mut self, now: Time) -> Option<Change> {
        let change = *self.changes.get(self.next).filter(|c| c.at <= now)?;
        self.next += 1;
        Some(change)
    }
}
