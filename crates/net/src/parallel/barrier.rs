//! Where threads wait for the next window.

use super::mailbox::Aside;
use fairlane_units::Time;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::Thread;

/// Looks before a thread that waits goes to sleep: some hundred microseconds. A window ends sooner, if each thread has a core of its own.
const LOOKS: u32 = 10_000;
/// The number of the window behind the last one.
pub(super) const OVER: u64 = u64::MAX;

/// Threads that wait for windows: whoever is let in takes parts of one, and nobody waits for a thread that has taken none.
#[derive(Debug)]
pub(super) struct Turnstile {
    open: Aside<Open>,
    seats: Vec<Aside<Seat>>,
}

/// The window that is open.
#[derive(Debug, Default)]
struct Open {
    window: AtomicU64,
    /// The threads that are let in, a bit each.
    inside: AtomicU64,
    /// Its end, in picoseconds.
    end: AtomicU64,
}

#[derive(Debug, Default)]
struct Seat {
    thread: OnceLock<Thread>,
    asleep: AtomicBool,
}

/// Ends everything if its thread panics.
pub(super) struct Guard<'a>(&'a Turnstile);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.open(OVER, u64::MAX, Time::MAX);
        }
    }
}

impl Turnstile {
    /// For so many threads, of which those of `inside` are let in.
    pub(super) fn new(threads: usize, window: u64, inside: u64, end: Time) -> Self {
        let open = Open { window: AtomicU64::new(window), inside: AtomicU64::new(inside), end: AtomicU64::new(end.as_ps()) };
        Self { open: Aside(open), seats: (0..threads).map(|_| Aside::default()).collect() }
    }

    /// Held by thread `own` while it works.
    pub(super) fn enter(&self, own: usize) -> Guard<'_> {
        self.seats[own].0.thread.get_or_init(std::thread::current);
        Guard(self)
    }

    /// A window begins, for these threads. What was done before all that come through see.
    pub(super) fn open(&self, window: u64, inside: u64, end: Time) {
        let open = &self.open.0;
        // Where one thread has failed, that is the end for all.
        if open.window.load(Ordering::Relaxed) == OVER {
            return;
        }
        open.inside.store(inside, Ordering::Relaxed);
        open.end.store(end.as_ps(), Ordering::Relaxed);
        open.window.store(window, Ordering::SeqCst);
        for (_, Aside(seat)) in self.seats.iter().enumerate().filter(|(i, _)| inside >> i & 1 == 1) {
            if seat.asleep.load(Ordering::SeqCst)
                && let Some(thread) = seat.thread.get()
            {
                thread.unpark();
            }
        }
    }

    /// Whether a thread may take parts of the open window.
    fn lets_in(&self, thread: usize) -> bool {
        self.open.0.inside.load(Ordering::Relaxed) >> thread & 1 == 1
    }

    /// The window that thread `own` may take parts of, if that is not the one it has `seen`, and its end: of a window that is over, that of a later one.
    fn look(&self, own: usize, seen: u64) -> Option<(u64, Time)> {
        let open = &self.open.0;
        let window = open.window.load(Ordering::SeqCst);
        (window != seen && (window == OVER || self.lets_in(own))).then(|| (window, Time::from_ps(open.end.load(Ordering::Relaxed))))
    }

    /// Whether a window is still open, and thread `whose` let in.
    pub(super) fn waits_for(&self, whose: usize, window: u64) -> bool {
        self.open.0.window.load(Ordering::Relaxed) == window && self.lets_in(whose)
    }

    /// Waits for another window than the one that thread `own` has `seen`.
    pub(super) fn pass(&self, own: usize, seen: u64) -> (u64, Time) {
        for _ in 0..LOOKS {
            if let Some(window) = self.look(own, seen) {
                return window;
            }
            std::hint::spin_loop();
        }
        let seat = &self.seats[own].0;
        seat.asleep.store(true, Ordering::SeqCst);
        let window = loop {
            if let Some(window) = self.look(own, seen) {
                break window;
            }
            std::thread::park();
        };
        seat.asleep.store(false, Ordering::Relaxed);
        window
    }
}
