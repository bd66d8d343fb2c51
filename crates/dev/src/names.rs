//! Names of algorithms and parameters as Python spells them.

/// `parking_lot` becomes `ParkingLot`.
pub(crate) fn camel(name: &str) -> String {
    let first = |w: &str| w.chars().next().map(|c| c.to_ascii_uppercase().to_string() + &w[1..]).unwrap_or_default();
    name.split(['_', '-']).map(first).collect()
}

/// A keyword of Python gets an underscore behind it.
pub(crate) fn identifier(name: &str) -> String {
    if matches!(name, "from" | "is" | "in" | "class" | "global" | "lambda" | "pass" | "not" | "or" | "and" | "as" | "if") {
        format!("{name}_")
    } else {
        name.to_owned()
    }
}
