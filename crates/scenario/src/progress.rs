//! How far runs have come.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// How far a set of runs has come; read and stopped from other threads.
#[derive(Debug, Default)]
pub struct Progress {
    pub(crate) runs: AtomicUsize,
    pub(crate) finished: AtomicUsize,
    events: AtomicU64,
    /// Simulated time done, in millionths of a run.
    parts: AtomicU64,
    stop: AtomicBool,
}

impl Progress {
    /// Share of all simulated time that is done, 0..=1.
    pub fn fraction(&self) -> f64 {
        let runs = self.runs.load(Ordering::Relaxed).max(1) as f64;
        (self.parts.load(Ordering::Relaxed) as f64 / (runs * 1e6)).min(1.0)
    }
    /// Finished runs.
    pub fn done(&self) -> usize {
        self.finished.load(Ordering::Relaxed)
    }
    /// Events carried out in all runs.
    pub fn events(&self) -> u64 {
        self.events.load(Ordering::Relaxed)
    }
    /// Asks all runs to end soon.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
    /// One of the runs has moved on: by so many millionths of its span, and so many events.
    pub(crate) fn moved(&self, parts: u64, events: u64) {
        self.parts.fetch_add(parts, Ordering::Relaxed);
        self.events.fetch_add(events, Ordering::Relaxed);
    }
}
