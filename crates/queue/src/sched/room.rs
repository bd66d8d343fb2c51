//! How much the queues of a scheduler may hold together, for those that make room after a packet has joined.

use fairlane_net::Backlog;
use fairlane_units::Len;

/// Most packets and most bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    pkts: u32,
    bytes: u64,
}

impl Room {
    /// No limit.
    pub(crate) const ENDLESS: Self = Self { pkts: u32::MAX, bytes: u64::MAX };

    /// Room for `len`.
    pub(crate) fn new(len: Len) -> Self {
        match len {
            Len::Packets(n) => Self { pkts: u32::try_from(n).unwrap_or(u32::MAX), ..Self::ENDLESS },
            Len::Bytes(n) => Self { bytes: n, ..Self::ENDLESS },
        }
    }

    /// And no more than this many bytes.
    pub(crate) fn within(self, bytes: u64) -> Self {
        Self { bytes: self.bytes.min(bytes), ..self }
    }

    /// True if more is held than there is room for.
    #[inline]
    pub(crate) const fn exceeded(self, held: Backlog) -> bool {
        held.pkts > self.pkts || held.bytes > self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_limits_hold() {
        let over = |room: Room, pkts, bytes| room.exceeded(Backlog { pkts, bytes });
        let p = Room::new(Len::Packets(10));
        assert!(!over(p, 10, u64::MAX) && over(p, 11, 0));
        let b = Room::new(Len::Bytes(1000));
        assert!(!over(b, u32::MAX, 1000) && over(b, 1, 1001));
        assert!(over(p.within(1000), 1, 1001) && over(p.within(1000), 11, 0) && !over(p.within(1000), 10, 1000));
        assert!(!over(Room::ENDLESS, u32::MAX, u64::MAX) && !over(Room::new(Len::Packets(u64::MAX)), u32::MAX, 0));
    }
}
