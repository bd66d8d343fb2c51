//! Log of newly delivered segments.

use crate::ack_log::SegmentEvent;
use crate::scoreboard::Scoreboard;
use crate::sent::{COUNTED, FIN, SACKED};

impl Scoreboard {
    /// Logs segments that a cumulative acknowledgment delivers and no SACK block did before.
    pub(crate) fn log_acked(&mut self, ack: u64) {
        let Some(mut log) = self.log.take() else { return };
        let mut i = self.head;
        while i != self.tail {
            let s = *self.at(i);
            if s.seq >= ack {
                break;
            }
            if s.flags & (SACKED | COUNTED) == 0 {
                let end = s.end().min(ack);
                log.part = end < s.end();
                let flags = if log.part { s.flags & !FIN } else { s.flags };
                log.delivered.push(SegmentEvent { index: i, len: (end - s.seq) as u32, flags, at: s.at, end });
            }
            i = i.wrapping_add(1);
        }
        self.log = Some(log);
    }

    /// Enables the log.
    pub(crate) fn enable_log(&mut self) {
        self.log = Some(Box::default());
    }
}
