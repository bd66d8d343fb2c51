//! State of a connection as in Linux `struct tcp_info` (include/uapi/linux/tcp.h), in segments, for packet scripts.

use crate::lifecycle::Ended;
use fairlane_units::Dur;

/// State of the sending half as Linux names it (`enum tcp_ca_state`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaState {
    /// Normal state.
    Open = 0,
    /// Duplicate acknowledgments or SACK blocks, and no loss known.
    Disorder = 1,
    /// The window was reduced for another reason than a loss.
    Cwr = 2,
    /// Fast recovery.
    Recovery = 3,
    /// After a timeout.
    Loss = 4,
}

/// Counts of segments and state, as Linux counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpInfo {
    /// State of the sending half.
    pub ca_state: CaState,
    /// State of the connection (RFC 9293 section 3.3.2).
    pub state: &'static str,
    /// How the connection ended.
    pub ended: Ended,
    /// True if the handshake was completed and the connection not reset.
    pub established: bool,
    /// Congestion window in bytes, with the adjustments of recovery.
    pub window: u64,
    /// Segments sent and not cumulatively acknowledged.
    pub unacked: u32,
    /// Segments SACKed; without SACK, duplicate acknowledgments.
    pub sacked: u32,
    /// Segments deemed lost.
    pub lost: u32,
    /// Segments retransmitted and neither acknowledged nor SACKed.
    pub retrans: u32,
    /// Doublings of the timer in force.
    pub backoff: u32,
    /// Timeouts since the last acknowledgment of new data.
    pub retransmits: u32,
    /// Segments delivered, by acknowledgment, SACK or D-SACK; `None` without RACK.
    pub delivered: Option<u64>,
    /// Largest reordering distance in segments, at least the threshold of duplicate acknowledgments.
    pub reordering: u32,
    /// Number of times that reordering was detected.
    pub reorderings: u32,
    /// Smallest round-trip time.
    pub min_rtt: Option<Dur>,
    /// Unanswered probes of a closed window.
    pub probes: u32,
    /// Oldest unacknowledged sequence number.
    pub una: u64,
    /// Next new sequence number.
    pub nxt: u64,
    /// Next sequence number expected of the peer.
    pub rcv_nxt: u64,
    /// True if everything up to the peer's FIN arrived.
    pub peer_closed: bool,
    /// True if the FIN was sent.
    pub fin_sent: bool,
    /// Timestamp to echo (TS.Recent of RFC 7323 section 4.3).
    pub ts_recent: u32,
}
