//! A barrier at which threads wait for each other at the end of a window.

use super::mailbox::CachePadded;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;

/// Looks before a waiting thread offers its core to others: some hundred microseconds. Most windows are shorter.
const LOOKS: u32 = 10_000;

/// Barrier for a fixed number of threads, which spin. With more threads than cores they yield instead.
#[derive(Debug)]
pub(super) struct Barrier {
    threads: usize,
    looks: u32,
    arrived: CachePadded<AtomicUsize>,
    /// Number of times that all threads have met.
    meetings: CachePadded<AtomicU64>,
    /// True if a thread panicked.
    broken: AtomicBool,
}

/// Releases the other threads if its own thread panics.
pub(super) struct Guard<'a>(&'a Barrier);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.broken.store(true, Ordering::Release);
        }
    }
}

impl Barrier {
    pub(super) fn new(threads: usize) -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        Self {
            threads,
            looks: if threads > cores { 0 } else { LOOKS },
            arrived: CachePadded::default(),
            meetings: CachePadded::default(),
            broken: AtomicBool::new(false),
        }
    }

    /// Returns the guard that each thread holds while it works.
    pub(super) fn guard(&self) -> Guard<'_> {
        Guard(self)
    }

    /// Waits for all threads; the last one to arrive runs `last` before they continue. Returns false if one of them panicked.
    pub(super) fn wait(&self, last: impl FnOnce()) -> bool {
        let meetings = self.meetings.0.load(Ordering::Relaxed);
        if self.arrived.0.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            last();
            self.arrived.0.store(0, Ordering::Relaxed);
            self.meetings.0.store(meetings + 1, Ordering::Release);
            return true;
        }
        let mut looks = 0;
        while self.meetings.0.load(Ordering::Acquire) == meetings {
            if self.broken.load(Ordering::Acquire) {
                return false;
            }
            if looks < self.looks {
                looks += 1;
                std::hint::spin_loop();
            } else {
                thread::yield_now();
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One thread of each meeting runs the last step, and no thread is ahead of another.
    #[test]
    fn threads_meet() {
        for threads in [1, 2, 3, 16] {
            let (barrier, steps, lasts) = (Barrier::new(threads), AtomicUsize::new(0), AtomicUsize::new(0));
            thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|| {
                        for meeting in 1..=200 {
                            steps.fetch_add(1, Ordering::Relaxed);
                            assert!(barrier.wait(|| {
                                assert_eq!(steps.load(Ordering::Relaxed), meeting * threads);
                                lasts.fetch_add(1, Ordering::Relaxed);
                            }));
                        }
                    });
                }
            });
            assert_eq!(lasts.into_inner(), 200);
        }
    }

    #[test]
    fn a_panic_releases_the_others() {
        let barrier = Barrier::new(2);
        thread::scope(|scope| {
            let other = scope.spawn(|| {
                let _guard = barrier.guard();
                panic!("a thread of this test fails");
            });
            assert!(!barrier.wait(|| ()));
            assert!(other.join().is_err());
        });
    }
}
