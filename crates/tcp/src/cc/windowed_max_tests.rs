use super::WindowedMax;
use fairlane_testkit::cases;
use proptest::prelude::*;

#[test]
fn a_maximum_leaves_after_its_window() {
    let mut f = WindowedMax::new(10);
    f.update(0, 100);
    for round in 1..=10 {
        f.update(round, 50);
        assert_eq!(f.get(), 100, "round {round}");
    }
    f.update(11, 50);
    assert_eq!(f.get(), 50);
}

#[test]
fn a_larger_value_counts_at_once() {
    let mut f = WindowedMax::new(10);
    for round in 0..30 {
        f.update(round, round);
        assert_eq!(f.get(), round);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(256)))]
    /// Never more than the true maximum of the window, never less than the newest value.
    #[test]
    fn between_the_newest_and_the_true_maximum(values in prop::collection::vec(0..1000_u64, 1..200)) {
        let mut f = WindowedMax::new(10);
        for (i, &v) in values.iter().enumerate() {
            f.update(i as u64, v);
            let from = i.saturating_sub(10);
            let truth = values[from..=i].iter().max().copied().unwrap_or(0);
            prop_assert!(f.get() <= truth);
            prop_assert!(f.get() >= v);
        }
    }
}
