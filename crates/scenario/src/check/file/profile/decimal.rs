//! Decimal numbers as exact integers.

/// Most digits of a number.
const DIGITS: usize = 40;

/// `text` times ten to the power of `power`, rounded down; `None` if it is no number, or too large.
pub(super) fn scaled(text: &str, power: i32) -> Option<i128> {
    let (text, negative) = match text.strip_prefix('-') {
        Some(rest) => (rest, true),
        None => (text.strip_prefix('+').unwrap_or(text), false),
    };
    let (digits, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], text[at + 1..].parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.len() + part.len() == 0 || whole.len() + part.len() > DIGITS || exponent.abs() > 60 {
        return None;
    }
    if !whole.bytes().chain(part.bytes()).all(|b| b.is_ascii_digit()) {
        return None;
    }
    let value = whole.bytes().chain(part.bytes()).try_fold(0_i128, |sum, b| sum.checked_mul(10)?.checked_add(i128::from(b - b'0')))?;
    let power = power + exponent - part.len() as i32;
    let ten = |n: i32| 10_i128.checked_pow(n.unsigned_abs());
    let value = if power >= 0 { value.checked_mul(ten(power)?)? } else { ten(power).map_or(0, |ten| value / ten) };
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::scaled;

    #[test]
    fn numbers_are_exact() {
        for (text, power, want) in [
            ("25.5", 9, Some(25_500_000_000)),
            ("1700000000.123456", 12, Some(1_700_000_000_123_456_000_000)),
            ("1e-3", 12, Some(1_000_000_000)),
            ("-2.5E1", 0, Some(-25)),
            ("0.0000000000001", 12, Some(0)),
            (".5", 1, Some(5)),
            ("5.", 0, Some(5)),
            ("", 0, None),
            (".", 0, None),
            ("nan", 0, None),
            ("1e99", 0, None),
            ("1_0", 0, None),
        ] {
            assert_eq!(scaled(text, power), want, "{text}");
        }
    }
}
