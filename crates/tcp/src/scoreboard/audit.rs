//! Invariants of the scoreboard.

use crate::scoreboard::{Scoreboard, before};
use crate::sent::{LOST, RESENT, SACKED};

pub(crate) fn hold(what: &'static str, holds: bool) -> Result<(), &'static str> {
    if holds { Ok(()) } else { Err(what) }
}

impl Scoreboard {
    pub(crate) fn audit(&self, una: u64, nxt: u64, keeps: bool) -> Result<(), &'static str> {
        let (mut out, mut sacked, mut lost, mut resent, mut pending) = (0, 0, 0, 0, 0);
        let (mut above, mut runs, mut was) = (0, 0, false);
        let (mut i, mut seq) = (self.head, una);
        while i != self.tail {
            let s = *self.at(i);
            let len = u64::from(s.len);
            hold("segments follow each other", s.seq == seq && s.len != 0)?;
            seq = s.end();
            out += len;
            let has = s.is(SACKED);
            sacked += if has { len } else { 0 };
            lost += if s.is(LOST) { len } else { 0 };
            resent += if s.is(RESENT) { len } else { 0 };
            let again = if keeps { 0 } else { RESENT };
            hold("what is SACKed is neither lost nor sent again", !has || s.flags & (LOST | again) == 0)?;
            let waits = s.flags & (LOST | RESENT) == LOST;
            pending += u32::from(waits);
            hold("nothing below next_lost waits", !waits || !before(i, self.next_lost))?;
            hold("nothing at or above high is SACKed", !has || before(i, self.high))?;
            if !before(i, self.edge) {
                above += if has { len } else { 0 };
                runs += u32::from(has && !(was && i != self.edge));
            }
            was = has;
            i = i.wrapping_add(1);
        }
        hold("the board ends at SND.NXT", seq == nxt)?;
        self.audit_bits()?;
        hold("bytes out", out == self.out)?;
        hold("bytes SACKed", sacked == self.sacked)?;
        hold("bytes lost", lost == self.lost)?;
        hold("bytes sent again", resent == self.resent)?;
        hold("segments that wait", pending == self.pending)?;
        hold("bytes SACKed above the edge", above == self.above)?;
        hold("runs SACKed above the edge", runs == self.runs)
    }
}
