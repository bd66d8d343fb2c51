//! Where threads wait for each other at the end of a window.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Looks before a thread that waits lets others have its core. A window ends within microseconds for all, if each has a core of its own.
const LOOKS: u32 = 300;

/// A barrier for a fixed number of threads that spin for a while.
#[derive(Debug)]
pub(super) struct Turnstile {
    threads: usize,
    here: AtomicUsize,
    round: AtomicUsize,
    broken: AtomicBool,
}

/// Breaks the turnstile if its thread panics.
pub(super) struct Guard<'a>(&'a Turnstile);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.broken.store(true, Ordering::Release);
        }
    }
}

impl Turnstile {
    pub(super) fn new(threads: usize) -> Self {
        Self { threads, here: AtomicUsize::new(0), round: AtomicUsize::new(0), broken: AtomicBool::new(false) }
    }

    /// Held by each thread while it works.
    pub(super) fn guard(&self) -> Guard<'_> {
        Guard(self)
    }

    /// Waits until all are here; what each did before, all others see behind it. False if one of them will never come.
    pub(super) fn pass(&self) -> bool {
        if self.threads == 1 {
            return true;
        }
        let round = self.round.load(Ordering::Acquire);
        if self.here.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.here.store(0, Ordering::Relaxed);
            self.round.store(round.wrapping_add(1), Ordering::Release);
            return true;
        }
        let mut looks = 0;
        while self.round.load(Ordering::Acquire) == round {
            if self.broken.load(Ordering::Acquire) {
                return false;
            }
            looks += 1;
            if looks < LOOKS {
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
        true
    }
}
