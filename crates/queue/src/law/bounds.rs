//! Bounds of parameters.

use crate::discipline::Problem;

/// Refuses the first value that is not between 0 and the most it may be; values come with their names.
pub(super) fn check_up_to(values: &[(&str, f64, f64)]) -> Result<(), Problem> {
    match values.iter().find(|(_, v, most)| !(0.0..=*most).contains(v)) {
        Some((name, v, most)) => Err(Problem::new(*name, format!("{v} is not between 0 and {most}"))),
        None => Ok(()),
    }
}

/// Refuses the first value that is not between 0 and 1.
pub(super) fn check_shares(values: &[(&str, f64)]) -> Result<(), Problem> {
    values.iter().try_for_each(|&(name, v)| check_up_to(&[(name, v, 1.0)]))
}
