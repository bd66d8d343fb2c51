//! The newtypes and their arithmetic.

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub};

/// Picoseconds in a second.
pub const PS_PER_SEC: u64 = 1_000_000_000_000;

/// An instant: picoseconds since the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

/// A span of time in picoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Dur(u64);

/// A data rate in bit/s.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Rate(u64);

/// An amount of data in bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(pub u64);

/// The size of a queue or a threshold in it: packets (`"50p"`) or bytes (`"64KiB"`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Len {
    /// A number of packets.
    Packets(u64),
    /// A number of bytes.
    Bytes(u64),
}

impl Time {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// Later than every event: "never".
    pub const MAX: Self = Self(u64::MAX);

    /// An instant from its picoseconds.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }
    /// Picoseconds since the start.
    pub const fn as_ps(self) -> u64 {
        self.0
    }
    /// Seconds since the start.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_SEC as f64
    }
    /// The instant `d` later, where both are known to be far from the end of time: without the check of `+`.
    #[inline]
    pub const fn later(self, d: Dur) -> Self {
        debug_assert!(self.0.checked_add(d.0).is_some());
        Self(self.0.wrapping_add(d.0))
    }
    /// The span since `earlier`; zero if `earlier` is later.
    pub const fn since(self, earlier: Self) -> Dur {
        Dur(self.0.saturating_sub(earlier.0))
    }
}

impl Dur {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// The longest span.
    pub const MAX: Self = Self(u64::MAX);

    /// A span from its picoseconds.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }
    /// A span from nanoseconds.
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns * 1_000)
    }
    /// A span from microseconds.
    pub const fn from_us(us: u64) -> Self {
        Self(us * 1_000_000)
    }
    /// A span from milliseconds.
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms * 1_000_000_000)
    }
    /// A span from seconds.
    pub const fn from_secs(s: u64) -> Self {
        Self(s * PS_PER_SEC)
    }
    /// The nearest whole picosecond to `s` seconds; saturates, and maps NaN and negatives to zero.
    pub fn from_secs_f64(s: f64) -> Self {
        Self((s * PS_PER_SEC as f64 + 0.5) as u64)
    }
    /// Picoseconds.
    pub const fn as_ps(self) -> u64 {
        self.0
    }
    /// Seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_SEC as f64
    }
    /// Difference, at least zero.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Rate {
    /// A rate from bit/s.
    pub const fn from_bps(bps: u64) -> Self {
        Self(bps)
    }
    /// A rate from Mbit/s.
    pub const fn from_mbps(mbps: u64) -> Self {
        Self(mbps * 1_000_000)
    }
    /// bit/s.
    pub const fn as_bps(self) -> u64 {
        self.0
    }
    /// Time to put `len` bytes on a wire of this rate, rounded to the nearest picosecond.
    pub fn tx_time(self, len: u64) -> Dur {
        let ps = (u128::from(len) * 8 * u128::from(PS_PER_SEC) + u128::from(self.0 / 2)) / u128::from(self.0.max(1));
        Dur(u64::try_from(ps).unwrap_or(u64::MAX))
    }
    /// Whole bytes that leave at this rate in a time.
    pub const fn bytes_in(self, time: Dur) -> u64 {
        let bytes = self.0 as u128 * time.0 as u128 / (8 * PS_PER_SEC as u128);
        if bytes > u64::MAX as u128 { u64::MAX } else { bytes as u64 }
    }
}

impl Bytes {
    /// The number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl Add<Dur> for Time {
    type Output = Self;
    fn add(self, d: Dur) -> Self {
        Self(self.0.saturating_add(d.0))
    }
}
impl AddAssign<Dur> for Time {
    fn add_assign(&mut self, d: Dur) {
        *self = *self + d;
    }
}
impl Sub for Time {
    type Output = Dur;
    fn sub(self, earlier: Self) -> Dur {
        debug_assert!(self.0 >= earlier.0);
        Dur(self.0.wrapping_sub(earlier.0))
    }
}
impl Add for Dur {
    type Output = Self;
    fn add(self, d: Self) -> Self {
        Self(self.0.saturating_add(d.0))
    }
}
impl AddAssign for Dur {
    fn add_assign(&mut self, d: Self) {
        *self = *self + d;
    }
}
impl Sub for Dur {
    type Output = Self;
    fn sub(self, d: Self) -> Self {
        debug_assert!(self.0 >= d.0);
        Self(self.0.wrapping_sub(d.0))
    }
}
impl Mul<u64> for Dur {
    type Output = Self;
    fn mul(self, k: u64) -> Self {
        Self(self.0.saturating_mul(k))
    }
}
impl Div<u64> for Dur {
    type Output = Self;
    fn div(self, k: u64) -> Self {
        Self(self.0 / k)
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Dur(self.0))
    }
}
