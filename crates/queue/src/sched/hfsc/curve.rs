//! Service curves of two slopes: how much a class must have been served by when.

use super::super::bucket::tokens;
use fairlane_units::{Dur, Rate};

fairlane_units::params! {
    /// A service curve: the slope `m1` for the time `d`, then `m2` (Stoica, Zhang and Ng 1997, section III).
    pub struct ServiceCurve {
        /// Slope of the first part. Unset: `m2`, so that the curve is a line.
        #[schemars(extend("x-min" = "0bit/s", "x-max" = "100Tbit/s"))]
        pub m1: Option<Rate> = None,
        /// Length of the first part.
        #[schemars(extend("x-min" = "0s", "x-max" = "1h"))]
        pub d: Dur = Dur::ZERO,
        /// Slope of the rest: the rate in the long run.
        #[schemars(extend("x-min" = "0bit/s", "x-max" = "100Tbit/s"))]
        pub m2: Rate = Rate::from_bps(0),
    }
}

impl ServiceCurve {
    /// A line.
    pub(crate) fn line(rate: Rate) -> Self {
        Self { m2: rate, ..Self::default() }
    }

    /// True if it promises nothing.
    pub(crate) fn is_flat(&self) -> bool {
        self.m2.as_bps() == 0 && self.m1.is_none_or(|m1| m1.as_bps() == 0)
    }
}

/// Later than any time.
pub(super) const NEVER: u128 = u128::MAX / 4;

/// A curve from a point on. Times are in picoseconds, amounts in picobits: what 1 bit/s brings in a picosecond.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Curve {
    x: u128,
    y: u128,
    /// Extent of the first part.
    dx: u128,
    dy: u128,
    m1: u128,
    m2: u128,
}

/// Time in which a slope brings an amount.
fn time_of(amount: u128, slope: u128) -> u128 {
    match (amount, slope) {
        (0, _) => 0,
        (_, 0) => NEVER,
        _ => amount.div_ceil(slope),
    }
}

impl Curve {
    pub(super) fn new(p: &ServiceCurve) -> Self {
        let m2 = u128::from(p.m2.as_bps());
        let (m1, dx) = match p.m1 {
            Some(m1) if p.d > Dur::ZERO => (u128::from(m1.as_bps()), u128::from(p.d.as_ps())),
            _ => (m2, 0),
        };
        Self { x: 0, y: 0, dx, dy: dx * m1, m1, m2 }
    }

    /// True if the first part is not the steeper one.
    pub(super) fn is_convex(&self) -> bool {
        self.m1 <= self.m2
    }

    /// The line of the second slope from where the curve begins.
    pub(super) fn without_first_part(self) -> Self {
        Self { dx: 0, dy: 0, ..self }
    }

    /// Time at which the curve reaches an amount (rtsc_y2x).
    pub(super) fn when(&self, y: u128) -> u128 {
        if y < self.y {
            self.x
        } else if y <= self.y + self.dy {
            if self.dy == 0 { self.x + self.dx } else { self.x + time_of(y - self.y, self.m1) }
        } else {
            self.x.saturating_add(self.dx).saturating_add(time_of(y - self.y - self.dy, self.m2)).min(NEVER)
        }
    }

    /// Amount that the curve has reached at a time (rtsc_x2y).
    pub(super) fn amount(&self, x: u128) -> u128 {
        if x <= self.x {
            self.y
        } else if x <= self.x + self.dx {
            self.y + (x - self.x) * self.m1
        } else {
            (x - self.x - self.dx).saturating_mul(self.m2).saturating_add(self.y + self.dy)
        }
    }

    /// The lesser of this curve and `fresh` from the point (x, y) on (rtsc_min). Both have the same slopes.
    pub(super) fn lower_to(&mut self, fresh: &Self, x: u128, y: u128) {
        let here = self.amount(x);
        if fresh.is_convex() {
            if here >= y {
                (self.x, self.y) = (x, y);
            }
            return;
        }
        if here <= y {
            return;
        }
        if self.amount(x + fresh.dx) >= y + fresh.dy {
            *self = Self { x, y, ..*fresh };
            return;
        }
        // They cross: the steep part lasts until the old curve is met.
        let mut dx = (here - y) / (fresh.m1 - fresh.m2);
        if self.x + self.dx > x {
            dx += self.x + self.dx - x;
        }
        *self = Self { x, y, dx, dy: dx * fresh.m1, ..*fresh };
    }
}

/// Picobits of a packet.
#[inline]
pub(super) const fn amount(len: u32) -> u128 {
    tokens(len as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u128 = 1_000_000_000;

    fn curve(m1: u64, d_ms: u64, m2: u64) -> Curve {
        let (m1, m2) = (Some(Rate::from_bps(m1)), Rate::from_bps(m2));
        Curve::new(&ServiceCurve { m1, d: Dur::from_ms(d_ms), m2 })
    }

    /// A concave curve and its inverse at a few points: 8 Mbit/s for 10 ms are 10000 bytes, then 1 Mbit/s.
    #[test]
    fn points_of_a_curve() {
        let c = curve(8_000_000, 10, 1_000_000);
        for (x, bytes) in [(0, 0), (5, 5_000), (10, 10_000), (18, 11_000)] {
            assert_eq!(c.amount(x * MS), amount(bytes), "{x}");
            assert_eq!(c.when(amount(bytes)), x * MS, "{x}");
        }
        // A convex one with nothing at first: nothing is due before 10 ms.
        let late = curve(0, 10, 1_000_000);
        assert_eq!((late.when(0), late.when(amount(125))), (10 * MS, 11 * MS));
        assert_eq!(curve(8_000_000, 1, 0).when(amount(2000)), NEVER);
    }

    /// The lesser of two copies of a concave curve, point by point. A convex one is the old or the new one, whichever is lower where the new one begins.
    #[test]
    fn the_lesser_of_two() {
        for base in [curve(8_000_000, 10, 1_000_000), curve(1_000_000, 10, 8_000_000), curve(1, 0, 3_000_000)] {
            for (x, bytes) in [(4, 1000), (30, 20), (30, 9000), (30, 12_000), (12, 10_000), (2, 1999)] {
                let (x, y) = (x * MS, amount(bytes));
                let mut got = base;
                got.lower_to(&base, x, y);
                let fresh = Curve { x, y, ..base };
                for k in 0..60 {
                    let t = x + k * MS;
                    let (old, new) = (base.amount(t), fresh.amount(t));
                    let want = match (base.is_convex(), base.amount(x) < y) {
                        (false, _) => old.min(new),
                        (true, true) => old,
                        (true, false) => new,
                    };
                    assert!(got.amount(t).abs_diff(want) <= amount(1), "{base:?} {t}");
                }
            }
        }
    }
}
