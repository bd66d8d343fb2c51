//! Quantity to text: short, exact, and read back as the same value.

use crate::quantity::{Bytes, Dur, Len, Rate};
use std::fmt;

/// Writes `value / unit` as an exact decimal, then the unit's name; `units` go from large to small and end with 1.
fn decimal(f: &mut fmt::Formatter<'_>, value: u64, units: &[(u64, &str)]) -> fmt::Result {
    let &(unit, name) = units.iter().find(|u| value >= u.0).unwrap_or(&units[units.len() - 1]);
    let rest = value % unit;
    if rest == 0 {
        return f.pad(&format!("{}{name}", value / unit));
    }
    let digits = unit.ilog10() as usize;
    let fraction = format!("{rest:0digits$}");
    f.pad(&format!("{}.{}{name}", value / unit, fraction.trim_end_matches('0')))
}

impl fmt::Display for Dur {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::ZERO {
            return f.pad("0s");
        }
        decimal(f, self.as_ps(), &[(1_000_000_000_000, "s"), (1_000_000_000, "ms"), (1_000_000, "us"), (1_000, "ns"), (1, "ps")])
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(1_000_000_000_000, "Tbit/s"), (1_000_000_000, "Gbit/s"), (1_000_000, "Mbit/s"), (1_000, "kbit/s"), (1, "bit/s")];
        decimal(f, self.as_bps(), &units)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Packet sizes read best in plain bytes; larger sizes take the largest unit that divides them.
        const UNITS: [(u64, &str); 9] = [
            (1 << 40, "TiB"),
            (1_000_000_000_000, "TB"),
            (1 << 30, "GiB"),
            (1_000_000_000, "GB"),
            (1 << 20, "MiB"),
            (1_000_000, "MB"),
            (1 << 10, "KiB"),
            (1_000, "kB"),
            (1, "B"),
        ];
        let v = self.0;
        let (unit, name) = UNITS.into_iter().find(|u| v >= 10_000 && v.is_multiple_of(u.0)).unwrap_or((1, "B"));
        f.pad(&format!("{}{name}", v / unit))
    }
}

impl fmt::Display for Len {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packets(n) => f.pad(&format!("{n}p")),
            Self::Bytes(n) => fmt::Display::fmt(&Bytes(*n), f),
        }
    }
}

macro_rules! debug_as_display {
    ($($t:ty),*) => {$(
        impl fmt::Debug for $t {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    )*};
}
debug_as_display!(Dur, Rate, Bytes);
