//! Use of the congestion window within a round trip (Linux `tcp_cwnd_validate`).

/// Use of the congestion window in a round trip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CwndUsage {
    /// Sequence number at which the round trip ends (`cwnd_usage_seq`).
    end: u64,
    /// Largest number of segments in flight (`max_packets_out`).
    pub(crate) max_packets_out: u32,
    /// True if the window limited the sender (`is_cwnd_limited`).
    pub(crate) limited: bool,
}

impl CwndUsage {
    pub(crate) const NONE: Self = Self { end: 0, max_packets_out: 0, limited: false };

    /// Records a round of output that left `packets_out` segments in flight.
    pub(crate) fn update(&mut self, una: u64, nxt: u64, packets_out: u32, limited: bool) {
        if una >= self.end || limited || (!self.limited && packets_out > self.max_packets_out) {
            *self = Self { end: nxt, max_packets_out: packets_out, limited };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux `tcp_cwnd_validate`: a limit holds for the round trip; without one the largest flight is kept.
    #[test]
    fn a_limit_holds_for_a_round_trip() {
        let mut u = CwndUsage::NONE;
        u.update(1, 1001, 5, false);
        u.update(1, 2001, 3, false);
        assert_eq!((u.max_packets_out, u.limited), (5, false));
        u.update(1, 3001, 8, true);
        u.update(1001, 4001, 9, false);
        assert_eq!((u.max_packets_out, u.limited), (8, true));
        u.update(3001, 5001, 2, false);
        assert_eq!((u.max_packets_out, u.limited), (2, false));
    }
}
