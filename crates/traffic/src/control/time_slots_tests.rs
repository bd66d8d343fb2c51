use super::*;
use crate::control::tests::Bench;

fn secs(s: f64) -> Time {
    Time::from_ps((s * 1e12) as u64)
}

/// The rule of the paper: 2^(9-P) slots, so 256, 128, 64, 32, 16 and 8; two priorities differ by |2^(9-i) - 2^(9-j)| (its formula |2^i - 2^j| is
/// a slip).
#[test]
fn slots_of_a_turn() {
    let p = TimeSlotsParams::default();
    assert_eq!(p.slots, [256, 128, 64, 32, 16, 8]);
    let mut b = Bench::new(p.build(&[1, 2, 3, 4, 5, 6], &[0; 6]));
    (0..6).for_each(|f| b.begin(f));
    b.wake();
    let mut at = 0.0;
    for (f, turn) in [25.6, 12.8, 6.4, 3.2, 1.6, 0.8].into_iter().enumerate() {
        assert_eq!(b.open(), [f]);
        assert_eq!(b.now, secs(at));
        at += turn;
        b.wake();
    }
    assert_eq!((b.open(), b.now), (vec![0], secs(at)));
}

/// One at a time; a flow that finishes gives up the rest of its turn; the last one keeps it.
#[test]
fn a_finished_flow_leaves_the_ring() {
    let mut b = Bench::new(TimeSlotsParams::default().build(&[4, 4, 4], &[0; 3]));
    assert!(b.open().is_empty());
    (0..3).for_each(|f| b.begin(f));
    b.wake();
    b.run(Dur::from_secs(1));
    b.finish(0);
    assert_eq!(b.open(), [1]);
    b.wake();
    assert_eq!((b.open(), b.now), (vec![2], secs(4.2)));
    b.finish(1);
    assert_eq!(b.open(), [2]);
    b.wake();
    b.wake();
    assert_eq!((b.open(), b.now, b.orders_of(2)), (vec![2], secs(10.6), 1));
    b.finish(2);
    assert_eq!((b.open(), b.next()), (vec![], Time::MAX));
}

/// Who comes later waits for the place in the ring.
#[test]
fn a_late_flow_takes_its_place() {
    let mut b = Bench::new(TimeSlotsParams::default().build(&[4, 4, 4], &[0; 3]));
    b.begin(0);
    b.begin(2);
    b.wake();
    b.run(Dur::from_secs(1));
    b.begin(1);
    let turns: Vec<usize> = (0..6)
        .map(|_| {
            b.wake();
            b.open()[0]
        })
        .collect();
    assert_eq!(turns, [1, 2, 0, 1, 2, 0]);
}

#[test]
fn orders_of_the_ring() {
    let ring = |order| TimeSlotsParams { order, ..TimeSlotsParams::default() }.build(&[2, 1, 3, 1], &[0, 1, 0, 1]).ring;
    assert_eq!(ring(RingOrder::File), [0, 1, 2, 3]);
    assert_eq!(ring(RingOrder::Interleaved), [0, 2, 1, 3]);
    assert_eq!(ring(RingOrder::Priority), [1, 3, 0, 2]);
}

/// A flow of priority 4 competes with one of priority 1: after 25.6 s of waiting with an aging of 10 s it counts as one of priority 2 and has 128 slots;
/// in the next round as one of priority 1. Without aging it has 32 for ever.
#[test]
fn waiting_makes_turns_longer() {
    let turns = |aging| {
        let mut b = Bench::new(TimeSlotsParams { aging, ..TimeSlotsParams::default() }.build(&[1, 4], &[0; 2]));
        (0..2).for_each(|f| b.begin(f));
        let mut lengths = vec![];
        for _ in 0..6 {
            b.wake();
            if b.open() == [1] {
                lengths.push((b.next() - b.now).as_ps() / 1_000_000_000);
            }
        }
        lengths
    };
    assert_eq!(turns(None), [3200; 3]);
    assert_eq!(turns(Some(Dur::from_secs(10))), [12_800, 25_600, 25_600]);
}

#[test]
fn a_number_of_slots_for_each_priority() {
    let p = TimeSlotsParams { slots: vec![8, 4], ..TimeSlotsParams::default() };
    assert_eq!(p.check().unwrap_err().field, "slots");
}
