//! FIN: a sequence number without data (RFC 9293 section 3.4).
//!
//! It needs room in the peer's window, like any sequence number, and is lost, SACKed and retransmitted like any segment. The congestion
//! window limits data (RFC 5681 section 2), and so does the send buffer. The data in flight, the data delivered and the samples of an
//! algorithm do not count a FIN. A transfer that fills its window exactly ends with it.
//!
//! Deviation: Linux counts its window in segments, so since 6.10 a FIN without data waits for room for one; here, as in earlier kernels and
//! in ns-3, it is sent at once.

use crate::cc::CongestionControl;
use crate::endpoint::Tcp;
use crate::sent::SACKED;
use fairlane_net::Segment;

impl<C: CongestionControl> Tcp<C> {
    /// Payload in the next `len` of sequence space.
    #[inline]
    pub(crate) fn data_in(&self, len: u32) -> u64 {
        self.data_end.saturating_sub(self.nxt).min(u64::from(len))
    }

    /// One if everything up to `ack` includes the FIN.
    #[inline]
    fn fin_below(&self, ack: u64) -> u64 {
        u64::from(self.fin_sent && ack == self.nxt)
    }

    /// Bytes of data between two acknowledgments.
    #[inline]
    pub(crate) fn data_between(&self, from: u64, to: u64) -> u64 {
        (to - self.fin_below(to)) - (from - self.fin_below(from))
    }

    /// Sequence number at which data would end if all data known to have arrived were in order.
    #[inline]
    pub(crate) fn delivered(&self) -> u64 {
        self.una - self.fin_below(self.una) + self.tx.board.sacked()
    }

    /// Processes the SACK blocks. Returns the sequence space newly covered, which shows an arrival, and its data.
    pub(crate) fn take_sack_and_fin(&mut self, seg: &Segment) -> (u64, u64) {
        let before = self.tx.board.fin_in(SACKED);
        let sacked = self.take_sack(seg);
        (sacked, sacked - (self.tx.board.fin_in(SACKED) - before))
    }
}
