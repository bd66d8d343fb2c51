//! Aggregation of acknowledgments: bytes delivered at once in excess of the estimated bandwidth.
//!
//! Source: draft-ietf-ccwg-bbr-06 section 5.5.9 and Linux 6.x `bbr_update_ack_aggregation`, shared by both versions of BBR. The maximum is
//! kept in two halves of a number of rounds each, as in Linux.

use fairlane_units::{Dur, Rate, Time};

/// Time at the estimated bandwidth that limits the room for aggregation (Linux `bbr_extra_acked_max_us`).
const MOST: Dur = Dur::from_ms(100);

/// Acknowledgments of this epoch, and the largest excess of the recent ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct AckAggregation {
    began: Time,
    acked: u64,
    /// Maximum of this half of the window and of the one before.
    most: [u64; 2],
    half: usize,
    age: u32,
    /// Unit in bytes to which the expected data is rounded down; 0: none.
    unit: u64,
}

impl AckAggregation {
    /// Counts the expected data in multiples of `unit` bytes (Linux: whole packets).
    pub(crate) fn in_units(unit: u64) -> Self {
        Self { unit, ..Self::default() }
    }

    fn whole(&self, bytes: u64) -> u64 {
        bytes.checked_div(self.unit).map_or(bytes, |units| units * self.unit)
    }

    /// Begins an epoch.
    pub(crate) fn restart(&mut self, now: Time) {
        self.began = now;
        self.acked = 0;
    }

    /// Ends a round; a half of the window lasts `rounds`.
    pub(crate) fn round(&mut self, rounds: u32) {
        self.age += 1;
        if self.age >= rounds {
            self.age = 0;
            self.half ^= 1;
            self.most[self.half & 1] = 0;
        }
    }

    /// Counts `delivered` bytes at the expected `bandwidth`. An epoch ends when no more was delivered than expected, or with `longest`
    /// bytes; an excess counts up to `window`.
    pub(crate) fn delivered(&mut self, now: Time, bandwidth: Rate, delivered: u64, longest: u64, window: u64) {
        let mut expected = self.whole(bandwidth.bytes_in(now.since(self.began)));
        if self.acked <= expected || self.acked + delivered >= longest {
            self.restart(now);
            expected = 0;
        }
        self.acked += delivered;
        let most = &mut self.most[self.half & 1];
        *most = (*most).max(self.acked.saturating_sub(expected).min(window));
    }

    /// Room for the largest excess times a gain, within the delivery of `bandwidth` in [`MOST`].
    pub(crate) fn room(&self, bandwidth: Rate, gain: f64) -> u64 {
        let most = self.most[0].max(self.most[1]);
        ((most as f64 * gain) as u64).min(self.whole(bandwidth.bytes_in(MOST)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux 6.18 `bbr_update_ack_aggregation`, on a path of 10 Mbit/s: two packets of 1448 bytes every 2.4 ms. The kernel rounds the two
    /// packets expected in 2.4 ms down to one if a little is missing, so that a second acknowledgment joins the epoch: an excess of three,
    /// where exact numbers give two.
    #[test]
    fn whole_packets_see_more_aggregation() {
        let most = |unit| {
            let mut b = AckAggregation::in_units(unit);
            for i in 0..100 {
                b.delivered(Time::ZERO + Dur::from_us(2399 * i), Rate::from_bps(9_653_333), 2 * 1448, u64::MAX, u64::MAX);
            }
            b.room(Rate::from_mbps(10), 1.0)
        };
        assert_eq!(most(1448), 3 * 1448);
        assert!(most(0) < 2 * 1448 + 200, "{}", most(0));
    }
}
