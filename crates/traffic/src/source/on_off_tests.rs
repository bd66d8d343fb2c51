use super::*;
use crate::source::harness::{run, writes};
use crate::source::measure::{autocorrelation, bytes_in_windows, dispersion, hurst_by_spectrum, hurst_by_variances, mean};
use crate::source::poisson::PoissonParams;
use fairlane_net::Action;

fn secs(s: u64) -> Time {
    Time::ZERO + Dur::from_secs(s)
}

/// 1000 bytes every ms while ON.
fn bursts(on: Dur, off: Dur) -> OnOffParams {
    OnOffParams { rate: Rate::from_mbps(8), on, off, ..OnOffParams::default() }
}

fn log(p: &OnOffParams, seed: u64, until: u64) -> Vec<(Time, u64)> {
    writes(&run(&mut p.build(FlowId(0), Time::ZERO, None), seed, secs(until)))
}

/// Mean rate in bit/s over `s` seconds.
fn rate(p: &OnOffParams, s: u64) -> f64 {
    log(p, 3, s).iter().map(|w| w.1 as f64 * 8.0).sum::<f64>() / s as f64
}

/// rate * on / (on + off), also where a period holds a fifth of a packet; the share of ON time varies by sqrt(2 on off^2 / T) or so.
#[test]
fn mean_rate_is_rate_times_the_share_of_on() {
    for (on, off) in [(100, 300), (20, 20), (3, 1)] {
        let p = bursts(Dur::from_ms(on), Dur::from_ms(off));
        let want = 8e6 * on as f64 / (on + off) as f64;
        assert!((rate(&p, 3000) / want - 1.0).abs() < 0.03, "{on} {off}: {} {want}", rate(&p, 3000));
    }
    let short = bursts(Dur::from_us(200), Dur::from_us(600));
    assert!((rate(&short, 200) / 2e6 - 1.0).abs() < 0.01, "{}", rate(&short, 200));
}

/// ns-2 sends max(1, round(X)) packets a burst, X exponential with mean m = on / interval: e^(-1/2m) / (1 - e^(-1/m)) + 1 - e^(-1/2m) on average,
/// then waits `off` and an interval. Where m = 0.5 that is 73 % above what the periods say (2.767 Mbit/s; ns-2 2.35 itself: 2.777 over 400 s); ours is exact.
#[test]
fn rounded_bursts_are_those_of_ns_2() {
    let carried = bursts(Dur::from_us(500), Dur::from_ms(2));
    let rounded = OnOffParams { fraction: Fraction::Rounded, begin: Begin::Off, ..carried.clone() };
    let m = 0.5_f64;
    let half = (-0.5 / m).exp();
    let packets = half / (1.0 - half * half) + 1.0 - half;
    let ns2 = packets * 8000.0 / (packets * 1e-3 + 2e-3);
    let (got, ours) = (rate(&rounded, 400), rate(&carried, 400));
    assert!((got / ns2 - 1.0).abs() < 0.01, "{got} {ns2}");
    assert!((ours / 1.6e6 - 1.0).abs() < 0.01 && ns2 > 1.5 * ours, "{ours} {ns2}");
    // A packet that was begun is finished within its burst: gaps are an interval, or at least that and an OFF period.
    let w = log(&rounded, 1, 20);
    assert!(w.windows(2).all(|g| g[1].0 - g[0].0 >= Dur::from_ms(1)));
}

/// A gap is one interval within a burst; the lengths of bursts and silences, read from the packets, have the means asked for.
#[test]
fn periods_have_their_means() {
    let p = OnOffParams { fraction: Fraction::Rounded, ..bursts(Dur::from_ms(200), Dur::from_ms(700)) };
    let w = log(&p, 5, 20_000);
    let gaps: Vec<f64> = w.windows(2).map(|g| (g[1].0 - g[0].0).as_secs_f64() * 1e3).collect();
    let silences: Vec<f64> = gaps.iter().filter(|g| **g > 1.0).map(|g| g - 1.0).collect();
    let bursts = gaps.len() as f64 / silences.len() as f64;
    let n = silences.len() as f64;
    assert!((mean(&silences) - 700.0).abs() < 4.0 * 700.0 / n.sqrt(), "{}", mean(&silences));
    assert!((bursts - 200.0).abs() < 4.0 * 200.0 / n.sqrt(), "{bursts}");
    // Exponential: e^-1 of the silences are longer than their mean. Of Pareto ones with shape 1.5 it is 3^-1.5.
    let longer = |s: &[f64]| s.iter().filter(|x| **x > 700.0).count() as f64 / s.len() as f64;
    assert!((longer(&silences) - (-1.0_f64).exp()).abs() < 0.01, "{}", longer(&silences));
    let w = log(&OnOffParams { periods: Periods::Pareto, ..p }, 5, 20_000);
    let silences: Vec<f64> = w.windows(2).map(|g| (g[1].0 - g[0].0).as_secs_f64() * 1e3).filter(|g| *g > 1.0).map(|g| g - 1.0).collect();
    assert!((longer(&silences) - 3_f64.powf(-1.5)).abs() < 0.01, "{}", longer(&silences));
}

/// Counts of an on-off fluid over t much longer than the periods: variance = 2 (on off)^2 / (on + off)^3 * rate^2 * t (renewal theory,
/// Cox 1962, section 7.3), so with 10 packets a burst and as much silence the dispersion is 10 / 2; that of Poisson is 1.
#[test]
fn dispersion_tells_it_from_poisson() {
    let p = bursts(Dur::from_ms(10), Dur::from_ms(10));
    let counts = |x: Vec<f64>| -> Vec<f64> { x.iter().map(|b| b / 1000.0).collect() };
    let ours = counts(bytes_in_windows(&mut p.build(FlowId(0), Time::ZERO, None), "a", Dur::from_secs(1), 0, 3000));
    let even = PoissonParams { rate: Rate::from_mbps(4), ..PoissonParams::default() };
    let poisson = counts(bytes_in_windows(&mut even.build(FlowId(0), Time::ZERO, None), "a", Dur::from_secs(1), 0, 3000));
    assert!((mean(&ours) - 500.0).abs() < 5.0 && (mean(&poisson) - 500.0).abs() < 5.0);
    assert!((dispersion(&ours) / 5.0 - 1.0).abs() < 0.12, "{}", dispersion(&ours));
    assert!((dispersion(&poisson) - 1.0).abs() < 0.12, "{}", dispersion(&poisson));
    // In windows of 5 ms its counts are correlated as e^(-t (1/on + 1/off)); Poisson's are not at all.
    let ours = bytes_in_windows(&mut p.build(FlowId(0), Time::ZERO, None), "a", Dur::from_ms(5), 0, 200_000);
    let r = autocorrelation(&ours, 2) / autocorrelation(&ours, 1);
    assert!((r - (-1.0_f64).exp()).abs() < 0.03, "{r}");
    let poisson = bytes_in_windows(&mut even.build(FlowId(0), Time::ZERO, None), "a", Dur::from_ms(5), 0, 200_000);
    assert!(autocorrelation(&poisson, 1).abs() < 0.01);
}

/// Bytes a second of 64 sources together.
fn aggregate(p: &OnOffParams, n: usize) -> Vec<f64> {
    let mut sum = vec![0.0; n];
    for i in 0..64 {
        let one = bytes_in_windows(&mut p.build(FlowId(0), Time::ZERO, None), &format!("f.{i}"), Dur::from_secs(1), 0, n);
        sum.iter_mut().zip(one).for_each(|(s, x)| *s += x);
    }
    sum
}

/// Taqqu, Willinger and Sherman 1997: many Pareto sources with shape 3 - 2H are self-similar with H; exponential ones are not (H = 1/2).
/// Two estimators, as Leland et al. 1994 ask for.
#[test]
fn the_aggregate_has_the_hurst_parameter_asked_for() {
    let ks: Vec<usize> = (1..8).map(|i| 1 << i).collect();
    let sources = |hurst: Option<f64>| OnOffParams {
        rate: Rate::from_bps(160_000),
        periods: if hurst.is_some() { Periods::Pareto } else { Periods::Exponential },
        hurst,
        ..bursts(Dur::from_ms(200), Dur::from_ms(200))
    };
    for h in [0.7, 0.8, 0.9] {
        let x = aggregate(&sources(Some(h)), 1 << 14);
        let (v, w) = (hurst_by_variances(&x, &ks), hurst_by_spectrum(&x, 256));
        assert!((v - h).abs() < 0.08 && (w - h).abs() < 0.08, "{h}: {v} by variances, {w} by the spectrum");
    }
    let x = aggregate(&sources(None), 1 << 14);
    let (v, w) = (hurst_by_variances(&x, &ks), hurst_by_spectrum(&x, 256));
    assert!((v - 0.5).abs() < 0.05 && (w - 0.5).abs() < 0.06, "{v} by variances, {w} by the spectrum");
}

/// From the stationary start the first second is like any other; from an ON start it holds more.
#[test]
fn it_begins_as_if_it_had_always_run() {
    let first = |begin| {
        let p = OnOffParams { begin, periods: Periods::Pareto, ..bursts(Dur::from_ms(500), Dur::from_ms(1500)) };
        let sum: usize = (0..2000).map(|seed| writes(&run(&mut p.build(FlowId(0), Time::ZERO, None), seed, secs(1))).len()).sum();
        sum as f64 / 2000.0
    };
    let (stationary, on, off) = (first(Begin::Stationary), first(Begin::On), first(Begin::Off));
    assert!((stationary - 250.0).abs() < 35.0, "{stationary}");
    assert!(on > 350.0 && off < 200.0, "{on} {off}");
}

#[test]
fn seeds_reproduce_and_nothing_comes_after_the_stop() {
    let p = OnOffParams { periods: Periods::Pareto, ..bursts(Dur::from_ms(5), Dur::from_ms(5)) };
    assert_eq!(log(&p, 7, 5), log(&p, 7, 5));
    assert_ne!(log(&p, 7, 5), log(&p, 8, 5));
    let all = run(&mut p.build(FlowId(0), secs(1), Some(secs(2))), 7, secs(5));
    assert!(all.len() > 10 && writes(&all).iter().all(|w| w.0 >= secs(1) && w.0 < secs(2)));
    assert_eq!(all.last().map(|l| (l.0, l.2)), Some((secs(2), Action::Stop)));
}

#[test]
fn what_does_not_fit_is_refused() {
    let check = |text: &str| serde_json::from_str::<OnOffParams>(text).unwrap().check(Proto::Udp).map_err(|p| p.field);
    assert_eq!(check(r#"{"periods":"pareto","hurst":0.8}"#), Ok(()));
    assert_eq!(check(r#"{"periods":"pareto","hurst":0.8,"shape":1.4}"#), Err("hurst".to_owned()));
    assert_eq!(check(r#"{"hurst":0.8}"#), Err("hurst".to_owned()));
    assert_eq!(check(r#"{"shape":1.4}"#), Err("shape".to_owned()));
    // 3 - 2H.
    let p = OnOffParams { periods: Periods::Pareto, hurst: Some(0.75), ..OnOffParams::default() };
    let q = OnOffParams { periods: Periods::Pareto, ..OnOffParams::default() };
    assert_eq!(p.build(FlowId(0), Time::ZERO, None), q.build(FlowId(0), Time::ZERO, None));
}
