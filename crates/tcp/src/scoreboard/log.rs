//! Log of newly delivered segments.

use crate::ack_log::News;
use crate::scoreboard::Scoreboard;
use crate::sent::{COUNTED, FIN, SACKED};

impl Scoreboard {
    /// Notes what a cumulative acknowledgment delivers that no SACK block did before.
    pub(crate) fn note_acked(&mut self, ack: u64) {
        let Some(mut diary) = self.diary.take() else { return };
        let mut i = self.head;
        while i != self.tail {
            let s = *self.at(i);
            if s.seq >= ack {
                break;
            }
            if s.flags & (SACKED | COUNTED) == 0 {
                let end = s.end().min(ack);
                diary.part = end < s.end();
                let flags = if diary.part { s.flags & !FIN } else { s.flags };
                diary.delivered.push(News { index: i, len: (end - s.seq) as u32, flags, at: s.at, end });
            }
            i = i.wrapping_add(1);
        }
        self.diary = Some(diary);
    }

    /// Starts keeping a diary.
    pub(crate) fn keep_diary(&mut self) {
        self.diary = Some(Box::default());
    }
}
