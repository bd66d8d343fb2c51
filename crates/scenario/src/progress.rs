//! How far runs have come.

use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Sets of runs so far in this process.
static SETS: AtomicU64 = AtomicU64::new(1);

/// How far a set of runs has come; read and stopped from other threads.
#[derive(Debug)]
pub struct Progress {
    number: u64,
    pub(crate) runs: AtomicUsize,
    pub(crate) finished: AtomicUsize,
    events: AtomicU64,
    /// Simulated time done, in millionths of a run.
    parts: AtomicU64,
    stop: AtomicBool,
    listener: Option<Listener>,
}

/// Somebody who is asked now and then, on a thread that runs, whether to go on.
struct Listener {
    every: Duration,
    asked: Mutex<Instant>,
    goes_on: Box<dyn Fn(&Progress) -> bool + Send + Sync>,
}

impl Listener {
    /// Whether it is time to ask; one of several threads does.
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
    /// The number of the set, one that no other set of this process has.
    pub fn number(&self) -> u64 {
        self.number
    }
    /// One that asks, not more often than `every`, whether the runs are to go on: for a caller whose own thread runs, and who cannot look meanwhile.
    pub fn asking(every: Duration, goes_on: impl Fn(&Self) -> bool + Send + Sync + 'static) -> Self {
        Self { listener: Some(Listener { every, asked: Mutex::new(Instant::now()), goes_on: Box::new(goes_on) }), ..Self::default() }
    }
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
        if let Some(listener) = self.listener.as_ref().filter(|l| l.due())
            && !(listener.goes_on)(self)
        {
            self.stop();
        }
        self.stop.load(Ordering::Relaxed)
    }
    /// One of the runs has moved on: by so many millionths of its span, and so many events.
    pub(crate) fn moved(&self, parts: u64, events: u64) {
        self.parts.fetch_add(parts, Ordering::Relaxed);
        self.events.fetch_add(events, Ordering::Relaxed);
    }
}
