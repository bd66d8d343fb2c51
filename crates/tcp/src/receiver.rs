//! The receiving half: reassembly, acknowledgment policy (RFC 5681 section 4.2), SACK and D-SACK blocks.

use crate::blocks::Blocks;
use crate::config::TcpConfig;
use crate::quickack::QuickAck;
use fairlane_net::{Block, Segment};
use fairlane_units::Time;

/// Number of recently changed blocks remembered: as many as a segment can carry.
const RECENT: usize = 4;

/// State of the receiving half.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct Receiver {
    /// Next sequence number expected (RCV.NXT).
    pub(crate) nxt: u64,
    /// Payload bytes in full segments not yet acknowledged.
    unacked: u64,
    /// Last ACK number sent (Last.ACK.sent of RFC 7323 section 4.3).
    last_ack: u64,
    /// Sequence number of a FIN received, plus one; 0: none.
    fin_end: u64,
    /// Allocated at the first hole or duplicate.
    gaps: Option<Box<Gaps>>,
    /// Quick acknowledgments and buffer auto-tuning, if configured.
    pub(crate) quick: Option<Box<QuickAck>>,
    /// Timestamp to echo (TS.Recent of RFC 7323 section 4.3).
    pub(crate) ts_recent: u32,
    /// Arrival of that timestamp.
    pub(crate) ts_at: Time,
    /// True if data is missing, or a duplicate is to be reported.
    disorder: bool,
    /// Acknowledgment that is due.
    pub(crate) due: AckDue,
    /// True if the peer's SYN opened the connection.
    pub(crate) passive: bool,
}

/// Data received out of order.
#[derive(Clone, Debug, Default)]
struct Gaps {
    /// Data beyond `nxt`.
    blocks: Blocks,
    /// Duplicate to report (RFC 2883); empty if none.
    duplicate: Block,
    /// The latest changed blocks, latest first (RFC 2018 section 4); those that end at or below `nxt` are gone, as are all behind an empty one.
    recent: [Block; RECENT],
}

/// Urgency of the acknowledgment that is due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum AckDue {
    /// No acknowledgment.
    #[default]
    No,
    /// An acknowledgment may wait for the timer or the next segment.
    Later,
    /// An acknowledgment must be sent now.
    Now,
}

impl Receiver {
    pub(crate) fn starting_at(nxt: u64) -> Self {
        Self { nxt, last_ack: nxt, ..Self::default() }
    }

    /// True if everything up to the peer's FIN arrived.
    pub(crate) fn closed(&self) -> bool {
        self.fin_end != 0 && self.nxt >= self.fin_end
    }

    /// Stores the timestamp to echo: that of the segment that covers the last acknowledgment sent, with data or without (RFC 7323 section
    /// 4.3 (2)).
    #[inline]
    pub(crate) fn note_timestamp(&mut self, seg: &Segment, now: Time) {
        if let Some((val, _)) = seg.timestamps()
            && seg.seq <= self.last_ack
            && (val.wrapping_sub(self.ts_recent) as i32 >= 0 || self.ts_recent == 0)
        {
            (self.ts_recent, self.ts_at) = (val, now);
        }
    }

    /// Last ACK number sent.
    pub(crate) fn last_ack(&self) -> u64 {
        self.last_ack
    }

    /// Notes a duplicate in a segment that is not accepted (RFC 2883 section 4.1).
    #[cold]
    pub(crate) fn note_duplicate(&mut self, start: u64, end: u64) {
        self.disorder = true;
        self.gaps.get_or_insert_default().duplicate = Block { start, end: end.min(self.nxt) };
    }

    /// Receives a segment with data or FIN; returns the payload bytes that are now in order.
    #[inline]
    pub(crate) fn on_data(&mut self, seg: &Segment, now: Time, c: &TcpConfig) -> u64 {
        let end = seg.end();
        self.note_timestamp(seg, now);
        if seg.has(fairlane_net::flag::FIN) && self.fin_end == 0 {
            self.fin_end = end;
        }
        if seg.seq == self.nxt && !self.has_blocks() && self.fin_end == 0 {
            self.nxt = end;
            self.unacked += u64::from(seg.payload);
            self.due = if self.unacked >= c.ack_bytes { AckDue::Now } else { AckDue::Later.max(self.due) };
            return u64::from(seg.payload);
        }
        self.out_of_order(seg.seq, end, c)
    }

    /// True if there is no gap, no duplicate to report and no FIN.
    #[inline]
    pub(crate) fn in_order(&self) -> bool {
        !self.disorder && self.fin_end == 0
    }

    /// Receives the next payload of a receiver in order; returns true if an acknowledgment must be sent now.
    #[inline]
    pub(crate) fn take_next(&mut self, payload: u64, c: &TcpConfig) -> bool {
        self.nxt += payload;
        self.unacked += payload;
        self.unacked >= c.ack_bytes
    }

    /// True if an acknowledgment is due.
    pub(crate) fn ack_pending(&self) -> bool {
        self.due != AckDue::No
    }

    /// Schedules an acknowledgment that may wait.
    pub(crate) fn schedule_delayed_ack(&mut self) {
        self.due = AckDue::Later.max(self.due);
    }

    /// Receives a segment other than the next in order: it is acknowledged at once (RFC 5681 section 4.2).
    #[cold]
    fn out_of_order(&mut self, start: u64, end: u64, c: &TcpConfig) -> u64 {
        self.due = AckDue::Now;
        self.disorder = true;
        let gaps = self.gaps.get_or_insert_default();
        // RFC 9293 section 3.10.7.4: text after the FIN is ignored.
        let end = if self.fin_end == 0 { end } else { end.min(self.fin_end) };
        if start >= end {
            return 0;
        }
        if end <= self.nxt {
            gaps.duplicate = Block { start, end };
            return 0;
        }
        let before = self.nxt;
        if start < self.nxt {
            gaps.duplicate = Block { start, end: self.nxt };
        }
        if start <= self.nxt {
            self.nxt = end;
            // The blocks that this fills up to.
            while let Some(b) = gaps.blocks.pop_first_to(self.nxt) {
                if b.start < end && gaps.duplicate.end == 0 {
                    // The first duplicate range is reported (RFC 2883 section 4).
                    gaps.duplicate = Block { start: b.start.max(start), end: b.end.min(end) };
                }
                self.nxt = self.nxt.max(b.end);
            }
            let fin = self.fin_end != 0 && self.nxt >= self.fin_end && before < self.fin_end;
            return self.nxt - before - u64::from(fin);
        }
        gaps.store(start, end, c.sack_blocks);
        0
    }

    /// Payload bytes out of order.
    pub(crate) fn out_of_order_bytes(&self) -> u64 {
        let Some(gaps) = self.gaps.as_ref().filter(|_| self.disorder) else { return 0 };
        // A FIN takes a sequence number without data.
        let fin = self.fin_end != 0 && gaps.blocks.last().is_some_and(|b| b.end == self.fin_end);
        gaps.blocks.bytes() - u64::from(fin)
    }

    /// One past the last byte received.
    pub(crate) fn highest_received(&self) -> u64 {
        self.gaps.as_ref().and_then(|g| g.blocks.last()).map_or(self.nxt, |b| b.end)
    }

    /// Sequence space in order that is not acknowledged yet.
    pub(crate) fn unacknowledged(&self) -> u64 {
        self.nxt - self.last_ack
    }

    /// True if data was received out of order.
    fn has_blocks(&self) -> bool {
        self.gaps.as_ref().is_some_and(|g| !g.blocks.is_empty())
    }

    /// Checks the blocks received out of order.
    pub(crate) fn audit(&self) -> Result<(), &'static str> {
        self.gaps.as_ref().map_or(Ok(()), |g| g.blocks.audit(self.nxt))
    }

    /// True if there are `count` blocks and the segment continues none of the `count` blocks that changed last.
    #[cold]
    pub(crate) fn starts_block(&self, start: u64, end: u64, count: usize) -> bool {
        let Some(gaps) = &self.gaps else { return false };
        let last = gaps.recent.iter().take(count).filter(|b| b.end > self.nxt);
        let mut found = 0;
        for b in last {
            if b.end == start || b.start == end {
                return false;
            }
            found += 1;
        }
        found == count
    }

    /// True if the next acknowledgment carries SACK blocks.
    #[inline]
    pub(crate) fn has_sack(&self) -> bool {
        self.disorder && self.gaps.as_ref().is_some_and(|g| !g.blocks.is_empty() || g.duplicate.end != 0)
    }

    /// Writes the SACK blocks (RFC 2018 section 4, RFC 2883 section 4) of an acknowledgment.
    #[cold]
    pub(crate) fn write_sack(&mut self, seg: &mut Segment, c: &TcpConfig) {
        let Some(gaps) = &mut self.gaps else { return };
        let duplicate = std::mem::take(&mut gaps.duplicate);
        let mut room = c.sack_blocks;
        let mut containing = None;
        if c.dsack && duplicate.end != 0 {
            seg.add_sack(duplicate);
            room -= 1;
            // RFC 2883 section 4.1: the block that holds the duplicate, if it is above the ACK number, comes second.
            containing = gaps.blocks.holding(duplicate.start);
        }
        let recent = gaps.recent.iter().take_while(|b| b.end != 0).filter(|&&b| b.end > self.nxt && Some(b) != containing);
        for &b in containing.iter().chain(recent).take(room) {
            seg.add_sack(b);
        }
    }

    /// [`Self::on_ack_sent`] for a receiver in order.
    #[inline]
    pub(crate) fn on_ack_sent_in_order(&mut self) {
        self.due = AckDue::No;
        self.unacked = 0;
        self.last_ack = self.nxt;
    }

    /// Notes that a segment with the present ACK number leaves.
    #[inline]
    pub(crate) fn on_ack_sent(&mut self) {
        self.on_ack_sent_in_order();
        if self.disorder {
            self.reported();
        }
    }

    /// Clears the reported duplicate.
    #[cold]
    fn reported(&mut self) {
        if let Some(gaps) = &mut self.gaps {
            gaps.duplicate = Block::default();
        }
        // The allocation is kept for the next hole; the rest of `recent` lies below `nxt`, where no block is.
        self.disorder = self.has_blocks();
    }
}

impl Gaps {
    /// Stores data beyond a hole.
    fn store(&mut self, start: u64, end: u64, memory: usize) {
        let latest = Block { start: self.recent[0].start, end: start };
        if self.recent[0] == latest && self.blocks.lengthen_last(latest, end) {
            // More of the block that changed last, behind all others.
            self.recent[0].end = end;
            return;
        }
        let (joined, duplicate) = self.blocks.add(Block { start, end });
        if let Some(duplicate) = duplicate {
            self.duplicate = duplicate;
        }
        // RFC 2018 section 4: the block with the latest segment first, then those reported most recently.
        let mut kept = [Block::default(); RECENT];
        kept[0] = joined;
        let mut n = 1;
        for &b in &self.recent {
            if n < memory && b.end != 0 && !(joined.start..joined.end).contains(&b.start) {
                kept[n] = b;
                n += 1;
            }
        }
        self.recent = kept;
    }
}

impl AckDue {
    #[inline]
    fn max(self, other: Self) -> Self {
        if other == Self::Now { other } else { self }
    }
}

#[cfg(test)]
#[path = "receiver_tests.rs"]
mod tests;
