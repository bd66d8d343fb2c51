//! Progress of runs.

use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Number of the next set of runs in this process.
static SETS: AtomicU64 = AtomicU64::new(1);

/// Progress of a set of runs; other threads read it and may stop the runs.
#[derive(Debug)]
pub struct Progress {
    number: u64,
    pub(crate) runs: AtomicUsize,
    pub(crate) finished: AtomicUsize,
    events: AtomicU64,
    /// Finished simulated time, in millionths of a run.
    parts: AtomicU64,
    stop: AtomicBool,
    listener: Option<Listener>,
}

/// Callback that a run thread asks at intervals whether to continue.
struct Listener {
    every: Duration,
    asked: Mutex<Instant>,
    goes_on: Box<dyn Fn(&Progress) -> bool + Send + Sync>,
}

impl Listener {
    /// True if it is time to ask; only one of several threads gets true.
    fn due(&self) -> bool {
        let Ok(mut asked) = self.asked.try_lock() else { return false };
        let due = asked.elapsed() >= self.every;
        if due {
            *asked = Instant::now();
        }
        due
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener").field("every", &self.every).finish_non_exhaustive()
    }
}

impl Default for Progress {
    fn default() -> Self {
        Self {
            number: SETS.fetch_add(1, Ordering::Relaxed),
            runs: AtomicUsize::new(0),
            finished: AtomicUsize::new(0),
            events: AtomicU64::new(0),
            parts: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            listener: None,
        }
    }
}

impl Progress {
    /// Number of the set, unique in this process.
    pub fn number(&self) -> u64 {
        self.number
    }
    /// Creates a progress that asks `goes_on` at most once per interval `every`: for a caller whose own thread executes the runs.
    pub fn asking(every: Duration, goes_on: impl Fn(&Self) -> bool + Send + Sync + 'static) -> Self {
        Self { listener: Some(Listener { every, asked: Mutex::new(Instant::now()), goes_on: Box::new(goes_on) }), ..Self::default() }
    }
    /// Finished share of all simulated time, 0..=1.
    pub fn fraction(&self) -> f64 {
        let runs = self.runs.load(Ordering::Relaxed).max(1) as f64;
        (self.parts.load(Ordering::Relaxed) as f64 / (runs * 1e6)).min(1.0)
    }
    /// Number of finished runs.
    pub fn done(&self) -> usize {
        self.finished.load(Ordering::Relaxed)
    }
    /// Events executed in all runs.
    pub fn events(&self) -> u64 {
        self.events.load(Ordering::Relaxed)
    }
    /// Asks all runs to stop soon.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
    pub(crate) fn stopped(&self) -> bool {
        if let Some(listener) = self.listener.as_ref().filter(|l| l.due())
            && !(listener.goes_on)(self)
        {
            self.stop();
        }
        self.stop.load(Ordering::Relaxed)
    }
    /// Adds progress of one run: millionths of its span, and events.
    pub(crate) fn moved(&self, parts: u64, events: u64) {
        self.parts.fetch_add(parts, Ordering::Relaxed);
        self.events.fetch_add(events, Ordering::Relaxed);
    }
}
