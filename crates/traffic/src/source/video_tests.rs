use super::*;
use crate::source::harness::{run, writes};
use crate::source::measure::{autocorrelation, mean, variance};
use fairlane_net::Action;

fn secs(s: u64) -> Time {
    Time::ZERO + Dur::from_secs(s)
}

fn log(p: &VideoParams, seed: u64, until: u64) -> Vec<(Time, u64)> {
    writes(&run(&mut p.build(FlowId(0), Time::ZERO, None), seed, secs(until)))
}

/// Sizes of the frames: what is written at one instant.
fn frames(p: &VideoParams, seed: u64, until: u64) -> Vec<f64> {
    let mut sizes: Vec<f64> = vec![];
    let mut last = None;
    for (t, bytes) in log(p, seed, until) {
        if last.replace(t) != Some(t) {
            sizes.push(0.0);
        }
        *sizes.last_mut().unwrap() += bytes as f64;
    }
    sizes
}

fn from_start() -> VideoParams {
    VideoParams { first: Some(0), ..VideoParams::default() }
}

/// A group of 12 frames at 25 frames a second is 15,000 + 3 * 8,000 + 8 * 3,000 bytes in 480 ms: 1.05 Mbit/s.
#[test]
fn mean_rate_and_means_of_each_type() {
    let f = frames(&from_start(), 1, 5000);
    assert_eq!(f.len(), 125_001);
    let rate = f.iter().sum::<f64>() * 8.0 / 5000.0;
    assert!((rate / 1.05e6 - 1.0).abs() < 0.005, "{rate}");
    let of = |letter: char| -> Vec<f64> {
        f.iter().enumerate().filter(|(i, _)| "IBBPBBPBBPBB".chars().nth(i % 12) == Some(letter)).map(|x| *x.1).collect()
    };
    for (letter, want) in [('I', 15_000.0), ('P', 8000.0), ('B', 3000.0)] {
        let x = of(letter);
        let n = x.len() as f64;
        assert!((mean(&x) / want - 1.0).abs() < 4.0 * 0.3 / n.sqrt(), "{letter}: {}", mean(&x));
        assert!((variance(&x).sqrt() / mean(&x) / 0.3 - 1.0).abs() < 0.03, "{letter}: {}", variance(&x).sqrt() / mean(&x));
        // Lognormal: the median is mean / sqrt(1 + cv^2).
        let below = x.iter().filter(|v| **v < want / 1.09_f64.sqrt()).count() as f64 / n;
        assert!((below - 0.5).abs() < 2.0 / n.sqrt(), "{letter}: {below}");
    }
}

/// The correlation of frame sizes peaks at multiples of the group, stands lower at the distance of P frames, and is below zero between.
#[test]
fn autocorrelation_has_the_period_of_the_group() {
    let f = frames(&from_start(), 2, 2000);
    let r: Vec<f64> = (0..=24).map(|lag| autocorrelation(&f, lag)).collect();
    let top = (1..=23).max_by(|a, b| r[*a].total_cmp(&r[*b])).unwrap();
    assert_eq!(top, 12);
    // Its height is the share of the variance that the means of the types have.
    let square = (15_000.0_f64.powi(2) + 3.0 * 8000.0_f64.powi(2) + 8.0 * 3000.0_f64.powi(2)) / 12.0;
    let between = square - 5250.0 * 5250.0;
    let want = between / (between + 0.09 * square);
    assert!((r[12] - want).abs() < 0.01 && (r[24] - want).abs() < 0.01, "{} {} {want}", r[12], r[24]);
    assert!(r[3] > r[2] && r[3] > r[4] && r[3] < r[12] && r[1] < 0.0, "{r:?}");
    let even = frames(&VideoParams { cv: 0.0, ..from_start() }, 2, 2000);
    assert!((autocorrelation(&even, 12) - 1.0).abs() < 0.001);
}

/// An autoregression of order 1: the logarithms of one type's sizes are correlated as rho^lag.
#[test]
fn logarithms_follow_their_autoregression() {
    let p = VideoParams { gop: "I".to_owned(), correlation: 0.8, ..from_start() };
    let logs: Vec<f64> = frames(&p, 3, 4000).iter().map(|f| f.ln()).collect();
    for lag in [1, 2, 5] {
        let (got, want) = (autocorrelation(&logs, lag), 0.8_f64.powi(lag as i32));
        assert!((got - want).abs() < 0.03, "{lag}: {got} {want}");
    }
    assert!((variance(&logs) / 1.09_f64.ln() - 1.0).abs() < 0.05, "{}", variance(&logs));
    let alone: Vec<f64> = frames(&VideoParams { correlation: 0.0, ..p }, 3, 4000).iter().map(|f| f.ln()).collect();
    assert!(autocorrelation(&alone, 1).abs() < 0.015);
}

#[test]
fn a_trace_is_replayed_byte_for_byte() {
    let trace = vec![1, 999, 1000, 1001, 25_000];
    let p = VideoParams { trace: Some(DataFile::from(trace.clone())), ..from_start() };
    let f = frames(&p, 1, 2);
    assert!(f.len() == 51 && f.iter().enumerate().all(|(i, &x)| x == trace[i % 5] as f64));
    // A start in the middle, and members that differ: each seed or name draws its own.
    assert_eq!(frames(&VideoParams { first: Some(3), ..p.clone() }, 1, 1)[..3], [1001.0, 25_000.0, 1.0]);
    let firsts: std::collections::BTreeSet<u64> =
        (0..50).map(|s| frames(&VideoParams { first: None, ..p.clone() }, s, 0)[0] as u64).collect();
    assert_eq!(firsts.into_iter().collect::<Vec<_>>(), trace);
}

/// 2,500 bytes are packets of 1000, 1000 and 500, at once or a third of 40 ms apart.
#[test]
fn frames_are_split_and_spread() {
    let p = VideoParams { trace: Some(DataFile::from(vec![2500, 700])), ..from_start() };
    let ms = |x: u64| Time::ZERO + Dur::from_ms(x);
    let third = |k: u64| Time::from_ps(Dur::from_ms(40).as_ps() * k / 3);
    assert_eq!(log(&p, 1, 1)[..5], [(ms(0), 1000), (ms(0), 1000), (ms(0), 500), (ms(40), 700), (ms(80), 1000)]);
    let even = VideoParams { spread: true, ..p.clone() };
    assert_eq!(log(&even, 1, 1)[..5], [(ms(0), 1000), (third(1), 1000), (third(2), 500), (ms(40), 700), (ms(80), 1000)]);
    let bytes = |p: &VideoParams| log(p, 1, 9).iter().map(|w| w.1).sum::<u64>();
    assert!(bytes(&p).abs_diff(bytes(&even)) <= 2500);
    // 29.97 frames a second: 33.366... ms, to a picosecond.
    let ntsc = VideoParams { fps: 29.97, ..p };
    assert_eq!(log(&ntsc, 1, 1)[3].0, Time::from_ps(33_366_700_033));
}

#[test]
fn seeds_reproduce_and_nothing_comes_after_the_stop() {
    let p = VideoParams { spread: true, ..VideoParams::default() };
    assert_eq!(log(&p, 7, 5), log(&p, 7, 5));
    assert_ne!(log(&p, 7, 5), log(&p, 8, 5));
    let all = run(&mut p.build(FlowId(0), secs(1), Some(secs(2))), 7, secs(5));
    assert!(all.len() > 10 && writes(&all).iter().all(|w| w.0 >= secs(1) && w.0 < secs(2)));
    assert_eq!(all.last().map(|l| (l.0, l.2)), Some((secs(2), Action::Stop)));
}

#[test]
fn what_is_no_video_is_refused() {
    let check = |text: &str| serde_json::from_str::<VideoParams>(text).unwrap().check(Proto::Udp).map_err(|p| (p.field, p.message));
    assert_eq!(check("{}"), Ok(()));
    assert_eq!(check(r#"{"gop":"IBX"}"#).unwrap_err(), ("gop".to_owned(), "`X` is no type of frame: write I, P and B".to_owned()));
    assert_eq!(check(r#"{"gop":""}"#).unwrap_err().0, "gop");
    assert_eq!(check(r#"{"first":12}"#).unwrap_err().0, "first");
    assert_eq!(check(r#"{"trace":"data:,5 6","first":2}"#).unwrap_err().0, "first");
    assert_eq!(check(r#"{"trace":"data:,"}"#).unwrap_err().1, "the trace holds no frame");
    assert!(check(r#"{"trace":"data:,5 0 6"}"#).unwrap_err().1.contains("frame 1 has 0 bytes"));
}
