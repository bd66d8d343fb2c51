//! FIN on the scoreboard: sequence space without data.

use crate::scoreboard::Scoreboard;
use crate::sent::{LOST, RESENT};

impl Scoreboard {
    /// Share of the FIN in a sum of sequence space: one if a FIN is outstanding with one of these marks, or with any for 0.
    #[inline]
    pub(crate) fn fin_in(&self, marks: u8) -> u64 {
        if self.finished { self.fin_marked(marks) } else { 0 }
    }

    #[cold]
    fn fin_marked(&self, marks: u8) -> u64 {
        u64::from(!self.is_empty() && (marks == 0 || self.at(self.tail.wrapping_sub(1)).is(marks)))
    }

    /// [`Self::flight`] once the FIN is sent.
    #[cold]
    pub(crate) fn flight_before_fin(&self) -> u64 {
        let out = self.outstanding();
        (out + self.resent - self.fin_in(RESENT) - (self.lost - self.fin_in(LOST))).min(out)
    }

    /// [`Self::pipe`] once the FIN is sent.
    #[cold]
    pub(crate) fn pipe_before_fin(&self) -> u64 {
        self.outstanding() - self.sacked() - (self.lost - self.fin_in(LOST)) + (self.resent - self.fin_in(RESENT))
    }
}
