//! Loss detection of ns-3.37 on the scoreboard.

use crate::scoreboard::{Scoreboard, before};
use crate::sent::{LOST, RESENT, SACKED};
use fairlane_engine::steps::step;

impl Scoreboard {
    /// True if a segment below `ack` was retransmitted and never SACKed.
    pub(crate) fn repaired_below(&self, ack: u64) -> bool {
        let mut i = self.head;
        while i != self.tail && self.at(i).end() <= ack {
            if self.at(i).flags & (RESENT | SACKED) == RESENT {
                return true;
            }
            step(1);
            i = i.wrapping_add(1);
        }
        false
    }

    /// True if the second segment is lost, or the first one behind it that is lost or SACKed (`IsLost` of HighRxAckMark and a segment).
    pub(crate) fn second_lost(&self) -> bool {
        // None is lost, but perhaps the first.
        let first = self.first().map(|i| self.at(i)).filter(|s| s.is(LOST)).map_or(0, |s| u64::from(s.len));
        if self.lost == first {
            return false;
        }
        let mut i = self.head.wrapping_add(1);
        while before(i.wrapping_add(1), self.high) {
            let flags = self.at(i).flags & (LOST | SACKED);
            if flags != 0 {
                return flags & LOST != 0;
            }
            step(1);
            i = i.wrapping_add(1);
        }
        false
    }
}
