//! Profiles: rate, delay and loss of a link over time.
//!
//! A row has a time and up to four values. Between two rows a value keeps that of the first, or changes linearly. A profile that repeats restarts at
//! the time of its last row; otherwise the last row holds for ever. All values are whole numbers; a search takes the logarithm of the number of rows.

use fairlane_units::{PS_PER_SEC, Rate, Time};
use std::sync::Arc;

/// End of a transmission that never ends, with room for the propagation delay.
const NEVER: u64 = u64::MAX / 2;
/// Most hours of a profile, as of a run.
const LONGEST: u64 = 1000 * 3600 * PS_PER_SEC;
/// Longest delay: an hour.
const LATEST: u64 = 3600 * PS_PER_SEC;
/// Highest rate in bit/s.
const FASTEST: u64 = 10_000_000_000_000;
/// Unit of losses.
const LOSS: u64 = 1_000_000_000;

/// Values of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// Rate in bit/s.
    Rate = 1,
    /// Propagation delay in picoseconds.
    Delay = 2,
    /// Probability of loss in units of 10^-9.
    Loss = 4,
    /// Rate of the other direction (upload) in bit/s.
    Upload = 8,
}

const VALUES: [(Value, u64, &str); 4] =
    [(Value::Rate, FASTEST, "rate"), (Value::Delay, LATEST, "delay"), (Value::Loss, LOSS, "loss"), (Value::Upload, FASTEST, "upload")];
/// Bit of a profile whose values change linearly unless a scenario says otherwise.
pub const LINEAR: u64 = 16;

/// Rows of a profile as one list of numbers: the sum of the bits of its values, then by row its time in picoseconds and its values in the order of [`Value`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    list: Arc<[u64]>,
}

impl Profile {
    /// Takes a list that [`Self::check`] accepts.
    pub const fn new(list: Arc<[u64]>) -> Self {
        Self { list }
    }

    /// Checks a list.
    ///
    /// # Errors
    /// A message about the first problem.
    pub fn check(list: &[u64]) -> Result<(), String> {
        let profile = Self { list: list.into() };
        let rows = list.len().saturating_sub(1);
        if profile.bits() & 15 == 0 || profile.bits() > 31 || rows == 0 || !rows.is_multiple_of(profile.stride()) {
            return Err("a profile is the bits of its values, then for each row its time and its values".to_owned());
        }
        if profile.time(0) != 0 {
            return Err("its first row is not at 0".to_owned());
        }
        for row in 0..profile.rows() {
            let place = format!("row {}", row + 1);
            if row > 0 && profile.time(row) <= profile.time(row - 1) {
                return Err(format!("{place} is not later than the one before"));
            }
            if profile.time(row) > LONGEST {
                return Err(format!("{place} comes after the longest run (1000h)"));
            }
            for (value, most, name) in VALUES {
                if profile.has(value) && profile.value(row, value) > most {
                    let most = ["10Tbit/s", "1h", "1", "10Tbit/s"][(value as u64).trailing_zeros() as usize];
                    return Err(format!("the {name} of {place} is above {most}"));
                }
            }
        }
        let rates = [Value::Rate, Value::Upload];
        match rates.into_iter().find(|&v| profile.has(v) && (0..profile.rows()).all(|row| profile.value(row, v) == 0)) {
            Some(_) => Err("its rate is always zero".to_owned()),
            None => Ok(()),
        }
    }

    fn bits(&self) -> u64 {
        self.list.first().copied().unwrap_or(0)
    }
    fn stride(&self) -> usize {
        1 + (self.bits() & 15).count_ones() as usize
    }
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.list.len().saturating_sub(1) / self.stride()
    }
    /// Returns true if rows have this value.
    pub fn has(&self, value: Value) -> bool {
        self.bits() & value as u64 != 0
    }
    /// Returns true if its values change linearly unless a scenario says otherwise.
    pub fn is_linear(&self) -> bool {
        self.bits() & LINEAR != 0
    }
    fn time(&self, row: usize) -> u64 {
        self.list.get(1 + row * self.stride()).copied().unwrap_or(0)
    }
    fn value(&self, row: usize, value: Value) -> u64 {
        let before = (self.bits() & (value as u64 - 1)).count_ones() as usize;
        self.list.get(2 + row * self.stride() + before).copied().unwrap_or(0)
    }
    /// Time of the last row, where a profile that repeats restarts.
    pub fn period(&self) -> u64 {
        self.time(self.rows().saturating_sub(1))
    }
    /// Smallest value of a row.
    pub fn least(&self, value: Value) -> u64 {
        (0..self.rows()).map(|row| self.value(row, value)).min().unwrap_or(0)
    }

    /// Last row that is not after `t`.
    fn row_at(&self, t: u64) -> usize {
        let (mut low, mut high) = (0, self.rows());
        while high - low > 1 {
            let middle = low.midpoint(high);
            if self.time(middle) <= t { low = middle } else { high = middle }
        }
        low
    }

    /// Value at time `t`.
    pub fn at(&self, value: Value, t: Time, mode: Mode) -> u64 {
        let t = match self.period() {
            period if mode.repeat && period > 0 => t.as_ps() % period,
            _ => t.as_ps(),
        };
        let row = self.row_at(t);
        let first = self.value(row, value);
        if !mode.linear || row + 1 >= self.rows() {
            return first;
        }
        let (from, until, then) = (self.time(row), self.time(row + 1), self.value(row + 1, value));
        let change = (i128::from(then) - i128::from(first)) * i128::from(t - from) / i128::from(until - from);
        (i128::from(first) + change) as u64
    }
}

/// How values follow from rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// Values change linearly from row to row; otherwise they keep that of the row before.
    pub linear: bool,
    /// The profile restarts at its last row.
    pub repeat: bool,
}

/// Rate of a link by a profile: constant from row to row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileRate {
    profile: Profile,
    value: Value,
    /// Where the profile restarts; 0 if it does not.
    period: u64,
    /// Work until each row. The unit of work is 1 bit/s times 1 ps.
    work: Arc<[u128]>,
}

impl ProfileRate {
    /// Creates the rate of a profile that has this value.
    pub fn new(profile: Profile, value: Value, repeat: bool) -> Self {
        let mut sum = 0;
        let work = (0..profile.rows())
            .map(|row| {
                if row > 0 {
                    sum += u128::from(profile.time(row) - profile.time(row - 1)) * u128::from(profile.value(row - 1, value));
                }
                sum
            })
            .collect();
        let period = if repeat { profile.period() } else { 0 };
        Self { profile, value, period, work }
    }

    fn total(&self) -> u128 {
        self.work.last().copied().unwrap_or(0)
    }

    /// Mean rate until the last row, at least 1 bit/s.
    pub fn mean(&self) -> Rate {
        let mean = self.total().checked_div(u128::from(self.profile.period()));
        let mean = mean.unwrap_or_else(|| u128::from(self.profile.value(0, self.value)));
        Rate::from_bps(u64::try_from(mean).unwrap_or(u64::MAX).max(1))
    }

    /// Rate at a time.
    pub fn at(&self, now: Time) -> Rate {
        Rate::from_bps(self.profile.at(self.value, now, Mode { linear: false, repeat: self.period > 0 }))
    }

    /// Work from time zero to `t`.
    fn area(&self, t: u64) -> u128 {
        let rounds = t.checked_div(self.period).unwrap_or(0);
        let within = t - rounds * self.period;
        let row = self.profile.row_at(within);
        let rest = u128::from(self.profile.value(row, self.value)) * u128::from(within - self.profile.time(row));
        u128::from(rounds) * self.total() + self.work[row] + rest
    }

    /// Returns the end of a transmission of `len` bytes, rounded to the nearest picosecond.
    pub(crate) fn end(&self, start: Time, len: u32) -> Time {
        let goal = self.area(start.as_ps()) + u128::from(len) * 8 * u128::from(PS_PER_SEC);
        let total = self.total();
        let (rounds, rest) = match (self.period, total) {
            (0, _) => (0, goal),
            (_, 0) => return Time::from_ps(NEVER),
            // A goal at the end of a round is reached in this round.
            _ => ((goal - 1) / total, goal - (goal - 1) / total * total),
        };
        let row = self.work.partition_point(|&w| w < rest).saturating_sub(1);
        let rate = u128::from(self.profile.value(row, self.value));
        let Some(within) = (rest - self.work[row] + rate / 2).checked_div(rate) else { return Time::from_ps(NEVER) };
        let end = rounds * u128::from(self.period) + u128::from(self.profile.time(row)) + within;
        Time::from_ps(u64::try_from(end).unwrap_or(NEVER).min(NEVER))
    }

    /// Bits that the link can carry between two times.
    pub(crate) fn capacity(&self, from: Time, to: Time) -> f64 {
        (self.area(to.as_ps()) - self.area(from.as_ps())) as f64 / PS_PER_SEC as f64
    }
}

#[cfg(test)]
#[path = "profile_tests.rs"]
mod tests;
