//! What is said of a packet beside its bytes.

use fairlane_net::{Backlog, Packet, Segment};
use std::io::Write;

/// Longest comment on a packet.
pub(super) const COMMENT_MAX: usize = 160;

/// What is known of a packet beside itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Comment {
    /// An endpoint sent it, or it crossed a link.
    Plain,
    /// It reached an endpoint.
    Arrived,
    /// It left a queue.
    Left(Backlog),
    /// It did not get further.
    Dropped {
        /// Why.
        why: &'static str,
        /// What waited there.
        backlog: Backlog,
    },
}

impl Comment {
    /// Whether nothing is said of the packet.
    #[inline]
    pub(super) const fn silent(self) -> bool {
        matches!(self, Self::Plain | Self::Arrived)
    }

    /// The note in words; their length.
    #[cold]
    pub(super) fn write(self, out: &mut [u8; COMMENT_MAX], pkt: &Packet, seg: &Segment) -> usize {
        let mut rest = &mut out[..];
        // What does not fit is left out.
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
