use super::*;
use fairlane_testkit::cases;
use proptest::prelude::*;

fn ms(x: u64) -> Time {
    Time::from_ps(x * PS_PER_MS)
}

fn trace(ms: &[u64]) -> Opportunities {
    Opportunities::new(ms.into()).unwrap()
}

/// Opportunities at 2, 5, 5 and 10 ms, then 12, 15, 15, 20...: each line worked out by hand.
#[test]
fn a_tiny_trace_by_hand() {
    let mut o = trace(&[2, 5, 5, 10]);
    // Came at 0: the first opportunity is at 2.
    assert_eq!(o.end(ms(0), ms(0), 1500), ms(2));
    // Waited: 3000 bytes need both of 5 ms.
    assert_eq!(o.end(ms(0), ms(2), 3000), ms(5));
    // Waited: 500 bytes at 10 ms, and behind it 900 and 100 in the rest of the same.
    assert_eq!(o.end(ms(1), ms(5), 500), ms(10));
    assert_eq!(o.end(ms(1), ms(10), 900), ms(10));
    assert_eq!(o.end(ms(1), ms(10), 100), ms(10));
    // Nothing is left: the trace repeats from 10 ms on, so 12 ms.
    assert_eq!(o.end(ms(1), ms(10), 40), ms(12));
    // One that comes at the very instant of 12 ms has no part in it.
    assert_eq!(o.end(ms(12), ms(12), 40), ms(15));
    // The link was idle until 31 ms: 20, 22, 25, 25 and 30 are lost, 32 is next.
    assert_eq!(o.end(ms(31), ms(31), 1501), ms(35));
    // The rest of the first opportunity at 35 carries 1499 bytes, the second one 1 more.
    assert_eq!(o.end(ms(31), ms(35), 1500), ms(35));
}

#[test]
fn a_packet_larger_than_an_opportunity_needs_several() {
    let mut o = trace(&[1]);
    // 65,535 bytes: 43.69 opportunities of 1500.
    assert_eq!(o.end(ms(0), ms(0), 65_535), ms(44));
    // The rest, 465 bytes, for one that waited, not for one that comes then.
    assert_eq!(o.clone().end(ms(3), ms(44), 465), ms(44));
    assert_eq!(o.clone().end(ms(3), ms(44), 466), ms(45));
    assert_eq!(o.end(ms(44), ms(44), 465), ms(45));
}

#[test]
fn what_is_not_a_trace() {
    for bad in [&[][..], &[0], &[0, 0], &[5, 3], &[u64::MAX]] {
        assert_eq!(Opportunities::new(bad.into()), None, "{bad:?}");
    }
    assert_eq!(trace(&[0, 7]).rate(), Rate::from_bps(2 * 12_000 * 1000 / 7));
    assert_eq!(trace(&[1]).rate(), Rate::from_mbps(12));
}

/// The trace 2, 5, 5, 10 carries four full packets every 10 ms.
#[test]
fn capacity_counts_opportunities() {
    let s = Schedule::Opportunities(trace(&[2, 5, 5, 10]));
    for (from, to, want) in [(0, 2, 1), (2, 5, 2), (5, 9, 0), (0, 10, 4), (9, 12, 2), (0, 100, 40), (13, 113, 40)] {
        assert_eq!(s.capacity(ms(from), ms(to)), f64::from(want * 12_000), "{from} {to}");
    }
}

/// 8 Mbit/s carry 1000 bytes per millisecond. From 2 ms on 2 Mbit/s: a packet of 2500 bytes sent at 1 ms has 1000 through by then, the rest takes 6 ms.
#[test]
fn a_step_in_the_middle_of_a_packet() {
    let mut s = Steps::new(Rate::from_mbps(8), [(ms(2), Rate::from_mbps(2)), (ms(20), Rate::from_mbps(8))]);
    assert_eq!(s.end(ms(0), 1000), ms(1));
    assert_eq!(s.end(ms(1), 1000), ms(2));
    assert_eq!(s.end(ms(1), 2500), ms(8));
    assert_eq!(s.end(ms(2), 1000), ms(6));
    // 19 ms: 250 bytes until 20 ms, then 1000 bytes per millisecond.
    assert_eq!(s.end(ms(19), 1250), ms(21));
    assert_eq!(s.end(ms(20), 1000), ms(21));
    let s = Schedule::Steps(s);
    assert_eq!(s.capacity(ms(1), ms(21)), 8000.0 + 36_000.0 + 8000.0);
}

#[test]
fn an_outage_holds_packets_and_a_last_rate_of_zero_for_ever() {
    let mut s = Steps::new(Rate::from_mbps(8), [(ms(2), Rate::from_bps(0)), (ms(9), Rate::from_mbps(8))]);
    assert_eq!(s.end(ms(3), 1000), ms(10));
    assert_eq!(s.end(ms(1), 2000), ms(10));
    let mut end = Steps::new(Rate::from_mbps(8), [(ms(2), Rate::from_bps(0))]);
    assert_eq!(end.end(ms(1), 1000), ms(2));
    assert_eq!(end.end(ms(3), 1).as_ps(), NEVER);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(256)))]
    /// Changes made one by one, in any order, are those of a schedule, and carry the integral of the rate.
    #[test]
    fn changes_make_a_schedule(changes in prop::collection::vec((1_u64..1000, 0_u64..40), 0..20), from in 0_u64..1000, len in 0_u64..500) {
        let then: Vec<(Time, Rate)> = changes.iter().map(|&(t, r)| (ms(t), Rate::from_mbps(r))).collect();
        let mut made = Steps::new(Rate::from_mbps(5), []);
        then.iter().for_each(|&(t, rate)| _ = made.change(t, rate, Time::ZERO));
        let mut sorted = then.clone();
        sorted.sort_by_key(|s| s.0);
        prop_assert_eq!(&made, &Steps::new(Rate::from_mbps(5), sorted.iter().copied()));
        // Rates hold for whole milliseconds.
        let rate = |t: u64| sorted.iter().rev().find(|s| s.0 <= ms(t)).map_or(5e6, |s| s.1.as_bps() as f64);
        let sum: f64 = (from..from + len).map(|t| rate(t) * 1e-3).sum();
        let carried = Schedule::Steps(made).capacity(ms(from), ms(from + len));
        prop_assert!((carried - sum).abs() < 1e-3, "{} {}", carried, sum);
    }

    /// A link that is never idle carries 1500 bytes for each opportunity, whatever the sizes of the packets.
    #[test]
    fn a_busy_link_loses_nothing(gaps in prop::collection::vec(0_u64..40, 1..30), sizes in prop::collection::vec(1_u32..4000, 1..200)) {
        let times: Vec<u64> = gaps.iter().scan(0, |t, g| { *t += g; Some(*t) }).collect();
        prop_assume!(times.last() > Some(&0));
        let mut o = trace(&times);
        // Opportunities at time 0 come before any packet.
        let at_zero = o.until(Time::ZERO);
        let mut now = Time::ZERO;
        let mut bytes = 0_u64;
        for size in sizes {
            // Came one picosecond before its turn.
            now = o.end(Time::from_ps(now.as_ps().saturating_sub(1)), now, size);
            bytes += u64::from(size);
            let nth = bytes.div_ceil(u64::from(OPPORTUNITY)) + at_zero;
            prop_assert!(o.until(now) >= nth && now.as_ps() > 0);
            prop_assert!(o.until(Time::from_ps(now.as_ps() - 1)) < nth, "later than it could have been");
        }
    }

    /// Steps that all have one rate are that rate, to the picosecond.
    #[test]
    fn equal_steps_are_a_constant_rate(bps in 1_u64..10_000_000_000, len in 1_u32..65_536, cuts in prop::collection::vec(1_u64..1_000_000_000_000, 0..20)) {
        let mut at: Vec<u64> = cuts;
        at.sort_unstable();
        let rate = Rate::from_bps(bps);
        let mut s = Steps::new(rate, at.iter().map(|&t| (Time::from_ps(t), rate)));
        prop_assert_eq!(s.end(Time::from_ps(77), len), Time::from_ps(77) + rate.tx_time(u64::from(len)));
    }
}
