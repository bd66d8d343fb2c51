//! Measurements for tests of sources: counts in windows, their dispersion and correlation, the Hurst parameter.

use fairlane_engine::Stream;
use fairlane_net::{Action, App, AppCx};
use fairlane_units::{Dur, Time};

/// Bytes written by `app` in each of `n` windows from time 0. Before windows are counted the source runs for `before` of them.
pub(crate) fn bytes_in_windows(app: &mut impl App, name: &str, window: Dur, before: usize, n: usize) -> Vec<f64> {
    let mut rng = Stream::new(9, "app", name, "traffic");
    let (mut windows, mut actions, mut now) = (vec![0.0; n], vec![], app.starts_at());
    loop {
        let mut wake = Time::MAX;
        app.on_wake(&mut AppCx { now, rng: &mut rng, actions: &mut actions, wake: &mut wake, newest: None });
        let place = (now.as_ps() / window.as_ps()) as usize;
        if place >= before + n {
            return windows;
        }
        for (_, action) in actions.drain(..) {
            if let (Action::Write { bytes, .. }, true) = (action, place >= before) {
                windows[place - before] += bytes as f64;
            }
        }
        now = wake;
    }
}

pub(crate) fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}

pub(crate) fn variance(x: &[f64]) -> f64 {
    let m = mean(x);
    x.iter().map(|v| (v - m).powi(2)).sum::<f64>() / x.len() as f64
}

/// Index of dispersion: variance over mean.
pub(crate) fn dispersion(x: &[f64]) -> f64 {
    variance(x) / mean(x)
}

/// Autocorrelation at a lag.
pub(crate) fn autocorrelation(x: &[f64], lag: usize) -> f64 {
    let m = mean(x);
    let pairs = x.iter().zip(&x[lag..]);
    pairs.map(|(a, b)| (a - m) * (b - m)).sum::<f64>() / x.len() as f64 / variance(x)
}

/// Sums of `k` neighbours.
pub(crate) fn aggregated(x: &[f64], k: usize) -> Vec<f64> {
    x.chunks_exact(k).map(|c| c.iter().sum()).collect()
}

/// The Hurst parameter by the variance-time plot: the variance of means over k windows falls as k^(2H - 2); least squares over the logarithms
/// (Leland, Taqqu, Willinger and Wilson 1994, section 3.2).
pub(crate) fn hurst_by_variances(x: &[f64], ks: &[usize]) -> f64 {
    let points: Vec<(f64, f64)> = ks.iter().map(|&k| ((k as f64).ln(), (variance(&aggregated(x, k)) / (k * k) as f64).ln())).collect();
    let n = points.len() as f64;
    let (mx, my) = (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    let slope = points.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum::<f64>() / points.iter().map(|p| (p.0 - mx).powi(2)).sum::<f64>();
    1.0 + slope / 2.0
}

/// The Hurst parameter by the local Whittle estimator: over the `m` lowest frequencies the spectrum falls as f^(1 - 2H)
/// (Robinson 1995, Annals of Statistics 23, section 2).
pub(crate) fn hurst_by_spectrum(x: &[f64], m: usize) -> f64 {
    let (n, mu) = (x.len() as f64, mean(x));
    let power: Vec<(f64, f64)> = (1..=m)
        .map(|j| {
            let w = std::f64::consts::TAU * j as f64 / n;
            let (re, im) = x.iter().enumerate().fold((0.0, 0.0), |(re, im), (t, v)| {
                let (sin, cos) = (w * t as f64).sin_cos();
                (re + (v - mu) * cos, im + (v - mu) * sin)
            });
            (w.ln(), re * re + im * im)
        })
        .collect();
    let logs = power.iter().map(|p| p.0).sum::<f64>() / m as f64;
    let cost = |h: f64| (power.iter().map(|(w, i)| ((2.0 * h - 1.0) * w).exp() * i).sum::<f64>() / m as f64).ln() - (2.0 * h - 1.0) * logs;
    (1..1000).map(|i| f64::from(i) / 1000.0).min_by(|a, b| cost(*a).total_cmp(&cost(*b))).unwrap()
}

/// The estimators distinguish white noise from sums of it.
#[test]
fn the_estimators_know_white_noise_and_a_walk() {
    let mut rng = Stream::new(1, "test", "noise", "");
    let noise: Vec<f64> = (0..8192).map(|_| rng.uniform()).collect();
    let ks: Vec<usize> = (0..9).map(|i| 1 << i).collect();
    assert!((hurst_by_variances(&noise, &ks) - 0.5).abs() < 0.05, "{}", hurst_by_variances(&noise, &ks));
    assert!((hurst_by_spectrum(&noise, 200) - 0.5).abs() < 0.08, "{}", hurst_by_spectrum(&noise, 200));
    let walk: Vec<f64> = noise.iter().scan(0.0, |s, x| (*s += x - 0.5, Some(*s)).1).collect();
    assert!(hurst_by_variances(&walk, &ks) > 0.9 && hurst_by_spectrum(&walk, 200) > 0.9);
    assert!((dispersion(&noise) - 1.0 / 6.0).abs() < 0.01 && autocorrelation(&noise, 1).abs() < 0.05);
}
