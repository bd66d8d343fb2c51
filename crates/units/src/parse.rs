//! Text to quantity: `"20ms"`, `"10Mbit/s"`, `"64KiB"`, `"50p"`. Decimals are read exactly, never through a float.

use crate::quantity::{Bytes, Dur, Len, Rate};
use std::str::FromStr;
use thiserror::Error;

/// Why a text is not the quantity wanted. The message says what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ParseError {
    /// Nothing but blanks.
    #[error("empty: write {0}")]
    Empty(&'static str),
    /// A number without a unit.
    #[error("\"{text}\" is a bare number: write {write}")]
    BareNumber {
        /// Text that was read.
        text: String,
        /// Suggested spelling.
        write: &'static str,
    },
    /// No number where one must begin (NaN and infinities too).
    #[error("\"{text}\" does not begin with a number: write {write}")]
    NotANumber {
        /// Text that was read.
        text: String,
        /// Suggested spelling.
        write: &'static str,
    },
    /// Less than nothing.
    #[error("\"{text}\" is negative: write {write}")]
    Negative {
        /// Text that was read.
        text: String,
        /// Suggested spelling.
        write: &'static str,
    },
    /// A unit that is not one of this quantity's.
    #[error("unknown unit \"{unit}\" in \"{text}\": write {write}; units are {units}")]
    UnknownUnit {
        /// Text that was read.
        text: String,
        /// The part that is not a unit.
        unit: String,
        /// Suggested spelling.
        write: &'static str,
        /// All units of the quantity.
        units: &'static str,
    },
    /// A spelling that means bits to one tool and bytes to another.
    #[error("\"{text}\" is ambiguous (\"{unit}\" is {meanings}): write {write}")]
    Ambiguous {
        /// Text that was read.
        text: String,
        /// The part with two meanings.
        unit: String,
        /// The two meanings.
        meanings: &'static str,
        /// Suggested spelling.
        write: String,
    },
    /// A value between two representable ones.
    #[error("\"{text}\" is not a whole number of {grain}: round it")]
    TooFine {
        /// Text that was read.
        text: String,
        /// The smallest step.
        grain: &'static str,
    },
    /// A value above the largest representable one.
    #[error("\"{text}\" is too large: the most is {most}")]
    TooLarge {
        /// Text that was read.
        text: String,
        /// The largest value.
        most: &'static str,
    },
}

/// Texts of the errors of one quantity.
struct Kind {
    write: &'static str,
    units: &'static str,
    grain: &'static str,
    most: &'static str,
}

const DUR: Kind = Kind {
    write: "a duration with its unit, such as \"20ms\"",
    units: "ps, ns, us, ms, s, min, h",
    grain: "picoseconds",
    most: "\"18446744.073709551615s\" (213 days)",
};
const RATE: Kind = Kind {
    write: "a rate with its unit, such as \"10Mbit/s\"",
    units: "bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s, B/s, kB/s, MB/s, GB/s",
    grain: "bit/s",
    most: "\"18446744Tbit/s\"",
};
const BYTES: Kind = Kind {
    write: "a size with its unit, such as \"1500B\" or \"64KiB\"",
    units: "B, kB, MB, GB, TB, KiB, MiB, GiB, TiB",
    grain: "bytes",
    most: "\"18446744TB\"",
};
const LEN: Kind = Kind {
    write: "packets or bytes, such as \"50p\" or \"64KiB\"",
    units: "p, B, kB, MB, GB, TB, KiB, MiB, GiB, TiB",
    grain: "packets or bytes",
    most: "\"18446744073709551615p\"",
};

/// A non-negative decimal: `mantissa * 10^exponent`, trailing zeros removed.
struct Decimal {
    mantissa: u128,
    exponent: i32,
    /// More digits than fit: only good for deciding which error it is.
    cut: bool,
}

/// Digits a mantissa may have so that its product with every unit fits in 128 bits.
const MAX_DIGITS: u32 = 22;

impl Decimal {
    /// Reads `digits[.digits][e[sign]digits]` and returns the rest of the text.
    fn read(text: &str) -> Option<(Self, &str)> {
        let b = text.as_bytes();
        let (mut mantissa, mut digits, mut exponent, mut cut) = (0_u128, 0_u32, 0_i32, false);
        let (mut i, mut seen, mut fraction) = (0, false, false);
        while let Some(&c) = b.get(i) {
            match c {
                b'0'..=b'9' => {
                    seen = true;
                    if digits < MAX_DIGITS + 8 {
                        mantissa = mantissa * 10 + u128::from(c - b'0');
                        digits += u32::from(mantissa > 0);
                        exponent -= i32::from(fraction);
                    } else {
                        cut |= c != b'0';
                        exponent = exponent.saturating_add(i32::from(!fraction));
                    }
                }
                b'.' if !fraction => fraction = true,
                _ => break,
            }
            i += 1;
        }
        if !seen {
            return None;
        }
        if matches!(b.get(i), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(b.get(i + 1), Some(b'+' | b'-')));
            let len = b[i + 1 + sign..].iter().take_while(|c| c.is_ascii_digit()).count();
            if len > 0 {
                // Beyond i32 the value is zero or too large in any unit.
                let e = text[i + 1 + sign..i + 1 + sign + len].parse().unwrap_or(1_000_000_i32).min(1_000_000);
                exponent = exponent.saturating_add(if b[i + 1] == b'-' { -e } else { e });
                i += 1 + sign + len;
            }
        }
        while mantissa > 0 && mantissa.is_multiple_of(10) {
            mantissa /= 10;
            exponent += 1;
        }
        Some((Self { mantissa, exponent, cut }, &text[i..]))
    }

    /// `self * unit` if that is a whole number of 64 bits.
    fn times(&self, unit: u64, text: &str, kind: &Kind) -> Result<u64, ParseError> {
        let too_large = || ParseError::TooLarge { text: text.to_owned(), most: kind.most };
        let too_fine = || ParseError::TooFine { text: text.to_owned(), grain: kind.grain };
        if self.mantissa == 0 {
            return Ok(0);
        }
        let power = 10_u128.checked_pow(self.exponent.unsigned_abs());
        let wide = self.mantissa.checked_mul(u128::from(unit)).ok_or(());
        if self.exponent >= 0 {
            let v = wide.ok().zip(power).and_then(|(w, p)| w.checked_mul(p)).and_then(|v| u64::try_from(v).ok());
            return if self.cut { Err(too_large()) } else { v.ok_or_else(too_large) };
        }
        let Some(power) = power else { return Err(too_fine()) };
        match wide {
            Ok(w) if w / power > u128::from(u64::MAX) => Err(too_large()),
            Ok(w) if w % power == 0 && !self.cut => Ok((w / power) as u64),
            Err(()) if self.mantissa / power > u128::from(u64::MAX / unit) => Err(too_large()),
            _ => Err(too_fine()),
        }
    }
}

/// Number and unit of a text, blanks removed.
fn split<'a>(text: &'a str, kind: &Kind) -> Result<(Decimal, &'a str), ParseError> {
    let t = text.trim();
    if t.is_empty() {
        return Err(ParseError::Empty(kind.write));
    }
    let owned = || t.to_owned();
    if let Some(rest) = t.strip_prefix('-')
        && Decimal::read(rest.trim_start()).is_some()
    {
        return Err(ParseError::Negative { text: owned(), write: kind.write });
    }
    let Some((number, unit)) = Decimal::read(t.strip_prefix('+').unwrap_or(t)) else {
        return Err(ParseError::NotANumber { text: owned(), write: kind.write });
    };
    let unit = unit.trim_start();
    if unit.is_empty() {
        return Err(ParseError::BareNumber { text: owned(), write: kind.write });
    }
    Ok((number, unit))
}

fn unknown(text: &str, unit: &str, kind: &Kind) -> ParseError {
    ParseError::UnknownUnit { text: text.trim().to_owned(), unit: unit.to_owned(), write: kind.write, units: kind.units }
}

/// Reads a duration: `"20ms"`, `"1.5s"`, `"250us"`; units ps, ns, us, ms, s, min, h.
pub fn parse_dur(text: &str) -> Result<Dur, ParseError> {
    let (n, unit) = split(text, &DUR)?;
    let ps = match unit {
        "ps" => 1,
        "ns" => 1_000,
        "us" | "µs" | "μs" => 1_000_000,
        "ms" => 1_000_000_000,
        "s" | "sec" => 1_000_000_000_000,
        "min" => 60_000_000_000_000,
        "h" => 3_600_000_000_000_000,
        _ => return Err(unknown(text, unit, &DUR)),
    };
    n.times(ps, text.trim(), &DUR).map(Dur::from_ps)
}

/// Reads a rate: `"10Mbit/s"`, `"1.25MB/s"`, and tc's `"10mbit"`; `"10Mbps"` is refused because tc reads it as bytes.
pub fn parse_rate(text: &str) -> Result<Rate, ParseError> {
    let (n, unit) = split(text, &RATE)?;
    let ambiguous = |meanings, prefix: &str| {
        let number = text.trim().trim_end_matches(unit).trim_end();
        let bytes = if prefix == "K" { "k" } else { prefix };
        let write = format!("\"{number}{bytes}bit/s\" or \"{number}{bytes}B/s\"");
        ParseError::Ambiguous { text: text.trim().to_owned(), unit: unit.to_owned(), meanings, write }
    };
    if let Some(prefix) = unit.strip_suffix("bps").filter(|p| prefix_of(p).is_some()) {
        return Err(ambiguous("bits a second to most tools, bytes a second to tc", prefix));
    }
    if let Some(prefix) = unit.strip_suffix('b').filter(|p| prefix_of(p).is_some()) {
        return Err(ambiguous("bit/s to ns-2, a size to others", prefix));
    }
    let bits = unit.strip_suffix("bit/s").or_else(|| unit.strip_suffix("bit")).and_then(prefix_of);
    let bps = match bits {
        Some(m) => Some(m),
        None => unit.strip_suffix("/s").and_then(byte_unit).map(|m| 8 * m),
    };
    let Some(bps) = bps else { return Err(unknown(text, unit, &RATE)) };
    n.times(bps, text.trim(), &RATE).map(Rate::from_bps)
}

/// Decimal prefix of a bit unit; tc writes them in small letters, and no rate is in millibits.
fn prefix_of(p: &str) -> Option<u64> {
    Some(match p {
        "" => 1,
        "k" | "K" => 1_000,
        "m" | "M" => 1_000_000,
        "g" | "G" => 1_000_000_000,
        "t" | "T" => 1_000_000_000_000,
        _ => return None,
    })
}

fn byte_unit(u: &str) -> Option<u64> {
    Some(match u {
        "B" | "byte" | "bytes" => 1,
        "kB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "TiB" => 1 << 40,
        _ => return None,
    })
}

/// Reads a size: `"1500B"`, `"10kB"` (1000s), `"64KiB"` (1024s).
pub fn parse_bytes(text: &str) -> Result<Bytes, ParseError> {
    let (n, unit) = split(text, &BYTES)?;
    let Some(b) = byte_unit(unit) else { return Err(unknown(text, unit, &BYTES)) };
    n.times(b, text.trim(), &BYTES).map(Bytes)
}

/// Reads the size of a queue: packets (`"50p"`, `"50packets"`) or bytes (`"64KiB"`).
pub fn parse_len(text: &str) -> Result<Len, ParseError> {
    let (n, unit) = split(text, &LEN)?;
    if matches!(unit, "p" | "pkt" | "pkts" | "packet" | "packets") {
        return n.times(1, text.trim(), &LEN).map(Len::Packets);
    }
    let Some(b) = byte_unit(unit) else { return Err(unknown(text, unit, &LEN)) };
    n.times(b, text.trim(), &LEN).map(Len::Bytes)
}

macro_rules! from_str {
    ($($t:ty = $f:ident),*) => {$(
        impl FromStr for $t {
            type Err = ParseError;
            fn from_str(s: &str) -> Result<Self, ParseError> {
                $f(s)
            }
        }
    )*};
}
from_str!(Dur = parse_dur, Rate = parse_rate, Bytes = parse_bytes, Len = parse_len);

#[cfg(test)]
mod tests;
