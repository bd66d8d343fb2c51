//! Segments that an acknowledgment newly delivered, or that were newly deemed lost.

use crate::sent::{FIN, Sent};
use fairlane_units::Time;

/// A segment that was delivered, or deemed lost, since the log was last cleared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SegmentEvent {
    /// Index on the scoreboard.
    pub(crate) index: u32,
    pub(crate) len: u32,
    /// Marks before the event.
    pub(crate) flags: u8,
    /// Last transmission.
    pub(crate) at: Time,
    /// One past the last byte.
    pub(crate) end: u64,
}

impl SegmentEvent {
    pub(crate) fn new(index: u32, s: &Sent) -> Self {
        Self { index, len: s.len, flags: s.flags, at: s.at, end: s.end() }
    }

    /// Payload bytes, without the FIN.
    pub(crate) fn data(&self) -> u64 {
        u64::from(self.len) - u64::from(self.flags & FIN != 0)
    }
}

/// Changes that one acknowledgment made on the scoreboard, segment by segment.
#[derive(Clone, Debug, Default)]
pub(crate) struct AckLog {
    pub(crate) delivered: Vec<SegmentEvent>,
    pub(crate) lost: Vec<SegmentEvent>,
    /// True if the last segment in `delivered` was delivered in part only.
    pub(crate) part: bool,
}

impl AckLog {
    /// Starts the log of another acknowledgment.
    pub(crate) fn clear(&mut self) {
        self.delivered.clear();
        self.lost.clear();
        self.part = false;
    }
}
