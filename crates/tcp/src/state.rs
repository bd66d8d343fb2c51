//! States of the connection and of the sending half.

/// First sequence number of data: the SYN has number 0, also where there is no handshake.
pub(crate) const FIRST: u64 = 1;

/// No sequence number in use is as high: 64 bits are not used up. What is higher is not acceptable (RFC 9293 section 3.10.7.4).
pub(crate) const FARTHEST: u64 = 1 << 62;

/// Where the connection stands (RFC 9293 section 3.3.2); what closing adds is in `closed`, `fin_sent` and the receiver's FIN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Not begun.
    Closed,
    /// Waits for a SYN.
    Listen,
    /// Sent a SYN.
    SynSent,
    /// Answered a SYN.
    SynReceived,
    /// Data may flow, one way or both.
    Established,
    /// Both ends closed, this one first: late segments may still come.
    TimeWait,
    /// There is no connection any more (CLOSED of RFC 9293).
    Over,
}

/// Phase of the sending half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing is known to be lost.
    Open,
    /// Fast recovery.
    Recovery,
    /// Sends again from the first hole on: after a timeout, or Tahoe's fast retransmit.
    Loss,
}
