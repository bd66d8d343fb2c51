use super::*;
use crate::event::EventQueue;
use crate::stream::Stream;
use fairlane_units::Time;

/// A long random mix of pushes and pops, near, far and simultaneous, against a sorted set.
fn same_as_a_sorted_set<Q: EventQueue>() {
    for seed in 0..6 {
        let mut rng = Stream::new(seed, "test", "queue", "");
        let (mut queue, mut model) = (Q::with_slots(1000), std::collections::BTreeSet::new());
        let mut now = 0_u64;
        for step in 0..60_000_u64 {
            let burst = if step % 10_000 < 3_000 { 600 } else { 20 };
            if model.len() < burst {
                let scale = [1, 1_000, 1_000_000, 1_000_000_000, 100_000_000_000][rng.below(5) as usize];
                let event = (Time::from_ps(now + rng.below(50) * scale), rng.below(1000) as u32);
                if model.insert(event) {
                    match rng.below(4) {
                        0 => queue.push(event.0, event.1),
                        _ => queue.push_of(4 * (event.1 % 700), event.0, event.1),
                    }
                }
            }
            if rng.below(3) > 0 {
                let limit = Time::from_ps(now + rng.below(1 << 40));
                let want = model.first().copied().filter(|e| e.0 <= limit);
                let got =
                    if step % 3 > 0 { queue.pop_of(limit, |_, n| 4 * (n % 700)).map(|(t, n, _)| (t, n)) } else { queue.pop_until(limit) };
                assert_eq!(got, want, "step {step}");
                if let Some(e) = want {
                    model.remove(&e);
                    now = e.0.as_ps();
                }
            }
            assert_eq!(queue.len(), model.len());
        }
        while let Some(e) = model.pop_first() {
            assert_eq!(queue.pop_until(Time::MAX), Some(e));
        }
        assert_eq!(queue.pop_until(Time::MAX), None);
    }
}

#[test]
fn quad_heap_orders() {
    same_as_a_sorted_set::<QuadHeap<u64>>();
    same_as_a_sorted_set::<QuadHeap<u128>>();
}

#[test]
fn sorted_array_orders() {
    same_as_a_sorted_set::<Sorted<u64>>();
    same_as_a_sorted_set::<Sorted<u128>>();
}

#[test]
fn wheel_orders() {
    same_as_a_sorted_set::<Wheel<u64>>();
    same_as_a_sorted_set::<Wheel<u128>>();
}

#[test]
fn tournament_orders() {
    same_as_a_sorted_set::<Tournament<u64>>();
    same_as_a_sorted_set::<Tournament<u128>>();
}
