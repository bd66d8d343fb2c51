//! How many threads carry on, judged by the clock: several threads take turns with one, and go on only where that takes less time.
//!
//! Nothing of it can be seen in results, which do not depend on who carries out a part, or when. A thread that has to wait for a core in the middle of a
//! part makes all others wait for the end of the window. What that costs is held against what one thread takes for as many events; where it comes to more,
//! fewer threads go on for some times as long as was lost, and each time it happens again for twice as long. So the loss is a tenth at most, however busy the machine is.

use std::time::Duration;

/// What several threads may lose against one before there are fewer, and how much of what they gained before is held against that: nanoseconds. A core that is away for
/// some milliseconds now and then is no reason to go on without it.
const PATIENCE: f64 = 2e6;
const CREDIT: f64 = 2e7;
/// So many times as long as was lost fewer threads go on, and the doublings of it.
const REST: f64 = 10.0;
const DOUBLINGS: u32 = 6;
/// How long one thread is measured, and how long several then go on unless they lose.
const PROBE: Duration = Duration::from_millis(2);
const STRETCH: Duration = Duration::from_millis(100);
/// What one thread took is forgotten by half when so much has been measured: nanoseconds.
const MEMORY: f64 = 4e7;

/// Decides how many threads take parts of the next window.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    most: usize,
    /// Threads that go on together when one is not at work alone.
    level: usize,
    alone: bool,
    /// When that is looked at again.
    ends: Duration,
    /// The clock, and the events that were over, at the end of the window before.
    seen: (Duration, u64),
    /// Nanoseconds and events of one thread.
    one: (f64, f64),
    lost: f64,
    /// How often in a row too much was lost.
    failed: u32,
}

impl Pace {
    pub(super) fn new(threads: usize) -> Self {
        let zero = Duration::ZERO;
        Self { most: threads, level: threads, alone: true, ends: PROBE, seen: (zero, 0), one: (0.0, 0.0), lost: 0.0, failed: 0 }
    }

    /// A stretch begins, of so many threads at most. How many begin it.
    pub(super) fn begin(&mut self, threads: usize, clock: Duration, events: u64) -> usize {
        if self.most != threads {
            *self = Self::new(threads);
            self.ends += clock;
        }
        self.seen = (clock, events);
        self.threads()
    }

    /// A window is over. How many threads take parts of the next one.
    pub(super) fn next(&mut self, clock: Duration, events: u64) -> usize {
        let took = clock.saturating_sub(self.seen.0).as_nanos() as f64;
        let did = events.saturating_sub(self.seen.1) as f64;
        self.seen = (clock, events);
        if self.alone {
            self.one = (self.one.0 + took, self.one.1 + did);
            if self.one.0 > MEMORY {
                self.one = (self.one.0 / 2.0, self.one.1 / 2.0);
            }
            if clock >= self.ends && self.one.1 > 0.0 {
                (self.alone, self.ends) = (false, clock + STRETCH);
            }
            return self.threads();
        }
        self.lost = (self.lost + took - did * self.one.0 / self.one.1).max(-CREDIT);
        if self.lost > PATIENCE {
            let rest = Duration::from_nanos((REST * self.lost) as u64) * (1 << self.failed);
            self.failed = (self.failed + 1).min(DOUBLINGS);
            self.alone = self.level <= 2;
            (self.level, self.lost, self.ends) = ((self.level / 2).max(2), 0.0, clock + rest);
        } else if clock >= self.ends {
            self.failed = self.failed.saturating_sub(1);
            (self.alone, self.level, self.ends) = (true, (2 * self.level).min(self.most), clock + PROBE);
        }
        self.threads()
    }

    fn threads(&self) -> usize {
        if self.alone { 1 } else { self.level.min(self.most) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs so many milliseconds' worth of windows, of 200 µs on one thread, where a window on `n` threads takes what `cost` says of its number. The clock at the end.
    fn run(threads: usize, windows: u64, cost: impl Fn(usize, u64) -> f64) -> (f64, Vec<usize>) {
        let mut pace = Pace::new(threads);
        let (mut clock, mut seen) = (0.0, Vec::new());
        let mut n = pace.begin(threads, Duration::ZERO, 0);
        for w in 0..windows {
            seen.push(n);
            clock += cost(n, w);
            n = pace.next(Duration::from_nanos((clock * 1e9) as u64), 4000 * (w + 1));
        }
        (clock, seen)
    }

    const ONE: f64 = 200e-6;

    /// Where threads have cores of their own all go on, but for a few looks at what one of them takes.
    #[test]
    fn on_a_quiet_machine_all_threads_go_on() {
        for threads in [2, 4, 7] {
            let (clock, seen) = run(threads, 5000, |n, _| ONE / (0.8 * n as f64).max(1.0));
            let alone = seen.iter().filter(|n| **n == 1).count();
            assert!(seen.iter().all(|n| [1, threads].contains(n)) && alone < 500, "{threads}: {alone}");
            assert!(clock < 5000.0 * ONE / (0.8 * threads as f64) * 1.15, "{threads}: {clock}");
        }
    }

    /// However long threads wait for a core, little is lost against one thread.
    #[test]
    fn a_busy_machine_costs_a_bounded_share() {
        for threads in [2, 3, 8] {
            for wait in [1.05, 2.0, 10.0, 100.0] {
                let (clock, _) = run(threads, 5000, |n, _| if n == 1 { ONE } else { ONE * wait });
                assert!(clock < 5000.0 * ONE * 1.2, "{threads} threads, {wait} times: {clock}");
            }
        }
    }

    /// A core that is away for 5 ms ten times a second does not take the gain away.
    #[test]
    fn rare_stalls_are_borne() {
        let stalled = |w: u64| if w % 800 == 799 { 5e-3 } else { 0.0 };
        let (clock, seen) = run(2, 20_000, |n, w| if n == 1 { ONE } else { ONE / 1.6 + stalled(w) });
        assert!(seen.iter().filter(|n| **n == 2).count() > 18_500 && clock < 20_000.0 * ONE / 1.4, "{clock}");
    }

    /// Where two threads gain and four lose, two go on nearly all the time.
    #[test]
    fn as_many_go_on_as_pay() {
        let (clock, seen) = run(4, 10_000, |n, _| if n == 4 { ONE * 5.0 } else { ONE / n as f64 });
        assert!(seen.iter().filter(|n| **n == 2).count() > 8500, "{clock}");
    }

    /// When the other work ends, all threads come back.
    #[test]
    fn threads_come_back() {
        let (_, seen) = run(2, 40_000, |n, w| {
            if n == 1 {
                ONE
            } else if w < 1000 {
                ONE * 20.0
            } else {
                ONE / 1.6
            }
        });
        assert!(seen[35_000..].iter().filter(|n| **n == 2).count() > 4500);
    }
}
