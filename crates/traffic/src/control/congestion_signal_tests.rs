use super::*;
use crate::control::tests::Bench;

fn five(p: &CongestionSignalParams) -> Bench<CongestionSignal> {
    let mut b = Bench::new(p.build(&[1, 2, 2, 3, 4], &[0; 5]));
    (0..5).for_each(|f| b.begin(f));
    b
}

/// All begin active; a sign holds all that are not of the best class.
#[test]
fn a_sign_holds_the_lower_classes() {
    let mut b = five(&CongestionSignalParams::default());
    assert_eq!(b.open(), [0, 1, 2, 3, 4]);
    b.sign(3, SenderSignal::Timeout);
    assert_eq!(b.open(), [0]);
    // The next class comes when the last of the best is over; the one of 2 that continues keeps the others held.
    b.run(Dur::from_secs(1));
    b.finish(0);
    assert_eq!(b.open(), [1, 2]);
    b.finish(1);
    assert_eq!(b.open(), [2]);
    b.finish(2);
    assert_eq!(b.open(), [3]);
}

/// T_clear: five seconds after the last sign the next class comes back, and five seconds later the next.
#[test]
fn quiet_releases_class_by_class() {
    let mut b = five(&CongestionSignalParams::default());
    b.sign(0, SenderSignal::FastRetransmit);
    b.run(Dur::from_secs(4));
    b.sign(0, SenderSignal::FastRetransmit);
    b.wake();
    assert_eq!((b.open(), b.now), (vec![0, 1, 2], Time::ZERO + Dur::from_secs(9)));
    b.wake();
    assert_eq!((b.open(), b.now), (vec![0, 1, 2, 3], Time::ZERO + Dur::from_secs(14)));
    b.sign(1, SenderSignal::FastRetransmit);
    assert_eq!(b.open(), [0]);
    let mut all = five(&CongestionSignalParams { release: Release::All, ..CongestionSignalParams::default() });
    all.sign(0, SenderSignal::Timeout);
    all.wake();
    assert_eq!(all.open(), [0, 1, 2, 3, 4]);
    let mut never = five(&CongestionSignalParams { clear: None, ..CongestionSignalParams::default() });
    never.sign(0, SenderSignal::Timeout);
    assert_eq!(never.next(), Time::MAX);
}

#[test]
fn the_worst_class_alone() {
    let mut b = five(&CongestionSignalParams { hold: Hold::Worst, ..CongestionSignalParams::default() });
    for left in [vec![0, 1, 2, 3], vec![0, 1, 2], vec![0], vec![0]] {
        b.sign(0, SenderSignal::Timeout);
        assert_eq!(b.open(), left);
    }
}

#[test]
fn what_counts_as_a_sign() {
    use SenderSignal::{Echo, FastRetransmit, Timeout};
    for (signal, of) in [
        (Signal::Loss, vec![FastRetransmit, Timeout]),
        (Signal::FastRetransmit, vec![FastRetransmit]),
        (Signal::Timeout, vec![Timeout]),
        (Signal::LossOrMark, vec![FastRetransmit, Timeout, Echo]),
    ] {
        for sign in [FastRetransmit, Timeout, Echo] {
            let mut b = five(&CongestionSignalParams { signal, ..CongestionSignalParams::default() });
            b.sign(0, sign);
            assert_eq!(b.open() == [0], of.contains(&sign), "{signal:?} {sign:?}");
        }
    }
}

/// With an aging time of 10 s a held flow of priority 2 continues after 10 s, one of priority 4 after 30 s, whatever the best class does; without,
/// never.
#[test]
fn aging_releases_who_waited() {
    let p = CongestionSignalParams { aging: Some(Dur::from_secs(10)), clear: None, ..CongestionSignalParams::default() };
    let mut b = five(&p);
    b.sign(0, SenderSignal::Timeout);
    for (left, at) in [(vec![0, 1, 2], 10), (vec![0, 1, 2, 3], 20), (vec![0, 1, 2, 3, 4], 30)] {
        b.wake();
        assert_eq!((b.open(), b.now), (left, Time::ZERO + Dur::from_secs(at)));
    }
    // All of them count as of priority 1 by now: a sign holds none.
    b.sign(0, SenderSignal::Timeout);
    assert_eq!(b.open().len(), 5);
}
