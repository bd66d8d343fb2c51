use super::*;

const N: usize = 200_000;

fn many(mut draw: impl FnMut(&mut Stream) -> f64) -> Vec<f64> {
    let mut rng = Stream::new(5, "test", "draw", "");
    (0..N).map(|_| draw(&mut rng)).collect()
}

fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}

fn deviation(x: &[f64]) -> f64 {
    let m = mean(x);
    (x.iter().map(|v| (v - m).powi(2)).sum::<f64>() / x.len() as f64).sqrt()
}

/// Share of the values up to `x`.
fn up_to(values: &[f64], x: f64) -> f64 {
    values.iter().filter(|v| **v <= x).count() as f64 / values.len() as f64
}

/// Four standard errors of a share.
fn near(got: f64, want: f64) -> bool {
    (got - want).abs() < 4.0 * (want * (1.0 - want) / N as f64).sqrt()
}

/// Values of the normal distribution function from its tables.
#[test]
fn normal_follows_its_table() {
    let x = many(Stream::normal);
    for (z, phi) in [(-2.0, 0.022_750), (-1.0, 0.158_655), (0.0, 0.5), (0.5, 0.691_462), (1.96, 0.975_002), (3.0, 0.998_650)] {
        assert!(near(up_to(&x, z), phi), "{z}: {} {phi}", up_to(&x, z));
    }
    // Neighbours are not correlated.
    let r = x.windows(2).map(|w| w[0] * w[1]).sum::<f64>() / N as f64;
    assert!(r.abs() < 4.0 / (N as f64).sqrt(), "{r}");
}

#[test]
fn lognormal_has_its_mean_deviation_and_median() {
    let law = Lognormal::of(1000.0, 0.5);
    let x = many(|rng| law.draw(rng));
    assert!((mean(&x) / 1000.0 - 1.0).abs() < 0.01 && (deviation(&x) / 500.0 - 1.0).abs() < 0.03, "{} {}", mean(&x), deviation(&x));
    assert!(near(up_to(&x, 1000.0 / (1.25_f64).sqrt()), 0.5), "the median is mean / sqrt(1 + cv^2)");
    assert_eq!(Lognormal::of(1000.0, 0.0).sigma, 0.0);
}

#[test]
fn pareto_follows_its_law_and_its_mean() {
    let law = Pareto::of(3.0, 1.5);
    assert_eq!((law.least, law.mean()), (1.0, 3.0));
    let x = many(|rng| law.draw(rng));
    assert!(x.iter().all(|v| *v >= 1.0));
    for at in [1.2, 2.0, 10.0, 100.0_f64] {
        assert!(near(up_to(&x, at), 1.0 - at.powf(-1.5)), "{at}");
    }
    // A shape of 3 has a variance: least^2 shape / ((shape - 1)^2 (shape - 2)) = 3/4.
    let x = many(|rng| Pareto { shape: 3.0, least: 1.0 }.draw(rng));
    assert!((mean(&x) - 1.5).abs() < 0.01, "{}", mean(&x));
}

/// The equilibrium law: P(R <= x) = x / mean up to the least value, 1 - (least / x)^(shape - 1) / shape above.
#[test]
fn residual_of_a_pareto_period() {
    let x = many(|rng| Pareto { shape: 1.5, least: 1.0 }.residual(rng));
    for at in [0.1, 0.9, 1.0_f64] {
        assert!(near(up_to(&x, at), at / 3.0), "{at}");
    }
    for at in [2.0, 50.0, 1000.0_f64] {
        assert!(near(up_to(&x, at), 1.0 - at.powf(-0.5) / 1.5), "{at}");
    }
}

#[test]
fn truncated_and_whole() {
    let x = many(|rng| within(2.0, 4.0, || Pareto { shape: 1.0, least: 1.0 }.draw(rng)));
    assert!(x.iter().all(|v| (2.0..=4.0).contains(v)));
    // P(X <= 3 | 2 <= X <= 4) = (1/2 - 1/3) / (1/2 - 1/4).
    assert!(near(up_to(&x, 3.0), 2.0 / 3.0), "{}", up_to(&x, 3.0));
    assert_eq!((within(5.0, 6.0, || 1.0), within(5.0, 6.0, || 9.0), within(5.0, 6.0, || f64::NAN)), (5.0, 6.0, 5.0));
    assert_eq!([0.4, 0.5, 7.49, 1e30, -3.0, f64::NAN].map(|x| whole(x, 0, 10)), [0, 1, 7, 10, 0, 0]);
    assert_eq!(whole(0.2, 1, 10), 1);
}

#[test]
fn sizes_of_every_law_have_the_mean_asked_for() {
    for (law, bound) in [(SizeLaw::Fixed, 0.0), (SizeLaw::Exponential, 0.01), (SizeLaw::Pareto, 0.02), (SizeLaw::Lognormal, 0.02)] {
        let sizes = SizeDraw::of(law, 10_000, 2.5, 2.0);
        let x = many(|rng| sizes.draw(rng, 1 << 40) as f64);
        assert!((mean(&x) / 1e4 - 1.0).abs() <= bound, "{law:?}: {}", mean(&x));
        assert!((0..1000).all(|_| (1..=9000).contains(&sizes.draw(&mut Stream::new(1, "", "", ""), 9000))));
    }
}
