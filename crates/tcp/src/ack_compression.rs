//! ACK compression: while data is missing, not every segment beyond the hole is acknowledged by itself (Linux 4.18 and later,
//! `__tcp_ack_snd_check`; 6.18 here).
//!
//! The first three acknowledgments after SND.UNA stops advancing leave at once, for fast retransmit. Those that follow are delayed by a
//! twentieth of the round-trip time, at most `sack_delay`, until 44 segments are unacknowledged, or until a segment comes that makes a
//! third block: the delayed acknowledgment leaves before that segment is received. An acknowledgment sent for any other reason covers all.
//! So the acknowledgments of a recovery come a millisecond later than those before and after it, and a sender that measures rates between
//! them overestimates.

/// Acknowledgments that are not delayed (`TCP_FASTRETRANS_THRESH`).
const AT_ONCE: u32 = 3;
/// Most segments without an acknowledgment (`tcp_comp_sack_nr`).
const MOST: u32 = 44;

/// State of ACK compression.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AckCompression {
    /// RCV.NXT when it stopped advancing.
    nxt: u64,
    /// Acknowledgments sent at once since then.
    at_once: u32,
    /// Segments not acknowledged yet.
    unacked: u32,
}

impl AckCompression {
    /// Returns true if the acknowledgment of a segment beyond the hole at `nxt` is delayed.
    pub(crate) fn delays(&mut self, nxt: u64) -> bool {
        if self.unacked >= MOST {
            return false;
        }
        if self.nxt != nxt {
            (self.nxt, self.at_once) = (nxt, 0);
        }
        if self.at_once < AT_ONCE {
            self.at_once += 1;
            return false;
        }
        self.unacked += 1;
        true
    }

    /// True if an acknowledgment is delayed.
    pub(crate) fn is_delaying(&self) -> bool {
        self.unacked != 0
    }

    /// Ends the delay: an acknowledgment leaves.
    pub(crate) fn on_ack_sent(&mut self) {
        self.unacked = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux 6.18 `__tcp_ack_snd_check`: three at once, then up to 44 are delayed, or until an acknowledgment leaves; a new hole starts
    /// again.
    #[test]
    fn three_at_once_then_up_to_44_wait() {
        let mut c = AckCompression::default();
        let delayed = |c: &mut AckCompression, nxt, n| (0..n).map(|_| u32::from(c.delays(nxt))).sum::<u32>();
        assert_eq!(delayed(&mut c, 1000, 3), 0);
        assert!(!c.is_delaying());
        assert_eq!(delayed(&mut c, 1000, 44), 44);
        assert_eq!(delayed(&mut c, 1000, 1), 0);
        c.on_ack_sent();
        assert_eq!(delayed(&mut c, 1000, 1), 1);
        c.on_ack_sent();
        assert_eq!(delayed(&mut c, 2448, 5), 2);
    }
}
