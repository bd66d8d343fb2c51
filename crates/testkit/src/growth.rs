//! Growth of the cost per packet, in steps, when more waits or more flows take part.

use fairlane_engine::steps::steps;

/// Sizes at which the cost is compared are the first one, four times and sixteen times as many.
const SIZES: [usize; 3] = [1, 4, 16];
/// Steps per packet that do not count as growth: a structure changes its shape in steps, such as powers of two.
const SLACK: f64 = 8.0;
/// Factor allowed beyond the ratio of the logarithms. Linear growth has 4 and 16 here, a square root 2 and 4.
const MARGIN: f64 = 1.5;

/// Fails if the steps per packet grow faster than the logarithm of the size. `run` handles some packets at a size and returns their number.
/// Builds without debug assertions do not count.
///
/// # Panics
///
/// If the steps grow faster, or if `run` takes no step at all.
pub fn assert_logarithmic(what: &str, first: usize, mut run: impl FnMut(usize) -> usize) {
    if !cfg!(debug_assertions) {
        return;
    }
    let mut cost = |n: usize| {
        let before = steps();
        let packets = run(n);
        assert!(packets > 0, "{what}: no packet with {n}");
        (steps() - before) as f64 / packets as f64
    };
    let costs = SIZES.map(|times| cost(first * times));
    for (&steps, times) in costs.iter().zip(SIZES) {
        let growth = ((first * times) as f64).ln() / (first as f64).ln();
        let most = costs[0] * growth * MARGIN + SLACK;
        assert!(
            steps <= most,
            "{what}: the steps per packet grow faster than log n: {costs:.1?} with {first}, {} and {}",
            first * SIZES[1],
            first * SIZES[2]
        );
    }
}
