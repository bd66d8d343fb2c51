//! States of the connection and of the sending half.

/// First sequence number of data: the SYN has number 0, also without a handshake.
pub(crate) const FIRST: u64 = 1;

/// Limit of sequence numbers: higher ones are not acceptable (RFC 9293 section 3.10.7.4), as 64 bits are never used up.
pub(crate) const FARTHEST: u64 = 1 << 62;

/// State of the connection (RFC 9293 section 3.3.2). The states of closing follow from `closed`, `fin_sent` and the receiver's FIN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Before the connection is opened.
    Closed,
    /// Waiting for a SYN.
    Listen,
    /// A SYN was sent.
    SynSent,
    /// A SYN was answered.
    SynReceived,
    /// Data may flow in one or both directions.
    Established,
    /// Both ends closed, this one first: late segments may still arrive.
    TimeWait,
    /// No connection any more (CLOSED of RFC 9293).
    Over,
}

/// Phase of the sending half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// No loss is known.
    Open,
    /// Fast recovery.
    Recovery,
    /// Retransmission from the first hole on: after a timeout, or Tahoe's fast retransmit.
    Loss,
}
