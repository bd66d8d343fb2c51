//! Token buckets, exact to the picobit.

use super::wfq::PER_BYTE;
use fairlane_units::{Bytes, Rate, Time};

/// Tokens arrive at a rate and are kept up to a depth. A picobit is what 1 bit/s brings in a picosecond, so no fraction is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bucket {
    rate: u128,
    depth: u128,
    level: u128,
    at: Time,
}

/// The tokens that a packet of `len` bytes takes.
#[inline]
pub(crate) const fn tokens(len: u64) -> u128 {
    len as u128 * PER_BYTE as u128
}

impl Bucket {
    /// A full bucket.
    pub(crate) fn new(rate: Rate, depth: Bytes) -> Self {
        let depth = u128::from(depth.get()) * u128::from(PER_BYTE);
        Self { rate: u128::from(rate.as_bps()), depth, level: depth, at: Time::ZERO }
    }

    /// Brings it to time `t`. Returns the tokens for which it had no room.
    #[inline]
    pub(crate) fn fill(&mut self, t: Time) -> u128 {
        let level = self.level + u128::from(t.since(self.at).as_ps()) * self.rate;
        self.at = self.at.max(t);
        self.level = level.min(self.depth);
        level - self.level
    }

    /// Puts tokens in; what has no room is lost.
    #[inline]
    pub(crate) fn add(&mut self, tokens: u128) {
        self.level = (self.level + tokens).min(self.depth);
    }

    /// True if it holds what is wanted.
    #[inline]
    pub(crate) fn holds(&self, tokens: u128) -> bool {
        self.level >= tokens
    }

    /// Takes tokens out.
    #[inline]
    pub(crate) fn take(&mut self, tokens: u128) {
        self.level = self.level.saturating_sub(tokens);
    }

    /// True if it could ever hold so many.
    pub(crate) fn fits(&self, tokens: u128) -> bool {
        tokens <= self.depth
    }

    /// The first picosecond at which it holds what is wanted.
    pub(crate) fn holds_at(&self, tokens: u128) -> Time {
        let wait = tokens.saturating_sub(self.level).div_ceil(self.rate.max(1));
        Time::from_ps(self.at.as_ps().saturating_add(u64::try_from(wait).unwrap_or(u64::MAX)))
    }

    /// Returns the tokens, in bytes.
    pub(crate) fn bytes(&self) -> f64 {
        self.level as f64 / PER_BYTE as f64
    }
}
