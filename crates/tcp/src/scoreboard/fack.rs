//! Forward acknowledgment on the scoreboard.

use crate::scoreboard::Scoreboard;
use crate::sent::{RESENT, SACKED};

impl Scoreboard {
    /// snd.fack: one past the highest byte known to have arrived.
    pub(crate) fn forward(&self, una: u64) -> u64 {
        if self.high == self.head { una } else { self.at(self.high.wrapping_sub(1)).end().max(una) }
    }

    /// True if a segment sent after a retransmission arrived, and the retransmission did not.
    pub(crate) fn lost_again(&self) -> bool {
        if self.high == self.head {
            return false;
        }
        let newest = self.at(self.high.wrapping_sub(1)).at;
        let mut i = self.head;
        while i != self.high {
            let s = self.at(i);
            if s.flags & (RESENT | SACKED) == RESENT && s.at <= newest {
                return true;
            }
            i = i.wrapping_add(1);
        }
        false
    }
}
