//! Growth of the cost per packet, in steps, when more waits or more flows take part.

use fairlane_engine::steps::steps;

/// The cost is compared at the first size, at four times and at sixteen times as many.
const TIMES: [usize; 3] = [1, 4, 16];
/// Steps per packet that do not count as growth: a structure changes its shape in steps, such as powers of two.
const SLACK: f64 = 8.0;
/// Factor allowed beyond the ratio of the logarithms. Linear growth has 4 and 16 here, a square root 2 and 4.
const MARGIN: f64 = 1.5;

/// Fails if the steps per packet grow faster than the logarithm of the size. `run` handles some packets at a size and returns their number.
/// Builds without debug assertions do not count.
///
/// # Panics
///
/// If the steps grow faster.
pub fn assert_logarithmic(what: &str, first: usize, mut run: impl FnMut(usize) -> usize) {
    assert_costs_logarithmic(what, first, |n| {
        let before = steps();
        let packets = run(n);
        (steps() - before) as f64 / packets as f64
    });
}

/// [`assert_logarithmic`] for a `cost` that has the steps per packet of a part of the work.
///
/// # Panics
///
/// If the cost grows faster.
pub fn assert_costs_logarithmic(what: &str, first: usize, cost: impl FnMut(usize) -> f64) {
    if !cfg!(debug_assertions) {
        return;
    }
    let sizes = TIMES.map(|times| first * times);
    let costs = sizes.map(cost);
    for (cost, n) in costs.iter().zip(sizes) {
        let most = costs[0] * (n as f64).ln() / (first as f64).ln() * MARGIN + SLACK;
        assert!(*cost <= most, "{what}: {costs:.1?} steps per packet at {sizes:?} grow faster than log n");
    }
}
