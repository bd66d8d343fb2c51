//! The steps per event grow at most with the logarithm of the number of events, wherever they lie in time.

use fairlane_engine::{EventQueue, QuadHeap, Slot, Sorted, Stream, Tournament, Wheel};
use fairlane_testkit::growth::assert_logarithmic;
use fairlane_units::Time;

/// When the next event of a source comes after its last one, in picoseconds.
type Pause = fn(&mut Stream, now: u64, n: usize) -> u64;

const PATTERNS: [(&str, Pause); 6] = [
    // One bucket of a new wheel, 1 us, holds all events.
    ("dense", |rng, _, _| 1 + rng.below(100_000)),
    ("simultaneous", |_, now, _| 1_000_000 - now % 1_000_000),
    // A link of 10 Gbit/s for each source.
    ("regular", |_, _, _| 1_200_000),
    ("links and timers", |rng, _, _| if rng.below(8) == 0 { 200_000_000_000 } else { 1_000_000 + rng.below(1_200_000) }),
    ("wide", |rng, _, _| 1 << rng.below(38)),
    // The density changes a thousandfold every 10 us.
    ("bursts", |rng, now, n| if now / 10_000_000 % 2 == 0 { 1 + rng.below(n as u64 * 10) } else { 20_000_000 + rng.below(20_000_000) }),
];

/// `n` sources whose first events are at once, in order of their numbers; each event is followed by the next of its source.
fn hold<Q: EventQueue>(n: usize, pause: Pause) -> usize {
    let mut rng = Stream::new(1, "test", "growth", "");
    let mut queue = Q::with_slots(n);
    (0..n as Slot).for_each(|slot| queue.push_of(slot, Time::ZERO, slot));
    let events = 20 * n;
    for _ in 0..events {
        let (time, slot, _) = queue.pop_of(Time::MAX, |_, slot| slot).expect("each event is followed by another");
        let now = time.as_ps();
        queue.push_of(slot, Time::from_ps(now + pause(&mut rng, now, n)), slot);
    }
    events
}

fn bounded<Q: EventQueue>(name: &str) {
    for (pattern, pause) in PATTERNS {
        assert_logarithmic(&format!("{name}, {pattern}"), 1024, |n| hold::<Q>(n, pause));
    }
}

#[test]
fn steps_per_event_are_bounded() {
    bounded::<QuadHeap<u64>>("heap");
    bounded::<QuadHeap<u128>>("heap with 128 bits");
    bounded::<Sorted<u64>>("sorted array");
    bounded::<Tournament<u64>>("tournament");
    bounded::<Wheel<u64>>("wheel");
    bounded::<Wheel<u128>>("wheel with 128 bits");
}
