use super::*;

/// Distribution function of the standard normal.
fn phi(z: f64) -> f64 {
    0.5 * libm::erfc(-z / std::f64::consts::SQRT_2)
}

/// Mean of a lognormal between bounds, from its partial expectations: E[X; X < b] = exp(mu + sigma^2 / 2) Phi((ln b - mu - sigma^2) / sigma), and the k-th moment
/// with k sigma^2 and exp(k mu + k^2 sigma^2 / 2).
fn truncated_moment(law: Lognormal, k: f64, min: f64, max: f64) -> f64 {
    let z = |x: f64, shift: f64| (x.ln() - law.mu - shift * law.sigma * law.sigma) / law.sigma;
    let whole = (k * law.mu + k * k * law.sigma * law.sigma / 2.0).exp();
    whole * (phi(z(max, k)) - phi(z(min, k))) / (phi(z(max, 0.0)) - phi(z(min, 0.0)))
}

fn app(params: &WebParams) -> Web {
    params.build(FlowId(0), Time::ZERO, None)
}

/// TR 25.892 annex A gives mu = 8.35 and sigma = 1.37 for main objects, 6.17 and 2.36 for embedded ones, as well as mean and deviation.
#[test]
fn the_two_ways_to_give_a_size_agree() {
    let w = app(&WebParams::default());
    for (law, mu, sigma) in [(w.main, 8.35, 1.37), (w.object, 6.17, 2.36)] {
        assert!((law.mu - mu).abs() < 0.01 && (law.sigma - sigma).abs() < 0.01, "{law:?}");
    }
}

/// Means and medians of the sizes against the formulas of the truncated law.
#[test]
fn sizes_have_the_moments_of_the_truncated_law() {
    let p = WebParams::default();
    let w = app(&p);
    let mut rng = Stream::new(5, "test", "web", "");
    for (law, min, max) in [(w.main, p.main_min, p.main_max), (w.object, p.object_min, p.object_max)] {
        let n = 400_000;
        let xs: Vec<f64> = (0..n).map(|_| truncated(law, min, max, &mut rng) as f64).collect();
        let (lo, hi) = (min.get() as f64, max.get() as f64);
        assert!(xs.iter().all(|&x| (lo..=hi).contains(&x)));
        let (m1, m2) = (truncated_moment(law, 1.0, lo, hi), truncated_moment(law, 2.0, lo, hi));
        let mean = xs.iter().sum::<f64>() / f64::from(n);
        let deviation = ((m2 - m1 * m1) / f64::from(n)).sqrt();
        assert!((mean - m1).abs() < 4.0 * deviation, "{mean} {m1} {deviation}");
        let median = {
            let mut sorted = xs.clone();
            sorted.sort_by(f64::total_cmp);
            sorted[sorted.len() / 2]
        };
        let at = |x: f64| {
            (phi((x.ln() - law.mu) / law.sigma) - phi((lo.ln() - law.mu) / law.sigma))
                / (phi((hi.ln() - law.mu) / law.sigma) - phi((lo.ln() - law.mu) / law.sigma))
        };
        assert!((at(median) - 0.5).abs() < 0.004, "{median}");
    }
}

/// TR 25.892 annex A: 5.64 embedded objects in the mean, 53 at most: k alpha / (alpha - 1) (1 - (k / m)^(alpha - 1)) + m (k / m)^alpha - k. The
/// share of pages with the most is that of the law beyond the cut, and of what is rounded up to it.
#[test]
fn numbers_of_embedded_objects() {
    let w = app(&WebParams::default());
    let mut rng = Stream::new(6, "test", "web", "");
    let n = 400_000;
    let counts: Vec<u64> = (0..n).map(|_| w.object_count(&mut rng)).collect();
    let mean = counts.iter().sum::<u64>() as f64 / f64::from(n);
    let (k, m, alpha) = (2.0_f64, 55.0_f64, 1.1_f64);
    let formula = k * alpha / (alpha - 1.0) * (1.0 - (k / m).powf(alpha - 1.0)) + m * (k / m).powf(alpha) - k;
    assert!((formula - 5.64).abs() < 0.005, "{formula}");
    // The deviation is about 10. Rounding adds the curvature of the law: 0.02.
    assert!((mean - formula).abs() < 0.08, "{mean}");
    assert_eq!(counts.iter().max(), Some(&53));
    let most = counts.iter().filter(|&&c| c == 53).count() as f64 / f64::from(n);
    let want = (k / 54.5).powf(alpha);
    assert!((most - want).abs() < 4.0 * (want / f64::from(n)).sqrt(), "{most} {want}");
}

/// RFC 7928's pages are all alike, without reading times.
#[test]
fn rfc7928_pages() {
    let p: WebParams = serde_json::from_str(r#"{"model":"rfc7928"}"#).unwrap();
    let w = app(&p);
    let mut rng = Stream::new(7, "test", "web", "");
    assert_eq!((w.main_size(&mut rng), w.object_count(&mut rng), w.reading), (700_000, 0, Dur::ZERO));
    assert_eq!(app(&WebParams::default()).reading, Dur::from_secs(30));
}

#[test]
fn bounds_that_exclude_everything() {
    for (json, field) in
        [(r#"{"main_min":"3MB"}"#, "main_min"), (r#"{"object_max":"40B"}"#, "object_min"), (r#"{"objects_least":60}"#, "objects_least")]
    {
        let p: WebParams = serde_json::from_str(json).unwrap();
        assert_eq!(p.check(Proto::Tcp).unwrap_err().field, field);
    }
}
