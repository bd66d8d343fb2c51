//! A segment in flight and its marks.

use fairlane_units::Time;

/// A segment in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) seq: u64,
    /// Last transmission.
    pub(crate) at: Time,
    /// Sequence space: payload, and one for FIN.
    pub(crate) len: u32,
    pub(crate) flags: u8,
}

impl Sent {
    pub(crate) fn end(&self) -> u64 {
        self.seq + u64::from(self.len)
    }
    pub(crate) fn is(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
    /// Payload bytes, without the FIN.
    pub(crate) fn data(&self) -> u64 {
        u64::from(self.len) - u64::from(self.is(FIN))
    }
}

/// Covered by a SACK block.
pub(crate) const SACKED: u8 = 1;
/// Deemed lost.
pub(crate) const LOST: u8 = 2;
/// Retransmitted since it was deemed lost, or as a precaution: in flight twice.
pub(crate) const RESENT: u8 = 4;
/// Ever retransmitted: not timed (Karn's algorithm).
pub(crate) const KARN: u8 = 8;
/// Carries FIN.
pub(crate) const FIN: u8 = 16;
/// Carries PSH.
pub(crate) const PUSH: u8 = 32;
/// A SACK block covered it at some time, even if forgotten: its delivery is counted.
pub(crate) const COUNTED: u8 = 128;
