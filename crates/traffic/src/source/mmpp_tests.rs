use super::*;
use crate::source::harness::{run, writes};
use crate::source::measure::{bytes_in_windows, dispersion, mean};
use fairlane_net::Action;

fn secs(s: u64) -> Time {
    Time::ZERO + Dur::from_secs(s)
}

/// States with rates in packets of 1000 bytes a second and stays in ms.
fn chain(states: &[(u64, u64)]) -> MmppParams {
    let state = |&(pps, ms): &(u64, u64)| MmppState { rate: Rate::from_bps(8000 * pps), stay: Dur::from_ms(ms), to: Vec::new() };
    MmppParams { states: states.iter().map(state).collect(), ..MmppParams::default() }
}

fn counts(p: &MmppParams, window: Dur, n: usize) -> Vec<f64> {
    bytes_in_windows(&mut p.build(FlowId(0), Time::ZERO, None), "a", window, 0, n).iter().map(|b| b / 1000.0).collect()
}

/// Variance over mean of the counts in windows of t, from Heffes and Lucantoni 1986, section III:
/// 1 + 2 s1 s2 (l1 - l2)^2 / ((s1 + s2)^2 (l1 s2 + l2 s1)) * (1 - (1 - e^(-(s1 + s2) t)) / ((s1 + s2) t)), where s1 and s2 are the rates of leaving.
fn dispersion_of_two(l: [f64; 2], stay: [f64; 2], t: f64) -> f64 {
    let s = [1.0 / stay[0], 1.0 / stay[1]];
    let sum = s[0] + s[1];
    let limit = 2.0 * s[0] * s[1] * (l[0] - l[1]).powi(2) / (sum * sum * (l[0] * s[1] + l[1] * s[0]));
    1.0 + limit * (1.0 - (1.0 - (-sum * t).exp()) / (sum * t))
}

#[test]
fn dispersion_follows_heffes_and_lucantoni() {
    let p = chain(&[(100, 150), (900, 50)]);
    for (window, n, bound) in [(10, 400_000, 0.03), (100, 100_000, 0.05), (5000, 6000, 0.10)] {
        let x = counts(&p, Dur::from_ms(window), n);
        let want = dispersion_of_two([100.0, 900.0], [0.15, 0.05], window as f64 / 1e3);
        // The mean is weighted by the stays: (100 * 150 + 900 * 50) / 200.
        assert!((mean(&x) * 1e3 / window as f64 / 300.0 - 1.0).abs() < 0.03, "{}", mean(&x));
        assert!((dispersion(&x) / want - 1.0).abs() < bound, "{window} ms: {} {want}", dispersion(&x));
    }
    // With equal rates, and with one state, it is a Poisson process.
    for p in [chain(&[(300, 150), (300, 50)]), chain(&[(300, 10)])] {
        let x = counts(&p, Dur::from_secs(1), 6000);
        assert!((dispersion(&x) - 1.0).abs() < 0.08, "{}", dispersion(&x));
    }
}

/// An interrupted Poisson process shows its stays: at 10,000 packets a second a gap above 5 ms is a stay in the silent state.
#[test]
fn stays_have_their_means() {
    let p = chain(&[(10_000, 40), (0, 200)]);
    let w = writes(&run(&mut p.build(FlowId(0), Time::ZERO, None), 2, secs(1000)));
    let gaps: Vec<f64> = w.windows(2).map(|g| (g[1].0 - g[0].0).as_secs_f64() * 1e3).collect();
    // Without memory: what a silence has beyond 5 ms has its mean again, and the gap to the next packet of 0.1 ms.
    let silences: Vec<f64> = gaps.iter().filter(|g| **g > 5.0).map(|g| g - 5.0).collect();
    let n = silences.len() as f64;
    assert!((mean(&silences) - 200.1).abs() < 4.0 * 200.0 / n.sqrt(), "{}", mean(&silences));
    // e^(-5/200) of the silences are that long; between two of them lie 10 packets for each ms of the other stay.
    let on = w.len() as f64 / 10.0 / n * (-5.0_f64 / 200.0).exp();
    assert!((on / 40.0 - 1.0).abs() < 4.0 / n.sqrt(), "{on}");
    assert!((w.len() as f64 / (1e7 * 40.0 / 240.0) - 1.0).abs() < 0.05, "{}", w.len());
}

/// Three states: all others equally, or by weights. Stationary time: visits times stays.
#[test]
fn weights_lead_on() {
    let close = |got: Vec<f64>, want: &[f64]| got.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-12);
    let mut p = chain(&[(100, 100), (200, 100), (600, 200)]);
    assert!(close(p.stationary().unwrap(), &[0.25, 0.25, 0.5]));
    // 0 -> 1 always, 1 -> 0 or 2 as 3 to 1, 2 -> 1 always: visits 3 : 4 : 1.
    p.states[0].to = vec![0.0, 1.0, 0.0];
    p.states[1].to = vec![3.0, 0.0, 1.0];
    p.states[2].to = vec![0.0, 2.0, 0.0];
    assert!(close(p.stationary().unwrap(), &[3.0 / 9.0, 4.0 / 9.0, 2.0 / 9.0]));
    assert_eq!(p.check(Proto::Udp), Ok(()));
    let x = counts(&p, Dur::from_secs(1), 5000);
    let want = (3.0 * 100.0 + 4.0 * 200.0 + 2.0 * 600.0) / 9.0;
    assert!((mean(&x) / want - 1.0).abs() < 0.02, "{} {want}", mean(&x));
}

#[test]
fn it_begins_where_it_is_told_to() {
    let begin = |first, seed| {
        let p = MmppParams { first, ..chain(&[(1000, 1_000_000), (0, 1_000_000)]) };
        !writes(&run(&mut p.build(FlowId(0), Time::ZERO, None), seed, secs(1))).is_empty()
    };
    assert!((0..20).all(|s| begin(Some(0), s) && !begin(Some(1), s)));
    let both = (0..200).filter(|&s| begin(None, s)).count();
    assert!((70..130).contains(&both), "{both}");
}

#[test]
fn seeds_reproduce_and_nothing_comes_after_the_stop() {
    let p = MmppParams { sizes: Sizes::Exponential, ..chain(&[(500, 20), (50, 20)]) };
    let log = |seed| writes(&run(&mut p.build(FlowId(0), Time::ZERO, None), seed, secs(3)));
    assert_eq!(log(1), log(1));
    assert_ne!(log(1), log(2));
    let all = run(&mut p.build(FlowId(0), secs(1), Some(secs(2))), 7, secs(5));
    assert!(all.len() > 10 && writes(&all).iter().all(|w| w.0 >= secs(1) && w.0 < secs(2)));
    assert_eq!(all.last().map(|l| (l.0, l.2)), Some((secs(2), Action::Stop)));
}

#[test]
fn chains_that_are_none_are_refused() {
    let check = |text: &str| serde_json::from_str::<MmppParams>(text).unwrap().check(Proto::Udp).map_err(|p| (p.field, p.message));
    let two = |a: &str, b: &str| check(&format!(r#"{{"states":[{{"to":[{a}]}},{{"to":[{b}]}},{{}}]}}"#)).unwrap_err();
    assert_eq!(check("{}"), Ok(()));
    assert_eq!(check(r#"{"states":[{}]}"#), Ok(()));
    assert_eq!(check(r#"{"states":[]}"#).unwrap_err().0, "states");
    assert_eq!(check(r#"{"states":[{"rate":"0bit/s"},{"rate":"0bit/s"}]}"#).unwrap_err().0, "states");
    assert_eq!(check(r#"{"first":2}"#).unwrap_err().0, "first");
    assert_eq!(two("0,1", "1,0,0").0, "states.0.to");
    assert!(two("0,-1,1", "1,0,0").1.contains("negative"));
    assert!(two("0,1,1", "1,1,0").1.contains("leads to itself"));
    // Nothing leads to state 2.
    assert!(two("0,1,0", "1,0,0").1.contains("not every state is reached"));
    assert!(two("0,0,0", "1,0,0").1.contains("not every state is reached"));
}
