//! Comments on captured packets.

use fairlane_net::{Backlog, Packet, Segment};
use std::io::Write;

/// Longest comment.
pub(super) const COMMENT_MAX: usize = 160;

/// Circumstances of a captured packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Comment {
    /// Sent by an endpoint, or crossed a link.
    Plain,
    /// Reached an endpoint.
    Arrived,
    /// Left a queue with this backlog.
    Left(Backlog),
    /// Dropped or lost.
    Dropped {
        /// Reason.
        why: &'static str,
        /// Backlog of the queue.
        backlog: Backlog,
    },
}

impl Comment {
    /// True if the packet has no comment.
    #[inline]
    pub(super) const fn silent(self) -> bool {
        matches!(self, Self::Plain | Self::Arrived)
    }

    /// Writes the comment and returns its length.
    #[cold]
    pub(super) fn write(self, out: &mut [u8; COMMENT_MAX], pkt: &Packet, seg: &Segment) -> usize {
        let mut rest = &mut out[..];
        // Text beyond the limit is cut.
        let _ = match self {
            Self::Dropped { why, backlog } => {
                let of = if pkt.data { "bytes of data" } else { "bytes of data (control)" };
                write!(rest, "dropped: {why}, queue {} packets {} bytes; {} {of}", backlog.pkts, backlog.bytes, seg.payload)
            }
            Self::Left(backlog) => write!(rest, "queue {} packets {} bytes", backlog.pkts, backlog.bytes),
            Self::Plain | Self::Arrived => Ok(()),
        };
        COMMENT_MAX - rest.len()
    }
}
