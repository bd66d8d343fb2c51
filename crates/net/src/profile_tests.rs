use super::*;
use crate::schedule::Steps;

const MS: u64 = PS_PER_SEC / 1000;

fn profile(list: &[u64]) -> Profile {
    assert_eq!(Profile::check(list), Ok(()));
    Profile::new(list.into())
}

/// Rates 1, 0 and 2 Mbit/s, each for 10 ms, by hand: 1500 bytes take 10 ms of the first, wait, and 1 ms of the third.
#[test]
fn a_transmission_crosses_rows_and_rounds() {
    let p = profile(&[1, 0, 1_000_000, 10 * MS, 0, 20 * MS, 2_000_000, 30 * MS, 0]);
    let r = ProfileRate::new(p.clone(), Value::Rate, true);
    let end = |start: u64, len| r.end(Time::from_ps(start), len).as_ps();
    assert_eq!(end(0, 1250), 10 * MS);
    assert_eq!(end(0, 1500), 21 * MS);
    assert_eq!(end(10 * MS, 1500), 26 * MS);
    // 20 kbit are left of the third row; the rest is sent in the next round.
    assert_eq!(end(20 * MS, 2500), 30 * MS);
    assert_eq!(end(20 * MS, 3000), 34 * MS);
    assert_eq!(end(300 * MS, 1500), 321 * MS);
    assert_eq!(r.mean(), Rate::from_mbps(1));
    assert_eq!(r.capacity(Time::ZERO, Time::from_ps(60 * MS)), 60_000.0);
    let once = ProfileRate::new(p, Value::Rate, false);
    assert_eq!(once.end(Time::from_ps(20 * MS), 2501), Time::from_ps(NEVER));
}

/// The rate of a profile that does not repeat is that of `Steps`, to the picosecond.
#[test]
fn the_rate_is_that_of_steps() {
    let rows = [(0, 7_654_321), (13 * MS, 999), (40 * MS, 123_456_789), (41 * MS, 10_000_000)];
    let list: Vec<u64> = [1].into_iter().chain(rows.iter().flat_map(|&(t, r)| [t, r])).collect();
    let r = ProfileRate::new(profile(&list), Value::Rate, false);
    let then = rows[1..].iter().map(|&(t, r)| (Time::from_ps(t), Rate::from_bps(r)));
    let mut steps = crate::schedule::Schedule::Steps(Steps::new(Rate::from_bps(rows[0].1), then));
    for start in (0..50 * MS).step_by(777_777_777) {
        let start = Time::from_ps(start);
        for len in [40, 1500, 65_535] {
            assert_eq!(r.end(start, len), steps.end(start, start, len), "{start:?} {len}");
        }
        let (a, b) = (r.capacity(Time::ZERO, start), steps.capacity(Time::ZERO, start));
        assert!((a - b).abs() < 1e-3, "{a} {b}");
    }
}

#[test]
fn values_are_steps_or_lines_and_repeat_or_end() {
    let p = profile(&[6, 0, 10, 100, 4, 30, 500, 8, 20, 0]);
    let at = |value, t, linear, repeat| p.at(value, Time::from_ps(t), Mode { linear, repeat });
    for (t, step, line) in [(0, 10, 10), (1, 10, 15), (2, 10, 20), (3, 10, 25), (4, 30, 30), (6, 30, 25), (7, 30, 23)] {
        assert_eq!((at(Value::Delay, t, false, true), at(Value::Delay, t, true, true)), (step, line), "{t}");
        assert_eq!(at(Value::Delay, t + 8, true, true), line);
    }
    assert_eq!((at(Value::Delay, 8, true, false), at(Value::Delay, 1 << 40, true, false)), (20, 20));
    assert_eq!((at(Value::Loss, 2, true, true), at(Value::Loss, 8, true, true)), (300, 100));
    assert_eq!((p.least(Value::Delay), p.period(), p.is_linear()), (10, 8, false));
}

#[test]
fn lists_that_are_no_profile() {
    for (list, why) in [
        (&[][..], "the bits of its values"),
        (&[0, 0, 1], "the bits of its values"),
        (&[1, 0], "the bits of its values"),
        (&[2, 5, 1], "its first row is not at 0"),
        (&[2, 0, 1, 0, 1], "row 2 is not later"),
        (&[2, 0, LATEST + 1], "the delay of row 1 is above 1h"),
        (&[4, 0, LOSS + 1], "the loss of row 1 is above 1"),
        (&[1, 0, 0, 5, 0], "always zero"),
        (&[1, 0, 1, LONGEST + 1, 1], "longest run"),
    ] {
        assert!(Profile::check(list).is_err_and(|e| e.contains(why)), "{list:?}");
    }
}
