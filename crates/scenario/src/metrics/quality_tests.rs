use super::*;

const G711: Impairment = Impairment { ie: 0.0, bpl: 25.1 };

fn ms(n: u64) -> Dur {
    Dur::from_ms(n)
}

/// Counters of packets with these delays in milliseconds.
fn packets(delays: impl IntoIterator<Item = u64>) -> FlowCounters {
    let mut c = FlowCounters::default();
    delays.into_iter().for_each(|d| c.delay.add(ms(d).as_ps()));
    c
}

fn call(min: u64, max: u64) -> Call {
    Call { impairment: Some(G711), before: ms(20), buffer: [ms(min), ms(max)] }
}

/// 20 ms of speech in a packet, 30 ms in the network and 40 ms in a fixed buffer are 90 ms from mouth to ear; the histogram knows 30 ms to 1/64.
#[test]
fn a_fixed_buffer_delays_and_discards() {
    let v = Voice::of(&packets([30; 100]), &call(40, 40));
    assert!((v.delay() - 0.090).abs() < 0.030 / 64.0 && v.discarded() == 0.0, "{v:?}");
    assert!((v.rating() - rating(ms(90), 0.0, G711)).abs() < 0.05, "{}", v.rating());
    assert_eq!(v.mos(), mos(v.rating()));
    // A tenth is 60 ms late, too late by 20 ms: as if it were lost.
    let v = Voice::of(&packets((0..100).map(|i| if i % 10 == 0 { 90 } else { 30 })), &call(40, 40));
    assert!((v.discarded() - 0.1).abs() < 1e-12, "{v:?}");
    assert!((v.rating() - rating(ms(90), 0.1, G711)).abs() < 0.05, "{}", v.rating());
    let mut c = packets((0..100).map(|i| if i % 10 == 0 { 90 } else { 30 }));
    c.drops[0] += 100;
    let v = Voice::of(&c, &call(40, 40));
    assert!((v.discarded() - 0.05).abs() < 1e-12 && (v.rating() - rating(ms(90), 0.55, G711)).abs() < 0.05, "{v:?}");
}

/// A buffer that may be longer waits for the late tenth: 60 ms cost less than a loss of 10 %. It does not wait for two packets in a thousand that are 1 s late.
#[test]
fn a_buffer_that_adapts_takes_what_serves_the_call_best() {
    let v = Voice::of(&packets((0..100).map(|i| if i % 10 == 0 { 90 } else { 30 })), &call(20, 200));
    assert!((v.delay() - 0.110).abs() < 0.004 && v.discarded() == 0.0, "{v:?}");
    let v = Voice::of(&packets((0..1000).map(|i| if i % 500 == 0 { 1030 } else { 30 })), &call(20, 2000));
    assert!((v.delay() - 0.070).abs() < 0.001 && (v.discarded() - 0.002).abs() < 1e-12, "{v:?}");
    // Of all lengths none is better.
    let c = packets((0..500).map(|i| 30 + i * i / 1500));
    let best = Voice::of(&c, &call(20, 200)).rating();
    assert!((20..=200).all(|b| Voice::of(&c, &call(b, b)).rating() <= best + 1e-9), "{best}");
}

#[test]
fn what_is_no_call_has_no_quality() {
    let none = Voice::of(&packets([]), &call(20, 200));
    assert!(none.mos().is_nan() && none.rating().is_nan() && none.discarded().is_nan());
    assert!(Voice::of(&packets([30; 9]), &Call { impairment: None, ..call(20, 200) }).mos().is_nan());
    assert!(Video::of(None, Time::ZERO).stalls().is_nan() && Video::of(None, Time::ZERO).stalled_share().is_nan());
    // All packets lost: what the equation gives of the codec alone, far beyond the 20 % for which G.107 is made.
    let mut c = packets([]);
    c.drops[0] += 5;
    assert_eq!(Voice::of(&c, &call(20, 200)).mos(), mos(rating(ms(40), 1.0, G711)));
}
