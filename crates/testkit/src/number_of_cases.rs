//! The number of random cases of a test, which one environment variable sets for all of them.

const FACTOR: &str = "FAIRLANE_CASES";

/// Multiplies the number of cases that a random test has by default by `FAIRLANE_CASES`; at least one is left.
///
/// # Panics
/// If the variable is not a positive number.
pub fn cases(default: u32) -> u32 {
    multiplied(default, std::env::var(FACTOR).ok().as_deref())
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a conversion to an integer keeps to its range")]
fn multiplied(default: u32, factor: Option<&str>) -> u32 {
    let Some(text) = factor.filter(|text| !text.is_empty()) else { return default };
    let factor = text.parse().ok().filter(|f: &f64| f.is_finite() && *f > 0.0);
    let factor = factor.unwrap_or_else(|| panic!("{FACTOR}={text}: expected a positive number, such as 0.1 or 10"));
    ((f64::from(default) * factor).round() as u32).max(1)
}

#[cfg(test)]
mod tests {
    use super::multiplied;

    #[test]
    fn a_factor_multiplies_and_leaves_one() {
        assert_eq!(
            [None, Some(""), Some("1"), Some("0.1"), Some("35"), Some("1e-9")].map(|f| multiplied(300, f)),
            [300, 300, 300, 30, 10_500, 1]
        );
        assert_eq!(multiplied(u32::MAX, Some("10")), u32::MAX);
    }

    #[test]
    fn other_text_is_refused() {
        for text in ["many", "0", "-1", "inf", "NaN"] {
            assert!(std::panic::catch_unwind(|| multiplied(300, Some(text))).is_err(), "{text}");
        }
    }
}
