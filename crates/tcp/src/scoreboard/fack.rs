//! Forward acknowledgment on the scoreboard.

use crate::scoreboard::{Scoreboard, before};
use crate::sent::{RESENT, SACKED};
use fairlane_engine::steps::step;

impl Scoreboard {
    /// snd.fack: one past the highest byte known to have arrived.
    pub(crate) fn forward(&self, una: u64) -> u64 {
        if self.high == self.head { una } else { self.at(self.high.wrapping_sub(1)).end().max(una) }
    }

    /// True if a segment sent after a retransmission arrived, and the retransmission did not.
    pub(crate) fn lost_again(&mut self) -> bool {
        if self.high == self.head {
            return false;
        }
        let newest = self.at(self.high.wrapping_sub(1)).at;
        if let Some(mut resent) = self.resent_in_order().map(std::mem::take) {
            let flies = |board: &Self, i: u32, at| {
                !before(i, board.head) && board.at(i).at == at && board.at(i).flags & (RESENT | SACKED) == RESENT
            };
            while resent.front().is_some_and(|r| !flies(self, r.0, r.1)) {
                step(1);
                resent.pop_front();
            }
            // The rest is in order of time, and mostly of sequence: the first one decides.
            let sent_before = resent.iter().take_while(|r| r.1 <= newest).inspect(|_| step(1));
            let found = { sent_before }.any(|&(i, at)| before(i, self.high) && flies(self, i, at));
            if let Some(list) = self.resent_in_order() {
                *list = resent;
            }
            return found;
        }
        let mut i = self.head;
        while i != self.high {
            step(1);
            let s = self.at(i);
            if s.flags & (RESENT | SACKED) == RESENT && s.at <= newest {
                return true;
            }
            i = i.wrapping_add(1);
        }
        false
    }
}
