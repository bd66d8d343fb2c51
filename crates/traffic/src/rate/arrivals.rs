//! Which of the last packets have arrived.

/// Numbers up to the highest for which that is known.
const WINDOW: u64 = 128;

/// The arrivals. Packets are numbered from 1; 0 stands for none.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Arrivals {
    /// The highest number.
    pub(super) highest: u64,
    /// Bit 0 is the highest number, bit 1 the one before...
    here: u128,
}

impl Arrivals {
    /// True if a number arrives for the first time; one out of the window counts as new.
    pub(super) fn note(&mut self, number: u64) -> bool {
        if number > self.highest {
            let shift = number - self.highest;
            self.here = if shift < WINDOW { self.here << shift | 1 } else { 1 };
            self.highest = number;
            return true;
        }
        let back = self.highest - number;
        if back >= WINDOW {
            return true;
        }
        let new = self.here >> back & 1 == 0;
        self.here |= 1 << back;
        new
    }

    /// The last number missing before the highest, and the last one that arrived before that; 0 for none.
    pub(super) fn hole(&self) -> (u64, u64) {
        let missing = u64::from((!self.here).trailing_zeros());
        if missing >= self.highest.min(WINDOW) {
            return (0, 0);
        }
        let below = self.here >> missing;
        let received = missing + u64::from(below.trailing_zeros());
        (self.highest - missing, if below == 0 { 0 } else { self.highest - received })
    }
}
