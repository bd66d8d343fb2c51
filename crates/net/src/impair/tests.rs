use super::*;

fn impair(what: Impairments) -> Impair {
    Impair::idle(&what, Dur::from_ms(10), 5, "x")
}

fn lost(what: Impairments, n: usize) -> Vec<bool> {
    let mut i = impair(what);
    (0..n).map(|_| i.outcome(Time::ZERO, Outcome::default()).lost).collect()
}

fn losing(models: LossModels) -> Impairments {
    Impairments { loss: Some(LossSpec::Models(models)), ..Impairments::default() }
}

fn chain(p: f64, r: f64, good: f64, bad: f64) -> Impairments {
    losing(LossModels { gilbert_elliott: Some(GilbertElliottSpec { p, r, bad, good }), ..LossModels::default() })
}

/// Lengths of the runs of losses.
fn bursts(lost: &[bool]) -> Vec<usize> {
    lost.split(|l| !l).map(<[bool]>::len).filter(|&n| n > 0).collect()
}

/// Gilbert's chain, where the bad state loses all: stationary loss p / (p + r), bursts geometric with mean 1 / r and P(length > k) = (1 - r)^k.
#[test]
fn gilbert_has_its_loss_and_its_bursts() {
    for (p, r) in [(0.01, 0.25), (0.002, 0.5), (0.05, 0.1)] {
        let all = lost(chain(p, r, 0.0, 1.0), 1_000_000);
        let share = all.iter().filter(|l| **l).count() as f64 / 1e6;
        let want = p / (p + r);
        // Losses of a chain are correlated: their variance is (2 - p - r) / (p + r) times that of a coin.
        let sigma = (want * (1.0 - want) / 1e6 * (2.0 - p - r) / (p + r)).sqrt();
        assert!((share - want).abs() < 4.0 * sigma, "{p} {r}: {share} {want}");
        let runs = bursts(&all);
        let n = runs.len() as f64;
        let mean = runs.iter().sum::<usize>() as f64 / n;
        assert!((mean * r - 1.0).abs() < 4.0 * ((1.0 - r) / n).sqrt(), "{p} {r}: {mean}");
        for k in [1, 3, 8] {
            let (tail, want) = (runs.iter().filter(|&&b| b > k).count() as f64 / n, (1.0 - r).powi(k as i32));
            assert!((tail - want).abs() < 4.0 * (want * (1.0 - want) / n).sqrt() + 1e-9, "{p} {r} {k}: {tail} {want}");
        }
    }
}

/// Elliott's: loss = (r good + p bad) / (p + r); two in a row = pi diag(h) P diag(h) 1, so the mean burst is loss / (loss - two in a row).
#[test]
fn elliott_has_its_loss_and_its_bursts() {
    let (p, r, good, bad) = (0.02, 0.1, 0.01, 0.6);
    let all = lost(chain(p, r, good, bad), 2_000_000);
    let (g, b) = (r / (p + r), p / (p + r));
    let want = g * good + b * bad;
    let twice = g * good * ((1.0 - p) * good + p * bad) + b * bad * (r * good + (1.0 - r) * bad);
    let share = all.iter().filter(|l| **l).count() as f64 / 2e6;
    assert!((share / want - 1.0).abs() < 0.015, "{share} {want}");
    let runs = bursts(&all);
    let mean = runs.iter().sum::<usize>() as f64 / runs.len() as f64;
    assert!((mean / (want / (want - twice)) - 1.0).abs() < 0.01, "{mean}");
}

/// A chain has the same share of losses, in bursts five times as long as independent ones (mean 1 / (1 - share)).
#[test]
fn bursts_are_what_a_single_probability_lacks() {
    let uniform = Impairments { loss: Some(LossSpec::Share(0.04)), ..Impairments::default() };
    let mean = |what| {
        let runs = bursts(&lost(what, 500_000));
        runs.iter().sum::<usize>() as f64 / runs.len() as f64
    };
    let (alone, chained) = (mean(uniform), mean(chain(0.00833, 0.2, 0.0, 1.0)));
    assert!((alone * (1.0 - 0.04) - 1.0).abs() < 0.01 && chained > 4.7 * alone, "{alone} {chained}");
}

/// The state a packet finds decides; the chain begins in the good one.
#[test]
fn a_chain_that_always_moves_loses_every_second_packet() {
    assert_eq!(lost(chain(1.0, 1.0, 0.0, 1.0), 6), [false, true, false, true, false, true]);
    assert_eq!(lost(chain(1.0, 0.0, 0.0, 1.0), 4), [false, true, true, true]);
}

#[test]
fn named_packets_are_lost() {
    let what = losing(LossModels { list: Some(vec![2, 3, 7]), ..LossModels::default() });
    assert_eq!(lost(what, 8), [false, true, true, false, false, false, true, false]);
    let what = losing(LossModels { every: Some(3), list: Some(vec![1]), ..LossModels::default() });
    assert_eq!(lost(what, 7), [true, false, true, false, false, true, false]);
}

/// Adding a chain, a list or jitter leaves the luck of the single probability and of duplicates alone.
#[test]
fn models_do_not_share_their_luck() {
    let plain = Impairments { loss: Some(LossSpec::Share(0.1)), duplicate: Some(Duplicate(0.2)), ..Impairments::default() };
    let gilbert_elliott = Some(GilbertElliottSpec { p: 0.01, r: 0.3, good: 0.0, bad: 1.0 });
    let loss = losing(LossModels { share: 0.1, gilbert_elliott, every: Some(50), ..LossModels::default() }).loss;
    let more = Impairments { loss, jitter: Some(jitter(Dur::from_ms(1), false)), ..plain.clone() };
    let (mut a, mut b) = (impair(plain), impair(more));
    for _ in 0..10_000 {
        let (x, y) = (a.outcome(Time::ZERO, Outcome::default()), b.outcome(Time::ZERO, Outcome::default()));
        b.arrival(Time::ZERO, 1000);
        assert_eq!(x.twice, y.twice);
        assert!(!x.lost || y.lost);
    }
}

fn jitter(width: Dur, normal: bool) -> JitterSpec {
    let distribution = if normal { Distribution::Normal } else { Distribution::Uniform };
    JitterSpec(JitterParams { width, distribution, keep_order: false, ..JitterParams::default() })
}

/// An impairment without effect is left out: a link with no other impairment is a plain one.
#[test]
fn what_does_nothing_is_not_at_work() {
    let idle = Impairments { jitter: Some(jitter(Dur::ZERO, true)), ..Impairments::plain() };
    assert!(Impair::new(&idle, Dur::from_ms(10), 5, "x").is_none() && !idle.delays());
    let reorder = Some(ReorderSpec { share: 0.5, ..ReorderSpec::default() });
    assert!(Impair::new(&Impairments { reorder, ..idle.clone() }, Dur::from_ms(10), 5, "x").is_none());
    let models = [
        losing(LossModels { share: 0.1, ..LossModels::default() }),
        losing(LossModels { every: Some(9), ..LossModels::default() }),
        losing(LossModels { list: Some(vec![9]), ..LossModels::default() }),
        chain(0.1, 0.1, 0.0, 1.0),
        Impairments { duplicate: Some(Duplicate(0.1)), ..Impairments::default() },
        Impairments { jitter: Some(jitter(Dur::from_ms(1), false)), ..Impairments::default() },
        Impairments {
            reorder: Some(ReorderSpec { share: 0.1, delay: Dur::from_ms(1), ..ReorderSpec::default() }),
            ..Impairments::default()
        },
    ];
    for what in models {
        assert!(Impair::new(&what, Dur::from_ms(10), 5, "x").is_some(), "{what:?}");
    }
}

fn arrivals(jitter: JitterSpec, delay: Dur, n: u64) -> Vec<f64> {
    let what = Impairments { jitter: Some(jitter), ..Impairments::default() };
    let mut i = Impair::idle(&what, delay, 3, "x");
    // As in a port, the delay of the ring is shorter by `early`.
    let base = delay.saturating_sub(i.early());
    (0..n).map(|_| i.arrival(Time::ZERO + base, 1000).as_secs_f64() * 1e3).collect()
}

fn moments(x: &[f64]) -> (f64, f64) {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    (mean, (x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt())
}

/// Uniform between 10 - 3 and 10 + 3 ms: deviation 3 / sqrt(3). Normal with a deviation of 2 ms: that, cut at four deviations.
#[test]
fn jitter_has_the_moments_of_its_distribution() {
    let jitter = |ms, normal| jitter(Dur::from_ms(ms), normal);
    let x = arrivals(jitter(3, false), Dur::from_ms(10), 200_000);
    let (mean, std) = moments(&x);
    assert!((mean - 10.0).abs() < 0.02 && (std - 3.0_f64.sqrt()).abs() < 0.01, "{mean} {std}");
    assert!(x.iter().all(|v| (7.0..=13.0).contains(v)));
    let x = arrivals(jitter(2, true), Dur::from_ms(10), 200_000);
    let (mean, std) = moments(&x);
    assert!((mean - 10.0).abs() < 0.03 && (std - 2.0).abs() < 0.02, "{mean} {std}");
    assert!(x.iter().all(|v| (2.0..=18.0).contains(v)));
    // A delay of 3 ms leaves no more than that below the mean.
    let x = arrivals(jitter(2, true), Dur::from_ms(3), 200_000);
    assert!(x.iter().all(|v| (0.0..=11.0).contains(v)) && x.contains(&0.0));
}
